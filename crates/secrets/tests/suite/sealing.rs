//! One operation's sealer: batches, ciphertexts used again, and secrets inside values.

use crate::codec::Codec;
use crate::fixtures::{Counting, OPENED, environment};
use drystone_model::{Output, Secret, SecretsProvider, Value};
use drystone_secrets::{CACHE_VARIABLE, Crypter, Error, Manager, Plaintext, Reuse, Sealer};
use std::sync::Arc;

fn sealer(crypter: &Arc<Counting>, reuse: Reuse) -> Sealer {
    let crypter: Arc<dyn Crypter> = Arc::clone(crypter) as _;
    Sealer::new(&Manager::new(SecretsProvider::default(), crypter), reuse).unwrap()
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn secret(value: Value) -> Value {
    Value::Secret(Secret::Open(Box::new(value)))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn ciphertext(value: &Value) -> &str {
    match value {
        Value::Secret(Secret::Sealed(ciphertext)) => ciphertext,
        other => panic!("not sealed: {other:?}"),
    }
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    match value {
        Value::Object(members) => &members[name],
        other => panic!("not an object: {other:?}"),
    }
}

#[test]
fn s18_equal_plaintexts_of_one_place_share_a_ciphertext_and_others_do_not() {
    let crypter = Counting::new(1);
    let sealer = sealer(&crypter, Reuse::On);
    let (top, other) = (Plaintext::from("\"top\""), Plaintext::from("\"other\""));

    let first = sealer.seal(&[("a", &top), ("b", &top), ("a", &other), ("a", &top)]).unwrap();
    assert_eq!(crypter.seen(), (1, 3));
    assert_eq!(first[0], first[3]);
    assert_ne!(first[0], first[1]);

    let second = sealer.seal(&[("b", &top), ("a", &other), ("a", &top)]).unwrap();
    assert_eq!(second, [first[1].as_str(), &first[2], &first[0]]);
    assert_eq!(crypter.seen(), (1, 3));
}

#[test]
fn a_place_and_a_plaintext_do_not_run_together() {
    let sealer = sealer(&Counting::new(1), Reuse::On);
    let sealed = sealer.seal(&[("ab", &"c".into()), ("a", &"bc".into())]).unwrap();
    let opened = sealer.open(&[("ab", &sealed[0]), ("a", &sealed[1])]).unwrap();
    assert_eq!(opened, ["c".into(), "bc".into()]);
}

#[test]
fn reuse_can_be_turned_off() {
    let off = |value: &str| Reuse::from_environment(&environment(&[(CACHE_VARIABLE, value)]));
    assert_eq!([off("1"), off("true"), off("TRUE")], [Reuse::Off; 3]);
    assert_eq!([off("0"), off("false"), off("yes"), off("")], [Reuse::On; 4]);
    assert_eq!(Reuse::from_environment(&environment(&[])), Reuse::On);

    let crypter = Counting::new(1);
    let sealer = sealer(&crypter, Reuse::Off);
    let top = Plaintext::from("\"top\"");
    let sealed = sealer.seal(&[("a", &top), ("a", &top)]).unwrap();
    assert_ne!(sealed[0], sealed[1]);
    assert_eq!(crypter.seen(), (1, 2));
}

#[test]
fn all_secrets_of_many_values_are_sealed_and_opened_in_one_batch() {
    let crypter = Counting::new(1);
    let open = [
        object([("password", secret(text("hunter2"))), ("name", text("db"))]),
        Value::Array(vec![secret(Value::Null), object([("deep", secret(Value::Bool(true)))])]),
        secret(object([("whole", text("object"))])),
    ];
    let mut values = open.clone();
    let [a, b, c] = &mut values;
    sealer(&crypter, Reuse::On)
        .seal_values(&Codec, &mut [("a", &mut *a), ("b", &mut *b), ("c", &mut *c)])
        .unwrap();
    assert_eq!(crypter.seen(), (1, 4));
    assert_eq!(member(a, "name"), &text("db"));
    assert_eq!(crypter.decrypt_one(ciphertext(c)).unwrap().as_text().unwrap(), r#"{"whole":"object"}"#);

    sealer(&crypter, Reuse::On)
        .open_values(&Codec, &mut [("a", &mut *a), ("b", &mut *b), ("c", &mut *c)])
        .unwrap();
    assert_eq!(crypter.seen(), (3, 4 + 1 + 4));
    assert_eq!(values, open);
}

#[test]
fn values_without_secrets_do_not_reach_the_crypter() {
    let crypter = Counting::new(1);
    let mut value = object([("name", text("db"))]);
    sealer(&crypter, Reuse::On).seal_values(&Codec, &mut [("a", &mut value)]).unwrap();
    sealer(&crypter, Reuse::On).open_values(&Codec, &mut [("a", &mut value)]).unwrap();
    assert_eq!(crypter.seen(), (0, 0));
}

#[test]
fn s18_an_unchanged_secret_keeps_its_ciphertext_through_an_operation() {
    let crypter = Counting::new(1);
    let mut value = object([("kept", secret(text("same"))), ("changed", secret(text("old")))]);
    sealer(&crypter, Reuse::On).seal_values(&Codec, &mut [("urn", &mut value)]).unwrap();
    let before = value.clone();

    let operation = sealer(&crypter, Reuse::On);
    operation.open_values(&Codec, &mut [("urn", &mut value)]).unwrap();
    if let Value::Object(members) = &mut value {
        members.insert("changed".to_owned(), secret(text("new")));
        members.insert("added".to_owned(), secret(text("same")));
    }
    operation.seal_values(&Codec, &mut [("urn", &mut value)]).unwrap();
    assert_eq!(member(&value, "kept"), member(&before, "kept"));
    assert_ne!(member(&value, "changed"), member(&before, "changed"));
    assert_ne!(ciphertext(member(&value, "added")), ciphertext(member(&before, "kept")));
    assert_eq!(crypter.seen(), (3, 2 + 2 + 2));
}

#[test]
fn s18_another_tools_spelling_does_not_count_as_a_change() {
    let crypter = Counting::new(1);
    let spelled = Plaintext::from(r#"{"a": "\u003cb\u003e"}"#);
    let mut value = Value::Secret(Secret::Sealed(crypter.encrypt_one(&spelled).unwrap()));
    let before = value.clone();
    let operation = sealer(&crypter, Reuse::On);
    operation.open_values(&Codec, &mut [("urn", &mut value)]).unwrap();
    assert_eq!(value, secret(object([("a", text("<b>"))])));
    operation.seal_values(&Codec, &mut [("urn", &mut value)]).unwrap();
    assert_eq!(value, before);
}

#[test]
fn a_secret_inside_a_secret_is_sealed_with_it() {
    let crypter = Counting::new(1);
    let open = secret(object([("outer", Value::Array(vec![secret(object([("deep", Value::Bool(true))]))]))]));
    let mut value = open.clone();
    sealer(&crypter, Reuse::On).seal_values(&Codec, &mut [("a", &mut value)]).unwrap();
    assert_eq!(
        crypter.decrypt_one(ciphertext(&value)).unwrap().as_text().unwrap(),
        r#"{"outer":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"{\"deep\":true}"}]}"#
    );
    sealer(&crypter, Reuse::On).open_values(&Codec, &mut [("a", &mut value)]).unwrap();
    assert_eq!(value, open);
}

#[test]
fn the_real_clis_nested_secret_opens() {
    let sealed = "v1:YluFQuvqpcFtvUrk:lszMsoMTwApTDhUv+I30YeSLq2uP8/pWPrTKp/3puUr9HD8HkpOpnbpaOTX9eFONOzFXZUeEvUPdS9bNmygPoI81s612XkyQ1aFBbrdIkfBFarMxik3D/Eb7RO8yhta+x9Wq4UbTYYicTivSZ47cGpp8cTKTaQNiMojLV2WsE00R57Ul";
    let mut value = Value::Secret(Secret::Sealed(sealed.to_owned()));
    let manager = Manager::new(SecretsProvider::default(), Arc::clone(&OPENED) as _);
    let sealer = Sealer::new(&manager, Reuse::On).unwrap();
    sealer.open_values(&Codec, &mut [("outputs.nested", &mut value)]).unwrap();
    let one = Value::Number(drystone_model::Number::Integer(1));
    let deep = secret(object([("deep", Value::Bool(true))]));
    assert_eq!(value, secret(object([("outer", Value::Array(vec![one, deep]))])));
    sealer.seal_values(&Codec, &mut [("outputs.nested", &mut value)]).unwrap();
    assert_eq!(ciphertext(&value), sealed);
}

#[test]
fn a_ciphertext_inside_an_open_secret_is_refused_and_nothing_changes() {
    let crypter = Counting::new(1);
    let sealed = Value::Secret(Secret::Sealed(crypter.encrypt_one(&"\"deep\"".into()).unwrap()));
    let mistaken = object([("good", secret(text("top"))), ("mistaken", secret(Value::Array(vec![sealed])))]);
    let mut value = mistaken.clone();
    let error = sealer(&crypter, Reuse::On).seal_values(&Codec, &mut [("a", &mut value)]).unwrap_err();
    assert_eq!(error.to_string(), "a.mistaken: the secret's value has no written form");
    assert_eq!(value, mistaken);
}

#[test]
fn s17_a_secret_output_becomes_a_sealed_secret() {
    let crypter = Counting::new(1);
    let output = |value, secret| Value::Output(Box::new(Output { value, secret, ..Output::default() }));
    let mut known = output(Some(text("top")), true);
    let mut unknown = output(None, true);
    let mut around = output(Some(secret(text("inside"))), false);
    let mut twice = output(Some(secret(text("twice"))), true);
    let sealer = sealer(&crypter, Reuse::On);
    sealer
        .seal_values(
            &Codec,
            &mut [
                ("known", &mut known),
                ("unknown", &mut unknown),
                ("around", &mut around),
                ("twice", &mut twice),
            ],
        )
        .unwrap();
    assert_eq!(crypter.decrypt_one(ciphertext(&known)).unwrap().as_text().unwrap(), "\"top\"");
    let unknown = crypter.decrypt_one(ciphertext(&unknown)).unwrap();
    assert_eq!(unknown.as_text().unwrap(), "\"04da6b54-80e4-46f7-96ec-b56ff0331ba9\"");
    for (output, expected) in [(around, "\"inside\""), (twice, "\"twice\"")] {
        let Value::Output(output) = output else { panic!("no longer an output") };
        let sealed = ciphertext(output.value.as_ref().unwrap());
        assert_eq!(crypter.decrypt_one(sealed).unwrap().as_text().unwrap(), expected);
    }
}

#[test]
fn a_secret_that_does_not_open_is_named_and_nothing_changes() {
    let crypter = Counting::new(1);
    let good = Value::Secret(Secret::Sealed(crypter.encrypt_one(&"\"top\"".into()).unwrap()));
    let bad = Value::Secret(Secret::Sealed(Counting::new(2).encrypt_one(&"\"top\"".into()).unwrap()));
    let not_json = Value::Secret(Secret::Sealed(crypter.encrypt_one(&"hunter2".into()).unwrap()));
    for (bad, expected) in [
        (bad, r#"urn.list[1]["odd name"]: the ciphertext was changed or sealed with another key"#),
        (not_json, r#"urn.list[1]["odd name"]: the secret's value has no readable form"#),
    ] {
        let before = object([("list", Value::Array(vec![good.clone(), object([("odd name", bad)])]))]);
        let mut value = before.clone();
        let error = sealer(&crypter, Reuse::On).open_values(&Codec, &mut [("urn", &mut value)]).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!format!("{error:?}").contains("hunter2"));
        assert_eq!(value, before);
    }
}

#[test]
fn s17_a_value_that_cannot_be_written_is_not_quoted() {
    let crypter = Counting::new(1);
    let mut value = object([("bytes", secret(Value::Bytes(b"hunter2".to_vec())))]);
    let error = sealer(&crypter, Reuse::On).seal_values(&Codec, &mut [("urn", &mut value)]).unwrap_err();
    assert!(matches!(error.cause(), Error::Codec(_)));
    assert_eq!(error.to_string(), "urn.bytes: the secret's value has no written form");
}
