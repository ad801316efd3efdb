//! A database that is sealed at rest: the same suite, nothing in clear, and the ways to sealing, from it and between keys.

#![allow(clippy::unwrap_used)]

mod database;
mod sealing;

use database::Server;
use drystone_stores::conformance::Fixture;
use drystone_stores::conformance::make::{acquire, begin, committed, names, stack, success};
use drystone_stores::postgres::{DiyOptions, PostgresOptions, PostgresStore};
use drystone_stores::{At, Error, Leases, Reads, Relocation, Sealing, StackId, Store, conformance_tests};
use sealing::{is_clear, key, run};
use std::time::Duration;

fn options(sealing: Option<Sealing>) -> PostgresOptions {
    PostgresOptions { diy: DiyOptions { sealing, ..DiyOptions::default() }, ..PostgresOptions::default() }
}

struct Database {
    url: String,
    options: PostgresOptions,
}

impl Database {
    fn new() -> Self {
        Self { url: Server::shared().url(), options: options(Some(Sealing::with(key("FIRST")))) }
    }
}

impl Fixture for Database {
    fn client(&self) -> Box<dyn Store> {
        Box::new(database::open(&self.url, &self.options))
    }

    fn let_leases_expire(&self) {
        database::let_leases_expire(Server::shared(), &self.url);
    }
}

mod in_a_database {
    use super::*;
    conformance_tests!(Database::new(), #[ignore = "needs PostgreSQL: run by cargo xtask test"]);
}

/// What the tables hold that tells of a resource in clear: the table and the column.
async fn clear_columns(url: &str) -> Vec<String> {
    let client = database::client(Server::shared()).await;
    let table = database::table(url);
    let own = format!("{table}_drystone_");
    let columns = [
        (table.to_owned(), "decode(data->>'data', 'base64')"),
        (format!("{own}journals"), "content"),
        (format!("{own}kept"), "content"),
        (format!("{own}revisions"), "content"),
        (format!("{own}revisions"), "convert_to(info, 'UTF8')"),
        (format!("{own}current"), "convert_to(outline, 'UTF8')"),
        (format!("{own}trash"), "convert_to(data::text, 'UTF8')"),
        (format!("{own}trash"), "decode(data->>'data', 'base64')"),
    ];
    let mut clear = Vec::new();
    for (table, column) in columns {
        let guard = if column.contains("->>") { "WHERE json_typeof(data) = 'object'" } else { "" };
        for row in client.query(&format!("SELECT {column} FROM {table} {guard}"), &[]).await.unwrap() {
            let content: Option<Vec<u8>> = row.get(0);
            if content.is_some_and(|content| is_clear(&content)) {
                clear.push(format!("{table}: {column}"));
            }
        }
    }
    clear
}

async fn open(url: &str, sealing: Option<Sealing>) -> Result<PostgresStore, Error> {
    PostgresStore::open(url, options(sealing)).await
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s19_nothing_of_a_resource_stands_in_clear_in_a_database() {
    let site = Database::new();
    let look = async |when: &str| {
        assert_eq!(clear_columns(&site.url).await, Vec::<String>::new(), "after {when}");
    };
    run(|| site.client(), || site.let_leases_expire(), look).await;
    // The test can fail: without sealing there is a lot.
    let url = Server::shared().url();
    committed(&open(&url, None).await.unwrap(), &["topsecret-a"]).await;
    assert!(clear_columns(&url).await.len() > 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s19_who_has_no_key_or_another_is_refused() {
    let site = Database::new();
    committed(&*site.client(), &["topsecret-a"]).await;
    let refused = open(&site.url, None).await.unwrap_err();
    let Error::Sealed { with, .. } = &refused else { panic!("{refused}") };
    assert_eq!(with, "env-key env-var FIRST");
    let other = open(&site.url, Some(Sealing::with(key("SECOND")))).await.unwrap();
    let told = other.snapshot(&stack(), At::Current).await.unwrap_err().to_string();
    assert!(told.contains("message authentication failed (sealed with env-key env-var FIRST)"), "{told}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s19_a_row_opens_in_its_place_only() {
    let site = Database::new();
    let store = site.client();
    committed(&*store, &["topsecret-a"]).await;
    committed(&*store, &["topsecret-a", "b"]).await;
    let table = format!("{}_drystone_revisions", database::table(&site.url));
    let newest = store.revisions(&stack()).await.unwrap().pop().unwrap().number;
    let earlier = newest - 1;
    database::execute(
        Server::shared(),
        format!(
            "UPDATE {table} SET content = (SELECT content FROM {table} WHERE number = {earlier})
             WHERE number = {newest}"
        ),
    );
    let revision = At::Revision(u64::try_from(newest).unwrap());
    let told = store.snapshot(&stack(), revision).await.unwrap_err().to_string();
    assert!(told.contains(&format!("sealed for shop/prod at revision {earlier}")), "{told}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s19_a_database_is_sealed_sealed_anew_and_unsealed_with_its_trash() {
    let url = Server::shared().url();
    let clear = open(&url, None).await.unwrap();
    committed(&clear, &["topsecret-a"]).await;
    let lease = acquire(&clear, "up").await;
    lease.append(vec![begin(1, 1, "topsecret-b"), success(2, 1, "topsecret-b")]).await.unwrap();
    drop(lease);
    database::let_leases_expire(Server::shared(), &url);
    let other = StackId::new("shop", "other").unwrap();
    let claim = || drystone_stores::Claim::new("stack rm");
    let lease = clear.acquire(&other, claim()).await.unwrap();
    let snapshot = clear.snapshot(&stack(), At::Current).await.unwrap().snapshot;
    let commit = drystone_stores::Commit { snapshot: Some(snapshot), ..drystone_stores::Commit::default() };
    lease.commit(commit).await.unwrap();
    lease.relocate(Relocation::Trash { note: Some("topsecret-a".to_owned()) }).await.unwrap();
    lease.release().await.unwrap();
    let expected = ["topsecret-a", "topsecret-b"];

    let begun = open(&url, Some(Sealing::beginning(key("FIRST")))).await.unwrap();
    let done = begun.reseal("state seal").await.unwrap();
    assert!(done.stacks == 2 && done.documents >= 6, "{done:?}");
    assert_eq!(clear_columns(&url).await, Vec::<String>::new());
    assert_eq!(begun.reseal("state seal").await.unwrap().documents, 0, "there is nothing left to do");
    assert!(matches!(open(&url, None).await, Err(Error::Sealed { .. })));

    let changing = open(&url, Some(Sealing::changing(key("FIRST"), key("SECOND")))).await.unwrap();
    assert!(changing.reseal("state rekey").await.unwrap().documents >= 6);
    let second = open(&url, Some(Sealing::with(key("SECOND")))).await.unwrap();
    assert_eq!(names(&second.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
    for info in second.revisions(&stack()).await.unwrap() {
        second.snapshot(&stack(), At::Revision(u64::try_from(info.number).unwrap())).await.unwrap();
    }
    let trashed = second.stacks(None).await.unwrap().into_iter().find_map(|summary| summary.trashed).unwrap();
    assert_eq!(trashed.note.as_deref(), Some("topsecret-a"));
    let lease = second.acquire(&other, claim()).await.unwrap();
    lease.relocate(Relocation::FromTrash { id: trashed.id }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(names(&second.snapshot(&other, At::Current).await.unwrap().snapshot), ["topsecret-a"]);

    let ending = open(&url, Some(Sealing::ending(key("SECOND")))).await.unwrap();
    ending.reseal("state unseal").await.unwrap();
    let clear = open(&url, None).await.unwrap();
    assert_eq!(names(&clear.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
    assert!(matches!(open(&url, Some(Sealing::with(key("SECOND")))).await, Err(Error::NotSealed { .. })));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s04_who_seals_does_not_write_over_what_the_next_holder_wrote() {
    let url = Server::shared().url();
    committed(&open(&url, None).await.unwrap(), &["topsecret-a"]).await;
    let table = database::table(&url);
    // The next holder's write, which is not committed yet when the row is read.
    let next = database::client(Server::shared()).await;
    let written = "{\"data\":\"e30=\"}";
    let change =
        format!("BEGIN; UPDATE {table} SET data = '{written}' WHERE key LIKE '%stacks/shop/prod.json'");
    next.batch_execute(&change).await.unwrap();
    let begun = open(&url, Some(Sealing::beginning(key("FIRST")))).await.unwrap();
    let sealing = tokio::spawn(async move { begun.reseal("state seal").await });
    let waits = format!(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE \"{table}\" SET data%'"
    );
    // A transaction sees who waits as it was when it first asked, so that somebody else has to.
    let watcher = database::client(Server::shared()).await;
    let begun_waiting = async {
        while watcher.query(&waits, &[]).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), begun_waiting).await.expect("who seals waits for the row");
    next.batch_execute("COMMIT").await.unwrap();
    let refused = sealing.await.unwrap().unwrap_err();
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
    let now = format!("SELECT data::text FROM {table} WHERE key LIKE '%stacks/shop/prod.json'");
    let now: String = next.query_one(&now, &[]).await.unwrap().get(0);
    assert_eq!(now, written);
}
