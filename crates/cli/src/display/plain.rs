//! An operation as plain lines, one for each change when it ends, for logs and where no cursor can move.

use super::diff::{Form, body};
use super::model::{Model, Row, Touched, how_far};
use super::text::{Line, Tone, duration, printable, spent};
use super::tree::{Show, Standing, is_shown, is_told, label, replacement_step, state, worded};
use super::words::Kind;
use drystone_engine::{Op, StepEvent};
use std::collections::HashMap;
use std::time::Duration;

/// How long something runs before a line says so, and again.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// What was written so far.
#[derive(Debug)]
pub(super) struct Plain {
    show: Show,
    /// Full diffs below each change, in that form.
    diff: Option<Form>,
    /// What goes on while no resource does, where lines say what still runs.
    idle: Option<&'static str>,
    /// Whether a line says that a step begins.
    beginnings: bool,
    /// When something last happened, or a line said that nothing did.
    heard: Duration,
    /// Resources whose change was told, and what it was: a refresh may be followed by more.
    told: HashMap<usize, Kind>,
    /// How many messages of each resource, or of none, were told, and how much of the last one.
    said: HashMap<Option<usize>, (usize, usize)>,
    /// When a line last said that a resource still runs.
    reminded: HashMap<usize, Duration>,
    /// When a line last said how far something is that takes long and is no step.
    moved: HashMap<String, Duration>,
}

impl Plain {
    pub(super) fn new(show: Show, diff: Option<Form>, idle: Option<&'static str>) -> Self {
        let (told, said, reminded) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (beginnings, heard, moved) = (false, Duration::ZERO, HashMap::new());
        Self { show, diff, idle, beginnings, heard, told, said, reminded, moved }
    }

    /// The same with a line when a step begins, for who does not know what was asked for.
    pub(super) fn telling_beginnings(self, beginnings: bool) -> Self {
        Self { beginnings, ..self }
    }

    /// The lines for what just happened.
    pub(super) fn lines(
        &mut self,
        model: &Model,
        touched: Touched,
        event: Option<&StepEvent>,
        now: Duration,
    ) -> Vec<Line> {
        self.heard = now;
        match touched {
            Touched::Began(place) if self.beginnings => beginning(&model.rows[place], self.show),
            Touched::Nothing | Touched::Began(_) => Vec::new(),
            Touched::Said(place) => self.messages(model, place, false),
            Touched::Moved => self.moved(model, now),
            Touched::Ended(place, op) => {
                let row = &model.rows[place];
                if !is_told(row, self.show) || (row.is_stack() && row.kind() == Kind::Same) {
                    return Vec::new();
                }
                let lines = self.ended(row, place, op, event, now);
                match self.replacement_step(row, op, now) {
                    Some(step) if clears(op) => vec![step],
                    step => lines.into_iter().chain(step).collect(),
                }
            }
        }
    }

    fn ended(
        &mut self,
        row: &Row,
        place: usize,
        op: Op,
        event: Option<&StepEvent>,
        now: Duration,
    ) -> Vec<Line> {
        self.reminded.remove(&place);
        let beside = if self.diff.is_some() { Beside::Nothing } else { Beside::Note };
        if clears(op) && !row.failed() {
            // A preview says it with the replacement; a real one is worth a line.
            if row.planned() && row.kind() == Kind::Replace {
                return Vec::new();
            }
            if row.planned() {
                return vec![headline(row, self.show, beside, now)];
            }
            let took = event.map_or(Duration::ZERO, |event| event.duration);
            let line = Line::toned(Tone::Removed, "-   ").with(Tone::Plain, label(row, self.show));
            return vec![line.with(Tone::Plain, format!("  old one deleted  {}", spent(took)))];
        }
        // A replacement ends when what takes the place is there; the step that only says so adds nothing.
        if op == Op::Replace && !row.planned() && !row.failed() {
            return Vec::new();
        }
        if self.told.insert(place, row.kind()) == Some(row.kind()) && !row.failed() {
            return Vec::new();
        }
        let mut lines = vec![headline(row, self.show, beside, now)];
        if let (Some(form), Some(event)) = (self.diff, row.telling.as_ref()) {
            lines.extend(body(event, form).into_iter().map(|line| line.indented(INDENT)));
        }
        lines
    }

    /// A line for a step that is a part of a replacement, where those are shown.
    fn replacement_step(&self, row: &Row, op: Op, now: Duration) -> Option<Line> {
        let step =
            row.steps.iter().rev().find(|step| step.op == op).filter(|_| self.show.replacement_steps)?;
        let (sign, text) = replacement_step(row, step, now)?;
        let line = Line::toned(Tone::Replaced, format!("{sign:<4}")).with(Tone::Plain, label(row, self.show));
        Some(line.with(Tone::Replaced, format!("  {text}")))
    }

    /// Lines for what takes long and is no step: when it begins, and how far it is now and then.
    fn moved(&mut self, model: &Model, now: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        for progress in &model.under_way {
            let last = self.moved.get(&progress.id).copied();
            if last.is_none_or(|last| now.saturating_sub(last) >= HEARTBEAT) {
                self.moved.insert(progress.id.clone(), now);
                let line = Line::new(format!("    {}", printable(&progress.message)));
                lines.push(line.with(Tone::Faint, format!("  {}", how_far(progress)).trim_end()));
            }
        }
        lines
    }

    /// What is left of messages that did not end with a line break.
    pub(super) fn rest(&mut self, model: &Model) -> Vec<Line> {
        let mut places: Vec<Option<usize>> = self.said.keys().copied().collect();
        places.sort();
        places.into_iter().flat_map(|place| self.messages(model, place, true)).collect()
    }

    /// The messages of a resource, or of none, that were not told yet; of the last one its whole lines, or all at the
    /// end.
    fn messages(&mut self, model: &Model, place: Option<usize>, end: bool) -> Vec<Line> {
        let messages = match place {
            Some(place) => &model.rows[place].messages,
            None => &model.messages,
        };
        let (count, length) = self.said.get(&place).copied().unwrap_or_default();
        let mut lines = Vec::new();
        let mut reached = length;
        for (index, message) in messages.iter().enumerate().skip(count.saturating_sub(1)) {
            let told = if index + 1 == count { length } else { 0 };
            let known = if end || index + 1 < messages.len() { message.text.len() } else { message.whole() };
            reached = known.max(told);
            if told >= known {
                continue;
            }
            let mut rest = message.clone();
            rest.text = message.text[told..known].to_owned();
            for (number, (tone, text)) in worded(&rest).into_iter().enumerate() {
                let prefix = match place {
                    Some(place) if number == 0 => format!("{}: ", label(&model.rows[place], self.show)),
                    Some(_) => "  ".to_owned(),
                    None => String::new(),
                };
                lines.push(Line::new(format!("    {prefix}")).with(tone, text));
            }
        }
        self.said.insert(place, (messages.len(), reached));
        lines
    }

    /// Lines for what runs for long.
    pub(super) fn tick(&mut self, model: &Model, now: Duration) -> Vec<Line> {
        let Some(idle) = self.idle else { return Vec::new() };
        let mut lines = self.moved(model, now);
        if !model.under_way.is_empty() {
            self.heard = now;
        }
        for (place, row) in model.rows.iter().enumerate() {
            let Some((_, since)) = row.running() else { continue };
            if row.is_stack() || row.is_default_provider() {
                continue;
            }
            let last = self.reminded.get(&place).copied().unwrap_or(since).max(since);
            if now.saturating_sub(last) >= HEARTBEAT {
                self.reminded.insert(place, now);
                let standing = state(row, now);
                let words = format!("  still {}  {}", standing.word, standing.time);
                lines.push(Line::new(format!("    {}", label(row, self.show))).with(Tone::Faint, words));
                self.heard = now;
            }
        }
        if now.saturating_sub(self.heard) >= HEARTBEAT && model.rows.iter().all(|row| row.running().is_none())
        {
            self.heard = now;
            lines.push(Line::new("    ").with(Tone::Faint, format!("still {idle}  {}", duration(now))));
        }
        lines
    }
}

/// Whether a step takes away what was replaced.
fn clears(op: Op) -> bool {
    matches!(op, Op::DeleteReplaced | Op::DiscardReplaced)
}

/// Every resource that changes with its whole diff and its messages.
pub(super) fn blocks(model: &Model, show: Show, form: Form, now: Duration) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in model.rows.iter().filter(|row| is_shown(row, show)) {
        if row.is_stack() && row.kind() == Kind::Same {
            continue;
        }
        lines.push(headline(row, show, Beside::Nothing, now));
        if let Some(event) = &row.telling {
            lines.extend(body(event, form).into_iter().map(|line| line.indented(INDENT)));
        }
        let messages = row.messages.iter().flat_map(worded);
        lines.extend(messages.map(|(tone, text)| Line::new(INDENT).with(tone, text)));
    }
    lines
}

/// How far what belongs to a resource stands to the right of it.
const INDENT: &str = "      ";

/// What stands beside a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// What changes, in a few words.
    Note,
    /// Nothing, because the whole diff stands below.
    Nothing,
}

/// What begins.
fn beginning(row: &Row, show: Show) -> Vec<Line> {
    if row.running().is_none() || row.is_stack() || !is_told(row, show) {
        return Vec::new();
    }
    let Standing { sign, tone, word, .. } = state(row, Duration::ZERO);
    let line = Line::toned(tone, format!("{sign:<4}")).with(Tone::Plain, label(row, show));
    let note = if row.note.is_empty() { String::new() } else { format!("  {}", row.note) };
    vec![line.with(tone, format!("  {word}")).with(Tone::Faint, note)]
}

fn headline(row: &Row, show: Show, beside: Beside, now: Duration) -> Line {
    let standing = state(row, now);
    let mut line = Line::toned(standing.tone, format!("{:<4}", standing.sign));
    line.push(Tone::Plain, label(row, show));
    line.push(standing.tone, format!("  {}", standing.word));
    if !standing.time.is_empty() {
        line.push(Tone::Plain, format!("  {}", standing.time));
    }
    let mark = row.note.starts_with('[');
    if !row.note.is_empty() && (beside == Beside::Note || mark || row.telling.is_none()) {
        line.push(Tone::Faint, format!("  {}", row.note));
    }
    line
}
