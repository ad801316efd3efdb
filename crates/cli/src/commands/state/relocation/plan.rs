//! What a move between two stacks changes in each of them. Nothing here reads or writes a store.

use crate::report::{ExitCode, Failure, Outcome};
use drystone_model::{
    DependencyGraph, Edge, EdgeKind, Fate, ROOT_STACK_TYPE, Resource, Snapshot, Urn, is_provider_type,
    rewrite_edges,
};
use drystone_stores::StackId;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Two snapshots after a move, and what there is to say about it.
#[derive(Debug)]
pub(super) struct Plan {
    /// What stays.
    pub(super) source: Snapshot,
    /// What was there, then what came. What came stands at the end, from [`Plan::arrived`] on.
    pub(super) destination: Snapshot,
    /// Where in the destination the resources that came begin; their secrets are still sealed for the source.
    pub(super) arrived: usize,
    /// The URNs of the resources that move, before and after.
    pub(super) moved: Vec<(Urn, Urn)>,
    /// The providers that were copied along, under their new URNs.
    pub(super) copied: Vec<Urn>,
    /// References from what stays to what moves, and from what moves to what stays. They are dropped.
    pub(super) broken: Vec<Broken>,
    /// Pending operations of resources that move; they stay behind.
    pub(super) pending: Vec<Urn>,
    /// Whether the destination already has everything: an earlier move was cut short between its two commits.
    pub(super) resumes: bool,
}

/// A reference that a move cuts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// Which resource has it, under its old URN.
    pub(super) from: Urn,
    /// Which resource it names, under its old URN.
    pub(super) to: Urn,
    /// Why it names it.
    pub(super) kind: EdgeKind,
    /// The property that it belongs to.
    pub(super) property: Option<String>,
    /// Whether the resource that has it moves.
    pub(super) moves: bool,
}

/// What to move where.
pub(super) struct Request<'a> {
    /// The URNs on the command line.
    pub(super) urns: &'a [String],
    /// Whether parents move along.
    pub(super) include_parents: bool,
    /// The stack that they move to.
    pub(super) destination: &'a StackId,
    /// Whether two resources are the same but for how their secrets are sealed; the first is the source's.
    pub(super) same: &'a dyn Fn(&Resource, &Resource) -> Outcome<bool>,
}

/// The URNs on the command line that are not in the source.
pub(super) fn unknown<'a>(source: &Snapshot, urns: &'a [String]) -> Vec<&'a String> {
    let there: HashSet<&str> = source.resources.iter().map(|resource| resource.urn.as_str()).collect();
    urns.iter().filter(|urn| !there.contains(urn.as_str())).collect()
}

impl Plan {
    /// Plans a move between two sound snapshots.
    pub(super) fn new(source: &Snapshot, destination: &Snapshot, request: &Request<'_>) -> Outcome<Self> {
        let moving = Moving::new(source, request)?;
        let mut arrivals = Arrivals::new(destination, request)?;
        let mut broken = Vec::new();
        let mut moved = Vec::new();
        for (index, resource) in source.resources.iter().enumerate() {
            if moving.set.contains(&index) {
                let (copy, cut) = moving.cut(resource, true);
                broken.extend(cut);
                moved.push((resource.urn.clone(), arrivals.resource(copy)?));
            } else if moving.providers.contains(&index) {
                let (copy, cut) = moving.cut(resource, true);
                if arrivals.provider(copy)? {
                    broken.extend(cut);
                }
            }
        }
        let (source, left) = moving.remainder(source)?;
        broken.extend(left);
        let pending = source.pending_operations.iter().map(|operation| operation.resource.urn.clone());
        let pending = pending.filter(|urn| moving.urns.contains(urn.as_str())).collect();
        let resumes = arrivals.settle()?;
        let Arrivals { snapshot, arrived, copied, .. } = arrivals;
        let mut plan =
            Self { source, destination: snapshot, arrived, moved, copied, broken, pending, resumes };
        plan.carry_extensions(&moving)?;
        Ok(plan)
    }

    /// Takes along the extensions that moved resources name, and leaves behind only those that something there names.
    fn carry_extensions(&mut self, moving: &Moving<'_>) -> Outcome {
        for resource in &self.destination.resources[self.arrived..] {
            let name = &resource.extension_ref;
            if name.is_empty() || self.destination.extensions.contains_key(name) {
                continue;
            }
            let Some(extension) = moving.source.extensions.get(name) else {
                return Err(Failure::new(
                    ExitCode::Unsound,
                    format!("the extension `{name}` of {} is missing in the source stack", resource.urn),
                ));
            };
            self.destination.extensions.insert(name.clone(), extension.clone());
        }
        let left: HashSet<&str> =
            self.source.resources.iter().map(|resource| resource.extension_ref.as_str()).collect();
        let gone: HashSet<&str> =
            moving.resources().map(|resource| resource.extension_ref.as_str()).collect();
        self.source
            .extensions
            .retain(|name, _| left.contains(name.as_str()) || !gone.contains(name.as_str()));
        Ok(())
    }
}

/// What moves, as positions and URNs in the source.
struct Moving<'a> {
    source: &'a Snapshot,
    set: BTreeSet<usize>,
    urns: HashSet<&'a str>,
    /// The providers that what moves is managed by; they are copied.
    providers: BTreeSet<usize>,
}

impl<'a> Moving<'a> {
    fn new(source: &'a Snapshot, request: &Request<'_>) -> Outcome<Self> {
        let wanted: HashSet<&str> = request.urns.iter().map(String::as_str).collect();
        let named: Vec<usize> =
            positions(&source.resources, |resource| wanted.contains(resource.urn.as_str()));
        let is_provider = |&index: &usize| is_provider_type(&source.resources[index].type_token);
        if let Some(provider) = named.iter().copied().find(is_provider) {
            let urn = &source.resources[provider].urn;
            return Err(Failure::general(format!("{urn} is a provider, and providers are not moved"))
                .hint("move the resources that it manages: it is copied along with them"));
        }
        let graph = DependencyGraph::new(&source.resources);
        let mut set: BTreeSet<usize> = named.into_iter().collect();
        if request.include_parents {
            let above: Vec<usize> = set.iter().flat_map(|&index| ancestors(&graph, index)).collect();
            set.extend(
                above.into_iter().filter(|&index| !is_root(&source.resources[index]) && !is_provider(&index)),
            );
        }
        let below = graph.descendants(&set.iter().copied().collect::<Vec<_>>());
        set.extend(below.into_iter().filter(|index| !is_provider(index)));
        set.retain(|&index| !is_root(&source.resources[index]));
        let urns: HashSet<&str> = set.iter().map(|&index| source.resources[index].urn.as_str()).collect();
        // Old forms of a resource go where it goes.
        set.extend(positions(&source.resources, |resource| urns.contains(resource.urn.as_str())));
        let references: HashSet<&str> =
            set.iter().map(|&index| source.resources[index].provider.as_str()).collect();
        let providers = positions(&source.resources, |resource| {
            is_provider_type(&resource.type_token)
                && references.contains(format!("{}::{}", resource.urn, resource.id).as_str())
        });
        Ok(Self { source, set, urns, providers: providers.into_iter().collect() })
    }

    fn resources(&self) -> impl Iterator<Item = &'a Resource> {
        self.set.iter().map(|&index| &self.source.resources[index])
    }

    /// A copy without the references that lead to the other side, and those references. A parent and a provider are
    /// seen to elsewhere.
    fn cut(&self, resource: &Resource, moves: bool) -> (Resource, Vec<Broken>) {
        let mut copy = resource.clone();
        let mut broken = Vec::new();
        rewrite_edges(&mut copy, |edge: Edge<'_>| {
            let settled_elsewhere = matches!(edge.kind, EdgeKind::Parent | EdgeKind::Provider);
            if settled_elsewhere || self.urns.contains(edge.urn) == moves {
                return Fate::Keep;
            }
            broken.push(Broken {
                from: resource.urn.clone(),
                to: Urn::new(edge.urn),
                kind: edge.kind,
                property: edge.property.map(str::to_owned),
                moves,
            });
            Fate::Drop
        });
        if copy.property_dependencies != resource.property_dependencies {
            copy.property_dependencies.retain(|_, urns| urns.as_ref().is_none_or(|urns| !urns.is_empty()));
        }
        (copy, broken)
    }

    /// What stays in the source. A provider whose parent moves stays under the stack's root.
    fn remainder(&self, source: &Snapshot) -> Outcome<(Snapshot, Vec<Broken>)> {
        let mut broken = Vec::new();
        let mut resources = Vec::with_capacity(source.resources.len());
        let mut renamed: HashMap<Urn, Urn> = HashMap::new();
        let root = source.resources.iter().find(|resource| is_root(resource)).map(|root| root.urn.clone());
        for (index, resource) in source.resources.iter().enumerate() {
            if self.set.contains(&index) {
                continue;
            }
            let (mut kept, cut) = self.cut(resource, false);
            broken.extend(cut);
            if self.urns.contains(kept.parent.as_str()) {
                kept.parent = root.clone().unwrap_or_default();
                let urn = kept.urn.reparented("");
                if source.resources.iter().any(|other| other.urn == urn) {
                    return Err(taken(&urn, "the source stack"));
                }
                renamed.insert(std::mem::replace(&mut kept.urn, urn.clone()), urn);
            }
            if !renamed.is_empty() {
                rewrite_edges(&mut kept, |edge| {
                    renamed.get(&Urn::new(edge.urn)).cloned().map_or(Fate::Keep, Fate::Follow)
                });
            }
            resources.push(kept);
        }
        let kept = Snapshot {
            manifest: source.manifest.clone(),
            secrets_provider: source.secrets_provider.clone(),
            resources,
            pending_operations: source.pending_operations.clone(),
            metadata: source.metadata.clone(),
            snippets: source.snippets.clone(),
            extensions: source.extensions.clone(),
            extra: source.extra.clone(),
        };
        Ok((kept, broken))
    }
}

/// The destination while resources arrive.
struct Arrivals<'a> {
    snapshot: Snapshot,
    arrived: usize,
    root: Urn,
    stack: (&'a str, &'a str),
    same: &'a dyn Fn(&Resource, &Resource) -> Outcome<bool>,
    /// What was there before, by URN.
    there: HashMap<Urn, usize>,
    /// New names by old ones: URNs, and provider references.
    names: HashMap<String, String>,
    copied: Vec<Urn>,
    /// Resources that were not.
    absent: usize,
    /// The first resource that is there already, and is the same.
    taken: Option<Urn>,
}

impl<'a> Arrivals<'a> {
    fn new(destination: &Snapshot, request: &Request<'a>) -> Outcome<Self> {
        let name = request.destination.name();
        let project = request.destination.project().ok_or_else(|| {
            Failure::general(format!("{name} belongs to no project, so that URNs cannot be rewritten for it"))
                .hint("give the stacks of this directory their projects with `drystone state upgrade`")
        })?;
        let mut snapshot = destination.clone();
        let root = match snapshot.resources.iter().find(|resource| is_root(resource)) {
            Some(root) => root.urn.clone(),
            None => {
                let urn = Urn::build(name, project, "", ROOT_STACK_TYPE, &format!("{project}-{name}"));
                let type_token = ROOT_STACK_TYPE.to_owned();
                snapshot
                    .resources
                    .insert(0, Resource { urn: urn.clone(), type_token, ..Resource::default() });
                urn
            }
        };
        let resources = snapshot.resources.iter().enumerate();
        let there = resources.map(|(index, resource)| (resource.urn.clone(), index)).collect();
        Ok(Self {
            arrived: snapshot.resources.len(),
            snapshot,
            root,
            stack: (name, project),
            same: request.same,
            there,
            names: HashMap::new(),
            copied: Vec::new(),
            absent: 0,
            taken: None,
        })
    }

    /// Takes in a resource that moves and gives its new URN.
    fn resource(&mut self, resource: Resource) -> Outcome<Urn> {
        let old = resource.urn.clone();
        let arrival = self.renamed(resource);
        let urn = arrival.urn.clone();
        self.names.insert(old.to_string(), urn.to_string());
        match self.there.get(&urn) {
            Some(&index) if (self.same)(&arrival, &self.snapshot.resources[index])? => {
                self.taken.get_or_insert_with(|| urn.clone());
            }
            Some(_) => return Err(taken(&urn, "the destination stack")),
            None => {
                self.absent += 1;
                self.snapshot.resources.push(arrival);
            }
        }
        Ok(urn)
    }

    /// Takes in a copy of a provider, unless an equal one is there. Says whether it did.
    fn provider(&mut self, provider: Resource) -> Outcome<bool> {
        let old = format!("{}::{}", provider.urn, provider.id);
        let old_urn = provider.urn.to_string();
        let arrival = self.renamed(provider);
        let urn = arrival.urn.clone();
        let (id, is_new) = match self.there.get(&urn).map(|&index| &self.snapshot.resources[index]) {
            Some(there) if there.id == arrival.id => (there.id.clone(), false),
            Some(there) => {
                // Another provider that was given the same will do.
                let stand_in = Resource { inputs: there.inputs.clone(), ..arrival.clone() };
                if !(self.same)(&arrival, &stand_in)? {
                    return Err(taken(&urn, "the destination stack with other inputs"));
                }
                (there.id.clone(), false)
            }
            None => (arrival.id.clone(), true),
        };
        self.names.insert(old, format!("{urn}::{id}"));
        self.names.insert(old_urn, urn.to_string());
        if is_new {
            self.copied.push(urn);
            self.snapshot.resources.push(arrival);
        }
        Ok(is_new)
    }

    /// The resource under its new URN, with its references. What it refers to has come before it.
    fn renamed(&self, mut resource: Resource) -> Resource {
        let (stack, project) = self.stack;
        let parent = self.names.get(resource.parent.as_str()).map(|urn| Urn::new(urn.as_str()));
        resource.parent = parent.unwrap_or_else(|| self.root.clone());
        resource.urn = resource.urn.moved(stack, project).reparented(resource.parent.qualified_type());
        if let Some(reference) = self.names.get(&resource.provider) {
            resource.provider.clone_from(reference);
        }
        rewrite_edges(&mut resource, |edge| match edge.kind {
            EdgeKind::Parent | EdgeKind::Provider => Fate::Keep,
            _ => self.names.get(edge.urn).map_or(Fate::Keep, |urn| Fate::Follow(Urn::new(urn.as_str()))),
        });
        resource
    }

    /// Whether everything was there already. Some of it there and some not is no move that was cut short.
    fn settle(&self) -> Outcome<bool> {
        match (&self.taken, self.absent) {
            (Some(urn), 1..) => Err(taken(urn, "the destination stack")),
            (Some(_), 0) => Ok(true),
            (None, _) => Ok(false),
        }
    }
}

fn taken(urn: &Urn, place: &str) -> Failure {
    Failure::general(format!("{urn} is already in {place}")).hint(
        "rename one of the two with `drystone state rename`, or delete one with `drystone state delete`",
    )
}

fn is_root(resource: &Resource) -> bool {
    resource.type_token == ROOT_STACK_TYPE && resource.parent.is_empty()
}

fn positions(resources: &[Resource], wanted: impl Fn(&Resource) -> bool) -> Vec<usize> {
    let numbered = resources.iter().enumerate();
    numbered.filter(|(_, resource)| wanted(resource)).map(|(index, _)| index).collect()
}

fn ancestors(graph: &DependencyGraph<'_>, index: usize) -> Vec<usize> {
    let parent_of = |index: usize| {
        graph.edges(index).find(|(edge, _)| edge.kind == EdgeKind::Parent).and_then(|(_, parent)| parent)
    };
    let mut found = Vec::new();
    let mut at = parent_of(index);
    while let Some(parent) = at.filter(|parent| !found.contains(parent)) {
        found.push(parent);
        at = parent_of(parent);
    }
    found
}
