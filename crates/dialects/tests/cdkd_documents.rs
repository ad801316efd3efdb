//! cdkd's documents: written by the real tool, read and written back here.
#![allow(clippy::unwrap_used)]

mod fixtures;

use drystone_dialects::cdkd::{
    AssetStorage, Event, EventType, ExportIndex, Key, Layout, Lock, Members, OutputRead, Parent, Policy,
    Provisioner, ReadError, Reason, Resource, RollbackJournal, Rule, RunCommand, RunId, RunIndex, RunResult,
    RunSummary, StackKey, StackState, read_events, versions, write_events,
};
use drystone_model::Json;
use fixtures::{fixture, text};
use std::path::{Path, PathBuf};

const PRODUCER: &str = "cdkd/deployed/cdkd/ProducerStack/us-east-1/state.json";
const NESTED: &str = "ParentStack~ChildNestedStackChildNestedStackResourceC40294CA";

fn key(stack: &str) -> StackKey {
    StackKey::parse(stack, "us-east-1").unwrap()
}

fn state(name: &str) -> StackState {
    StackState::read(&fixture(name)).unwrap()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Every file of the tool: the key that it stands at, and its bytes.
fn documents() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cdkd");
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    let documents = found.iter().filter(|path| !path.ends_with("README.md")).map(|path| {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    });
    documents.collect()
}

/// The key of a fixture, without the folder and the number of its version.
fn key_of(name: &str) -> &str {
    let key = &name[name.find("/cdkd").unwrap() + 1..];
    key.split(".write").next().unwrap()
}

#[test]
fn s15_every_document_of_the_tool_is_written_back_byte_for_byte() {
    let mut kinds = [0; 7];
    for (name, bytes) in documents() {
        let (kind, written) = match Layout::default().parse(key_of(&name)) {
            Some(Key::State(key)) => (0, StackState::read(&bytes).unwrap().write(&key)),
            Some(Key::LegacyState(_)) => (1, StackState::read(&bytes).unwrap().to_bytes()),
            Some(Key::Lock(_)) => (2, Lock::read(&bytes).unwrap().unwrap().write()),
            Some(Key::Exports(_)) => (3, ExportIndex::read(&bytes).unwrap().write()),
            Some(Key::RunIndex(_)) => (4, RunIndex::read(&bytes).unwrap().write()),
            Some(Key::Events(..)) => (5, write_events(&read_events(&bytes).unwrap())),
            Some(Key::RollbackJournal(_)) => (6, RollbackJournal::read(&bytes).unwrap().write()),
            Some(other) => panic!("{name}: {other:?}"),
            None if name.contains("cdkd-bootstrap") => (6, AssetStorage::read(&bytes).unwrap().write()),
            None => panic!("{name} is not the tool's"),
        };
        kinds[kind] += 1;
        assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8(bytes).unwrap(), "{name}");
    }
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
}

#[test]
fn a_state_tells_of_its_resources() {
    let producer = state(PRODUCER);
    assert_eq!(producer.version, versions::NEWEST);
    assert_eq!(producer.resources.len(), 7);
    assert!(producer.check(&key("ProducerStack")).is_empty());
    let (_, topic) = producer.resources.iter().next().unwrap();
    assert_eq!(topic.resource_type, "AWS::SNS::Topic");
    assert_eq!(topic.provisioner(), Provisioner::Sdk);
    assert_eq!(topic.baseline(), topic.observed_properties.as_ref());
    assert!(producer.resources.iter().any(|(_, resource)| resource.is_retained()));
    assert!(producer.resources.iter().any(|(_, resource)| !resource.needs().is_empty()));

    let consumer = state("cdkd/deployed/cdkd/ConsumerStack/us-east-1/state.json");
    assert!(consumer.imports_from(&key("ProducerStack")).count() > 0);
    assert_eq!(consumer.imports_from(&key("ConsumerStack")).count(), 0);

    let parent = state("cdkd/deployed/cdkd/ParentStack/us-east-1/state.json");
    assert_eq!(parent.children(&key("ParentStack")).collect::<Vec<_>>(), [key(NESTED)]);
    assert_eq!(parent.parent(), None);
    let child = state(&format!("cdkd/deployed/cdkd/{NESTED}/us-east-1/state.json"));
    let (stack, logical_id) = NESTED.split_once('~').unwrap();
    assert_eq!(child.parent(), Some(Parent { stack, logical_id, region: "us-east-1" }));
    assert!(child.check(&key(NESTED)).is_empty());

    let cloud_control = state("cdkd/cloud-control/after-update/cdkd/CcStack/us-east-1/state.json");
    assert!(cloud_control.resources.iter().any(|(_, it)| it.provisioner() == Provisioner::CloudControl));
}

/// A state as a tool of an older version would have written it: without what later versions brought.
fn downgraded(version: i64) -> Vec<u8> {
    let mut value: serde_json::Value = serde_json::from_slice(&fixture(PRODUCER)).unwrap();
    value["imports"] = serde_json::json!([]);
    value["outputReads"] =
        serde_json::json!([{ "sourceStack": "a", "sourceRegion": "b", "outputName": "c" }]);
    for name in ["parentStack", "parentLogicalId", "parentRegion"] {
        value[name] = "p".into();
    }
    value["version"] = version.into();
    let later = versions::STEPS.iter().filter(|step| step.version > version);
    for step in later {
        // The region was in files of version 1 too, where it was known.
        for name in step.stack.iter().filter(|name| **name != "region") {
            value.as_object_mut().unwrap().shift_remove(*name);
        }
        for resource in value["resources"].as_object_mut().unwrap().values_mut() {
            step.resource.iter().for_each(|name| drop(resource.as_object_mut().unwrap().shift_remove(*name)));
        }
    }
    serde_json::to_vec_pretty(&value).unwrap()
}

#[test]
fn s09_every_version_is_read_and_written_as_the_newest_with_nothing_made_up() {
    let newest = versions::NEWEST;
    assert_eq!(versions::STEPS.map(|step| step.version).to_vec(), (2..=newest).collect::<Vec<_>>());
    for version in 1..=newest {
        let old = downgraded(version);
        let read = StackState::read(&old).unwrap();
        assert_eq!(read.version, version);
        assert_eq!(read.to_bytes(), old, "version {version} as it is");
        let written = String::from_utf8(read.write(&key("ProducerStack"))).unwrap();
        let expected = String::from_utf8(old).unwrap();
        let expected = expected.replace(&format!("\"version\": {version},"), "\"version\": 8,");
        assert_eq!(written, expected, "version {version} as the newest");
        let has = |name: &str| written.contains(&format!("\"{name}\""));
        assert_eq!(has("observedProperties"), version >= 3);
        assert_eq!(has("imports"), version >= 4);
        assert_eq!(has("deletionPolicy"), version >= 5);
        assert_eq!(has("parentStack"), version >= 6);
        assert_eq!(has("provisionedBy"), version >= 7);
        assert_eq!(read.output_reads.is_some(), version >= 8);
        // What is not there has a meaning.
        let (_, resource) = read.resources.iter().next().unwrap();
        assert_eq!(resource.provisioner(), Provisioner::Sdk);
        assert!(resource.baseline().is_some());
        assert_eq!(read.parent().is_some(), version >= 6);
    }
}

#[test]
fn s09_a_state_without_a_version_is_one_of_the_first() {
    let state =
        StackState::read(br#"{"stackName":"A","resources":{},"outputs":{},"lastModified":1}"#).unwrap();
    assert_eq!(state.version, 0);
    assert!(state.fits(&key("A").region) && !state.is_of(&key("A").region));
    let written = String::from_utf8(state.write(&key("A"))).unwrap();
    // As spreading the object and setting the members after it does.
    let expected = "{\n  \"stackName\": \"A\",\n  \"resources\": {},\n  \"outputs\": {},\n  \"lastModified\": 1,\n  \"version\": 8,\n  \"region\": \"us-east-1\"\n}";
    assert_eq!(written, expected);
}

#[test]
fn s09_a_legacy_state_becomes_the_newest_where_it_stands() {
    let legacy = state("cdkd/legacy/cdkd/ProducerStack/state.json");
    assert_eq!(legacy.version, 1);
    assert!(legacy.is_of(&key("ProducerStack").region));
    assert!(!legacy.fits(&StackKey::parse("ProducerStack", "eu-west-1").unwrap().region));
    let migrated = state("cdkd/migrated/cdkd/ProducerStack/us-east-1/state.json");
    // The tool filled nothing in for resources that it did not touch.
    assert!(migrated.resources.iter().all(|(_, resource)| resource.provisioned_by.is_none()));
    assert_eq!(migrated.resources.len(), legacy.resources.len());
}

#[test]
fn s09_a_newer_schema_is_refused_by_its_number_whatever_its_shape() {
    let newer = br#"{"version":9,"stackName":"A","resources":["another shape"]}"#;
    let error = StackState::read(newer).unwrap_err();
    assert_eq!(error, ReadError::TooNew { version: 9, newest: 8 });
    assert_eq!(error.to_string(), "its schema version 9 is newer than the newest one known, 8");
    for version in ["\"8\"", "1.5", "0", "-1", "null", "{}"] {
        let text = format!("{{\"version\":{version},\"resources\":{{}}}}");
        let error = StackState::read(text.as_bytes()).unwrap_err();
        assert_eq!(error, ReadError::NoVersion { version: version.to_owned(), newest: 8 }, "{version}");
    }
    let journal = RollbackJournal::read(br#"{"journalVersion":2,"segments":[]}"#).unwrap_err();
    assert_eq!(journal, ReadError::TooNew { version: 2, newest: 1 });
    let index = ExportIndex::read(br#"{"indexVersion":2,"exports":{}}"#).unwrap_err();
    assert_eq!(index, ReadError::TooNew { version: 2, newest: 1 });
}

#[test]
fn s09_s10_unknown_members_exact_numbers_nulls_and_order_survive() {
    let file = r#"{
  "stackName": "A",
  "fromTheFuture": {
    "b": 1,
    "a": 12345678901234567890.10
  },
  "version": 8,
  "resources": {
    "7": {
      "mark": "é\u0000\ud800",
      "resourceType": "T",
      "physicalId": "p",
      "properties": {
        "Size": 36893488147419103233,
        "Empty": {},
        "List": []
      },
      "attributes": null,
      "dependencies": []
    },
    "B": {
      "physicalId": "q",
      "resourceType": "U",
      "deletionPolicy": "Perhaps"
    }
  },
  "outputs": {
    "Nothing": null,
    "Map": {
      "z": 1,
      "a": 2
    }
  },
  "region": "us-east-1",
  "imports": [
    {
      "exportName": "e",
      "sourceStack": "S",
      "since": 1,
      "sourceRegion": "r"
    }
  ],
  "lastModified": 1794767566947
}"#;
    let mut state = StackState::read(file.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(state.write(&key("A"))).unwrap(), file);
    assert_eq!(state.form.unknown().map(|(name, _)| name).collect::<Vec<_>>(), ["fromTheFuture"]);
    // What is set again stays where it was; what is new comes last.
    state.output_reads = Some(vec![OutputRead { source_stack: "S".into(), ..OutputRead::default() }]);
    let resource = state.resources.get_mut("7").unwrap();
    resource.physical_id = "other".into();
    resource.deletion_policy = Some(Policy::Retain);
    resource.dependencies = None;
    let written = String::from_utf8(state.write(&key("A"))).unwrap();
    let expected = file
        .replace("\"physicalId\": \"p\"", "\"physicalId\": \"other\"")
        .replace("\"dependencies\": []", "\"deletionPolicy\": \"Retain\"")
        .replace(
            "\"lastModified\": 1794767566947\n}",
            "\"lastModified\": 1794767566947,\n  \"outputReads\": [\n    {\n      \"sourceStack\": \"S\",\n      \"sourceRegion\": \"\",\n      \"outputName\": \"\"\n    }\n  ]\n}",
        );
    assert_eq!(written, expected);
}

#[test]
fn a_new_state_is_what_a_first_deployment_begins_with() {
    let mut state = StackState::new(&key("ParentStack"));
    state.last_modified = 1_794_767_566_947;
    assert_eq!(
        String::from_utf8(state.write(&key("ParentStack"))).unwrap(),
        text("cdkd/failed/cdkd/ParentStack/us-east-1/state.json")
    );
    state.nest_in(&key("Root"), "Child");
    state.resources.insert("Q", Resource { physical_id: "q".into(), ..Resource::default() });
    let problems = state.check(&key("Root~Child"));
    let rules: Vec<Rule> = problems.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, [Rule::Name, Rule::Parent, Rule::Type]);
}

#[test]
fn a_destroy_s_snapshot_has_no_outputs_and_no_imports_as_the_tool_s_has() {
    let folder = "cdkd/every-version/cdkd/ConsumerStack/us-east-1/state.json";
    let before = state("cdkd/deployed/cdkd/ConsumerStack/us-east-1/state.json");
    for number in 3..=5 {
        let name = format!("{folder}.write{number:02}.json");
        let after = state(&name);
        if !after.outputs.is_empty() || after.imports.is_some() {
            continue;
        }
        let mut ours = before.being_destroyed(after.resources.clone());
        ours.last_modified = after.last_modified;
        assert_eq!(String::from_utf8(ours.write(&key("ConsumerStack"))).unwrap(), text(&name));
        return;
    }
    panic!("there is no such snapshot");
}

#[test]
fn what_is_not_sound_is_found() {
    let mut state = state(PRODUCER);
    let resource = |needs: &[&str]| Resource {
        physical_id: "p".into(),
        resource_type: "T".into(),
        dependencies: Some(needs.iter().map(|&need| need.to_owned()).collect()),
        ..Resource::default()
    };
    for (id, needs) in [("A", ["B"]), ("B", ["C"]), ("C", ["A"]), ("D", ["A"]), ("E", ["Gone"])] {
        state.resources.insert(id, resource(&needs));
    }
    state.parent_stack = Some("Other".into());
    let problems = state.check(&StackKey::parse("Elsewhere", "eu-west-1").unwrap());
    let found: Vec<(Rule, Option<&str>)> =
        problems.iter().map(|problem| (problem.rule, problem.resource.as_deref())).collect();
    let expected = [
        (Rule::Name, None),
        (Rule::Region, None),
        (Rule::Parent, None),
        (Rule::Dependency, Some("E")),
        (Rule::Cycle, Some("A")),
        (Rule::Cycle, Some("B")),
        (Rule::Cycle, Some("C")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_lock_expires_when_it_says_so_and_what_is_no_object_is_no_lock() {
    let lock = Lock::read(&fixture("cdkd/killed/cdkd/ManySsm/us-east-1/lock.json")).unwrap().unwrap();
    assert_eq!((lock.owner.as_str(), lock.operation.as_deref()), ("unknown@vm:29382", Some("deploy")));
    let expires = lock.expires_at.unwrap();
    assert_eq!(expires - lock.timestamp, 30 * 60 * 1000);
    assert!(!lock.has_expired(expires - 1) && lock.has_expired(expires));
    let old = Lock::read(br#"{"owner":"o","timestamp":1}"#).unwrap().unwrap();
    assert!(!old.has_expired(i64::MAX));
    assert_eq!(String::from_utf8(old.write()).unwrap(), "{\n  \"owner\": \"o\",\n  \"timestamp\": 1\n}");
    for text in ["null", "42", "[]", "\"x\""] {
        assert_eq!(Lock::read(text.as_bytes()).unwrap(), None, "{text}");
    }
    assert!(matches!(Lock::read(b"{\"owner\":"), Err(ReadError::Truncated { .. })));
    assert_eq!(Lock::read(b""), Err(ReadError::Empty));
}

#[test]
fn the_exports_index_is_what_the_states_of_the_region_make() {
    let folder = "cdkd/deployed/cdkd";
    let keys = ["ProducerStack", "ConsumerStack", "ParentStack", NESTED].map(key);
    let states = keys.clone().map(|key| state(&format!("{folder}/{}/us-east-1/state.json", key.stack)));
    let real = ExportIndex::read(&fixture(&format!("{folder}/_index/us-east-1/exports.json"))).unwrap();
    let mut gathered = ExportIndex::gather(&keys[0].region, keys.iter().zip(&states));
    assert_eq!(gathered.exports, real.exports);
    assert!(!gathered.update(&keys[0], &states[0]), "nothing has changed");
    let mut changed = states[0].clone();
    changed.outputs.insert("BucketName", Json::parse("\"other\"").unwrap());
    changed.outputs.insert("Nothing", Json::parse("null").unwrap());
    assert!(gathered.update(&keys[0], &changed));
    let mut read = ExportIndex::read(&gathered.write()).unwrap();
    assert_eq!(read.write(), gathered.write());
    assert!(!read.update(&keys[0], &changed), "an output that is null is no change either");
    assert!(gathered.remove(&keys[0]) && !gathered.remove(&keys[0]));
    assert!(gathered.exports.iter().all(|(_, export)| export.producer_stack != "ProducerStack"));
}

#[test]
fn runs_are_indexed_newest_first_and_known_from_their_events_too() {
    let key = key("ManySsm");
    let mut index = RunIndex::new(&key);
    for number in 0..25 {
        let run_id = RunId::new(&format!("2026-11-15T18:31:38.{number:03}Z"), "704fe09b-1234");
        index.insert(RunSummary { run_id, ..RunSummary::default() });
    }
    assert_eq!(index.runs.len(), 20);
    assert_eq!(index.runs[0].run_id.as_str(), "20261115T183138024Z-704fe09b");
    assert!(index.has_outlived(&RunId::new("2026-11-15T18:31:38.004Z", "704fe09b")));
    assert!(!index.has_outlived(&RunId::new("2026-11-15T18:31:38.005Z", "704fe09b")));

    let killed = "cdkd/killed/cdkd/ManySsm/us-east-1/deployments/20261115T183138930Z-704fe09b.jsonl";
    let events = read_events(&fixture(killed)).unwrap();
    assert_eq!(events[0].event_type, EventType::RunStarted);
    let summary = RunSummary::of(RunId::parse("20261115T183138930Z-704fe09b").unwrap(), &events);
    assert_eq!((summary.command, summary.result), (RunCommand::Deploy, RunResult::Unknown));
    assert_eq!(summary.event_count, i64::try_from(events.len()).unwrap());
    assert_eq!(read_events(b"").unwrap(), Vec::<Event>::new());
    let error = read_events(b"{\"timestamp\":\"t\"}\n{\"timestamp\":1}\n").unwrap_err();
    assert!(matches!(error, ReadError::Malformed { line: 2, .. }), "{error}");
}

#[test]
fn a_rollback_journal_says_what_was_done_and_what_failed() {
    let journal = "cdkd/failed/cdkd/ProducerStack/us-east-1/rollback-journal.json";
    let journal = RollbackJournal::read(&fixture(journal)).unwrap();
    let [segment] = &journal.segments[..] else { panic!("one part") };
    assert_eq!(segment.reason, Reason::NoRollbackFailure);
    assert!(segment.initial_deploy);
    assert_eq!((segment.operations.len(), segment.failed_operations.as_ref().map(Vec::len)), (6, Some(1)));
    let error = RollbackJournal::read(br#"{"journalVersion":1}"#).unwrap_err();
    assert_eq!(error.to_string(), "it is not a cdkd rollback journal: it has no `segments`");
}

#[test]
fn bad_bytes_are_refused_with_their_place() {
    let whole = fixture(PRODUCER);
    for length in [1, 40, whole.len() / 2, whole.len() - 1] {
        let error = StackState::read(&whole[..length]).unwrap_err();
        assert!(matches!(error, ReadError::Truncated { .. }), "{length}: {error}");
    }
    assert_eq!(StackState::read(b" \n"), Err(ReadError::Empty));
    let error = StackState::read(br#"{"resources":{"A":{"physicalId":1}}}"#).unwrap_err();
    assert!(error.to_string().contains("in `resources.A.physicalId`"), "{error}");
    for (text, reason) in [("[]", "it is not an object"), ("{}", "it has no `resources`")] {
        let error = StackState::read(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("it is not a cdkd state: {reason}"));
    }
}

#[test]
fn names_cannot_leave_the_prefix() {
    for name in ["", ".", "..", "a/b", "../x", "a\\b", "a\nb", "_index", "a%2fb", &"x".repeat(600)] {
        assert!(StackKey::parse(name, "us-east-1").is_err(), "{name:?}");
    }
    for region in ["", "..", "us/east", "US-EAST-1", "us-east-1 "] {
        assert!(StackKey::parse("A", region).is_err(), "{region:?}");
    }
    for prefix in ["", "/", "a//b", "..", "a/../b"] {
        assert!(Layout::new(prefix).is_err(), "{prefix:?}");
    }
    let layout = Layout::new("/team/cdkd/").unwrap();
    let nested = key("Parent~Child");
    assert_eq!(layout.state(&nested), "team/cdkd/Parent~Child/us-east-1/state.json");
    assert_eq!(layout.parse(&layout.state(&nested)), Some(Key::State(nested.clone())));
    assert_eq!(
        layout.parse(&layout.legacy_state(&nested.stack)),
        Some(Key::LegacyState(nested.stack.clone()))
    );
    assert_eq!(layout.parse(&layout.exports(&nested.region)), Some(Key::Exports(nested.region)));
    for foreign in
        ["team/cdkdx/A/us-east-1/state.json", "team/cdkd/A/b/c/d/state.json", "team/cdkd/readme", "x"]
    {
        assert_eq!(layout.parse(foreign), None, "{foreign}");
    }
}

#[test]
fn members_that_are_removed_leave_the_others_in_their_order() {
    let mut producer = state(PRODUCER);
    let ids: Vec<String> = producer.resources.iter().map(|(id, _)| id.to_owned()).collect();
    producer.resources.remove(&ids[2]);
    let left: Vec<&str> = producer.resources.iter().map(|(id, _)| id).collect();
    assert_eq!(left, ids.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, id)| id).collect::<Vec<_>>());
    let empty: Members<Json> = Members::default();
    assert!(empty.is_empty());
}
