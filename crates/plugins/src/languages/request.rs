//! What a program is told, and how it ended.

use super::Program;
use drystone_engine::Debugging;
use drystone_workspace::config::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::Command;
use std::sync::Arc;

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
    /// Who is told how to attach a debugger, which the program then waits for.
    pub debugger: Option<DebuggerSink>,
}

/// Hears how a debugger is attached.
pub type DebuggerSink = Arc<dyn Fn(Debugging) + Send + Sync>;

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

/// The configuration as an SDK reads it.
pub(super) struct ConfigVariables {
    config: String,
    secret_keys: String,
}

impl RunRequest {
    /// The configuration as an SDK reads it, with keys of the given form.
    pub(super) fn config_variables(&self, form: impl Fn(&Key) -> String) -> ConfigVariables {
        let members = self.config.iter().map(|(key, value)| (form(key), value.clone().into()));
        let keys = self.secret_keys.iter().map(|key| key.to_string().into());
        ConfigVariables {
            config: serde_json::Value::Object(members.collect()).to_string(),
            secret_keys: serde_json::Value::Array(keys.collect()).to_string(),
        }
    }
}

impl ConfigVariables {
    /// No variable of a new process may be longer than 128 KiB on Linux.
    const LONGEST: usize = 100 << 10;

    /// Whether they are too long for that.
    pub(super) fn are_long(&self) -> bool {
        self.config.len() > Self::LONGEST || self.secret_keys.len() > Self::LONGEST
    }

    /// Gives them to a command. Long ones are given back, as the JSON object that the command is to read from its
    /// input.
    pub(super) fn give(self, command: &mut Command) -> Option<Vec<u8>> {
        const NAMES: [&str; 2] = ["PULUMI_CONFIG", "PULUMI_CONFIG_SECRET_KEYS"];
        if self.are_long() {
            command.env_remove(NAMES[0]).env_remove(NAMES[1]).env(CONFIG_IS_INPUT, "1");
            let variables = serde_json::json!({NAMES[0]: self.config, NAMES[1]: self.secret_keys});
            return Some(variables.to_string().into_bytes());
        }
        command.env(NAMES[0], self.config).env(NAMES[1], self.secret_keys).env_remove(CONFIG_IS_INPUT);
        None
    }
}

/// Set when a program finds the variables of its configuration on its input.
const CONFIG_IS_INPUT: &str = "DRYSTONE_CONFIG_IS_INPUT";

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
