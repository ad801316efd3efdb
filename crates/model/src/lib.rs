//! The state model: what a stack's snapshot holds, and what must be true of it.
//!
//! Pure: no I/O, no clock, no randomness. Everything that stores, replays or displays state works on these types.
//! Properties stay in their stored JSON text ([`Json`]) until somebody asks for a [`Value`], so that numbers, key
//! order and unknown members survive untouched (S9, S10) and a large snapshot costs little more than its file.

mod features;
mod graph;
mod integrity;
mod json;
mod normalize;
mod path;
mod record;
mod repair;
mod resource;
#[cfg(test)]
mod samples;
mod short_name;
mod snapshot;
mod urn;
mod value;

pub use features::{Feature, Features};
pub use graph::{Cycle, CyclicError, DependencyGraph, Edge, EdgeKind, Fate, edges, rewrite_edges};
pub use integrity::{Rule, Severity, Subject, Violation, is_sound, verify};
pub use json::Json;
pub use normalize::{DuplicateAlias, normalize};
pub use path::{PathError, PathProblem, PropertyPath, Segment};
pub use record::{Extra, Wire};
pub use repair::{Change, Remaining, Repair, repair};
pub use resource::{Operation, OperationKind, Properties, Resource, StackFrame};
pub use short_name::ShortName;
pub use snapshot::{Extension, IntegrityErrorRecord, Manifest, Metadata, SecretsProvider, Snapshot, Snippet};
pub use urn::{ProviderReference, ROOT_STACK_TYPE, Urn, UrnError, is_default_provider, is_provider_type};
/// The text that stands for a secret wherever values are shown.
pub use value::MASK as SECRET_MASK;
pub use value::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Number, Output, ResourceReference, Secret, Value,
};

/// JSON text: compacting, indenting and reading it as it is.
pub mod text {
    pub use crate::json::{compact, indent, is_compact};
}
