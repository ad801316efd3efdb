//! How an operation is shown while it runs and when it ends.
//!
//! A command opens a [`Display`], hands its [`Display::events`] to the engine, and closes it with what it knows of the
//! end. The engine only puts events into a channel; a thread of the display keeps a `model` of what is known and shows
//! it in one of four ways:
//!
//! - `live`: a tree on a terminal, drawn again a few times a second, printed whole at the end (`tree`, `screen`);
//! - `plain`: a line a change, for logs;
//! - `json`: the stock CLI's event lines, or its one object of a preview;
//! - with `--diff`, each change in full (`changes`, `diff`).
//!
//! All of it goes to stdout, as with the stock CLI: the Automation API hands it to programs, which look into it.
//! Secrets are masked in every way (S17): `values` is the only place that writes a value, and it never looks into one.

mod changes;
mod diff;
mod json;
mod lines;
mod lists;
mod live;
mod log;
mod model;
mod note;
mod opening;
mod plain;
mod policies;
mod renderer;
mod screen;
mod stamped;
mod summary;
mod text;
mod thread;
mod tree;
mod values;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use log::{EventLog, EventStream};
pub(crate) use opening::{Opening, Options};
pub(crate) use renderer::Shown;
pub(crate) use stamped::time_of_day;
pub(crate) use summary::Closing;
pub(crate) use thread::Display;
pub(crate) use tree::Show;
pub(crate) use values::Secrets;

/// How many steps of a kind were taken, in words: `+ 2 created`.
pub(crate) fn counted(op: drystone_engine::Op, count: usize) -> String {
    words::count(op, count, false)
}
