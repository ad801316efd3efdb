//! Programs and plugins that wait for a debugger.

use super::LanguageError;
use super::request::DebuggerSink;
use drystone_engine::Debugging;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
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
#[derive(Debug)]
pub(super) struct NodeDebugger {
    port: Port,
}

impl NodeDebugger {
    pub(super) fn new() -> Result<Self, LanguageError> {
        Ok(Self { port: Port::free(NODE_PORT)? })
    }

    /// What the interpreter is told.
    pub(super) fn arguments(&self) -> [String; 2] {
        [format!("--inspect-brk={}", self.port.0), "--inspect-publish-uid=http".to_owned()]
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
        if self.port.0 != NODE_PORT {
            config["port"] = Value::from(self.port.0);
            message.push_str(&format!(" and port {}", self.port.0));
        }
        sink(Debugging { config, message });
    }
}

/// A program of Python that is to wait.
#[derive(Debug)]
pub(super) struct PythonDebugger {
    port: Port,
    /// Where the debugger says how far it is.
    logs: tempfile::TempDir,
}

impl PythonDebugger {
    pub(super) fn new() -> Result<Self, LanguageError> {
        let logs = tempfile::Builder::new().prefix("drystone-debugpy-").tempdir();
        let logs = logs.map_err(|source| LanguageError::Debugger { source })?;
        Ok(Self { port: Port::free(PYTHON_PORT)?, logs })
    }

    /// What the interpreter is told, before what it runs.
    pub(super) fn arguments(&self) -> Vec<String> {
        let logs = self.logs.path().display();
        let words = format!(
            "-Xfrozen_modules=off -m debugpy --listen 127.0.0.1:{} --wait-for-client --log-to",
            self.port.0
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
            "connect": {"host": "127.0.0.1", "port": self.port.0},
            "justMyCode": true,
        });
        sink(Debugging { config, message: format!("on port {}", self.port.0) });
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

/// A port that something waits at.
#[derive(Debug)]
struct Port(u16);

/// The ports that were given: what is to listen there may not do so yet.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

impl Port {
    /// That port, or any other when somebody has it.
    fn free(preferred: u16) -> Result<Self, LanguageError> {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match given.contains(&preferred) {
            true => listen(0),
            false => listen(preferred).or_else(|_| listen(0)),
        };
        let address = listener.and_then(|listener| listener.local_addr());
        let port = address.map_err(|source| LanguageError::Debugger { source })?.port();
        given.insert(port);
        Ok(Self(port))
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        GIVEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_to_one_until_it_is_let_go() {
        let preferred = Port::free(0).unwrap().0;
        let one = Port::free(preferred).unwrap();
        let other = Port::free(preferred).unwrap();
        assert_eq!(one.0, preferred);
        assert_ne!(other.0, preferred);
        drop(one);
        assert_eq!(Port::free(preferred).unwrap().0, preferred);
    }
}
