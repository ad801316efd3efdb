//! How an operation ended, in a line, and what to do next.

use super::model::Model;
use super::text::{Line, Tone, duration};
use super::words::{count, is_change};
use drystone_engine::{Ending, Op};
use std::time::Duration;

/// What only the caller knows of the end: what became of the state, and what can be done now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Closing {
    /// How the engine says that it ended.
    pub(crate) ending: Ending,
    /// The revision before, if there was one, and the one that the state is at now.
    pub(crate) revision: Option<(Option<u64>, u64)>,
    /// The command that takes it back.
    pub(crate) undo: Option<String>,
    /// Where the result can be looked at.
    pub(crate) permalink: Option<String>,
    /// What to do next, a line each.
    pub(crate) hints: Vec<String>,
}

/// What changed, what failed and what stayed, then where the state is now; in one line where that fits.
pub(super) fn summary(model: &Model, closing: &Closing, elapsed: Duration, columns: usize) -> Vec<Line> {
    let line = counts(model, closing, elapsed);
    let after = revision(closing);
    if line.width() + GAP.len() + after.width() <= columns {
        let gap = if after.width() == 0 { "" } else { GAP };
        return vec![line.with(Tone::Plain, gap).joined(after)];
    }
    vec![line, after]
}

/// What stands between parts of a line.
const GAP: &str = "   ";

fn revision(closing: &Closing) -> Line {
    let mut line = Line::default();
    match closing.revision {
        Some((Some(before), now)) if before != now => {
            line.push(Tone::Plain, format!("revision {before} → {now}"));
        }
        Some((_, now)) => line.push(Tone::Plain, format!("revision {now}")),
        None => {}
    }
    if let Some(undo) = &closing.undo {
        let gap = if line.width() == 0 { "" } else { GAP };
        line.push(Tone::Faint, format!("{gap}undo: {undo}"));
    }
    line
}

fn counts(model: &Model, closing: &Closing, elapsed: Duration) -> Line {
    let planned = model.summary.as_ref().is_some_and(|summary| summary.dry_run) || plans_only(model);
    let counts = model.counts();
    let failed = model.failures().filter(|row| !row.is_stack()).count();
    let succeeded = model.summary.as_ref().is_some_and(|summary| summary.succeeded);
    let mut line = Line::default();
    match &closing.ending {
        Ending::Cancelled => line.push(Tone::Warning, "cancelled: "),
        Ending::Unrecorded(_) => line.push(Tone::Error, "stopped, because it could not be written down: "),
        Ending::Failed => line.push(Tone::Error, if failed == 0 { "failed: " } else { "" }),
        Ending::Succeeded if !succeeded && failed == 0 && model.summary.is_some() => {
            line.push(Tone::Error, "failed: ");
        }
        Ending::Succeeded => {}
    }
    let changes: Vec<(Op, usize)> = Op::ALL
        .iter()
        .filter_map(|(op, _)| counts.get(op).map(|&count| (*op, count)))
        .filter(|&(op, count)| is_change(op) && count > 0)
        .collect();
    let changed: usize = changes.iter().map(|(_, count)| count).sum();
    let kinds: Vec<String> = changes.iter().map(|&(op, number)| count(op, number, planned)).collect();
    let word = if planned { "to change" } else { "changed" };
    match (changed, planned) {
        (0, true) => line.push(Tone::Strong, "no changes"),
        (0, false) => line.push(Tone::Strong, "nothing changed"),
        _ => line.push(Tone::Strong, format!("{changed} {word}")),
    }
    if !kinds.is_empty() {
        line.push(Tone::Plain, format!(" ({})", kinds.join(", ")));
    }
    if failed > 0 {
        line.push(Tone::Plain, ", ");
        line.push(Tone::Error, format!("{failed} failed"));
    }
    if let Some(same) = counts.get(&Op::Same).filter(|&&same| same > 0) {
        line.push(Tone::Plain, format!(", {same} unchanged"));
    }
    if !planned {
        let took = model.summary.as_ref().map_or(elapsed, |summary| summary.duration);
        line.push(Tone::Plain, format!(" in {}", duration(took)));
    }
    line
}

fn plans_only(model: &Model) -> bool {
    model.rows.iter().any(super::model::Row::planned)
}

/// What to do next.
pub(super) fn hints(closing: &Closing) -> Vec<Line> {
    closing.hints.iter().map(|hint| Line::toned(Tone::Read, "hint: ").with(Tone::Plain, hint)).collect()
}
