//! Turns events into what is written, without threads or clocks.

use super::diff::{Form, outputs};
use super::json::{Digest, Stamp, cancel_line, event_line, prelude_line};
use super::live::frame;
use super::log::EventLog;
use super::model::{Keep, Model, Touched};
use super::opening::{Mode, Opening, Options};
use super::plain::{Plain, blocks};
use super::screen::{Screen, Size};
use super::summary::{Closing, hints, summary};
use super::text::{Line, Paint, Tone, message_lines, printable};
use super::tree::{Layout, Show, label, tree, worded};
use super::values::Secrets;
use drystone_engine::{CancelLevel, Diagnostic, Ending, Event, Op, PolicyEvent, Severity, StepEvent};
use drystone_model::{SECRET_MASK, Urn, is_default_provider};
use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

/// How many further lines of a failure's reason the list at the end has.
const MOST_REASONS: usize = 6;

/// Where it is written.
pub(super) struct Output {
    /// The way there.
    pub(super) to: Box<dyn Write + Send>,
    /// Whether it takes colours.
    pub(super) paint: Paint,
    /// How large it is.
    pub(super) size: Box<dyn Fn() -> Size + Send>,
}

/// What a display leaves behind.
#[derive(Debug)]
pub(crate) struct Shown {
    model: Model,
    show: Show,
    form: Form,
    now: Duration,
    paint: Paint,
}

impl Shown {
    /// Every change in full, for who asks for details before saying yes.
    pub(crate) fn details(&self) -> String {
        let mut lines = blocks(&self.model, self.show, self.form, self.now);
        lines.extend(stack_outputs(&self.model, self.form));
        lines.iter().map(|line| line.render(self.paint) + "\n").collect()
    }
}

enum View {
    Live(Screen),
    Plain(Plain),
    Events,
    Digest(Box<Digest>),
}

/// Turns events into what is written.
pub(super) struct Renderer {
    view: View,
    model: Model,
    opening: Opening,
    out: Output,
    log: Option<EventLog>,
    show: Show,
    form: Form,
    diff: bool,
    suppress_outputs: bool,
    show_config: bool,
    permalink: bool,
    secret_texts: Vec<String>,
    sequence: u64,
    cancelled: bool,
    ended: usize,
    /// Components whose own step runs.
    components: HashSet<Urn>,
    /// Whether a line was printed below the heading.
    spoke: bool,
}

impl Renderer {
    pub(super) fn new(opening: Opening, options: Options, mode: Mode, out: Output) -> Self {
        let columns = (mode == Mode::Live).then(|| (out.size)().columns);
        let form = Form { secrets: options.secrets, whole: options.show_full_output, columns };
        let steps = options.diff || opening.dry_run;
        let diff = options.diff.then_some(form);
        let view = match mode {
            Mode::Live => View::Live(Screen::new(out.paint)),
            Mode::Plain => {
                let idle = (!options.suppress_progress).then(|| opening.idle());
                View::Plain(Plain::new(options.show, diff, idle).telling_beginnings(opening.follows))
            }
            Mode::Events => View::Events,
            Mode::Digest => View::Digest(Box::new(Digest::new(
                opening.blinded_config(),
                opening.operation,
                options.show,
                options.suppress_outputs,
            ))),
        };
        let secret_texts = match options.secrets {
            Secrets::Masked => opening.secret_texts(),
            Secrets::Shown => Vec::new(),
        };
        Self {
            view,
            model: Model::new(Keep {
                secrets: options.secrets,
                steps,
                debug: options.debug,
                remediations: options.show_policy_remediations,
            }),
            opening,
            out,
            log: options.event_log,
            show: options.show,
            form,
            diff: options.diff,
            suppress_outputs: options.suppress_outputs,
            show_config: options.show_config,
            permalink: !options.suppress_permalink,
            secret_texts,
            sequence: 0,
            cancelled: false,
            ended: 0,
            components: HashSet::new(),
            spoke: false,
        }
    }

    /// Whether it is drawn again and again.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.view, View::Live(_))
    }

    /// Says what is about to be done.
    pub(super) fn open(&mut self, timestamp: i64) {
        self.json(timestamp, false, |opening, stamp| prelude_line(&opening.blinded_config(), stamp));
        if matches!(self.view, View::Plain(_)) {
            let heading = self.opening.heading();
            self.print(&[heading]);
            let more = self.below_heading();
            self.print(&more);
            self.print(&[Line::default()]);
            self.spoke = false;
        } else if self.is_live() {
            self.draw(Duration::ZERO);
        }
    }

    /// Prints a line of the command itself above what is drawn.
    pub(super) fn say(&mut self, text: &str, now: Duration) {
        match self.view {
            View::Plain(_) | View::Live(_) => {
                let lines: Vec<Line> = message_lines(text).into_iter().map(Line::new).collect();
                self.clear();
                self.print(&lines);
                self.draw(now);
            }
            View::Events | View::Digest(_) => crate::terminal::note(text),
        }
    }

    /// Remembers that it was asked to stop.
    pub(super) fn cancelling(&mut self, level: CancelLevel) {
        self.cancelled |= level > CancelLevel::None;
    }

    /// Takes an event.
    pub(super) fn event(&mut self, mut event: Event, timestamp: i64, now: Duration) {
        self.mask(&mut event);
        if let Event::Summary(summary) = &event
            && !summary.succeeded
        {
            self.last_word(summary.dry_run, timestamp);
        }
        let (cancelled, ended) = (self.cancelled, self.ended);
        let internal = matches!(&event, Event::StepStarted(step) | Event::StepDone(step)
            if is_default_provider(&step.urn));
        if !self.comes_again(&event) {
            self.json(timestamp, internal, |opening, stamp| {
                event_line(&event, opening.operation, cancelled, ended, stamp)
            });
        }
        self.ended += usize::from(!internal && matches!(event, Event::StepDone(_)));
        if let View::Digest(digest) = &mut self.view {
            digest.take(&event);
        }
        if matches!(self.view, View::Events) {
            // Only the counts are needed.
            if let Event::Summary(_) = event {
                self.model.take(&event, now);
            }
            return;
        }
        let touched = self.model.take(&event, now);
        if touched == Touched::Nothing {
            return;
        }
        if let View::Plain(plain) = &mut self.view {
            let step = match &event {
                Event::StepStarted(step) | Event::StepDone(step) | Event::StepFailed(step) => Some(step),
                Event::Diagnostic(_)
                | Event::Debugging(_)
                | Event::Progress(_)
                | Event::Policy(_)
                | Event::Summary(_) => None,
            };
            let lines = plain.lines(&self.model, touched, step, now);
            self.print(&lines);
        }
    }

    /// Whether an event only says that a component's own step is done. Programs are told when its outputs are set.
    fn comes_again(&mut self, event: &Event) -> bool {
        match event {
            Event::StepStarted(step) if is_component(step) => {
                self.components.insert(step.urn.clone());
                false
            }
            Event::StepDone(step) if is_component(step) => {
                self.components.remove(&step.urn) && !self.opening.dry_run
            }
            _ => false,
        }
    }

    /// Tells programs that it failed, as the stock CLI does before the summary. People read it below.
    fn last_word(&mut self, dry_run: bool, timestamp: i64) {
        let what = if dry_run { "preview" } else { "update" };
        let how = if self.cancelled { "canceled" } else { "failed" };
        let event = Event::Diagnostic(Diagnostic {
            urn: Urn::default(),
            message: format!("{what} {how}"),
            severity: Severity::Error,
            stream: 0,
            ephemeral: false,
        });
        self.json(timestamp, false, |opening, stamp| event_line(&event, opening.operation, false, 0, stamp));
        if let View::Digest(digest) = &mut self.view {
            digest.take(&event);
        }
    }

    /// Shows what time alone changes.
    pub(super) fn tick(&mut self, now: Duration) {
        if let View::Plain(plain) = &mut self.view {
            let lines = plain.tick(&self.model, now);
            self.print(&lines);
        }
        self.draw(now);
    }

    /// Shows how it ended.
    pub(super) fn close(mut self, closing: &Closing, timestamp: i64, now: Duration) -> Shown {
        self.cancelled |= closing.ending == Ending::Cancelled;
        self.json(timestamp, false, |_, stamp| cancel_line(stamp));
        if let View::Digest(digest) = &self.view {
            let text = digest.text();
            let _ = writeln!(self.out.to, "{text}");
        }
        if let View::Plain(plain) = &mut self.view {
            let rest = plain.rest(&self.model);
            self.print(&rest);
        }
        if matches!(self.view, View::Live(_) | View::Plain(_)) {
            let lines = self.ending(closing, now);
            self.clear();
            self.print(&lines);
        }
        let _ = self.out.to.flush();
        if let Some(log) = self.log.take() {
            log.close();
        }
        Shown { model: self.model, show: self.show, form: self.form, now, paint: self.out.paint }
    }

    fn ending(&self, closing: &Closing, now: Duration) -> Vec<Line> {
        let mut sections: Vec<Vec<Line>> = Vec::new();
        if self.is_live() {
            let mut heading = vec![self.opening.heading()];
            heading.extend(self.below_heading());
            sections.push(heading);
            sections.push(if self.diff {
                blocks(&self.model, self.show, self.form, now)
            } else {
                let columns = Some((self.out.size)().columns.saturating_sub(1).max(40));
                tree(&self.model, Layout { show: self.show, now, columns, lines: None })
            });
            let messages = self.model.messages.iter().flat_map(worded);
            sections.push(messages.map(|(tone, text)| Line::new("  ").with(tone, text)).collect());
        } else {
            sections.push(self.failures());
        }
        if !self.suppress_outputs {
            sections.push(stack_outputs(&self.model, self.form));
        }
        if let Some(summary) = &self.model.summary {
            sections.push(self.model.policies.lines(&summary.policy_packs));
        }
        let columns = if self.is_live() { (self.out.size)().columns } else { usize::MAX };
        let mut last = match self.opening.judges {
            true => Vec::new(),
            false => summary(&self.model, closing, now, columns),
        };
        if let Some(permalink) = closing.permalink.as_ref().filter(|_| self.permalink) {
            last.push(Line::new(format!("Permalink: {permalink}")));
        }
        last.extend(hints(closing));
        sections.push(last);
        let mut lines = Vec::new();
        // Plain lines came before; a blank one sets the end apart.
        let mut apart = !self.is_live() && self.spoke;
        for section in sections.into_iter().filter(|section| !section.is_empty()) {
            if apart {
                lines.push(Line::default());
            }
            lines.extend(section);
            apart = true;
        }
        lines
    }

    /// What failed, again: it may stand far above in a log.
    fn failures(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for row in self.model.failures().filter(|row| !row.is_stack()) {
            let mut line = Line::toned(Tone::Error, "!   ").with(Tone::Plain, label(row, self.show));
            let error = row
                .messages
                .iter()
                .rev()
                .find(|message| message.severity == drystone_engine::Severity::Error);
            let mut texts = error.map(|message| message_lines(&message.text)).unwrap_or_default().into_iter();
            if let Some(text) = texts.next() {
                line.push(Tone::Plain, format!("  {text}"));
            }
            lines.push(line);
            let left = texts.len().saturating_sub(MOST_REASONS);
            lines.extend(texts.take(MOST_REASONS).map(|text| Line::new(format!("      {text}"))));
            if left > 0 {
                lines.push(Line::new(format!("      … {left} more lines above")));
            }
        }
        if !lines.is_empty() {
            lines.insert(0, Line::toned(Tone::Strong, "Failed:"));
        }
        lines
    }

    fn below_heading(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(permalink) = self.opening.permalink.as_ref().filter(|_| self.permalink) {
            lines.push(Line::new(format!("View Live: {permalink}")));
        }
        if self.show_config {
            lines.push(Line::toned(Tone::Faint, "Configuration:"));
            for (key, value) in self.opening.blinded_config() {
                lines.push(Line::new(format!("    {}: {}", printable(&key), printable(&value))));
            }
        }
        lines
    }

    /// Writes one JSON line to the log, and to stdout when that is what is shown.
    fn json(&mut self, timestamp: i64, internal: bool, line: impl FnOnce(&Opening, Stamp) -> String) {
        let stamp = Stamp { sequence: self.sequence, timestamp };
        self.sequence += 1;
        let shown = matches!(self.view, View::Events) && !internal;
        if self.log.is_none() && !shown {
            return;
        }
        let line = line(&self.opening, stamp);
        if let Some(log) = &mut self.log {
            log.write(&line);
        }
        if shown {
            // A reader that went away does not stop an operation.
            let _ = writeln!(self.out.to, "{line}");
            let _ = self.out.to.flush();
        }
    }

    fn mask(&self, event: &mut Event) {
        let message = match event {
            Event::Diagnostic(diagnostic) => &mut diagnostic.message,
            Event::Policy(PolicyEvent::Violation(violation)) => &mut violation.message,
            _ => return,
        };
        for secret in &self.secret_texts {
            if message.contains(secret) {
                *message = message.replace(secret, SECRET_MASK);
            }
        }
    }

    fn draw(&mut self, now: Duration) {
        let size = (self.out.size)();
        let more = self.below_heading();
        if let View::Live(screen) = &mut self.view {
            let mut heading = vec![self.opening.heading()];
            heading.extend(more);
            let frame = frame(&self.model, &heading, self.opening.idle(), self.show, now, size);
            let _ = screen.draw(frame, size, &mut self.out.to);
        }
    }

    fn clear(&mut self) {
        let size = (self.out.size)();
        if let View::Live(screen) = &mut self.view {
            let _ = screen.clear(size, &mut self.out.to);
        }
    }

    fn print(&mut self, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        self.spoke = true;
        let text: String = lines.iter().map(|line| line.render(self.out.paint) + "\n").collect();
        let _ = self.out.to.write_all(text.as_bytes());
        let _ = self.out.to.flush();
    }
}

/// The stack's outputs with what changed of them.
fn stack_outputs(model: &Model, form: Form) -> Vec<Line> {
    let Some((old, new)) = &model.outputs else { return Vec::new() };
    let mut lines = outputs(old.as_ref(), new, form);
    if lines.is_empty() {
        return lines;
    }
    lines = lines.into_iter().map(|line| line.indented("  ")).collect();
    lines.insert(0, Line::toned(Tone::Strong, "Outputs:"));
    lines
}

/// Whether a step is about a component whose outputs are set by the program, and is not its end.
fn is_component(step: &StepEvent) -> bool {
    let state = step.new.as_ref().or(step.old.as_ref());
    let is_own = state.is_some_and(|state| !state.record.custom && state.record.view_of.is_empty());
    is_own && !matches!(step.op, Op::Delete | Op::DeleteReplaced | Op::Refresh)
}
