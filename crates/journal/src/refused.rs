//! Why an entry is refused.

/// An entry that was not applied. Nothing of it is in the snapshot, and everything else is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("journal entry {sequence}: {reason}")]
pub struct Refused {
    /// The entry's sequence.
    pub sequence: i64,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Sequences count from 1.
    #[error("sequences count from 1")]
    Sequence,
    /// The format is of a version that this one does not know.
    #[error("version {0} of the entry format is not known, only version 1")]
    UnknownVersion(i64),
    /// The kind is one that this version does not know.
    #[error("kind {0} is not known")]
    UnknownKind(i64),
    /// A member that the kind needs is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// The state is meant for one resource, and two are named.
    #[error("`removeOld` and `removeNew` both say where the state belongs")]
    TwoTargets,
    /// Another entry of the same sequence came before and is not the same.
    #[error("another entry has the same sequence and is not the same")]
    ConflictingDuplicate,
    /// The operation that the entry begins has begun before.
    #[error("operation {0} has begun before")]
    BegunBefore(i64),
    /// The operation that the entry ends has never begun, or has ended before.
    #[error("operation {0} is not under way")]
    NotUnderWay(i64),
    /// The entry names an operation that left no resource.
    #[error("`{member}` names operation {operation}, which left no resource")]
    UnknownOperation {
        /// The member that names it.
        member: &'static str,
        /// The operation.
        operation: i64,
    },
    /// The entry names a resource that the base does not have.
    #[error("`{member}` names resource {index} of a base that has {resources}")]
    OutOfRange {
        /// The member that names it.
        member: &'static str,
        /// The position that it names.
        index: i64,
        /// How many resources the base has.
        resources: usize,
    },
}
