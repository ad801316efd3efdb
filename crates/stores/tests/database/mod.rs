//! The PostgreSQL of the tests, and what tests do to it behind our backs.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

pub(crate) use drystone_servers::Postgres as Server;
use drystone_stores::postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::NoTls;

/// A client of the server itself.
pub(crate) async fn client(server: &Server) -> tokio_postgres::Client {
    let settings = format!("host=127.0.0.1 port={} user=drystone dbname=postgres", server.port());
    let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Carries out statements from a place that is not asynchronous, or must not share its runtime.
pub(crate) fn execute(server: &Server, sql: impl Into<String>) {
    let settings = format!("host=127.0.0.1 port={} user=drystone dbname=postgres", server.port());
    let sql = sql.into();
    elsewhere(async move {
        let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&sql).await.unwrap();
    });
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
    execute(
        server,
        format!(
            "UPDATE {}_drystone_leases SET renewed = renewed - (ttl + 1000) * interval '1 millisecond'",
            table(url)
        ),
    );
}

/// Leaves the tables of a URL as if nobody had used them, which is quicker than making others.
pub(crate) fn empty(server: &Server, url: &str) {
    let table = table(url);
    let own = ["leases", "journals", "kept", "revisions", "current", "trash"];
    let own: String = own.iter().map(|ending| format!("DELETE FROM {table}_drystone_{ending};")).collect();
    execute(server, format!("DELETE FROM {table}; {own}"));
}
