//! Stored properties as values, and back.
#![allow(clippy::unwrap_used)]

use drystone_dialects::pulumi::properties::{
    DEPTH_LIMIT, PropertyProblem, SecretForm, decode, decode_plaintext, decode_properties, encode,
    encode_plaintext, encode_properties, holds_open_secret,
};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Json, Number, Output, Properties,
    ResourceReference, Secret, Urn, Value,
};
use proptest::{prelude::*, test_runner::RngSeed};
use std::collections::BTreeMap;

const KEY: &str = "4dabf18193072939515e22adb298388d";

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// An object with a signature.
fn signed(signature: &str, members: &str) -> String {
    format!("{{\"{KEY}\":\"{signature}\"{}{members}}}", if members.is_empty() { "" } else { "," })
}

fn secret(members: &str) -> String {
    signed("1b47061264138c4ac30d75fd1eb44270", members)
}

fn reference(id: &str) -> String {
    signed(
        "5cf8f73096256a8f31e491e813e4eb8e",
        &format!(r#"{id}"packageVersion":"1.0.0","urn":"urn:pulumi:a::b::c:d:E::f""#),
    )
}

fn output(members: &str) -> String {
    signed("d0e6a833031e9bbcd3f4e8bde6ca49a4", members)
}

fn problem(text: &str) -> (String, PropertyProblem) {
    let error = decode(&json(text)).unwrap_err();
    (error.path.to_string(), error.problem)
}

fn resource(id: Option<&str>) -> Value {
    Value::ResourceReference(ResourceReference {
        urn: Urn::new("urn:pulumi:a::b::c:d:E::f"),
        id: id.map(str::to_owned),
        package_version: "1.0.0".to_owned(),
    })
}

#[test]
fn every_kind_of_value_has_its_stored_form() {
    let asset = |source| Value::Asset(Asset { hash: "h".to_owned(), source });
    let archive = |source| Value::Archive(Archive { hash: "h".to_owned(), source });
    let asset_signature = "c44067f5952c0a294b673a41bacd8c17";
    let archive_signature = "0def7320c3a5731c473e5ecbe6d01bc7";
    let text_asset = asset(AssetSource::Text("t".to_owned()));
    let assets = BTreeMap::from([("a".to_owned(), text_asset.clone())]);
    let text_asset_text = signed(asset_signature, r#""hash":"h","text":"t""#);
    for (value, text) in [
        (Value::Null, "null".to_owned()),
        (true.into(), "true".to_owned()),
        (
            Value::from(f64::NAN),
            signed("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", r#""value":"7ff8000000000000""#),
        ),
        (
            f64::NEG_INFINITY.into(),
            signed("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", r#""value":"fff0000000000000""#),
        ),
        ("<a>&\u{2028}\u{0}\"\\/ż".into(), r#""<a>&\u2028\u0000\"\\/ż""#.to_owned()),
        (Value::bytes(vec![0xff, 0]), signed("803fd3297a5875dc03ca845dda5d2a98", r#""value":"/wA=""#)),
        (Value::array([Value::array([1i64]), Value::object::<&str, Value>([])]), "[[1],{}]".to_owned()),
        (Value::object([("b", 1i64), ("a", 2), ("", 3)]), r#"{"":3,"a":2,"b":1}"#.to_owned()),
        (text_asset, text_asset_text.clone()),
        (asset(AssetSource::Path("p".to_owned())), signed(asset_signature, r#""hash":"h","path":"p""#)),
        (asset(AssetSource::Uri("u".to_owned())), signed(asset_signature, r#""hash":"h","uri":"u""#)),
        (asset(AssetSource::Text(String::new())), signed(asset_signature, r#""hash":"h""#)),
        (
            archive(ArchiveSource::Assets(assets)),
            signed(archive_signature, &format!(r#""assets":{{"a":{text_asset_text}}},"hash":"h""#)),
        ),
        (archive(ArchiveSource::default()), signed(archive_signature, r#""assets":{},"hash":"h""#)),
        (archive(ArchiveSource::Path("p".to_owned())), signed(archive_signature, r#""hash":"h","path":"p""#)),
        (archive(ArchiveSource::Uri("u".to_owned())), signed(archive_signature, r#""hash":"h","uri":"u""#)),
        (Value::sealed("v1:abc"), secret(r#""ciphertext":"v1:abc""#)),
        (resource(None), reference("")),
        (resource(Some("i")), reference(r#""id":"i","#)),
        (resource(Some("")), reference(r#""id":"","#)),
        (Value::Computed(Computed::String), r#""04da6b54-80e4-46f7-96ec-b56ff0331ba9""#.to_owned()),
    ] {
        assert_eq!(encode(&value, SecretForm::Sealed).unwrap().text(), text);
        assert_eq!(decode(&json(&text)).unwrap(), value, "{text}");
    }
}

#[test]
fn s10_number_text_is_kept() {
    for text in
        ["9007199254740993", "1.10", "1e400", "-0", "12345678901234567890123456789012345678901234567890"]
    {
        assert_eq!(encode(&decode(&json(text)).unwrap(), SecretForm::Sealed).unwrap().text(), text);
    }
    let injected = Value::Number(Number::Literal("1,\"x\":2".to_owned()));
    assert_eq!(encode(&injected, SecretForm::Sealed).unwrap_err().problem, PropertyProblem::NotANumber);
}

#[test]
fn text_is_unescaped_as_go_does_it() {
    for (text, value) in [
        (r#""\u003c\u00e9\/\b\f\n\r\t\"\\""#, "<é/\u{8}\u{c}\n\r\t\"\\"),
        (r#""\ud83e\udd80""#, "🦀"),
        (r#""\ud83e""#, "\u{fffd}"),
        (r#""\ud83ex\udd80\u0041""#, "\u{fffd}x\u{fffd}A"),
    ] {
        assert_eq!(decode(&json(text)).unwrap(), value.into(), "{text}");
    }
    assert_eq!(decode(&json(" [ 1 , { \"a\\u0062\" : null } ] ")).unwrap(), {
        Value::array([1i64.into(), Value::object([("ab", Value::Null)])])
    });
}

#[test]
fn old_and_foreign_spellings_are_read() {
    for (text, value) in [
        (reference(r#""id":{"V":"i"},"#), resource(Some("i"))),
        (reference(r#""id":{"V":null},"#), resource(None)),
        (reference(r#""id":{"V":{"Element":{"V":""}}},"#), resource(Some(""))),
        (
            signed("5cf8f73096256a8f31e491e813e4eb8e", r#""urn":"u""#),
            Value::ResourceReference(ResourceReference { urn: Urn::new("u"), ..Default::default() }),
        ),
        (signed("803fd3297a5875dc03ca845dda5d2a98", r#""value":"YQ==""#), "a".into()),
        (signed("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", r#""value":"3ff0000000000000""#), 1.0.into()),
        (signed("0def7320c3a5731c473e5ecbe6d01bc7", ""), Value::Archive(Archive::default())),
        (
            r#""1c4a061d-8072-4f0a-a4cb-0ff528b18fe7""#.to_owned(),
            "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7".into(),
        ),
    ] {
        assert_eq!(decode(&json(&text)).unwrap(), value, "{text}");
    }
}

#[test]
fn outputs_are_read_and_stored_as_what_the_state_keeps() {
    let dependencies = vec![Urn::new("u")];
    let known = Output { value: Some(1i64.into()), secret: false, dependencies };
    let text = output(r#""value":1,"dependencies":["u"]"#);
    assert_eq!(decode(&json(&text)).unwrap(), Value::Output(Box::new(known)));
    for (text, stored) in [
        (text, "1".to_owned()),
        (output(""), r#""04da6b54-80e4-46f7-96ec-b56ff0331ba9""#.to_owned()),
        (
            output(&format!(r#""secret":true,"value":{}"#, secret(r#""ciphertext":"c""#))),
            secret(r#""ciphertext":"c""#),
        ),
    ] {
        let value = decode(&json(&text)).unwrap();
        assert_eq!(encode(&value, SecretForm::Sealed).unwrap().text(), stored);
    }
    let secret_output = decode(&json(&output(r#""secret":true,"value":1"#))).unwrap();
    assert_eq!(encode(&secret_output, SecretForm::Sealed).unwrap_err().problem, PropertyProblem::OpenSecret);
    assert_eq!(encode(&secret_output, SecretForm::Plaintext).unwrap().text(), secret(r#""plaintext":"1""#));
}

#[test]
fn s17_an_open_secret_is_not_encoded() {
    let open = Value::object([("a", Value::array([Value::secret("hunter2".into())]))]);
    let error = encode(&open, SecretForm::Sealed).unwrap_err();
    assert_eq!((error.path.to_string().as_str(), &error.problem), ("a[0]", &PropertyProblem::OpenSecret));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let properties = BTreeMap::from([("p".to_owned(), open)]);
    assert_eq!(encode_properties(&properties, SecretForm::Sealed).unwrap_err().path.to_string(), "p.a[0]");
    assert_eq!(
        encode_properties(&properties, SecretForm::Plaintext).unwrap().text(),
        format!(r#"{{"p":{{"a":[{}]}}}}"#, secret(r#""plaintext":"\"hunter2\"""#))
    );
    assert_eq!(
        encode(&Value::sealed("c"), SecretForm::Plaintext).unwrap_err().problem,
        PropertyProblem::SealedSecret
    );
    assert!(encode(&Value::sealed(""), SecretForm::Sealed).is_err());
}

/// The texts are those that the Pulumi CLI sealed in `values.imported.checkpoint.json`.
#[test]
fn the_text_of_a_secret_is_the_one_that_the_cli_seals() {
    let nested = Value::object([("user", "u".into()), ("pass", Value::secret("inner".into()))]);
    for (value, text) in [
        (Value::from("hunter2 <&>"), r#""hunter2 \u003c\u0026\u003e""#.to_owned()),
        (nested.clone(), format!(r#"{{"pass":{},"user":"u"}}"#, secret(r#""ciphertext":"\"inner\"""#))),
        (Value::bytes(vec![0xff]), signed("803fd3297a5875dc03ca845dda5d2a98", r#""value":"/w==""#)),
    ] {
        assert_eq!(encode_plaintext(&value).unwrap(), text);
        assert_eq!(decode_plaintext(&text).unwrap(), value);
    }
    let shown = encode(&Value::secret(nested.clone()), SecretForm::Plaintext).unwrap();
    let text = format!(r#"{{"pass":{},"user":"u"}}"#, secret(r#""plaintext":"\"inner\"""#));
    assert_eq!(shown.text(), secret(&format!("\"plaintext\":{}", serde_json::to_string(&text).unwrap())));
    assert_eq!(decode(&shown).unwrap(), Value::secret(nested));
    assert_eq!(
        encode_plaintext(&Value::array([Value::sealed("c")])).unwrap_err().problem,
        PropertyProblem::SealedSecret
    );
}

#[test]
fn s17_errors_inside_a_secret_tell_nothing_of_it() {
    let inner = serde_json::to_string(&signed("hunter2", "")).unwrap();
    let text = format!(r#"{{"a":{}}}"#, secret(&format!(r#""plaintext":{inner}"#)));
    let error = decode(&json(&text)).unwrap_err();
    assert_eq!((error.path.to_string().as_str(), &error.problem), ("a", &PropertyProblem::SecretText));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    for text in ["", "hunter2", "{", "1 2", "\"a"] {
        assert_eq!(decode_plaintext(text).unwrap_err().problem, PropertyProblem::SecretText, "{text}");
    }
}

#[test]
fn malformed_values_are_refused_with_their_place() {
    for (text, place, message) in [
        (r#"{"a":[{"K":"unheard-of"}]}"#, "a[0]", "unknown signature `unheard-of`"),
        (r#"{"K":1}"#, "", "unknown signature ``"),
        (
            r#"{"s":{"K":"1b47061264138c4ac30d75fd1eb44270"}}"#,
            "s",
            "exactly one of `ciphertext` and `plaintext`",
        ),
        (
            r#"{"K":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"a","plaintext":"1"}"#,
            "",
            "exactly one of `ciphertext` and `plaintext`",
        ),
        (r#"{"K":"1b47061264138c4ac30d75fd1eb44270","ciphertext":""}"#, "", "exactly one of"),
        (r#"{"K":"c44067f5952c0a294b673a41bacd8c17","text":1}"#, "", "malformed asset: `text` is not text"),
        (
            r#"{"K":"0def7320c3a5731c473e5ecbe6d01bc7","assets":{"a":1}}"#,
            "",
            "neither an asset nor an archive",
        ),
        (r#"{"K":"0def7320c3a5731c473e5ecbe6d01bc7","assets":[]}"#, "", "`assets` is not an object"),
        (r#"{"K":"5cf8f73096256a8f31e491e813e4eb8e"}"#, "", "`urn` is missing"),
        (r#"{"K":"5cf8f73096256a8f31e491e813e4eb8e","urn":"u","id":1}"#, "", "`id` is not text"),
        (r#"{"K":"5cf8f73096256a8f31e491e813e4eb8e","urn":"u","id":{"V":1}}"#, "", "`id` is not text"),
        (
            r#"{"K":"5cf8f73096256a8f31e491e813e4eb8e","urn":"u","packageVersion":1}"#,
            "",
            "`packageVersion` is not text",
        ),
        (r#"{"K":"803fd3297a5875dc03ca845dda5d2a98","value":"*"}"#, "", "`value` is not base64"),
        (r#"{"K":"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"xyz"}"#, "", "malformed number"),
        (r#"{"K":"d0e6a833031e9bbcd3f4e8bde6ca49a4","secret":1}"#, "", "malformed output"),
        (r#"{"K":"d0e6a833031e9bbcd3f4e8bde6ca49a4","dependencies":[1]}"#, "", "malformed output"),
    ] {
        let (path, problem) = problem(&text.replace("\"K\"", &format!("\"{KEY}\"")));
        assert_eq!(path, place, "{text}");
        assert!(problem.to_string().contains(message), "{text}: {problem}");
    }
    let error = decode(&json(&format!(r#"{{"a b":{{"{KEY}":"x"}}}}"#))).unwrap_err();
    assert_eq!(error.to_string(), "property `[\"a b\"]`: unknown signature `x`");
    let reserved = Value::array([Value::object([(KEY, 1i64)])]);
    assert_eq!(encode(&reserved, SecretForm::Sealed).unwrap_err().problem, PropertyProblem::ReservedKey);
    let archive = Value::Archive(Archive {
        hash: String::new(),
        source: ArchiveSource::Assets(BTreeMap::from([("a".to_owned(), Value::Null)])),
    });
    assert!(encode(&archive, SecretForm::Sealed).is_err());
}

#[test]
fn the_members_of_a_resource_are_never_a_signature() {
    let text = format!(r#"{{"{KEY}":"x"}}"#);
    let members = decode_properties(&Properties::new(json(&text))).unwrap();
    assert_eq!(members.get(KEY), Some(&"x".into()));
    assert_eq!(encode_properties(&members, SecretForm::Sealed).unwrap().text(), text);
    assert_eq!(decode_properties(&Properties::default()).unwrap(), BTreeMap::new());
    assert!(encode_properties(&BTreeMap::new(), SecretForm::Sealed).unwrap().json().is_none());
    assert_eq!(
        decode_properties(&Properties::new(json("[1]"))).unwrap_err().problem,
        PropertyProblem::NotAnObject
    );
}

#[test]
fn hostile_depth_is_refused_and_does_not_overflow_the_stack() {
    let nested = |levels: usize| json(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    let deepest = decode(&nested(DEPTH_LIMIT)).unwrap();
    assert_eq!(encode(&deepest, SecretForm::Sealed).unwrap().text(), nested(DEPTH_LIMIT).text());
    let deeper = Value::array([deepest]);
    assert_eq!(encode(&deeper, SecretForm::Sealed).unwrap_err().problem, PropertyProblem::TooDeep);
    let error = decode(&nested(DEPTH_LIMIT + 1)).unwrap_err();
    assert_eq!(error.problem, PropertyProblem::TooDeep);
    assert_eq!(decode(&nested(1_000_000)).unwrap_err().problem, PropertyProblem::TooDeep);
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert_eq!(decode(&json(&objects)).unwrap_err().problem, PropertyProblem::TooDeep);
    let in_secret = serde_json::to_string(nested(DEPTH_LIMIT).text()).unwrap();
    assert_eq!(problem(&secret(&format!("\"plaintext\":{in_secret}"))).1, PropertyProblem::TooDeep);
}

#[test]
fn open_secrets_are_found_in_stored_text() {
    assert!(holds_open_secret(&json(&format!("[{}]", secret(r#""plaintext":"1""#)))));
    assert!(holds_open_secret(&json(&format!("[{},{{\"{KEY}\":\"new\"}}]", secret(r#""plaintext":"1""#)))));
    assert!(!holds_open_secret(&json(&format!("[{},{{\"plaintext\":1}}]", secret(r#""ciphertext":"1""#)))));
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i128>().prop_map(|integer| Value::Number(Number::Integer(integer))),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|bits| Value::from(f64::from_bits(bits))),
        "-?(0|[1-9][0-9]{0,45})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,5})?"
            .prop_map(|text| Value::Number(Number::parse(&text).unwrap())),
    ]
}

fn file_like() -> impl Strategy<Value = Value> {
    let asset = (
        any::<String>(),
        prop_oneof![
            any::<String>().prop_map(AssetSource::Text),
            ".+".prop_map(AssetSource::Path),
            ".+".prop_map(AssetSource::Uri),
        ],
    )
        .prop_map(|(hash, source)| Value::Asset(Asset { hash, source }));
    asset.prop_recursive(3, 12, 3, |inner| {
        (
            any::<String>(),
            prop_oneof![
                prop::collection::btree_map(any::<String>(), inner, 0..3).prop_map(ArchiveSource::Assets),
                ".+".prop_map(ArchiveSource::Path),
                ".+".prop_map(ArchiveSource::Uri),
            ],
        )
            .prop_map(|(hash, source)| Value::Archive(Archive { hash, source }))
    })
}

/// Values in the one spelling that the state has for them.
fn value(with_secrets: fn(BoxedStrategy<Value>) -> BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        any::<String>().prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Value::bytes),
        file_like(),
        Just(Value::Computed(Computed::String)),
        (any::<String>(), any::<Option<String>>(), any::<String>()).prop_map(|(urn, id, package_version)| {
            Value::ResourceReference(ResourceReference { urn: Urn::new(urn), id, package_version })
        }),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner.clone(), 0..4).prop_map(Value::Object),
            with_secrets(inner.boxed()),
        ]
    })
}

fn sealed() -> impl Strategy<Value = Value> {
    value(|_| ".+".prop_map(Value::sealed).boxed())
}

fn open() -> impl Strategy<Value = Value> {
    value(|inner| inner.prop_map(|value| Value::Secret(Secret::Open(Box::new(value)))).boxed())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s10_what_is_encoded_is_decoded(value in sealed()) {
        let stored = encode(&value, SecretForm::Sealed).unwrap();
        prop_assert_eq!(&decode(&stored).unwrap(), &value);
        let again = encode(&decode(&stored).unwrap(), SecretForm::Sealed).unwrap();
        prop_assert_eq!(again.text(), stored.text());
    }

    #[test]
    fn s10_the_text_of_a_secret_is_decoded(value in open()) {
        prop_assert_eq!(&decode_plaintext(&encode_plaintext(&value).unwrap()).unwrap(), &value);
        let shown = encode(&value, SecretForm::Plaintext).unwrap();
        prop_assert_eq!(&decode(&shown).unwrap(), &value);
        prop_assert_eq!(holds_open_secret(&shown), value.contains_secrets());
        prop_assert_eq!(encode(&value, SecretForm::Sealed).is_err(), value.contains_secrets());
    }

    #[test]
    fn text_is_escaped_as_serde_reads_it(text in any::<String>()) {
        let stored = encode(&Value::from(text.as_str()), SecretForm::Sealed).unwrap();
        prop_assert_eq!(stored.decode::<String>().unwrap(), text.clone());
        let sealed = encode_plaintext(&Value::from(text.as_str())).unwrap();
        prop_assert!(!sealed.contains(['<', '>', '&']));
        prop_assert_eq!(serde_json::from_str::<String>(&sealed).unwrap(), text);
    }
}
