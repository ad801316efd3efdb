//! unobin's state: snapshots, their envelopes, and the names of revisions.
//!
//! - [`Snapshot`] is the record of a stack, [`Entry`] one resource, action or call in it. Both entry forms that go by
//!   `format-version` 1 are read: the one with `type`, and the newer one with `entry-kind`. An entry is written in the
//!   form that it was found in, a new one with `type`.
//! - [`Envelope`] is the file around a sealed snapshot or plan, [`Ref`] what it says of the encrypter.
//! - [`Revision`] orders the names of revisions by time.
//!
//! Bytes and error texts are those of the Go packages, with three differences: members that are not known stay (S9),
//! integers keep every digit (S10), and what stands in itself more than 1,000 times is refused.
//!
//! The common commands will open a unobin stack through the store contract: a layout in `drystone-stores` turns the
//! snapshot of its local tree into the model's snapshot, an entry a resource whose type comes of `kind` or `binding`
//! and whose inputs and outputs are carried as JSON text. What the model has no place for (`trigger-hash`, the form of
//! the entry, sensitive names) goes back from the revision that was read, so that a change of one resource leaves the
//! other entries as they were, byte for byte.

mod entry;
mod envelope;
mod error;
mod json;
mod revision;
mod snapshot;
mod time;

pub use entry::{Binding, Entry, Identity};
pub use envelope::{ENVELOPE_VERSION, Envelope, Ref};
pub use error::Error;
pub use json::base64::decode as decode_base64;
pub use json::{CorruptBase64, Number, Value};
pub use revision::Revision;
pub use snapshot::{FORMAT_VERSION, Factory, Snapshot};
pub use time::{Time, TimeError};
