//! A graph in the Mermaid language, which pages of Markdown show.

use super::{EdgeKind, Graph, GraphArgs};
use std::fmt::Write;

pub(super) fn render(graph: &Graph<'_>, args: &GraphArgs) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (place, resource) in graph.nodes.iter().enumerate() {
        let urn = &resource.urn;
        let label = match args.short_node_name {
            true => escaped(urn.name()),
            false => format!("{}<br/><small>{}</small>", escaped(urn.name()), escaped(urn.type_token())),
        };
        let _ = writeln!(text, "    r{place}[\"{label}\"]");
    }
    let (mut dependencies, mut parents) = (Vec::new(), Vec::new());
    for (number, (from, edge)) in graph.all_edges().enumerate() {
        let (arrow, numbers) = match edge.kind {
            EdgeKind::Dependency => ("-->", &mut dependencies),
            EdgeKind::Parent => ("-.->", &mut parents),
        };
        numbers.push(number.to_string());
        let label = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", escaped(label)),
        };
        let _ = writeln!(text, "    r{from} {arrow}{label} r{}", edge.to);
    }
    for (kind, numbers) in [(EdgeKind::Dependency, dependencies), (EdgeKind::Parent, parents)] {
        let color = kind.color(args);
        // A colour goes into a list of styles; one with a comma or a semicolon would be two.
        if !numbers.is_empty() && color.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#') {
            let _ = writeln!(text, "    linkStyle {} stroke:{color}", numbers.join(","));
        }
    }
    text
}

/// Text between quotes: what would end it, or be taken for markup, is named by its number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '<' | '>' | '#' | '&' | ';' | '`' | '[' | ']' | '|' => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}
