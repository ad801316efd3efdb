//! Plans: what a preview found, as constraints on the update that follows.
//!
//! A preview that makes a plan writes down, for each resource, what the program asked for, which of its properties
//! change, and the steps in their order. An update that is held to a plan compares each registration and each step with
//! it before anything is done. The rules are the stock engine's: what was unknown may become anything, or nothing, and
//! a step may turn out to do less than was planned. `document` is how a plan is stored, `ledger` how a run keeps it.
//!
//! What the stock engine leaves open is closed here. Options that it does not compare are compared. What an import takes
//! over is compared before it is taken over, and steps that never came are missed before anything is deleted. A resource
//! that changed its name keeps one plan. Secrets are masked in what is said of them.

mod difference;
mod document;
mod goal;
mod ledger;

pub use document::PlanError;
pub(crate) use ledger::Ledger;

use crate::{Alias, HookBindings, Op, PropertyMap, Timeouts};
use drystone_model::{Urn, Value};
use std::collections::BTreeMap;

/// What an update may do, by resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What is planned for each resource.
    pub resources: BTreeMap<Urn, ResourcePlan>,
}

/// What is planned for a resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourcePlan {
    /// What the program asks for; nothing for a resource that it does not name.
    pub goal: Option<GoalPlan>,
    /// Its steps in their order.
    pub ops: Vec<Op>,
    /// The outputs that it is expected to have. They constrain nothing.
    pub outputs: Option<PropertyMap>,
    /// The seed of the names that its provider makes up.
    pub seed: Option<[u8; 32]>,
}

/// What a program asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoalPlan {
    /// The resource's type.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// Whether a provider manages it.
    pub custom: bool,
    /// How its checked inputs change.
    pub inputs: PlanDiff,
    /// How the outputs change that the program registers for it.
    pub outputs: PlanDiff,
    /// Its parent, or empty.
    pub parent: Urn,
    /// Whether deleting it is refused.
    pub protect: bool,
    /// What it depends on.
    pub dependencies: Vec<Urn>,
    /// Its provider, or empty.
    pub provider: String,
    /// What each input depends on.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
    /// Whether it is deleted before it is replaced, where somebody said so.
    pub delete_before_replace: Option<bool>,
    /// Property paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Outputs to keep secret.
    pub additional_secret_outputs: Vec<String>,
    /// Names that it had before.
    pub aliases: Vec<Alias>,
    /// The id of an existing thing to take over, or empty.
    pub import_id: String,
    /// Time limits.
    pub timeouts: Timeouts,
    /// What the stock engine does not compare; nothing in a plan that it made.
    pub more: Option<MoreOfGoal>,
}

/// What a program asks for and the stock engine's plans leave out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MoreOfGoal {
    /// Whether deleting it leaves the real thing alone.
    pub retain_on_delete: bool,
    /// A resource whose deletion deletes it too, or empty.
    pub deleted_with: Urn,
    /// Resources whose replacement replaces it.
    pub replace_with: Vec<Urn>,
    /// Property paths whose changes replace it.
    pub replace_on_changes: Vec<String>,
    /// A value whose change replaces it.
    pub replacement_trigger: Option<Value>,
    /// Hooks by name.
    pub hooks: HookBindings,
    /// Whether it is made anew, so that its inputs are planned from nothing.
    pub anew: bool,
    /// The inputs of what takes its place, where it is replaced: its provider checks them once more.
    pub replacement: Option<PropertyMap>,
}

/// How properties change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanDiff {
    /// Those that come.
    pub adds: PropertyMap,
    /// Those that go.
    pub deletes: Vec<String>,
    /// Those that change.
    pub updates: PropertyMap,
}

/// Whether a step may be taken where another was planned: the same one, or one that does less.
fn is_within(op: Op, planned: Op) -> bool {
    let less: &[Op] = match planned {
        Op::Create | Op::Update => &[Op::Same],
        Op::Replace | Op::CreateReplacement | Op::DeleteReplaced => &[Op::Same, Op::Update],
        _ => &[],
    };
    op == planned || less.contains(&op)
}
