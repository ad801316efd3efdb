//! The package `drystone`: each resource through the provider's methods, and whole lives through the engine.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod archive;
mod check;
mod command;
mod harness;
mod hostile;
mod http;
mod lifecycle;
mod local;
mod random;
mod reference;
mod time;
