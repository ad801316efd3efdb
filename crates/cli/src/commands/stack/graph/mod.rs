//! `stack graph`: draws who depends on whom in a stack.

mod dot;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::{Args, ValueEnum};
use drystone_model::{Resource, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Draw who depends on whom in a stack: as DOT, Mermaid or SVG.
///
/// Dependencies point from a resource to those that depend on it, parents from child to parent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone stack graph graph.svg                       a picture for the browser
  drystone stack graph - --format mermaid              for a page of Markdown
  drystone stack graph graph.dot --short-node-name && dot -Tpdf graph.dot > graph.pdf")]
pub(crate) struct GraphArgs {
    /// The file to write; `-` for standard output
    #[arg(value_name = "FILE")]
    filename: PathBuf,
    /// The language; by the ending of the file (.mmd, .mermaid, .svg) otherwise, else DOT
    #[arg(long)]
    format: Option<Format>,
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
    /// Label resources with their names instead of their URNs; pictures always do
    #[arg(long)]
    short_node_name: bool,
    /// DOT text to put at the top of the graph, for styling; of no use in other languages
    #[arg(short = 'f', long = "dot-fragment", alias = "fragment", value_name = "DOT")]
    fragment: Option<String>,
}

/// The language of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Graphviz
    Dot,
    /// Markdown
    Mermaid,
    /// A picture
    Svg,
}

impl Format {
    fn of(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_lowercase().as_str() {
            "mmd" | "mermaid" => Self::Mermaid,
            "svg" => Self::Svg,
            _ => Self::Dot,
        }
    }
}

pub(crate) async fn run(context: &Context, args: GraphArgs) -> Outcome {
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    if !recorded.ever_written {
        return Err(Failure::general(format!("unable to find snapshot for stack {:?}", stack.name()))
            .hint("the stack was never updated; there is nothing to draw"));
    }
    let graph = Graph::of(&recorded.snapshot, &args);
    let text = match args.format.unwrap_or_else(|| Format::of(&args.filename)) {
        Format::Dot => dot::render(&graph, &args),
        Format::Mermaid => mermaid::render(&graph, &args),
        Format::Svg => svg::render(&graph, &args),
    };
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

/// The resources of a stack and what connects them.
struct Graph<'a> {
    /// In the order of their URNs. Of several resources with one URN the last stands for all.
    nodes: Vec<&'a Resource>,
    /// Where the snapshot has each of them: after its parent and what it depends on.
    order: Vec<usize>,
    /// The edges that leave each node, in the order of the resources that they come from.
    edges: Vec<Vec<Edge>>,
}

struct Edge {
    to: usize,
    kind: EdgeKind,
    /// The properties that depend on it.
    label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EdgeKind {
    /// To a resource that depends on this one.
    Dependency,
    /// To the parent.
    Parent,
}

impl EdgeKind {
    fn color(self, args: &GraphArgs) -> &str {
        match self {
            Self::Dependency => &args.dependency_edge_color,
            Self::Parent => &args.parent_edge_color,
        }
    }
}

impl<'a> Graph<'a> {
    /// The graph of a snapshot. What refers to nothing is left out.
    fn of(snapshot: &'a Snapshot, args: &GraphArgs) -> Self {
        let mut by_urn: BTreeMap<&str, (usize, &Resource)> = BTreeMap::new();
        for (index, resource) in snapshot.resources.iter().enumerate() {
            by_urn.insert(resource.urn.as_str(), (index, resource));
        }
        let (order, nodes): (Vec<usize>, Vec<&Resource>) = by_urn.values().copied().unzip();
        let places: HashMap<&str, usize> =
            by_urn.keys().enumerate().map(|(place, &urn)| (urn, place)).collect();
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
                    edges[from].push(Edge {
                        to: place,
                        kind: EdgeKind::Dependency,
                        label: blamed.join(", "),
                    });
                }
            }
            if !args.ignore_parent_edges
                && let Some(&to) = places.get(resource.parent.as_str())
            {
                edges[place].push(Edge { to, kind: EdgeKind::Parent, label: String::new() });
            }
        }
        Self { nodes, order, edges }
    }

    /// Every edge with where it comes from.
    fn all_edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        self.edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |edge| (from, edge)))
    }
}
