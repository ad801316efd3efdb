use super::*;
use proptest::{prelude::*, test_runner::RngSeed};

fn path<const N: usize>(segments: [Segment; N]) -> PropertyPath {
    PropertyPath(segments.into())
}

fn key(text: &str) -> Segment {
    Segment::from(text)
}

fn at(index: usize) -> Segment {
    Segment::Index(index)
}

fn sample() -> Value {
    Value::object([
        (
            "root",
            Value::object([
                (
                    "nested",
                    Value::object([(
                        "array",
                        Value::array([Value::object([(
                            "double",
                            Value::array([Value::Null, Value::Bool(true)]),
                        )])]),
                    )]),
                ),
                ("array", Value::array([Value::object([("nested", true)]), Value::Bool(true)])),
                ("key with \"escaped\" quotes", Value::Bool(true)),
                ("key with a .", Value::Bool(true)),
            ]),
        ),
        ("root key with a .", Value::array([Value::Null, Value::Bool(true)])),
    ])
}

#[test]
fn every_form_of_a_path_is_read_and_written() {
    for (text, segments, written) in [
        ("root", vec![key("root")], "root"),
        ("root.nested", vec![key("root"), key("nested")], "root.nested"),
        (r#"root["nested"]"#, vec![key("root"), key("nested")], "root.nested"),
        (
            "root.array[0].nested",
            vec![key("root"), key("array"), at(0), key("nested")],
            "root.array[0].nested",
        ),
        (
            r#"root["key with \"escaped\" quotes"]"#,
            vec![key("root"), key("key with \"escaped\" quotes")],
            r#"root["key with \"escaped\" quotes"]"#,
        ),
        (r#"["root key with a ."][1]"#, vec![key("root key with a ."), at(1)], r#"["root key with a ."][1]"#),
        ("root.array.[1]", vec![key("root"), key("array"), at(1)], "root.array[1]"),
        (r#"root.["key with a ."]"#, vec![key("root"), key("key with a .")], r#"root["key with a ."]"#),
        ("root[*].field", vec![key("root"), key("*"), key("field")], r#"root["*"].field"#),
        ("root.*[3]", vec![key("root"), key("*"), at(3)], r#"root["*"][3]"#),
        ("foo-bar/@: naïve", vec![key("foo-bar/@: naïve")], r#"["foo-bar/@: naïve"]"#),
        ("a..b[0]c", vec![key("a"), key("b"), at(0), key("c")], "a.b[0].c"),
        (r#"a[""]"#, vec![key("a"), key("")], r#"a[""]"#),
        (r"a.b\", vec![key("a"), key(r"b\")], r"a.b\"),
        ("", vec![], ""),
    ] {
        let parsed = PropertyPath::parse(text).unwrap();
        assert_eq!(parsed.0, segments, "{text}");
        assert_eq!(parsed.to_string(), written, "{text}");
    }
}

#[test]
fn errors_say_which_character() {
    for (text, position, problem) in [
        (".a", 1, PathProblem::LeadingDot),
        ("root.", 6, PathProblem::TrailingDot),
        ("root[", 6, PathProblem::OpenBracket),
        ("żó[\"nested]", 12, PathProblem::OpenQuote),
        ("root[\"a\"", 9, PathProblem::OpenBracket),
        ("root[\"a\"x", 9, PathProblem::OpenBracket),
        ("root.array[abc]", 12, PathProblem::BadIndex),
        ("a[]", 3, PathProblem::BadIndex),
        ("a[-1]", 3, PathProblem::BadIndex),
        ("a[99999999999999999999999]", 3, PathProblem::BadIndex),
    ] {
        let error = PropertyPath::parse(text).unwrap_err();
        assert_eq!((error.position, error.problem), (position, problem), "{text}");
    }
    assert_eq!(PropertyPath::parse_strict("a.[1]").unwrap_err().problem, PathProblem::DotBeforeBracket);
    assert_eq!(
        PropertyPath::parse("root.").unwrap_err().to_string(),
        "a name is missing after the dot at character 6 of `root.`"
    );
}

#[test]
fn values_are_found_set_and_deleted() {
    for text in [
        "root",
        "root.nested.array[0].double[1]",
        "root.array[0].nested",
        "root.array[1]",
        r#"root["key with \"escaped\" quotes"]"#,
        r#"["root key with a ."][1]"#,
    ] {
        let path = PropertyPath::parse(text).unwrap();
        let mut value = sample();
        let found = path.get(&value).unwrap().clone();
        assert!(path.delete(&mut value), "{text}");
        assert!(path.get(&value).is_none_or(Value::is_null), "{text}");
        assert!(path.set(&mut value, found.clone()), "{text}");
        assert_eq!(path.get_mut(&mut value), Some(&mut found.clone()), "{text}");
        assert_eq!(value, sample(), "{text}");
        let mut empty = Value::Null;
        assert!(path.add(&mut empty, found.clone()), "{text}");
        assert_eq!(path.get(&empty), Some(&found), "{text}");
    }
    let mut value = sample();
    for text in
        ["root[1]", "root.nested.array[100]", "root.nested.array.bar", "foo.bar", "root.array[0].nested.x"]
    {
        let path = PropertyPath::parse(text).unwrap();
        assert_eq!(path.get(&value), None, "{text}");
        assert!(!path.set(&mut value, Value::Null), "{text}");
        assert!(!path.delete(&mut value), "{text}");
    }
    assert!(
        !PropertyPath::default().set(&mut value, Value::Null) && !PropertyPath::default().delete(&mut value)
    );
    assert_eq!(value, sample());
}

#[test]
fn adding_keeps_what_is_there_and_changes_nothing_on_failure() {
    let mut value = Value::object([("a", Value::array([1i64, 2]))]);
    assert!(PropertyPath::parse("a[3].b").unwrap().add(&mut value, true.into()));
    assert_eq!(
        value,
        Value::object([(
            "a",
            Value::array([1i64.into(), 2i64.into(), Value::Null, Value::object([("b", true)])])
        )])
    );
    let before = value.clone();
    for text in ["a.x", "a[0].y", "n[1].m[99999999999]", "a[99999999999]", ""] {
        assert!(!PropertyPath::parse(text).unwrap().add(&mut value, Value::Null), "{text}");
        assert_eq!(value, before, "{text}");
    }
}

#[test]
fn a_path_contains_what_lies_inside_it() {
    for (outer, inner, contains) in [
        ("root", "root.nested", true),
        ("root.nested", "root", false),
        ("root[1].double", "root[1].double", true),
        ("root.nest1", "root.nest2", false),
        ("", "root", true),
        ("foo[*].baz", "foo.bar.baz.bam", true),
        ("foo[*].baz", "foo[1].baz.bam", true),
        ("*", "a[1].b", true),
        ("foo.bar", "foo[*]", false),
    ] {
        let contained = PropertyPath::parse(outer).unwrap().contains(&PropertyPath::parse(inner).unwrap());
        assert_eq!(contained, contains, "{outer} {inner}");
    }
    assert!(path([key("a"), at(0)]).contains(&path([key("a"), at(0), key("b")])));
}

#[test]
fn paths_are_text_in_json() {
    let parsed: PropertyPath = serde_json::from_str(r#""a[1][\"*\"]""#).unwrap();
    assert_eq!(parsed, path([key("a"), at(1), key("*")]));
    assert_eq!(serde_json::to_string(&parsed).unwrap(), r#""a[1][\"*\"]""#);
    assert!(serde_json::from_str::<PropertyPath>(r#""a[""#).is_err());
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        any::<usize>().prop_map(Segment::Index),
        "[a-zA-Z0-9_]{0,4}".prop_map(Segment::Key),
        any::<String>()
            .prop_filter("the syntax cannot say it", |key| !(key.ends_with('\\') && key.contains(['.', '['])))
            .prop_map(Segment::Key),
        r#"["\\.\[\]* ]{0,3}["\]* ]"#.prop_map(Segment::Key),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(segments in prop::collection::vec(segment(), 0..6)) {
        let path = PropertyPath(segments);
        prop_assert_eq!(PropertyPath::parse_strict(&path.to_string()), Ok(path));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in r#"[a\[\]."\\*0-9ż]{0,12}"#) {
        if let Ok(path) = PropertyPath::parse(&text) {
            let written = path.to_string();
            let representable = path.0.iter().all(|segment| !matches!(segment, Segment::Key(key) if key.ends_with('\\') && key.contains(['.', '['])));
            if representable {
                prop_assert_eq!(PropertyPath::parse(&written), Ok(path));
            }
        }
    }
}
