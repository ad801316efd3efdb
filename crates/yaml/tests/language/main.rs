//! Programs in YAML, run by the real engine against a provider in this process: what is registered, what comes of it,
//! and what people are told when something is wrong.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod shelf;
mod stack;

mod components;
mod config;
mod errors;
mod functions;
mod hostile;
mod options;
mod previews;
mod resources;
mod speed;
mod values;
