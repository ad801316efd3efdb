//! A journal that replays and verifies every entry, and that can be lost.

use crate::forgotten::rightly_forgotten;
use async_trait::async_trait;
use drystone_engine::{Journal, JournalError};
use drystone_journal::{Entry, Kind, Replayer};
use drystone_model::{OperationKind, Resource, Severity, Snapshot, Urn, verify};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use tokio::sync::Notify;

/// A journal in memory. What it holds is durable.
#[derive(Debug)]
pub(crate) struct CheckedJournal {
    inner: Mutex<Inner>,
    /// Told when the process dies.
    pub(crate) crash: Notify,
    fence_at: Option<usize>,
    crash_at: Option<usize>,
}

#[derive(Debug)]
struct Inner {
    replayer: Replayer,
    /// What the entries so far make of the base.
    latest: Snapshot,
    rng: ChaCha8Rng,
    entries: usize,
    /// Operations that began and have not ended.
    begun: BTreeMap<i64, (OperationKind, Urn)>,
    /// Ids of things that may be left behind: their states said so at any time, or were rightly forgotten.
    retained: BTreeSet<String>,
    /// What the stack manages, by name and id.
    owned: BTreeSet<(Urn, String)>,
    lost: bool,
    wrongs: Vec<String>,
    said: Vec<String>,
}

/// What a journal leaves.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) snapshot: Snapshot,
    pub(crate) entries: usize,
    pub(crate) retained: BTreeSet<String>,
    pub(crate) wrongs: Vec<String>,
    pub(crate) said: Vec<String>,
}

impl CheckedJournal {
    pub(crate) fn new(
        base: Snapshot,
        fence_at: Option<usize>,
        crash_at: Option<usize>,
        rng: ChaCha8Rng,
    ) -> Self {
        let retained = base.resources.iter().filter(|resource| left_behind(resource));
        let retained = retained.map(|resource| resource.id.clone()).collect();
        let owned = base.resources.iter().filter(|resource| !resource.external);
        let owned = owned.map(|resource| (resource.urn.clone(), resource.id.clone())).collect();
        let inner = Inner {
            latest: base.clone(),
            replayer: Replayer::new(base),
            rng,
            entries: 0,
            begun: BTreeMap::new(),
            retained,
            owned,
            lost: false,
            wrongs: Vec::new(),
            said: Vec::new(),
        };
        Self { inner: Mutex::new(inner), crash: Notify::new(), fence_at, crash_at }
    }

    /// How many operations of a kind on a resource have begun, durably, and not ended.
    pub(crate) fn begun(&self, kind: &OperationKind, urn: &Urn) -> usize {
        let inner = self.inner.lock().unwrap();
        inner.begun.values().filter(|(other, of)| other == kind && of == urn).count()
    }

    /// Whether an append failed.
    pub(crate) fn is_lost(&self) -> bool {
        self.inner.lock().unwrap().lost
    }

    pub(crate) fn finish(&self) -> Written {
        let mut inner = self.inner.lock().unwrap();
        let replayed = inner.replayer.snapshot();
        let mut wrongs = std::mem::take(&mut inner.wrongs);
        wrongs.extend(replayed.refused.iter().map(|refused| format!("refused: {refused}")));
        Written {
            snapshot: replayed.snapshot,
            entries: inner.entries,
            retained: std::mem::take(&mut inner.retained),
            wrongs,
            said: std::mem::take(&mut inner.said),
        }
    }
}

/// Whether the thing is not deleted when the state goes.
fn left_behind(state: &Resource) -> bool {
    state.retain_on_delete
}

/// What became of a batch.
enum Taken {
    Durable,
    Fenced,
    Crashed,
}

impl Inner {
    /// Takes entries one by one: a batch may be cut anywhere.
    fn take_all(&mut self, entries: Vec<Entry>, fence_at: Option<usize>, crash_at: Option<usize>) -> Taken {
        for entry in entries {
            if self.lost || fence_at.is_some_and(|at| self.entries >= at) {
                self.lost = true;
                return Taken::Fenced;
            }
            if crash_at.is_some_and(|at| self.entries >= at) {
                return Taken::Crashed;
            }
            self.take(entry);
        }
        Taken::Durable
    }

    fn take(&mut self, entry: Entry) {
        self.entries += 1;
        let text = crate::is_verbose().then(|| serde_json::to_string(&entry).unwrap());
        match entry.kind {
            Kind::Begin => {
                if let Some(operation) = &entry.operation {
                    let begun = (operation.kind.clone(), operation.resource.urn.clone());
                    self.begun.insert(entry.operation_id, begun);
                }
            }
            _ => {
                self.begun.remove(&entry.operation_id);
            }
        }
        let written = entry.new_snapshot.iter().flat_map(|snapshot| &snapshot.resources);
        let retained = entry.state.iter().chain(written).filter(|state| left_behind(state));
        self.retained.extend(retained.map(|state| state.id.clone()));
        if let Some(state) = &entry.state {
            let owned = (state.urn.clone(), state.id.clone());
            if !state.external {
                self.owned.insert(owned);
            } else if self.owned.contains(&owned) {
                // From now on it is only read: it is given back to whoever made it.
                self.retained.insert(owned.1);
            }
        }
        let (changes, number) = (entry.kind != Kind::Begin, self.entries);
        if let Err(refused) = self.replayer.add(entry) {
            self.wrongs.push(format!("entry {number} was refused: {refused}"));
        }
        if let Some(text) = text {
            self.said.push(format!("      entry {number}: {text}"));
        }
        if !changes {
            return;
        }
        let replayed = self.replayer.snapshot();
        if let Some(alias) = replayed.duplicate_alias {
            self.wrongs.push(format!("after entry {number}: a contested alias: {alias:?}"));
        }
        let broken = verify(&replayed.snapshot).into_iter();
        let broken: Vec<String> = broken
            .filter(|violation| violation.severity() == Severity::Error)
            .map(|violation| violation.to_string())
            .collect();
        if !broken.is_empty() && self.wrongs.is_empty() {
            self.wrongs.push(format!("after entry {number} the snapshot is not sound: {broken:?}"));
        }
        self.retained.extend(rightly_forgotten(&self.latest, &replayed.snapshot));
        self.latest = replayed.snapshot;
    }
}

#[async_trait]
impl Journal for CheckedJournal {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let turns = self.inner.lock().unwrap().rng.random_range(0..3);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        match self.inner.lock().unwrap().take_all(entries, self.fence_at, self.crash_at) {
            Taken::Durable => return Ok(()),
            Taken::Fenced => return Err(JournalError::Fenced("somebody else holds the stack".to_owned())),
            Taken::Crashed => self.crash.notify_one(),
        }
        // The process is dead.
        std::future::pending().await
    }
}
