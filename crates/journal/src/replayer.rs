//! Replay, at once and bit by bit.

use crate::{Entry, Reason, Refused, draft::Draft, fingerprint::Fingerprint};
use drystone_model::{DuplicateAlias, Features, Snapshot};
use std::collections::{BTreeMap, HashMap};

/// What a journal makes of its base.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The snapshot. Its manifest is the base's: who records it stamps it.
    pub snapshot: Snapshot,
    /// What the snapshot needs of its readers.
    pub features: Features,
    /// Why the names in the snapshot are not settled. It is recorded all the same, aliases included (S7).
    pub duplicate_alias: Option<DuplicateAlias>,
    /// The entries that were refused, by sequence.
    pub refused: Vec<Refused>,
}

/// Replays entries, in whatever order they come, over a base. The first entry that is refused fails it; a
/// [`Replayer`] goes on.
pub fn replay(base: Snapshot, entries: impl IntoIterator<Item = Entry>) -> Result<Replayed, Refused> {
    let mut replayer = Replayer::new(base);
    for entry in entries {
        // Refusals are kept by the replayer, and the first by sequence counts, not the first to arrive.
        let _ = replayer.add(entry);
    }
    let mut replayed = replayer.finish();
    if replayed.refused.is_empty() { Ok(replayed) } else { Err(replayed.refused.swap_remove(0)) }
}

/// A snapshot that follows a journal as its entries arrive.
///
/// Entries are applied by sequence. One that arrives before its predecessors is held until they are there;
/// [`Replayer::snapshot`] and [`Replayer::finish`] apply what is held all the same, each as if the missing entries did
/// not exist, so that a lost entry does not take the later ones with it.
///
/// The first entry of a sequence counts, refused or not: an equal one that follows is dropped, another one is refused.
#[derive(Debug, Clone)]
pub struct Replayer {
    draft: Draft,
    /// The lowest sequence that has not arrived.
    next: i64,
    /// What arrived early; `None` for what was refused on arrival.
    held: BTreeMap<i64, Option<Entry>>,
    arrived: HashMap<i64, Fingerprint>,
    refused: Vec<Refused>,
}

impl Replayer {
    /// Starts from the snapshot that was current when the update began.
    #[must_use]
    pub fn new(base: Snapshot) -> Self {
        Self {
            draft: Draft::new(base),
            next: 1,
            held: BTreeMap::new(),
            arrived: HashMap::new(),
            refused: Vec::new(),
        }
    }

    /// Says that the base has the byte string feature: its sealed secrets do not show it.
    #[must_use]
    pub fn with_byte_strings(mut self) -> Self {
        self.draft.hold_byte_strings();
        self
    }

    /// Takes an entry. Costs what the entry holds, whatever the stack does; only the kinds that change the base as a
    /// whole cost that much.
    ///
    /// An entry in its turn is applied or refused at once. One that arrives early is refused at once when it is wrong
    /// in itself; otherwise it is accepted for now, and if it turns out wrong when its turn comes, [`Self::refused`]
    /// says so. An equal duplicate has the outcome of the first.
    pub fn add(&mut self, entry: Entry) -> Result<(), Refused> {
        let sequence = entry.sequence;
        if sequence < 1 {
            return self.refuse(sequence, Reason::Sequence);
        }
        let fingerprint = Fingerprint::of(&entry);
        match self.arrived.get(&sequence) {
            Some(first) if *first == fingerprint => return self.outcome(sequence),
            Some(_) => return self.refuse(sequence, Reason::ConflictingDuplicate),
            None => self.arrived.insert(sequence, fingerprint),
        };
        if sequence == self.next {
            let outcome = self.apply(entry);
            self.next = self.next.saturating_add(1);
            self.catch_up();
            return outcome;
        }
        match entry.check() {
            Ok(()) => {
                self.held.insert(sequence, Some(entry));
                Ok(())
            }
            Err(reason) => {
                self.held.insert(sequence, None);
                self.refuse(sequence, reason)
            }
        }
    }

    /// The entries that were refused so far, in the order it was found out.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// How many entries wait for one before them.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The snapshot as [`Self::finish`] would give it now. Copies the stack, and nothing more.
    #[must_use]
    pub fn snapshot(&self) -> Replayed {
        let held = self.held.values().flatten().cloned();
        conclude(self.draft.clone(), held, self.refused.clone())
    }

    /// The snapshot of every entry that arrived, and every refusal.
    #[must_use]
    pub fn finish(self) -> Replayed {
        conclude(self.draft, self.held.into_values().flatten(), self.refused)
    }

    /// Applies the held entries whose turn has come.
    fn catch_up(&mut self) {
        while let Some(held) = self.held.remove(&self.next) {
            if let Some(entry) = held {
                // The refusal is kept.
                let _ = self.apply(entry);
            }
            self.next = self.next.saturating_add(1);
        }
    }

    fn apply(&mut self, entry: Entry) -> Result<(), Refused> {
        let sequence = entry.sequence;
        self.draft.apply(entry).or_else(|reason| self.refuse(sequence, reason))
    }

    fn refuse(&mut self, sequence: i64, reason: Reason) -> Result<(), Refused> {
        let refused = Refused { sequence, reason };
        self.refused.push(refused.clone());
        Err(refused)
    }

    /// What became of the first entry of a sequence, as far as it is known.
    fn outcome(&self, sequence: i64) -> Result<(), Refused> {
        let of_the_first = |refused: &&Refused| {
            refused.sequence == sequence && refused.reason != Reason::ConflictingDuplicate
        };
        self.refused.iter().find(of_the_first).map_or(Ok(()), |refused| Err(refused.clone()))
    }
}

/// Applies what is left and makes the snapshot.
fn conclude(mut draft: Draft, held: impl Iterator<Item = Entry>, mut refused: Vec<Refused>) -> Replayed {
    for entry in held {
        let sequence = entry.sequence;
        refused.extend(draft.apply(entry).err().map(|reason| Refused { sequence, reason }));
    }
    refused.sort_by_key(|refused| refused.sequence);
    let (snapshot, features, duplicate_alias) = draft.into_snapshot();
    Replayed { snapshot, features, duplicate_alias, refused }
}
