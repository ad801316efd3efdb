use super::*;
use crate::Urn;
use proptest::{prelude::*, test_runner::RngSeed};
use std::collections::BTreeMap;

fn secret_output(value: Option<Value>) -> Value {
    Value::Output(Box::new(Output { value, secret: true, dependencies: vec![Urn::new("urn:x")] }))
}

/// A secret in every place that can hold one.
fn full_of_secrets() -> Value {
    let archive = Archive {
        hash: String::new(),
        source: ArchiveSource::Assets(BTreeMap::from([(
            "member".to_owned(),
            Value::secret("in archive".into()),
        )])),
    };
    Value::object([
        ("list", Value::array([Value::secret("in list".into()), 1i64.into()])),
        ("sealed", Value::sealed("ciphertext")),
        ("nested", Value::secret(Value::object([("inner", Value::secret("deep".into()))]))),
        ("archive", Value::Archive(archive)),
        ("output", secret_output(Some("in output".into()))),
    ])
}

#[test]
fn s17_masks_and_debug_text_hold_no_secret() {
    let value = full_of_secrets();
    let shown = format!("{value:?} {:?}", value.masked());
    for word in ["in list", "deep", "in archive", "in output", "ciphertext"] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
    let masked = value.masked();
    assert!(!masked.contains_secrets());
    assert_eq!(masked.get("nested"), Some(&MASK.into()));
    assert_eq!(masked.get("list"), Some(&Value::array([MASK.into(), Value::from(1i64)])));
}

#[test]
fn the_outermost_secrets_are_had_in_one_batch() {
    let mut value = full_of_secrets();
    value.lower_outputs();
    let mut secrets = value.secrets_mut();
    assert_eq!(secrets.len(), 5);
    for secret in &mut secrets {
        **secret = Secret::Sealed("sealed".to_owned());
    }
    assert_eq!(value.get("nested"), Some(&Value::sealed("sealed")));
    assert_eq!(value.get("output"), Some(&Value::sealed("sealed")));
    assert!(value.contains_secrets());
}

#[test]
fn outputs_are_lowered_to_what_the_state_keeps() {
    let known = |value: Value| Value::Output(Box::new(Output { value: Some(value), ..Output::default() }));
    for (output, lowered) in [
        (known(1i64.into()), Value::from(1i64)),
        (known(known("a".into())), "a".into()),
        (Value::Output(Box::default()), Value::Computed(Computed::String)),
        (secret_output(None), Value::secret(Value::Computed(Computed::String))),
        (secret_output(Some(known("a".into()))), Value::secret("a".into())),
        (Value::secret(known("a".into())), Value::secret("a".into())),
    ] {
        let mut value = Value::array([output]);
        value.lower_outputs();
        assert_eq!(value, Value::array([lowered]));
    }
}

#[test]
fn revealing_opens_what_is_open() {
    let revealed = full_of_secrets().revealed();
    assert_eq!(revealed.get("nested").and_then(|nested| nested.get("inner")), Some(&"deep".into()));
    assert_eq!(revealed.get("output"), Some(&"in output".into()));
    assert_eq!(revealed.get("sealed"), Some(&Value::sealed("ciphertext")));
}

#[test]
fn what_a_value_contains_is_found_at_any_depth() {
    let wrapped = |value: Value| Value::array([Value::object([("a", Value::secret(Value::array([value])))])]);
    assert!(!wrapped(Value::Null).contains_unknowns() && !wrapped(Value::Null).needs_byte_string());
    assert!(wrapped(Value::Null).contains_secrets() && !Value::array([1i64]).contains_secrets());
    assert!(wrapped(Value::Computed(Computed::Bool)).contains_unknowns());
    assert!(wrapped(Value::Output(Box::default())).contains_unknowns());
    assert!(wrapped(Value::bytes(vec![0xff])).needs_byte_string());
    assert_eq!(Value::bytes(b"text".to_vec()), "text".into());
    assert!(secret_output(None).contains_secrets());
}

#[test]
fn sentinels_name_their_kind() {
    for kind in [
        Computed::Bool,
        Computed::Number,
        Computed::String,
        Computed::Array,
        Computed::Asset,
        Computed::Archive,
        Computed::Object,
    ] {
        assert_eq!(Computed::from_sentinel(kind.sentinel()), Some(kind));
    }
    assert_eq!(Computed::from_sentinel("other"), None);
}

#[test]
fn s10_numbers_are_written_as_they_were_read() {
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "1.10",
        "0.5",
        "1e400",
        "-1E5",
        "1e+21",
        "1e21",
        "1e-7",
        "1e-07",
        "0.000001",
        "9007199254740993",
        "18446744073709551616",
        "170141183460469231731687303715884105727",
        "170141183460469231731687303715884105728",
        "100000000000000000000",
        "3.141592653589793",
        "5e-324",
        "1.7976931348623157e+308",
        "0.1000000000000000055511151231257827",
    ] {
        assert_eq!(Number::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Number::parse("9007199254740993"), Some(Number::Integer(9_007_199_254_740_993)));
    assert_eq!(Number::parse("1e+21"), Some(Number::Float(1e21)));
    assert_eq!(Number::parse("1.0"), Some(Number::Literal("1.0".to_owned())));
    for text in
        ["", "-", "01", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "inf", "1_0", " 1", "1e1.5", "--1"]
    {
        assert_eq!(Number::parse(text), None, "{text}");
    }
}

#[test]
fn numbers_that_mean_the_same_are_the_same() {
    let number = |text: &str| Number::parse(text).unwrap();
    for (a, b) in [
        ("1", "1.0"),
        ("1", "10e-1"),
        ("0", "-0"),
        ("0.0e5", "0"),
        ("1e21", "1000000000000000000000"),
        ("0.10", "0.1"),
        ("-2.50", "-25e-1"),
    ] {
        assert!(number(a).same_as(&number(b)) && number(b).same_as(&number(a)), "{a} {b}");
    }
    for (a, b) in
        [("1", "-1"), ("1", "2"), ("9007199254740993", "9007199254740992.0"), ("1", "10"), ("0", "1e-400")]
    {
        assert!(!number(a).same_as(&number(b)), "{a} {b}");
    }
    let nan = Number::Float(f64::NAN);
    assert!(nan.same_as(&nan.clone()) && nan == nan.clone() && !nan.same_as(&number("1")));
    assert!(!Number::Float(f64::INFINITY).same_as(&Number::Float(f64::NEG_INFINITY)));
    assert!(
        Value::array([Value::object([("a", 1i64)])])
            .same_as(&Value::array([Value::object([("a", number("1.0"))])]))
    );
    assert_ne!(Value::Number(number("1")), Value::Number(number("1.0")));
}

#[test]
fn whole_numbers_are_had_from_any_spelling() {
    for (text, integer) in [
        ("2", Some(2)),
        ("2.0", Some(2)),
        ("20e-1", Some(2)),
        ("-3e2", Some(-300)),
        ("0.0", Some(0)),
        ("2.5", None),
        ("1e400", None),
        ("9223372036854775808", None),
        ("1e999999999999999999999", None),
    ] {
        assert_eq!(Number::parse(text).unwrap().as_i64(), integer, "{text}");
    }
    assert_eq!(Number::Float(f64::NAN).as_i64(), None);
    assert!((Number::parse("1.10").unwrap().as_f64() - 1.1).abs() < f64::EPSILON);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s10_every_float_is_read_back(bits in any::<u64>()) {
        let float = f64::from_bits(bits);
        prop_assume!(float.is_finite());
        let number = Number::from(float);
        let text = number.to_string();
        prop_assert_eq!(Number::parse(&text), Some(number));
        prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
    }

    #[test]
    fn s10_every_number_text_is_read_back(text in "-?(0|[1-9][0-9]{0,45})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,25})?") {
        let number = Number::parse(&text).unwrap();
        prop_assert_eq!(number.to_string(), text);
        prop_assert!(number.same_as(&number.clone()));
    }
}
