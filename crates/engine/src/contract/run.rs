//! One operation on a stack, whole.

use crate::{
    Analyzer, Cancellation, ConfigValue, EventSink, Journal, Op, Options, Plan, Plugins, Program,
    StackReader, Surroundings,
};
use drystone_model::Snapshot;
use drystone_secrets::Sealer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that an operation needs.
pub struct Run {
    /// The organization, `organization` where there are none.
    pub organization: String,
    /// The project.
    pub project: String,
    /// The stack's short name.
    pub stack: String,
    /// The configuration by `namespace:name`, opened.
    pub config: BTreeMap<String, ConfigValue>,
    /// The snapshot that the journal's positions refer to.
    pub base: Snapshot,
    /// How to go about it.
    pub options: Options,
    /// What registers resources; not needed by a plain refresh or destroy.
    pub program: Option<Arc<dyn Program>>,
    /// Where providers come from.
    pub plugins: Arc<dyn Plugins>,
    /// Where it is written down; nothing is written in a preview.
    pub journal: Arc<dyn Journal>,
    /// Seals and opens the stack's secrets.
    pub sealer: Arc<Sealer>,
    /// Who is told.
    pub events: Arc<dyn EventSink>,
    /// Policy packs, in the order in which they change resources.
    pub analyzers: Vec<Arc<dyn Analyzer>>,
    /// Reads other stacks.
    pub stacks: Arc<dyn StackReader>,
    /// Time and randomness.
    pub surroundings: Arc<dyn Surroundings>,
    /// Stops it.
    pub cancellation: Cancellation,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("project", &self.project)
            .field("stack", &self.stack)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How.
    pub ending: Ending,
    /// How many steps of each kind; what the history calls resource changes. Default providers are left out.
    pub changes: BTreeMap<Op, usize>,
    /// How often mandatory policies were broken.
    pub mandatory_violations: usize,
    /// Whether anything was journaled that the snapshot does not hold yet.
    pub recorded: bool,
    /// The plan that was asked for, when it ended well.
    pub plan: Option<Plan>,
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ending {
    /// Everything was done.
    #[default]
    Succeeded,
    /// Something failed, and people have been told.
    Failed,
    /// It was asked to stop.
    Cancelled,
    /// What it did could not be written down; it stopped before the next operation (S4).
    Unrecorded(String),
}
