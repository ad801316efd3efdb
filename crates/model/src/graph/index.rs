//! Finding the resource that a reference means.

use super::edge::Edge;
use crate::{Resource, Urn, is_provider_type};
use std::{borrow::Borrow, collections::HashMap, hash::Hash};

/// The id by which a provider that has none is referred to.
pub(crate) const UNKNOWN_PROVIDER_ID: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// The resources of a snapshot by URN, and its providers by URN and id.
///
/// A URN may stand for several resources while replacements are under way: one live, the others marked for deletion.
/// A reference from a resource marked for deletion means another one so marked, where there is one; any other
/// reference means the live one, where there is one. Of several that fit equally the nearest before the resource is
/// meant, or else the first after it. A provider reference names the id too, and means no provider with another id.
#[derive(Debug)]
pub(crate) struct ResourceIndex<'a> {
    by_urn: Groups<&'a str>,
    providers: Groups<String>,
}

impl<'a> ResourceIndex<'a> {
    pub(crate) fn new(resources: &'a [Resource]) -> Self {
        Self {
            by_urn: Groups::new(resources, |resource| {
                (!resource.urn.is_empty()).then_some(resource.urn.as_str())
            }),
            providers: Groups::new(resources, provider_key),
        }
    }

    /// The resource that `edge` of the resource at `from` means.
    pub(crate) fn resolve(&self, from: usize, delete: bool, edge: &Edge<'_>) -> Option<usize> {
        self.candidates(edge).and_then(|group| group.nearest(from, delete))
    }

    /// The resource that `edge` of the resource at `from` means among those before it.
    pub(crate) fn resolve_before(&self, from: usize, delete: bool, edge: &Edge<'_>) -> Option<usize> {
        self.candidates(edge).and_then(|group| group.nearest_before(from, delete))
    }

    /// The resource that a resource at `from` means by a URN.
    pub(crate) fn resolve_urn(&self, from: usize, delete: bool, urn: &str) -> Option<usize> {
        self.by_urn.get(urn).and_then(|group| group.nearest(from, delete))
    }

    /// The first resource that `edge` could mean, marked for deletion or not.
    pub(crate) fn first(&self, edge: &Edge<'_>) -> Option<usize> {
        self.candidates(edge).and_then(Group::first)
    }

    /// The resources with this URN.
    pub(crate) fn with_urn(&self, urn: &str) -> Option<Group<'_>> {
        self.by_urn.get(urn)
    }

    fn candidates(&self, edge: &Edge<'_>) -> Option<Group<'_>> {
        match edge.provider {
            Some(reference) => self.providers.get(reference),
            None if edge.is_malformed() => None,
            None => self.by_urn.get(edge.urn),
        }
    }
}

/// Whether a resource of a provider type has a URN that provider references can name.
pub(crate) fn is_referenceable(urn: &Urn) -> bool {
    urn.validate().is_ok() && is_provider_type(urn.type_token())
}

/// The text by which a provider is referred to. An id with `::` in it cannot be told from the URN before it.
fn provider_key(resource: &Resource) -> Option<String> {
    let id = if resource.id.is_empty() { UNKNOWN_PROVIDER_ID } else { &resource.id };
    let is_named = is_provider_type(&resource.type_token) && is_referenceable(&resource.urn);
    (is_named && !id.contains("::")).then(|| format!("{}::{id}", resource.urn))
}

/// Resources that share a key, by position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) live: &'a [usize],
    pub(crate) deleted: &'a [usize],
}

impl Group<'_> {
    fn first(self) -> Option<usize> {
        self.live.first().into_iter().chain(self.deleted.first()).min().copied()
    }

    fn nearest(self, from: usize, delete: bool) -> Option<usize> {
        let nearest = |members: &[usize]| last_before(members, from).or_else(|| members.first().copied());
        let (same, other) = self.as_seen_by(delete);
        nearest(same).or_else(|| nearest(other))
    }

    fn nearest_before(self, from: usize, delete: bool) -> Option<usize> {
        let (same, other) = self.as_seen_by(delete);
        last_before(same, from).or_else(|| last_before(other, from))
    }

    fn as_seen_by(&self, delete: bool) -> (&[usize], &[usize]) {
        if delete { (self.deleted, self.live) } else { (self.live, self.deleted) }
    }
}

fn last_before(members: &[usize], from: usize) -> Option<usize> {
    let before = members.partition_point(|&member| member < from);
    members[..before].last().copied()
}

/// Positions grouped by key, in two flat arrays: a group's live members, then those marked for deletion.
#[derive(Debug)]
struct Groups<K> {
    numbers: HashMap<K, usize>,
    ranges: Vec<Range>,
    members: Vec<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Range {
    start: usize,
    live: usize,
    deleted: usize,
}

impl<K: Eq + Hash> Groups<K> {
    fn new<'a>(resources: &'a [Resource], key: impl Fn(&'a Resource) -> Option<K>) -> Self {
        let mut numbers = HashMap::with_capacity(resources.len());
        let mut counts: Vec<Range> = Vec::new();
        let mut number_of = Vec::with_capacity(resources.len());
        for resource in resources {
            let number = key(resource).map(|key| *numbers.entry(key).or_insert(counts.len()));
            number_of.push(number);
            if let Some(number) = number {
                if number == counts.len() {
                    counts.push(Range::default());
                }
                let range = &mut counts[number];
                *(if resource.delete { &mut range.deleted } else { &mut range.live }) += 1;
            }
        }

        let mut total = 0;
        for range in &mut counts {
            range.start = total;
            total += range.live + range.deleted;
        }
        let mut filled = vec![Range::default(); counts.len()];
        let mut members = vec![0; total];
        for (index, (resource, number)) in resources.iter().zip(number_of).enumerate() {
            let Some(number) = number else { continue };
            let (range, filled) = (counts[number], &mut filled[number]);
            if resource.delete {
                members[range.start + range.live + filled.deleted] = index;
                filled.deleted += 1;
            } else {
                members[range.start + filled.live] = index;
                filled.live += 1;
            }
        }
        Self { numbers, ranges: counts, members }
    }

    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<Group<'_>>
    where
        K: Borrow<Q>,
    {
        self.numbers.get(key).map(|&number| self.group(self.ranges[number]))
    }

    fn group(&self, range: Range) -> Group<'_> {
        let (live, deleted) =
            self.members[range.start..range.start + range.live + range.deleted].split_at(range.live);
        Group { live, deleted }
    }
}
