//! Operations as scripts: events with the moments at which they come.

use crate::display::opening::Mode;
use crate::display::renderer::{Output, Renderer};
use crate::display::screen::Size;
use crate::display::text::Paint;
use crate::display::{Closing, Opening, Options, Shown};
use drystone_engine::{Diagnostic, Event, Op, Operation, PropertyMap, Severity, State, StepEvent, Summary};
use drystone_model::{Resource, Urn, Value};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The URN of a resource of the stack `prod` of the project `shop`.
pub(super) fn urn(type_token: &str, name: &str) -> Urn {
    Urn::build("prod", "shop", "", type_token, name)
}

/// The URN of the stack itself.
pub(super) fn stack() -> Urn {
    urn("pulumi:pulumi:Stack", "shop-prod")
}

/// Named values.
pub(super) fn properties<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A resource's state.
pub(super) fn state(urn: &Urn, inputs: PropertyMap) -> State {
    let parent = if *urn == stack() { Urn::default() } else { stack() };
    let record = Resource {
        urn: urn.clone(),
        custom: *urn != stack(),
        type_token: urn.type_token().to_owned(),
        parent,
        ..Resource::default()
    };
    State { record, outputs: inputs.clone(), inputs, ..State::default() }
}

/// The same state under another parent.
pub(super) fn under(parent: &Urn, mut state: State) -> State {
    state.record.parent = parent.clone();
    state
}

/// A step.
pub(super) fn step(op: Op, old: Option<State>, new: Option<State>) -> StepEvent {
    let urn = new.as_ref().or(old.as_ref()).map(|state| state.record.urn.clone()).unwrap_or_default();
    StepEvent {
        op,
        urn,
        provider: String::new(),
        old: old.map(Arc::new),
        new: new.map(Arc::new),
        replace_keys: Vec::new(),
        changed_keys: Vec::new(),
        detailed: None,
        logical: true,
        planning: false,
        doubtful: false,
        result: None,
        duration: Duration::ZERO,
    }
}

pub(super) fn create(urn: &Urn, inputs: PropertyMap) -> StepEvent {
    step(Op::Create, None, Some(state(urn, inputs)))
}

pub(super) fn delete(urn: &Urn) -> StepEvent {
    step(Op::Delete, Some(state(urn, PropertyMap::new())), None)
}

pub(super) fn update(urn: &Urn, old: PropertyMap, new: PropertyMap) -> StepEvent {
    step(Op::Update, Some(state(urn, old)), Some(state(urn, new)))
}

pub(super) fn same(urn: &Urn) -> StepEvent {
    let state = state(urn, PropertyMap::new());
    step(Op::Same, Some(state.clone()), Some(state))
}

/// A message about a resource.
pub(super) fn message(urn: &Urn, severity: Severity, text: &str) -> Event {
    Event::Diagnostic(Diagnostic {
        urn: urn.clone(),
        message: text.to_owned(),
        severity,
        stream: 0,
        ephemeral: false,
    })
}

/// Events with the moments at which they come, in milliseconds.
#[derive(Default, Clone)]
pub(super) struct Script {
    pub(super) events: Vec<(u64, Event)>,
    now: u64,
}

impl Script {
    /// Lets time pass.
    pub(super) fn wait(mut self, millis: u64) -> Self {
        self.now += millis;
        self
    }

    pub(super) fn event(mut self, event: Event) -> Self {
        self.events.push((self.now, event));
        self
    }

    pub(super) fn begin(self, step: &StepEvent) -> Self {
        self.event(Event::StepStarted(step.clone()))
    }

    /// Ends a step that took that long.
    pub(super) fn end(self, step: &StepEvent, millis: u64) -> Self {
        self.event(Event::StepDone(StepEvent { duration: Duration::from_millis(millis), ..step.clone() }))
    }

    pub(super) fn fail(self, step: &StepEvent, millis: u64) -> Self {
        self.event(Event::StepFailed(StepEvent { duration: Duration::from_millis(millis), ..step.clone() }))
    }

    /// Begins a step, waits and ends it.
    pub(super) fn run(self, step: &StepEvent, millis: u64) -> Self {
        self.begin(step).wait(millis).end(step, millis)
    }

    pub(super) fn say(self, urn: &Urn, severity: Severity, text: &str) -> Self {
        self.event(message(urn, severity, text))
    }

    /// Ends the operation with counts.
    pub(super) fn finish<const N: usize>(self, succeeded: bool, changes: [(Op, usize); N]) -> Self {
        let summary = Summary {
            changes: changes.into_iter().collect(),
            duration: Duration::from_millis(self.now),
            dry_run: false,
            succeeded,
            ..Summary::default()
        };
        self.event(Event::Summary(summary))
    }

    /// The same operation as a preview.
    pub(super) fn planned(mut self) -> Self {
        for (_, event) in &mut self.events {
            match event {
                Event::StepStarted(step) | Event::StepDone(step) | Event::StepFailed(step) => {
                    step.planning = true;
                }
                Event::Summary(summary) => summary.dry_run = true,
                Event::Diagnostic(_) | Event::Debugging(_) | Event::Progress(_) | Event::Policy(_) => {}
            }
        }
        self
    }
}

/// Bytes that a test can look at while somebody else writes them.
#[derive(Clone, Default)]
pub(super) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A display under test.
pub(super) struct Stage {
    pub(super) opening: Opening,
    pub(super) options: Options,
    pub(super) mode: Mode,
    pub(super) size: Size,
    pub(super) paint: Paint,
    pub(super) closing: Closing,
}

impl Stage {
    pub(super) fn new(mode: Mode) -> Self {
        Self {
            opening: Opening { stack: "shop/prod".to_owned(), runs_program: true, ..Opening::default() },
            options: Options::default(),
            mode,
            size: Size { columns: 100, rows: 30 },
            paint: Paint::None,
            closing: Closing::default(),
        }
    }

    pub(super) fn operation(mut self, operation: Operation) -> Self {
        self.opening.operation = operation;
        self
    }

    pub(super) fn preview(mut self) -> Self {
        self.opening.dry_run = true;
        self
    }

    pub(super) fn diff(mut self) -> Self {
        self.options.diff = true;
        self
    }

    pub(super) fn size(mut self, columns: usize, rows: usize) -> Self {
        self.size = Size { columns, rows };
        self
    }

    pub(super) fn renderer(self, written: &Written) -> (Renderer, Closing) {
        let size = self.size;
        let out = Output { to: Box::new(written.clone()), paint: self.paint, size: Box::new(move || size) };
        (Renderer::new(self.opening, self.options, self.mode, out), self.closing)
    }

    /// Everything that is written for a script, with what is left behind.
    pub(super) fn play_whole(self, script: Script) -> (String, Shown) {
        let written = Written::default();
        let (mut renderer, closing) = self.renderer(&written);
        renderer.open(0);
        let mut now = 0;
        for (at, event) in script.events {
            while now + 1000 <= at {
                now += 1000;
                renderer.tick(Duration::from_millis(now));
            }
            now = at;
            renderer.event(event, i64::try_from(at / 1000).unwrap(), Duration::from_millis(at));
        }
        let shown = renderer.close(&closing, 0, Duration::from_millis(now));
        (written.text(), shown)
    }

    /// Everything that is written for a script.
    pub(super) fn play(self, script: Script) -> String {
        self.play_whole(script).0
    }
}
