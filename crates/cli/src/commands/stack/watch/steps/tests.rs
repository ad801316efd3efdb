use super::*;
use drystone_model::{Json, ROOT_STACK_TYPE};

fn resource(name: &str, size: i64) -> Resource {
    Resource {
        urn: Urn::build("prod", "shop", "", "a:b:C", name),
        type_token: "a:b:C".to_owned(),
        custom: true,
        id: format!("id-{name}"),
        inputs: Properties::new(Json::parse(format!(r#"{{"size":{size}}}"#)).unwrap()),
        ..Resource::default()
    }
}

fn base(resources: &[Resource]) -> Snapshot {
    Snapshot { resources: resources.to_vec(), ..Snapshot::default() }
}

fn begin(sequence: i64, operation: i64, kind: OperationKind, resource: &Resource) -> Entry {
    let operation_begun = Operation { resource: resource.clone(), kind, ..Operation::default() };
    Entry { operation: Some(operation_begun), ..Entry::new(Kind::Begin, sequence, operation) }
}

fn success(sequence: i64, operation: i64, state: Option<&Resource>, remove: Option<i64>) -> Entry {
    Entry { state: state.cloned(), remove_old: remove, ..Entry::new(Kind::Success, sequence, operation) }
}

/// The events in words.
fn words(events: &[Event]) -> Vec<String> {
    let word = |how: &str, step: &StepEvent| {
        let found = step.result.map(|found| format!(" found {found}")).unwrap_or_default();
        format!("{how} {} {}{found}", step.op, step.urn.name())
    };
    let tell = |event: &Event| match event {
        Event::StepStarted(step) => word("begin", step),
        Event::StepDone(step) => word("done", step),
        Event::StepFailed(step) => word("failed", step),
        other => panic!("{other:?}"),
    };
    events.iter().map(tell).collect()
}

fn all(steps: &mut Steps, entries: impl IntoIterator<Item = Entry>) -> Vec<String> {
    let events: Vec<Event> =
        entries.into_iter().flat_map(|entry| steps.add(entry, Duration::from_secs(1))).collect();
    words(&events)
}

#[test]
fn each_operation_is_told_when_it_begins_and_when_it_ends() {
    let (kept, changes, goes) = (resource("kept", 1), resource("changes", 1), resource("goes", 1));
    let mut steps = Steps::new(base(&[kept.clone(), changes.clone(), goes.clone()]));
    let (bigger, made) = (resource("changes", 2), resource("made", 1));
    let told = all(
        &mut steps,
        [
            Entry::new(Kind::Begin, 1, 1),
            success(2, 1, Some(&kept), Some(0)),
            begin(3, 2, OperationKind::Creating, &made),
            begin(4, 3, OperationKind::Updating, &bigger),
            success(5, 2, Some(&made), None),
            success(6, 3, Some(&bigger), Some(1)),
            begin(7, 4, OperationKind::Deleting, &goes),
            Entry::new(Kind::Failure, 8, 4),
            begin(9, 5, OperationKind::Creating, &resource("open", 1)),
        ],
    );
    assert_eq!(
        told,
        [
            "done same kept",
            "begin create made",
            "begin update changes",
            "done create made",
            "done update changes",
            "begin delete goes",
            "failed delete goes",
            "begin create open",
        ]
    );
    let open: Vec<_> = steps.open().map(|(op, urn)| (op, urn.name().to_owned())).collect();
    assert_eq!(open, [(Op::Create, "open".to_owned())]);
}

#[test]
fn a_replacement_is_told_as_one_whichever_comes_first() {
    let old = resource("db", 1);
    let mut new = resource("db", 2);
    new.id = "id-new".to_owned();
    let mut steps = Steps::new(base(std::slice::from_ref(&old)));
    let created = Entry { delete_old: Some(0), ..success(2, 1, Some(&new), None) };
    let told = all(
        &mut steps,
        [
            begin(1, 1, OperationKind::Creating, &new),
            created,
            begin(3, 2, OperationKind::Deleting, &old),
            success(4, 2, None, Some(0)),
        ],
    );
    assert_eq!(
        told,
        [
            "begin create-replacement db",
            "done create-replacement db",
            "begin delete-replaced db",
            "done delete-replaced db"
        ]
    );

    let mut steps = Steps::new(base(std::slice::from_ref(&old)));
    let deleted = Entry { pending_replacement_old: Some(0), ..success(2, 1, None, None) };
    let told = all(
        &mut steps,
        [
            begin(1, 1, OperationKind::Deleting, &old),
            deleted,
            begin(3, 2, OperationKind::Creating, &new),
            success(4, 2, Some(&new), Some(0)),
        ],
    );
    assert_eq!(
        told,
        ["begin delete db", "done delete db", "begin create-replacement db", "done create-replacement db"]
    );
}

#[test]
fn entries_are_told_once_and_in_their_order() {
    let made = resource("made", 1);
    let mut steps = Steps::new(base(&[]));
    let (first, second) = (begin(1, 1, OperationKind::Creating, &made), success(2, 1, Some(&made), None));
    assert_eq!(all(&mut steps, [second.clone()]), [] as [&str; 0]);
    assert_eq!(all(&mut steps, [first.clone()]), ["begin create made", "done create made"]);
    assert_eq!(all(&mut steps, [first, second]), [] as [&str; 0]);
}

#[test]
fn a_refresh_says_what_it_found() {
    let (same, drifted, gone) = (resource("same", 1), resource("drifted", 1), resource("gone", 1));
    let mut steps = Steps::new(base(&[same.clone(), drifted, gone]));
    let found = |sequence, operation, state: Option<&Resource>, place| Entry {
        kind: Kind::RefreshSuccess,
        ..success(sequence, operation, state, Some(place))
    };
    let told = all(
        &mut steps,
        [
            Entry::new(Kind::Begin, 1, 1),
            found(2, 1, Some(&same), 0),
            Entry::new(Kind::Begin, 3, 2),
            found(4, 2, Some(&resource("drifted", 9)), 1),
            Entry::new(Kind::Begin, 5, 3),
            found(6, 3, None, 2),
        ],
    );
    let expected = [
        "done refresh same found same",
        "done refresh drifted found update",
        "done refresh gone found delete",
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_outputs_of_the_stack_come_with_its_own_step() {
    let root = Resource {
        urn: Urn::build("prod", "shop", "", ROOT_STACK_TYPE, "shop-prod"),
        type_token: ROOT_STACK_TYPE.to_owned(),
        ..Resource::default()
    };
    let mut ended = root.clone();
    ended.outputs = Properties::new(Json::parse(r#"{"url":"x"}"#).unwrap());
    let mut steps = Steps::new(base(&[]));
    let outputs = Entry { state: Some(ended), remove_new: Some(1), ..Entry::new(Kind::Outputs, 3, 0) };
    let entries = [Entry::new(Kind::Begin, 1, 1), success(2, 1, Some(&root), None), outputs];
    let events: Vec<Event> = entries.into_iter().flat_map(|entry| steps.add(entry, Duration::ZERO)).collect();
    assert_eq!(words(&events), ["done create shop-prod", "done create shop-prod"]);
    let Event::StepDone(last) = &events[1] else { panic!("{events:?}") };
    assert_eq!(last.new.as_ref().unwrap().outputs.len(), 1);
}

#[test]
fn what_was_not_seen_is_told_from_what_the_update_left() {
    let (stays, goes, grows) = (resource("stays", 1), resource("goes", 1), resource("grows", 1));
    let mut steps = Steps::new(base(&[stays.clone(), goes, grows]));
    let (slow, lost, failed) = (resource("slow", 1), resource("lost", 1), resource("failed", 1));
    all(
        &mut steps,
        [
            begin(1, 1, OperationKind::Creating, &slow),
            begin(2, 2, OperationKind::Creating, &lost),
            begin(3, 3, OperationKind::Creating, &failed),
        ],
    );
    let mut end = base(&[slow, stays, resource("grows", 2), resource("quick", 1)]);
    end.pending_operations =
        vec![Operation { resource: lost, kind: OperationKind::Creating, ..Operation::default() }];
    let told = words(&steps.finish(&end, false, Duration::from_secs(2)));
    assert_eq!(
        told,
        [
            "done create slow",
            "failed create lost",
            "failed create failed",
            "done delete goes",
            "done update grows",
            "done create quick"
        ]
    );
}

#[test]
fn places_that_are_not_there_tell_nothing() {
    let mut steps = Steps::new(base(&[resource("a", 1)]));
    let far = success(2, 1, None, Some(99));
    let negative = Entry { remove_old: Some(-1), ..success(4, 2, None, None) };
    let unknown = Entry { remove_new: Some(77), ..success(6, 3, None, None) };
    let told = all(
        &mut steps,
        [
            Entry::new(Kind::Begin, 1, 1),
            far,
            Entry::new(Kind::Begin, 3, 2),
            negative,
            Entry::new(Kind::Begin, 5, 3),
            unknown,
            Entry::new(Kind::Failure, 7, 42),
            Entry::new(Kind::Other(12), 8, 0),
        ],
    );
    assert_eq!(told, [] as [&str; 0]);
}
