//! How revisions are named on the command line: a number, `current`, `@-` for the one before it.

use crate::backend::Backend;
use crate::report::{Failure, Outcome};
use drystone_stores::{At, Error as StoreError, Recorded, RevisionInfo, StackId};

/// The title of revisions that `stack undo` makes.
pub(super) const UNDO: &str = "stack undo";

/// The revisions of a stack, and which of them is current.
#[derive(Debug)]
pub(super) struct Revisions {
    stack: StackId,
    /// Oldest first.
    pub(super) infos: Vec<RevisionInfo>,
    /// The current snapshot, or why it cannot be read.
    pub(super) current: Result<Recorded, StoreError>,
}

impl Revisions {
    /// Reads what is known of a stack. That its current snapshot cannot be read is no failure: there is all the more
    /// reason to look at the others.
    pub(super) async fn load(backend: &Backend, stack: &StackId) -> Outcome<Self> {
        let current = match backend.store().snapshot(stack, At::Current).await {
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Unsupported { .. })) => Err(error),
            other => Ok(other?),
        };
        let infos = backend.store().revisions(stack).await?;
        Ok(Self { stack: stack.clone(), infos, current })
    }

    /// The number of the current snapshot; none when another tool wrote it and no revision was made of it yet.
    pub(super) fn current_number(&self) -> Option<u64> {
        self.current.as_ref().ok()?.revision
    }

    /// The hash of the current document, when it can be read.
    pub(super) fn hash(&self) -> Option<&str> {
        self.current.as_ref().ok().map(|recorded| recorded.hash.as_str())
    }

    /// What is known of a revision.
    pub(super) fn info(&self, number: u64) -> Option<&RevisionInfo> {
        self.infos.iter().find(|info| u64::try_from(info.number) == Ok(number))
    }

    /// The revision that was current before the current one. An undo counts as the revision that it went back to, so
    /// that one undo after another goes further back.
    pub(super) fn before_current(&self) -> Option<u64> {
        let Some(number) = self.current_number() else {
            return self.infos.last().and_then(|info| u64::try_from(info.number).ok());
        };
        let mut info = self.info(number)?;
        while info.title == UNDO
            && let Some(restored) = info.restores.and_then(|number| u64::try_from(number).ok())
        {
            info = self.info(restored)?;
        }
        info.parent.and_then(|parent| u64::try_from(parent).ok())
    }

    /// The snapshot that a word means.
    pub(super) fn find(&self, word: &str) -> Outcome<At> {
        match word {
            "current" | "@" => Ok(At::Current),
            "@-" => self.before_current().map(At::Revision).ok_or_else(|| {
                Failure::general(format!("{} has no revision before the current one", self.stack))
                    .hint("list the revisions with `drystone stack revisions`")
            }),
            number => match number.parse() {
                Ok(number) if self.info(number).is_some() => Ok(At::Revision(number)),
                Ok(revision) => Err(StoreError::NoRevision { stack: self.stack.clone(), revision }.into()),
                Err(_) => Err(Failure::configuration(format!(
                    "`{word}` names no revision: give a number, `current`, or `@-` for the one before"
                ))
                .hint("list the revisions with `drystone stack revisions`")),
            },
        }
    }
}
