//! What stands where in the generated stack: which resource an index is, and which others it refers to.
//!
//! Everything is a function of the index alone, so that a file can be written in any order, and a sorted one checked,
//! without holding the stack in memory.

use super::random::Random;
use std::fmt::Write;

/// The project that the generated stack belongs to.
pub(super) const PROJECT: &str = "bench";
/// The generated stack.
pub(super) const STACK: &str = "big";

/// Resources in one component: itself and its children.
const GROUP: usize = 100;
const PROVIDERS: [(&str, &str); 4] =
    [("aws", "default_7_1_0"), ("aws", "europe"), ("kubernetes", "cluster"), ("random", "default_4_16_6")];
/// The root and the providers come first.
const HEAD: usize = 1 + PROVIDERS.len();

/// The type of every component.
const COMPONENT: &str = "platform:index:Service";

/// The types of the children, each with the provider that makes it and how many of twenty are of it.
const TYPES: [(&str, usize, u64); 8] = [
    ("aws:ec2/instance:Instance", 0, 3),
    ("aws:iam/role:Role", 0, 3),
    ("aws:s3/bucket:Bucket", 1, 3),
    ("aws:ec2/securityGroup:SecurityGroup", 0, 3),
    ("kubernetes:apps/v1:Deployment", 2, 3),
    ("aws:lambda/function:Function", 0, 3),
    ("aws:rds/instance:Instance", 1, 1),
    ("random:index/randomPassword:RandomPassword", 3, 1),
];

/// What a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The stack itself.
    Root,
    /// A provider, by its place in the list.
    Provider(usize),
    /// A component.
    Component,
    /// A child of the component at an index.
    Child {
        /// The component's index.
        component: usize,
    },
}

/// The resource at an index of a stack made from a seed.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The seed of the whole stack.
    pub(super) seed: u64,
    /// The index in dependency order.
    pub(super) index: usize,
}

impl Place {
    fn sibling(self, index: usize) -> Self {
        Self { index, ..self }
    }

    /// The random numbers of this resource, for one purpose.
    pub(super) fn random(self, purpose: u64) -> Random {
        Random::at(self.seed.wrapping_add(purpose << 32), self.index as u64)
    }

    /// What it is.
    pub(super) fn part(self) -> Part {
        match self.index {
            0 => Part::Root,
            index if index < HEAD => Part::Provider(index - 1),
            index if (index - HEAD).is_multiple_of(GROUP) => Part::Component,
            index => Part::Child { component: index - (index - HEAD) % GROUP },
        }
    }

    fn kind_number(self) -> usize {
        let mut drawn = self.random(1).below(20);
        let is_drawn = |(_, _, share): &(&str, usize, u64)| {
            let here = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            here
        };
        TYPES.iter().position(is_drawn).unwrap_or(0)
    }

    /// Its type.
    pub(super) fn kind(self) -> String {
        match self.part() {
            Part::Root => "pulumi:pulumi:Stack".to_owned(),
            Part::Provider(number) => format!("pulumi:providers:{}", PROVIDERS[number].0),
            Part::Component => COMPONENT.to_owned(),
            Part::Child { .. } => TYPES[self.kind_number()].0.to_owned(),
        }
    }

    /// Its name. All but the root and the providers end in their index.
    pub(super) fn name(self) -> String {
        match self.part() {
            Part::Root => format!("{PROJECT}-{STACK}"),
            Part::Provider(number) => PROVIDERS[number].1.to_owned(),
            Part::Component => format!("service-{}", self.index),
            Part::Child { .. } => {
                let word =
                    self.random(2).pick(&["api", "worker", "ingest", "billing", "search", "edge"]).to_owned();
                format!("{word}-{}", self.index)
            }
        }
    }

    /// Its URN.
    pub(super) fn urn(self) -> String {
        let mut urn = format!("urn:pulumi:{STACK}::{PROJECT}::");
        if let Part::Child { .. } = self.part() {
            let _ = write!(urn, "{COMPONENT}$");
        }
        let _ = write!(urn, "{}::{}", self.kind(), self.name());
        urn
    }

    /// The identifier of a provider.
    pub(super) fn provider_id(self) -> String {
        let mut random = self.random(3);
        format!(
            "{}-{}-4{}-8{}-{}",
            random.hex(8),
            random.hex(4),
            random.hex(3),
            random.hex(3),
            random.hex(12)
        )
    }

    /// Its parent.
    pub(super) fn parent(self) -> Option<Self> {
        match self.part() {
            Part::Root | Part::Provider(_) => None,
            Part::Component => Some(self.sibling(0)),
            Part::Child { component } => Some(self.sibling(component)),
        }
    }

    /// Its provider.
    pub(super) fn provider(self) -> Option<Self> {
        match self.part() {
            Part::Child { .. } => Some(self.sibling(1 + TYPES[self.kind_number()].1)),
            _ => None,
        }
    }

    /// The resources that it depends on: up to three earlier ones of its component.
    pub(super) fn dependencies(self) -> Vec<Self> {
        let Part::Child { component } = self.part() else { return Vec::new() };
        let earlier = self.index - component - 1;
        if earlier == 0 {
            return Vec::new();
        }
        let mut random = self.random(4);
        let mut indices: Vec<usize> =
            (0..random.below(4)).map(|_| component + 1 + random.below(earlier as u64) as usize).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| self.sibling(index)).collect()
    }

    /// The resource that a URN of this stack names.
    pub(super) fn of_urn(seed: u64, urn: &str) -> Option<Self> {
        let place = |index| Self { seed, index };
        if let Some(head) = (0..HEAD).map(place).find(|head| head.urn() == urn) {
            return Some(head);
        }
        let found = place(urn.rsplit('-').next()?.parse().ok()?);
        (found.urn() == urn).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_point_back() {
        for index in 0..1_000 {
            let place = Place { seed: 7, index };
            let references = place.parent().into_iter().chain(place.provider()).chain(place.dependencies());
            assert!(references.into_iter().all(|other| other.index < index), "resource {index}");
        }
    }

    #[test]
    fn urns_lead_back_to_their_place() {
        for index in 0..1_000 {
            let place = Place { seed: 7, index };
            assert_eq!(Place::of_urn(7, &place.urn()).unwrap().index, index);
        }
        assert!(Place::of_urn(7, "urn:pulumi:big::bench::other:index:Thing::api-200").is_none());
    }
}
