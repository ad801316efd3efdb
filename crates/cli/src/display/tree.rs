//! The resources of an operation as a tree of lines.

use super::model::{Message, Model, Phase, Row, Step};
use super::text::{Line, Tone, duration, fit, message_lines, printable, spent, width};
use super::words::Kind;
use drystone_engine::{Op, Severity};
use drystone_model::ShortName;
use std::collections::HashSet;
use std::time::Duration;

/// Which resources are shown beside those that change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Show {
    /// Those that stay as they are.
    pub(crate) sames: bool,
    /// Those that are only looked at.
    pub(crate) reads: bool,
    /// The steps that replace a resource, each for itself.
    pub(crate) replacement_steps: bool,
    /// Whole URNs instead of types and names.
    pub(crate) urns: bool,
}

/// How a tree is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// What is shown.
    pub(super) show: Show,
    /// The time since the beginning.
    pub(super) now: Duration,
    /// The columns that a resource's line may take; no limit when there is none. Messages are never cut here.
    pub(super) columns: Option<usize>,
    /// The lines that the tree may take; no limit when there is none.
    pub(super) lines: Option<usize>,
}

/// How many lines of a resource's messages are shown while others are waited for.
const MESSAGE_LINES: usize = 4;
/// Where the branches begin.
const MARGIN: usize = 5;

/// The columns of how a resource stands: a gap, the word and the time.
const STANDING: usize = 2 + 10 + 6;
/// How many columns of branches there are before deeper ones stand below each other.
const DEEPEST: usize = 45;

/// A resource's name as it is shown.
pub(super) fn label(row: &Row, show: Show) -> String {
    let name = if show.urns { row.urn.to_string() } else { ShortName(&row.urn).to_string() };
    printable(&name).into_owned()
}

/// Whether a resource is shown for its own sake.
pub(super) fn is_shown(row: &Row, show: Show) -> bool {
    !row.messages.is_empty() || is_told(row, show)
}

/// Whether what happens to a resource is worth a line.
pub(super) fn is_told(row: &Row, show: Show) -> bool {
    if row.failed() {
        return true;
    }
    if row.is_default_provider() {
        return false;
    }
    match row.kind() {
        Kind::Same => show.sames || !row.note.is_empty(),
        Kind::Read | Kind::Discard => show.reads || row.running().is_some(),
        Kind::Refresh => row.running().is_some() || show.sames,
        _ => true,
    }
}

/// The tree. When it must be short, what runs and what failed stays in sight, then what ended last.
pub(super) fn tree(model: &Model, layout: Layout) -> Vec<Line> {
    let (chosen, left_out) = choose(model, layout);
    let mut branches = Branches { model, chosen: &chosen, entries: Vec::new() };
    branches.roots();
    let mut lines = render(model, &branches.entries, layout);
    if left_out > 0 {
        lines.push(Line::new(" ".repeat(MARGIN)).with(Tone::Faint, format!("… {left_out} more")));
    }
    lines
}

/// The places to be drawn, ancestors among them, and how many that should be shown are not.
fn choose(model: &Model, layout: Layout) -> (HashSet<usize>, usize) {
    let shown: Vec<usize> = (0..model.rows.len())
        .filter(|&place| is_shown(&model.rows[place], layout.show) && !is_quiet_stack(&model.rows[place]))
        .collect();
    let mut chosen = HashSet::new();
    let Some(room) = layout.lines else {
        shown.iter().for_each(|&place| with_ancestors(model, place, &mut chosen));
        return (chosen, 0);
    };
    let mut by_interest = shown.clone();
    by_interest.sort_by_key(|&place| {
        let row = &model.rows[place];
        // What was heard of last comes first among those that ended.
        (!row.failed(), row.running().is_none(), std::cmp::Reverse(place))
    });
    let mut taken = 0;
    for (drawn, place) in by_interest.into_iter().enumerate() {
        let mut more = HashSet::new();
        with_ancestors(model, place, &mut more);
        let lines: usize =
            more.difference(&chosen).map(|&place| 1 + shown_message_lines(&model.rows[place]).len()).sum();
        let reserve = usize::from(drawn + 1 < shown.len());
        if taken + 1 + reserve > room {
            break;
        }
        if taken + lines + reserve > room {
            continue;
        }
        taken += lines;
        chosen.extend(more);
    }
    let left_out = shown.iter().filter(|place| !chosen.contains(place)).count();
    (chosen, left_out)
}

/// A stack that does not change says nothing.
fn is_quiet_stack(row: &Row) -> bool {
    row.is_stack() && matches!(row.kind(), Kind::Same | Kind::Refresh)
}

fn with_ancestors(model: &Model, place: usize, chosen: &mut HashSet<usize>) {
    let mut next = Some(place);
    while let Some(place) = next {
        if !chosen.insert(place) {
            return;
        }
        next = model.rows[place].parent;
    }
}

fn shown_message_lines(row: &Row) -> Vec<(Tone, String)> {
    let mut lines: Vec<_> = row.messages.iter().flat_map(worded).collect();
    if lines.len() > MESSAGE_LINES {
        lines.drain(..lines.len() - MESSAGE_LINES);
    }
    lines
}

/// A message's lines; what matters has a word before it.
pub(super) fn worded(message: &Message) -> Vec<(Tone, String)> {
    let (tone, word) = match message.severity {
        Severity::Debug => (Tone::Faint, "debug: "),
        Severity::Info | Severity::InfoError => (Tone::Plain, ""),
        Severity::Warning => (Tone::Warning, "warning: "),
        Severity::Error => (Tone::Error, "error: "),
    };
    let lines = message_lines(&message.text).into_iter().enumerate();
    lines
        .map(|(index, line)| match index {
            0 => (tone, format!("{word}{line}")),
            _ => (Tone::Plain, line),
        })
        .collect()
}

/// A resource with the branches before it and below it.
struct Entry {
    place: usize,
    before: String,
    below: String,
}

struct Branches<'m> {
    model: &'m Model,
    chosen: &'m HashSet<usize>,
    entries: Vec<Entry>,
}

impl Branches<'_> {
    fn roots(&mut self) {
        let roots = |place: &usize| {
            let row = &self.model.rows[*place];
            row.parent.is_none() && !row.is_stack()
        };
        let roots: Vec<usize> = (0..self.model.rows.len()).filter(roots).collect();
        if let Some(stack) = self.chosen.iter().find(|&&place| self.model.rows[place].is_stack()) {
            self.entries.push(Entry { place: *stack, before: String::new(), below: "│ ".to_owned() });
        }
        self.siblings(&roots);
    }

    /// Draws what stands under a place, depth first. Not by recursion: a chain of parents may be thousands long.
    fn siblings(&mut self, places: &[usize]) {
        let mut waiting = Vec::new();
        self.push(places, "", &mut waiting);
        while let Some((place, before, last)) = waiting.pop() {
            let (corner, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let children = &self.model.rows[place].children;
            let leads_on = children.iter().any(|child| self.chosen.contains(child));
            let below = format!("{before}{}{}", &stem[..stem.len() - 1], if leads_on { " │ " } else { "" });
            self.entries.push(Entry { place, before: format!("{before}{corner}"), below });
            let deeper = if width(&before) < DEEPEST { format!("{before}{stem}") } else { before };
            self.push(children, &deeper, &mut waiting);
        }
    }

    /// Puts the chosen ones of some siblings on the stack, the first on top.
    fn push(&self, places: &[usize], before: &str, waiting: &mut Vec<(usize, String, bool)>) {
        let chosen = places.iter().copied().filter(|place| self.chosen.contains(place)).rev();
        waiting.extend(chosen.enumerate().map(|(index, place)| (place, before.to_owned(), index == 0)));
    }
}

fn render(model: &Model, entries: &[Entry], layout: Layout) -> Vec<Line> {
    let names: Vec<String> =
        entries.iter().map(|entry| label(&model.rows[entry.place], layout.show)).collect();
    let wide = entries.iter().zip(&names).map(|(entry, name)| width(&entry.before) + width(name));
    let has_notes = entries.iter().any(|entry| !note(&model.rows[entry.place]).is_empty());
    let most = layout.columns.map_or(usize::MAX, |columns| match has_notes {
        true => (columns / 2).max(columns.saturating_sub(50)),
        false => columns.saturating_sub(MARGIN + STANDING),
    });
    let column = wide.max().unwrap_or(0).min(most);
    let states: Vec<Standing> =
        entries.iter().map(|entry| state(&model.rows[entry.place], layout.now)).collect();
    let word = MARGIN + column + 2;
    let time = word + 1 + states.iter().map(|state| state.word.len()).max().unwrap_or(0).max(9);
    let times = states.iter().map(|state| state.time.len()).max().unwrap_or(0);
    let columns = Columns { word, time, note: if times == 0 { time + 1 } else { time + times.max(5) + 1 } };
    let mut lines = Vec::new();
    for ((entry, name), state) in entries.iter().zip(names).zip(&states) {
        let row = &model.rows[entry.place];
        let room = column.saturating_sub(width(&entry.before));
        let name = shortened(&name, room.max(8));
        let mut line = headline(row, state, &entry.before, &name, &columns);
        line.cut(layout.columns.unwrap_or(usize::MAX));
        lines.push(line);
        if layout.show.replacement_steps {
            lines.extend(replacement_steps(row, &entry.below, layout.now));
        }
        let messages = match layout.lines {
            Some(_) => shown_message_lines(row),
            None => row.messages.iter().flat_map(worded).collect(),
        };
        for (tone, text) in messages {
            let margin = format!("{}{}", " ".repeat(MARGIN), entry.below);
            lines.push(Line::new(margin).with(tone, text));
        }
    }
    lines
}

fn headline(row: &Row, state: &Standing, before: &str, name: &str, columns: &Columns) -> Line {
    let mut line = Line::new("  ").with(state.tone, format!("{:<3}", state.sign));
    line.push(Tone::Faint, before);
    line.push(if state.sign.is_empty() { Tone::Faint } else { Tone::Plain }, name);
    line.pad(columns.word);
    line.push(state.tone, state.word);
    line.pad(columns.time);
    line.push(Tone::Plain, state.time.clone());
    line.pad(columns.note);
    let note = note(row);
    if !note.is_empty() {
        line.push(Tone::Faint, note);
    }
    line
}

/// What a resource's provider says of it now, or what changes.
fn note(row: &Row) -> String {
    let status = row.status.as_deref().and_then(|status| message_lines(status).into_iter().next());
    status.unwrap_or_else(|| row.note.clone())
}

/// A type and a name in so many columns: the name tells resources apart, so the front of the type goes first.
fn shortened(label: &str, columns: usize) -> String {
    if width(label) <= columns {
        return label.to_owned();
    }
    let short = label.split_once(' ').and_then(|(kind, name)| Some((kind.rsplit_once(':')?.1, name)));
    short.map_or_else(|| fit(label, columns), |(kind, name)| fit(&format!("…:{kind} {name}"), columns))
}

/// Where the parts of a line begin.
struct Columns {
    word: usize,
    time: usize,
    note: usize,
}

/// How a resource stands.
pub(super) struct Standing {
    pub(super) sign: &'static str,
    pub(super) tone: Tone,
    pub(super) word: &'static str,
    pub(super) time: String,
}

/// The sign, the word and the time of a resource.
pub(super) fn state(row: &Row, now: Duration) -> Standing {
    let kind = row.kind();
    if row.failed() {
        return Standing { sign: "!", tone: Tone::Error, word: "failed", time: spent(row.took()) };
    }
    if let Some((step, since)) = row.running() {
        let word = match step.op {
            Op::DeleteReplaced | Op::DiscardReplaced => "clearing",
            _ => kind.running(),
        };
        let elapsed = row.took() + now.saturating_sub(since);
        return Standing { sign: kind.sign(), tone: kind.tone(), word, time: seconds(elapsed) };
    }
    let (word, time) = match (row.steps.is_empty(), row.planned()) {
        (true, _) => ("", String::new()),
        (_, false) if kind == Kind::Replace && !row.is_replaced() => (kind.running(), spent(row.took())),
        (_, true) => (kind.planned(), String::new()),
        _ if kind == Kind::Same => (kind.done(), String::new()),
        _ => (kind.done(), spent(row.took())),
    };
    Standing { sign: kind.sign(), tone: kind.tone(), word, time }
}

/// What runs is told in whole seconds, so that it does not flicker.
fn seconds(elapsed: Duration) -> String {
    if elapsed.as_secs() == 0 { "0s".to_owned() } else { duration(elapsed) }
}

/// The steps of a replacement, a line each.
fn replacement_steps(row: &Row, below: &str, now: Duration) -> Vec<Line> {
    let parts = row.steps.iter().filter_map(|step| replacement_step(row, step, now));
    parts.map(|(sign, text)| Line::new(format!("  {sign:<3}{below}")).with(Tone::Replaced, text)).collect()
}

/// The sign of a step that is a part of a replacement, and how far it is.
pub(super) fn replacement_step(row: &Row, step: &Step, now: Duration) -> Option<(&'static str, String)> {
    if row.kind() != Kind::Replace {
        return None;
    }
    let (sign, doing, done, planned) = match step.op {
        Op::CreateReplacement => {
            ("++", "creating replacement", "created replacement", "to create replacement")
        }
        Op::ImportReplacement => {
            ("=>", "importing replacement", "imported replacement", "to import replacement")
        }
        Op::ReadReplacement => (">>", "reading replacement", "read replacement", "to read replacement"),
        Op::DeleteReplaced => ("--", "deleting original", "deleted original", "to delete original"),
        Op::DiscardReplaced => ("<<", "discarding original", "discarded original", "to discard original"),
        _ => return None,
    };
    let text = match step.phase {
        Phase::Running(since) => format!("{doing}  {}", seconds(now.saturating_sub(since))),
        Phase::Planned => planned.to_owned(),
        Phase::Done(took) => format!("{done}  {}", duration(took)),
        Phase::Failed(took) => format!("{doing} failed  {}", duration(took)),
    };
    Some((sign, text))
}
