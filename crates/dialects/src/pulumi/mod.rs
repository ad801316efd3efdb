//! Pulumi's state: checkpoints, exports, history records and tags.
//!
//! - [`Checkpoint`] is the file of a stack, [`Export`] what `stack export` prints and `stack import` reads. Both are
//!   read from any version and written as version 3, or 4 when the state uses a [`Feature`](drystone_model::Feature).
//! - [`properties`] turns stored properties into values and back, without a key.
//! - [`peek`] answers the questions of a listing without keeping a whole document in memory.
//! - [`history`] has the records that stand beside a checkpoint.
//!
//! Everything is written as the Pulumi CLI writes it: compact for files, indented by four spaces for people, text
//! escaped as Go escapes it.

mod document;
pub(crate) mod error;
mod features;
pub mod history;
mod peek;
pub mod plan;
pub mod properties;
mod read;
pub(crate) mod scan;
pub mod signature;
pub(crate) mod text;
mod v1;
mod v2;

pub use document::{Checkpoint, Document, Export};
pub use error::{Form, ReadError, WriteError};
pub use features::features;
pub use peek::{Peek, PeekState, peek};
pub use text::Escapes;
