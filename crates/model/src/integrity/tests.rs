use super::*;
use crate::samples::{child, component, deleted, managed, needing, provider, snapshot, urn};
use crate::{Extension, Operation, Snippet};
use std::collections::BTreeMap;

/// A rule, a snapshot that breaks it and nothing else, the text, and the nearest snapshot that keeps it.
struct Case {
    rule: Rule,
    broken: Snapshot,
    text: &'static str,
    kept: Snapshot,
}

fn case(rule: Rule, broken: impl Into<Snapshot>, text: &'static str, kept: impl Into<Snapshot>) -> Case {
    Case { rule, broken: broken.into(), text, kept: kept.into() }
}

impl<const N: usize> From<[Resource; N]> for Snapshot {
    fn from(resources: [Resource; N]) -> Self {
        snapshot(resources)
    }
}

fn snippets<const N: usize>(snippets: [Snippet; N]) -> Snapshot {
    Snapshot { snippets: snippets.into(), ..snapshot([component("a")]) }
}

fn snippet(uuid: &str, references: &[(&str, Urn)]) -> Snippet {
    let references = references.iter().map(|(name, urn)| ((*name).to_owned(), urn.clone())).collect();
    Snippet { uuid: uuid.to_owned(), references, ..Snippet::default() }
}

fn of_property(name: &str, target: &str) -> Resource {
    let property_dependencies = BTreeMap::from([("size".to_owned(), Some(vec![urn(target)]))]);
    Resource { property_dependencies, ..component(name) }
}

fn deleted_with(name: &str, target: &str) -> Resource {
    Resource { deleted_with: urn(target), ..component(name) }
}

fn replaced_with(name: &str, target: &str) -> Resource {
    Resource { replace_with: vec![urn(target)], ..component(name) }
}

fn view_of(name: &str, target: &str) -> Resource {
    Resource { view_of: urn(target), ..component(name) }
}

fn cases() -> Vec<Case> {
    let (default, reference) = provider("default", "1");
    let (a, b) = (|| component("a"), || component("b"));
    let parent = Resource { urn: Urn::build("dev", "shop", "", "aws:ec2/vpc:Vpc", "main"), ..component("") };
    let grown = child(&parent, "private");
    let misnamed = Resource { parent: parent.urn.clone(), ..component("a") };
    let with_magic = |magic: &str| {
        let mut snapshot = snapshot([]);
        magic.clone_into(&mut snapshot.manifest.magic);
        snapshot
    };
    let magic = snapshot([]).manifest.magic;
    let extended = Resource { extension_ref: "ext".to_owned(), ..a() };
    let mut with_extension = snapshot([extended.clone()]);
    with_extension.extensions.insert("ext".to_owned(), Extension::default());

    vec![
        case(
            Rule::MagicMismatch,
            with_magic("00"),
            "manifest  has a magic that does not fit its version `v3.259.0`",
            with_magic(&magic),
        ),
        case(Rule::MissingUrn, [Resource { urn: Urn::default(), ..a() }], "#0 (no URN)  has no URN", [a()]),
        case(
            Rule::MissingType,
            [Resource { type_token: String::new(), ..a() }],
            "#0 a:b:C a  has no type",
            [a()],
        ),
        case(
            Rule::IdOnComponent,
            [Resource { id: "i-1".to_owned(), ..a() }],
            "#0 a:b:C a  is a component, yet has the id `i-1`",
            [Resource { id: "i-1".to_owned(), custom: true, ..a() }],
        ),
        case(
            Rule::DuplicateUrn,
            [a(), deleted(a()), a()],
            "#2 a:b:C a  has the same URN as #0, and neither is marked for deletion",
            [a(), deleted(a()), deleted(a())],
        ),
        case(
            Rule::UnreferenceableProvider,
            [Resource { urn: urn("a"), ..default.clone() }],
            "#0 a:b:C a  is a provider, yet its URN does not name one: `urn:pulumi:dev::shop::a:b:C::a`",
            [default.clone()],
        ),
        case(
            Rule::MalformedProviderReference,
            [Resource { pending_replacement: true, ..managed("a", "urn:pulumi:dev::shop::a:b:C::p::1") }],
            "#0 a:b:C a  has a provider reference that cannot be read: `urn:pulumi:dev::shop::a:b:C::p::1`",
            [managed("a", "")],
        ),
        case(
            Rule::UnknownProvider,
            [default.clone(), managed("a", &reference.replace("::1", "::2"))],
            "#1 a:b:C a  refers to unknown provider pulumi:providers:aws default with id `2`",
            [default.clone(), managed("a", &reference)],
        ),
        case(
            Rule::ProviderAfter,
            [managed("a", &reference), default.clone()],
            "#0 a:b:C a  comes before its provider #1 pulumi:providers:aws default",
            [Resource { pending_replacement: true, ..managed("a", &reference) }, default.clone()],
        ),
        case(
            Rule::MissingParent,
            [grown.clone()],
            "#0 a:b:C private  refers to missing parent aws:ec2:Vpc main",
            [parent.clone(), grown.clone()],
        ),
        case(
            Rule::ParentAfterChild,
            [grown.clone(), parent.clone()],
            "#0 a:b:C private  comes before its parent #1 aws:ec2:Vpc main",
            [parent.clone(), grown],
        ),
        case(
            Rule::MissingDependency,
            [needing("a", &["b"])],
            "#0 a:b:C a  refers to missing dependency a:b:C b",
            [b(), needing("a", &["b"])],
        ),
        case(
            Rule::DependencyAfter,
            [needing("a", &["b"]), b()],
            "#0 a:b:C a  comes before its dependency #1 a:b:C b",
            [deleted(b()), needing("a", &["b"]), b()],
        ),
        case(
            Rule::MissingPropertyDependency,
            [of_property("a", "b")],
            "#0 a:b:C a  refers to missing dependency a:b:C b of its property `size`",
            [b(), of_property("a", "b")],
        ),
        case(
            Rule::PropertyDependencyAfter,
            [of_property("a", "b"), b()],
            "#0 a:b:C a  comes before #1 a:b:C b, the dependency of its property `size`",
            [b(), of_property("a", "b")],
        ),
        case(
            Rule::MissingDeletedWith,
            [deleted_with("a", "b")],
            "#0 a:b:C a  is to be deleted with a:b:C b, which is missing",
            [b(), deleted_with("a", "b")],
        ),
        case(
            Rule::DeletedWithAfter,
            [deleted_with("a", "b"), b()],
            "#0 a:b:C a  comes before #1 a:b:C b, which it is to be deleted with",
            [b(), deleted_with("a", "b")],
        ),
        case(
            Rule::MissingReplaceWith,
            [replaced_with("a", "b")],
            "#0 a:b:C a  is to be replaced with a:b:C b, which is missing",
            [b(), replaced_with("a", "b")],
        ),
        case(
            Rule::ReplaceWithAfter,
            [replaced_with("a", "b"), b()],
            "#0 a:b:C a  comes before #1 a:b:C b, which it is to be replaced with",
            [b(), replaced_with("a", "b")],
        ),
        case(
            Rule::RefersToItself,
            [needing("a", &["a"])],
            "#0 a:b:C a  names itself as its dependency",
            [deleted(a()), needing("a", &["a"])],
        ),
        case(
            Rule::SnippetMissingUuid,
            snippets([snippet("", &[])]),
            "snippet #0  has no UUID",
            snippets([snippet("1", &[])]),
        ),
        case(
            Rule::SnippetDuplicateUuid,
            snippets([snippet("1", &[]), snippet("1", &[])]),
            "snippet #1  has the same UUID as snippet #0: `1`",
            snippets([snippet("1", &[]), snippet("2", &[])]),
        ),
        case(
            Rule::MalformedUrn,
            [Resource { urn: Urn::new("nonsense"), ..a() }],
            "#0 nonsense  has a malformed URN: `nonsense` does not start with `urn:pulumi:`",
            [a()],
        ),
        case(
            Rule::ParentTypeMismatch,
            [parent.clone(), misnamed.clone()],
            "#1 a:b:C a  has the parent aws:ec2:Vpc main, yet its URN is not that of a child of it",
            [Resource { urn: Urn::build("dev", "shop", "", ROOT_STACK_TYPE, "main"), ..parent.clone() }, {
                let root = Urn::build("dev", "shop", "", ROOT_STACK_TYPE, "main");
                Resource { parent: root, ..misnamed }
            }],
        ),
        case(
            Rule::MissingViewOf,
            [view_of("a", "b")],
            "#0 a:b:C a  is a view of a:b:C b, which is missing",
            [b(), view_of("a", "b")],
        ),
        case(
            Rule::ViewOfAfter,
            [view_of("a", "b"), b()],
            "#0 a:b:C a  comes before #1 a:b:C b, which it is a view of",
            [b(), view_of("a", "b")],
        ),
        case(
            Rule::MissingExtension,
            [extended],
            "#0 a:b:C a  refers to missing extension `ext`",
            with_extension,
        ),
        case(
            Rule::SnippetMissingReference,
            snippets([snippet("1", &[("it", urn("b"))])]),
            "snippet #0  names a:b:C b as `it`, which is missing",
            snippets([snippet("1", &[("it", urn("a"))])]),
        ),
    ]
}

#[test]
fn each_rule_is_broken_by_one_snapshot_and_kept_by_its_neighbour() {
    let cases = cases();
    for Case { rule, broken, text, kept } in &cases {
        let violations = verify(broken);
        let found: Vec<(Rule, String)> =
            violations.iter().map(|violation| (violation.rule, violation.to_string())).collect();
        assert_eq!(found, [(*rule, (*text).to_owned())]);
        assert_eq!(is_sound(&violations), rule.severity() == Severity::Warning, "{rule}");
        assert_eq!(verify(kept), [], "{rule} kept");
    }
    let covered: Vec<Rule> = cases.iter().map(|case| case.rule).collect();
    assert_eq!(covered, Rule::ALL, "a case for each rule, in their order");
}

#[test]
fn rules_have_distinct_kebab_case_names() {
    let names: std::collections::BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    for name in names {
        assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'), "{name}");
    }
}

#[test]
fn every_violation_is_reported_with_where_it_is() {
    let (_, reference) = provider("default", "1");
    let mut broken = snapshot([
        Resource { parent: urn("gone"), ..needing("a", &["b", "gone"]) },
        managed("b", &reference),
        component("a"),
    ]);
    broken.manifest.magic.clear();
    let found: Vec<_> = verify(&broken)
        .into_iter()
        .map(|violation| (violation.rule, violation.subject.index(), violation.refers_to_index))
        .collect();
    assert_eq!(
        found,
        [
            (Rule::MagicMismatch, None, None),
            (Rule::MissingParent, Some(0), None),
            (Rule::DependencyAfter, Some(0), Some(1)),
            (Rule::MissingDependency, Some(0), None),
            (Rule::UnknownProvider, Some(1), None),
            (Rule::DuplicateUrn, Some(2), Some(0)),
        ]
    );
    let violation = &verify(&broken)[1];
    assert_eq!((&violation.urn, violation.refers_to.as_ref()), (&urn("a"), Some(&urn("gone"))));
    assert_eq!((violation.who().as_str(), violation.edge), ("#0 a:b:C a", Some(EdgeKind::Parent)));
}

#[test]
fn pending_operations_must_be_readable_and_no_more() {
    let readable = Operation { resource: needing("a", &["gone"]), ..Operation::default() };
    let unreadable =
        Operation { resource: Resource { id: "i".to_owned(), ..Resource::default() }, ..readable.clone() };
    let snapshot = Snapshot { pending_operations: vec![readable, unreadable], ..snapshot([]) };
    let found: Vec<String> = verify(&snapshot).iter().map(Violation::to_string).collect();
    assert_eq!(
        found,
        [
            "pending operation #1 (no URN)  has no URN",
            "pending operation #1 (no URN)  has no type",
            "pending operation #1 (no URN)  is a component, yet has the id `i`",
        ]
    );
}

#[test]
fn s14_what_the_stock_cli_accepts_is_sound() {
    let (default, reference) = provider("default", "1");
    let (nameless, _) = provider("nameless", "");
    let to_nameless = format!("{}::04da6b54-80e4-46f7-96ec-b56ff0331ba9", nameless.urn);
    let pending = |reference: &str| Resource { pending_replacement: true, ..managed("a", reference) };
    let a = || component("a");
    let accepted: &[Snapshot] = &[
        Snapshot::default(),
        snapshot([pending(&reference)]),
        snapshot([pending(&format!("{}::", default.urn))]),
        snapshot([pending(&reference), default.clone()]),
        snapshot([Resource { provider: reference, ..default }]),
        snapshot([nameless, managed("a", &to_nameless)]),
        snapshot([Resource { dependencies: vec![Urn::default()], ..a() }]),
        snapshot([deleted(a()), deleted(a())]),
        snapshot([deleted(a()), needing("a", &["a"])]),
        snapshot([deleted(component("b")), needing("a", &["b"]), component("b")]),
        snapshot([component("b"), deleted(needing("a", &["b"])), deleted(component("b"))]),
        snapshot([Resource { urn: Urn::new("urn:pulumi:dev::shop::x"), ..a() }]),
        snapshot([view_of("a", "gone")]),
        snapshot([Resource { extension_ref: "gone".to_owned(), ..a() }]),
        snippets([snippet("1", &[("it", urn("gone"))])]),
    ];
    for snapshot in accepted {
        let violations = verify(snapshot);
        assert!(is_sound(&violations), "{violations:?}");
    }
}
