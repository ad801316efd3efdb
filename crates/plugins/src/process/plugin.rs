//! A plugin: a process that says its port on its first line and answers gRPC there.

use super::connect::{ConnectError, connect};
use super::exit::Exit;
use super::group::{Group, STOP_GRACE};
use super::lines::{LineSink, Stream, Tail, forward};
use super::port::{self, PortLine};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tonic::transport::Channel;

/// How long a plugin may take.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From its start to its port line.
    pub port: Duration,
    /// From its port line to a connection.
    pub connect: Duration,
    /// From the interrupt to its end.
    pub stop: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { port: Duration::from_secs(120), connect: Duration::from_secs(10), stop: STOP_GRACE }
    }
}

impl Deadlines {
    /// For a plugin that is source code, which its language may have to compile first.
    #[must_use]
    pub fn for_source() -> Self {
        Self { port: Duration::from_secs(600), ..Self::default() }
    }

    /// For a plugin that a person looks at.
    #[must_use]
    pub(crate) fn for_debugging() -> Self {
        Self { port: Duration::from_secs(24 * 60 * 60), ..Self::default() }
    }
}

/// How long the output of an ended process is awaited: what it left running may keep the pipe open forever.
const DRAIN: Duration = Duration::from_millis(500);

/// Why a plugin did not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its program cannot be run.
    #[error("the plugin {plugin} cannot be started from `{}`", path.display())]
    Spawn {
        /// The plugin.
        plugin: String,
        /// The program.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended, or closed its output, before it answered.
    #[error("the plugin {plugin} {} before it answered{}", Ending(*exit), Printed(printed))]
    Ended {
        /// The plugin.
        plugin: String,
        /// How it ended, unless it still ran.
        exit: Option<Exit>,
        /// The last lines that it printed.
        printed: String,
    },
    /// Its first line is not a port.
    #[error("the plugin {plugin} printed `{line}` where its port was expected{}", Printed(printed))]
    NotAPort {
        /// The plugin.
        plugin: String,
        /// The line.
        line: String,
        /// The last lines that it printed besides.
        printed: String,
    },
    /// It said nothing for too long.
    #[error("the plugin {plugin} has not printed its port within {} s{}", waited.as_secs_f32(), Printed(printed))]
    Silent {
        /// The plugin.
        plugin: String,
        /// How long.
        waited: Duration,
        /// The last lines that it printed.
        printed: String,
    },
    /// Nobody answers at the port that it said.
    #[error("the plugin {plugin} does not answer: {source}{}", Printed(printed))]
    Unreachable {
        /// The plugin.
        plugin: String,
        /// The last lines that it printed.
        printed: String,
        /// Why.
        source: ConnectError,
    },
}

struct Ending(Option<Exit>);

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(exit) => write!(f, "ended with {exit}"),
            None => f.write_str("closed its output"),
        }
    }
}

/// What somebody printed before it ended, as the end of a message; nothing when it printed nothing.
pub(crate) struct Printed<'a>(pub(crate) &'a str);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "; it printed:\n{}", self.0) }
    }
}

/// What keeps a plugin running, and how to end it.
#[derive(Debug)]
pub(crate) enum Life {
    /// A process of ours.
    Process(Group),
    /// A process of a language host.
    Remote(Remote),
    /// Somebody else's process.
    Attached,
}

/// A plugin that a language host runs. Aborting the task that reads its output ends it.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) exit: watch::Receiver<Option<Exit>>,
    pub(crate) task: AbortHandle,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Life {
    fn exit(&self) -> Option<Exit> {
        match self {
            Self::Process(group) => group.exit(),
            Self::Remote(remote) => *remote.exit.borrow(),
            Self::Attached => None,
        }
    }

    async fn exited(&self) -> Exit {
        match self {
            Self::Process(group) => group.exited().await,
            Self::Remote(remote) => {
                let mut exit = remote.exit.clone();
                exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
            }
            Self::Attached => std::future::pending().await,
        }
    }

    async fn stop(&self, grace: Duration) {
        match self {
            Self::Process(group) => {
                group.stop(grace).await;
            }
            Self::Remote(remote) => remote.task.abort(),
            Self::Attached => {}
        }
    }
}

/// A plugin that was started and whose output has not been looked at yet.
pub(crate) struct Origin {
    pub(crate) stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) stderr: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) life: Life,
}

/// A running plugin with a connection to it. Dropping it kills it, unless it was attached to.
#[derive(Debug)]
pub struct Plugin {
    name: String,
    address: String,
    channel: Channel,
    life: Life,
    tail: Tail,
    readers: Mutex<Vec<JoinHandle<()>>>,
    stop_grace: Duration,
}

impl Plugin {
    /// Starts a command that is a plugin. Its lines after the port go to the sink.
    pub async fn spawn(
        name: &str,
        command: std::process::Command,
        deadlines: Deadlines,
        sink: LineSink,
    ) -> Result<Self, StartError> {
        Self::spawn_known(name, command, deadlines, sink, |_| ()).await
    }

    /// The same; whoever asks is told the process as soon as it runs.
    pub(crate) async fn spawn_known(
        name: &str,
        mut command: std::process::Command,
        deadlines: Deadlines,
        sink: LineSink,
        started: impl FnOnce(u32),
    ) -> Result<Self, StartError> {
        // Some plugins end when their input does.
        command.stdin(Stdio::piped());
        let path = PathBuf::from(command.get_program());
        let (group, stdout, stderr) = Group::spawn(command).map_err(|source| StartError::Spawn {
            plugin: name.to_owned(),
            path,
            source,
        })?;
        started(group.id());
        let origin =
            Origin { stdout: Box::new(stdout), stderr: Box::new(stderr), life: Life::Process(group) };
        Self::come_up(name, origin, deadlines, sink).await
    }

    /// Connects to a plugin that somebody else runs, such as a debugger.
    pub async fn attach(name: &str, port: u16, deadlines: Deadlines) -> Result<Self, StartError> {
        Self::reach(name, port, Life::Attached, Tail::default(), Vec::new(), deadlines).await
    }

    pub(crate) async fn come_up(
        name: &str,
        origin: Origin,
        deadlines: Deadlines,
        sink: LineSink,
    ) -> Result<Self, StartError> {
        let Origin { stdout, stderr, life } = origin;
        let tail = Tail::default();
        let sink = tail.before(sink);
        let stderr = tokio::spawn(forward(BufReader::new(stderr), Stream::Stderr, sink.clone()));
        let mut stdout = BufReader::new(stdout);
        let ended = async {
            life.exited().await;
            sleep(DRAIN).await;
        };
        let line = tokio::select! {
            biased;
            line = port::read(&mut stdout) => Some(line),
            () = ended => Some(PortLine::Ended(String::new())),
            () = sleep(deadlines.port) => None,
        };
        let plugin = name.to_owned();
        let error = match line {
            Some(PortLine::Port(port)) => {
                let stdout = tokio::spawn(forward(stdout, Stream::Stdout, sink));
                return Self::reach(name, port, life, tail, vec![stdout, stderr], deadlines).await;
            }
            Some(PortLine::Other(line)) => {
                let stdout = tokio::spawn(forward(stdout, Stream::Stdout, sink));
                let (_, printed) = last_words(life, [stdout, stderr], &tail).await;
                StartError::NotAPort { plugin, line, printed }
            }
            Some(PortLine::Ended(line)) => {
                let (exit, mut printed) = last_words(life, [stderr], &tail).await;
                if !line.is_empty() {
                    printed = format!("{line}\n{printed}").trim_end().to_owned();
                }
                StartError::Ended { plugin, exit, printed }
            }
            None => {
                let (_, printed) = last_words(life, [stderr], &tail).await;
                StartError::Silent { plugin, waited: deadlines.port, printed }
            }
        };
        Err(error)
    }

    async fn reach(
        name: &str,
        port: u16,
        life: Life,
        tail: Tail,
        readers: Vec<JoinHandle<()>>,
        deadlines: Deadlines,
    ) -> Result<Self, StartError> {
        let address = format!("127.0.0.1:{port}");
        let connected = tokio::select! {
            connected = connect(&address, deadlines.connect) => connected,
            exit = life.exited() => {
                for reader in readers {
                    drained(reader).await;
                }
                return Err(StartError::Ended { plugin: name.to_owned(), exit: Some(exit), printed: tail.text() });
            }
        };
        match connected {
            Ok(channel) => Ok(Self {
                name: name.to_owned(),
                address,
                channel,
                life,
                tail,
                readers: Mutex::new(readers),
                stop_grace: deadlines.stop,
            }),
            Err(source) => {
                Err(StartError::Unreachable { plugin: name.to_owned(), printed: tail.text(), source })
            }
        }
    }

    /// Its name, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens, `127.0.0.1:<port>`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The connection.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// How its process ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.life.exit()
    }

    /// Waits until its process has ended; forever, if somebody else runs it.
    pub async fn exited(&self) -> Exit {
        self.life.exited().await
    }

    /// The last lines that it printed, to show when it ended too early.
    #[must_use]
    pub fn last_lines(&self) -> String {
        self.tail.text()
    }

    /// Ends it: an interrupt, a grace, a kill. Returns when its output has been delivered.
    pub async fn stop(&self) {
        self.life.stop(self.stop_grace).await;
        let readers = std::mem::take(&mut *self.readers.lock().unwrap_or_else(PoisonError::into_inner));
        for reader in readers {
            drained(reader).await;
        }
    }
}

/// Gives a plugin that did not come up a moment to say why, then kills it: how it ended by itself, if it did, and
/// what it said.
async fn last_words<const N: usize>(
    life: Life,
    readers: [JoinHandle<()>; N],
    tail: &Tail,
) -> (Option<Exit>, String) {
    let exit = timeout(DRAIN, life.exited()).await.ok();
    if let Life::Process(group) = &life {
        group.kill();
        group.exited().await;
    }
    drop(life);
    for reader in readers {
        drained(reader).await;
    }
    (exit, tail.text())
}

/// Waits until a reader has delivered everything, or gives it up.
pub(crate) async fn drained(mut reader: JoinHandle<()>) {
    if timeout(DRAIN, &mut reader).await.is_err() {
        reader.abort();
    }
}
