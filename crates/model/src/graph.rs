//! The dependency graph of a snapshot.

mod edge;
mod index;
#[cfg(test)]
mod tests;

pub use edge::{Edge, EdgeKind, Fate, edges, rewrite_edges};
pub(crate) use index::{Group, ResourceIndex, is_referenceable};

use crate::{Resource, ShortName, Urn};
use std::{collections::VecDeque, fmt};

/// What depends on what among the resources of a snapshot, by position.
///
/// Built over every kind of [`Edge`] in time proportional to resources and edges. References that lead nowhere and
/// references of a resource to itself are not in the graph; integrity reports those. The order of the snapshot is
/// not trusted: the graph of a shuffled snapshot is as good as that of a sorted one.
///
/// Where several resources share a URN, a resource marked for deletion depends on the one so marked, if there is
/// one, and every other resource depends on the live one, if there is one. Of several that fit equally the nearest
/// before the resource is meant, or else the first after it. A provider reference means the provider with its URN
/// and id only.
#[derive(Debug)]
pub struct DependencyGraph<'a> {
    resources: &'a [Resource],
    index: ResourceIndex<'a>,
    dependencies: Adjacency,
    /// Why each dependency is one.
    kinds: Vec<EdgeKind>,
    dependents: Adjacency,
    children: Adjacency,
}

impl<'a> DependencyGraph<'a> {
    /// Reads the graph of these resources.
    #[must_use]
    pub fn new(resources: &'a [Resource]) -> Self {
        let index = ResourceIndex::new(resources);
        let mut dependencies = Adjacency::default();
        let mut kinds = Vec::new();
        let mut parents = Adjacency::default();
        let mut targets: Vec<(usize, EdgeKind)> = Vec::new();
        for (from, resource) in resources.iter().enumerate() {
            targets.clear();
            let mut parent = None;
            for edge in edges(resource) {
                let target = index.resolve(from, resource.delete, &edge).filter(|&target| target != from);
                targets.extend(target.map(|target| (target, edge.kind)));
                if edge.kind == EdgeKind::Parent {
                    parent = target;
                }
            }
            targets.sort_unstable();
            targets.dedup_by_key(|(target, _)| *target);
            dependencies.push_row(targets.iter().map(|&(target, _)| target));
            kinds.extend(targets.iter().map(|&(_, kind)| kind));
            parents.push_row(parent);
        }
        let (dependents, children) = (dependencies.reversed(), parents.reversed());
        Self { resources, index, dependencies, kinds, dependents, children }
    }

    /// The resources that the graph is over.
    #[must_use]
    pub fn resources(&self) -> &'a [Resource] {
        self.resources
    }

    /// Every reference of a resource and the position of what it means.
    pub fn edges(&self, index: usize) -> impl Iterator<Item = (Edge<'a>, Option<usize>)> {
        self.resources.get(index).into_iter().flat_map(move |resource| {
            edges(resource).map(move |edge| (edge, self.index.resolve(index, resource.delete, &edge)))
        })
    }

    /// What a resource refers to, in snapshot order.
    #[must_use]
    pub fn dependencies(&self, index: usize) -> &[usize] {
        self.dependencies.row(index)
    }

    /// What refers to a resource, in snapshot order. Its children are among them.
    #[must_use]
    pub fn dependents(&self, index: usize) -> &[usize] {
        self.dependents.row(index)
    }

    /// The resources whose parent a resource is, in snapshot order.
    #[must_use]
    pub fn children(&self, index: usize) -> &[usize] {
        self.children.row(index)
    }

    /// All that these resources need, directly or not, in snapshot order and without themselves.
    #[must_use]
    pub fn transitive_dependencies(&self, of: &[usize]) -> Vec<usize> {
        self.dependencies.reachable(of)
    }

    /// All that needs these resources, directly or not, in snapshot order and without themselves.
    #[must_use]
    pub fn transitive_dependents(&self, of: &[usize]) -> Vec<usize> {
        self.dependents.reachable(of)
    }

    /// The children of these resources, their children, and so on, in snapshot order and without themselves.
    #[must_use]
    pub fn descendants(&self, of: &[usize]) -> Vec<usize> {
        self.children.reachable(of)
    }

    /// An order in which every resource stands after what it refers to.
    ///
    /// A resource keeps its place unless one before it refers to it; then it moves to just before that one. So a
    /// snapshot that is in order stays as it is, and equal snapshots are ordered equally.
    pub fn topological_order(&self) -> Result<Vec<usize>, CyclicError> {
        Ok(self.placements()?.into_iter().map(|placement| placement.index).collect())
    }

    /// [`Self::topological_order`], with why each resource that moves does so.
    pub(crate) fn placements(&self) -> Result<Vec<Placement>, CyclicError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            No,
            Open,
            Done,
        }
        let mut visits = vec![Visit::No; self.resources.len()];
        let mut placements = Vec::with_capacity(self.resources.len());
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.resources.len() {
            if visits[root] == Visit::Done {
                continue;
            }
            visits[root] = Visit::Open;
            path.push((root, 0));
            while let Some((node, cursor)) = path.last_mut() {
                let node = *node;
                if let Some(&next) = self.dependencies(node).get(*cursor) {
                    *cursor += 1;
                    match visits[next] {
                        Visit::Done => {}
                        Visit::Open => return Err(CyclicError { cycles: self.cycles() }),
                        Visit::No => {
                            visits[next] = Visit::Open;
                            path.push((next, 0));
                        }
                    }
                    continue;
                }
                visits[node] = Visit::Done;
                path.pop();
                let moved = path.last().map(|&(wanted_by, cursor)| {
                    let edge = self.kinds[self.dependencies.start(wanted_by) + cursor - 1];
                    Moved { before: root, wanted_by, edge }
                });
                placements.push(Placement { index: node, moved });
            }
        }
        Ok(placements)
    }

    /// The circles in the graph: of each set of resources that all depend on each other the shortest way from the
    /// first of them back to itself, in the order of those first resources.
    #[must_use]
    pub fn cycles(&self) -> Vec<Cycle> {
        let component_of = self.components();
        let mut seen = vec![false; self.resources.len()];
        let mut cycles = Vec::new();
        for start in 0..self.resources.len() {
            let component = component_of[start];
            if !std::mem::replace(&mut seen[component], true) {
                cycles.extend(self.shortest_way_back(start, &component_of).map(|path| Cycle {
                    path: path.into_iter().map(|index| (index, self.resources[index].urn.clone())).collect(),
                }));
            }
        }
        cycles
    }

    /// The number of the strongly connected component of each resource (Tarjan, without recursion).
    fn components(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let count = self.resources.len();
        let mut component_of = vec![NONE; count];
        let mut order = vec![NONE; count];
        let mut low = vec![NONE; count];
        let (mut next_order, mut next_component) = (0, 0);
        let mut unassigned = Vec::new();
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if order[root] != NONE {
                continue;
            }
            path.push((root, 0));
            while let Some((node, cursor)) = path.last_mut() {
                let node = *node;
                if order[node] == NONE {
                    order[node] = next_order;
                    low[node] = next_order;
                    next_order += 1;
                    unassigned.push(node);
                }
                if let Some(&next) = self.dependencies(node).get(*cursor) {
                    *cursor += 1;
                    if order[next] == NONE {
                        path.push((next, 0));
                    } else if component_of[next] == NONE {
                        low[node] = low[node].min(order[next]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    low[above] = low[above].min(low[node]);
                }
                if low[node] == order[node] {
                    while let Some(member) = unassigned.pop() {
                        component_of[member] = next_component;
                        if member == node {
                            break;
                        }
                    }
                    next_component += 1;
                }
            }
        }
        component_of
    }

    fn shortest_way_back(&self, start: usize, component_of: &[usize]) -> Option<Vec<usize>> {
        let mut came_from = std::collections::HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &next in self.dependencies(node) {
                if next == start {
                    let mut path = vec![node];
                    while let Some(&before) = path.last().and_then(|last| came_from.get(last)) {
                        path.push(before);
                    }
                    path.reverse();
                    return Some(path);
                }
                if component_of[next] == component_of[start] && !came_from.contains_key(&next) {
                    came_from.insert(next, node);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

/// A resource in its new place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Where it was.
    pub(crate) index: usize,
    /// Why it is elsewhere now, if it is.
    pub(crate) moved: Option<Moved>,
}

/// Why a resource moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The resource that it now stands before, and stood after.
    pub(crate) before: usize,
    /// The resource that refers to it: that one, or one that moves before it too.
    pub(crate) wanted_by: usize,
    /// Why it does.
    pub(crate) edge: EdgeKind,
}

/// Resources that depend on each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Positions and URNs: each refers to the next, and the last to the first.
    pub path: Vec<(usize, Urn)>,
}

impl fmt::Display for Cycle {
    /// Names the first ten resources at most.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        for (index, urn) in self.path.iter().take(SHOWN) {
            write!(f, "#{index} {} → ", ShortName(urn))?;
        }
        if let Some(left_out) = self.path.len().checked_sub(SHOWN).filter(|&count| count > 0) {
            write!(f, "{left_out} more → ")?;
        }
        self.path.first().map_or(Ok(()), |(index, urn)| write!(f, "#{index} {}", ShortName(urn)))
    }
}

/// Some resources depend on each other in a circle, so that no order fits them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("resources depend on each other in a circle: {}", cycles.iter().map(Cycle::to_string).collect::<Vec<_>>().join("; "))]
pub struct CyclicError {
    /// The circles.
    pub cycles: Vec<Cycle>,
}

/// Lists of positions, one a resource, in one array.
#[derive(Debug, Default)]
struct Adjacency {
    ends: Vec<usize>,
    targets: Vec<usize>,
}

impl Adjacency {
    fn push_row(&mut self, targets: impl IntoIterator<Item = usize>) {
        self.targets.extend(targets);
        self.ends.push(self.targets.len());
    }

    /// The list of a resource; empty for a position that there is not.
    fn row(&self, index: usize) -> &[usize] {
        self.ends.get(index).map_or(&[], |&end| &self.targets[self.start(index)..end])
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The same edges the other way round; each list is in ascending order.
    fn reversed(&self) -> Self {
        let rows = self.ends.len();
        let mut ends = vec![0; rows];
        for &target in &self.targets {
            ends[target] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            // Holds the start of its list until the list is filled.
            total += std::mem::replace(end, total);
        }
        let mut targets = vec![0; total];
        for from in 0..rows {
            for &target in self.row(from) {
                targets[ends[target]] = from;
                ends[target] += 1;
            }
        }
        Self { ends, targets }
    }

    fn reachable(&self, from: &[usize]) -> Vec<usize> {
        let rows = self.ends.len();
        let mut marked = vec![false; rows];
        let mut open: Vec<usize> = from.iter().copied().filter(|&start| start < rows).collect();
        while let Some(node) = open.pop() {
            for &next in self.row(node) {
                if !std::mem::replace(&mut marked[next], true) {
                    open.push(next);
                }
            }
        }
        for &start in from {
            if let Some(mark) = marked.get_mut(start) {
                *mark = false;
            }
        }
        (0..rows).filter(|&index| marked[index]).collect()
    }
}
