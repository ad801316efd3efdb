//! A real PostgreSQL server for the tests of one process, on loopback and on a socket. It ends with the process,
//! however that ends: a shell that reads from us stops the server and removes its files when we are gone.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use drystone_stores::postgres::{PostgresOptions, PostgresStore};
use std::ffi::OsString;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

/// A server of one's own.
#[derive(Debug)]
pub(crate) struct Server {
    folder: PathBuf,
    pub(crate) port: u16,
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

impl Server {
    /// The server that the tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(&[]))
    }

    /// Makes and starts a server with settings of its own.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("drystone-postgres-").tempdir().unwrap().keep();
        let data = folder.join("data");
        std::fs::create_dir(&data).unwrap();
        if is_root() {
            let given = Command::new("chown").args(["-R", "nobody"]).arg(&folder).status().unwrap();
            assert!(given.success(), "the folder cannot be given to the server's user");
        }
        let made = unprivileged("initdb")
            .args(["--no-sync", "--auth=trust", "--username=drystone", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::run(&folder, settings)
    }

    fn run(folder: &Path, settings: &[&str]) -> Self {
        for _ in 0..8 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
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
    pub(crate) fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let children = Command::new("pgrep").args(["-P", &pid]).output().unwrap();
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        for process in std::iter::once(pid.as_str()).chain(children.split_whitespace()) {
            let _ = Command::new("kill").args(["-KILL", process]).status();
        }
        while std::iter::once(pid.as_str()).chain(children.split_whitespace()).any(is_running) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts a server that was killed, with the same files and at the same port.
    pub(crate) fn start_again(&mut self, settings: &[&str]) {
        // Its keeper would remove the files.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        std::fs::remove_file(self.folder.join("log")).unwrap();
        self.keeper = keep(&self.folder, self.port, settings);
        assert!(self.answers(), "{}", std::fs::read_to_string(self.folder.join("log")).unwrap_or_default());
    }

    /// The folder with the server's socket.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The URL of a table of one's own in it.
    pub(crate) fn url(&self) -> String {
        static TABLES: AtomicU32 = AtomicU32::new(1);
        let table = TABLES.fetch_add(1, Ordering::Relaxed);
        format!("postgres://drystone@127.0.0.1:{}/postgres?sslmode=disable&table=state_{table}", self.port)
    }

    /// A client of the server itself.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        let settings = format!("host=127.0.0.1 port={} user=drystone dbname=postgres", self.port);
        let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Carries out statements from a place that is not asynchronous, or must not share its runtime.
    pub(crate) fn execute(&self, sql: impl Into<String>) {
        let settings = format!("host=127.0.0.1 port={} user=drystone dbname=postgres", self.port);
        let sql = sql.into();
        elsewhere(async move {
            let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&sql).await.unwrap();
        });
    }
}

impl Drop for Server {
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
    let id = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8_lossy(&id.stdout).trim() == "0"
}

/// A program of the server's, which refuses to run as root.
fn unprivileged(program: &str) -> Command {
    let peer: OsString =
        std::env::var_os("DRYSTONE_PEER_POSTGRES").expect("DRYSTONE_PEER_POSTGRES is not set");
    let program = Path::new(&peer).join(program);
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

/// Runs something to its end on a thread with a runtime of its own.
pub(crate) fn elsewhere<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    });
    thread.join().unwrap()
}

/// A store from a place that is not asynchronous.
pub(crate) fn open(url: &str, options: &PostgresOptions) -> PostgresStore {
    let (url, options) = (url.to_owned(), options.clone());
    elsewhere(async move { PostgresStore::open(&url, options).await.unwrap() })
}

/// The table in a URL of ours.
pub(crate) fn table(url: &str) -> &str {
    url.rsplit_once("table=").unwrap().1
}

/// Lets the time pass on the server after which every lease has expired.
pub(crate) fn let_leases_expire(server: &Server, url: &str) {
    server.execute(format!(
        "UPDATE {}_drystone_leases SET renewed = renewed - (ttl + 1000) * interval '1 millisecond'",
        table(url)
    ));
}

/// Leaves the tables of a URL as if nobody had used them, which is quicker than making others.
pub(crate) fn empty(server: &Server, url: &str) {
    let table = table(url);
    let own = ["leases", "journals", "kept", "revisions", "current", "trash"];
    let own: String = own.iter().map(|ending| format!("DELETE FROM {table}_drystone_{ending};")).collect();
    server.execute(format!("DELETE FROM {table}; {own}"));
}
