//! A journal in memory that checks itself.

use async_trait::async_trait;
use drystone_engine::{Journal, JournalError};
use drystone_journal::{Entry, Replayer};
use drystone_model::{Severity, Snapshot, verify};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Replays every entry as it comes and verifies the snapshot after it.
pub(crate) struct MemoryJournal {
    state: Mutex<(Replayer, usize)>,
    texts: Mutex<Vec<String>>,
    writes: AtomicUsize,
    /// Fails the append of this entry and all that follow.
    pub(crate) fail_at: Option<usize>,
}

impl MemoryJournal {
    pub(crate) fn new(base: Snapshot) -> Self {
        Self {
            state: Mutex::new((Replayer::new(base), 0)),
            texts: Mutex::default(),
            writes: AtomicUsize::new(0),
            fail_at: None,
        }
    }

    /// Every entry as it is stored.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap().clone()
    }

    /// How many times entries were written.
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// The snapshot that the journal makes, and how many entries it has.
    pub(crate) fn finish(&self) -> (Snapshot, usize) {
        let state = self.state.lock().unwrap();
        let replayed = state.0.snapshot();
        assert!(replayed.refused.is_empty(), "{:?}", replayed.refused);
        assert!(replayed.duplicate_alias.is_none(), "{:?}", replayed.duplicate_alias);
        (replayed.snapshot, state.1)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state.lock().unwrap();
        for entry in entries {
            if self.fail_at.is_some_and(|at| state.1 >= at) {
                return Err(JournalError::Fenced("the lease was taken over".to_owned()));
            }
            let text = serde_json::to_string(&entry).unwrap();
            if let Err(refused) = state.0.add(entry) {
                panic!("the journal refused an entry: {refused}: {text}");
            }
            self.texts.lock().unwrap().push(text);
            state.1 += 1;
        }
        let snapshot = state.0.snapshot().snapshot;
        let broken: Vec<String> = verify(&snapshot)
            .into_iter()
            .filter(|violation| violation.severity() == Severity::Error)
            // A snapshot in a test has no manifest of its own.
            .map(|violation| violation.to_string())
            .collect();
        assert!(broken.is_empty(), "the snapshot is not sound after entry {}: {broken:#?}", state.1);
        Ok(())
    }
}
