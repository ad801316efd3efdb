//! A stack's state.

use super::error::{self, Kind, ReadError};
use super::keys::{Region, StackKey};
use super::members::Members;
use super::object::object;
use super::text;
use super::versions::{self, Import, OutputRead, Policy, Provisioner};
use drystone_model::Json;

object! {
    /// What `state.json` says of a stack.
    pub struct StackState {
        /// The schema version of the file that it was read from; 0 when that named none. What is written is always of
        /// the [newest](versions::NEWEST).
        always "version" => version: i64,
        /// The region. Files of version 1 may lack it.
        always "region" => region: String,
        /// The stack's name; for a nested one that of its parent, `~`, and its logical id there.
        always "stackName" => stack_name: String,
        /// The resources by their logical ids.
        always "resources" => resources: Members<Resource>,
        /// The outputs: each by its own name, and once more by the name that it is exported under.
        always "outputs" => outputs: Members<Json>,
        /// What this stack imports from others, which those must not lose; since version 4.
        optional "imports" => imports: Option<Vec<Import>>,
        /// What this stack read from the outputs of others; since version 8.
        optional "outputReads" => output_reads: Option<Vec<OutputRead>>,
        /// When it was written, in milliseconds since 1970.
        always "lastModified" => last_modified: i64,
        /// The parent of a nested stack; since version 6.
        optional "parentStack" => parent_stack: Option<String>,
        /// Its logical id in the parent.
        optional "parentLogicalId" => parent_logical_id: Option<String>,
        /// The region of the parent.
        optional "parentRegion" => parent_region: Option<String>,
    }
}

object! {
    /// A resource that exists.
    pub struct Resource {
        /// What its service calls it.
        always "physicalId" => physical_id: String,
        /// Its CloudFormation type.
        always "resourceType" => resource_type: String,
        /// The properties that were asked for, with references resolved.
        optional "properties" => properties: Option<Json>,
        /// What other resources may ask of it.
        optional "attributes" => attributes: Option<Json>,
        /// The logical ids of what it needs. Deployments leave an empty list out, imports do not.
        optional "dependencies" => dependencies: Option<Vec<String>>,
        /// Anything else.
        optional "metadata" => metadata: Option<Json>,
        /// Whether it is deleted with the stack; since version 5.
        optional "deletionPolicy" => deletion_policy: Option<Policy>,
        /// Whether it is deleted when another takes its place; since version 5.
        optional "updateReplacePolicy" => update_replace_policy: Option<Policy>,
        /// Which interface it was made through, and is managed through; since version 7.
        optional "provisionedBy" => provisioned_by: Option<Provisioner>,
        /// The properties that its service told of after it was made; since version 3.
        optional "observedProperties" => observed_properties: Option<Json>,
    }
}

impl StackState {
    /// A state of a stack that has nothing yet, as a first deployment begins with.
    #[must_use]
    pub fn new(key: &StackKey) -> Self {
        Self {
            version: versions::NEWEST,
            region: key.region.as_str().to_owned(),
            stack_name: key.stack.as_str().to_owned(),
            ..Self::default()
        }
    }

    /// Reads a state of any version. Older ones mean what they meant; a newer one is refused by its number (S9).
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = error::text(bytes, Kind::State)?;
        error::version(text, "version", versions::NEWEST, Kind::State)?;
        let state: Self = error::parse(text, Kind::State)?;
        if !state.form.has("resources") {
            return Err(ReadError::foreign(Kind::State, "it has no `resources`"));
        }
        Ok(state)
    }

    /// Brings the state to the newest version, as the state of a stack in a region. Everything stays where it stood.
    pub fn upgrade(&mut self, key: &StackKey) {
        versions::upgrade(self, key);
    }

    /// The bytes of the file, as the newest version.
    #[must_use]
    pub fn write(&self, key: &StackKey) -> Vec<u8> {
        let mut newest = self.clone();
        newest.upgrade(key);
        text::pretty(&newest)
    }

    /// The bytes as they are, in whatever version it was read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        text::pretty(self)
    }

    /// Whether a state at the [legacy key](super::Layout::legacy_state) is that of a region: it says so, or says nothing.
    /// One that says nothing is read for any region, but is only deleted for the one that it [names](Self::is_of).
    #[must_use]
    pub fn fits(&self, region: &Region) -> bool {
        self.region.is_empty() || self.is_of(region)
    }

    /// Whether the state names a region as its own.
    #[must_use]
    pub fn is_of(&self, region: &Region) -> bool {
        self.region == region.as_str()
    }

    /// The state as it is recorded while the stack is being destroyed: with no outputs and none of what it took from
    /// others, so that nobody relies on what may be gone.
    #[must_use]
    pub fn being_destroyed(&self, remaining: Members<Resource>) -> Self {
        Self {
            resources: remaining,
            outputs: Members::default(),
            imports: None,
            output_reads: None,
            form: self.form.clone(),
            ..self.clone()
        }
    }
}

impl Resource {
    /// The logical ids of what it needs.
    #[must_use]
    pub fn needs(&self) -> &[String] {
        self.dependencies.as_deref().unwrap_or_default()
    }
}
