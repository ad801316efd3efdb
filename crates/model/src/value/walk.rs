//! Walking values: what they contain, their secrets, and what may be shown of them.

use super::{ArchiveSource, Computed, Secret, Value};
use std::ops::ControlFlow;

/// The text that stands for a secret wherever values are shown.
pub const MASK: &str = "[secret]";

impl Value {
    /// Calls `visitor` with this value and everything inside, outer before inner, until it breaks. Looks into open
    /// secrets and known outputs; nothing is known of what a sealed secret holds.
    pub fn visit<'a, B>(&'a self, visitor: &mut impl FnMut(&'a Self) -> ControlFlow<B>) -> ControlFlow<B> {
        visitor(self)?;
        match self {
            Self::Array(elements) => elements.iter().try_for_each(|element| element.visit(visitor)),
            Self::Object(members) => members.values().try_for_each(|member| member.visit(visitor)),
            Self::Archive(archive) => match &archive.source {
                ArchiveSource::Assets(assets) => assets.values().try_for_each(|asset| asset.visit(visitor)),
                ArchiveSource::Path(_) | ArchiveSource::Uri(_) => ControlFlow::Continue(()),
            },
            Self::Secret(Secret::Open(value)) => value.visit(visitor),
            Self::Output(output) => output.value.iter().try_for_each(|value| value.visit(visitor)),
            _ => ControlFlow::Continue(()),
        }
    }

    fn any(&self, mut holds: impl FnMut(&Self) -> bool) -> bool {
        let found = self.visit(&mut |value| {
            if holds(value) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found.is_break()
    }

    /// Whether it is or holds a secret.
    #[must_use]
    pub fn contains_secrets(&self) -> bool {
        self.any(Self::is_secret)
    }

    /// Whether it is or holds a value that is not known yet.
    #[must_use]
    pub fn contains_unknowns(&self) -> bool {
        self.any(|value| match value {
            Self::Computed(_) => true,
            Self::Output(output) => output.value.is_none(),
            _ => false,
        })
    }

    /// Whether it holds bytes that are not valid UTF-8, which older tools cannot read from a state.
    #[must_use]
    pub fn needs_byte_string(&self) -> bool {
        self.any(|value| matches!(value, Self::Bytes(_)))
    }

    /// The outermost secrets, so that those of many values can be sealed or opened in one batch. A secret inside an
    /// open one is part of its text and not listed. Call [`Value::lower_outputs`] before sealing: a secret output is
    /// not a [`Secret`] yet.
    #[must_use]
    pub fn secrets_mut(&mut self) -> Vec<&mut Secret> {
        let mut found = Vec::new();
        self.collect_secrets(&mut found);
        found
    }

    /// Adds the outermost secrets to `found`; see [`Value::secrets_mut`].
    pub fn collect_secrets<'a>(&'a mut self, found: &mut Vec<&'a mut Secret>) {
        match self {
            Self::Secret(secret) => found.push(secret),
            Self::Array(elements) => elements.iter_mut().for_each(|element| element.collect_secrets(found)),
            Self::Object(members) => members.values_mut().for_each(|member| member.collect_secrets(found)),
            Self::Archive(archive) => {
                if let ArchiveSource::Assets(assets) = &mut archive.source {
                    assets.values_mut().for_each(|asset| asset.collect_secrets(found));
                }
            }
            Self::Output(output) => output.value.iter_mut().for_each(|value| value.collect_secrets(found)),
            _ => {}
        }
    }

    /// Replaces every output by what the state keeps of it: its value, a secret, or that it is not known.
    pub fn lower_outputs(&mut self) {
        match self {
            Self::Output(output) => {
                let mut value = output.value.take().unwrap_or(Self::Computed(Computed::String));
                value.lower_outputs();
                *self = if output.secret { Self::secret(value) } else { value };
            }
            Self::Array(elements) => elements.iter_mut().for_each(Self::lower_outputs),
            Self::Object(members) => members.values_mut().for_each(Self::lower_outputs),
            Self::Archive(archive) => {
                if let ArchiveSource::Assets(assets) = &mut archive.source {
                    assets.values_mut().for_each(Self::lower_outputs);
                }
            }
            Self::Secret(Secret::Open(value)) => value.lower_outputs(),
            _ => {}
        }
    }

    /// The value as it may be shown: every secret is the text `[secret]` (S17).
    #[must_use]
    pub fn masked(&self) -> Self {
        self.replacing(&|value| value.is_secret().then(|| Self::from(MASK)))
    }

    /// The value with every open secret in clear, for a user who asked for it. Sealed ones stay.
    #[must_use]
    pub fn revealed(&self) -> Self {
        self.replacing(&|value| match value {
            Self::Secret(Secret::Open(inner)) => Some(inner.revealed()),
            Self::Output(output) => {
                Some(output.value.as_ref().map_or(Self::Computed(Computed::String), Self::revealed))
            }
            _ => None,
        })
    }

    /// A copy in which each value that `replace` answers for is replaced, outer before inner.
    fn replacing(&self, replace: &impl Fn(&Self) -> Option<Self>) -> Self {
        if let Some(replacement) = replace(self) {
            return replacement;
        }
        match self {
            Self::Array(elements) => {
                Self::Array(elements.iter().map(|element| element.replacing(replace)).collect())
            }
            Self::Object(members) => Self::Object(
                members.iter().map(|(key, member)| (key.clone(), member.replacing(replace))).collect(),
            ),
            Self::Archive(archive) => {
                let mut archive = archive.clone();
                if let ArchiveSource::Assets(assets) = &mut archive.source {
                    assets.values_mut().for_each(|asset| *asset = asset.replacing(replace));
                }
                Self::Archive(archive)
            }
            Self::Secret(Secret::Open(value)) => {
                Self::Secret(Secret::Open(Box::new(value.replacing(replace))))
            }
            Self::Output(output) => {
                let mut output = output.clone();
                output.value = output.value.map(|value| value.replacing(replace));
                Self::Output(output)
            }
            _ => self.clone(),
        }
    }

    /// Whether two values mean the same: like equality, but numbers are compared by what they mean, so that `1` and
    /// `1.0` are the same.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.same_as(b),
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_as(b))
            }
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((key_a, a), (key_b, b))| key_a == key_b && a.same_as(b))
            }
            (Self::Secret(Secret::Open(a)), Self::Secret(Secret::Open(b))) => a.same_as(b),
            (Self::Output(a), Self::Output(b)) => {
                a.secret == b.secret
                    && a.dependencies == b.dependencies
                    && match (&a.value, &b.value) {
                        (Some(a), Some(b)) => a.same_as(b),
                        (a, b) => a.is_none() && b.is_none(),
                    }
            }
            _ => self == other,
        }
    }
}
