//! Policy packs: what judges resources before they are made, and the stack when all is done.

use crate::{Failed, PropertyMap, Timeouts};
use async_trait::async_trait;
use drystone_model::Urn;
use std::collections::BTreeMap;
use std::fmt;

/// A policy pack that is loaded and configured.
///
/// It is asked about one resource at a time: packs are written for engines that decide one registration after the
/// other.
#[async_trait]
pub trait Analyzer: Send + Sync + fmt::Debug {
    /// What it holds.
    fn pack(&self) -> &PolicyPack;
    /// What it would have a resource be, one change after the other.
    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remediated, Failed>;
    /// What it finds wrong with a resource.
    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analyzed, Failed>;
    /// What it finds wrong with the stack.
    async fn analyze_stack(&self, resources: &[AnalyzedResource]) -> Result<Analyzed, Failed>;
    /// Tells it that the operation is asked to stop, or has ended.
    async fn cancel(&self);
}

/// What a policy pack says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyPack {
    /// Its name.
    pub name: String,
    /// Its version, or empty.
    pub version: String,
    /// Its folder, as the user named it.
    pub folder: String,
    /// Its policies as they are configured.
    pub policies: Vec<Policy>,
}

/// One rule of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// What comes of breaking it.
    pub level: EnforcementLevel,
    /// What it looks at.
    pub scope: PolicyScope,
}

/// What comes of breaking a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum EnforcementLevel {
    /// People are told.
    #[default]
    Advisory,
    /// The operation fails.
    Mandatory,
    /// The resource is changed so that it keeps the policy.
    Remediate,
    /// Nothing: it is not looked at.
    Disabled,
}

impl EnforcementLevel {
    /// Every level with the word that packs and their settings use.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Advisory, "advisory"),
        (Self::Mandatory, "mandatory"),
        (Self::Remediate, "remediate"),
        (Self::Disabled, "disabled"),
    ];

    /// The word that packs and their settings use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(level, _)| *level == self).map_or("", |(_, word)| word)
    }

    /// The level of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(level, _)| *level)
    }
}

/// What a policy looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PolicyScope {
    /// The pack is too old to say.
    #[default]
    Unknown,
    /// Resources, one at a time.
    Resource,
    /// The stack as a whole.
    Stack,
}

/// How bad it is to break a policy; it changes nothing but what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PolicySeverity {
    /// The pack does not say.
    #[default]
    Unspecified,
    /// A little.
    Low,
    /// More than that.
    Medium,
    /// Very.
    High,
    /// It must not be.
    Critical,
}

impl PolicySeverity {
    /// The word that event logs use; empty when the pack does not say.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// A resource as policies see it.
#[derive(Debug, Clone, Default)]
pub struct AnalyzedResource {
    /// Its URN.
    pub urn: Urn,
    /// Its inputs, or its outputs when the stack is looked at.
    pub properties: PropertyMap,
    /// The options that it has.
    pub options: AnalyzedOptions,
    /// Its provider, if it has one.
    pub provider: Option<AnalyzedProvider>,
    /// What it depends on; only told when the stack is looked at.
    pub dependencies: Vec<Urn>,
    /// What each property depends on; only told when the stack is looked at.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
}

/// The options of a resource that policies see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnalyzedOptions {
    /// Whether deleting it is refused.
    pub protect: bool,
    /// Property paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Whether it is deleted before it is replaced, if the program says.
    pub delete_before_replace: Option<bool>,
    /// Outputs that are kept secret.
    pub additional_secret_outputs: Vec<String>,
    /// Names that it had.
    pub aliases: Vec<Urn>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Its parent, or empty.
    pub parent: Urn,
}

/// The provider of a resource, as policies see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnalyzedProvider {
    /// Its URN.
    pub urn: Urn,
    /// Its inputs.
    pub properties: PropertyMap,
}

/// What a pack finds wrong.
#[derive(Debug, Clone, Default)]
pub struct Analyzed {
    /// Each policy that is broken.
    pub violations: Vec<Violation>,
    /// Policies that have nothing to say of what was looked at.
    pub not_applicable: Vec<String>,
}

/// What a pack would change.
#[derive(Debug, Clone, Default)]
pub struct Remediated {
    /// Each change, in order.
    pub remediations: Vec<Remediation>,
    /// Policies that have nothing to say of what was looked at.
    pub not_applicable: Vec<String>,
}

/// A policy of a pack, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyName {
    /// The policy.
    pub policy: String,
    /// Its pack.
    pub pack: String,
    /// The pack's version, or empty.
    pub version: String,
}

/// A policy that is broken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Violation {
    /// Which.
    pub name: PolicyName,
    /// What it is about, in the pack's words.
    pub description: String,
    /// What is wrong, in the pack's words.
    pub message: String,
    /// What comes of it.
    pub level: EnforcementLevel,
    /// How bad it is.
    pub severity: PolicySeverity,
    /// The resource that breaks it, or empty.
    pub urn: Urn,
}

/// A change that a policy makes to a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Remediation {
    /// Which policy.
    pub name: PolicyName,
    /// What it is about, in the pack's words.
    pub description: String,
    /// The inputs that the resource gets.
    pub properties: PropertyMap,
    /// Why the policy could not change it; empty when it could.
    pub diagnostic: String,
}

/// What is told of policies while an operation runs.
#[derive(Debug, Clone)]
pub enum PolicyEvent {
    /// A pack is being loaded.
    Loading,
    /// A policy is broken.
    Violation(Violation),
    /// A policy changed a resource.
    Remediated {
        /// Which policy, of which resource.
        name: PolicyName,
        /// The resource.
        urn: Urn,
        /// Its inputs before.
        before: PropertyMap,
        /// Its inputs after.
        after: PropertyMap,
    },
    /// What a pack said when it was asked.
    Summary(PolicySummary),
}

/// What a pack said when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySummary {
    /// What it was asked.
    pub question: PolicyQuestion,
    /// The resource, or empty for the stack.
    pub urn: Urn,
    /// The pack.
    pub pack: String,
    /// Its version, or empty.
    pub version: String,
    /// The policies that are kept, by name.
    pub passed: Vec<String>,
    /// The policies that are broken, by name.
    pub failed: Vec<String>,
}

/// What a pack was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyQuestion {
    /// What it would change of a resource.
    Remediate,
    /// What is wrong with a resource.
    Analyze,
    /// What is wrong with the stack.
    AnalyzeStack,
}

impl PolicySummary {
    /// Sums up an answer: what is enabled, has something to say and was not broken is kept.
    pub(crate) fn of<'a>(
        question: PolicyQuestion,
        pack: &PolicyPack,
        urn: &Urn,
        failed: impl Iterator<Item = &'a str>,
        not_applicable: &[String],
    ) -> Self {
        let scope = match question {
            PolicyQuestion::Remediate | PolicyQuestion::Analyze => PolicyScope::Resource,
            PolicyQuestion::AnalyzeStack => PolicyScope::Stack,
        };
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names.dedup();
            names
        };
        let failed = sorted(failed.map(str::to_owned).collect());
        let passed = pack.policies.iter().filter(|policy| {
            (policy.scope == scope || policy.scope == PolicyScope::Unknown)
                && policy.level != EnforcementLevel::Disabled
                && !failed.contains(&policy.name)
                && !not_applicable.contains(&policy.name)
        });
        Self {
            question,
            urn: urn.clone(),
            pack: pack.name.clone(),
            version: pack.version.clone(),
            passed: sorted(passed.map(|policy| policy.name.clone()).collect()),
            failed,
        }
    }
}
