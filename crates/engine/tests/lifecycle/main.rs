//! What the engine does, topic by topic: a short program, the steps, the end state.

#![allow(clippy::unwrap_used)]

mod harness;

mod alias;
mod autonaming;
mod basics;
mod builtins;
mod components;
mod continue_on_error;
mod delete_before_replace;
mod deleted_with;
mod destroy;
mod diff;
mod error_hooks;
mod events;
mod failures;
mod hooks;
mod ignore_changes;
mod import_command;
mod import_option;
mod interrupted;
mod invoke;
mod options;
mod parameterised;
mod pending;
mod plans;
mod policy;
mod preview;
mod protect;
mod providers;
mod read;
mod refresh;
mod regressions;
mod replace_on_changes;
mod replace_with;
mod replacement_trigger;
mod retain;
mod secrets;
mod snapshot_order;
mod stack_outputs;
mod standing_packages;
mod taint;
mod target;
mod transforms;
mod views;
