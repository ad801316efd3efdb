//! The engine: what turns a stack into what its program says.
//!
//! A program registers resources with the [`Monitor`]; `generate` decides what each registration means for the state,
//! and `execute` does it, one chain of steps after the other for a resource, chains side by side. What happens goes to
//! the [`Journal`] before and after it happens (S1), and to people as [`Event`]s. The engine knows no stores, processes
//! or terminals: providers, programs, the journal, time and randomness come in through the traits of `contract`.

mod builtin;
mod contract;
mod deployment;
mod execute;
mod generate;
mod known;
mod lifecycle;
mod monitor;
mod op;
mod plan;
mod policies;
mod recorder;
mod registry;
mod secrecy;
mod snapshot_policies;
mod vault;
mod world;

pub use contract::*;
pub use generate::diff::object_diff;
pub use lifecycle::run;
pub use op::Op;
pub use plan::{GoalPlan, MoreOfGoal, Plan, PlanDiff, PlanError, ResourcePlan};
pub use registry::package_of as provider_package;
pub use snapshot_policies::analyze_snapshot;
pub use vault::SecretText;
