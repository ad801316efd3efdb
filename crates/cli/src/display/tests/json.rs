//! What scripts read, held against what the stock CLI 3.259.0 wrote for real runs.

use super::script::*;
use crate::display::Show;
use crate::display::json::{Digest, Stamp, cancel_line, event_line, prelude_line};
use crate::display::opening::Mode;
use drystone_dialects::pulumi::properties::decode_properties;
use drystone_engine::{
    Diagnostic, DiffKind, Event, Op, Operation, PropertyDiff, PropertyMap, Severity, State, StepEvent,
    Summary,
};
use drystone_model::{Json, Properties, Resource, Urn};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

fn kind(word: &str) -> DiffKind {
    use DiffKind::*;
    [Add, AddReplace, Delete, DeleteReplace, Update, UpdateReplace]
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .unwrap()
}

fn detailed(value: &Value, kind_key: &str) -> Option<BTreeMap<String, PropertyDiff>> {
    let diff = |diff: &Value| PropertyDiff {
        kind: kind(diff[kind_key].as_str().unwrap()),
        input_diff: diff["inputDiff"].as_bool().unwrap(),
    };
    value.as_object().map(|paths| paths.iter().map(|(path, value)| (path.clone(), diff(value))).collect())
}

fn values(value: &Value) -> PropertyMap {
    let json = Json::parse(if value.is_null() { "{}".to_owned() } else { value.to_string() }).unwrap();
    decode_properties(&Properties::new(json)).unwrap()
}

/// The state that an event tells of.
fn event_state(value: &Value) -> Option<State> {
    let members = value.as_object()?;
    let flag = |key: &str| members.get(key).and_then(Value::as_bool).unwrap_or_default();
    let record = Resource {
        urn: Urn::new(text(&value["urn"])),
        type_token: text(&value["type"]),
        custom: flag("custom"),
        delete: flag("delete"),
        id: text(&value["id"]),
        parent: Urn::new(text(&value["parent"])),
        protect: flag("protect"),
        external: flag("external"),
        provider: text(&value["provider"]),
        init_errors: texts(&value["initErrors"]),
        ..Resource::default()
    };
    Some(State {
        record,
        inputs: values(&value["inputs"]),
        outputs: values(&value["outputs"]),
        ..State::default()
    })
}

fn event_step(event: &Value, refreshes: bool) -> StepEvent {
    let metadata = &event["metadata"];
    let op = Op::parse(metadata["op"].as_str().unwrap()).unwrap();
    StepEvent {
        op: if refreshes { Op::Refresh } else { op },
        urn: Urn::new(text(&metadata["urn"])),
        provider: text(&metadata["provider"]),
        old: event_state(&metadata["old"]).map(Into::into),
        new: event_state(&metadata["new"]).map(Into::into),
        replace_keys: texts(&metadata["keys"]),
        changed_keys: texts(&metadata["diffs"]),
        detailed: detailed(&metadata["detailedDiff"], "diffKind"),
        logical: metadata["logical"].as_bool().unwrap_or_default(),
        planning: event["planning"].as_bool().unwrap_or_default(),
        doubtful: false,
        result: refreshes.then_some(op),
        duration: Duration::ZERO,
    }
}

fn severity(word: &str) -> Severity {
    use Severity::*;
    [Debug, Info, InfoError, Warning, Error].into_iter().find(|severity| severity.as_str() == word).unwrap()
}

fn diagnostic(event: &Value) -> Diagnostic {
    Diagnostic {
        urn: Urn::new(text(&event["urn"])),
        message: text(&event["message"]),
        severity: severity(event["severity"].as_str().unwrap()),
        stream: 0,
        ephemeral: event["ephemeral"].as_bool().unwrap_or_default(),
    }
}

fn summary(event: &Value) -> Summary {
    let count = |(op, count): (&String, &Value)| {
        (Op::parse(op).unwrap(), usize::try_from(count.as_u64().unwrap()).unwrap())
    };
    Summary {
        changes: event["resourceChanges"].as_object().unwrap().iter().map(count).collect(),
        duration: Duration::from_millis(event["durationSeconds"].as_u64().unwrap() * 1000 - 500),
        dry_run: event["isPreview"].as_bool().unwrap(),
        succeeded: event["result"] == "succeeded",
        ..Summary::default()
    }
}

/// What we write for the event that a line of the stock CLI tells of.
fn rewritten(line: &str, refreshes: bool) -> String {
    let whole: Value = serde_json::from_str(line).unwrap();
    let stamp = Stamp {
        sequence: whole["sequence"].as_u64().unwrap(),
        timestamp: whole["timestamp"].as_i64().unwrap(),
    };
    let (name, event) = whole.as_object().unwrap().iter().nth(2).unwrap();
    let event = match name.as_str() {
        "cancelEvent" => return cancel_line(stamp),
        "preludeEvent" => {
            let config = event["config"].as_object().unwrap().iter();
            return prelude_line(&config.map(|(key, value)| (key.clone(), text(value))).collect(), stamp);
        }
        "resourcePreEvent" => Event::StepStarted(event_step(event, false)),
        "resOutputsEvent" => Event::StepDone(event_step(event, refreshes)),
        "resOpFailedEvent" => Event::StepFailed(event_step(event, false)),
        "diagnosticEvent" => Event::Diagnostic(diagnostic(event)),
        "summaryEvent" => Event::Summary(summary(event)),
        other => panic!("no such event: {other}"),
    };
    let operation = if refreshes { Operation::Refresh } else { Operation::Update };
    event_line(&event, operation, false, event_steps(&whole), stamp)
}

fn event_steps(whole: &Value) -> usize {
    whole["resOpFailedEvent"]["steps"].as_u64().map_or(0, |steps| usize::try_from(steps).unwrap())
}

#[test]
fn events_are_the_stock_clis_byte_for_byte() {
    let runs = [
        (include_str!("stock/up.jsonl"), false),
        (include_str!("stock/preview.jsonl"), false),
        (include_str!("stock/refresh.jsonl"), true),
        (include_str!("stock/destroy.jsonl"), false),
    ];
    let mut kinds = std::collections::BTreeSet::new();
    for (run, refreshes) in runs {
        for line in run.lines() {
            // The stock CLI fears for its state when a step fails; ours is journaled.
            let expected = line.replace("\"maybeCorrupt\":true", "\"maybeCorrupt\":false");
            assert_eq!(rewritten(line, refreshes), expected);
            kinds.insert(
                serde_json::from_str::<Value>(line)
                    .unwrap()
                    .as_object()
                    .unwrap()
                    .keys()
                    .nth(2)
                    .unwrap()
                    .clone(),
            );
        }
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

/// The step of a preview's object.
fn digest_step(step: &Value) -> StepEvent {
    let state = |value: &Value| {
        value.as_object()?;
        let record: Resource = serde_json::from_value(value.clone()).unwrap();
        let (inputs, outputs) = (values(&value["inputs"]), values(&value["outputs"]));
        Some(State { record, inputs, outputs, ..State::default() }.into())
    };
    StepEvent {
        op: Op::parse(step["op"].as_str().unwrap()).unwrap(),
        urn: Urn::new(text(&step["urn"])),
        provider: text(&step["provider"]),
        old: state(&step["oldState"]),
        new: state(&step["newState"]),
        replace_keys: texts(&step["replaceReasons"]),
        changed_keys: texts(&step["diffReasons"]),
        detailed: detailed(&step["detailedDiff"], "kind"),
        logical: true,
        planning: true,
        doubtful: false,
        result: None,
        duration: Duration::ZERO,
    }
}

#[test]
fn the_object_of_a_preview_is_the_stock_clis_byte_for_byte() {
    let runs = [include_str!("stock/preview.json"), include_str!("stock/refresh-preview.json")];
    for (run, refreshes) in runs.into_iter().zip([false, true]) {
        let whole: Value = serde_json::from_str(run).unwrap();
        let config = whole["config"].as_object().unwrap().iter();
        let config = config.map(|(key, value)| (key.clone(), text(value))).collect();
        let operation = if refreshes { Operation::Refresh } else { Operation::Update };
        let mut digest = Digest::new(config, operation, Show::default(), false);
        for step in whole["steps"].as_array().unwrap() {
            let step = digest_step(step);
            if refreshes && step.op != Op::Refresh {
                digest.take(&Event::StepStarted(StepEvent { op: Op::Refresh, ..step.clone() }));
                digest.take(&Event::StepDone(StepEvent { op: Op::Refresh, result: Some(step.op), ..step }));
            } else {
                digest.take(&Event::StepStarted(step.clone()));
                digest.take(&Event::StepDone(step));
            }
        }
        for message in whole["diagnostics"].as_array().into_iter().flatten() {
            let severity = severity(message["severity"].as_str().unwrap());
            let urn = Urn::new(text(&message["urn"]));
            let told = text(&message["message"]);
            let told = told.split_once(": ").unwrap().1.to_owned();
            digest.take(&Event::Diagnostic(Diagnostic {
                urn,
                message: told,
                severity,
                stream: 0,
                ephemeral: false,
            }));
        }
        let changes = whole["changeSummary"].as_object().unwrap().iter();
        digest.take(&Event::Summary(Summary {
            changes: changes
                .map(|(op, count)| {
                    (Op::parse(op).unwrap(), usize::try_from(count.as_u64().unwrap()).unwrap())
                })
                .collect(),
            duration: Duration::from_nanos(whole["duration"].as_u64().unwrap()),
            dry_run: true,
            succeeded: true,
            ..Summary::default()
        }));
        assert_eq!(digest.text() + "\n", run);
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_stream_of_an_update_has_no_default_providers_and_ends_with_cancel() {
    let provider = create(&urn("pulumi:providers:a", "default_1_0_0"), PropertyMap::new());
    let script = Script::default()
        .run(&provider, 10)
        .run(&create(&urn("a:b:C", "c"), PropertyMap::new()), 10)
        .say(&urn("a:b:C", "c"), Severity::Error, "\u{1b}[31mred\u{1b}[0m\u{2028}")
        .finish(false, [(Op::Create, 1), (Op::Delete, 0)]);
    let mut stage = Stage::new(Mode::Events);
    stage.closing.ending = drystone_engine::Ending::Failed;
    let text = stage.play(script);
    assert!(text.contains("red\\u2028\\n"));
    let lines = lines(&text);
    let sequence: Vec<u64> = lines.iter().map(|line| line["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequence, [0, 3, 4, 5, 6, 7, 8], "the log has the others");
    let last_word = r#""diagnosticEvent":{"prefix":"error: ","message":"update failed\n","color":"never","severity":"error"}"#;
    assert!(text.lines().nth(4).unwrap().contains(last_word), "{text}");
    assert_eq!(lines[5]["summaryEvent"]["resourceChanges"], serde_json::json!({"create": 1}));
    assert_eq!(lines[5]["summaryEvent"]["result"], "failed");
    assert_eq!(lines[6]["cancelEvent"], serde_json::json!({}));
}

#[test]
fn what_stays_the_same_has_no_outputs_when_it_begins() {
    let kept = state(&urn("a:b:C", "c"), properties([("size", drystone_model::Value::from(1_i64))]));
    let kept = step(Op::Same, Some(kept.clone()), Some(kept));
    let text = Stage::new(Mode::Events).play(Script::default().run(&kept, 0));
    let lines = lines(&text);
    let outputs = |line: &Value, event: &str, state: &str| line[event]["metadata"][state]["outputs"].clone();
    assert_eq!(outputs(&lines[1], "resourcePreEvent", "old"), serde_json::json!({"size": 1}));
    assert_eq!(outputs(&lines[1], "resourcePreEvent", "new"), serde_json::json!({}));
    assert_eq!(outputs(&lines[2], "resOutputsEvent", "new"), serde_json::json!({"size": 1}));
    let mut stage = Stage::new(Mode::Digest).preview();
    stage.options.show.sames = true;
    let whole: Value = serde_json::from_str(&stage.play(Script::default().run(&kept, 0))).unwrap();
    assert_eq!(whole["steps"][0]["oldState"]["outputs"], serde_json::json!({"size": 1}));
    assert_eq!(whole["steps"][0]["newState"]["outputs"], Value::Null);
}

#[test]
fn a_cancelled_update_says_so() {
    let written = Written::default();
    let (mut renderer, closing) = Stage::new(Mode::Events).renderer(&written);
    renderer.open(0);
    renderer.cancelling(drystone_engine::CancelLevel::Graceful);
    renderer.event(Event::Summary(Summary::default()), 0, Duration::ZERO);
    renderer.close(&closing, 0, Duration::ZERO);
    let lines = lines(&written.text());
    assert_eq!(lines[1]["diagnosticEvent"]["message"], "update canceled\n");
    assert_eq!(lines[2]["summaryEvent"]["result"], "canceled");
}

#[test]
fn a_preview_lists_what_is_asked_for() {
    let ops = |show: Show| {
        let mut stage = Stage::new(Mode::Digest).preview();
        stage.options.show = show;
        let whole: Value = serde_json::from_str(&stage.play(super::live::every_kind().planned())).unwrap();
        let mut ops: Vec<String> =
            whole["steps"].as_array().unwrap().iter().map(|step| text(&step["op"])).collect();
        ops.sort();
        ops.join(" ")
    };
    // The steps of the script are all logical.
    let few = ops(Show::default());
    assert_eq!(few.matches("same").count(), 1, "the protected one: {few}");
    let more = ops(Show { sames: true, ..Show::default() });
    assert_eq!(more.matches("same").count(), 2, "{more}");
}

#[test]
fn suppressed_outputs_are_not_in_the_object_either() {
    let whole = step(
        Op::Same,
        Some(state(&stack(), properties([("url", drystone_model::Value::from("https://old"))]))),
        Some(state(&stack(), properties([("url", drystone_model::Value::from("https://new"))]))),
    );
    let mut stage = Stage::new(Mode::Digest).preview();
    stage.options.suppress_outputs = true;
    let text = stage.play(Script::default().run(&whole, 0).planned());
    assert!(!text.contains("https://"), "{text}");
}

#[test]
fn each_combination_of_flags_has_its_mode() {
    let mode = |json, dry_run, streaming_preview| {
        let mut stage = Stage::new(Mode::Plain);
        stage.options.json = json;
        stage.options.streaming_preview = streaming_preview;
        stage.options.non_interactive = true;
        stage.opening.dry_run = dry_run;
        Mode::of(&stage.opening, &stage.options)
    };
    assert_eq!(mode(false, false, false), Mode::Plain);
    assert_eq!(mode(true, false, false), Mode::Events);
    assert_eq!(mode(true, true, false), Mode::Digest);
    assert_eq!(mode(true, true, true), Mode::Events);
    assert_eq!(mode(true, false, true), Mode::Events);
}

#[test]
fn a_refresh_before_an_update_stays_a_step_of_a_preview() {
    let whole: Value = serde_json::from_str(include_str!("stock/refresh-preview.json")).unwrap();
    let update = whole["steps"].as_array().unwrap().iter().find(|step| step["op"] == "update").unwrap();
    let update = digest_step(update);
    let refresh = StepEvent { op: Op::Refresh, ..update.clone() };
    let found = StepEvent { result: Some(Op::Update), ..refresh.clone() };
    let mut digest = Digest::new([].into(), Operation::Update, Show::default(), false);
    for event in [
        Event::StepStarted(refresh),
        Event::StepDone(found),
        Event::StepStarted(update.clone()),
        Event::StepDone(update),
    ] {
        digest.take(&event);
    }
    let shown: Value = serde_json::from_str(&digest.text()).unwrap();
    let ops: Vec<&Value> = shown["steps"].as_array().unwrap().iter().map(|step| &step["op"]).collect();
    assert_eq!(ops, ["refresh", "update"]);
}

#[test]
fn programs_are_told_once_of_a_component_when_its_outputs_are_set() {
    let root = |outputs: PropertyMap| create(&stack(), outputs);
    let done = root(properties([("url", "x".into())]));
    let script = Script::default()
        .run(&root(PropertyMap::new()), 0)
        .run(&create(&urn("a:b:C", "c"), PropertyMap::new()), 10)
        .end(&done, 0)
        .finish(true, [(Op::Create, 2)]);
    let told = |stage: Stage, script: Script| {
        let text = stage.play(script);
        text.lines().filter(|line| line.contains("resOutputsEvent")).count()
    };
    assert_eq!(told(Stage::new(Mode::Events), script.clone()), 2);
    assert_eq!(told(Stage::new(Mode::Events).preview(), script.planned()), 3);
}
