//! S17: nothing that is shown holds a secret, unless the user asked to see it.

use super::script::*;
use crate::display::opening::Mode;
use crate::display::{EventLog, EventStream, Secrets};
use drystone_engine::{ConfigValue, DiffKind, Op, Operation, PropertyDiff, PropertyMap, Severity, StepEvent};
use drystone_model::{Output, Value};
use std::sync::{Arc, Mutex};

const SECRET: &str = "hunter2-the-secret";

/// The secret in every place of a value where one can be.
fn everywhere(suffix: &str) -> PropertyMap {
    let secret = || Value::secret(Value::from(format!("{SECRET}{suffix}")));
    let lines = Value::secret(Value::from(format!("first\n{SECRET}{suffix}\nlast")));
    let output = Value::Output(Box::new(Output {
        value: Some(Value::from(format!("{SECRET}{suffix}"))),
        secret: true,
        dependencies: Vec::new(),
    }));
    let hidden_object =
        Value::secret(Value::object([("inner", Value::object([("key", format!("{SECRET}{suffix}"))]))]));
    properties([
        ("direct", secret()),
        ("lines", lines),
        ("list", Value::array([Value::from("plain"), secret()])),
        ("map", Value::object([("key", secret())])),
        ("object", hidden_object),
        ("output", output),
        ("json", Value::secret(Value::from(format!(r#"{{"a":"{SECRET}{suffix}"}}"#)))),
        ("nested", Value::secret(Value::array([secret()]))),
    ])
}

fn script() -> Script {
    let thing = |name: &str| urn("a:b:C", name);
    let changed = |op, name: &str| {
        step(op, Some(state(&thing(name), everywhere("1"))), Some(state(&thing(name), everywhere("2"))))
    };
    let mut told = changed(Op::Update, "told");
    let update = PropertyDiff { kind: DiffKind::UpdateReplace, input_diff: false };
    let paths = [
        "direct",
        "lines",
        "list[1]",
        "map.key",
        "object.inner.key",
        "object.inner",
        "output",
        "json",
        "nested[0]",
    ];
    told.detailed = Some(paths.map(|path| (path.to_owned(), update)).into());
    let appearing = StepEvent {
        detailed: Some(
            [("direct".to_owned(), PropertyDiff { kind: DiffKind::Add, input_diff: true })].into(),
        ),
        ..step(
            Op::Update,
            Some(state(&thing("appearing"), PropertyMap::new())),
            Some(state(&thing("appearing"), everywhere("2"))),
        )
    };
    let refreshed = StepEvent { result: Some(Op::Update), ..changed(Op::Refresh, "refreshed") };
    let mut script = Script::default();
    for step in [
        create(&thing("created"), everywhere("")),
        changed(Op::Update, "updated"),
        told,
        appearing,
        changed(Op::Replace, "replaced"),
        changed(Op::Import, "imported"),
        refreshed,
        StepEvent { old: Some(state(&thing("deleted"), everywhere("")).into()), ..delete(&thing("deleted")) },
        step(Op::Same, Some(state(&stack(), everywhere("1"))), Some(state(&stack(), everywhere("2")))),
    ] {
        script = script.run(&step, 100);
    }
    script
        .say(&thing("created"), Severity::Error, "the token is configured-token")
        .say(&stack(), Severity::Info, "configured-token")
        .finish(true, [(Op::Create, 1)])
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<String>>);

impl EventStream for Kept {
    fn send(&mut self, event: String) {
        self.0.lock().unwrap().push_str(&event);
    }

    fn close(self: Box<Self>) {}
}

fn stage(mode: Mode, kept: &Kept) -> Stage {
    let mut stage = Stage::new(mode);
    let token = ConfigValue { text: "configured-token".to_owned(), object: false, secret: true };
    stage.opening.config = [("shop:token".to_owned(), token)].into();
    stage.options.show_config = true;
    stage.options.debug = true;
    stage.options.show_full_output = true;
    stage.options.show.sames = true;
    stage.options.event_log = Some(EventLog::stream(Box::new(kept.clone())));
    stage
}

#[test]
fn s17_no_way_of_showing_an_operation_leaks_a_secret() {
    for mode in [Mode::Live, Mode::Plain, Mode::Events, Mode::Digest] {
        for diff in [false, true] {
            for planned in [false, true] {
                for operation in [Operation::Update, Operation::Refresh, Operation::Destroy] {
                    let kept = Kept::default();
                    let mut stage = stage(mode, &kept).operation(operation);
                    stage.options.diff = diff;
                    stage.opening.dry_run = planned;
                    let played = if planned { script().planned() } else { script() };
                    let (text, shown) = stage.play_whole(played);
                    assert!(!text.is_empty());
                    for shown in [&text, &shown.details(), &*kept.0.lock().unwrap(), &format!("{shown:?}")] {
                        assert!(!shown.contains(SECRET), "{mode:?}: {shown}");
                        assert!(!shown.contains("configured-token"), "{mode:?}: {shown}");
                    }
                    assert!(kept.0.lock().unwrap().contains(r#""ciphertext":"[secret]""#));
                    if mode != Mode::Digest || planned {
                        assert!(text.contains("[secret]"), "{mode:?}: {text}");
                    }
                }
            }
        }
    }
}

#[test]
fn s17_secrets_are_shown_to_people_who_ask_and_to_no_program() {
    for mode in [Mode::Live, Mode::Plain] {
        let kept = Kept::default();
        let mut stage = stage(mode, &kept).diff();
        stage.options.secrets = Secrets::Shown;
        let text = stage.play(script());
        assert!(text.contains(SECRET) && text.contains("configured-token"));
        assert!(!kept.0.lock().unwrap().contains(SECRET));
    }
    for mode in [Mode::Events, Mode::Digest] {
        let mut stage = stage(mode, &Kept::default());
        stage.options.secrets = Secrets::Shown;
        assert!(!stage.play(script()).contains(SECRET));
    }
}
