//! Plan files: what a preview found, as constraints on an update.

use super::{
    document::serialize,
    error::{ReadError, WriteError},
    history::read_record,
    text::{Compact, Escapes, Indented},
};
use drystone_model::{Json, Manifest, Properties, Urn, record};
use std::collections::BTreeMap;

record! {
    /// A plan file, version 1. The file says no version of its own.
    pub struct PlanDocument {
        /// When it was made, and by what.
        always "manifest" => manifest: Manifest,
        /// The stack's configuration at that time, secrets sealed.
        optional "config" => config: Option<Json>,
        /// What is planned, by resource.
        optional "resourcePlans" => resource_plans: BTreeMap<Urn, ResourcePlanV1>,
        /// What binds the file; only files of this tool have it.
        optional "drystone" => binding: Option<Binding>,
    }
}

record! {
    /// What binds a plan file to its stack.
    pub struct Binding {
        /// The version of the binding.
        always "version" => version: i64,
        /// The stack's full name.
        always "stack" => stack: String,
        /// What the file is bound to, with a digest of its content, sealed with the stack's secrets.
        always "seal" => seal: String,
    }
}

record! {
    /// What is planned for a resource.
    pub struct ResourcePlanV1 {
        /// What the program asks for.
        optional "goal" => goal: Option<GoalV1>,
        /// The steps in their order, by the words that events use.
        optional "steps" => steps: Vec<String>,
        /// The outputs that are expected.
        always "state" => state: Option<Json>,
        /// The seed of made-up names, in base 64.
        optional "seed" => seed: String,
    }
}

record! {
    /// What a program asks for.
    pub struct GoalV1 {
        /// The resource's type.
        always "type" => type_token: String,
        /// Its name.
        always "name" => name: String,
        /// Whether a provider manages it.
        always "custom" => custom: bool,
        /// How its inputs change.
        always "inputDiff" => input_diff: PlanDiffV1,
        /// How its outputs change.
        always "outputDiff" => output_diff: PlanDiffV1,
        /// Its parent.
        optional "parent" => parent: Urn,
        /// Whether deleting it is refused.
        always "protect" => protect: bool,
        /// What it depends on.
        optional "dependencies" => dependencies: Vec<Urn>,
        /// Its provider.
        optional "provider" => provider: String,
        /// What each input depends on.
        optional "propertyDependencies" => property_dependencies: BTreeMap<String, Option<Vec<Urn>>>,
        /// Whether it is deleted before it is replaced.
        optional "deleteBeforeReplace" => delete_before_replace: Option<bool>,
        /// Property paths whose changes are ignored.
        optional "ignoreChanges" => ignore_changes: Vec<String>,
        /// Outputs to keep secret.
        optional "additionalSecretOutputs" => additional_secret_outputs: Vec<String>,
        /// Names that it had before.
        optional "structuredAliases" => aliases: Vec<AliasV1>,
        /// The id of an existing thing to take over.
        optional "id" => id: String,
        /// Time limits in seconds.
        always "customTimeouts" => custom_timeouts: BTreeMap<String, f64>,
        /// What this tool adds.
        optional "drystone" => more: Option<MoreV1>,
    }
}

record! {
    /// How properties change.
    pub struct PlanDiffV1 {
        /// Those that come.
        optional "adds" => adds: Properties,
        /// Those that go.
        optional "deletes" => deletes: Vec<String>,
        /// Those that change.
        optional "updates" => updates: Properties,
    }
}

record! {
    /// A name that a resource had before.
    pub struct AliasV1 {
        /// The whole of it.
        always "URN" => urn: Urn,
        /// Its name.
        always "Name" => name: String,
        /// Its type.
        always "Type" => type_token: String,
        /// Its project.
        always "Project" => project: String,
        /// Its stack.
        always "Stack" => stack: String,
        /// Its parent.
        always "Parent" => parent: Urn,
        /// Whether it had none.
        always "NoParent" => no_parent: bool,
    }
}

record! {
    /// What this tool adds to a goal.
    pub struct MoreV1 {
        /// Whether deleting it leaves the real thing alone.
        optional "retainOnDelete" => retain_on_delete: bool,
        /// A resource whose deletion deletes it too.
        optional "deletedWith" => deleted_with: Urn,
        /// Resources whose replacement replaces it.
        optional "replaceWith" => replace_with: Vec<Urn>,
        /// Property paths whose changes replace it.
        optional "replaceOnChanges" => replace_on_changes: Vec<String>,
        /// A value whose change replaces it, as the one member `value`.
        optional "replacementTrigger" => replacement_trigger: Properties,
        /// Hooks by the moment they run.
        optional "hooks" => hooks: BTreeMap<String, Vec<String>>,
        /// Whether it is made anew, so that its inputs are planned from nothing.
        optional "anew" => anew: bool,
        /// The inputs of what takes its place.
        optional "replacement" => replacement: Option<Json>,
    }
}

impl PlanDocument {
    /// Reads a plan file.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let document: Self = read_record(bytes)?;
        if document.manifest.time.is_empty() {
            let members = document.extra.0.iter().map(|(name, _)| name.clone()).collect();
            return Err(ReadError::NotPulumi { members });
        }
        Ok(document)
    }

    /// Writes a plan file as the stock CLI does: indented by four, a line feed at the end.
    pub fn to_vec(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        serialize(&mut bytes, Indented::new(), self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The text that a seal is made for: everything but the seal itself, compact.
    pub fn sealed_text(&self) -> Result<Vec<u8>, WriteError> {
        let mut bare = self.clone();
        if let Some(binding) = &mut bare.binding {
            binding.seal.clear();
        }
        let mut bytes = Vec::new();
        serialize(&mut bytes, Compact(Escapes::Plain), &bare).map(|()| bytes)
    }
}
