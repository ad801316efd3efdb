//! Graphs of small stacks.

use super::*;
use clap::Parser;
use drystone_model::Urn;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: GraphArgs,
}

fn args(words: &str) -> GraphArgs {
    Line::parse_from(format!("graph {words}").split(' ')).args
}

fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "a:b:C", name)
}

fn resource(name: &str, parent: &str, needs: &[&str]) -> Resource {
    Resource {
        urn: urn(name),
        type_token: "a:b:C".to_owned(),
        parent: if parent.is_empty() { Urn::default() } else { urn(parent) },
        dependencies: needs.iter().map(|need| urn(need)).collect(),
        ..Resource::default()
    }
}

/// A root with two children, the second of which needs the first, and something that needs both.
fn stack() -> Snapshot {
    let resources = vec![
        resource("root", "", &[]),
        resource("first", "root", &[]),
        resource("second", "root", &["first"]),
        resource("last", "", &["first", "second", "missing"]),
    ];
    Snapshot { resources, ..Snapshot::default() }
}

#[test]
fn the_language_is_the_files() {
    for (file, format) in
        [("g.dot", Format::Dot), ("g.svg", Format::Svg), ("g.MMD", Format::Mermaid), ("-", Format::Dot)]
    {
        assert_eq!(Format::of(Path::new(file)), format);
    }
}

#[test]
fn mermaid_has_every_resource_and_edge() {
    let snapshot = stack();
    let given = args("-");
    let text = mermaid::render(&Graph::of(&snapshot, &given), &given);
    insta::assert_snapshot!(text);
}

#[test]
fn names_cannot_break_out_of_a_graph() {
    let name = "\"];x<script>&|#;\n";
    let snapshot = Snapshot {
        resources: vec![Resource { urn: urn(name), ..Resource::default() }],
        ..Snapshot::default()
    };
    let given = args("- --dependency-edge-color x;y");
    let graph = Graph::of(&snapshot, &given);
    let mermaid = mermaid::render(&graph, &given);
    assert_eq!(mermaid.lines().count(), 2, "{mermaid}");
    assert!(mermaid.contains("r0[\"#34;#93;#59;x#60;script#62;#38;#124;#35;#59; <br/>"), "{mermaid}");
    let svg = svg::render(&graph, &given);
    assert!(!svg.contains("<script"), "{svg}");
}

#[test]
fn a_picture_has_what_is_needed_above_and_nothing_on_top_of_each_other() {
    let mut snapshot = stack();
    snapshot.resources.extend((0..200).map(|number| resource(&format!("more-{number}"), "root", &[])));
    let given = args("-");
    let graph = Graph::of(&snapshot, &given);
    let places = svg::places(&graph);
    let at = |name: &str| {
        let node = graph.nodes.iter().position(|node| node.urn == urn(name)).expect("a resource");
        places[node]
    };
    assert!(at("root").y < at("first").y && at("first").y < at("second").y && at("second").y < at("last").y);
    for (index, a) in places.iter().enumerate() {
        assert!(a.x >= 0.0 && a.x + a.width < 2_000.0, "{a:?}");
        for b in &places[index + 1..] {
            assert!(a.y != b.y || a.x + a.width <= b.x + 0.01 || b.x + b.width <= a.x + 0.01, "{a:?} {b:?}");
        }
    }
    let text = svg::render(&graph, &given);
    assert_eq!(text.matches("class=\"node\"").count(), 204);
    assert_eq!(text.matches("<path d=\"M").count() - 2, 3 + 202);
}

#[test]
fn an_empty_stack_is_an_empty_picture() {
    let (snapshot, given) = (Snapshot::default(), args("-"));
    let text = svg::render(&Graph::of(&snapshot, &given), &given);
    assert!(text.starts_with("<svg") && text.ends_with("</svg>\n") && !text.contains("inf"), "{text}");
}
