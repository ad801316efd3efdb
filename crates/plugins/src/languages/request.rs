//! What a program is told, and how it ended.

use super::Program;
use drystone_workspace::config::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a program is told.
#[derive(Clone)]
pub struct RunRequest {
    /// The program.
    pub program: Program,
    /// The name of the project.
    pub project: String,
    /// The name of the stack, without organization and project.
    pub stack: String,
    /// The organization of the stack.
    pub organization: String,
    /// Where the resource monitor listens, `host:port`.
    pub monitor_address: String,
    /// Where the engine listens, `host:port`.
    pub engine_address: String,
    /// Where schemas are loaded from, `host:port`, for languages that need them.
    pub loader_address: Option<String>,
    /// The configuration, secrets in clear.
    pub config: BTreeMap<Key, String>,
    /// The keys whose values are secrets, or have secrets in them.
    pub secret_keys: BTreeSet<Key>,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// How many resources the engine works on at once.
    pub parallel: u32,
    /// Arguments of the program.
    pub args: Vec<String>,
}

/// Without the configuration, which has secrets (S17).
impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("program", &self.program)
            .field("project", &self.project)
            .field("stack", &self.stack)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}

impl RunRequest {
    /// The configuration as JSON, with keys of the given form.
    pub(super) fn config_json(&self, form: impl Fn(&Key) -> String) -> String {
        let members = self.config.iter().map(|(key, value)| (form(key), value.clone().into()));
        serde_json::Value::Object(members.collect()).to_string()
    }

    /// The keys of secrets as a JSON list.
    pub(super) fn secret_keys_json(&self) -> String {
        let keys = self.secret_keys.iter().map(|key| key.to_string().into());
        serde_json::Value::Array(keys.collect()).to_string()
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Finished,
    /// It failed, and has told its user why.
    Bailed,
    /// It failed.
    Failed {
        /// How.
        message: String,
    },
    /// It was ended because the caller asked.
    Cancelled,
}
