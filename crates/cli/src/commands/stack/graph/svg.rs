//! A graph as a picture: what others need above, what needs it below.

use super::{EdgeKind, Graph, GraphArgs};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Heights and gaps, in pixels.
const HEIGHT: f64 = 44.0;
const GAP: f64 = 18.0;
const BETWEEN_LAYERS: f64 = 64.0;
const BETWEEN_ROWS: f64 = 22.0;
const MARGIN: f64 = 24.0;

/// A layer that is wider than this goes on in another row.
const WIDEST: f64 = 1500.0;

/// The longest label, in characters; what is cut off stands in the title.
const LONGEST: usize = 40;

/// How often neighbours are brought closer to each other.
const SWEEPS: usize = 6;

/// Where a resource stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

pub(super) fn render(graph: &Graph<'_>, args: &GraphArgs) -> String {
    let places = places(graph);
    let right = places.iter().map(|place| place.x + place.width).fold(0.0, f64::max) + MARGIN;
    let bottom = places.iter().map(|place| place.y + HEIGHT).fold(0.0, f64::max) + MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{right:.0}\" height=\"{bottom:.0}\" \
         viewBox=\"0 0 {right:.0} {bottom:.0}\" font-family=\"system-ui, sans-serif\">\n{STYLE}"
    );
    for (kind, class) in [(EdgeKind::Parent, "parent"), (EdgeKind::Dependency, "dependency")] {
        let color = escaped(kind.color(args));
        let _ = writeln!(
            text,
            "<marker id=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{color}\"/></marker>\n<g class=\"{class}\" \
             stroke=\"{color}\" marker-end=\"url(#{class})\">"
        );
        for (from, edge) in graph.all_edges().filter(|(_, edge)| edge.kind == kind) {
            let title = match edge.label.as_str() {
                "" => String::new(),
                label => format!("<title>{}</title>", escaped(label)),
            };
            let _ = writeln!(text, "<path d=\"{}\">{title}</path>", curve(places[from], places[edge.to]));
        }
        text.push_str("</g>\n");
    }
    for (resource, place) in graph.nodes.iter().zip(&places) {
        let urn = &resource.urn;
        let Place { x, y, width } = place;
        let _ = writeln!(
            text,
            "<g class=\"node\" transform=\"translate({x:.1} {y:.1})\"><title>{}</title><rect width=\"{width:.1}\" \
             height=\"{HEIGHT}\" rx=\"6\" stroke=\"hsl({} 55% 50%)\"/><text x=\"12\" y=\"18\">{}</text><text x=\"12\" \
             y=\"34\" class=\"type\">{}</text></g>",
            escaped(urn.as_str()),
            hue(urn.type_token()),
            escaped(&short(urn.name())),
            escaped(&short(urn.type_token())),
        );
    }
    text.push_str("</svg>\n");
    text
}

const STYLE: &str = "<style>
.node rect { fill: #fff; stroke-width: 1.5 }
.node text { font-size: 13px; fill: #1c2126 }
.node .type { font-size: 11px; fill: #68727d }
.dependency path, .parent path { fill: none; stroke-width: 1.4; opacity: .75 }
.parent path { stroke-dasharray: 4 4 }
@media (prefers-color-scheme: dark) {
  svg { background: #14181d }
  .node rect { fill: #1e242b }
  .node text { fill: #e6eaee }
  .node .type { fill: #98a3ae }
}
</style>
";

/// Where each resource stands: below its parent and what it depends on, near to them.
pub(super) fn places(graph: &Graph<'_>) -> Vec<Place> {
    let above = above(graph);
    let layers = layers(graph, &above);
    let widths: Vec<f64> = graph.nodes.iter().map(|resource| box_width(resource)).collect();
    let rows: Vec<(Vec<usize>, bool)> = layers.into_iter().flat_map(|layer| rows(layer, &widths)).collect();
    let mut places = vec![Place::default(); graph.nodes.len()];
    let mut y = MARGIN;
    for (number, (row, begins_layer)) in rows.iter().enumerate() {
        if number > 0 {
            y += HEIGHT + if *begins_layer { BETWEEN_LAYERS } else { BETWEEN_ROWS };
        }
        let mut x = 0.0;
        for &node in row {
            places[node] = Place { x, y, width: widths[node] };
            x += widths[node] + GAP;
        }
    }
    let mut neighbours = above.clone();
    for (node, above) in above.iter().enumerate() {
        above.iter().for_each(|&other| neighbours[other].push(node));
    }
    for _ in 0..SWEEPS {
        for (row, _) in &rows {
            settle(row, &neighbours, &mut places);
        }
    }
    let left = places.iter().map(|place| place.x).fold(f64::INFINITY, f64::min);
    places.iter_mut().for_each(|place| place.x += MARGIN - left);
    places
}

/// The parent of each resource and what it depends on.
fn above(graph: &Graph<'_>) -> Vec<Vec<usize>> {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (from, edge) in graph.all_edges().filter(|(from, edge)| *from != edge.to) {
        match edge.kind {
            EdgeKind::Dependency => above[edge.to].push(from),
            EdgeKind::Parent => above[from].push(edge.to),
        }
    }
    above
}

/// Resources by how much has to be there before them, in the order of the snapshot.
fn layers(graph: &Graph<'_>, above: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut in_order: Vec<usize> = (0..graph.nodes.len()).collect();
    in_order.sort_by_key(|&node| graph.order[node]);
    let mut depth = vec![0; graph.nodes.len()];
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for node in in_order {
        // A sound snapshot has them in this order; in another one they may stand side by side.
        let before = above[node].iter().filter(|&&other| graph.order[other] < graph.order[node]);
        depth[node] = before.map(|&other| depth[other] + 1).max().unwrap_or(0);
        if layers.len() <= depth[node] {
            layers.resize(depth[node] + 1, Vec::new());
        }
        layers[depth[node]].push(node);
    }
    layers
}

/// A layer as rows that are not too wide, and whether each is the layer's first.
fn rows(layer: Vec<usize>, widths: &[f64]) -> Vec<(Vec<usize>, bool)> {
    let mut rows: Vec<(Vec<usize>, bool)> = vec![(Vec::new(), true)];
    let mut used = 0.0;
    for node in layer {
        if used > 0.0 && used + widths[node] > WIDEST {
            rows.push((Vec::new(), false));
            used = 0.0;
        }
        used += widths[node] + GAP;
        if let Some((row, _)) = rows.last_mut() {
            row.push(node);
        }
    }
    rows
}

/// Moves the resources of a row towards the middle of their neighbours, beside each other in that order.
fn settle(row: &[usize], neighbours: &[Vec<usize>], places: &mut [Place]) {
    let middle = |place: &Place| place.x + place.width / 2.0;
    let mut wanted: Vec<(f64, usize)> = row
        .iter()
        .map(|&node| {
            let near = &neighbours[node];
            let sum: f64 = near.iter().map(|&other| middle(&places[other])).sum();
            let mean = if near.is_empty() { middle(&places[node]) } else { sum / near.len() as f64 };
            (mean, node)
        })
        .collect();
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = f64::NEG_INFINITY;
    let mut moved = 0.0;
    for &(middle, node) in &wanted {
        let left = middle - places[node].width / 2.0;
        let x = left.max(end + GAP);
        moved += x - left;
        end = x + places[node].width;
        places[node].x = x;
    }
    // Those that were pushed aside all went to the right.
    let back = moved / row.len().max(1) as f64;
    row.iter().for_each(|&node| places[node].x -= back);
}

fn curve(from: Place, to: Place) -> String {
    let (x, to_x) = (from.x + from.width / 2.0, to.x + to.width / 2.0);
    let (y, to_y) = if from.y < to.y { (from.y + HEIGHT, to.y) } else { (from.y, to.y + HEIGHT) };
    let bend = (to_y - y) / 2.0;
    format!("M{x:.1} {y:.1}C{x:.1} {:.1} {to_x:.1} {:.1} {to_x:.1} {to_y:.1}", y + bend, to_y - bend)
}

fn box_width(resource: &drystone_model::Resource) -> f64 {
    let name = short(resource.urn.name()).width() as f64 * 7.4;
    let kind = short(resource.urn.type_token()).width() as f64 * 6.3;
    name.max(kind) + 24.0
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A colour for each package, always the same.
fn hue(type_token: &str) -> u32 {
    let package = type_token.split(':').next().unwrap_or_default();
    let hash = package.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    hash % 360
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}
