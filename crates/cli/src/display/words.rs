//! The signs and words for what happens to a resource.

use super::text::Tone;
use drystone_engine::Op;

/// What happens to a resource, all its steps taken together. Later ones are more than earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Nothing.
    Same,
    /// Its state is brought up to what there is.
    Refresh,
    /// It is looked at.
    Read,
    /// A refresh found it changed.
    Drifted,
    /// A refresh found it gone.
    Gone,
    /// What another took the place of goes.
    Clear,
    /// What was only read is forgotten.
    Discard,
    /// What was deleted and never made again is forgotten.
    Forget,
    /// It is taken over.
    Import,
    /// It changes.
    Update,
    /// It is made.
    Create,
    /// It goes.
    Delete,
    /// Another takes its place.
    Replace,
}

impl Kind {
    /// What a step says of its resource. `found` is what a refresh found.
    pub(super) fn of(op: Op, found: Option<Op>) -> Self {
        match op {
            Op::Same => Self::Same,
            Op::Create => Self::Create,
            Op::Update => Self::Update,
            Op::Delete => Self::Delete,
            Op::Read => Self::Read,
            Op::Discard => Self::Discard,
            Op::Import => Self::Import,
            Op::RemovePendingReplace => Self::Forget,
            Op::DeleteReplaced | Op::DiscardReplaced => Self::Clear,
            Op::CreateReplacement | Op::Replace | Op::ReadReplacement | Op::ImportReplacement => {
                Self::Replace
            }
            Op::Refresh => match found {
                None => Self::Refresh,
                Some(Op::Same) => Self::Same,
                Some(Op::Delete) => Self::Gone,
                Some(_) => Self::Drifted,
            },
        }
    }

    /// The sign before the resource, at most two columns wide.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Create => "+",
            Self::Update | Self::Refresh | Self::Drifted | Self::Forget => "~",
            Self::Delete | Self::Gone | Self::Clear => "-",
            Self::Replace => "+-",
            Self::Read => ">",
            Self::Import => "=",
            Self::Discard => "<",
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Same => Tone::Faint,
            Self::Create => Tone::Added,
            Self::Update | Self::Refresh | Self::Drifted | Self::Forget => Tone::Changed,
            Self::Delete | Self::Gone | Self::Clear | Self::Discard => Tone::Removed,
            Self::Replace => Tone::Replaced,
            Self::Read | Self::Import => Tone::Read,
        }
    }

    /// While it happens.
    pub(super) fn running(self) -> &'static str {
        match self {
            Self::Same => "checking",
            Self::Create => "creating",
            Self::Update => "updating",
            Self::Delete | Self::Clear => "deleting",
            Self::Replace => "replacing",
            Self::Read => "reading",
            Self::Refresh | Self::Drifted | Self::Gone => "refreshing",
            Self::Import => "importing",
            Self::Discard => "discarding",
            Self::Forget => "removing",
        }
    }

    /// After it happened.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Same => "unchanged",
            Self::Create => "created",
            Self::Update => "updated",
            Self::Delete | Self::Clear => "deleted",
            Self::Replace => "replaced",
            Self::Read => "read",
            Self::Refresh | Self::Drifted => "refreshed",
            Self::Gone => "gone",
            Self::Import => "imported",
            Self::Discard => "discarded",
            Self::Forget => "removed",
        }
    }

    /// In a preview.
    pub(super) fn planned(self) -> &'static str {
        match self {
            Self::Same => "unchanged",
            Self::Create => "to create",
            Self::Update => "to update",
            Self::Delete | Self::Clear => "to delete",
            Self::Replace => "to replace",
            Self::Read => "to read",
            Self::Refresh | Self::Drifted => "to refresh",
            Self::Gone => "gone",
            Self::Import => "to import",
            Self::Discard => "to discard",
            Self::Forget => "to remove",
        }
    }
}

/// Whether a summary counts it as a change; what is only looked at is not one.
pub(super) fn is_change(op: Op) -> bool {
    !matches!(op, Op::Same | Op::Read | Op::Discard | Op::ReadReplacement | Op::DiscardReplaced)
}

/// A count as the stock CLI words it: `+ 2 created`, in a preview `+ 2 to create`.
pub(super) fn count(op: Op, count: usize, planned: bool) -> String {
    let (sign, past) = match op {
        Op::Same => ("", "unchanged"),
        Op::Create => ("+", "created"),
        Op::CreateReplacement => ("++", "created replacement"),
        Op::Update => ("~", "updated"),
        Op::Delete => ("-", "deleted"),
        Op::DeleteReplaced => ("--", "deleted original"),
        Op::Discard => ("<", "discarded"),
        Op::DiscardReplaced => ("<<", "discarded original"),
        Op::Replace => ("+-", "replaced"),
        Op::Read => (">", "read"),
        Op::ReadReplacement => (">>", "read replacement"),
        Op::Refresh => ("~", "refreshed"),
        Op::Import => ("=", "imported"),
        Op::ImportReplacement => ("=>", "imported replacement"),
        Op::RemovePendingReplace => ("~", "removed"),
    };
    let words = if planned { format!("to {op}") } else { past.to_owned() };
    format!("{sign} {count} {words}")
}
