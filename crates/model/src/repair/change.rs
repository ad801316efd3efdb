//! What a repair did, and what it could not do, in words.

use crate::integrity::{Rule, Subject, Violation};
use crate::{EdgeKind, ShortName, Urn};
use std::fmt;

/// One change that a repair made. Its text explains it to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The manifest's magic was computed again.
    MagicRewritten {
        /// The version that it belongs to.
        version: String,
    },
    /// A type that was missing was read from the URN.
    TypeRestored {
        /// The resource or pending operation.
        subject: Subject,
        /// Its URN.
        urn: Urn,
    },
    /// A live resource was dropped that equals another one in everything.
    CopyDropped {
        /// Where it was.
        index: usize,
        /// Its URN.
        urn: Urn,
        /// Where the other one is.
        kept: usize,
    },
    /// A snippet was dropped that equals another one in everything.
    SnippetCopyDropped {
        /// Where it was.
        index: usize,
        /// Where the other one is.
        kept: usize,
    },
    /// A resource moved towards the front.
    Moved {
        /// Where it was.
        index: usize,
        /// Its URN.
        urn: Urn,
        /// The resource that it stands before now.
        before: (usize, Urn),
        /// The resource that refers to it: `before`, or one that moved before it as well.
        wanted_by: (usize, Urn),
        /// Why that one refers to it.
        edge: EdgeKind,
    },
    /// A reference that led nowhere was taken out.
    ReferenceDropped {
        /// The resource that had it.
        index: usize,
        /// Its URN, before it was renamed if it was.
        urn: Urn,
        /// Which kind of reference it was.
        edge: EdgeKind,
        /// The property that it belonged to.
        property: Option<String>,
        /// What it named.
        target: Urn,
        /// Whether it named the resource itself, rather than one that is not there.
        is_itself: bool,
    },
    /// A resource has no parent any more.
    ParentRemoved {
        /// The resource.
        index: usize,
        /// Its URN, before it was renamed if it was.
        urn: Urn,
        /// The parent that it named.
        parent: Urn,
        /// Whether it named itself, rather than one that is not there.
        is_itself: bool,
        /// The URN that it should have got, when another resource has that one.
        taken: Option<Urn>,
    },
    /// A resource got another URN because its parent is gone or got another one.
    Renamed {
        /// The resource.
        index: usize,
        /// Its URN before.
        from: Urn,
        /// Its URN now.
        to: Urn,
        /// How many references follow it.
        references: usize,
    },
    /// The note that the snapshot breaks a rule was taken away.
    IntegrityErrorCleared,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MagicRewritten { version } => {
                write!(f, "rewrote the manifest's magic: it did not fit version `{version}`")
            }
            Self::TypeRestored { subject, urn } => {
                write!(
                    f,
                    "gave {subject} {} the type `{}` that its URN says",
                    ShortName(urn),
                    urn.type_token()
                )
            }
            Self::CopyDropped { index, urn, kept } => {
                write!(f, "dropped #{index} {}: it is an exact copy of #{kept}", ShortName(urn))
            }
            Self::SnippetCopyDropped { index, kept } => {
                write!(f, "dropped snippet #{index}: it is an exact copy of snippet #{kept}")
            }
            Self::Moved { index, urn, before, wanted_by, edge } => {
                write!(
                    f,
                    "moved #{index} {} before #{} {}, ",
                    ShortName(urn),
                    before.0,
                    ShortName(&before.1)
                )?;
                if wanted_by == before {
                    write!(f, "which {}", edge.verb())
                } else {
                    write!(f, "because #{} {} {}", wanted_by.0, ShortName(&wanted_by.1), edge.verb())
                }
            }
            Self::ReferenceDropped { index, urn, edge, property, target, is_itself } => {
                write!(f, "dropped the {edge} {} of #{index} {}", ShortName(target), ShortName(urn))?;
                if let Some(property) = property {
                    write!(f, " (property `{property}`)")?;
                }
                write!(f, ": {}", absence(*is_itself))
            }
            Self::ParentRemoved { index, urn, parent, is_itself, taken } => {
                let (parent, child) = (ShortName(parent), ShortName(urn));
                write!(f, "removed the parent {parent} of #{index} {child}: {}", absence(*is_itself))?;
                taken.as_ref().map_or(Ok(()), |taken| {
                    write!(f, "; its URN stays {urn} because another resource is called {taken}")
                })
            }
            Self::Renamed { index, from, to, references } => {
                write!(f, "rewrote the URN of #{index} from {from} to {to}, ")?;
                match references {
                    0 => f.write_str("to which nothing refers"),
                    1 => f.write_str("and 1 reference follows"),
                    _ => write!(f, "and {references} references follow"),
                }
            }
            Self::IntegrityErrorCleared => {
                f.write_str("took away the note that the snapshot breaks a rule: it breaks none now")
            }
        }
    }
}

fn absence(is_itself: bool) -> &'static str {
    if is_itself { "it is the resource itself" } else { "it is not in the snapshot" }
}

/// An error that a repair left in the snapshot, and what a person can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remaining {
    /// The error.
    pub violation: Violation,
    /// What to do.
    pub hint: &'static str,
}

impl Remaining {
    pub(super) fn new(violation: Violation) -> Self {
        let hint = hint(violation.rule);
        Self { violation, hint }
    }
}

impl fmt::Display for Remaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violation.fmt(f)
    }
}

fn hint(rule: Rule) -> &'static str {
    match rule {
        Rule::UnknownProvider => {
            "return to a revision that still has the provider and update from there, or delete the resource from \
             the state"
        }
        Rule::MalformedProviderReference => {
            "edit the state and write the reference as `<URN of the provider>::<its id>`, or delete the resource \
             from it"
        }
        Rule::DuplicateUrn => {
            "the two differ: compare them, edit the state, and keep the one that describes what exists"
        }
        Rule::MissingUrn => "edit the state: give the entry its URN, or delete it",
        Rule::MissingType => {
            "edit the state: give the entry its type, which its URN does not say, or delete it"
        }
        Rule::IdOnComponent => {
            "edit the state: set `custom` if a provider manages the resource, or else take out its id"
        }
        Rule::UnreferenceableProvider => {
            "edit the state: give the provider a URN of type `pulumi:providers:<package>`"
        }
        Rule::SnippetMissingUuid | Rule::SnippetDuplicateUuid => {
            "edit the state: give the snippet a UUID of its own, or delete it"
        }
        _ => "edit the state, or return to the last sound revision",
    }
}
