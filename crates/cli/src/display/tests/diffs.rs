//! Changes in full.

use super::live::every_kind;
use super::script::*;
use crate::display::opening::Mode;
use drystone_engine::{DiffKind, Op, PropertyDiff, PropertyMap, Severity, StepEvent};
use drystone_model::{Asset, AssetSource, Computed, Json, Value};

fn diff(script: Script) -> String {
    let text = Stage::new(Mode::Plain).diff().preview().play(script.planned());
    text.lines().skip(2).collect::<Vec<_>>().join("\n")
}

fn changed(old: PropertyMap, new: PropertyMap) -> StepEvent {
    update(&urn("a:b:C", "c"), old, new)
}

fn told(kind: DiffKind, input_diff: bool) -> PropertyDiff {
    PropertyDiff { kind, input_diff }
}

#[test]
fn inputs_are_compared_where_the_provider_says_nothing() {
    let old = properties([
        ("count", Value::from(3_i64)),
        ("gone", Value::from(true)),
        ("list", Value::array([1_i64, 2, 3])),
        ("nested", Value::object([("deep", Value::object([("one", "a"), ("two", "b")]))])),
        ("same", Value::from("same")),
        ("tags", Value::object([("owner", "x"), ("team", "a")])),
    ]);
    let new = properties([
        ("count", Value::from(4_i64)),
        (
            "file",
            Value::Asset(Asset {
                hash: "abcdef0123456".to_owned(),
                source: AssetSource::Path("a.txt".to_owned()),
            }),
        ),
        ("later", Value::Computed(Computed::String)),
        ("list", Value::array([1_i64, 5])),
        ("nested", Value::object([("deep", Value::object([("one", "c"), ("two", "b")]))])),
        ("same", Value::from("same")),
        ("tags", Value::object([("cost-centre", "7"), ("team", "b")])),
    ]);
    insta::assert_snapshot!(diff(Script::default().run(&changed(old, new), 0)));
}

#[test]
fn what_is_made_and_what_goes_is_shown_whole() {
    let whole = properties([
        ("description", Value::from("short")),
        (
            "items",
            Value::array((0..3).map(|n| {
                Value::object([("name", Value::from(format!("item {n}"))), ("at", Value::from(n))])
            })),
        ),
        ("longName", Value::object((0..12).map(|n| (format!("key{n}"), "a longer value")))),
        ("empty", Value::Object(PropertyMap::new())),
        ("script", Value::from("#!/bin/sh\necho hi\n")),
    ]);
    let gone = StepEvent {
        old: Some(state(&urn("a:b:C", "d"), whole.clone()).into()),
        ..delete(&urn("a:b:C", "d"))
    };
    insta::assert_snapshot!(diff(Script::default().run(&create(&urn("a:b:C", "c"), whole), 0).run(&gone, 0)));
}

#[test]
fn texts_of_several_lines_are_compared_by_line() {
    let lines = |changed: &str| {
        (0..30)
            .map(|n| if n == 15 { format!("{changed}\n") } else { format!("line\t{n}\n") })
            .collect::<String>()
    };
    let old = properties([("body", Value::from(lines("old")))]);
    let new = properties([("body", Value::from(lines("new") + "last\n"))]);
    insta::assert_snapshot!(diff(Script::default().run(&changed(old, new), 0)));
}

#[test]
fn json_texts_are_compared_by_what_they_say() {
    let policy = |action: &str| {
        Value::from(format!(r#"{{"Version":"2012","Statement":[{{"Action":"{action}","Effect":"Allow"}}]}}"#))
    };
    let old = properties([("policy", policy("s3:Get")), ("spaced", Value::from(r#"{"a":1}"#))]);
    let new = properties([("policy", policy("s3:Put")), ("spaced", Value::from(r#"{ "a": 1 }"#))]);
    insta::assert_snapshot!(diff(Script::default().run(&changed(old, new), 0)));
}

#[test]
fn long_values_are_folded_unless_the_whole_is_asked_for() {
    let old = properties([
        ("long", Value::from("a".repeat(500))),
        ("many", Value::array((0..100).map(Value::from))),
    ]);
    let new = properties([
        ("long", Value::from("b".repeat(500))),
        ("map", Value::object((0..60).map(|n| (format!("key{n:02}"), n)))),
    ]);
    let script = Script::default().run(&changed(old, new), 0);
    let folded = diff(script.clone());
    insta::assert_snapshot!(folded);
    let mut stage = Stage::new(Mode::Plain).diff().preview();
    stage.options.show_full_output = true;
    let whole = stage.play(script.planned());
    assert!(whole.contains(&"b".repeat(500)) && whole.contains("key59") && !whole.contains('…'));
}

#[test]
fn what_the_provider_says_is_shown_as_it_says_it() {
    let mut told_of = changed(
        properties([
            ("a", Value::from("program")),
            ("ignored", Value::from(1_i64)),
            ("tags", Value::object([("x", "1"), ("y", "1")])),
        ]),
        properties([
            ("a", Value::from("new")),
            ("ignored", Value::from(2_i64)),
            ("tags", Value::object([("x", "2"), ("y", "1")])),
        ]),
    );
    let mut old = (*told_of.old.clone().unwrap()).clone();
    old.outputs = properties([
        ("a", Value::from("drifted")),
        ("made", Value::from("by the provider")),
        ("tags", Value::object([("x", "1"), ("y", "1")])),
    ]);
    told_of.old = Some(old.into());
    told_of.detailed = Some(
        [
            ("a".to_owned(), told(DiffKind::UpdateReplace, false)),
            ("made".to_owned(), told(DiffKind::Delete, false)),
            ("nowhere[3].to[\"be found\"]".to_owned(), told(DiffKind::Update, false)),
            ("odd..path".to_owned(), told(DiffKind::Add, false)),
            ("tags".to_owned(), told(DiffKind::Update, true)),
        ]
        .into(),
    );
    insta::assert_snapshot!(diff(Script::default().run(&told_of, 0)));
}

#[test]
fn what_forces_a_replacement_is_marked() {
    let engine = |version: &str, size: i64| {
        properties([("engine", Value::object([("version", version)])), ("size", Value::from(size))])
    };
    let database = urn("aws:rds/instance:Instance", "db");
    let mut replaced =
        step(Op::Replace, Some(state(&database, engine("12", 1))), Some(state(&database, engine("13", 2))));
    replaced.replace_keys = vec!["engine".to_owned()];
    let other = urn("a:b:C", "asked");
    let mut asked =
        step(Op::Replace, Some(state(&other, PropertyMap::new())), Some(state(&other, PropertyMap::new())));
    asked.replace_keys = vec!["replaceOnChanges".to_owned()];
    insta::assert_snapshot!(diff(Script::default().run(&replaced, 0).run(&asked, 0)));
}

#[test]
fn hidden_diffs_stay_hidden() {
    let mut step = changed(
        properties([("big", Value::object([("a", "from here")])), ("list", Value::array(["x"]))]),
        properties([("big", Value::object([("a", "to there")])), ("list", Value::array(["y"]))]),
    );
    let mut new = (*step.new.clone().unwrap()).clone();
    new.record.hide_diff = vec![Json::parse(r#"["big"]"#).unwrap(), Json::parse(r#""list[0]""#).unwrap()];
    step.new = Some(new.into());
    let text = diff(Script::default().run(&step, 0));
    assert!(!text.contains("from here") && !text.contains("to there") && !text.contains("\"y\""), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_refresh_shows_what_drifted() {
    let thing = urn("a:b:C", "c");
    let drifted = StepEvent {
        result: Some(Op::Update),
        ..step(
            Op::Refresh,
            Some(state(&thing, properties([("size", Value::from(1_i64))]))),
            Some(state(&thing, properties([("size", Value::from(9_i64))]))),
        )
    };
    let gone = StepEvent { new: None, result: Some(Op::Delete), ..drifted.clone() };
    let gone = StepEvent {
        urn: urn("a:b:C", "d"),
        old: Some(state(&urn("a:b:C", "d"), properties([("size", Value::from(1_i64))])).into()),
        ..gone
    };
    insta::assert_snapshot!(diff(Script::default().run(&drifted, 0).run(&gone, 0)));
}

#[test]
fn every_kind_of_step_with_its_diff() {
    insta::assert_snapshot!(Stage::new(Mode::Plain).diff().play(every_kind()));
}

#[test]
fn a_terminal_shows_the_diff_at_the_end() {
    let text = Stage::new(Mode::Live).diff().play(every_kind());
    let last = text.rsplit("\x1b[J").next().unwrap();
    insta::assert_snapshot!(last);
}

#[test]
fn details_can_be_asked_for_after_a_preview() {
    let thing = changed(properties([("a", Value::from(1_i64))]), properties([("a", Value::from(2_i64))]));
    let script = Script::default()
        .run(&thing, 0)
        .say(&thing.urn, Severity::Warning, "careful")
        .finish(true, [(Op::Update, 1)]);
    let (_, shown) = Stage::new(Mode::Live).preview().play_whole(script.planned());
    assert_eq!(shown.details(), "~   a:b:C c  to update\n      ~ a: 1 → 2\n      warning: careful\n");
}
