//! A real PostgreSQL server, on loopback and on a socket. It ends with the process that started it, however that ends: a
//! shell that reads from us stops the server and removes its files when we are gone.

use crate::clouds::peer;
use crate::process::free_port;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A server of one's own.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    port: u16,
    keeper: Child,
}

/// Ends the server when its standard input does. The first argument is the folder, the others start the server.
const KEEPER: &str = r#"
folder=$1; shift
"$@" >"$folder/log" 2>&1 &
echo $! >"$folder/pid"
cat >/dev/null
kill -QUIT "$(cat "$folder/pid")" 2>/dev/null
wait
rm -rf "$folder"
"#;

impl Postgres {
    /// The server that the tests of this process share.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(&[]))
    }

    /// Makes and starts a server with settings of its own.
    pub fn start(settings: &[&str]) -> Self {
        let folder =
            tempfile::Builder::new().prefix("drystone-postgres-").tempdir().expect("a folder").keep();
        let data = folder.join("data");
        std::fs::create_dir(&data).expect("a folder");
        if is_root() {
            let given = Command::new("chown").args(["-R", "nobody"]).arg(&folder).status().expect("chown");
            assert!(given.success(), "the folder cannot be given to the server's user");
        }
        let made = unprivileged("initdb")
            .args(["--no-sync", "--auth=trust", "--username=drystone", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::run(&folder, settings)
    }

    fn run(folder: &Path, settings: &[&str]) -> Self {
        for _ in 0..8 {
            let port = free_port();
            let mut server = Self { keeper: keep(folder, port, settings), folder: folder.to_owned(), port };
            if server.answers() {
                return server;
            }
            let _ = server.keeper.kill();
            let _ = server.keeper.wait();
        }
        panic!("no server: {}", std::fs::read_to_string(folder.join("log")).unwrap_or_default());
    }

    /// Waits until the server answers; says no when it has ended.
    fn answers(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            if log.contains("could not bind") {
                return false;
            }
            if log.contains("database system is ready to accept connections") {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Kills the server without a word, as a machine that loses its power would.
    pub fn kill(&mut self) {
        let pid =
            std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("the server's number");
        let pid = pid.lines().next().expect("the server's number").to_owned();
        let children = Command::new("pgrep").args(["-P", &pid]).output().expect("pgrep");
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        for process in std::iter::once(pid.as_str()).chain(children.split_whitespace()) {
            let _ = Command::new("kill").args(["-KILL", process]).status();
        }
        while std::iter::once(pid.as_str()).chain(children.split_whitespace()).any(is_running) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts a server that was killed, with the same files and at the same port.
    pub fn start_again(&mut self, settings: &[&str]) {
        // Its keeper would remove the files.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        std::fs::remove_file(self.folder.join("log")).expect("the log");
        self.keeper = keep(&self.folder, self.port, settings);
        assert!(self.answers(), "{}", std::fs::read_to_string(self.folder.join("log")).unwrap_or_default());
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with the server's socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The URL of a table of one's own in it.
    pub fn url(&self) -> String {
        static TABLES: AtomicU32 = AtomicU32::new(1);
        let table = TABLES.fetch_add(1, Ordering::Relaxed);
        format!("postgres://drystone@127.0.0.1:{}/postgres?sslmode=disable&table=state_{table}", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn keep(folder: &Path, port: u16, settings: &[&str]) -> Child {
    let server = unprivileged("postgres");
    let mut command = Command::new("sh");
    command.args(["-c", KEEPER, "keeper"]).arg(folder).arg(server.get_program()).args(server.get_args());
    command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder).args(["-p", &port.to_string()]);
    let usual = [
        "listen_addresses=127.0.0.1",
        "max_connections=200",
        "shared_buffers=16MB",
        "autovacuum=off",
        // What is left of a process that was killed is in the system's memory.
        "fsync=off",
        "log_min_messages=warning",
    ];
    for setting in usual.iter().chain(settings) {
        command.args(["-c", setting]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // What ends the tests all at once, as Ctrl-C does, must leave it to clean up.
    command.process_group(0);
    command.spawn().expect("a shell")
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id");
    String::from_utf8_lossy(&id.stdout).trim() == "0"
}

/// A program of the server's, which refuses to run as root.
fn unprivileged(program: &str) -> Command {
    let program = peer("DRYSTONE_PEER_POSTGRES").join(program);
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/");
    command
}
