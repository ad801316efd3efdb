//! Programs and plugins that wait for a debugger.

use super::LanguageError;
use super::request::DebuggerSink;
use drystone_engine::Debugging;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The port that debuggers of Node.js look at first, and the one of Python that editors are used to.
const NODE_PORT: u16 = 9229;
const PYTHON_PORT: u16 = 58791;

/// How long Python may take to be ready for a debugger.
const READY: Duration = Duration::from_secs(60);

/// Which plugins wait for a debugger. Only those in source code can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DebuggedPlugins {
    /// None.
    #[default]
    None,
    /// Those with these names.
    Named(BTreeSet<String>),
    /// All.
    All,
}

impl DebuggedPlugins {
    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Named(names) => names.contains(name),
            Self::All => true,
        }
    }
}

/// What editors call a plugin that waits.
pub(super) fn plugin_title(name: &str) -> String {
    format!("Pulumi: Plugin ({name})")
}

/// A program of Node.js that is to wait.
#[derive(Debug, Clone)]
pub(super) struct NodeDebugger {
    port: u16,
}

impl NodeDebugger {
    pub(super) fn new() -> Result<Self, LanguageError> {
        Ok(Self { port: free_port(NODE_PORT)? })
    }

    /// What the interpreter is told.
    pub(super) fn arguments(&self) -> [String; 2] {
        [format!("--inspect-brk={}", self.port), "--inspect-publish-uid=http".to_owned()]
    }

    /// Says how to attach to a process, under a name.
    pub(super) fn tell(&self, name: &str, process: u32, sink: &DebuggerSink) {
        let mut config = json!({
            "name": name,
            "type": "node",
            "request": "attach",
            "processId": process,
            "continueOnAttach": true,
            "skipFiles": ["<node_internals>/**"],
        });
        let mut message = format!("on process id {process}");
        if self.port != NODE_PORT {
            config["port"] = Value::from(self.port);
            message.push_str(&format!(" and port {}", self.port));
        }
        sink(Debugging { config, message });
    }
}

/// A program of Python that is to wait.
#[derive(Debug)]
pub(super) struct PythonDebugger {
    port: u16,
    /// Where the debugger says how far it is.
    logs: tempfile::TempDir,
}

impl PythonDebugger {
    pub(super) fn new() -> Result<Self, LanguageError> {
        let logs = tempfile::Builder::new().prefix("drystone-debugpy-").tempdir();
        let logs = logs.map_err(|source| LanguageError::Debugger { source })?;
        Ok(Self { port: free_port(PYTHON_PORT)?, logs })
    }

    /// What the interpreter is told, before what it runs.
    pub(super) fn arguments(&self) -> Vec<String> {
        let logs = self.logs.path().display();
        let words = format!(
            "-Xfrozen_modules=off -m debugpy --listen 127.0.0.1:{} --wait-for-client --log-to",
            self.port
        );
        words.split(' ').map(str::to_owned).chain([logs.to_string()]).collect()
    }

    /// Says how to attach once the debugger listens, under a name. Does nothing when it never does.
    pub(super) async fn tell_when_ready(&self, name: &str, sink: &DebuggerSink) {
        let wait = async {
            while !self.listens() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(READY, wait).await.is_err() {
            return;
        }
        let config = json!({
            "name": name,
            "type": "python",
            "request": "attach",
            "connect": {"host": "127.0.0.1", "port": self.port},
            "justMyCode": true,
        });
        sink(Debugging { config, message: format!("on port {}", self.port) });
    }

    fn listens(&self) -> bool {
        let entries = std::fs::read_dir(self.logs.path()).into_iter().flatten().flatten();
        let mut logs = entries.map(|entry| entry.path()).filter(|path| is_server_log(path));
        logs.any(|log| {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            text.contains("Adapter is accepting incoming client connections")
        })
    }
}

fn is_server_log(path: &Path) -> bool {
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    name.to_string_lossy().starts_with("debugpy.server-")
}

/// That port, or any other when somebody has it.
fn free_port(preferred: u16) -> Result<u16, LanguageError> {
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listen(preferred).or_else(|_| listen(0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|source| LanguageError::Debugger { source })
}
