use super::*;
use serde_json::json;

fn snapshot(resources: &serde_json::Value) -> Snapshot {
    let value = json!({ "manifest": { "time": "", "magic": "", "version": "" }, "resources": resources, "metadata": {} });
    serde_json::from_value(value).unwrap()
}

fn pet(name: &str, inputs: &serde_json::Value) -> serde_json::Value {
    json!({ "urn": format!("urn:pulumi:dev::shop::random:index:Pet::{name}"), "custom": true, "id": name,
            "type": "random:index:Pet", "inputs": inputs })
}

fn secret(ciphertext: &str) -> serde_json::Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": ciphertext })
}

fn diff(before: &serde_json::Value, after: &serde_json::Value) -> SnapshotDiff {
    SnapshotDiff::new(&snapshot(before), &snapshot(after), Secrets::Masked)
}

#[test]
fn what_came_went_and_changed_is_told_with_its_values() {
    let found = diff(
        &json!([pet("a", &json!({ "length": 2, "tags": ["x", "y"] })), pet("b", &json!({}))]),
        &json!([pet("a", &json!({ "length": 3, "tags": ["w", "x", "y"] })), pet("c", &json!({}))]),
    );
    insta::assert_snapshot!(found.render(), @r#"
    ~ random:index:Pet a
        inputs.length: 2 → 3
        inputs.tags[0]: "w" added
    - random:index:Pet b  b
    + random:index:Pet c  c
    "#);
    assert_eq!(found.summary(), "1 added, 1 removed, 1 changed");
}

#[test]
fn equal_snapshots_have_no_differences() {
    let same = json!([pet("a", &json!({ "n": 1 })), pet("b", &json!({}))]);
    let found = diff(&same, &same);
    assert!(found.is_empty());
    assert_eq!(found.summary(), "no differences");
}

#[test]
fn s17_secrets_are_masked_at_any_depth() {
    let found = diff(
        &json!([pet(
            "a",
            &json!({ "p": secret("v1:one"), "same": secret("v1:two"), "gone": { "deep": [secret("v1:three")] } })
        )]),
        &json!([pet("a", &json!({ "p": secret("v1:four"), "same": secret("v1:two") }))]),
    );
    let json = serde_json::to_string(&found).unwrap();
    assert!(!json.contains("v1:"), "{json}");
    insta::assert_snapshot!(found.render(), @r#"
    ~ random:index:Pet a
        inputs.gone: {"deep":["[secret]"]} removed
        inputs.p: "[secret]" → "[secret]"  (sealed anew, or changed)
    "#);
}

#[test]
fn s17_secrets_in_clear_are_shown_only_when_asked() {
    let open = |text: &str| json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": text });
    let before = snapshot(&json!([pet("a", &json!({ "p": open("\"old\"") }))]));
    let after = snapshot(&json!([pet("a", &json!({ "p": open("\"new\"") }))]));
    assert!(
        SnapshotDiff::new(&before, &after, Secrets::Shown).render().contains(r#"inputs.p: "old" → "new""#)
    );
    assert!(!SnapshotDiff::new(&before, &after, Secrets::Masked).render().contains("old"));
}

#[test]
fn s10_numbers_differ_by_every_digit_and_not_by_their_spelling() {
    let with = |number: &str| -> Snapshot {
        let text = snapshot(&json!([pet("a", &json!({ "n": 7777 }))]));
        let text = serde_json::to_string(&text).unwrap().replace("7777", number);
        serde_json::from_str(&text).unwrap()
    };
    let compare = |a, b| SnapshotDiff::new(&with(a), &with(b), Secrets::Masked);
    assert_eq!(compare("123456789012345678901", "123456789012345678902").resources.len(), 1);
    assert!(compare("1.0", "1").is_empty());
}

#[test]
fn only_what_really_moved_is_moved() {
    let pets = |names: &[&str]| json!(names.iter().map(|name| pet(name, &json!({}))).collect::<Vec<_>>());
    let found = diff(&pets(&["a", "b", "c", "d"]), &pets(&["d", "a", "b", "c"]));
    insta::assert_snapshot!(found.render(), @"> random:index:Pet d  moved from #3 to #0");
}

#[test]
fn resources_with_one_urn_are_told_apart_by_mark_and_id() {
    let marked = |id: &str, delete: bool| {
        let mut pet = pet("a", &json!({}));
        pet["id"] = json!(id);
        pet["delete"] = json!(delete);
        pet
    };
    let found = diff(
        &json!([marked("1", true), marked("2", true), marked("3", false)]),
        &json!([marked("2", true), marked("3", false)]),
    );
    insta::assert_snapshot!(found.render(), @"- random:index:Pet a  (to be deleted)  1");
}

#[test]
fn big_values_are_folded_for_people_and_whole_in_json() {
    let long = "x".repeat(500);
    let found = diff(
        &json!([pet("a", &json!({ "text": "short", "map": {} }))]),
        &json!([pet("a", &json!({ "text": long, "map": { "long": long } }))]),
    );
    let text = found.render();
    assert!(text.lines().all(|line| line.len() < 140), "{text}");
    assert!(text.contains("(502 bytes)"), "{text}");
    assert!(serde_json::to_string(&found).unwrap().contains(&long));
}

#[test]
fn pending_operations_and_the_secrets_provider_are_compared() {
    let mut before = snapshot(&json!([]));
    let mut after = before.clone();
    let operation: drystone_model::Operation =
        serde_json::from_value(json!({ "resource": pet("a", &json!({})), "type": "creating" })).unwrap();
    before.pending_operations.push(operation);
    after.secrets_provider =
        Some(drystone_model::SecretsProvider { kind: "passphrase".into(), ..Default::default() });
    let found = SnapshotDiff::new(&before, &after, Secrets::Masked);
    insta::assert_snapshot!(found.render(), @r#"
      secrets_providers: {"type":"passphrase"} added
      pending_operations: "creating urn:pulumi:dev::shop::random:index:Pet::a" removed
    "#);
    assert_eq!(found.summary(), "no resource differs");
}
