//! Secrets in stored JSON: only they change.

use crate::codec::{SECRET, SIGNATURE};
use crate::fixtures::{Counting, EXPORT, OPENED, seeded};
use drystone_secrets::{Crypter, Error, Locked, Nop, SymmetricCrypter, stored};
use proptest::prelude::*;
use serde_json::{Value as Tree, json};

/// The text with every sealed secret replaced by a mark: what must not change.
fn around(text: &str) -> String {
    let mut around = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("v1:") {
        around.push_str(before);
        around.push('*');
        rest = &after[after.find('"').unwrap()..];
    }
    around + rest
}

#[test]
fn s10_resealing_changes_nothing_but_ciphertexts() {
    let to = Counting::new(2);
    let resealed = stored::reseal(&[EXPORT], OPENED.as_ref(), to.as_ref()).unwrap().remove(0).unwrap();
    assert_eq!(to.seen(), (1, 7));
    assert_ne!(resealed, EXPORT);
    assert_eq!(around(&resealed), around(EXPORT));
    assert_eq!(
        stored::reveal(&[&resealed], to.as_ref()).unwrap(),
        stored::reveal(&[EXPORT], OPENED.as_ref()).unwrap()
    );
}

#[test]
fn many_texts_are_one_batch_and_those_without_secrets_stay() {
    let (from, to) = (Counting::new(1), Counting::new(2));
    let sealed = from.encrypt_one(&"\"top\"".into()).unwrap();
    let one = format!(
        r#" {{"n": 12345678901234567890.10,"s" : {{"{SIGNATURE}":"{SECRET}","ciphertext" :"{sealed}"}}}}"#
    );
    let two = format!(r#"[{one},{one}]"#);
    let texts = [one.as_str(), r#"{"ciphertext":"v1:a:b"}"#, "null", &two];
    let resealed = stored::reseal(&texts, from.as_ref(), to.as_ref()).unwrap();
    assert_eq!((from.seen(), to.seen()), ((2, 4), (1, 3)));
    assert_eq!(resealed[1..3], [None, None]);
    for (before, after) in [(&one, &resealed[0]), (&two, &resealed[3])] {
        let after = after.as_deref().unwrap();
        assert_eq!(around(before), around(after));
        assert!(!after.contains(&sealed));
    }
}

#[test]
fn s17_a_secret_in_clear_is_sealed_on_the_way() {
    let to = Counting::new(2);
    let clear = json!({"a": {SIGNATURE: SECRET, "plaintext": "\"top\""}}).to_string();
    let sealed =
        stored::reseal(&[&clear], &Locked(Error::NoProvider), to.as_ref()).unwrap().remove(0).unwrap();
    assert!(!sealed.contains("top") && !sealed.contains("plaintext"));
    assert_eq!(stored::reveal(&[&sealed], to.as_ref()).unwrap(), [Some(clear)]);
}

#[test]
fn concealing_leaves_sealed_secrets_alone() {
    let to = Counting::new(2);
    let sealed = json!({SIGNATURE: SECRET, "ciphertext": "v1:someone:else"}).to_string();
    assert_eq!(stored::conceal(&[&sealed], to.as_ref()).unwrap(), [None]);
    assert!(stored::holds_secrets(&sealed).unwrap());
    assert!(!stored::holds_secrets(r#"{"plaintext":"a"}"#).unwrap());
}

#[test]
fn nested_secrets_follow_the_form_of_the_outer_one() {
    let nested = |form: &str| json!({"in": {SIGNATURE: SECRET, form: "{\"deep\":true}"}}).to_string();
    let clear = json!([{SIGNATURE: SECRET, "plaintext": nested("plaintext")}]).to_string();
    let crypter = Counting::new(1);
    let sealed = stored::conceal(&[&clear], crypter.as_ref()).unwrap().remove(0).unwrap();
    let tree: Tree = serde_json::from_str(&sealed).unwrap();
    let opened = crypter.decrypt_one(tree[0]["ciphertext"].as_str().unwrap()).unwrap();
    assert_eq!(opened.as_text().unwrap(), nested("ciphertext"));
    assert_eq!(stored::reveal(&[&sealed], crypter.as_ref()).unwrap(), [Some(clear)]);
}

#[test]
fn a_signature_written_with_escapes_is_found() {
    let escaped = format!(r#"{{"4\u0064{}":"{SECRET}","plaintext":"1"}}"#, &SIGNATURE[2..]);
    assert!(stored::holds_secrets(&escaped).unwrap());
    assert!(!stored::holds_secrets(r#"{"\ud800":"\u0034"}"#).unwrap());
}

#[test]
fn malformed_secrets_are_named_by_their_path() {
    let cases = [
        json!({}),
        json!({"ciphertext": ""}),
        json!({"ciphertext": 1}),
        json!({"ciphertext": "a", "plaintext": "b"}),
        json!({"ciphertext": {"plaintext": "b"}}),
    ];
    for mut case in cases {
        case[SIGNATURE] = json!(SECRET);
        let text = json!({"list": [0, {"odd name": case}]}).to_string();
        let error = stored::reveal(&[&text], &Nop).unwrap_err();
        assert!(matches!(error.cause(), Error::MalformedSecret), "{text}");
        assert!(error.to_string().starts_with(r#".list[1]["odd name"]: malformed secret value"#), "{error}");
    }
    let twice = format!(r#"{{"{SIGNATURE}":"{SECRET}","plaintext":"1","plaintext":"2"}}"#);
    assert!(matches!(stored::conceal(&[&twice], &Nop), Err(Error::MalformedSecret)));
}

#[test]
fn a_plaintext_that_is_not_json_is_refused_unquoted() {
    let text = json!({"a": {SIGNATURE: SECRET, "plaintext": "hunter2"}}).to_string();
    let error = stored::conceal(&[&text], Counting::new(1).as_ref()).unwrap_err();
    assert_eq!(error.to_string(), ".a: the secret's value has no readable form");
}

#[test]
fn a_ciphertext_that_does_not_open_is_named_by_its_path() {
    let error = stored::reseal(&[EXPORT], Counting::new(1).as_ref(), &Nop).unwrap_err();
    assert_eq!(
        error.to_string(),
        ".deployment.resources[0].inputs.seed: the ciphertext was changed or sealed with another key"
    );
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let depth = 200_000;
    let text = format!("{}\"{SIGNATURE}\"{}", "[".repeat(depth), "]".repeat(depth));
    assert!(!stored::holds_secrets(&text).unwrap());
}

/// JSON with sealed secrets in it.
fn documents() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<i64>().prop_map(|it| json!(it)),
        "\\PC{0,8}".prop_map(|it| json!(it)),
        "\\PC{0,8}".prop_map(|it| json!({SIGNATURE: SECRET, "plaintext": json!(it).to_string()})),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let names = prop_oneof![
            "[a-z]{1,3}",
            "\\PC{0,4}",
            Just("plaintext".to_owned()),
            Just("ciphertext".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            proptest::collection::vec((names, inner), 0..5).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn documents_survive_sealing_resealing_and_revealing(document in documents(), wide in any::<bool>()) {
        let (a, b) = (SymmetricCrypter::new(&[1; 32]), SymmetricCrypter::new(&[2; 32]));
        let text = if wide { serde_json::to_string_pretty(&document).unwrap() } else { document.to_string() };
        let step = |text: &str, outcome: Result<Vec<Option<String>>, Error>| {
            outcome.unwrap().remove(0).unwrap_or_else(|| text.to_owned())
        };
        let sealed = step(&text, stored::conceal(&[&text], &a));
        let resealed = step(&sealed, stored::reseal(&[&sealed], &a, &b));
        let revealed = step(&resealed, stored::reveal(&[&resealed], &b));
        prop_assert_eq!(&revealed, &text);
        if stored::holds_secrets(&text).unwrap() {
            prop_assert!(sealed != text && resealed != sealed);
            prop_assert!(stored::reveal(&[&resealed], &a).is_err());
        }
    }

    #[test]
    fn no_text_makes_the_scan_panic(text in r#"([\[\]{}:,"\\ ]|4dabf18193072939515e22adb298388d|\\u|ciphertext|\PC){0,40}"#) {
        let _ = stored::reveal(&[&text], &Nop);
    }
}
