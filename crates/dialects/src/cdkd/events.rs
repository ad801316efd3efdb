//! The events of a run, one a line.

use super::deployments::{RunCommand, RunResult};
use super::error::{self, Kind, ReadError};
use super::journal::ChangeType;
use super::object::object;
use super::text;
use super::versions::Provisioner;
use super::words::words;

object! {
    /// Something that happened in a run. No event holds properties, because those may be secret.
    pub struct Event {
        /// When, as an ISO 8601 time.
        always "timestamp" => timestamp: String,
        /// What.
        always "eventType" => event_type: EventType,
        /// The stack: that of the run, or one nested in it.
        always "stackName" => stack_name: String,
        /// What the run is of; told as it begins.
        optional "command" => command: Option<RunCommand>,
        /// The region; told as it begins.
        optional "region" => region: Option<String>,
        /// The tool's version; told as it begins.
        optional "cdkdVersion" => cdkd_version: Option<String>,
        /// How the run ended.
        optional "result" => result: Option<RunResult>,
        /// What is done to a resource.
        optional "operation" => operation: Option<ChangeType>,
        /// The resource.
        optional "logicalId" => logical_id: Option<String>,
        /// Its type.
        optional "resourceType" => resource_type: Option<String>,
        /// The interface that it is managed through.
        optional "provisionedBy" => provisioned_by: Option<Provisioner>,
        /// What its service calls it.
        optional "physicalId" => physical_id: Option<String>,
        /// How long it took, in milliseconds.
        optional "durationMs" => duration_ms: Option<i64>,
        /// How many resources there were of each fate.
        optional "counts" => counts: Option<Counts>,
        /// Why a resource was passed over.
        optional "reason" => reason: Option<String>,
        /// What went wrong.
        optional "error" => error: Option<EventError>,
    }
}

object! {
    /// How many resources a run had of each fate.
    pub struct Counts {
        /// Made.
        always "created" => created: i64,
        /// Changed.
        always "updated" => updated: i64,
        /// Deleted.
        always "deleted" => deleted: i64,
        /// Failed.
        optional "failed" => failed: Option<i64>,
        /// Passed over.
        optional "skipped" => skipped: Option<i64>,
    }
}

object! {
    /// What went wrong.
    pub struct EventError {
        /// The kind of error.
        always "name" => name: String,
        /// What it said.
        always "message" => message: String,
        /// What the service called it.
        optional "awsErrorCode" => aws_error_code: Option<String>,
        /// The service's name for the request.
        optional "requestId" => request_id: Option<String>,
    }
}

words! {
    /// What happened.
    pub enum EventType {
        /// A run began.
        RunStarted => "RUN_STARTED",
        /// A run ended.
        RunFinished => "RUN_FINISHED",
        /// Work on a resource began.
        ResourceStarted => "RESOURCE_STARTED",
        /// It was done.
        ResourceSucceeded => "RESOURCE_SUCCEEDED",
        /// It failed.
        ResourceFailed => "RESOURCE_FAILED",
        /// A resource was kept on purpose.
        ResourceRetained => "RESOURCE_RETAINED",
        /// A resource could not be found again, and is left as it is.
        ResourceSkipped => "RESOURCE_SKIPPED",
        /// Undoing began.
        RollbackStarted => "ROLLBACK_STARTED",
        /// A resource was put back.
        RollbackResourceSucceeded => "ROLLBACK_RESOURCE_SUCCEEDED",
        /// A resource could not be put back.
        RollbackResourceFailed => "ROLLBACK_RESOURCE_FAILED",
        /// Undoing ended.
        RollbackFinished => "ROLLBACK_FINISHED",
    }
}

/// Reads events. Blank lines say nothing. A place in an error is one in the line that is meant.
pub fn read_events(bytes: &[u8]) -> Result<Vec<Event>, ReadError> {
    let text = match error::text(bytes, Kind::Events) {
        Err(ReadError::Empty) => return Ok(Vec::new()),
        other => other?,
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    lines
        .map(|(number, line)| error::parse(line, Kind::Events).map_err(|error| in_line(error, number)))
        .collect()
}

fn in_line(error: ReadError, number: usize) -> ReadError {
    match error {
        ReadError::Malformed { column, path, reason, .. } => {
            ReadError::Malformed { line: number + 1, column, path, reason }
        }
        other => other,
    }
}

/// The bytes of the file.
#[must_use]
pub fn write_events(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events {
        bytes.extend(text::line(event));
        bytes.push(b'\n');
    }
    bytes
}
