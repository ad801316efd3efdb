//! What is known of an operation: each resource with its steps and messages, in a tree, and how it ended.

use super::note::note;
use super::policies::Policies;
use super::text::strip_sequences;
use super::values::Secrets;
use super::words::Kind;
use drystone_engine::{
    Diagnostic, Event, Op, PolicyEvent, Progress, ProgressKind, PropertyMap, Severity, StepEvent, Summary,
};
use drystone_model::{ROOT_STACK_TYPE, Urn, is_default_provider};
use indicatif::HumanBytes;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What of an operation is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keep {
    /// Whether secrets are shown.
    pub(super) secrets: Secrets,
    /// Whether steps are kept for a full diff.
    pub(super) steps: bool,
    /// Whether messages for finding faults are kept.
    pub(super) debug: bool,
    /// Whether each change that a policy makes is told.
    pub(super) remediations: bool,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It runs since then.
    Running(Duration),
    /// A preview says that it would be done.
    Planned,
    /// It was done and took that long.
    Done(Duration),
    /// It failed after that long.
    Failed(Duration),
}

/// A step of a resource.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// What is done.
    pub(super) op: Op,
    /// What a refresh found.
    pub(super) found: Option<Op>,
    /// How far it is.
    pub(super) phase: Phase,
}

/// A message of a resource or of the program.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// How much it matters.
    pub(super) severity: Severity,
    /// The text; may hold line breaks.
    pub(super) text: String,
    stream: i32,
}

impl Message {
    /// How much of it came in whole lines; more of the last one may follow.
    pub(super) fn whole(&self) -> usize {
        if self.stream == 0 { self.text.len() } else { self.text.rfind('\n').map_or(0, |at| at + 1) }
    }
}

/// A resource.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name.
    pub(super) urn: Urn,
    /// Its parent's place.
    pub(super) parent: Option<usize>,
    /// The places of its children.
    pub(super) children: Vec<usize>,
    /// What was done to it so far, in order.
    pub(super) steps: Vec<Step>,
    /// What there is to read.
    pub(super) messages: Vec<Message>,
    /// The last word of what runs; gone when it ends.
    pub(super) status: Option<String>,
    /// What changes, in a few words.
    pub(super) note: String,
    /// The step that tells most, for a full diff.
    pub(super) telling: Option<StepEvent>,
    /// The kind of step that the note is from.
    noted: Option<Op>,
}

impl Row {
    fn new(urn: Urn) -> Self {
        Self {
            urn,
            parent: None,
            children: Vec::new(),
            steps: Vec::new(),
            messages: Vec::new(),
            status: None,
            note: String::new(),
            telling: None,
            noted: None,
        }
    }

    /// What happens to it, all steps taken together.
    pub(super) fn kind(&self) -> Kind {
        self.steps.iter().map(|step| Kind::of(step.op, step.found)).max().unwrap_or(Kind::Same)
    }

    /// The step that runs.
    pub(super) fn running(&self) -> Option<(&Step, Duration)> {
        self.steps.iter().rev().find_map(|step| match step.phase {
            Phase::Running(since) => Some((step, since)),
            _ => None,
        })
    }

    /// Whether a step failed, or an error kept it from being done.
    pub(super) fn failed(&self) -> bool {
        let phase = |step: &Step| step.phase;
        self.steps.iter().any(|step| matches!(phase(step), Phase::Failed(_)))
            || (self.has_error() && !self.steps.iter().any(|step| matches!(phase(step), Phase::Done(_))))
    }

    fn has_error(&self) -> bool {
        self.messages.iter().any(|message| message.severity == Severity::Error)
    }

    /// How long its steps took that ended.
    pub(super) fn took(&self) -> Duration {
        let took = |step: &Step| match step.phase {
            Phase::Done(took) | Phase::Failed(took) => took,
            Phase::Running(_) | Phase::Planned => Duration::ZERO,
        };
        self.steps.iter().map(took).sum()
    }

    /// Whether what takes its place is there.
    pub(super) fn is_replaced(&self) -> bool {
        let brings = |op| matches!(op, Op::CreateReplacement | Op::ImportReplacement | Op::ReadReplacement);
        self.steps.iter().any(|step| brings(step.op) && matches!(step.phase, Phase::Done(_)))
    }

    /// Whether it is only planned.
    pub(super) fn planned(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.phase == Phase::Planned)
    }

    /// Whether it is the stack itself.
    pub(super) fn is_stack(&self) -> bool {
        is_stack(&self.urn)
    }

    /// Whether it is a provider that was made because the program named none.
    pub(super) fn is_default_provider(&self) -> bool {
        is_default_provider(&self.urn)
    }
}

/// Whether a resource is the stack itself.
pub(super) fn is_stack(urn: &Urn) -> bool {
    urn.qualified_type() == ROOT_STACK_TYPE
}

/// How far something long is, in a few words; empty when that is not known.
pub(super) fn how_far(progress: &Progress) -> String {
    match (progress.kind, progress.received, progress.total) {
        (ProgressKind::PluginInstall, ..) | (_, 0, None) => String::new(),
        (_, received, None) => HumanBytes(received).to_string(),
        (_, received, Some(total)) => format!("{} of {}", HumanBytes(received), HumanBytes(total)),
    }
}

/// What an event was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touched {
    /// A step of that resource began.
    Began(usize),
    /// A step of that kind of that resource ended or was planned.
    Ended(usize, Op),
    /// A message came to that resource, or to none.
    Said(Option<usize>),
    /// Something long that is no step began, went on or ended.
    Moved,
    /// Nothing to be shown.
    Nothing,
}

/// What is known of an operation.
#[derive(Debug)]
pub(super) struct Model {
    keep: Keep,
    /// The resources, in the order in which they were first heard of.
    pub(super) rows: Vec<Row>,
    places: HashMap<Urn, usize>,
    /// Messages that are about no resource, or about the whole program.
    pub(super) messages: Vec<Message>,
    /// What takes long and is no step, in the order in which it began.
    pub(super) under_way: Vec<Progress>,
    /// The stack's outputs before, unless it is new, and after, when they are known.
    pub(super) outputs: Option<(Option<PropertyMap>, PropertyMap)>,
    /// What policies said.
    pub(super) policies: Policies,
    /// How it ended.
    pub(super) summary: Option<Summary>,
}

impl Model {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            keep,
            rows: Vec::new(),
            places: HashMap::new(),
            messages: Vec::new(),
            under_way: Vec::new(),
            outputs: None,
            policies: Policies::default(),
            summary: None,
        }
    }

    /// Takes what happened, `now` after the beginning.
    pub(super) fn take(&mut self, event: &Event, now: Duration) -> Touched {
        match event {
            Event::StepStarted(step) => {
                // A preview really looks at what there is.
                let looks = matches!(step.op, Op::Refresh | Op::Read | Op::ReadReplacement | Op::Import);
                let phase = if step.planning && !looks { Phase::Planned } else { Phase::Running(now) };
                Touched::Began(self.step(step, phase))
            }
            Event::StepDone(step) => {
                let done = if step.planning { Phase::Planned } else { Phase::Done(step.duration) };
                Touched::Ended(self.step(step, done), step.op)
            }
            Event::StepFailed(step) => Touched::Ended(self.step(step, Phase::Failed(step.duration)), step.op),
            Event::Diagnostic(diagnostic) => self.message(diagnostic),
            Event::Debugging(debugging) => {
                let message = format!("Waiting for a debugger to attach ({})...", debugging.message);
                let (urn, severity) = (Urn::default(), Severity::Info);
                self.message(&Diagnostic { urn, message, severity, stream: 0, ephemeral: false })
            }
            Event::Progress(progress) => self.progress(progress),
            Event::Policy(event) => self.policy(event),
            Event::Summary(summary) => {
                self.summary = Some(summary.clone());
                Touched::Nothing
            }
        }
    }

    fn progress(&mut self, progress: &Progress) -> Touched {
        let place = self.under_way.iter().position(|other| other.id == progress.id);
        match (place, progress.done) {
            (Some(place), true) => drop(self.under_way.remove(place)),
            (Some(place), false) => self.under_way[place] = progress.clone(),
            (None, false) => self.under_way.push(progress.clone()),
            (None, true) => {}
        }
        Touched::Moved
    }

    fn step(&mut self, event: &StepEvent, phase: Phase) -> usize {
        let place = self.place(&event.urn);
        if let Some(state) = event.new.as_ref().or(event.old.as_ref()) {
            self.put_under(place, &state.record.parent);
        }
        if is_stack(&event.urn) && !matches!(phase, Phase::Running(_)) {
            let outputs =
                |view: &Option<drystone_engine::StepView>| view.as_ref().map(|state| state.outputs.clone());
            self.outputs = Some((outputs(&event.old), outputs(&event.new).unwrap_or_default()));
        }
        let row = &mut self.rows[place];
        // The outputs of the stack and of components come as a second ending of the same step.
        let again = row.steps.iter_mut().rev().find(|step| step.op == event.op);
        match again {
            Some(step) => {
                step.found = event.result;
                // A second ending takes no time of its own.
                if !matches!((step.phase, phase), (Phase::Done(_), Phase::Done(_))) {
                    step.phase = phase;
                }
            }
            None => row.steps.push(Step { op: event.op, found: event.result, phase }),
        }
        if !matches!(phase, Phase::Running(_)) {
            row.status = None;
        }
        self.tell(place, event);
        place
    }

    /// Keeps what a step says of its changes, unless another said more.
    fn tell(&mut self, place: usize, event: &StepEvent) {
        let row = &mut self.rows[place];
        if event.op == Op::Refresh && event.result.is_none() {
            return;
        }
        // Inputs are known when a step begins, except those that are read; comparing large ones twice takes its time.
        if row.noted == Some(event.op)
            && !matches!(event.op, Op::Refresh | Op::Import | Op::ImportReplacement)
        {
            return;
        }
        let kind = Kind::of(event.op, event.result);
        let partial = matches!(event.op, Op::DeleteReplaced | Op::DiscardReplaced) || kind < row.kind();
        if partial && (row.telling.is_some() || !row.note.is_empty()) {
            return;
        }
        let words = note(event, self.keep.secrets);
        if !words.is_empty() || kind == row.kind() {
            row.note = words;
            row.noted = Some(event.op);
        }
        if self.keep.steps && kind != Kind::Same {
            row.telling = Some(event.clone());
        }
    }

    fn policy(&mut self, event: &PolicyEvent) -> Touched {
        let (urn, severity, message) = match event {
            PolicyEvent::Violation(violation) => {
                let (severity, message) = self.policies.violated(violation);
                (&violation.urn, severity, message)
            }
            PolicyEvent::Remediated { name, urn, before, after } => {
                let told = self.policies.remediated(name, before, after, self.keep.secrets);
                let Some(message) = told.filter(|_| self.keep.remediations) else { return Touched::Nothing };
                (urn, Severity::Info, message)
            }
            PolicyEvent::Loading | PolicyEvent::Summary(_) => return Touched::Nothing,
        };
        self.message(&Diagnostic { urn: urn.clone(), message, severity, stream: 0, ephemeral: false })
    }

    fn message(&mut self, diagnostic: &Diagnostic) -> Touched {
        if diagnostic.severity == Severity::Debug && !self.keep.debug {
            return Touched::Nothing;
        }
        let place =
            (!diagnostic.urn.is_empty() && !is_stack(&diagnostic.urn)).then(|| self.place(&diagnostic.urn));
        if diagnostic.ephemeral {
            if let Some(place) = place {
                self.rows[place].status = Some(strip_sequences(&diagnostic.message).into_owned());
            }
            return Touched::Nothing;
        }
        let messages = match place {
            Some(place) => &mut self.rows[place].messages,
            None => &mut self.messages,
        };
        let text = strip_sequences(&diagnostic.message);
        let part = |message: &&mut Message| {
            message.stream != 0
                && message.stream == diagnostic.stream
                && message.severity == diagnostic.severity
        };
        // Warnings of several plugins or resources often say the same; once is enough.
        let again = |message: &Message| message.severity == Severity::Warning && message.text == text;
        let repeated = diagnostic.severity == Severity::Warning && messages.iter().any(again);
        match messages.last_mut().filter(part) {
            Some(message) => message.text.push_str(&text),
            None if text.trim().is_empty() || repeated => return Touched::Nothing,
            None => messages.push(Message {
                severity: diagnostic.severity,
                text: text.into_owned(),
                stream: diagnostic.stream,
            }),
        }
        Touched::Said(place)
    }

    /// The place of a resource, made when it is heard of for the first time.
    fn place(&mut self, urn: &Urn) -> usize {
        if let Some(&place) = self.places.get(urn) {
            return place;
        }
        let place = self.rows.len();
        self.rows.push(Row::new(urn.clone()));
        self.places.insert(urn.clone(), place);
        place
    }

    fn put_under(&mut self, place: usize, parent: &Urn) {
        if parent.is_empty() || is_stack(parent) || *parent == self.rows[place].urn {
            return;
        }
        let parent = self.place(parent);
        let known = self.rows[place].parent == Some(parent);
        // What has no children is nobody's ancestor, so that the usual case takes no walk.
        if known || (!self.rows[place].children.is_empty() && self.is_below(parent, place)) {
            return;
        }
        if let Some(before) = self.rows[place].parent {
            self.rows[before].children.retain(|&child| child != place);
        }
        self.rows[place].parent = Some(parent);
        self.rows[parent].children.push(place);
    }

    /// Whether a resource stands somewhere under another.
    fn is_below(&self, place: usize, other: usize) -> bool {
        let above = std::iter::successors(Some(place), |&place| self.rows[place].parent);
        above.into_iter().any(|place| place == other)
    }

    /// How many steps of each kind: as the engine counted them, or as they were seen when it did not come that far.
    pub(super) fn counts(&self) -> BTreeMap<Op, usize> {
        if let Some(summary) = &self.summary {
            return summary.changes.clone();
        }
        let mut counts = BTreeMap::new();
        for row in self.rows.iter().filter(|row| !row.is_default_provider() && !row.failed()) {
            let ended = row.steps.iter().any(|step| matches!(step.phase, Phase::Done(_) | Phase::Planned));
            let op = match row.kind() {
                Kind::Same | Kind::Refresh => Op::Same,
                Kind::Read => Op::Read,
                Kind::Drifted | Kind::Update => Op::Update,
                Kind::Gone | Kind::Delete | Kind::Clear => Op::Delete,
                Kind::Discard => Op::Discard,
                Kind::Forget => Op::RemovePendingReplace,
                Kind::Import => Op::Import,
                Kind::Create => Op::Create,
                Kind::Replace => Op::Replace,
            };
            if ended {
                *counts.entry(op).or_default() += 1;
            }
        }
        counts
    }

    /// The resources that failed.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.failed())
    }
}
