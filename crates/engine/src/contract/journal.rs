//! Where the engine writes what it is about to do and what it did.

use async_trait::async_trait;
use drystone_journal::Entry;

/// A journal. Appending returns when the entries are durable (S2).
#[async_trait]
pub trait Journal: Send + Sync {
    /// Makes entries durable, in their order.
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError>;
}

/// Why entries could not be made durable. Nothing more begins after either.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// Somebody else holds the lease now (S4).
    #[error("{0}")]
    Fenced(String),
    /// The write failed.
    #[error("{0}")]
    Failed(String),
}
