//! The rollback journal: what deployments that failed can be undone by.

use super::error::{self, Kind, ReadError};
use super::keys::StackKey;
use super::object::object;
use super::state::Resource;
use super::text;
use super::versions::Provisioner;
use super::words::words;
use drystone_model::Json;

/// The newest version of a journal.
const NEWEST: i64 = 1;

object! {
    /// What `rollback-journal.json` says.
    pub struct RollbackJournal {
        /// Its version.
        always "journalVersion" => journal_version: i64,
        /// The stack.
        always "stackName" => stack_name: String,
        /// Its region.
        always "region" => region: String,
        /// One part for each deployment that failed, oldest first. The newest is undone first.
        always "segments" => segments: Vec<Segment>,
    }
}

object! {
    /// What one deployment did before it failed.
    pub struct Segment {
        /// The run of the deployment.
        optional "runId" => run_id: Option<String>,
        /// When, in milliseconds since 1970.
        always "timestamp" => timestamp: i64,
        /// Why it was written.
        always "reason" => reason: Reason,
        /// Whether there was no state before.
        always "initialDeploy" => initial_deploy: bool,
        /// The role that it was done as.
        optional "roleArn" => role_arn: Option<String>,
        /// The tool's version.
        optional "cdkdVersion" => cdkd_version: Option<String>,
        /// What was done, in the order in which it was completed.
        always "operations" => operations: Vec<Completed>,
        /// What failed; nobody knows what became of it.
        optional "failedOperations" => failed_operations: Option<Vec<Failed>>,
    }
}

object! {
    /// Something that was done.
    pub struct Completed {
        /// The resource.
        always "logicalId" => logical_id: String,
        /// What was done to it.
        always "changeType" => change_type: ChangeType,
        /// Its type.
        always "resourceType" => resource_type: String,
        /// The interface that it was done through.
        optional "provisionedBy" => provisioned_by: Option<Provisioner>,
        /// The resource before.
        optional "previousState" => previous_state: Option<Box<Resource>>,
        /// What its service calls it now.
        optional "physicalId" => physical_id: Option<String>,
        /// The properties that it has now.
        optional "properties" => properties: Option<Json>,
    }
}

object! {
    /// Something that failed.
    pub struct Failed {
        /// The resource.
        always "logicalId" => logical_id: String,
        /// What was tried.
        always "changeType" => change_type: ChangeType,
        /// Its type.
        always "resourceType" => resource_type: String,
        /// The interface that it was tried through.
        optional "provisionedBy" => provisioned_by: Option<Provisioner>,
        /// The resource before.
        optional "previousState" => previous_state: Option<Box<Resource>>,
        /// What its service calls it, if that is known.
        optional "physicalId" => physical_id: Option<String>,
        /// The properties that it was to have.
        optional "attemptedProperties" => attempted_properties: Option<Json>,
    }
}

words! {
    /// What is done to a resource.
    pub enum ChangeType {
        /// It is made.
        Create => "CREATE",
        /// It is changed.
        Update => "UPDATE",
        /// It is deleted.
        Delete => "DELETE",
    }
}

words! {
    /// Why a part of a journal was written.
    pub enum Reason {
        /// The deployment failed and was not to be undone.
        NoRollbackFailure => "no-rollback-failure",
        /// Somebody interrupted it.
        Interrupted => "interrupted",
        /// It failed, and undoing it had begun.
        AutoRollbackStarted => "auto-rollback-started",
        /// It failed and was undone; what failed is told of still.
        AutoRollbackClean => "auto-rollback-clean",
    }
}

impl RollbackJournal {
    /// A journal with nothing in it.
    #[must_use]
    pub fn new(key: &StackKey) -> Self {
        Self {
            journal_version: NEWEST,
            stack_name: key.stack.as_str().to_owned(),
            region: key.region.as_str().to_owned(),
            ..Self::default()
        }
    }

    /// Reads a journal. One that a newer tool wrote is refused (S9).
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = error::text(bytes, Kind::RollbackJournal)?;
        if error::version(text, "journalVersion", NEWEST, Kind::RollbackJournal)?.is_none() {
            return Err(ReadError::foreign(Kind::RollbackJournal, "it has no `journalVersion`"));
        }
        let journal: Self = error::parse(text, Kind::RollbackJournal)?;
        if !journal.form.has("segments") {
            return Err(ReadError::foreign(Kind::RollbackJournal, "it has no `segments`"));
        }
        Ok(journal)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        text::pretty(self)
    }
}
