use super::*;
use crate::samples::{child, component, deleted, managed, needing, provider, urn};

/// A resource with an edge of every kind, named after its kind.
fn well_connected() -> Resource {
    let (_, reference) = provider("default", "1");
    Resource {
        parent: urn("parent"),
        dependencies: vec![urn("dependency"), Urn::default(), urn("dependency")],
        property_dependencies: [
            ("empty".to_owned(), Some(Vec::new())),
            ("nothing".to_owned(), None),
            ("size".to_owned(), Some(vec![urn("sizer"), urn("dependency")])),
        ]
        .into(),
        deleted_with: urn("deleted-with"),
        replace_with: vec![urn("replace-with")],
        view_of: urn("viewed"),
        ..managed("all", &reference)
    }
}

#[test]
fn every_kind_of_reference_is_an_edge() {
    let resource = well_connected();
    let found: Vec<(EdgeKind, String, Option<&str>)> =
        edges(&resource).map(|edge| (edge.kind, edge.urn.to_owned(), edge.property)).collect();
    let text = |name| urn(name).to_string();
    let (provider, _) = provider("default", "1");
    assert_eq!(
        found,
        [
            (EdgeKind::Provider, provider.urn.to_string(), None),
            (EdgeKind::Parent, text("parent"), None),
            (EdgeKind::Dependency, text("dependency"), None),
            (EdgeKind::Dependency, text("dependency"), None),
            (EdgeKind::PropertyDependency, text("sizer"), Some("size")),
            (EdgeKind::PropertyDependency, text("dependency"), Some("size")),
            (EdgeKind::DeletedWith, text("deleted-with"), None),
            (EdgeKind::ReplaceWith, text("replace-with"), None),
            (EdgeKind::ViewOf, text("viewed"), None),
        ]
    );
    assert_eq!(edges(&resource).next().and_then(|edge| edge.provider_id()), Some("1"));
    assert_eq!(edges(&component("none")).count(), 0);
}

#[test]
fn a_provider_reference_that_cannot_be_read_is_an_edge_to_nowhere() {
    let resource = managed("a", "nonsense");
    let edge = edges(&resource).next().unwrap();
    assert!(edge.is_malformed());
    assert_eq!((edge.urn, edge.provider_id()), ("nonsense", None));
    let resources = [component("nonsense"), resource];
    assert!(DependencyGraph::new(&resources).dependencies(1).is_empty());
}

#[test]
fn rewriting_asks_about_the_same_edges() {
    let mut resource = well_connected();
    let before = resource.clone();
    let mut asked = Vec::new();
    rewrite_edges(&mut resource, |edge| {
        asked.push(format!("{edge:?}"));
        Fate::Keep
    });
    assert_eq!(asked, edges(&before).map(|edge| format!("{edge:?}")).collect::<Vec<_>>());
    assert_eq!(resource, before);
}

#[test]
fn rewriting_drops_and_follows() {
    let mut followed = well_connected();
    rewrite_edges(&mut followed, |edge| Fate::Follow(Urn::new(edge.urn.replace("dev", "prod"))));
    let was: Vec<String> = edges(&well_connected()).map(|edge| edge.urn.replace("dev", "prod")).collect();
    let is: Vec<String> = edges(&followed).map(|edge| edge.urn.to_owned()).collect();
    assert_eq!(is, was);
    assert!(followed.provider.ends_with("::default::1"));
    assert_eq!(followed.dependencies.len(), 3, "an empty name is left alone");

    let mut dropped = well_connected();
    rewrite_edges(&mut dropped, |_| Fate::Drop);
    assert_eq!(edges(&dropped).count(), 0);
    assert_eq!(dropped.property_dependencies["size"], Some(Vec::new()), "the property stays");
    assert_eq!(dropped.property_dependencies["nothing"], None);
}

#[test]
fn neighbours_are_in_snapshot_order_and_once() {
    let (default, _) = provider("default", "1");
    let names = ["parent", "sizer", "dependency", "deleted-with", "replace-with", "viewed"];
    let mut resources: Vec<Resource> = names.map(component).into();
    resources.insert(0, default);
    resources.push(well_connected());
    let graph = DependencyGraph::new(&resources);
    assert_eq!(graph.dependencies(7), [0, 1, 2, 3, 4, 5, 6]);
    for index in 0..7 {
        assert_eq!(graph.dependents(index), [7]);
    }
    assert_eq!(graph.children(1), [7]);
    assert!(graph.children(3).is_empty());
    assert_eq!((graph.dependencies(99), graph.dependents(99)), (&[][..], &[][..]));
}

#[test]
fn what_depends_on_a_resource_is_found_however_far() {
    let top = component("top");
    let below = child(&top, "below");
    let far_below = child(&below, "far-below");
    let resources = [
        component("x"),
        top,
        below,
        needing("a", &["x"]),
        far_below,
        needing("b", &["a"]),
        needing("c", &["b", "top"]),
    ];
    let graph = DependencyGraph::new(&resources);
    assert_eq!(graph.transitive_dependents(&[0]), [3, 5, 6]);
    assert_eq!(graph.transitive_dependents(&[1]), [2, 4, 6]);
    assert_eq!(graph.transitive_dependents(&[0, 1]), [2, 3, 4, 5, 6]);
    assert_eq!(graph.transitive_dependencies(&[6]), [0, 1, 3, 5]);
    assert_eq!(graph.descendants(&[1]), [2, 4]);
    assert!(graph.transitive_dependents(&[6, 99]).is_empty());
}

#[test]
fn a_reference_means_a_resource_of_its_own_kind_where_there_is_one() {
    // Live a at 0 and 5 needs; old a at 2 and 3; b has no old form, c no live one.
    let resources = [
        component("a"),
        component("b"),
        deleted(component("a")),
        deleted(component("a")),
        deleted(component("c")),
        needing("live", &["a", "b", "c"]),
        deleted(needing("old", &["a", "b", "c"])),
    ];
    let graph = DependencyGraph::new(&resources);
    assert_eq!(graph.dependencies(5), [0, 1, 4]);
    assert_eq!(graph.dependencies(6), [1, 3, 4], "the nearest of two old ones");

    let shuffled =
        [deleted(needing("old", &["a"])), component("a"), deleted(component("a")), deleted(component("a"))];
    assert_eq!(DependencyGraph::new(&shuffled).dependencies(0), [2], "the first one after it");
}

#[test]
fn a_provider_reference_means_one_id() {
    let (old, old_reference) = provider("default", "1");
    let (new, new_reference) = provider("default", "2");
    let (mut unknown, _) = provider("unknown", "");
    unknown.id = String::new();
    let unknown_reference = format!("{}::{}", unknown.urn, index::UNKNOWN_PROVIDER_ID);
    let resources = [
        new,
        deleted(old),
        managed("a", &new_reference),
        managed("b", &old_reference),
        managed("c", &new_reference.replace("::2", "::3")),
        unknown,
        managed("d", &unknown_reference),
    ];
    let graph = DependencyGraph::new(&resources);
    assert_eq!(graph.dependencies(2), [0]);
    assert_eq!(graph.dependencies(3), [1], "although it is marked for deletion and the resource is not");
    assert!(graph.dependencies(4).is_empty());
    assert_eq!(graph.dependencies(6), [5]);
}

#[test]
fn a_sorted_snapshot_keeps_its_order() {
    let resources = [component("a"), needing("b", &["a"]), component("c"), needing("d", &["c", "a"])];
    assert_eq!(DependencyGraph::new(&resources).topological_order(), Ok(vec![0, 1, 2, 3]));
}

#[test]
fn only_what_is_needed_earlier_moves() {
    let resources = [
        component("a"),
        needing("b", &["e", "d"]),
        component("c"),
        component("d"),
        needing("e", &["c"]),
        component("f"),
    ];
    let graph = DependencyGraph::new(&resources);
    assert_eq!(graph.topological_order(), Ok(vec![0, 3, 2, 4, 1, 5]));
    let moved: Vec<_> = graph.placements().unwrap().into_iter().filter_map(|place| place.moved).collect();
    let edge = EdgeKind::Dependency;
    assert_eq!(
        moved,
        [
            Moved { before: 1, wanted_by: 1, edge },
            Moved { before: 1, wanted_by: 4, edge },
            Moved { before: 1, wanted_by: 1, edge },
        ]
    );
}

#[test]
fn cycles_are_told_with_their_path() {
    let resources = [
        component("free"),
        needing("a", &["c", "free"]),
        needing("b", &["a"]),
        needing("c", &["b"]),
        needing("x", &["y", "c"]),
        needing("y", &["x"]),
        needing("itself", &["itself"]),
        needing("after", &["x"]),
    ];
    let graph = DependencyGraph::new(&resources);
    let paths: Vec<Vec<usize>> =
        graph.cycles().iter().map(|cycle| cycle.path.iter().map(|(index, _)| *index).collect()).collect();
    assert_eq!(paths, [vec![1, 3, 2], vec![4, 5]]);
    assert_eq!(
        graph.topological_order().unwrap_err().to_string(),
        "resources depend on each other in a circle: #1 a:b:C a → #3 a:b:C c → #2 a:b:C b → #1 a:b:C a; \
         #4 a:b:C x → #5 a:b:C y → #4 a:b:C x"
    );
}

#[test]
fn the_path_of_a_cycle_is_the_shortest() {
    let resources =
        [needing("a", &["b", "d"]), needing("b", &["c"]), needing("c", &["a"]), needing("d", &["a"])];
    let cycles = DependencyGraph::new(&resources).cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].path.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn a_chain_of_100_000_is_no_deeper_than_the_stack() {
    const LENGTH: usize = 100_000;
    let name = |index: usize| format!("r{index}");
    let mut resources: Vec<Resource> =
        (0..LENGTH).map(|index| needing(&name(index), &[&name(index + 1)])).collect();
    resources.push(component(&name(LENGTH)));
    let order = DependencyGraph::new(&resources).topological_order().unwrap();
    assert!(order.iter().copied().eq((0..=LENGTH).rev()));
    assert_eq!(DependencyGraph::new(&resources).transitive_dependents(&[LENGTH]).len(), LENGTH);

    resources[LENGTH].dependencies.push(urn("r0"));
    let cycles = DependencyGraph::new(&resources).cycles();
    assert_eq!(cycles.iter().map(|cycle| cycle.path.len()).collect::<Vec<_>>(), [LENGTH + 1]);
    assert!(cycles[0].to_string().ends_with("#9 a:b:C r9 → 99991 more → #0 a:b:C r0"));
}
