//! Group commit over a connection: while one write is under way the next batch gathers (S2).

use super::recording::Failure;
use crate::{Error, Result, StackId};
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What makes a batch durable.
#[async_trait]
pub(crate) trait Batches: Send + Sync + 'static {
    /// Writes a batch as one; gives its number.
    async fn write(&self, bytes: Vec<u8>) -> Result<u64, Failure>;
}

/// The batches of one journal.
#[derive(Debug)]
pub(crate) struct Gathering<B> {
    batches: Arc<B>,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    waiters: Vec<oneshot::Sender<Result<u64, Failure>>>,
    writing: bool,
    failed: Option<Failure>,
}

/// Resolves to the number of the batch when it is durable.
pub(crate) type Durable = oneshot::Receiver<Result<u64, Failure>>;

impl<B> Clone for Gathering<B> {
    fn clone(&self) -> Self {
        Self { batches: Arc::clone(&self.batches), queue: Arc::clone(&self.queue) }
    }
}

impl<B: Batches> Gathering<B> {
    pub(crate) fn new(batches: B) -> Self {
        Self { batches: Arc::new(batches), queue: Arc::default() }
    }

    /// What writes the batches.
    pub(crate) fn batches(&self) -> &B {
        &self.batches
    }

    /// Why nothing more is written, once something failed.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.queue().failed.clone()
    }

    /// Writes nothing more.
    pub(crate) fn give_up(&self, error: &Error) {
        let failure = match error {
            Error::Fenced { by, .. } => Failure::Fenced { by: by.clone() },
            error => Failure::Write { reason: error.to_string() },
        };
        self.queue().failed.get_or_insert(failure);
    }

    /// Queues bytes for the next batch. Order of calls is order in the journal.
    pub(crate) fn append(&self, bytes: &[u8]) -> Durable {
        let (sender, receiver) = oneshot::channel();
        let mut queue = self.queue();
        queue.bytes.extend_from_slice(bytes);
        queue.waiters.push(sender);
        if !std::mem::replace(&mut queue.writing, true) {
            let gathering = self.clone();
            // A task of its own: a caller that goes away must not take along what others wait for.
            tokio::spawn(async move { while gathering.write_batch().await {} });
        }
        receiver
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is queued as one batch and tells whoever waits for it; says whether there was anything.
    async fn write_batch(&self) -> bool {
        let (bytes, waiters, failed) = {
            let mut queue = self.queue();
            if queue.waiters.is_empty() {
                queue.writing = false;
                return false;
            }
            (std::mem::take(&mut queue.bytes), std::mem::take(&mut queue.waiters), queue.failed.clone())
        };
        let outcome = match failed {
            Some(failure) => Err(failure),
            None => self.batches.write(bytes).await,
        };
        if let Err(failure) = &outcome {
            self.queue().failed.get_or_insert_with(|| failure.clone());
        }
        for waiter in waiters {
            // A caller that went away no longer wants to know.
            let _ = waiter.send(outcome.clone());
        }
        true
    }
}

/// What came of an append, for the caller.
pub(crate) fn outcome(
    stack: &StackId,
    received: Result<Result<u64, Failure>, oneshot::error::RecvError>,
) -> Result<u64> {
    match received {
        Ok(outcome) => outcome.map_err(|failure| failure.into_error(stack)),
        Err(_) => Err(Error::Poisoned { reason: "the journal was closed".to_owned() }),
    }
}
