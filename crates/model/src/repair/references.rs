//! Taking out references that lead nowhere, and following the resources that get another URN by that.

use super::change::Change;
use crate::graph::{Edge, EdgeKind, Fate, ResourceIndex, edges, rewrite_edges};
use crate::{Resource, Snapshot, Urn};
use std::collections::HashMap;

/// What becomes of the references in a snapshot.
///
/// Made in whole before anything is changed, because what a reference means is found by the URNs as they were.
pub(super) struct Plan {
    resources: Vec<(usize, Rewrite)>,
    operations: Vec<(usize, Rewrite)>,
    snippets: Vec<(usize, String, Urn)>,
    pub(super) changes: Vec<Change>,
}

/// What becomes of one resource: its new URN, if it gets one, and the fate of each of its references.
struct Rewrite {
    urn: Option<Urn>,
    fates: Vec<Fate>,
}

impl Rewrite {
    fn changes_something(&self) -> bool {
        self.urn.is_some() || self.fates.iter().any(|fate| *fate != Fate::Keep)
    }

    fn apply(self, resource: &mut Resource) {
        let mut fates = self.fates.into_iter();
        rewrite_edges(resource, |_| fates.next().unwrap_or(Fate::Keep));
        if let Some(urn) = self.urn {
            resource.urn = urn;
        }
    }
}

impl Plan {
    /// Decides about every reference of a snapshot in which no resource comes before what it refers to. `origins` are
    /// the positions by which the changes call the resources.
    pub(super) fn new(snapshot: &Snapshot, origins: &[usize]) -> Self {
        let mut planner = Planner {
            snapshot,
            origins,
            index: ResourceIndex::new(&snapshot.resources),
            renames: HashMap::new(),
            claimed: HashMap::new(),
            changes: Vec::new(),
        };
        planner.rename();
        let resources = planner.resources();
        let operations = planner.operations();
        let snippets = planner.snippets();
        Self { resources, operations, snippets, changes: planner.into_changes() }
    }

    /// Makes the changes and says which they were.
    pub(super) fn apply(self, snapshot: &mut Snapshot) -> Vec<Change> {
        for (index, rewrite) in self.resources {
            rewrite.apply(&mut snapshot.resources[index]);
        }
        for (index, rewrite) in self.operations {
            rewrite.apply(&mut snapshot.pending_operations[index].resource);
        }
        for (index, name, urn) in self.snippets {
            snapshot.snippets[index].references.insert(name, urn);
        }
        self.changes
    }
}

struct Planner<'a> {
    snapshot: &'a Snapshot,
    origins: &'a [usize],
    index: ResourceIndex<'a>,
    renames: HashMap<usize, Rename>,
    /// The URN before of each URN after.
    claimed: HashMap<Urn, Urn>,
    changes: Vec<Change>,
}

struct Rename {
    to: Urn,
    /// How many references follow.
    references: usize,
}

/// What a resource is to be called after its parent is gone or renamed.
enum NewName {
    Same,
    Free(Urn),
    Taken(Urn),
}

impl Planner<'_> {
    /// Finds the new URNs. A parent stands before its children, so one pass is enough.
    fn rename(&mut self) {
        let snapshot = self.snapshot;
        for (position, resource) in snapshot.resources.iter().enumerate() {
            if let NewName::Free(to) = self.new_name(position, resource) {
                self.claimed.insert(to.clone(), resource.urn.clone());
                self.renames.insert(position, Rename { to, references: 0 });
            }
        }
    }

    /// A URN that does not come from the parent's does not change with it. Nor does one that would then be another
    /// resource's: losing a resource is worse than an odd name.
    fn new_name(&self, position: usize, resource: &Resource) -> NewName {
        let Some(edge) = edges(resource).find(|edge| edge.kind == EdgeKind::Parent) else {
            return NewName::Same;
        };
        let parent_type = match self.index.resolve_before(position, resource.delete, &edge) {
            None => "",
            Some(parent) => match self.renames.get(&parent) {
                None => return NewName::Same,
                Some(rename) => rename.to.qualified_type(),
            },
        };
        let urn = &resource.urn;
        let to = urn.reparented(parent_type);
        if urn.reparented(resource.parent.qualified_type()) != *urn || to == *urn {
            return NewName::Same;
        }
        let is_free = self.index.with_urn(to.as_str()).is_none()
            && self.claimed.get(&to).is_none_or(|claimed_for| claimed_for == urn);
        if is_free { NewName::Free(to) } else { NewName::Taken(to) }
    }

    fn resources(&mut self) -> Vec<(usize, Rewrite)> {
        let snapshot = self.snapshot;
        let mut rewrites = Vec::new();
        for (position, resource) in snapshot.resources.iter().enumerate() {
            let fates = edges(resource).map(|edge| self.fate(position, resource, &edge)).collect();
            let urn = self.renames.get(&position).map(|rename| rename.to.clone());
            if let Some(to) = urn.clone() {
                let index = self.origins[position];
                self.changes.push(Change::Renamed { index, from: resource.urn.clone(), to, references: 0 });
            }
            let rewrite = Rewrite { urn, fates };
            if rewrite.changes_something() {
                rewrites.push((position, rewrite));
            }
        }
        rewrites
    }

    fn fate(&mut self, position: usize, resource: &Resource, edge: &Edge<'_>) -> Fate {
        let before = self.index.resolve_before(position, resource.delete, edge);
        let anywhere = before.or_else(|| self.index.resolve(position, resource.delete, edge));
        if before.is_some() || matches!(edge.kind, EdgeKind::Provider | EdgeKind::ViewOf) {
            return self.follow(anywhere);
        }
        let (index, urn, target) = (self.origins[position], resource.urn.clone(), Urn::new(edge.urn));
        let is_itself = anywhere.is_some();
        self.changes.push(if edge.kind == EdgeKind::Parent {
            let taken = match self.new_name(position, resource) {
                NewName::Taken(taken) => Some(taken),
                NewName::Same | NewName::Free(_) => None,
            };
            Change::ParentRemoved { index, urn, parent: target, is_itself, taken }
        } else {
            let property = edge.property.map(str::to_owned);
            Change::ReferenceDropped { index, urn, edge: edge.kind, property, target, is_itself }
        });
        Fate::Drop
    }

    fn follow(&mut self, target: Option<usize>) -> Fate {
        target.and_then(|target| self.renames.get_mut(&target)).map_or(Fate::Keep, |rename| {
            rename.references += 1;
            Fate::Follow(rename.to.clone())
        })
    }

    /// Pending operations follow renamed resources; nothing is asked of what else they refer to.
    fn operations(&mut self) -> Vec<(usize, Rewrite)> {
        let (snapshot, end) = (self.snapshot, self.snapshot.resources.len());
        let mut rewrites = Vec::new();
        for (position, operation) in snapshot.pending_operations.iter().enumerate() {
            let resource = &operation.resource;
            let itself = self.index.resolve_urn(end, resource.delete, resource.urn.as_str());
            let targets = edges(resource).map(|edge| self.index.resolve(end, resource.delete, &edge));
            let targets: Vec<Option<usize>> = targets.collect();
            let fates = targets.into_iter().map(|target| self.follow(target)).collect();
            let urn = match self.follow(itself) {
                Fate::Follow(urn) => Some(urn),
                Fate::Keep | Fate::Drop => None,
            };
            let rewrite = Rewrite { urn, fates };
            if rewrite.changes_something() {
                rewrites.push((position, rewrite));
            }
        }
        rewrites
    }

    fn snippets(&mut self) -> Vec<(usize, String, Urn)> {
        let (snapshot, end) = (self.snapshot, self.snapshot.resources.len());
        let mut rewrites = Vec::new();
        for (position, snippet) in snapshot.snippets.iter().enumerate() {
            for (name, urn) in &snippet.references {
                let target = self.index.resolve_urn(end, false, urn.as_str());
                if let Fate::Follow(urn) = self.follow(target) {
                    rewrites.push((position, name.clone(), urn));
                }
            }
        }
        rewrites
    }

    /// The changes, with how many references follow each renamed resource.
    fn into_changes(mut self) -> Vec<Change> {
        let counts: HashMap<usize, usize> = self
            .renames
            .iter()
            .map(|(&position, rename)| (self.origins[position], rename.references))
            .collect();
        for change in &mut self.changes {
            if let Change::Renamed { index, references, .. } = change {
                *references = counts.get(index).copied().unwrap_or_default();
            }
        }
        self.changes
    }
}
