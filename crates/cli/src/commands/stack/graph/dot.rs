//! A graph in the DOT language, as the stock CLI writes it.

use super::{Graph, GraphArgs};
use std::fmt::Write;

pub(super) fn render(graph: &Graph<'_>, args: &GraphArgs) -> String {
    let mut text = "strict digraph {\n".to_owned();
    if let Some(fragment) = args.fragment.as_ref().filter(|fragment| !fragment.is_empty()) {
        text.push_str(fragment);
        text.push('\n');
    }
    let mut numbers = Numbers::new(graph.nodes.len());
    for (place, resource) in graph.nodes.iter().enumerate() {
        let label = if args.short_node_name { resource.urn.name() } else { resource.urn.as_str() };
        let number = numbers.of(place);
        let _ = write!(text, "    Resource{number}");
        if !label.is_empty() {
            let _ = write!(text, " [label=\"{}\"]", escaped(label));
        }
        text.push_str(";\n");
        for edge in &graph.edges[place] {
            let attributes = attributes(edge.kind.color(args), &edge.label);
            let _ = writeln!(text, "    Resource{number} -> Resource{}{attributes};", numbers.of(edge.to));
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
