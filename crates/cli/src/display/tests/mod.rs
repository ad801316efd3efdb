//! What is shown of scripted operations.

mod diffs;
mod json;
mod live;
mod plain;
mod policies;
mod scale;
mod script;
mod secrets;
mod terminal;
mod thread;
