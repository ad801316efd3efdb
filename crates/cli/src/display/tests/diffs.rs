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

fn list<const N: usize>(elements: [Value; N]) -> Value {
    Value::array(elements)
}

/// What stays is no change, wherever it stands in its list.
#[test]
fn lists_are_told_by_the_fewest_edits() {
    let rule = |name: &str, port: i64, from: &[&str]| {
        Value::object([
            ("cidrBlocks", Value::array(from.iter().copied())),
            ("description", Value::from(name)),
            ("fromPort", Value::from(port)),
            ("protocol", Value::from("tcp")),
            ("toPort", Value::from(port)),
        ])
    };
    let old = properties([
        (
            "ingress",
            list([rule("http", 80, &["0.0.0.0/0"]), rule("ssh", 22, &["10.0.0.0/8"]), rule("old", 21, &[])]),
        ),
        ("names", Value::array(["a", "b", "c", "d"])),
        ("zones", Value::array(["eu-west-1a", "eu-west-1b"])),
    ]);
    let new = properties([
        (
            "ingress",
            list([
                rule("https", 443, &["0.0.0.0/0"]),
                rule("http", 80, &["0.0.0.0/0"]),
                rule("ssh", 22, &["10.0.0.0/8", "192.168.0.0/16"]),
            ]),
        ),
        ("names", Value::array(["d", "a", "b", "x"])),
        ("zones", Value::array(["eu-west-1a", "eu-west-1c", "eu-west-1b"])),
    ]);
    insta::assert_snapshot!(diff(Script::default().run(&changed(old, new), 0)));
}

#[test]
fn a_machine_whose_script_changes_is_replaced() {
    let machine = urn("aws:ec2/instance:Instance", "web");
    let script = |packages: &str, port: i64| {
        Value::from(format!(
            "#!/bin/bash\nset -euo pipefail\napt-get update\napt-get install -y {packages}\n\ncat > /etc/web.conf <<END\nlisten {port}\nworkers 4\nEND\n\nsystemctl enable web\nsystemctl start web\n"
        ))
    };
    let inputs = |ami: &str, packages: &str, port: i64, team: &str| {
        properties([
            ("ami", Value::from(ami)),
            ("instanceType", Value::from("t3.small")),
            ("tags", Value::object([("Name", "web"), ("cost-centre", "7"), ("team", team)])),
            ("userData", script(packages, port)),
        ])
    };
    let mut replaced = step(
        Op::Replace,
        Some(state(&machine, inputs("ami-0a1b", "nginx", 80, "shop"))),
        Some(state(&machine, inputs("ami-9f8e", "nginx curl", 8080, "web"))),
    );
    replaced.replace_keys = vec!["ami".to_owned(), "userData".to_owned()];
    insta::assert_snapshot!(diff(Script::default().run(&replaced, 0)));
}

#[test]
fn json_in_a_text_is_shown_by_what_it_says() {
    let statement = |actions: &[&str]| {
        let actions: Vec<String> = actions.iter().map(|action| format!("\"s3:{action}\"")).collect();
        format!(r#"{{"Effect":"Allow","Action":[{}],"Resource":"arn:aws:s3:::assets/*"}}"#, actions.join(","))
    };
    let policy = |statements: &[String]| {
        Value::from(format!(r#"{{"Version":"2012-10-17","Statement":[{}]}}"#, statements.join(",")))
    };
    let made = create(
        &urn("aws:iam/policy:Policy", "reader"),
        properties([
            ("name", Value::from("reader")),
            ("policy", policy(&[statement(&["GetObject", "ListBucket"])])),
            ("small", Value::from(r#"{"a": 1}"#)),
            ("not", Value::from("{not json}")),
        ]),
    );
    let changes = update(
        &urn("aws:iam/policy:Policy", "writer"),
        properties([("policy", policy(&[statement(&["GetObject"]), statement(&["ListBucket"])]))]),
        properties([(
            "policy",
            policy(&[statement(&["GetObject", "PutObject"]), statement(&["ListBucket"])]),
        )]),
    );
    insta::assert_snapshot!(diff(Script::default().run(&made, 0).run(&changes, 0)));
}

#[test]
fn of_a_long_text_the_part_that_changes_is_shown() {
    let url = |key: &str| {
        let path: String = (0..20).map(|n| format!("/part-{n}")).collect();
        Value::from(format!("https://cdn.example{path}/{key}{path}?version=7"))
    };
    let old = properties([
        ("same", Value::from("short")),
        ("token", Value::from("k".repeat(900))),
        ("url", url("old")),
    ]);
    let new = properties([("same", Value::from("short")), ("url", url("brand-new"))]);
    let script = Script::default().run(&changed(old, new), 0);
    insta::assert_snapshot!(diff(script.clone()));
    let mut stage = Stage::new(Mode::Plain).diff().preview();
    stage.options.show_full_output = true;
    let whole = stage.play(script.planned());
    assert!(whole.contains(&"k".repeat(900)) && !whole.contains('…') && !whole.contains("--show"), "{whole}");
}

#[test]
fn a_configuration_of_a_cluster_reads_as_it_is_written() {
    let map = urn("kubernetes:core/v1:ConfigMap", "settings");
    let inputs = |level: &str, replicas: &str, more: &str| {
        properties([
            (
                "data",
                Value::object([
                    (
                        "app.yaml",
                        format!(
                            "server:\n  port: 8080\n  log:\n    level: {level}\n    format: json\n{more}"
                        ),
                    ),
                    ("replicas", replicas.to_owned()),
                ]),
            ),
            ("metadata", Value::object([("labels", Value::object([("app.kubernetes.io/name", "shop")]))])),
        ])
    };
    let script = Script::default()
        .run(&update(&map, inputs("info", "2", ""), inputs("debug", "3", "cache:\n  size: 64Mi\n")), 0);
    insta::assert_snapshot!(diff(script));
}

#[test]
fn secrets_beside_what_is_open_stay_masked() {
    let function = urn("aws:lambda/function:Function", "api");
    let inputs = |key: &str, size: i64, hash: &str| {
        properties([
            (
                "environment",
                Value::object([(
                    "variables",
                    Value::object([
                        ("API_KEY", Value::secret(Value::from(key))),
                        ("LOG_LEVEL", Value::from("info")),
                        (
                            "PRIVATE_KEY",
                            Value::secret(Value::from(format!("-----BEGIN-----\n{key}\n-----END-----\n"))),
                        ),
                        ("REGION", Value::from("eu-west-1")),
                    ]),
                )]),
            ),
            ("memorySize", Value::from(size)),
            ("secrets", list([Value::secret(Value::from(key)), Value::from("open")])),
            ("sourceCodeHash", Value::from(hash)),
        ])
    };
    let script = Script::default().run(
        &update(
            &function,
            inputs("hunter2", 128, "q9TMa1kBjXk2fQGd4xmZb3l8Y3o2Zk5n"),
            inputs("hunter3", 256, "Zb3l8Y3o2Zk5nq9TMa1kBjXk2fQGd4xm"),
        ),
        0,
    );
    let text = diff(script);
    assert!(!text.contains("hunter") && !text.contains("BEGIN"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn names_and_values_of_every_script_stand_in_their_columns() {
    let old = properties([
        ("a", Value::from("x")),
        ("naïve", Value::from("é")),
        ("a name that is far longer than those beside it are", Value::from(1_i64)),
        ("漢字", Value::from("東京")),
        ("bad", Value::from("line\u{1b}[2J\u{202e}turned")),
        ("text", Value::from("one\ntwo\u{7}\n三\n")),
        ("emoji", Value::from("🙂")),
    ]);
    let new = properties([
        ("a", Value::from("y")),
        ("naïve", Value::from("e\u{301}")),
        ("a name that is far longer than those beside it are", Value::from(2_i64)),
        ("漢字", Value::from("大阪")),
        ("bad", Value::from("line\u{9b}31m")),
        ("text", Value::from("one\ntwo\u{8}\n三\n")),
        ("emoji", Value::from("👩‍👩‍👧")),
    ]);
    let text = diff(Script::default().run(&changed(old, new), 0));
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}', '\u{8}', '\u{9b}']), "{text:?}");
    insta::assert_snapshot!(text);
}

#[test]
fn small_elements_stand_in_one_line_and_what_is_folded_is_counted() {
    let old = properties([]);
    let new = properties([
        ("blocks", Value::array((0..60).map(|n| format!("10.{n}.0.0/16")))),
        (
            "ports",
            Value::array([
                80_i64, 443, 8080, 8443, 9000, 9090, 9091, 9092, 9093, 9094, 9095, 9096, 9097, 9098,
            ]),
        ),
        ("texts", Value::from((0..50).map(|n| format!("line {n}\n")).collect::<String>())),
    ]);
    insta::assert_snapshot!(diff(Script::default().run(&changed(old, new), 0)));
}

#[test]
fn many_changes_are_folded_but_not_what_forces_a_replacement() {
    let values =
        |from: i64| (0..60).map(|n| (format!("key{n:02}"), Value::from(n + from))).collect::<PropertyMap>();
    let mut step = changed(values(0), values(1));
    step.replace_keys = vec!["key55".to_owned()];
    let text = diff(Script::default().run(&step, 0));
    assert!(text.contains("~ key39: 39 → 40\n") && !text.contains("key40"), "{text}");
    assert!(text.contains("~ key55: 55 → 56   forces replacement\n"), "{text}");
    assert!(text.contains("… 19 more changes (--show-full-output)"), "{text}");
}

#[test]
fn a_terminal_of_twenty_columns_gets_each_side_on_its_own_line() {
    let old = properties([("name", Value::from("before")), ("port", Value::from(1_i64))]);
    let new = properties([("name", Value::from("afterwards")), ("port", Value::from(2_i64))]);
    for columns in [1, 20] {
        let script = Script::default().run(&changed(old.clone(), new.clone()), 0).planned();
        let text = Stage::new(Mode::Live).diff().preview().size(columns, 5).play(script);
        let last = text.rsplit("\x1b[J").next().unwrap();
        assert!(last.contains("- \"before\"\n") && last.contains("+ \"afterwards\"\n"), "{last}");
        let drawn = text.split("\x1b[J").next().unwrap().lines().map(|line| line.replace("\x1b[K", ""));
        assert!(drawn.skip(1).all(|line| line.chars().count() <= columns.max(1)), "{text:?}");
    }
}
