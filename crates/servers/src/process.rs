//! A server's process.

use crate::http;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take until it answers. The machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a server and waits for the end of whoever started it, in whatever way that ends: then nobody holds the other
/// end of the shell's standard input any more. What the server says goes to its log, what the shell says to us.
const KEEPER: &str = r#"
exec 3>&1 1>&2
"$@" 3>&- &
server=$!
echo $server >&3
exec 3>&-
while read -r _; do :; done
kill -9 $server
"#;

/// A server on this machine.
#[derive(Debug)]
pub struct Server {
    program: Vec<String>,
    variables: Vec<(String, String)>,
    port: u16,
    folder: TempDir,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    keeper: Child,
    /// Held for as long as the server is to run.
    _life: ChildStdin,
    pid: u32,
}

impl Server {
    /// Starts a server on a free port. `PORT` and `FOLDER` in its arguments become the port and a folder of its own,
    /// which `prepare` fills before.
    pub fn start(program: &[&str], variables: &[(&str, &str)], prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a server");
        prepare(folder.path());
        let mut server = Self {
            program: program.iter().map(|word| (*word).to_owned()).collect(),
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            port: free_port(),
            folder,
            running: None,
        };
        server.restart();
        server
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server at once, as a crash of its machine would.
    pub fn kill(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let killed = Command::new("kill").args(["-9", &running.pid.to_string()]).status();
        assert!(killed.expect("kill").success(), "the server is gone already");
        drop(running._life);
        running.keeper.wait().expect("the server's end");
    }

    /// Starts it again, on the same port and with what it had kept.
    pub fn restart(&mut self) {
        self.kill();
        let began = Instant::now();
        self.running = Some(self.spawn());
        while !http::answers(self.port) {
            assert!(began.elapsed() < PATIENCE, "{}", self.last_words());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn spawn(&self) -> Running {
        let log = File::options().create(true).append(true).open(self.folder.path().join("log"));
        let log = log.expect("the server's log");
        let fill = |word: &String| {
            word.replace("PORT", &self.port.to_string())
                .replace("FOLDER", &self.folder.path().to_string_lossy())
        };
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "server"])
            .args(self.program.iter().map(fill))
            .envs(self.variables.iter().map(|(name, value)| (name, fill(value))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a shell");
        let life = keeper.stdin.take().expect("piped");
        let mut line = String::new();
        let said = BufReader::new(keeper.stdout.take().expect("piped")).read_line(&mut line);
        said.expect("the server's number");
        let pid = line.trim().parse().expect("the server's number");
        Running { keeper, _life: life, pid }
    }

    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        format!("{} does not answer on port {}:\n{log}", self.program[0], self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(Running { mut keeper, _life, .. }) = self.running.take() {
            drop(_life);
            let _ = keeper.wait();
        }
    }
}

/// The ports that servers get. The system gives higher ones to connections as they come, and would give away one that was
/// found free before its server listens there.
const PORTS: std::ops::Range<u16> = 10_240..32_768;

/// A port that nobody listens on, and that nobody else is likely to choose at the same time.
pub(crate) fn free_port() -> u16 {
    loop {
        // Each state of a hash map begins with numbers of its own.
        let random = RandomState::new().build_hasher().finish();
        let port =
            PORTS.start + u16::try_from(random % u64::from(PORTS.end - PORTS.start)).unwrap_or_default();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
