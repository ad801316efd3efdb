//! What the `config` commands do, apart from files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::Value;
use drystone_workspace::config::{
    AssignmentError, BatchError, Config, ConfigError, ConfigProblem, Key, Locator, NewValue, Secrets, Type,
    apply_project, check, parse_assignment, parse_json_assignments,
};
use drystone_workspace::project::Project;
use drystone_workspace::stack::StackFile;
use std::path::Path;

const PROJECT: Option<&str> = Some("proj");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stock/shown");

fn locate(text: &str) -> Locator {
    Locator::parse(PROJECT, text, true).unwrap()
}

fn text(text: &str) -> NewValue {
    NewValue::Text(text.to_owned())
}

fn json(config: &Config, at: &str) -> Option<String> {
    config.get(&locate(at)).map(|value| value.to_json())
}

/// The settings of the fixture with the project's values, as `config` shows them.
fn shown_config() -> (Project, Config) {
    let project = Project::load(&Path::new(FIXTURES).join("project.yaml")).unwrap();
    let settings = StackFile::open(&Path::new(FIXTURES).join("settings.yaml"), PROJECT).unwrap().settings;
    let applied = apply_project(&project, &settings.config).unwrap();
    (project, applied)
}

fn printed(config: &Config, secrets: Secrets<'_>) -> serde_json::Value {
    let shown = config.shown(secrets).unwrap();
    shown
        .iter()
        .map(|(key, shown)| (key.to_string(), shown.to_json()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// `masked.json` and `open.json` are what the stock CLI prints for `config --json` without and with `--show-secrets`.
#[test]
fn s14_values_are_shown_as_the_stock_cli_shows_them() {
    let (_, config) = shown_config();
    let recorded = |name: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(Path::new(FIXTURES).join(name)).unwrap()).unwrap()
    };
    assert_eq!(printed(&config, Secrets::Masked), recorded("masked.json"));
    let plaintexts = ["deep \"secret\"".to_owned(), "top secret".to_owned()];
    assert_eq!(printed(&config, Secrets::Open(&plaintexts)), recorded("open.json"));
    assert_eq!(
        config.empty_keys().map(ToString::to_string).collect::<Vec<_>>(),
        ["proj:null1", "proj:null2"]
    );
}

#[test]
fn members_are_printed_in_the_order_of_the_stock_cli() {
    let mut config = Config::default();
    config.set(&locate("o.a"), text("1")).unwrap();
    let shown = config.shown(Secrets::Masked).unwrap();
    let printed = serde_json::to_string(&shown.values().next().unwrap().to_json()).unwrap();
    assert_eq!(printed, r#"{"value":"{\"a\":1}","objectValue":{"a":1},"secret":false}"#);
}

#[test]
fn s17_masked_and_debugged_values_do_not_show_secrets() {
    let (_, config) = shown_config();
    let plaintexts = ["deep \"secret\"".to_owned(), "top secret".to_owned()];
    let key = Key::new("proj", "deep").unwrap();
    assert_eq!(config.shown(Secrets::Masked).unwrap()[&key].text, "{\"list\":[{\"pw\":\"[secret]\"}]}");
    let open = config.shown(Secrets::Open(&plaintexts)).unwrap();
    assert!(!format!("{open:?}{:?}", Secrets::Open(&plaintexts)).contains("secret\\\""));
    assert!(!format!("{open:?}").contains("top secret"));
}

#[test]
fn s18_ciphertexts_are_listed_and_replaced_in_one_batch() {
    let mut config = Config::default();
    for (at, ciphertext) in [("b", "two"), ("a.x", "one"), ("a.y[0]", "two"), ("c", "three")] {
        config.set(&locate(at), NewValue::secure(ciphertext)).unwrap();
    }
    config.set(&locate("a.z"), text("two")).unwrap();
    assert_eq!(config.ciphertexts(), ["one", "two", "three"]);
    let replaced = config.with_ciphertexts(&["1".into(), "2".into(), "3".into()]).unwrap();
    assert_eq!(json(&replaced, "a").unwrap(), r#"{"x":{"secure":"1"},"y":[{"secure":"2"}],"z":"two"}"#);
    assert_eq!(json(&replaced, "b").unwrap(), r#"{"secure":"2"}"#);
    assert_eq!(config.with_ciphertexts(&["1".into()]), Err(BatchError { ciphertexts: 3, answers: 1 }));
}

#[test]
fn whole_values_stay_texts_and_parts_are_taken_for_what_they_look_like() {
    let mut config = Config::default();
    for (given, as_part) in [
        ("true", "true"),
        ("false", "false"),
        ("True", "\"True\""),
        ("42", "42"),
        ("-7", "-7"),
        ("+5", "5"),
        ("0", "0"),
        ("007", "\"007\""),
        ("1.5", "\"1.5\""),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "\"18446744073709551616\""),
        ("null", "\"null\""),
        ("", "\"\""),
    ] {
        config.set(&locate("whole"), text(given)).unwrap();
        config.set(&locate("object.part"), text(given)).unwrap();
        assert_eq!(config.get(&locate("whole")).unwrap().as_str(), Some(given));
        assert_eq!(json(&config, "object.part").unwrap(), as_part, "{given}");
    }
}

#[test]
fn types_are_given_by_name() {
    let typed = |text: &str, of: &str| NewValue::typed(text, of.parse::<Type>().unwrap());
    assert_eq!(typed("5", "int"), Ok(NewValue::Typed(Value::Integer(5))));
    assert_eq!(typed("5", "string"), Ok(NewValue::Typed(Value::String("5".into()))));
    assert_eq!(typed("1e3", "float"), Ok(NewValue::Typed(Value::Float(1000.0))));
    assert_eq!(typed("T", "bool"), Ok(NewValue::Typed(Value::Bool(true))));
    for (text, of) in
        [("x", "int"), ("0x10", "int"), ("1.5", "int"), ("yes", "bool"), ("nan", "float"), ("", "float")]
    {
        assert!(typed(text, of).is_err(), "{text} as {of}");
    }
    assert_eq!(
        "number".parse::<Type>().unwrap_err().to_string(),
        "`number` is not a type; types are string, int, bool and float"
    );
}

#[test]
fn parts_are_made_on_the_way() {
    let mut config = Config::default();
    for (at, value) in
        [("a.b[0].c", "1"), ("a.b[1]", "x"), ("list[2]", "third"), ("list[3]", "fourth"), ("a[\"d.e\"]", "y")]
    {
        config.set(&locate(at), text(value)).unwrap();
    }
    assert_eq!(json(&config, "a").unwrap(), r#"{"b":[{"c":1},"x"],"d.e":"y"}"#);
    assert_eq!(json(&config, "list").unwrap(), r#"[null,null,"third","fourth"]"#);
    config.set(&locate("a"), text("flat")).unwrap();
    config.set(&locate("a.again"), text("1")).unwrap();
    assert_eq!(json(&config, "a").unwrap(), r#"{"again":1}"#);
    assert_eq!(json(&config, "list[0]").unwrap(), "null");
    assert_eq!(json(&config, "list[9]"), None);
    assert_eq!(json(&config, "nope.x"), None);
}

#[test]
fn parts_that_do_not_fit_are_refused_and_nothing_changes() {
    let mut config = Config::default();
    for (at, value) in [("o.a", "1"), ("l[0]", "x"), ("s.x", "1"), ("s.secure", "y")] {
        config.set(&locate(at), text(value)).unwrap();
    }
    let before = config.clone();
    let at = |at: &str| at.to_owned();
    for (path, error) in [
        ("o.a.b", ConfigError::NotAnObject { at: at("o.a") }),
        ("o.a[0]", ConfigError::NotAList { at: at("o.a") }),
        ("o[0]", ConfigError::NotAList { at: at("o") }),
        ("l.x", ConfigError::NotAnObject { at: at("l") }),
        ("l[2]", ConfigError::OutOfRange { at: at("l[2]") }),
        ("fresh[99999999]", ConfigError::OutOfRange { at: at("fresh[99999999]") }),
        ("fresh.secure", ConfigError::LooksLikeSecret { at: at("fresh") }),
    ] {
        assert_eq!(config.set(&locate(path), text("v")), Err(error), "{path}");
    }
    assert_eq!(config.remove(&locate("s.x")), Err(ConfigError::LooksLikeSecret { at: at("s") }));
    assert_eq!(config, before);
    config.set(&locate("fresh.secure"), text("5")).unwrap();
    assert_eq!(json(&config, "fresh").unwrap(), r#"{"secure":5}"#);
}

#[test]
fn removing_shifts_lists_and_forgives() {
    let mut config = Config::default();
    for (at, value) in [("l[0]", "a"), ("l[1]", "b"), ("l[2]", "c"), ("o.x.y", "1")] {
        config.set(&locate(at), text(value)).unwrap();
    }
    for at in ["l[1]", "l[7]", "l.x", "o.x.y", "o.nope.z", "nope", "nope.x", "l[0].x"] {
        config.remove(&locate(at)).unwrap();
    }
    assert_eq!(json(&config, "l").unwrap(), r#"["a","c"]"#);
    assert_eq!(json(&config, "o").unwrap(), r#"{"x":{}}"#);
    config.remove(&locate("o")).unwrap();
    assert_eq!(config.len(), 1);
}

#[test]
fn assignments_are_split_at_the_first_equals_sign_or_behind_the_quotes() {
    for (given, key, value) in [
        ("a=b", "a", "b"),
        ("a=b=c", "a", "b=c"),
        ("a=", "a", ""),
        ("\"q=r\"=t", "q=r", "t"),
        ("'s=t'=u=v", "s=t", "u=v"),
        ("aws:region=us", "region", "us"),
    ] {
        let (locator, text) = parse_assignment(PROJECT, given, false).unwrap();
        assert_eq!((locator.key.name(), text.as_str()), (key, value), "{given}");
    }
    for given in ["a", "", "\"a=b"] {
        assert!(
            matches!(parse_assignment(PROJECT, given, false), Err(AssignmentError::Form { .. })),
            "{given}"
        );
    }
    assert!(matches!(parse_assignment(PROJECT, "a:b:c=1", false), Err(AssignmentError::Key(_))));
}

#[test]
fn what_config_prints_as_json_can_be_set_again() {
    let (_, config) = shown_config();
    let plaintexts = ["deep \"secret\"".to_owned(), "top secret".to_owned()];
    let printed = printed(&config, Secrets::Open(&plaintexts));
    let mut copy = Config::default();
    let mut encrypted = Vec::new();
    for assignment in parse_json_assignments(PROJECT, &printed.to_string()).unwrap() {
        let ciphertext = assignment.secret.then(|| {
            encrypted.push(assignment.text.clone());
            format!("v1:{}", encrypted.len())
        });
        copy.set(&assignment.locator, assignment.value(ciphertext)).unwrap();
    }
    assert_eq!(encrypted, ["{\"list\":[{\"pw\":\"deep \\\"secret\\\"\"}]}", "top secret"]);
    assert_eq!(json(&copy, "obj"), json(&config, "obj"));
    assert_eq!(copy.len(), config.len());
    assert!(matches!(
        parse_json_assignments(PROJECT, r#"{"m":{"secret":true}}"#),
        Err(AssignmentError::NoValue { key }) if key == "m"
    ));
    assert!(matches!(parse_json_assignments(PROJECT, "[]"), Err(AssignmentError::Json(_))));
}

#[test]
fn copying_goes_over_what_is_there() {
    let mut to: Config = [(Key::new("proj", "kept").unwrap(), Value::Bool(true))].into_iter().collect();
    to.set(&locate("both"), text("old")).unwrap();
    let mut from = Config::default();
    from.set(&locate("both"), text("new")).unwrap();
    from.insert(Key::new("proj", "empty").unwrap(), Value::Null);
    to.copy_from(&from);
    assert_eq!(json(&to, "both").unwrap(), "\"new\"");
    assert_eq!(json(&to, "empty").unwrap(), "\"\"");
    assert_eq!(json(&to, "kept").unwrap(), "true");
}

#[test]
fn a_part_is_copied_with_its_secrets_encrypted_anew() {
    let mut from = Config::default();
    from.set(&locate("o.in.pw"), NewValue::secure("theirs")).unwrap();
    from.set(&locate("o.in.text"), NewValue::Typed(Value::String("5".into()))).unwrap();
    from.set(&locate("o.other"), NewValue::secure("not asked for")).unwrap();
    let part = from.part(&locate("o.in")).unwrap();
    assert_eq!(part.ciphertexts(), ["theirs"]);
    let mut to = Config::default();
    to.set(&locate("o.kept"), text("x")).unwrap();
    to.set_part(&locate("o.in"), &part.with_ciphertexts(&["ours".into()]).unwrap()).unwrap();
    assert_eq!(json(&to, "o").unwrap(), r#"{"in":{"pw":{"secure":"ours"},"text":"5"},"kept":"x"}"#);
    assert_eq!(from.part(&locate("o.nope")), None);
}

#[test]
fn a_project_checks_what_its_stacks_have() {
    let (project, config) = shown_config();
    let plaintexts = ["x".to_owned(), "y".to_owned()];
    let missing = ConfigProblem::Missing { key: "needed".into() };
    assert_eq!(check(&project, &config, &plaintexts).unwrap(), std::slice::from_ref(&missing));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Pulumi.yaml");
    std::fs::write(
        &path,
        "name: proj\nconfig:\n  i: {type: integer}\n  b: {type: boolean}\n  s: {type: string, secret: true}\n  \
         l: {type: array, items: {type: array, items: {type: string}}}\n  o: {type: object}\n  untyped: {secret: true}\n",
    )
    .unwrap();
    let project = Project::load(&path).unwrap();
    let mut config = Config::default();
    for (at, value) in [("i", "5"), ("b", "true"), ("o.x", "1"), ("l[0][0]", "x"), ("untyped", "open")] {
        config.set(&locate(at), text(value)).unwrap();
    }
    config.set(&locate("s"), NewValue::secure("ct")).unwrap();
    assert_eq!(check(&project, &config, &["plain".into()]).unwrap(), []);
    for (at, value) in [("i", "five"), ("b", "yes"), ("o", "flat"), ("l[0][0]", "7"), ("s", "open")] {
        config.set(&locate(at), text(value)).unwrap();
    }
    let problems: Vec<String> =
        check(&project, &config, &[]).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "the configuration value `b` must be of type boolean",
            "the configuration value `i` must be of type integer",
            "the configuration value `l` must be of type array<array<string>>",
            "the configuration value `o` must be of type object",
            "the configuration value `s` must be encrypted, because the project declares it a secret",
        ]
    );
}
