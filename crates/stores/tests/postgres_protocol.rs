//! The lease and commit protocol in PostgreSQL beside other tools, with wrong clocks, and for roles that may little.

#![allow(clippy::unwrap_used)]

mod database;
mod proxy;

use database::{Server, client, execute, let_leases_expire, table};
use drystone_stores::conformance::make::{acquire, begin, committed, names, snapshot, stack, success};
use drystone_stores::postgres::{Compression, DiyOptions, PostgresOptions, PostgresStore};
use drystone_stores::{At, Claim, Commit, Error, Host, Leases, Reads, Recovery, SystemHost};
use jiff::{SignedDuration, Timestamp};
use proxy::Proxy;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CHECKPOINT: &str = "postgres/.pulumi/stacks/shop/prod.json";

fn options(checkpoint_interval: Option<Duration>) -> PostgresOptions {
    let diy = DiyOptions { checkpoint_interval, ..DiyOptions::default() };
    PostgresOptions { diy, patience: Duration::from_secs(10), ..PostgresOptions::default() }
}

async fn plain(url: &str) -> PostgresStore {
    PostgresStore::open(url, options(None)).await.unwrap()
}

async fn current(store: &PostgresStore) -> Vec<String> {
    names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot)
}

/// What a row of the stock CLI's table holds.
async fn row(url: &str, key: &str) -> Option<String> {
    let client = client(Server::shared()).await;
    let sql = format!(
        "SELECT convert_from(decode(data->>'data', 'base64'), 'UTF8') FROM {} WHERE key = $1",
        table(url)
    );
    client.query_opt(&sql, &[&key]).await.unwrap().map(|row| row.get(0))
}

/// Writes a row as the stock CLI does.
async fn write(url: &str, key: &str, text: &str) {
    let client = client(Server::shared()).await;
    let sql = format!(
        "INSERT INTO {} (key, data) VALUES ($1, json_build_object('data', replace(encode(convert_to($2, 'UTF8'), 'base64'), chr(10), '')))
         ON CONFLICT (key) DO UPDATE SET data = excluded.data, updated_at = now()",
        table(url)
    );
    client.execute(&sql, &[&key, &text]).await.unwrap();
}

async fn keys(url: &str, like: &str) -> Vec<String> {
    let client = client(Server::shared()).await;
    let sql = format!("SELECT key FROM {} WHERE key LIKE $1 ORDER BY key", table(url));
    client.query(&sql, &[&like]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// What the stock CLI would do: replaces the checkpoint by one with another resource.
async fn rewrite(url: &str, from: &str, to: &str) {
    let text = row(url, CHECKPOINT).await.unwrap();
    write(url, CHECKPOINT, &text.replace(from, to)).await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s14_lock_rows_of_other_tools_are_honoured_and_ours_stand_while_we_hold() {
    let url = Server::shared().url();
    let store = plain(&url).await;
    committed(&store, &["a"]).await;
    let lock = r#"{"pid":7,"username":"ana","hostname":"elsewhere","timestamp":"2026-01-01T00:00:00Z"}"#;
    write(&url, "postgres/.pulumi/locks/organization/shop/prod/8a.json", lock).await;
    let Err(Error::Held { lease, .. }) = store.acquire(&stack(), Claim::new("up")).await else {
        panic!("the lock was passed over");
    };
    assert_eq!((lease.holder().as_str(), lease.foreign), ("ana@elsewhere", true));
    assert_eq!(store.holders(None).await.unwrap()[&stack()], [*lease]);
    assert_eq!(store.holders(Some("another")).await.unwrap().len(), 0);
    let (broken, _) = store.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    assert_eq!(broken.len(), 1);
    let held = acquire(&store, "up").await;
    assert_eq!(keys(&url, "%/locks/%").await.len(), 1, "other tools see the lease");
    held.release().await.unwrap();
    assert!(keys(&url, "%/locks/%").await.is_empty());
    let dead = acquire(&store, "up").await;
    drop(dead);
    let_leases_expire(Server::shared(), &url);
    acquire(&store, "up").await.release().await.unwrap();
    assert!(keys(&url, "%/locks/%").await.is_empty(), "the lock of a dead holder goes with its lease");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s20_a_journal_whose_base_another_tool_changed_is_kept_aside() {
    for dies in [true, false] {
        let url = Server::shared().url();
        let store = plain(&url).await;
        committed(&store, &["a"]).await;
        let lease = acquire(&store, "up").await;
        lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
        rewrite(&url, "::a\"", "::z\"").await;
        if dies {
            drop(lease);
            let_leases_expire(Server::shared(), &url);
            let next = acquire(&store, "up").await;
            assert!(
                matches!(next.recovery(), Recovery::Orphaned { entries: 2, .. }),
                "{:?}",
                next.recovery()
            );
            next.release().await.unwrap();
        } else {
            let refused = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await;
            assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?}");
            lease.release().await.unwrap();
        }
        assert_eq!(current(&store).await, ["z"]);
        let orphans = store.describe(&stack()).await.unwrap().orphans;
        assert_eq!(orphans.len(), 1);
        assert_eq!(names(&orphans[0].snapshot), ["a", "b"]);
        let lease = acquire(&store, "state doctor").await;
        let settles = vec![orphans[0].journal.clone()];
        lease.commit(Commit { settles: settles.clone(), ..Commit::default() }).await.unwrap();
        let again = lease.commit(Commit { settles, ..Commit::default() }).await;
        assert!(again.unwrap_err().to_string().contains("there is no such orphan"));
        lease.release().await.unwrap();
        assert!(store.describe(&stack()).await.unwrap().orphans.is_empty());
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s03_checkpoints_on_the_way_are_for_other_tools_and_make_no_revision() {
    for dies in [false, true] {
        let url = Server::shared().url();
        let store = PostgresStore::open(&url, options(Some(Duration::ZERO))).await.unwrap();
        let base = committed(&store, &["a"]).await;
        let lease = acquire(&store, "up").await;
        for (operation, name) in [(1, "b"), (2, "c")] {
            let sequence = operation * 2 - 1;
            let entries = vec![begin(sequence, operation, name), success(sequence + 1, operation, name)];
            lease.append(entries).await.unwrap();
            let began = Instant::now();
            while !row(&url, CHECKPOINT).await.unwrap().contains(&format!("::{name}\"")) {
                assert!(began.elapsed().as_secs() < 20, "no checkpoint with {name}");
                // The next is written when there is something to append.
                lease.append(Vec::new()).await.unwrap();
            }
        }
        if dies {
            drop(lease);
            let_leases_expire(Server::shared(), &url);
            let next = acquire(&store, "up").await;
            assert!(
                matches!(next.recovery(), Recovery::Replayed { entries: 4, .. }),
                "{:?}",
                next.recovery()
            );
            next.release().await.unwrap();
        } else {
            let done = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
            assert_eq!(done.previous, Some(base));
            lease.release().await.unwrap();
        }
        assert_eq!(store.revisions(&stack()).await.unwrap().len(), 2);
        assert_eq!(current(&store).await, ["a", "b", "c"]);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s14_a_checkpoint_in_another_compression_takes_the_place_of_the_old_one() {
    let url = Server::shared().url();
    committed(&plain(&url).await, &["a"]).await;
    let mut compressed = options(None);
    compressed.diy.compression = Compression::Gzip;
    compressed.diy.retain_checkpoints = true;
    let store = PostgresStore::open(&url, compressed).await.unwrap();
    assert_eq!(current(&store).await, ["a"]);
    committed(&store, &["b"]).await;
    assert_eq!(current(&store).await, ["b"]);
    let there = keys(&url, "%/stacks/shop/%").await;
    let is_there = |ending: &str| there.contains(&format!("{CHECKPOINT}{ending}"));
    assert_eq!((is_there(""), is_there(".bak"), is_there(".gz")), (false, true, true), "{there:?}");
    assert_eq!(there.iter().filter(|key| key.contains(".gz.")).count(), 1, "one was retained");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s14_rows_are_those_of_the_stock_cli() {
    let url = Server::shared().url();
    let store = plain(&url).await;
    let lease = acquire(&store, "up").await;
    let update = Some(drystone_model::Json::parse(r#"{"kind":"update"}"#).unwrap());
    let tags = Some([("k".to_owned(), "v".to_owned())].into());
    let commit = Commit { snapshot: Some(snapshot(&["a"])), update, tags, ..Commit::default() };
    lease.commit(commit).await.unwrap();
    lease.release().await.unwrap();
    let there = keys(&url, "%").await;
    let shapes: Vec<String> =
        there.iter().map(|key| key.chars().filter(|letter| !letter.is_ascii_digit()).collect()).collect();
    let expected = [
        "postgres/.pulumi/backups/shop/prod/prod..json",
        "postgres/.pulumi/history/shop/prod/prod-.checkpoint.json",
        "postgres/.pulumi/history/shop/prod/prod-.history.json",
        "postgres/.pulumi/meta.yaml",
        "postgres/.pulumi/stacks/shop/prod.json",
        "postgres/.pulumi/stacks/shop/prod.pulumi-tags",
    ];
    assert_eq!(shapes, expected);
    let client = client(Server::shared()).await;
    let sql = format!("SELECT data::text FROM {} WHERE key LIKE '%meta.yaml'", table(&url));
    let meta: String = client.query_one(&sql, &[]).await.unwrap().get(0);
    assert_eq!(meta, r#"{"data":"dmVyc2lvbjogMQo="}"#);
}

/// A machine whose clock is wrong.
#[derive(Debug)]
struct WrongClock(SignedDuration);

impl Host for WrongClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.0
    }
    fn new_id(&self) -> String {
        SystemHost.new_id()
    }
    fn user(&self) -> String {
        SystemHost.user()
    }
    fn hostname(&self) -> String {
        SystemHost.hostname()
    }
    fn pid(&self) -> u32 {
        SystemHost.pid()
    }
    fn is_running(&self, pid: u32) -> Option<bool> {
        SystemHost.is_running(pid)
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s12_clocks_of_clients_may_be_wrong_by_minutes() {
    let url = Server::shared().url();
    let late = Arc::new(WrongClock(SignedDuration::from_mins(-17)));
    let early = Arc::new(WrongClock(SignedDuration::from_mins(23)));
    let late = PostgresStore::with(&url, late, options(None)).await.unwrap();
    let early = PostgresStore::with(&url, early, options(None)).await.unwrap();
    committed(&late, &["a"]).await;
    for (holder, other) in [(&late, &early), (&early, &late)] {
        let lease = acquire(holder, "up").await;
        let refused = other.acquire(&stack(), Claim::new("up")).await;
        assert!(matches!(refused, Err(Error::Held { .. })), "a holder that lives is not taken for dead");
        let holders = other.describe(&stack()).await.unwrap().holders;
        assert!(!holders[0].dead);
        let since: Timestamp = holders[0].since.parse().unwrap();
        assert!(Timestamp::now().duration_since(since).abs() < SignedDuration::from_secs(60), "{since}");
        lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
        drop(lease);
        let refused = other.acquire(&stack(), Claim::new("up")).await;
        assert!(matches!(refused, Err(Error::Held { .. })), "nor is one that died just now");
        let_leases_expire(Server::shared(), &url);
        let next = acquire(other, "up").await;
        assert!(matches!(next.recovery(), Recovery::Replayed { .. }));
        next.commit(Commit { snapshot: Some(snapshot(&["a"])), ..Commit::default() }).await.unwrap();
        next.release().await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s13_who_waits_is_woken_when_the_lease_is_given_back() {
    let url = Server::shared().url();
    let (holder, waiter) = (plain(&url).await, plain(&url).await);
    committed(&holder, &["a"]).await;
    let lease = acquire(&holder, "up").await;
    let waiting = tokio::spawn(async move {
        waiter.wait_for_release(&stack(), Duration::from_secs(30)).await.unwrap();
        let woken = Instant::now();
        acquire(&waiter, "up").await.release().await.unwrap();
        woken
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    let released = Instant::now();
    lease.release().await.unwrap();
    let woken = waiting.await.unwrap();
    println!("woken {} ms after the release began", woken.duration_since(released).as_millis());
    let began = Instant::now();
    let free = plain(&url).await;
    free.wait_for_release(&stack(), Duration::from_secs(30)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "a free lease is not waited for");
    let held = acquire(&holder, "up").await;
    free.wait_for_release(&stack(), Duration::from_millis(50)).await.unwrap();
    held.release().await.unwrap();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s03_a_step_costs_what_the_step_costs() {
    let proxy = Proxy::start(Server::shared().port());
    let url = Server::shared().url();
    let store = PostgresStore::open(&proxy.url(&url), options(None)).await.unwrap();
    let many: Vec<String> = (0..2000).map(|number| format!("resource-{number:04}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    committed(&store, &many).await;
    let lease = acquire(&store, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    proxy.mend();
    for operation in 2..=21 {
        let name = format!("n{operation}");
        lease.append(vec![begin(operation * 2 - 1, operation, &name)]).await.unwrap();
        lease.append(vec![success(operation * 2, operation, &name)]).await.unwrap();
    }
    let (statements, bytes) = proxy.seen();
    proxy.mend();
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    let (of_commit, commit_bytes) = proxy.seen();
    lease.release().await.unwrap();
    println!(
        "20 steps on a stack of 2,000: {statements} statements, {bytes} bytes; the commit: {of_commit}, {commit_bytes}"
    );
    assert_eq!(statements, 40, "one statement for each group of entries");
    assert!(bytes < 64 * 1024, "{bytes}");
    let document = row(&url, CHECKPOINT).await.unwrap().len() as u64;
    assert!(commit_bytes < document * 3 / 2, "the document is sent once, and once compressed");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn tables_of_a_newer_version_are_refused_by_name() {
    let url = Server::shared().url();
    committed(&plain(&url).await, &["a"]).await;
    execute(Server::shared(), format!("INSERT INTO {}_drystone_version (version) VALUES (7)", table(&url)));
    let refused = PostgresStore::open(&url, options(None)).await;
    let Err(Error::Unsupported { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("version 7"), "{reason}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn many_clients_open_a_new_database_at_once() {
    let url = Server::shared().url();
    let opened = (0..8).map(|_| PostgresStore::open(&url, options(None)));
    for opened in futures::future::join_all(opened).await {
        opened.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn a_role_that_may_not_make_tables_works_once_they_are_there() {
    let server = Server::shared();
    let url = server.url();
    let role = format!("least_{}", table(&url));
    execute(
        server,
        format!("CREATE ROLE {role} LOGIN PASSWORD 'hush'; REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
    );
    let least = url.replace("drystone@", &format!("{role}:hush@"));
    let refused = PostgresStore::open(&least, options(None)).await.unwrap_err();
    assert!(refused.to_string().contains("this role may not make them"), "{refused}");
    assert!(!format!("{refused} {refused:?}").contains("hush"), "S17: {refused:?}");
    plain(&url).await;
    let tables = ["", "_drystone_leases", "_drystone_journals", "_drystone_kept", "_drystone_revisions"]
        .into_iter()
        .chain(["_drystone_current", "_drystone_trash", "_drystone_version"])
        .map(|ending| format!("{}{ending}", table(&url)))
        .collect::<Vec<_>>()
        .join(", ");
    execute(server, format!("GRANT SELECT ON {tables} TO {role}"));
    let reader = PostgresStore::open(&least, options(None)).await.unwrap();
    assert_eq!(reader.stacks(None).await.unwrap(), []);
    let refused = reader.acquire(&stack(), Claim::new("up")).await.err().unwrap();
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    execute(server, format!("GRANT INSERT, UPDATE, DELETE ON {tables} TO {role}"));
    committed(&reader, &["a"]).await;
    assert_eq!(current(&reader).await, ["a"]);
    assert!(!format!("{reader:?}").contains("hush"), "S17");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn a_thousand_stacks_are_listed_without_opening_them() {
    let proxy = Proxy::start(Server::shared().port());
    let url = Server::shared().url();
    let store = PostgresStore::open(&proxy.url(&url), options(None)).await.unwrap();
    committed(&store, &["a"]).await;
    let t = table(&url);
    execute(
        Server::shared(),
        format!(
            "INSERT INTO {t} (key, data) SELECT replace(key, 'prod.json', 's' || n || '.json'), data
             FROM {t}, generate_series(1, 999) n WHERE key LIKE '%/prod.json';
         INSERT INTO {t}_drystone_current SELECT replace(c.stack, 'prod', 's' || n), t.key,
             t.xmin::text || '/' || (extract(epoch FROM t.updated_at) * 1000000)::bigint::text,
             c.hash, c.revision, c.time, c.resources, c.outline
             FROM {t}_drystone_current c, generate_series(1, 999) n
             JOIN {t} t ON t.key = 'postgres/.pulumi/stacks/shop/s' || n || '.json'"
        ),
    );
    proxy.mend();
    let began = Instant::now();
    let listed = store.stacks(None).await.unwrap();
    let (statements, _) = proxy.seen();
    println!("1,000 stacks listed with {statements} statements in {} ms", began.elapsed().as_millis());
    assert_eq!(listed.len(), 1000);
    assert!(listed.iter().all(|summary| summary.resources == Some(2)));
    assert!(statements <= 4, "{statements}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s08_what_was_read_before_is_not_taken_for_what_stands_there_now() {
    let url = Server::shared().url();
    let store = plain(&url).await;
    committed(&store, &["a", "r7"]).await;
    let first = current(&store).await;
    assert_eq!(first, current(&store).await);
    rewrite(&url, "::r7\"", "::z\"").await;
    assert!(current(&store).await.contains(&"z".to_owned()));
    // The same text again is another version of the row, and a row without data is not one that was read before.
    let text = row(&url, CHECKPOINT).await.unwrap();
    write(&url, CHECKPOINT, &text.replace("::z\"", "::r7\"")).await;
    assert_eq!(current(&store).await, first);
    let emptied = format!("UPDATE {} SET data = '{{}}' WHERE key = '{CHECKPOINT}'", table(&url));
    execute(Server::shared(), emptied);
    let refused = store.snapshot(&stack(), At::Current).await.unwrap_err();
    assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
}
