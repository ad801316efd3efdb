//! The contract that every store keeps: seven methods that read, three that lease, five that write.

use crate::{Claim, Commit, Committed, Keep, LeaseInfo, Orphan, Recovery, Result, RevisionInfo, StackId};
use async_trait::async_trait;
use drystone_journal::Entry;
use drystone_model::{Json, Snapshot};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// A store: somewhere that stacks are kept.
pub trait Store: Reads + Leases {}
impl<T: Reads + Leases> Store for T {}

/// What reads. Nothing here locks or waits (S8).
#[async_trait]
pub trait Reads: Send + Sync {
    /// The stacks of one project, or of all; those in the trash too, marked so.
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>>;
    /// Who holds which stacks, of one project or of all, as [`Reads::describe`] tells of each. Stacks that nobody holds
    /// are left out. A medium that can list what is held overrides this, which asks for stack after stack.
    async fn holders(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Vec<LeaseInfo>>> {
        let mut held = BTreeMap::new();
        for summary in self.stacks(project).await?.into_iter().filter(|summary| summary.trashed.is_none()) {
            let holders = self.describe(&summary.stack).await?.holders;
            if !holders.is_empty() {
                held.insert(summary.stack, holders);
            }
        }
        Ok(held)
    }
    /// What is known of a stack without opening its snapshot.
    async fn describe(&self, stack: &StackId) -> Result<StackDescription>;
    /// A snapshot: the current one, that plus what a running update has journaled, or a revision's.
    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded>;
    /// The revisions, oldest first.
    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>>;
    /// The records of past updates, newest first, as Pulumi writes them.
    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>>;
    /// What was journaled since a mark, or from the beginning: by the update that runs, or by one that died and waits
    /// to be brought in. `None` when there is no journal: nothing runs, or what runs has written nothing yet. A mark of
    /// another journal than the one that is there now counts for nothing.
    async fn journal(&self, stack: &StackId, since: Option<&JournalMark>) -> Result<Option<JournalPart>>;
}

/// What gives and takes the right to write.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the lease of a stack that exists or is about to, bringing in first what a dead holder left (S5). Fails at
    /// once when somebody else holds it.
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>>;
    /// Takes the lease away from whoever holds it, commits what that holder journaled, and says whose it was. Its next
    /// append fails (S4).
    async fn break_lease(&self, stack: &StackId, claim: Claim) -> Result<(Vec<LeaseInfo>, Recovery)>;
    /// Waits until the lease of a stack may be free, at most for so long. That it is free is not promised: whoever waits
    /// asks for it again. A medium that tells nobody is asked again after a moment.
    async fn wait_for_release(&self, _stack: &StackId, at_most: Duration) -> Result<()> {
        tokio::time::sleep(at_most.min(MOMENT)).await;
        Ok(())
    }
}

/// How often a medium is asked that tells nobody when a lease is given back.
const MOMENT: Duration = Duration::from_millis(200);

/// The right to write to one stack. Dropping it without releasing is dying: the next holder recovers.
#[async_trait]
pub trait HeldLease: Send + Sync {
    /// The lease as others see it.
    fn info(&self) -> &LeaseInfo;
    /// What was found when the lease was taken.
    fn recovery(&self) -> &Recovery;
    /// Makes journal entries durable, in one write with those of other callers (S2). Returns when they are. A refused
    /// entry ends the call: those before it are recorded, it and those after it are not. After a write that failed
    /// nothing more is taken and no commit is made; releasing materialises what is durable.
    async fn append(&self, entries: Vec<Entry>) -> Result<()>;
    /// Makes a revision and points the stack at it (S6). Creates the stack when there is none.
    async fn commit(&self, commit: Commit) -> Result<Committed>;
    /// Moves the stack with all its revisions, history and tags to another name or the trash, or deletes it for good.
    async fn relocate(&self, to: Relocation) -> Result<()>;
    /// Deletes old revisions, never the current one; gives the numbers deleted.
    async fn prune(&self, keep: Keep) -> Result<Vec<u64>>;
    /// Gives the lease back.
    async fn release(self: Box<Self>) -> Result<()>;
}

/// Which snapshot of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The last committed one.
    Current,
    /// The last committed one plus what a running update has journaled since.
    Running,
    /// A revision's.
    Revision(u64),
}

/// Where a stack goes.
#[derive(Debug, Clone)]
pub enum Relocation {
    /// Another name, with the snapshot rewritten for it. The name must be free.
    To {
        /// The new name.
        stack: StackId,
        /// The snapshot under that name; `None` for a stack that never had one.
        snapshot: Option<Box<Snapshot>>,
    },
    /// The trash, with a note for whoever brings it back.
    Trash {
        /// Kept beside the stack, such as its settings.
        note: Option<String>,
    },
    /// Back from the trash, to the name that the lease is for, which must be free.
    FromTrash {
        /// Which of the trashed stacks.
        id: String,
    },
    /// Nowhere: it is deleted with its revisions.
    Nowhere,
}

/// A snapshot as a store holds it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The revision, when one has been made of it.
    pub revision: Option<u64>,
    /// The BLAKE3 hash of its document, hex.
    pub hash: String,
    /// The snapshot; an empty one for a stack that was never updated.
    pub snapshot: Snapshot,
    /// Whether the stack has ever had a snapshot written.
    pub ever_written: bool,
    /// Whether texts that are not UTF-8 stand in it.
    pub byte_strings: bool,
}

/// A part of a journal, in the order in which it was written.
#[derive(Debug, Clone)]
pub struct JournalPart {
    /// Whose journal it is; told with its first part.
    pub head: Option<JournalHead>,
    /// The entries.
    pub entries: Vec<Entry>,
    /// How far it was read.
    pub mark: JournalMark,
}

/// What a journal is for.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalHead {
    /// The lease that it is written under.
    pub lease: LeaseInfo,
    /// The revision that its entries refer to; `None` for a stack that had none.
    pub base: Option<u64>,
}

/// How far a journal was read. What it says is the store's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalMark {
    pub(crate) journal: String,
    pub(crate) position: u64,
}

/// A stack in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSummary {
    /// The stack.
    pub stack: StackId,
    /// When its snapshot was last written.
    pub last_update: Option<String>,
    /// How many resources it holds; `None` when its snapshot cannot be read.
    pub resources: Option<u64>,
    /// Set when the stack is in the trash.
    pub trashed: Option<Trashed>,
}

/// What is known of a stack besides its snapshot.
#[derive(Debug, Clone, Default)]
pub struct StackDescription {
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Everybody who holds it: our own lease, and lock files of other tools.
    pub holders: Vec<LeaseInfo>,
    /// Journals of dead updates that could not be replayed, or not as a whole (S20).
    pub orphans: Vec<Orphan>,
    /// Whether a dead update's journal waits to be brought in by the next holder.
    pub unrecovered: bool,
}

/// A stack in the trash.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    /// Its identity there, for [`Relocation::FromTrash`].
    pub id: String,
    /// When it was removed.
    pub removed: Timestamp,
    /// The note left with it.
    pub note: Option<String>,
}
