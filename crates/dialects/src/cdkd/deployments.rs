//! The runs of a stack: deployments, destructions and rollbacks of the past, newest first.

use super::error::{self, Kind, ReadError};
use super::events::{Event, EventType};
use super::keys::{NameError, StackKey, check_name};
use super::object::object;
use super::text;
use super::words::words;
use drystone_model::Wire;
use std::fmt;

/// How many runs an index holds. The events of older ones are deleted.
pub const MOST_RUNS: usize = 20;

/// The newest version of an index.
const NEWEST: i64 = 1;

object! {
    /// What `deployments/index.json` says. The tool survives its loss: the events of each run tell the same.
    pub struct RunIndex {
        /// Its version.
        always "indexVersion" => index_version: i64,
        /// The stack.
        always "stackName" => stack_name: String,
        /// Its region.
        always "region" => region: String,
        /// The runs, newest first.
        always "runs" => runs: Vec<RunSummary>,
        /// When it was written, in milliseconds since 1970.
        always "lastModified" => last_modified: i64,
    }
}

object! {
    /// What is known of a run.
    pub struct RunSummary {
        /// Which run.
        always "runId" => run_id: RunId,
        /// What was run.
        always "command" => command: RunCommand,
        /// The tool's version.
        always "cdkdVersion" => cdkd_version: String,
        /// When it began, as an ISO 8601 time.
        always "startedAt" => started_at: String,
        /// When it ended.
        always "finishedAt" => finished_at: String,
        /// How it ended.
        always "result" => result: RunResult,
        /// How many events there are of it.
        always "eventCount" => event_count: i64,
    }
}

words! {
    /// What a run was of.
    pub enum RunCommand {
        /// A deployment.
        Deploy => "deploy",
        /// A destruction.
        Destroy => "destroy",
        /// A rollback.
        Rollback => "rollback",
    }
}

words! {
    /// How a run ended.
    pub enum RunResult {
        /// Everything was done.
        Succeeded => "SUCCEEDED",
        /// Something was not.
        Failed => "FAILED",
        /// Nobody recorded it.
        Unknown => "UNKNOWN",
    }
}

/// The id of a run, which begins with its time: later runs have greater ids.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct RunId(String);

impl RunId {
    /// The id of a run that begins at an ISO 8601 time in UTC with milliseconds, told apart by the beginning of a UUID.
    #[must_use]
    pub fn new(time: &str, unique: &str) -> Self {
        let compact: String = time.chars().filter(|c| !matches!(c, '-' | ':' | '.')).collect();
        Self(format!("{compact}-{}", unique.get(..8).unwrap_or(unique)))
    }

    /// The id that a text is, if it can be in a key.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        check_name("run id", text).map(|()| Self(text.to_owned()))
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for RunId {
    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl RunIndex {
    /// An index with no runs in it.
    #[must_use]
    pub fn new(key: &StackKey) -> Self {
        Self {
            index_version: NEWEST,
            stack_name: key.stack.as_str().to_owned(),
            region: key.region.as_str().to_owned(),
            ..Self::default()
        }
    }

    /// Reads an index. One that a newer tool wrote is refused (S9).
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = error::text(bytes, Kind::RunIndex)?;
        error::version(text, "indexVersion", NEWEST, Kind::RunIndex)?;
        let index: Self = error::parse(text, Kind::RunIndex)?;
        if !index.form.has("runs") {
            return Err(ReadError::foreign(Kind::RunIndex, "it has no `runs`"));
        }
        Ok(index)
    }

    /// Puts a run at the front, in place of what was said of it before, and lets go of those beyond the
    /// [most](MOST_RUNS) that it holds.
    pub fn insert(&mut self, run: RunSummary) {
        self.runs.retain(|other| other.run_id != run.run_id);
        self.runs.insert(0, run);
        self.runs.truncate(MOST_RUNS);
    }

    /// Whether the events of a run may be deleted: the index is full, and the run older than all in it.
    #[must_use]
    pub fn has_outlived(&self, run: &RunId) -> bool {
        let oldest = self.runs.iter().map(|run| &run.run_id).min();
        self.runs.len() >= MOST_RUNS && oldest.is_some_and(|oldest| run < oldest)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        text::pretty(self)
    }
}

impl RunSummary {
    /// What the events of a run tell of it. One that was cut short has no known end.
    #[must_use]
    pub fn of(run_id: RunId, events: &[Event]) -> Self {
        let started = events.iter().find(|event| event.event_type == EventType::RunStarted);
        let finished = events.iter().rfind(|event| event.event_type == EventType::RunFinished);
        Self {
            run_id,
            command: started.and_then(|event| event.command.clone()).unwrap_or(RunCommand::Deploy),
            cdkd_version: started
                .and_then(|event| event.cdkd_version.clone())
                .unwrap_or_else(|| "unknown".to_owned()),
            started_at: started.map(|event| event.timestamp.clone()).unwrap_or_default(),
            finished_at: finished.map(|event| event.timestamp.clone()).unwrap_or_default(),
            result: finished.and_then(|event| event.result.clone()).unwrap_or(RunResult::Unknown),
            event_count: i64::try_from(events.len()).unwrap_or(i64::MAX),
            ..Self::default()
        }
    }
}
