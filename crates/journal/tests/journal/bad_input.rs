//! Bad entries are refused by their sequence, and everything accepted stays.

use drystone_journal::{Entry, Kind, Reason, Refused, Replayer, replay, replay_line};
use drystone_model::Snapshot;
use serde_json::{Value, json};

/// A base of two resources, and a journal that creates `made` (operation 1), begins operation 2 and fails operation 3.
fn base() -> Snapshot {
    serde_json::from_value(json!({
        "secrets_providers": {"type": "passphrase", "state": {"salt": "v1:x"}},
        "resources": [{"urn": "a", "type": "t"}, {"urn": "b", "type": "t", "dependencies": ["a"]}],
    }))
    .unwrap()
}

fn accepted() -> Vec<Value> {
    vec![
        json!({"kind": 0, "operationID": 1, "operation": {"type": "creating", "resource": {"urn": "made", "type": "t"}}}),
        json!({"kind": 1, "operationID": 1, "state": {"urn": "made", "type": "t"}}),
        json!({"kind": 0, "operationID": 2, "operation": {"type": "updating", "resource": {"urn": "b", "type": "t"}}}),
        json!({"kind": 0, "operationID": 3}),
        json!({"kind": 2, "operationID": 3, "state": {"urn": "lost", "type": "t"}}),
    ]
}

fn entry(sequence: usize, mut value: Value) -> Entry {
    value["sequenceID"] = json!(sequence);
    let version = value.get("version").cloned();
    value["version"] = version.unwrap_or_else(|| json!(1));
    Entry::from_json(value.to_string().as_bytes()).unwrap()
}

fn numbered(values: Vec<Value>) -> Vec<Entry> {
    values.into_iter().zip(1..).map(|(value, sequence)| entry(sequence, value)).collect()
}

fn cases() -> Vec<(Value, Reason)> {
    let state = json!({"urn": "x", "type": "t"});
    let out_of_range = |member, index| Reason::OutOfRange { member, index, resources: 2 };
    let unknown = |member, operation| Reason::UnknownOperation { member, operation };
    vec![
        (json!({"kind": 0, "version": 2, "operationID": 9}), Reason::UnknownVersion(2)),
        (json!({"kind": 0, "version": 0, "operationID": 9}), Reason::UnknownVersion(0)),
        (json!({"kind": 10}), Reason::UnknownKind(10)),
        (json!({"kind": -1}), Reason::UnknownKind(-1)),
        (json!({"kind": null, "operationID": 9}), Reason::Missing("kind")),
        (json!({"kind": 5}), Reason::Missing("newSnapshot")),
        (json!({"kind": 5, "newSnapshot": null}), Reason::Missing("newSnapshot")),
        (json!({"kind": 6}), Reason::Missing("secretsProvider")),
        (
            json!({"kind": 8, "extension": {"name": "n", "version": "1", "value": ""}}),
            Reason::Missing("extensionRef"),
        ),
        (json!({"kind": 8, "extensionRef": "r"}), Reason::Missing("extension")),
        (json!({"kind": 4, "removeNew": 1}), Reason::Missing("state")),
        (json!({"kind": 4, "state": state}), Reason::Missing("removeNew")),
        (json!({"kind": 4, "state": state, "removeOld": 0, "removeNew": 1}), Reason::TwoTargets),
        (
            json!({"kind": 3, "operationID": 2, "state": state, "removeOld": 0, "removeNew": 1}),
            Reason::TwoTargets,
        ),
        (json!({"kind": 0, "operationID": 1}), Reason::BegunBefore(1)),
        (json!({"kind": 0, "operationID": 2}), Reason::BegunBefore(2)),
        (json!({"kind": 0, "operationID": 3}), Reason::BegunBefore(3)),
        (json!({"kind": 1, "operationID": 9, "state": state}), Reason::NotUnderWay(9)),
        (json!({"kind": 2, "operationID": 9}), Reason::NotUnderWay(9)),
        (json!({"kind": 3, "operationID": 9, "removeOld": 0}), Reason::NotUnderWay(9)),
        (json!({"kind": 1, "operationID": 1, "state": state}), Reason::NotUnderWay(1)),
        (json!({"kind": 1, "operationID": 3, "state": state}), Reason::NotUnderWay(3)),
        (json!({"kind": 1, "operationID": 2, "state": state, "removeNew": 9}), unknown("removeNew", 9)),
        (json!({"kind": 1, "operationID": 2, "state": state, "removeNew": 3}), unknown("removeNew", 3)),
        (json!({"kind": 1, "operationID": 2, "state": state, "removeNew": 2}), unknown("removeNew", 2)),
        (json!({"kind": 1, "operationID": 2, "state": state, "deleteNew": 9}), unknown("deleteNew", 9)),
        (
            json!({"kind": 1, "operationID": 2, "pendingReplacementNew": 9}),
            unknown("pendingReplacementNew", 9),
        ),
        (json!({"kind": 3, "operationID": 2, "removeNew": 9}), unknown("removeNew", 9)),
        (json!({"kind": 4, "state": state, "removeNew": 9}), unknown("removeNew", 9)),
        (json!({"kind": 4, "state": state, "removeNew": 0}), unknown("removeNew", 0)),
        (json!({"kind": 1, "operationID": 2, "state": state, "removeOld": 2}), out_of_range("removeOld", 2)),
        (
            json!({"kind": 1, "operationID": 2, "state": state, "removeOld": -1}),
            out_of_range("removeOld", -1),
        ),
        (json!({"kind": 1, "operationID": 2, "deleteOld": i64::MAX}), out_of_range("deleteOld", i64::MAX)),
        (
            json!({"kind": 1, "operationID": 2, "pendingReplacementOld": 2}),
            out_of_range("pendingReplacementOld", 2),
        ),
        (json!({"kind": 3, "operationID": 2, "removeOld": 2}), out_of_range("removeOld", 2)),
        (json!({"kind": 4, "state": state, "removeOld": 2}), out_of_range("removeOld", 2)),
    ]
}

#[test]
fn s05_a_bad_entry_is_refused_by_its_sequence_and_changes_nothing() {
    let good = numbered(accepted());
    let expected = replay(base(), good.clone()).unwrap();
    let cases = cases();
    for (value, reason) in &cases {
        let bad = entry(good.len() + 1, value.clone());
        let refused = Refused { sequence: bad.sequence, reason: reason.clone() };

        let mut replayer = Replayer::new(base());
        good.iter().for_each(|entry| replayer.add(entry.clone()).unwrap());
        assert_eq!(replayer.add(bad.clone()), Err(refused.clone()), "{value}");
        assert_eq!(replayer.refused(), std::slice::from_ref(&refused));
        let replayed = replayer.snapshot();
        assert_eq!(replayed.snapshot, expected.snapshot, "{value}");
        assert_eq!(replayed.features, expected.features, "{value}");

        let last = entry(
            good.len() + 2,
            json!({"kind": 1, "operationID": 2, "removeOld": 1, "state": {"urn": "b", "type": "t"}}),
        );
        replayer.add(last).unwrap();
        let urns: Vec<_> =
            replayer.finish().snapshot.resources.into_iter().map(|resource| resource.urn).collect();
        assert_eq!(
            urns.iter().map(drystone_model::Urn::as_str).collect::<Vec<_>>(),
            ["made", "b", "a"],
            "goes on after {value}"
        );

        let entries: Vec<_> = good.iter().cloned().chain([bad]).rev().collect();
        assert_eq!(replay(base(), entries.clone()), Err(refused.clone()), "{value}");
        let answer = replay_line(&json!({"base": base(), "entries": entries}).to_string());
        assert_eq!(answer, json!({ "error": refused.to_string() }).to_string());
        assert!(answer.contains("journal entry 6: "), "{answer}");
    }
    println!("{} bad entries refused", cases.len());
}

#[test]
fn sequences_count_from_one() {
    for sequence in [0, -1, i64::MIN] {
        let mut replayer = Replayer::new(base());
        let refused = Refused { sequence, reason: Reason::Sequence };
        assert_eq!(replayer.add(Entry::new(Kind::Begin, sequence, 1)), Err(refused.clone()));
        assert_eq!(replayer.finish().refused, [refused]);
    }
}

#[test]
fn a_conflicting_duplicate_is_refused() {
    let mut entries = numbered(accepted());
    entries.push(entry(2, json!({"kind": 1, "operationID": 1, "state": {"urn": "other", "type": "t"}})));
    let refused = Refused { sequence: 2, reason: Reason::ConflictingDuplicate };
    assert_eq!(replay(base(), entries.clone()), Err(refused.clone()));
    let mut replayer = Replayer::new(base());
    let outcomes: Vec<_> = entries.into_iter().map(|entry| replayer.add(entry)).collect();
    assert_eq!(outcomes.last(), Some(&Err(refused)));
    assert_eq!(replayer.finish().snapshot, replay(base(), numbered(accepted())).unwrap().snapshot);
}

#[test]
fn a_duplicate_that_is_only_spelled_differently_is_dropped() {
    let first =
        br#"{"version":1,"kind":6,"sequenceID":1,"secretsProvider":{"type":"t","state":{"a":1,"b":"<"}}}"#;
    let again = br#"{"kind":6,"version":1,"sequenceID":1,"operationID":0,"removeOld":null,
        "secretsProvider":{"state":{"b":"\u003c", "a":1},"type":"t"}}"#;
    let other =
        br#"{"version":1,"kind":6,"sequenceID":1,"secretsProvider":{"type":"t","state":{"a":1.0,"b":"<"}}}"#;
    let mut replayer = Replayer::new(base());
    replayer.add(Entry::from_json(first).unwrap()).unwrap();
    replayer.add(Entry::from_json(again).unwrap()).unwrap();
    let reason = replayer.add(Entry::from_json(other).unwrap()).unwrap_err().reason;
    assert_eq!(reason, Reason::ConflictingDuplicate);
}

#[test]
fn the_first_refusal_by_sequence_counts_and_not_the_first_to_arrive() {
    let entries = [Entry::new(Kind::Other(12), 2, 0), Entry::new(Kind::Other(11), 1, 0)];
    assert_eq!(replay(base(), entries), Err(Refused { sequence: 1, reason: Reason::UnknownKind(11) }));
}
