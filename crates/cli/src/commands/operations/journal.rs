//! The engine's journal, kept by the lease.

use crate::context::secrets_failure;
use crate::report::Failure;
use async_trait::async_trait;
use drystone_engine::{Journal, JournalError};
use drystone_journal::{Entry, Kind};
use drystone_model::SecretsProvider;
use drystone_secrets::Manager;
use drystone_stores::{Error as StoreError, HeldLease};
use std::sync::{Mutex, PoisonError};
use tokio::sync::{OnceCell, RwLock};

/// Appends what the engine journals to the journal of a held lease.
///
/// The secrets are unlocked before the first entry: a key that turns out wrong stops the operation before its first
/// effect, and an operation that changes nothing derives none.
pub(super) struct LeaseJournal {
    lease: RwLock<Option<Box<dyn HeldLease>>>,
    manager: Manager,
    /// What the stack's first entry says seals its secrets, when the base does not say so yet.
    provider: Option<SecretsProvider>,
    began: OnceCell<()>,
    failure: Mutex<Option<Failure>>,
}

impl LeaseJournal {
    /// The journal of a lease over a base that is sealed by `base`, for an operation whose secrets `manager` seals.
    pub(super) fn new(lease: Box<dyn HeldLease>, manager: &Manager, base: Option<&SecretsProvider>) -> Self {
        let changed = base.is_none_or(|base| base != manager.provider());
        Self {
            lease: RwLock::new(Some(lease)),
            manager: manager.clone(),
            provider: changed.then(|| manager.provider().clone()),
            began: OnceCell::new(),
            failure: Mutex::new(None),
        }
    }

    /// Takes nothing more, and gives the lease back.
    pub(super) async fn close(&self) -> Option<Box<dyn HeldLease>> {
        self.lease.write().await.take()
    }

    /// Why an entry was not taken, the first time.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Unlocks the secrets, and says what seals them where that is news.
    async fn begin(&self, lease: &dyn HeldLease) -> Result<(), JournalError> {
        let manager = self.manager.clone();
        let unlocked = tokio::task::spawn_blocking(move || manager.unlock()).await;
        match unlocked {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.keep(secrets_failure(error), JournalError::Failed)),
            Err(error) => return Err(JournalError::Failed(error.to_string())),
        }
        let Some(provider) = &self.provider else { return Ok(()) };
        let entry =
            Entry { secrets_provider: Some(provider.clone()), ..Entry::new(Kind::SecretsManager, 1, 0) };
        lease.append(vec![entry]).await.map_err(|error| self.refused(error))
    }

    fn refused(&self, error: StoreError) -> JournalError {
        let kind = match &error {
            StoreError::Fenced { .. } => JournalError::Fenced,
            _ => JournalError::Failed,
        };
        self.keep(Failure::from(error), kind)
    }

    fn keep(&self, failure: Failure, kind: fn(String) -> JournalError) -> JournalError {
        let error = kind(failure.message.clone());
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        error
    }
}

#[async_trait]
impl Journal for LeaseJournal {
    async fn append(&self, mut entries: Vec<Entry>) -> Result<(), JournalError> {
        let held = self.lease.read().await;
        let Some(lease) = held.as_deref() else {
            return Err(JournalError::Failed("the operation has ended".to_owned()));
        };
        self.began.get_or_try_init(|| self.begin(lease)).await?;
        if self.provider.is_some() {
            // The first entry is ours.
            entries.iter_mut().for_each(|entry| entry.sequence += 1);
        }
        lease.append(entries).await.map_err(|error| self.refused(error))
    }
}

/// The journal of a preview, which writes nothing down.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NoJournal;

#[async_trait]
impl Journal for NoJournal {
    async fn append(&self, _: Vec<Entry>) -> Result<(), JournalError> {
        Ok(())
    }
}
