//! What an operation is asked to do.

use crate::{Import, Plan, Targets};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is done to the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Operation {
    /// The program decides what there is.
    #[default]
    Update,
    /// The state is brought up to what there is.
    Refresh,
    /// Everything goes.
    Destroy,
    /// What the user names is taken over, without a program.
    Import,
}

/// Whether and how the state is brought up to what there is before an update or a destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefreshMode {
    /// Only resources whose provider asked for it.
    #[default]
    AsProvidersAsk,
    /// All, before anything else.
    First,
}

/// How an operation goes about it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is done.
    pub operation: Operation,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Run the program during a refresh or a destroy too.
    pub run_program: bool,
    /// Whether the state is refreshed first.
    pub refresh: RefreshMode,
    /// How many steps run side by side; 0 for as many as there are.
    pub parallel: usize,
    /// Resources to operate on; all when empty.
    pub targets: Targets,
    /// Resources that depend on targets are targets too.
    pub target_dependents: bool,
    /// Resources not to operate on.
    pub excludes: Targets,
    /// Resources that depend on excluded ones are excluded too.
    pub exclude_dependents: bool,
    /// Resources to replace.
    pub replace: Targets,
    /// Go on with what does not depend on a failed step.
    pub continue_on_error: bool,
    /// Delete and replace protected resources too.
    pub ignore_protect: bool,
    /// Compare inputs instead of asking providers, as before 1.0.
    pub legacy_diff: bool,
    /// Compare outputs instead of asking providers what a refresh found.
    pub legacy_refresh_diff: bool,
    /// Packages that must not have default providers; `*` for all.
    pub disable_default_providers: Vec<String>,
    /// How generated names are formed: the `pulumi:autonaming` setting as JSON.
    pub autonaming: Option<serde_json::Value>,
    /// Ids of resources whose creation was under way when an earlier run died, by URN.
    pub import_pending_creates: BTreeMap<String, String>,
    /// Forget operations that were under way when an earlier run died.
    pub clear_pending_creates: bool,
    /// What the operation is held to.
    pub plan: Option<Arc<Plan>>,
    /// Make a plan of what is done.
    pub make_plan: bool,
    /// Show secrets in messages.
    pub show_secrets: bool,
    /// What an import takes over.
    pub imports: Vec<Import>,
}

/// A value of the stack's configuration, opened.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ConfigValue {
    /// The text, or JSON text when it is an object.
    pub text: String,
    /// Whether the text is JSON.
    pub object: bool,
    /// Whether it is a secret, or holds one.
    pub secret: bool,
}

impl std::fmt::Debug for ConfigValue {
    /// Never shows a secret (S17).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = if self.secret { drystone_model::SECRET_MASK } else { &self.text };
        f.debug_struct("ConfigValue").field("text", &text).field("object", &self.object).finish()
    }
}
