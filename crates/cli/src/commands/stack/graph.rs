//! `stack graph`: writes the dependency graph of a stack in the DOT language.

use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Resource, Snapshot};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;
use std::path::PathBuf;

/// Write the dependency graph of a stack to a file, in the DOT language.
///
/// Dependencies point from a resource to those that depend on it, parents from child to parent.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  drystone stack graph graph.dot --short-node-name && dot -Tsvg graph.dot > graph.svg"
)]
pub(crate) struct GraphArgs {
    /// The file to write; `-` for standard output
    #[arg(value_name = "FILE")]
    filename: PathBuf,
    /// Leave out who is whose parent
    #[arg(long)]
    ignore_parent_edges: bool,
    /// Leave out who depends on whom
    #[arg(long)]
    ignore_dependency_edges: bool,
    /// The colour of dependencies
    #[arg(long, default_value = "#246C60", value_name = "COLOR")]
    dependency_edge_color: String,
    /// The colour of parents
    #[arg(long, default_value = "#AA6639", value_name = "COLOR")]
    parent_edge_color: String,
    /// Label resources with their names instead of their URNs
    #[arg(long)]
    short_node_name: bool,
    /// DOT text to put at the top of the graph, for styling
    #[arg(short = 'f', long = "dot-fragment", alias = "fragment", value_name = "DOT")]
    fragment: Option<String>,
}

pub(crate) async fn run(context: &Context, args: GraphArgs) -> Outcome {
    let backend = context.backend()?;
    let (stack, recorded) = context.current(&backend, None).await?;
    if !recorded.ever_written {
        return Err(Failure::general(format!("unable to find snapshot for stack {:?}", stack.name()))
            .hint("the stack was never updated; there is nothing to draw"));
    }
    let text = render(&recorded.snapshot, &args);
    if args.filename.as_os_str() == "-" {
        terminal::data(&text);
        return Ok(());
    }
    let path = args.filename.display();
    std::fs::write(&args.filename, text)
        .map_err(|error| Failure::new(ExitCode::Unavailable, format!("writing {path}: {error}")))?;
    terminal::note(format!("Wrote stack dependency graph to `{path}`"));
    Ok(())
}

struct Edge {
    to: usize,
    attributes: String,
}

fn render(snapshot: &Snapshot, args: &GraphArgs) -> String {
    // Of several resources with one URN the last stands for all.
    let mut by_urn: BTreeMap<&str, &Resource> = BTreeMap::new();
    for resource in &snapshot.resources {
        by_urn.insert(resource.urn.as_str(), resource);
    }
    let nodes: Vec<&Resource> = by_urn.values().copied().collect();
    let places: HashMap<&str, usize> = by_urn.keys().enumerate().map(|(place, &urn)| (urn, place)).collect();
    let edges = edges(snapshot, &nodes, &places, args);
    let mut text = "strict digraph {\n".to_owned();
    if let Some(fragment) = args.fragment.as_ref().filter(|fragment| !fragment.is_empty()) {
        text.push_str(fragment);
        text.push('\n');
    }
    let mut numbers = Numbers::new(nodes.len());
    // Every resource is a root, so the queue never grows.
    let mut queue: VecDeque<usize> = (0..nodes.len()).collect();
    while let Some(place) = queue.pop_front() {
        let urn = &nodes[place].urn;
        let label = if args.short_node_name { urn.name() } else { urn.as_str() };
        let number = numbers.of(place);
        let _ = write!(text, "    Resource{number}");
        if !label.is_empty() {
            let _ = write!(text, " [label=\"{}\"]", escaped(label));
        }
        text.push_str(";\n");
        for edge in &edges[place] {
            let _ =
                writeln!(text, "    Resource{number} -> Resource{}{};", numbers.of(edge.to), edge.attributes);
        }
    }
    text.push_str("}\n");
    text
}

/// Numbers in the order in which resources are first mentioned.
struct Numbers {
    given: Vec<Option<usize>>,
    next: usize,
}

impl Numbers {
    fn new(count: usize) -> Self {
        Self { given: vec![None; count], next: 0 }
    }

    fn of(&mut self, place: usize) -> usize {
        *self.given[place].get_or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// The edges that leave each node, in the order of the resources that they come from. What refers to nothing is left
/// out.
fn edges(
    snapshot: &Snapshot,
    nodes: &[&Resource],
    places: &HashMap<&str, usize>,
    args: &GraphArgs,
) -> Vec<Vec<Edge>> {
    let mut edges: Vec<Vec<Edge>> = nodes.iter().map(|_| Vec::new()).collect();
    for place in snapshot.resources.iter().map(|resource| places[resource.urn.as_str()]) {
        let resource = nodes[place];
        if !args.ignore_dependency_edges {
            for dependency in &resource.dependencies {
                let Some(&from) = places.get(dependency.as_str()) else { continue };
                let properties = resource.property_dependencies.iter();
                let blamed: Vec<&str> = properties
                    .flat_map(|(name, urns)| {
                        let matching = urns.iter().flatten().filter(|urn| *urn == dependency);
                        matching.map(|_| name.as_str())
                    })
                    .collect();
                let attributes = attributes(&args.dependency_edge_color, &blamed.join(", "));
                edges[from].push(Edge { to: place, attributes });
            }
        }
        if !args.ignore_parent_edges
            && let Some(&to) = places.get(resource.parent.as_str())
        {
            edges[place].push(Edge { to, attributes: attributes(&args.parent_edge_color, "") });
        }
    }
    edges
}

fn attributes(color: &str, label: &str) -> String {
    let mut attributes = Vec::new();
    if !color.is_empty() {
        attributes.push(format!("color = \"{}\"", escaped(color)));
    }
    if !label.is_empty() {
        attributes.push(format!("label = \"{}\"", escaped(label)));
    }
    if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) }
}

fn escaped(text: &str) -> String {
    text.replace('"', "\\\"")
}
