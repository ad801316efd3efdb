//! A real PostgreSQL server, on loopback and on a socket. It ends with the process that started it, however that ends:
//! a shell that reads from us stops the server and removes its files when we are gone.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often another port is tried when somebody was quicker.
const PORTS: usize = 8;

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    /// Where its programs stand.
    programs: PathBuf,
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
    /// Makes and starts a server with settings of its own. Anybody on this machine is let in as `drystone`.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        let programs = std::env::var_os("DRYSTONE_PEER_POSTGRES");
        Self::start_of(Path::new(&programs.expect("DRYSTONE_PEER_POSTGRES is not set")), settings)
    }

    /// The same, of programs that stand there.
    #[must_use]
    pub fn start_of(programs: &Path, settings: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("drystone-postgres-").tempdir();
        let folder = folder.expect("a folder for a server").keep();
        let data = folder.join("data");
        std::fs::create_dir(&data).expect("a folder for its data");
        if is_root() {
            let given = Command::new("chown").args(["-R", "nobody"]).arg(&folder).status();
            assert!(given.expect("chown").success(), "the folder cannot be given to the server's user");
        }
        let made = unprivileged(&programs.join("initdb"))
            .args(["--no-sync", "--auth=trust", "--username=drystone", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::run(programs, &folder, settings)
    }

    fn run(programs: &Path, folder: &Path, settings: &[&str]) -> Self {
        for _ in 0..PORTS {
            let port = crate::process::free_port();
            let keeper = keep(programs, folder, port, settings);
            let mut server = Self { programs: programs.to_owned(), folder: folder.to_owned(), port, keeper };
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

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with the server's socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kills the server without a word, as a machine that loses its power would.
    pub fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("a running server");
        let pid = pid.lines().next().unwrap_or_default().to_owned();
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
        std::fs::remove_file(self.folder.join("log")).expect("the server's log");
        self.keeper = keep(&self.programs, &self.folder, self.port, settings);
        assert!(self.answers(), "{}", std::fs::read_to_string(self.folder.join("log")).unwrap_or_default());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn keep(programs: &Path, folder: &Path, port: u16, settings: &[&str]) -> Child {
    let server = unprivileged(&programs.join("postgres"));
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
fn unprivileged(program: &Path) -> Command {
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
