//! A process in a group of its own.

use super::exit::Exit;
use super::watchdog;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;

/// How long a process has to end after it was asked to.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// A running process in a group of its own. Dropping it kills the whole group.
#[derive(Debug)]
pub struct Group {
    id: u32,
    exit: watch::Receiver<Option<Exit>>,
}

impl Group {
    /// Starts a command in a group of its own, with its output piped. A pipe as standard input stays open for as long
    /// as the process runs.
    pub fn spawn(command: std::process::Command) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        Self::start(command, None)
    }

    /// The same, with bytes that the process reads from its standard input.
    pub fn spawn_fed(
        mut command: std::process::Command,
        input: Vec<u8>,
    ) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        command.stdin(Stdio::piped());
        Self::start(command, Some(input))
    }

    fn start(
        mut command: std::process::Command,
        bytes: Option<Vec<u8>>,
    ) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut command = tokio::process::Command::from(command);
        let mut child = command.kill_on_drop(true).spawn()?;
        let (Some(id), Some(stdout), Some(stderr)) = (child.id(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the process has no id or no pipes"));
        };
        watchdog::watch(id);
        let (sender, exit) = watch::channel(None);
        tokio::spawn(async move {
            let mut input = child.stdin.take();
            if let (Some(mut pipe), Some(bytes)) = (input.take_if(|_| bytes.is_some()), bytes) {
                // A process that does not read its input is not waited for.
                tokio::spawn(async move { pipe.write_all(&bytes).await });
            }
            let exit = child.wait().await.map_or(Exit::Unknown, Exit::from);
            drop(input);
            watchdog::forget(id);
            sender.send_replace(Some(exit));
        });
        Ok((Self { id, exit }, stdout, stderr))
    }

    /// The id of the process, which is that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits until the process has ended. What it started may still run.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
    }

    /// Interrupts the group, and kills it if the process has not ended within the grace.
    ///
    /// What the process started and what outlives an interrupt is left alone when the process itself ended in time:
    /// it is a daemon, and meant to stay.
    pub async fn stop(&self, grace: Duration) -> Exit {
        self.signal(Signal::Interrupt);
        match tokio::time::timeout(grace, self.exited()).await {
            Ok(exit) => exit,
            Err(_) => {
                self.kill();
                self.exited().await
            }
        }
    }

    /// Interrupts the group, and kills what is left of it when the process has ended or the grace is over. Nothing of
    /// it stays, not even what ignores interrupts.
    pub async fn end(&self, grace: Duration) -> Exit {
        self.signal(Signal::Interrupt);
        let exit = tokio::time::timeout(grace, self.exited()).await;
        // A group keeps its number for as long as anybody is in it, and an empty one has only just given it up: numbers
        // come round again much later.
        send(self.id, Signal::Kill);
        match exit {
            Ok(exit) => exit,
            Err(_) => self.exited().await,
        }
    }

    /// Kills the group at once.
    pub fn kill(&self) {
        self.signal(Signal::Kill);
    }

    /// A process that has ended is never signalled: its number may be somebody else's by now.
    fn signal(&self, signal: Signal) {
        if self.exit().is_none() {
            send(self.id, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Interrupt,
    Kill,
}

#[cfg(unix)]
fn send(group: u32, signal: Signal) {
    use rustix::process::{Pid, Signal as Sent, kill_process_group};
    let sent = match signal {
        Signal::Interrupt => Sent::INT,
        Signal::Kill => Sent::KILL,
    };
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // The only failure is that the group has ended.
        let _ = kill_process_group(group, sent);
    }
}

/// Where there are no groups and no signals, `taskkill` ends a process and all that descends from it.
#[cfg(not(unix))]
fn send(group: u32, _: Signal) {
    let _ = std::process::Command::new("taskkill")
        .args(["/T", "/F", "/PID", &group.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}
