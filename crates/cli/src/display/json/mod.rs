//! What scripts read: events in the stock CLI's shapes, one JSON object a line, and the one object of a preview.
//!
//! Secrets are never in it, whatever was asked for: an event has `[secret]` in the place of the ciphertext, a preview in
//! the place of the value (S17).

mod digest;
mod event;
mod policy;
mod state;

pub(super) use digest::Digest;
pub(super) use event::{Stamp, cancel_line, event_line, prelude_line};
