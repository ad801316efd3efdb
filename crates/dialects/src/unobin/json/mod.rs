//! JSON as Go's `encoding/json` reads and writes it.
//!
//! unobin's files are whatever that package makes of its structs, so this follows it to the byte and to the word:
//! [`syntax`] reads text and says what is wrong with it, [`bind`] puts values into fields and says what does not fit,
//! [`write`](mod@write) lays a document out. serde_json cannot stand in: it refuses invalid UTF-8, which Go replaces,
//! and its errors are not those that users and scripts of unobin know.

pub(super) mod base64;
pub(super) mod bind;
mod number;
pub(super) mod quote;
mod strings;
pub(super) mod syntax;
mod value;
pub(super) mod write;

pub use base64::CorruptBase64;
pub use number::Number;
pub use value::Value;
