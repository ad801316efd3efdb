use super::*;
use crate::integrity::Rule;
use crate::samples::{child, component, deleted, managed, needing, provider, snapshot, urn};
use crate::{IntegrityErrorRecord, Operation, Snippet, Urn, edges};

fn texts(repair: &Repair) -> Vec<String> {
    repair.changes.iter().map(Change::to_string).collect()
}

fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.resources.iter().map(|resource| resource.urn.name()).collect()
}

fn remaining(repair: &Repair) -> Vec<Rule> {
    repair.remaining.iter().map(|remaining| remaining.violation.rule).collect()
}

/// Repairs, and checks what holds of every repair.
fn repaired(broken: &Snapshot) -> Repair {
    let repair = super::repair(broken).unwrap();
    let errors: Vec<_> =
        verify(&repair.snapshot).into_iter().filter(|found| found.severity() == Severity::Error).collect();
    let listed: Vec<_> = repair.remaining.iter().map(|remaining| remaining.violation.clone()).collect();
    assert_eq!(errors, listed);
    assert_eq!(super::repair(broken).unwrap(), repair, "deterministic");
    let again = super::repair(&repair.snapshot).unwrap();
    assert_eq!((&again.snapshot, again.changes.as_slice()), (&repair.snapshot, &[][..]), "idempotent");
    repair
}

#[test]
fn a_sound_snapshot_stays_as_it_is() {
    let mut sound = snapshot([deleted(component("b")), needing("a", &["b"]), component("b")]);
    sound.metadata.integrity_error = Some(IntegrityErrorRecord::default());
    let repair = repaired(&sound);
    assert_eq!((repair.snapshot, repair.changes), (sound, Vec::new()));
}

#[test]
fn the_magic_is_computed_again() {
    let mut broken = snapshot([component("a")]);
    let whole = broken.clone();
    broken.manifest.magic = "00".to_owned();
    let repair = repaired(&broken);
    assert_eq!(repair.snapshot, whole);
    assert_eq!(texts(&repair), ["rewrote the manifest's magic: it did not fit version `v3.259.0`"]);
}

#[test]
fn a_missing_type_is_read_from_the_urn() {
    let (default, reference) = provider("default", "1");
    let typeless = |resource: Resource| Resource { type_token: String::new(), ..resource };
    let mut broken = snapshot([managed("a", &reference), typeless(default)]);
    broken.pending_operations =
        vec![Operation { resource: typeless(component("b")), ..Operation::default() }];
    let repair = repaired(&broken);
    assert!(repair.is_complete());
    assert_eq!(
        texts(&repair),
        [
            "gave #1 pulumi:providers:aws default the type `pulumi:providers:aws` that its URN says",
            "gave pending operation #0 a:b:C b the type `a:b:C` that its URN says",
            "moved #1 pulumi:providers:aws default before #0 a:b:C a, which is managed by it",
        ]
    );
}

#[test]
fn only_what_must_move_moves() {
    let top = component("top");
    let below = child(&top, "below");
    let broken =
        snapshot([component("x"), needing("a", &["e"]), below, component("c"), top, needing("e", &["c"])]);
    let repair = repaired(&broken);
    assert!(repair.is_complete());
    assert_eq!(names(&repair.snapshot), ["x", "c", "e", "a", "top", "below"]);
    assert_eq!(
        texts(&repair),
        [
            "moved #3 a:b:C c before #1 a:b:C a, because #5 a:b:C e depends on it",
            "moved #5 a:b:C e before #1 a:b:C a, which depends on it",
            "moved #4 a:b:C top before #2 a:b:C below, which is its child",
        ]
    );
}

#[test]
fn references_that_lead_nowhere_are_taken_out() {
    let gone = || urn("gone");
    let broken = snapshot([
        component("a"),
        Resource {
            dependencies: vec![gone(), urn("a"), urn("b")],
            property_dependencies: [
                ("only".to_owned(), Some(vec![gone()])),
                ("some".to_owned(), Some(vec![urn("a"), gone()])),
                ("nothing".to_owned(), None),
            ]
            .into(),
            deleted_with: gone(),
            replace_with: vec![urn("a"), gone()],
            view_of: gone(),
            ..component("b")
        },
    ]);
    let repair = repaired(&broken);
    assert!(repair.is_complete());
    let expected = Resource {
        dependencies: vec![urn("a")],
        property_dependencies: [
            ("only".to_owned(), Some(Vec::new())),
            ("some".to_owned(), Some(vec![urn("a")])),
            ("nothing".to_owned(), None),
        ]
        .into(),
        replace_with: vec![urn("a")],
        view_of: gone(),
        ..component("b")
    };
    assert_eq!(repair.snapshot.resources, [component("a"), expected]);
    assert_eq!(
        texts(&repair),
        [
            "dropped the dependency a:b:C gone of #1 a:b:C b: it is not in the snapshot",
            "dropped the dependency a:b:C b of #1 a:b:C b: it is the resource itself",
            "dropped the property dependency a:b:C gone of #1 a:b:C b (property `only`): it is not in the snapshot",
            "dropped the property dependency a:b:C gone of #1 a:b:C b (property `some`): it is not in the snapshot",
            "dropped the `deletedWith` target a:b:C gone of #1 a:b:C b: it is not in the snapshot",
            "dropped the `replaceWith` target a:b:C gone of #1 a:b:C b: it is not in the snapshot",
        ]
    );
}

#[test]
fn an_orphan_is_renamed_and_everything_follows() {
    let gone = component("gone");
    let orphan = child(&gone, "orphan");
    let grandchild = child(&orphan, "grandchild");
    let (default, _) = provider("default", "1");
    let provider_urn =
        Urn::build("dev", "shop", orphan.urn.qualified_type(), "pulumi:providers:aws", "default");
    let own_provider = Resource { urn: provider_urn.clone(), parent: orphan.urn.clone(), ..default.clone() };
    let user = Resource {
        view_of: orphan.urn.clone(),
        dependencies: vec![grandchild.urn.clone(), default.urn.clone()],
        ..managed("user", &format!("{provider_urn}::1"))
    };
    let mut broken =
        snapshot([default.clone(), orphan.clone(), own_provider, grandchild.clone(), user.clone()]);
    broken.pending_operations = vec![Operation { resource: grandchild.clone(), ..Operation::default() }];
    broken.snippets = vec![Snippet {
        uuid: "1".to_owned(),
        references: [("it".to_owned(), grandchild.urn.clone())].into(),
        ..Snippet::default()
    }];
    broken.metadata.integrity_error = Some(IntegrityErrorRecord::default());

    let repair = repaired(&broken);
    assert!(repair.is_complete());
    let orphan_now = component("orphan");
    let grandchild_now = child(&orphan_now, "grandchild");
    let provider_now = Urn::build("dev", "shop", "a:b:C", "pulumi:providers:aws", "default");
    let expected = [
        default.clone(),
        orphan_now.clone(),
        Resource { urn: provider_now.clone(), parent: orphan_now.urn.clone(), ..default.clone() },
        grandchild_now.clone(),
        Resource {
            view_of: orphan_now.urn.clone(),
            dependencies: vec![grandchild_now.urn.clone(), default.urn.clone()],
            provider: format!("{provider_now}::1"),
            ..user
        },
    ];
    assert_eq!(repair.snapshot.resources, expected);
    assert_eq!(repair.snapshot.pending_operations[0].resource, grandchild_now);
    assert_eq!(repair.snapshot.snippets[0].references["it"], grandchild_now.urn);
    assert_eq!(repair.snapshot.metadata.integrity_error, None);
    assert_eq!(
        texts(&repair),
        [
            "removed the parent a:b:C gone of #1 a:b:C orphan: it is not in the snapshot".to_owned(),
            format!(
                "rewrote the URN of #1 from {} to {}, and 4 references follow",
                orphan.urn, orphan_now.urn
            ),
            format!("rewrote the URN of #2 from {provider_urn} to {provider_now}, and 1 reference follows"),
            format!(
                "rewrote the URN of #3 from {} to {}, and 3 references follow",
                grandchild.urn, grandchild_now.urn
            ),
            "took away the note that the snapshot breaks a rule: it breaks none now".to_owned(),
        ]
    );
}

#[test]
fn an_orphan_keeps_its_urn_when_the_short_one_is_taken() {
    let orphan = child(&component("gone"), "a");
    let below = child(&orphan, "below");
    let broken = snapshot([orphan.clone(), component("a"), below.clone()]);
    let repair = repaired(&broken);
    assert!(repair.is_complete());
    assert_eq!(
        repair.snapshot.resources,
        [Resource { parent: Urn::default(), ..orphan.clone() }, component("a"), below]
    );
    assert_eq!(
        texts(&repair),
        [format!(
            "removed the parent a:b:C gone of #0 a:b:C a: it is not in the snapshot; its URN stays {} because \
             another resource is called {}",
            orphan.urn,
            urn("a")
        )]
    );
}

#[test]
fn two_orphans_do_not_get_the_same_urn() {
    let first = child(&component("gone"), "a");
    let second = child(&child(&component("gone"), "inner"), "a");
    let repair = repaired(&snapshot([first, second.clone()]));
    assert!(repair.is_complete());
    let urns: Vec<_> = repair.snapshot.resources.iter().map(|resource| &resource.urn).collect();
    assert_eq!(urns, [&urn("a"), &second.urn]);
}

#[test]
fn old_and_new_form_of_an_orphan_are_renamed_alike() {
    let orphan = child(&component("gone"), "a");
    let needs = |name| Resource { dependencies: vec![orphan.urn.clone()], ..component(name) };
    let broken = snapshot([orphan.clone(), needs("x"), deleted(orphan.clone()), deleted(needs("y"))]);
    let repair = repaired(&broken);
    assert!(repair.is_complete());
    assert_eq!(
        repair.snapshot.resources,
        [component("a"), needing("x", &["a"]), deleted(component("a")), deleted(needing("y", &["a"]))]
    );
}

#[test]
fn a_name_that_does_not_come_from_the_parent_stays() {
    let misnamed = Resource { parent: urn("gone"), ..component("a") };
    let odd = Resource { urn: Urn::new("nonsense"), parent: urn("gone"), ..component("b") };
    let repair = repaired(&snapshot([misnamed, odd]));
    assert!(repair.is_complete());
    assert_eq!(
        repair.snapshot.resources,
        [component("a"), Resource { urn: Urn::new("nonsense"), ..component("b") }]
    );
}

#[test]
fn exact_copies_are_dropped_and_others_left() {
    let differs = Resource { protect: true, ..component("b") };
    let broken = snapshot([
        component("a"),
        component("b"),
        component("a"),
        differs.clone(),
        component("a"),
        deleted(component("a")),
        deleted(component("a")),
        needing("c", &["a"]),
    ]);
    let repair = repaired(&broken);
    let expected = [
        component("a"),
        component("b"),
        differs,
        deleted(component("a")),
        deleted(component("a")),
        needing("c", &["a"]),
    ];
    assert_eq!(repair.snapshot.resources, expected);
    assert_eq!(
        texts(&repair),
        ["dropped #2 a:b:C a: it is an exact copy of #0", "dropped #4 a:b:C a: it is an exact copy of #0"]
    );
    assert_eq!(remaining(&repair), [Rule::DuplicateUrn]);
    assert_eq!(
        repair.remaining[0].to_string(),
        "#2 a:b:C b  has the same URN as #1, and neither is marked for deletion"
    );
}

#[test]
fn resources_that_differ_in_a_broken_reference_only_are_copies() {
    let repair = repaired(&snapshot([component("a"), needing("a", &["gone"])]));
    assert!(repair.is_complete());
    assert_eq!(repair.snapshot.resources, [component("a")]);
    assert_eq!(
        texts(&repair),
        [
            "dropped the dependency a:b:C gone of #1 a:b:C a: it is not in the snapshot",
            "dropped #1 a:b:C a: it is an exact copy of #0",
        ]
    );
}

#[test]
fn positions_are_those_before_the_repair() {
    let broken = snapshot([component("a"), component("a"), needing("b", &["c"]), component("c")]);
    let repair = repaired(&broken);
    assert_eq!(
        texts(&repair),
        [
            "dropped #1 a:b:C a: it is an exact copy of #0",
            "moved #3 a:b:C c before #2 a:b:C b, which depends on it",
        ]
    );
}

#[test]
fn snippet_copies_are_dropped() {
    let snippet = |uuid: &str, code: &str| Snippet {
        uuid: uuid.to_owned(),
        code: code.to_owned(),
        ..Snippet::default()
    };
    let mut broken = snapshot([]);
    broken.snippets =
        vec![snippet("1", "x"), snippet("1", "x"), snippet("1", "y"), snippet("", "z"), snippet("", "z")];
    let repair = repaired(&broken);
    assert_eq!(texts(&repair), ["dropped snippet #1: it is an exact copy of snippet #0"]);
    assert_eq!(
        remaining(&repair),
        [Rule::SnippetDuplicateUuid, Rule::SnippetMissingUuid, Rule::SnippetMissingUuid]
    );
}

#[test]
fn a_dangling_provider_is_explained_not_hidden() {
    let (_, reference) = provider("default", "1");
    let broken = snapshot([needing("b", &["a"]), managed("a", &reference)]);
    let repair = repaired(&broken);
    assert!(!repair.is_complete());
    assert_eq!(names(&repair.snapshot), ["a", "b"], "the rest is repaired");
    assert_eq!(repair.snapshot.resources[0].provider, reference);
    assert_eq!(
        repair.remaining[0].to_string(),
        "#0 a:b:C a  refers to unknown provider pulumi:providers:aws default with id `1`"
    );
    assert!(repair.remaining[0].hint.contains("revision that still has the provider"));
}

#[test]
fn what_only_a_person_can_decide_is_left_with_a_hint() {
    let (default, _) = provider("default", "1");
    let broken = snapshot([
        Resource { urn: Urn::default(), ..component("a") },
        Resource { id: "i".to_owned(), ..component("b") },
        Resource { type_token: String::new(), urn: Urn::new("nonsense"), ..component("c") },
        Resource { urn: urn("d"), ..default },
        managed("e", "nonsense"),
    ]);
    let repair = repaired(&broken);
    assert_eq!(repair.snapshot, broken);
    assert_eq!(
        remaining(&repair),
        [
            Rule::MissingUrn,
            Rule::IdOnComponent,
            Rule::MissingType,
            Rule::UnreferenceableProvider,
            Rule::MalformedProviderReference
        ]
    );
    for remaining in &repair.remaining {
        assert!(remaining.hint.contains("edit the state"), "{}", remaining.hint);
    }
}

#[test]
fn circles_are_told_and_nothing_is_repaired() {
    let broken =
        snapshot([component("x"), component("x"), needing("a", &["b", "gone"]), needing("b", &["a"])]);
    let error = super::repair(&broken).unwrap_err();
    assert_eq!(
        error.to_string(),
        "resources depend on each other in a circle: #2 a:b:C a → #3 a:b:C b → #2 a:b:C a"
    );
}

#[test]
fn a_reversed_chain_of_100_000_is_put_in_order() {
    const LENGTH: usize = 100_000;
    let name = |index: usize| format!("r{index}");
    let mut resources: Vec<Resource> = (0..LENGTH)
        .map(|index| Resource {
            parent: urn(&name(index + 1)),
            ..needing(&name(index), &[&name(index + 1), "gone"])
        })
        .collect();
    resources.push(component(&name(LENGTH)));
    let repair = super::repair(&snapshot(resources)).unwrap();
    assert!(repair.is_complete());
    assert_eq!(repair.snapshot.resources[0].urn.name(), name(LENGTH));
    assert_eq!(repair.snapshot.resources[LENGTH].urn.name(), name(0));
    assert_eq!(repair.changes.len(), 2 * LENGTH, "each moves but one, and each lost a dependency but one");
}

#[test]
fn one_resource_that_needs_100_000_later_ones_is_put_in_order() {
    const COUNT: usize = 100_000;
    let names: Vec<String> = (0..COUNT).map(|index| format!("r{index}")).collect();
    let needed: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut resources = vec![needing("all", &needed)];
    resources.extend(needed.iter().map(|name| component(name)));
    let repair = super::repair(&snapshot(resources)).unwrap();
    assert!(repair.is_complete());
    assert_eq!(repair.changes.len(), COUNT);
    assert_eq!(repair.snapshot.resources.last().map(|last| edges(last).count()), Some(COUNT));
}
