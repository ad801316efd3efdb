//! `cdk state list --tree`: stacks under those that they are nested in.

use super::list::{in_order, tell_unreadable};
use super::values::{print_json, print_lines};
use crate::report::Outcome;
use drystone_stores::cdkd::{CdkdStore, Contents, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// A stack and those that are nested in it, in the tool's shape.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    stack_name: String,
    region: Option<String>,
    parent_stack: Option<String>,
    parent_logical_id: Option<String>,
    parent_region: Option<String>,
    children: Vec<Node>,
}

pub(super) async fn run(store: &CdkdStore, json: bool) -> Outcome {
    let mut summaries = store.summaries(Contents::States).await?;
    summaries.sort_by(|one, other| in_order(&one.listed, &other.listed));
    tell_unreadable(&summaries);
    let roots = planted(summaries.iter().map(node).collect());
    if json {
        print_json(&roots);
        return Ok(());
    }
    let mut lines = Vec::new();
    for root in &roots {
        lines.push(name(root));
        draw(&root.children, "", &mut lines);
    }
    print_lines(&lines);
    Ok(())
}

/// A stack that cannot be read has no known parent.
fn node(Summary { listed, state, .. }: &Summary) -> Node {
    let state = state.as_ref().ok();
    let of_parent = |member: fn(&drystone_dialects::cdkd::StackState) -> &Option<String>| {
        state.and_then(|state| member(state).clone())
    };
    Node {
        stack_name: listed.stack.to_string(),
        region: listed.region.as_ref().map(std::string::ToString::to_string),
        parent_stack: of_parent(|state| &state.parent_stack),
        parent_logical_id: of_parent(|state| &state.parent_logical_id),
        parent_region: of_parent(|state| &state.parent_region),
        children: Vec::new(),
    }
}

impl Node {
    fn key(&self) -> (String, Option<String>) {
        (self.stack_name.clone(), self.region.clone())
    }

    /// A parent is in its children's region where they do not say otherwise.
    fn parent_key(&self) -> Option<(String, Option<String>)> {
        let region = self.parent_region.as_ref().or(self.region.as_ref());
        Some((self.parent_stack.clone()?, region.cloned()))
    }
}

/// Puts nodes, which stand in their order, under their parents. One whose parent is not there stays a root, and so does
/// the first of those that are each other's parents: nothing gets lost.
fn planted(nodes: Vec<Node>) -> Vec<Node> {
    let places: BTreeMap<_, usize> = nodes.iter().enumerate().map(|(at, node)| (node.key(), at)).collect();
    let mut parents: Vec<Option<usize>> =
        nodes.iter().map(|node| places.get(&node.parent_key()?).copied()).collect();
    for at in 0..nodes.len() {
        let mut above = parents[at];
        for _ in 0..nodes.len() {
            match above {
                Some(place) if place == at => {
                    parents[at] = None;
                    break;
                }
                Some(place) => above = parents[place],
                None => break,
            }
        }
    }
    let mut children: Vec<Vec<usize>> = nodes.iter().map(|_| Vec::new()).collect();
    for (at, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(at);
        }
    }
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let roots = (0..nodes.len()).filter(|at| parents[*at].is_none()).collect::<Vec<_>>();
    roots.into_iter().filter_map(|at| grown(at, &children, &mut nodes)).collect()
}

fn grown(at: usize, children: &[Vec<usize>], nodes: &mut Vec<Option<Node>>) -> Option<Node> {
    let mut node = nodes[at].take()?;
    node.children = children[at].iter().filter_map(|child| grown(*child, children, nodes)).collect();
    Some(node)
}

fn draw(children: &[Node], before: &str, lines: &mut Vec<String>) {
    for (at, child) in children.iter().enumerate() {
        let (branch, below) =
            if at + 1 == children.len() { ("└── ", "    ") } else { ("├── ", "│   ") };
        lines.push(format!("{before}{branch}{}", name(child)));
        draw(&child.children, &format!("{before}{below}"), lines);
    }
}

fn name(node: &Node) -> String {
    match &node.region {
        Some(region) => format!("{} ({region})", node.stack_name),
        None => node.stack_name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, parent: Option<&str>) -> Node {
        Node {
            stack_name: name.to_owned(),
            region: Some("us-east-1".to_owned()),
            parent_stack: parent.map(str::to_owned),
            parent_logical_id: None,
            parent_region: parent.map(|_| "us-east-1".to_owned()),
            children: Vec::new(),
        }
    }

    fn drawn(nodes: Vec<Node>) -> Vec<String> {
        let mut lines = Vec::new();
        for root in planted(nodes) {
            lines.push(root.stack_name.clone());
            draw(&root.children, "", &mut lines);
        }
        lines.iter().map(|line| line.replace(" (us-east-1)", "")).collect()
    }

    #[test]
    fn nested_stacks_stand_under_their_parents() {
        let nodes = vec![of("A", None), of("A~B", Some("A")), of("A~B~C", Some("A~B")), of("A~D", Some("A"))];
        assert_eq!(drawn(nodes), ["A", "├── A~B", "│   └── A~B~C", "└── A~D"]);
    }

    #[test]
    fn stacks_without_their_parents_and_stacks_in_a_circle_stay_visible() {
        let nodes =
            vec![of("Gone~B", Some("Gone")), of("X", Some("Z")), of("Y", Some("X")), of("Z", Some("Y"))];
        assert_eq!(drawn(nodes), ["Gone~B", "X", "└── Y", "    └── Z"]);
        assert_eq!(drawn(vec![of("Own", Some("Own"))]), ["Own"]);
    }
}
