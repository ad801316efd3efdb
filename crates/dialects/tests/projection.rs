//! Stacks of other systems as snapshots: what the real tools wrote, in the model's words.
#![allow(clippy::unwrap_used)]

mod fixtures;

use drystone_dialects::cdkd::{StackKey, StackState};
use drystone_dialects::projection::{self, leave_out};
use drystone_dialects::pulumi::properties::holds_open_secret;
use drystone_dialects::unobin;
use drystone_model::{Resource, Snapshot, is_sound, verify};
use fixtures::{fixture, text};
use serde_json::Value as Json;

fn cdkd(folder: &str, stack: &str) -> Snapshot {
    let state = fixture(&format!("cdkd/{folder}/cdkd/{stack}/us-east-1/state.json"));
    StackState::read(&state).unwrap().project(&StackKey::parse(stack, "us-east-1").unwrap())
}

fn record(moment: &str) -> Snapshot {
    let document = text(&format!("unobin/decoded/2026-11-15T18_17_{moment}Z.json"));
    unobin::Snapshot::decode(document.as_bytes()).unwrap().project()
}

fn named<'a>(snapshot: &'a Snapshot, name: &str) -> &'a Resource {
    snapshot.resources.iter().find(|resource| resource.urn.name() == name).unwrap()
}

fn types(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.resources.iter().map(|resource| resource.type_token.as_str()).collect()
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_cdkd_state_is_a_sound_snapshot() {
    for (folder, stack) in [
        ("deployed", "ProducerStack"),
        ("deployed", "ConsumerStack"),
        ("deployed", "ParentStack"),
        ("imported", "ProducerStack"),
        ("failed", "ProducerStack"),
        ("updated", "ProducerStack"),
        ("cloud-control/after-update", "CcStack"),
        ("rolled-back", "ProducerStack"),
        ("migrated", "ProducerStack"),
    ] {
        let snapshot = cdkd(folder, stack);
        let violations = verify(&snapshot);
        assert!(is_sound(&violations), "{folder} {stack}: {violations:?}");
    }
}

#[test]
fn a_cdkd_resource_keeps_its_id_its_needs_and_its_policy() {
    let snapshot = cdkd("deployed", "ProducerStack");
    let queue = named(&snapshot, "Queue4A7E3555");
    assert_eq!(queue.type_token, "aws-native:sqs:Queue");
    assert_eq!(queue.id, "http://127.0.0.1:5555/123456789012/ProducerStack-Queue4A7E3555");
    assert_eq!(json(queue.inputs.text()), serde_json::json!({ "visibilityTimeout": 30 }));
    assert_eq!(
        json(queue.outputs.text())["arn"],
        "arn:aws:sqs:us-east-1:123456789012:ProducerStack-Queue4A7E3555"
    );
    let policy = named(&snapshot, "RoleDefaultPolicy5FFB7DAB");
    assert_eq!(policy.dependencies, [queue.urn.clone(), named(&snapshot, "Role1ABCC5F0").urn.clone()]);
    assert!(named(&snapshot, "Kept118DB03B").retain_on_delete);
    assert!(!queue.retain_on_delete);
    let provider = named(&snapshot, "default");
    assert_eq!(provider.type_token, "pulumi:providers:aws-native");
    assert_eq!(json(provider.inputs.text())["region"], "us-east-1");
    assert_eq!(
        snapshot.resources[0].urn.as_str(),
        "urn:pulumi:us-east-1::ProducerStack::pulumi:pulumi:Stack::ProducerStack-us-east-1"
    );
    assert_eq!(json(snapshot.resources[0].outputs.text())["BucketName"], "producerstack-bucket83908e77");
}

#[test]
fn words_of_the_user_are_not_taken_for_names_of_properties() {
    let snapshot = cdkd("deployed", "ProducerStack");
    let role = json(named(&snapshot, "Role1ABCC5F0").inputs.text());
    assert_eq!(role["assumeRolePolicyDocument"]["Statement"][0]["Effect"], "Allow");
    assert_eq!(role["assumeRolePolicyDocument"]["Version"], "2012-10-17");
    let bucket = json(named(&snapshot, "Bucket83908E77").inputs.text());
    assert_eq!(bucket["versioningConfiguration"]["status"], "Enabled");
}

#[test]
fn what_cloud_control_does_not_know_is_left_out_with_its_needs_handed_on() {
    let mut snapshot = cdkd("deployed", "ParentStack");
    let types_before = types(&snapshot);
    assert!(types_before.contains(&"cdkd:AWS.CloudFormation:Stack"), "{types_before:?}");
    let left_out = leave_out(&mut snapshot, projection::cdkd::PACKAGE);
    let names: Vec<&str> = left_out.iter().map(|resource| resource.urn.name()).collect();
    assert_eq!(names, ["ChildNestedStackChildNestedStackResourceC40294CA"]);
    let topic = named(&snapshot, "ParentTopicEFE305AF").urn.clone();
    assert_eq!(named(&snapshot, "FromChild1190AF91").dependencies, [topic]);
    assert!(types(&snapshot).iter().all(|token| !token.contains("cdkd")));
    assert!(is_sound(&verify(&snapshot)));
}

#[test]
fn every_unobin_record_is_a_sound_snapshot() {
    for moment in ["19.881698628", "19.890611105", "19.919347149", "20.185361998", "36.657708709"] {
        let violations = verify(&record(moment));
        assert!(is_sound(&violations), "{moment}: {violations:?}");
    }
}

#[test]
fn a_unobin_file_is_one_of_the_built_in_providers() {
    let snapshot = record("36.657708709");
    let hello = named(&snapshot, "resource.hello");
    assert_eq!(hello.type_token, "drystone:local:File");
    assert_eq!(hello.id, "/srv/demo/out/hello.txt");
    let expected = serde_json::json!({
        "filename": "/srv/demo/out/hello.txt", "content": "Second message", "filePermission": "0644",
    });
    assert_eq!(json(hello.inputs.text()), expected);
    let action = named(&snapshot, "action.read-back");
    assert_eq!(action.type_token, "unobin:action:std.exec-command");
    assert_eq!(action.dependencies, std::slice::from_ref(&hello.urn));
    let position = |name: &str| snapshot.resources.iter().position(|resource| resource.urn.name() == name);
    assert!(position("resource.hello") < position("action.read-back"));
}

#[test]
fn s17_what_unobin_calls_sensitive_is_a_secret() {
    let snapshot = record("36.657708709");
    let token = named(&snapshot, "resource.token");
    let content = json(token.inputs.text())["content"].clone();
    assert_eq!(content["4dabf18193072939515e22adb298388d"], "1b47061264138c4ac30d75fd1eb44270");
    assert!(holds_open_secret(token.inputs.json().unwrap()));
    let hello = named(&snapshot, "resource.hello");
    assert!(!holds_open_secret(hello.inputs.json().unwrap()));
}

#[test]
fn removing_a_resource_and_its_mentions_has_a_way_back() {
    let key = StackKey::parse("ParentStack", "us-east-1").unwrap();
    let state = StackState::read(&fixture("cdkd/deployed/cdkd/ParentStack/us-east-1/state.json")).unwrap();
    let unchanged = state.with_changes_of(&key, &state.project(&key)).unwrap();
    assert_eq!(unchanged.to_bytes(), state.to_bytes());
    let mut snapshot = state.project(&key);
    leave_out(&mut snapshot, projection::cdkd::PACKAGE);
    let repaired = state.with_changes_of(&key, &snapshot).unwrap();
    let names: Vec<&str> = repaired.resources.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ParentTopicEFE305AF", "FromChild1190AF91"]);
    assert_eq!(repaired.resources.get("FromChild1190AF91").unwrap().needs(), ["ParentTopicEFE305AF"]);
    let topic = |state: &StackState| state.resources.get("ParentTopicEFE305AF").cloned();
    assert_eq!(topic(&repaired), topic(&state));

    let document = text("unobin/decoded/2026-11-15T18_17_36.657708709Z.json");
    let record = unobin::Snapshot::decode(document.as_bytes()).unwrap();
    let mut snapshot = record.project();
    assert_eq!(record.with_changes_of(&snapshot).unwrap().encode().unwrap(), document.as_bytes());
    snapshot.resources.retain(|resource| resource.urn.name() != "action.read-back");
    let without = record.with_changes_of(&snapshot).unwrap();
    assert!(without.find("action.read-back").is_none());
    assert_eq!(without.find("resource.token"), record.find("resource.token"));
}

#[test]
fn s10_what_the_other_system_has_no_place_for_is_refused() {
    let record =
        unobin::Snapshot::decode(text("unobin/decoded/2026-11-15T18_17_36.657708709Z.json").as_bytes());
    let record = record.unwrap();
    let mut changed = record.project();
    let at = changed.resources.iter().position(|resource| resource.urn.name() == "resource.hello").unwrap();
    changed.resources[at].protect = true;
    let error = record.with_changes_of(&changed).unwrap_err();
    assert_eq!(error.urn, changed.resources[at].urn);
    let mut grown = record.project();
    let mut new = grown.resources[at].clone();
    new.urn = new.urn.renamed("resource.other");
    grown.resources.push(new);
    assert_eq!(record.with_changes_of(&grown).unwrap_err().change, "a new resource");
}

#[test]
fn what_a_cdkd_resource_needs_and_nobody_knows_breaks_a_rule() {
    let key = StackKey::parse("ParentStack", "us-east-1").unwrap();
    let document = text("cdkd/deployed/cdkd/ParentStack/us-east-1/state.json");
    let torn = document.replace(r#""ParentTopicEFE305AF": {"#, r#""Renamed": {"#);
    let state = StackState::read(torn.as_bytes()).unwrap();
    let violations = verify(&state.project(&key));
    assert!(!is_sound(&violations));
    assert!(violations.iter().any(|it| it.to_string().contains("ParentTopicEFE305AF")), "{violations:?}");
}
