//! What a terminal shows while an operation runs.

use super::model::{Model, how_far};
use super::screen::Size;
use super::text::{Line, Tone, duration, printable};
use super::tree::{Layout, Show, is_shown, tree, worded};
use super::words::Kind;
use std::time::Duration;

/// How many lines of the program's messages are shown.
const MESSAGE_LINES: usize = 5;

/// How many of the things that take long beside the steps are shown.
const UNDER_WAY: usize = 4;

/// The heading, the tree and how far it is.
///
/// `idle` says what goes on while there is no resource to tell of.
pub(super) fn frame(
    model: &Model,
    heading: &[Line],
    idle: &str,
    show: Show,
    now: Duration,
    size: Size,
) -> Vec<Line> {
    let columns = size.columns.saturating_sub(1).max(1);
    let mut messages: Vec<Line> = model
        .messages
        .iter()
        .rev()
        .take(MESSAGE_LINES)
        .rev()
        .flat_map(worded)
        .map(|(tone, text)| Line::new("  ").with(tone, text))
        .collect();
    messages.drain(..messages.len().saturating_sub(MESSAGE_LINES));
    let under_way: Vec<Line> = under_way(model).collect();
    // The heading, a blank line, the messages with a blank line, the progress with a blank line, and the cursor's line.
    let fixed =
        heading.len() + 1 + messages.len() + usize::from(!messages.is_empty()) + under_way.len() + 2 + 1;
    let lines = Some(size.rows.saturating_sub(fixed).max(1));
    let tree = tree(model, Layout { show, now, columns: Some(columns), lines });
    let mut frame = heading.to_vec();
    frame.push(Line::default());
    if !tree.is_empty() {
        frame.extend(tree);
        frame.push(Line::default());
    }
    if !messages.is_empty() {
        frame.append(&mut messages);
        frame.push(Line::default());
    }
    frame.extend(under_way);
    frame.push(progress(model, idle, show, now));
    frame.iter_mut().for_each(|line| line.cut(columns));
    frame.truncate(size.rows.saturating_sub(1).max(1));
    frame
}

/// A line for each thing that takes long beside the steps.
fn under_way(model: &Model) -> impl Iterator<Item = Line> {
    model.under_way.iter().take(UNDER_WAY).map(|progress| {
        let line = Line::new(format!("  {}", printable(&progress.message)));
        line.with(Tone::Faint, format!("   {}", how_far(progress)))
    })
}

fn progress(model: &Model, idle: &str, show: Show, now: Duration) -> Line {
    let (mut running, mut done, mut failed, mut same) = (0, 0, 0, 0);
    for row in model.rows.iter().filter(|row| !row.is_stack() && !row.is_default_provider()) {
        if row.failed() {
            failed += 1;
        } else if row.running().is_some() {
            running += 1;
        } else if row.kind() == Kind::Same && !row.steps.is_empty() {
            same += 1;
        } else if is_shown(row, show) && !row.steps.is_empty() {
            done += 1;
        }
    }
    let mut parts = Vec::new();
    for (count, word) in [(running, "running"), (done, "done"), (failed, "failed"), (same, "unchanged")] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if parts.is_empty() {
        parts.push(idle.to_owned());
    }
    let time = if now.as_secs() == 0 { "0s".to_owned() } else { duration(now) };
    Line::toned(Tone::Faint, format!("  {}   {time}", parts.join(", ")))
}
