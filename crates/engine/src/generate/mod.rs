//! Decides what a registration means for the state.
//!
//! [`registration`] is the small state machine of one resource; each rule that it follows has a file of its own. What
//! becomes of resources that the program does not name any more is decided in [`delete`].

mod alias;
mod autonaming;
mod check;
pub(crate) mod delete;
mod dependents;
pub(crate) mod diff;
mod ignore_changes;
mod import;
mod migrate;
mod pending;
pub(crate) mod policy;
pub(crate) mod refresh;
pub(crate) mod registration;
mod replace;
mod replace_on_changes;
pub(crate) mod target;
mod together;

pub(crate) use autonaming::Rules;
