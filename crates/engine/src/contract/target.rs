//! Which resources an operation is about.

use drystone_model::Urn;
use std::collections::BTreeSet;

/// A set of URNs, given literally or by patterns: `**` stands for anything, `*` for anything without a colon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    literals: BTreeSet<String>,
    patterns: Vec<String>,
}

impl Targets {
    /// The set that URNs and patterns name.
    pub fn new<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        let (patterns, literals): (Vec<String>, Vec<String>) =
            texts.into_iter().map(Into::into).partition(|text: &String| text.contains('*'));
        Self { literals: literals.into_iter().collect(), patterns }
    }

    /// Whether anything was named; an operation without targets is about everything.
    #[must_use]
    pub fn is_constrained(&self) -> bool {
        !self.literals.is_empty() || !self.patterns.is_empty()
    }

    /// Whether a resource is in the set.
    #[must_use]
    pub fn contains(&self, urn: &Urn) -> bool {
        self.literals.contains(urn.as_str())
            || self.patterns.iter().any(|pattern| matches(pattern.as_bytes(), urn.as_str().as_bytes()))
    }

    /// Adds a resource.
    pub fn insert(&mut self, urn: &Urn) {
        self.literals.insert(urn.as_str().to_owned());
    }

    /// Everything that was named, in no particular order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.literals().chain(self.patterns.iter().map(String::as_str))
    }

    /// The URNs that were named literally.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.literals.iter().map(String::as_str)
    }
}

/// Whether a pattern matches a whole text. Each wildcard remembers where it began, so that the cost is at most the
/// product of both lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // `reachable[i]`: the pattern so far matches the first i bytes of the text.
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    let mut rest = pattern;
    while let Some((&first, after)) = rest.split_first() {
        let mut next = vec![false; text.len() + 1];
        if first == b'*' {
            let any = after.first() == Some(&b'*');
            rest = if any { &after[1..] } else { after };
            let mut open = false;
            for index in 0..=text.len() {
                open |= reachable[index];
                next[index] = open;
                if !any && text.get(index) == Some(&b':') {
                    open = false;
                }
            }
        } else {
            rest = after;
            for (index, &byte) in text.iter().enumerate() {
                next[index + 1] = reachable[index] && byte == first;
            }
        }
        reachable = next;
    }
    reachable[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_star_stays_within_a_part_and_two_cross_parts() {
        let urn = Urn::new("urn:pulumi:dev::shop::pkg:index:Type::name");
        for (pattern, hit) in [
            ("urn:pulumi:dev::shop::pkg:index:Type::name", true),
            ("urn:pulumi:dev::shop::pkg:index:Type::*", true),
            ("urn:pulumi:dev::shop::pkg:*:Type::n*e", true),
            ("**name", true),
            ("**", true),
            ("urn:pulumi:dev::*::name", false),
            ("urn:pulumi:dev::**::name", true),
            ("*name", false),
            ("**nam", false),
            ("urn:pulumi:dev::shop::pkg:index:Type::name*", true),
        ] {
            assert_eq!(Targets::new([pattern]).contains(&urn), hit, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let urn = Urn::new("a".repeat(10_000));
        assert!(!Targets::new(["*a".repeat(50) + "b"]).contains(&urn));
    }
}
