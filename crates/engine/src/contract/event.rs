//! What people and scripts are told while an operation runs.

use crate::{PropertyDiff, State};
use drystone_model::Urn;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Takes events in their order. Must not block.
pub trait EventSink: Send + Sync {
    /// Takes one.
    fn send(&self, event: Event);
}

/// Something that happened. Values in events are open: who shows them masks secrets (S17).
#[derive(Debug, Clone)]
pub enum Event {
    /// A step is about to run.
    StepStarted(StepEvent),
    /// A step ended well.
    StepDone(StepEvent),
    /// A step failed. A diagnostic says why.
    StepFailed(StepEvent),
    /// Something to read.
    Diagnostic(Diagnostic),
    /// Something waits for a debugger.
    Debugging(Debugging),
    /// How far something long is.
    Progress(Progress),
    /// Something about policies.
    Policy(crate::PolicyEvent),
    /// The end.
    Summary(Summary),
}

/// What waits for a debugger, and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Debugging {
    /// How an editor attaches, in the form of its launch configurations.
    pub config: serde_json::Value,
    /// Where it waits, as the end of a sentence.
    pub message: String,
}

/// How far something long is, that is no step of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What kind of thing.
    pub kind: ProgressKind,
    /// What tells it from others.
    pub id: String,
    /// What it is, for people.
    pub message: String,
    /// How much is done.
    pub received: u64,
    /// How much there is to do, if that is known.
    pub total: Option<u64>,
    /// Whether it ended.
    pub done: bool,
}

/// What takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressKind {
    /// A plugin is fetched; bytes are counted.
    PluginDownload,
    /// A plugin is unpacked and given what it depends on.
    PluginInstall,
}

impl ProgressKind {
    /// The name that it has in logs of events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PluginDownload => "plugin-download",
            Self::PluginInstall => "plugin-install",
        }
    }
}

/// A step of one resource.
#[derive(Debug, Clone)]
pub struct StepEvent {
    /// What is done.
    pub op: crate::Op,
    /// The resource.
    pub urn: Urn,
    /// Its provider, or empty.
    pub provider: String,
    /// The state before.
    pub old: Option<StepView>,
    /// The state after, as far as it is known.
    pub new: Option<StepView>,
    /// Properties that make it be replaced.
    pub replace_keys: Vec<String>,
    /// Properties that change.
    pub changed_keys: Vec<String>,
    /// Every change by its property path; `None` when the provider does not say.
    pub detailed: Option<BTreeMap<String, PropertyDiff>>,
    /// Whether the step is one that the user thinks of, rather than a part of one.
    pub logical: bool,
    /// Whether the step only says what would be done.
    pub planning: bool,
    /// For `StepFailed`: whether the provider broke or said nothing, so that what it did is in doubt.
    pub doubtful: bool,
    /// For `StepDone` of a refresh: what it found (`same`, `update`, `delete`).
    pub result: Option<crate::Op>,
    /// How long it took; zero when it starts.
    pub duration: Duration,
}

/// A state that a step began with or left.
pub type StepView = Arc<State>;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For finding faults.
    Debug,
    /// To be read by who cares; the program's output among it.
    Info,
    /// What the program wrote to stderr.
    InfoError,
    /// To be looked at.
    Warning,
    /// What makes the operation fail.
    Error,
}

impl Severity {
    /// The word that event logs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::InfoError => "info#err",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something to read.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The resource that it is about, or empty.
    pub urn: Urn,
    /// The text; may hold line breaks.
    pub message: String,
    /// How much it matters.
    pub severity: Severity,
    /// Messages with the same number that is not 0 are parts of one.
    pub stream: i32,
    /// Whether the next one of the same resource takes its place.
    pub ephemeral: bool,
}

/// How an operation ended.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// How many steps of each kind, as the stock CLI counts them: providers left out.
    pub changes: BTreeMap<crate::Op, usize>,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was a preview.
    pub dry_run: bool,
    /// Whether everything went well.
    pub succeeded: bool,
    /// Whether what a provider did is in doubt.
    pub doubtful: bool,
    /// The versions of the policy packs that ran, by `name|local|folder`.
    pub policy_packs: BTreeMap<String, String>,
}
