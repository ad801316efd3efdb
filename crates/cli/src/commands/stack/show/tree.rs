//! Resources as a tree of parents and children.

use drystone_model::{DependencyGraph, ROOT_STACK_TYPE, Resource};

/// What is shown of each resource besides its type and name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) ids: bool,
    pub(super) urns: bool,
}

/// A line of the tree, and what stands below it.
struct Line {
    left: String,
    right: String,
    below: Vec<String>,
}

/// A resource on its way into the tree.
struct Place {
    index: usize,
    /// What stands before the branch.
    prefix: String,
    branch: Branch,
}

#[derive(Clone, Copy, PartialEq)]
enum Branch {
    Top,
    Middle,
    Last,
}

/// The tree as text. What has no parent hangs from the root of the stack, if there is one. Every resource is shown once,
/// even where the parents of a broken state go in a circle.
pub(super) fn render(resources: &[Resource], shown: Shown) -> String {
    let graph = DependencyGraph::new(resources);
    let mut children: Vec<Vec<usize>> =
        (0..resources.len()).map(|index| graph.children(index).to_vec()).collect();
    let mut is_child = vec![false; resources.len()];
    for &child in children.iter().flatten() {
        is_child[child] = true;
    }
    let is_root = |index: &usize| resources[*index].type_token == ROOT_STACK_TYPE;
    let mut tops: Vec<usize> = (0..resources.len()).filter(|&index| !is_child[index]).collect();
    if let Some(root) = tops.iter().copied().find(is_root) {
        children[root].extend(tops.iter().copied().filter(|&top| top != root));
        tops = vec![root];
    }
    let mut seen = vec![false; resources.len()];
    let mut lines = Vec::with_capacity(resources.len());
    for top in tops.into_iter().chain(0..resources.len()) {
        let mut waiting = vec![Place { index: top, prefix: String::new(), branch: Branch::Top }];
        while let Some(place) = waiting.pop() {
            if std::mem::replace(&mut seen[place.index], true) {
                continue;
            }
            let own = &children[place.index];
            lines.push(line(&resources[place.index], &place, !own.is_empty(), shown));
            let prefix = place.inner_prefix();
            for (position, &child) in own.iter().enumerate().rev() {
                let branch = if position + 1 == own.len() { Branch::Last } else { Branch::Middle };
                waiting.push(Place { index: child, prefix: prefix.clone(), branch });
            }
        }
    }
    join(&lines)
}

impl Place {
    /// What stands before the branches of its children.
    fn inner_prefix(&self) -> String {
        let bar = match self.branch {
            Branch::Top => "",
            Branch::Middle => "│  ",
            Branch::Last => "   ",
        };
        format!("{}{bar}", self.prefix)
    }
}

fn line(resource: &Resource, place: &Place, has_children: bool, shown: Shown) -> Line {
    let branch = match place.branch {
        Branch::Top => "",
        Branch::Middle => "├─ ",
        Branch::Last => "└─ ",
    };
    let below = format!("{}{}", place.inner_prefix(), if has_children { "│  " } else { "   " });
    let mut more = Vec::new();
    if shown.urns {
        more.push(format!("{below}URN: {}", resource.urn));
    }
    if shown.ids && !resource.id.is_empty() {
        more.push(format!("{below}ID: {}", resource.id));
    }
    let name = if resource.urn.validate().is_ok() { resource.urn.name() } else { resource.urn.as_str() };
    Line {
        left: format!("{}{branch}{}", place.prefix, resource.type_token),
        right: format!("{name}{}", marks(resource)),
        below: more,
    }
}

/// What is special about a resource.
fn marks(resource: &Resource) -> String {
    let marks = [
        (resource.protect, "protected"),
        (resource.taint, "tainted"),
        (resource.external, "external"),
        (resource.delete, "to be deleted"),
        (resource.pending_replacement, "to be replaced"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
    if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) }
}

fn join(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.left.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Line { left, right, below } in lines {
        text.push_str(format!("{left:width$}  {right}").trim_end());
        text.push('\n');
        for more in below {
            text.push_str(more);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_model::Urn;

    fn resource(type_token: &str, name: &str, parent: &str) -> Resource {
        Resource {
            urn: Urn::build("dev", "shop", "", type_token, name),
            type_token: type_token.to_owned(),
            parent: Urn::new(parent),
            ..Resource::default()
        }
    }

    #[test]
    fn children_stand_below_their_parents() {
        let root = resource(ROOT_STACK_TYPE, "shop-dev", "");
        let group = resource("my:mod:Group", "g", root.urn.as_str());
        let mut inner = resource("a:b:C", "inner", group.urn.as_str());
        inner.id = "i-1".to_owned();
        inner.protect = true;
        let provider = resource("pulumi:providers:a", "default", "");
        let after = resource("a:b:C", "after", root.urn.as_str());
        let shown = Shown { ids: true, urns: false };
        insta::assert_snapshot!(render(&[root, group, provider, inner, after], shown), @"
        pulumi:pulumi:Stack    shop-dev
        ├─ my:mod:Group        g
        │  └─ a:b:C            inner  (protected)
        │        ID: i-1
        ├─ a:b:C               after
        └─ pulumi:providers:a  default
        ");
    }

    #[test]
    fn a_circle_of_parents_is_shown_once() {
        let (one, two) = ("urn:pulumi:dev::shop::a:b:C::one", "urn:pulumi:dev::shop::a:b:C::two");
        let text = render(&[resource("a:b:C", "one", two), resource("a:b:C", "two", one)], Shown::default());
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
