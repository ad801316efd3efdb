//! Every place of a snapshot that names its stack.

use crate::report::{ExitCode, Failure, Outcome};
use drystone_dialects::pulumi::properties::{
    PropertyError, SecretForm, decode, decode_properties, encode, encode_properties,
};
use drystone_dialects::pulumi::signature::RESOURCE_REFERENCE;
use drystone_model::{
    ArchiveSource, Fate, Json, Properties, ROOT_STACK_TYPE, Resource, Secret, ShortName, Snapshot, Urn,
    Value, rewrite_edges,
};
use drystone_stores::StackId;

/// A stack's old name and its new one. Names of other stacks and projects, as in aliases, stay.
pub(in crate::commands::stack) struct Renaming<'a> {
    old_stack: &'a str,
    old_project: String,
    new_stack: &'a str,
    /// `None` where stacks have no projects: each resource keeps its own.
    new_project: Option<&'a str>,
}

impl<'a> Renaming<'a> {
    /// Stacks of a store without projects have one all the same in the names of their resources.
    pub(in crate::commands::stack) fn new(old: &'a StackId, new: &'a StackId, snapshot: &Snapshot) -> Self {
        let of_resources = || snapshot.resources.first().map(|first| first.urn.project().to_owned());
        Self {
            old_stack: old.name(),
            old_project: old.project().map(str::to_owned).or_else(of_resources).unwrap_or_default(),
            new_stack: new.name(),
            new_project: new.project(),
        }
    }

    /// Renames the stack everywhere: resources and pending operations, their references and aliases, and references
    /// to resources in property values. What is sealed stays as it is.
    pub(in crate::commands::stack) fn rename(&self, snapshot: &mut Snapshot) -> Outcome {
        for resource in &mut snapshot.resources {
            self.rename_resource(resource)?;
        }
        for operation in &mut snapshot.pending_operations {
            self.rename_resource(&mut operation.resource)?;
        }
        for urn in snapshot.snippets.iter_mut().flat_map(|snippet| snippet.references.values_mut()) {
            self.rename_urn(urn);
        }
        Ok(())
    }

    fn rename_resource(&self, resource: &mut Resource) -> Outcome {
        let unreadable = |error: PropertyError| {
            Failure::new(ExitCode::Unsound, format!("{}: {error}", ShortName(&resource.urn)))
                .hint("`drystone state verify` shows what else is wrong; nothing was changed")
        };
        let inputs = self.renamed_properties(&resource.inputs).map_err(unreadable)?;
        let outputs = self.renamed_properties(&resource.outputs).map_err(unreadable)?;
        let trigger = resource.replacement_trigger.as_ref();
        let trigger = trigger.map(|json| self.renamed_json(json)).transpose().map_err(unreadable)?;
        resource.inputs = inputs;
        resource.outputs = outputs;
        resource.replacement_trigger = trigger;
        self.rename_urn(&mut resource.urn);
        for alias in &mut resource.aliases {
            self.rename_urn(alias);
        }
        rewrite_edges(resource, |edge| match self.renamed(&Urn::new(edge.urn)) {
            Some(urn) if !edge.is_malformed() => Fate::Follow(urn),
            _ => Fate::Keep,
        });
        Ok(())
    }

    fn rename_urn(&self, urn: &mut Urn) {
        if let Some(renamed) = self.renamed(urn) {
            *urn = renamed;
        }
    }

    /// The name that a resource of the stack gets; `None` for what belongs elsewhere.
    fn renamed(&self, urn: &Urn) -> Option<Urn> {
        let belongs = urn.stack() == self.old_stack
            && (self.old_project.is_empty() || urn.project() == self.old_project);
        if !belongs || urn.validate().is_err() {
            return None;
        }
        let project = self.new_project.unwrap_or_else(|| urn.project());
        let moved = urn.moved(self.new_stack, project);
        // The root is named after the project and the stack.
        let is_root = urn.qualified_type() == ROOT_STACK_TYPE;
        Some(if is_root { moved.renamed(&format!("{project}-{}", self.new_stack)) } else { moved })
    }

    /// Properties without references keep every byte.
    fn renamed_properties(&self, properties: &Properties) -> Result<Properties, PropertyError> {
        if !properties.text().contains(RESOURCE_REFERENCE) {
            return Ok(properties.clone());
        }
        let mut values = decode_properties(properties)?;
        values.values_mut().for_each(|value| self.rename_references(value));
        encode_properties(&values, SecretForm::Sealed)
    }

    fn renamed_json(&self, json: &Json) -> Result<Json, PropertyError> {
        if !json.text().contains(RESOURCE_REFERENCE) {
            return Ok(json.clone());
        }
        let mut value = decode(json)?;
        self.rename_references(&mut value);
        encode(&value, SecretForm::Sealed)
    }

    fn rename_references(&self, value: &mut Value) {
        match value {
            Value::ResourceReference(reference) => self.rename_urn(&mut reference.urn),
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_references(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.rename_references(member)),
            Value::Archive(archive) => {
                if let ArchiveSource::Assets(members) = &mut archive.source {
                    members.values_mut().for_each(|member| self.rename_references(member));
                }
            }
            Value::Secret(Secret::Open(inside)) => self.rename_references(inside),
            Value::Output(output) => {
                output.dependencies.iter_mut().for_each(|urn| self.rename_urn(urn));
                output.value.iter_mut().for_each(|inside| self.rename_references(inside));
            }
            _ => {}
        }
    }
}
