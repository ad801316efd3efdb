//! A real PostgreSQL server for the tests of one process, and clients of it.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use drystone_servers::Postgres;
use drystone_stores::postgres::{PostgresOptions, PostgresStore};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_postgres::NoTls;

/// A server of one's own.
#[derive(Debug)]
pub(crate) struct Server {
    process: Postgres,
    pub(crate) port: u16,
}

impl Server {
    /// The server that the tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(&[]))
    }

    /// Makes and starts a server with settings of its own.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let process = Postgres::start(settings);
        Self { port: process.port(), process }
    }

    /// Kills the server without a word, as a machine that loses its power would.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts a server that was killed, with the same files and at the same port.
    pub(crate) fn start_again(&mut self, settings: &[&str]) {
        self.process.start_again(settings);
    }

    /// The folder with the server's socket.
    pub(crate) fn folder(&self) -> &Path {
        self.process.folder()
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
