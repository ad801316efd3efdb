//! What we decided where the format leaves room, or where the real replayer goes wrong.

use drystone_journal::{Entry, Reason, Refused, Replayed, Replayer, replay};
use drystone_model::{Feature, Snapshot, Urn};
use serde_json::{Value, json};

fn run(base: Value, entries: Vec<Value>) -> Replayed {
    replay(snapshot(base), numbered(entries)).unwrap()
}

fn snapshot(value: Value) -> Snapshot {
    serde_json::from_value(value).unwrap()
}

fn numbered(entries: Vec<Value>) -> Vec<Entry> {
    let number = |(mut entry, sequence): (Value, i64)| {
        entry["version"] = json!(1);
        entry["sequenceID"] = json!(sequence);
        Entry::from_json(entry.to_string().as_bytes()).unwrap()
    };
    entries.into_iter().zip(1..).map(number).collect()
}

fn begin(operation: i64) -> Value {
    json!({"kind": 0, "operationID": operation})
}

fn creates(operation: i64, urn: &str) -> [Value; 2] {
    [begin(operation), json!({"kind": 1, "operationID": operation, "state": resource(urn)})]
}

fn resource(urn: &str) -> Value {
    json!({"urn": urn, "custom": false, "type": "t"})
}

fn rebuilt() -> Value {
    json!({"kind": 7})
}

fn resources(replayed: &Replayed) -> Value {
    serde_json::to_value(&replayed.snapshot.resources).unwrap()
}

fn urns(replayed: &Replayed) -> Vec<&str> {
    replayed.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect()
}

fn pending(replayed: &Replayed) -> Vec<(&str, &str)> {
    replayed
        .snapshot
        .pending_operations
        .iter()
        .map(|op| (op.kind.as_str(), op.resource.urn.as_str()))
        .collect()
}

/// An entry of our own, which says of many at once what the format says of each with its whole state.
#[test]
fn s03_what_was_kept_stands_as_if_each_had_been_written_in_full() {
    let resources_of = ["a", "b", "c", "d"].map(resource);
    let base = json!({"resources": resources_of});
    let last = [
        json!({"kind": 4, "operationID": 0, "removeNew": 8, "state": {"urn": "c", "custom": false, "type": "u"}}),
        begin(9),
        json!({"kind": 1, "operationID": 9, "removeNew": 7}),
    ];
    let full = |(operation, index, urn): (i64, i64, &str)| {
        [
            begin(operation),
            json!({"kind": 1, "operationID": operation, "removeOld": index, "state": resource(urn)}),
        ]
    };
    let mut long: Vec<Value> = [(7, 3, "d"), (8, 2, "c"), (4, 0, "a")].into_iter().flat_map(full).collect();
    long.extend(last.clone());
    let kept = json!([{"operationID": 7, "base": [3, 2]}, {"operationID": 4, "base": [0]}]);
    let mut short = vec![json!({"kind": 1000, "operationID": 0, "kept": kept})];
    short.extend(last);
    let replayed = run(base.clone(), short);
    assert_eq!(urns(&replayed), ["c", "a", "b"]);
    assert_eq!(resources(&replayed), resources(&run(base, long)));
}

#[test]
fn what_was_kept_must_stand_in_the_base() {
    let base = || snapshot(json!({"resources": [resource("a")]}));
    let kept = |operation: i64, base: Value| json!({"kind": 1000, "operationID": 0, "kept": [{"operationID": operation, "base": base}]});
    let refused = |entries| replay(base(), numbered(entries)).unwrap_err().reason;
    assert!(matches!(refused(vec![kept(1, json!([0, 1]))]), Reason::OutOfRange { index: 1, .. }));
    assert!(matches!(refused(vec![kept(1, json!([-1]))]), Reason::OutOfRange { index: -1, .. }));
    assert!(matches!(refused(vec![begin(1), kept(1, json!([0]))]), Reason::BegunBefore(1)));
    assert!(matches!(refused(vec![json!({"kind": 1000, "operationID": 0})]), Reason::Missing("kept")));
}

/// Upstream keeps counting new resources from where it was before the rebuild, and then reaches past the end.
#[test]
fn positions_start_anew_after_a_rebuild() {
    let mut entries: Vec<Value> =
        creates(1, "a").into_iter().chain([rebuilt()]).chain(creates(2, "b")).collect();
    entries.push(json!({"kind": 4, "operationID": 3, "removeNew": 2, "state": {"urn": "b", "type": "u"}}));
    entries.extend([begin(4), json!({"kind": 1, "operationID": 4, "removeOld": 0})]);
    let replayed = run(json!({}), entries);
    assert_eq!(resources(&replayed), json!([{"urn": "b", "custom": false, "type": "u"}]));
}

/// Upstream forgets operations at a rebuild, and would remove its first new resource instead.
#[test]
fn resources_made_before_a_rebuild_can_be_named_after_it() {
    let base = json!({"resources": [resource("x")]});
    let made = creates(1, "a").into_iter().chain(creates(2, "b"));
    let entries = made.chain([rebuilt()]).chain(creates(3, "c")).chain([
        begin(4),
        json!({"kind": 1, "operationID": 4, "removeNew": 1}),
        begin(5),
        json!({"kind": 1, "operationID": 5, "deleteNew": 2}),
    ]);
    let replayed = run(base, entries.collect());
    assert_eq!(urns(&replayed), ["c", "b", "x"]);
    assert_eq!(resources(&replayed)[1]["delete"], json!(true));
}

/// Upstream drops what is under way at a rebuild, or keeps a creation pending although it ends later.
#[test]
fn s05_operations_under_way_stay_so_over_a_rebuild() {
    let entries = vec![
        json!({"kind": 0, "operationID": 1, "operation": {"type": "updating", "resource": resource("a")}}),
        json!({"kind": 0, "operationID": 2, "operation": {"type": "creating", "resource": resource("b")}}),
        rebuilt(),
    ];
    let base = json!({"resources": [resource("a")]});
    assert_eq!(pending(&run(base.clone(), entries.clone())), [("updating", "a"), ("creating", "b")]);
    let ended = entries.into_iter().chain([
        json!({"kind": 1, "operationID": 1, "removeOld": 0, "state": resource("a")}),
        json!({"kind": 1, "operationID": 2, "state": resource("b")}),
    ]);
    let replayed = run(base, ended.collect());
    assert_eq!((urns(&replayed), pending(&replayed)), (vec!["a", "b"], vec![]));
}

/// Upstream loses a mark that comes after a new state for the same resource.
#[test]
fn a_mark_holds_whatever_state_came_before() {
    let base = json!({"resources": [resource("a"), resource("b")]});
    let replayed = run(
        base,
        vec![
            begin(1),
            json!({"kind": 3, "operationID": 1, "removeOld": 0, "state": resource("a")}),
            begin(2),
            json!({"kind": 3, "operationID": 2, "removeOld": 1, "state": resource("b")}),
            begin(3),
            json!({"kind": 1, "operationID": 3, "deleteOld": 0, "state": resource("a")}),
            begin(4),
            json!({"kind": 1, "operationID": 4, "pendingReplacementOld": 1}),
        ],
    );
    assert_eq!(
        resources(&replayed),
        json!([
            resource("a"),
            {"urn": "a", "custom": false, "delete": true, "type": "t"},
            {"urn": "b", "custom": false, "type": "t", "pendingReplacement": true},
        ])
    );
}

/// Upstream takes an operation that refreshed a resource for the one that made the first new resource.
#[test]
fn a_refresh_can_be_named_as_the_operation_that_left_the_resource() {
    let base = json!({"resources": [resource("a"), resource("b")]});
    let refreshed = [begin(2), json!({"kind": 3, "operationID": 2, "removeOld": 1, "state": resource("b")})];
    let again = [begin(3), json!({"kind": 3, "operationID": 3, "removeNew": 1, "state": resource("n")})];
    let removed = [
        begin(4),
        json!({"kind": 1, "operationID": 4, "removeNew": 2}),
        json!({"kind": 4, "operationID": 5, "removeNew": 3, "state": {"urn": "n", "type": "u"}}),
    ];
    let entries = creates(1, "n").into_iter().chain(refreshed).chain(again).chain(removed);
    let replayed = run(base, entries.collect());
    assert_eq!(resources(&replayed), json!([{"urn": "n", "custom": false, "type": "u"}, resource("a")]));
}

/// Upstream would apply positions in the former base to the new one.
#[test]
fn positions_in_a_base_that_was_replaced_mean_nothing() {
    let base = json!({"resources": [resource("a"), resource("b")]});
    let entries = creates(1, "n").into_iter().chain([
        begin(2),
        json!({"kind": 1, "operationID": 2, "removeOld": 0}),
        json!({"kind": 5, "newSnapshot": {"resources": [resource("c")], "manifest": {"version": "v9"}}}),
        begin(3),
        json!({"kind": 1, "operationID": 3, "removeNew": 1, "state": resource("n2")}),
    ]);
    let replayed = run(base, entries.collect());
    assert_eq!(urns(&replayed), ["n2", "c"]);
    assert_eq!(replayed.snapshot.manifest.version, "v9");
}

#[test]
fn an_operation_that_left_a_resource_of_the_former_base_names_nothing() {
    let entries = numbered(vec![
        begin(1),
        json!({"kind": 3, "operationID": 1, "removeOld": 0, "state": resource("a")}),
        json!({"kind": 5, "newSnapshot": {"resources": [resource("c")]}}),
        begin(2),
        json!({"kind": 1, "operationID": 2, "removeNew": 1}),
    ]);
    let refused = replay(snapshot(json!({"resources": [resource("a")]})), entries).unwrap_err();
    let reason = Reason::UnknownOperation { member: "removeNew", operation: 1 };
    assert_eq!(refused, Refused { sequence: 5, reason });
}

/// Upstream drops every reference to a resource that was renamed after a refresh.
#[test]
fn a_renamed_resource_is_not_gone_after_a_refresh() {
    let (old, new) = ("urn:pulumi:s::p::a:b:C::old", "urn:pulumi:s::p::a:b:C::new");
    let mut child = resource("urn:pulumi:s::p::a:b:C$t::child");
    child["parent"] = json!(old);
    child["dependencies"] = json!([old]);
    let mut renamed = resource(new);
    renamed["aliases"] = json!([old]);
    let replayed = run(
        json!({"resources": [resource(old), child]}),
        vec![
            begin(1),
            json!({"kind": 3, "operationID": 1, "removeOld": 0, "state": resource(old), "isRefresh": true}),
            rebuilt(),
            begin(2),
            json!({"kind": 1, "operationID": 2, "removeOld": 0, "state": renamed}),
        ],
    );
    let child = &replayed.snapshot.resources[1];
    assert_eq!((&child.parent, child.dependencies.as_slice()), (&Urn::new(new), &[Urn::new(new)][..]));
}

#[test]
fn the_child_of_a_parent_that_is_gone_has_none() {
    let mut child = resource("c");
    child["parent"] = json!("p");
    let mut parent = resource("p");
    parent["parent"] = json!("g");
    let replayed = run(
        json!({"resources": [resource("g"), parent, child]}),
        vec![begin(1), json!({"kind": 3, "operationID": 1, "removeOld": 1, "isRefresh": true})],
    );
    assert_eq!(resources(&replayed), json!([resource("g"), resource("c")]));
}

#[test]
fn a_refresh_that_found_something_new_leaves_it_to_the_program() {
    let entries =
        vec![begin(1), json!({"kind": 3, "operationID": 1, "state": resource("view"), "isRefresh": true})];
    assert_eq!(urns(&run(json!({"resources": [resource("a")]}), entries)), ["a"]);
}

#[test]
fn what_was_removed_stays_removed() {
    let base = json!({"resources": [resource("a")]});
    let entries = vec![
        begin(1),
        json!({"kind": 1, "operationID": 1, "removeOld": 0}),
        begin(2),
        json!({"kind": 3, "operationID": 2, "removeOld": 0, "state": resource("a")}),
        begin(3),
        json!({"kind": 1, "operationID": 3, "removeOld": 0, "deleteOld": 0}),
    ];
    assert_eq!(urns(&run(base, entries)), Vec::<&str>::new());
}

#[test]
fn s07_a_contested_alias_does_not_keep_the_snapshot_from_being_recorded() {
    let mut contested = resource("a");
    contested["aliases"] = json!(["old"]);
    let mut other = resource("b");
    other["aliases"] = json!(["old"]);
    let entries = vec![begin(1), json!({"kind": 1, "operationID": 1, "state": other}), rebuilt(), begin(2)];
    let replayed = run(json!({"resources": [contested]}), entries);
    assert_eq!(resources(&replayed), json!([other, contested]));
    let duplicate = replayed.duplicate_alias.unwrap();
    assert_eq!((duplicate.first.as_str(), duplicate.second.as_str()), ("b", "a"));
}

#[test]
fn pending_operations_stand_by_sequence_and_then_the_creations_of_the_base() {
    let operation = |kind: &str, urn: &str| json!({"type": kind, "resource": resource(urn)});
    let base = json!({"pending_operations": [
        operation("updating", "u"), operation("creating", "c"), operation("reading", "r"), operation("creating", "d"),
    ]});
    let mut entries: Vec<Value> = (1..=20)
        .map(|number| json!({"kind": 0, "operationID": 100 - number, "operation": operation("deleting", &format!("n{number:02}"))}))
        .collect();
    entries.push(begin(1));
    entries.push(json!({"kind": 2, "operationID": 99}));
    let replayed = run(base, entries);
    let mut expected: Vec<_> = (2..=20).map(|number| ("deleting", format!("n{number:02}"))).collect();
    expected.extend([("creating", "c".to_owned()), ("creating", "d".to_owned())]);
    let expected: Vec<_> = expected.iter().map(|(kind, urn)| (*kind, urn.as_str())).collect();
    assert_eq!(pending(&replayed), expected);
}

#[test]
fn s09_what_the_base_holds_beside_resources_stays() {
    let base = json!({
        "manifest": {"time": "2025-01-01T00:00:00Z", "magic": "m", "version": "v3", "plugins": [{"name": "aws"}], "later": 1},
        "metadata": {"integrity_error": {"error": "e"}},
        "extensions": {"r": {"name": "n", "version": "1", "value": "QQ=="}},
        "snippets": [{"uuid": "1"}],
        "future": [1],
    });
    let extension = json!({"name": "n", "version": "2", "value": "Qg=="});
    let entries = vec![
        json!({"kind": 8, "extensionRef": "s", "extension": extension}),
        rebuilt(),
        json!({"kind": 8, "extensionRef": "t", "extension": extension}),
    ];
    let replayed = run(base.clone(), entries);
    let snapshot = serde_json::to_value(&replayed.snapshot).unwrap();
    for member in ["metadata", "future"] {
        assert_eq!(snapshot[member], base[member]);
    }
    assert_eq!(snapshot["snippets"][0]["uuid"], json!("1"));
    assert_eq!(snapshot["extensions"], json!({"r": base["extensions"]["r"], "s": extension, "t": extension}));
    let manifest = json!({"time": "2025-01-01T00:00:00Z", "magic": "m", "version": "v3", "later": 1});
    assert_eq!(snapshot["manifest"], manifest, "the caller stamps it; plugins are no longer written");
}

#[test]
fn snippets_and_the_secrets_manager_are_replaced_as_a_whole() {
    let base = json!({"snippets": [{"uuid": "1"}], "secrets_providers": {"type": "a", "state": {"x": 1}, "later": 1}});
    let same = json!({"kind": 6, "secretsProvider": {"type": "a", "state": { "x": 1 }}});
    let replayed = run(base.clone(), vec![same, json!({"kind": 9})]);
    let snapshot = serde_json::to_value(&replayed.snapshot).unwrap();
    assert_eq!(
        snapshot["secrets_providers"], base["secrets_providers"],
        "the same manager is kept as it was"
    );
    assert_eq!(snapshot.get("snippets"), None);
    let other = json!({"type": "a", "state": {"x": 2}});
    let replayed = run(base, vec![json!({"kind": 6, "secretsProvider": other})]);
    assert_eq!(serde_json::to_value(&replayed.snapshot.secrets_provider).unwrap(), other);
}

#[test]
fn s10_byte_strings_are_remembered_though_sealed() {
    let marked = vec![begin(1), json!({"kind": 2, "operationID": 1, "requiresByteString": true})];
    let base = json!({"resources": [resource("a")]});
    assert!(run(base.clone(), marked.clone()).features.contains(Feature::ByteString));
    assert!(run(json!({}), marked).features.is_empty(), "nothing is left that could hold one");
    assert!(run(base.clone(), vec![]).features.is_empty());
    assert!(
        Replayer::new(snapshot(base)).with_byte_strings().finish().features.contains(Feature::ByteString)
    );
}

/// As upstream: what a refresh drops still counts once.
#[test]
fn features_are_those_before_references_are_dropped() {
    let mut resource = resource("a");
    resource["replaceWith"] = json!(["gone"]);
    let base = json!({"resources": [resource]});
    let refreshed = vec![begin(1), json!({"kind": 1, "operationID": 1, "isRefresh": true})];
    let replayed = run(base.clone(), refreshed.clone());
    assert!(replayed.features.contains(Feature::ReplaceWith));
    assert!(replayed.snapshot.resources[0].replace_with.is_empty());
    let rebuilt = run(base, refreshed.into_iter().chain([rebuilt()]).collect());
    assert!(rebuilt.features.is_empty());
}
