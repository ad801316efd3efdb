//! The lock of a stack.

use super::error::{self, Kind, ReadError};
use super::object::object;
use super::text;
use serde::de::IgnoredAny;

object! {
    /// What `lock.json` says: who works on a stack, and until when that is to be believed.
    pub struct Lock {
        /// Who, as in `ana@laptop:4242`. To the tool it is a text to show.
        always "owner" => owner: String,
        /// Since when, in milliseconds since 1970.
        always "timestamp" => timestamp: i64,
        /// From when on somebody else may take it. One without it lasts until somebody breaks it.
        optional "expiresAt" => expires_at: Option<i64>,
        /// What for, as in `deploy`.
        optional "operation" => operation: Option<String>,
    }
}

impl Lock {
    /// Reads a lock. JSON that is no object is no lock to the tool's readers, though it stands in the way of whoever
    /// wants to take one.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, ReadError> {
        let text = error::text(bytes, Kind::Lock)?;
        if !error::is_object(text) {
            return error::parse::<IgnoredAny>(text, Kind::Lock).map(|_| None);
        }
        error::parse(text, Kind::Lock).map(Some)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        text::pretty(self)
    }

    /// Whether somebody else may take it at a moment, in milliseconds since 1970.
    #[must_use]
    pub fn has_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|expires| now >= expires)
    }
}
