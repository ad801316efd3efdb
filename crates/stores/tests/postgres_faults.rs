//! Connections to PostgreSQL that are cut at every statement, and a server that is killed: nothing is lost (S2, S5, S11).

#![allow(clippy::unwrap_used)]

mod database;
mod proxy;

use database::{Server, empty, let_leases_expire};
use drystone_stores::conformance::make::{acquire, begin, committed, names, snapshot, stack, success};
use drystone_stores::postgres::{DiyOptions, PostgresOptions, PostgresStore};
use drystone_stores::{At, Claim, Commit, Leases, Reads, Recovery, Relocation, Result, StackId};
use proxy::{Proxy, Side};
use std::time::Duration;

fn options(patience: Duration) -> PostgresOptions {
    let diy = DiyOptions { checkpoint_interval: None, ..DiyOptions::default() };
    PostgresOptions { diy, patience, ..PostgresOptions::default() }
}

/// With a checkpoint on the way after every entry, or with none.
fn checkpointing(mut options: PostgresOptions, checkpoints: bool) -> PostgresOptions {
    options.diy.checkpoint_interval = checkpoints.then_some(Duration::ZERO);
    options
}

const SWEEPS: [(bool, Side); 4] =
    [(false, Side::Before), (false, Side::After), (true, Side::Before), (true, Side::After)];

fn patient() -> PostgresOptions {
    options(Duration::from_secs(20))
}

fn impatient() -> PostgresOptions {
    options(Duration::ZERO)
}

/// Nobody is left on the stack, nothing waits for anybody, and the newest revision is the current document.
async fn is_in_order(store: &PostgresStore, stack: &StackId) {
    let described = store.describe(stack).await.unwrap();
    assert!(described.holders.is_empty(), "{:?}", described.holders);
    assert!(described.orphans.is_empty(), "{:?}", described.orphans);
    assert!(!described.unrecovered);
    let now = store.snapshot(stack, At::Current).await.unwrap();
    let newest = store.revisions(stack).await.unwrap().pop().unwrap();
    assert_eq!(
        (newest.hash, Some(newest.number)),
        (now.hash, now.revision.and_then(|it| it.try_into().ok()))
    );
}

/// An update that ends at the first thing that fails; gives what it was told is durable, and its revision.
async fn update(store: &PostgresStore, durable: &mut Vec<String>) -> Result<Option<u64>> {
    let lease = store.acquire(&stack(), Claim::new("up")).await?;
    for (operation, name) in [(1, "b"), (2, "c"), (3, "d")] {
        let sequence = operation * 2 - 1;
        lease.append(vec![begin(sequence, operation, name)]).await?;
        lease.append(vec![success(sequence + 1, operation, name)]).await?;
        durable.push(name.to_owned());
    }
    let done = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await?;
    lease.release().await?;
    Ok(done.revision)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s11_an_update_whose_connection_is_cut_at_any_statement_ends_well_all_the_same() {
    let server = Server::shared();
    let proxy = Proxy::start(server.port());
    let url = server.url();
    drop(PostgresStore::open(&url, patient()).await.unwrap());
    let (mut cuts, mut recovered) = (0, 0);
    for (checkpoints, side) in SWEEPS {
        for at in 1.. {
            empty(server, &url);
            let store =
                PostgresStore::open(&proxy.url(&url), checkpointing(patient(), checkpoints)).await.unwrap();
            committed(&store, &["a"]).await;
            proxy.cut(at, side);
            let mut durable = Vec::new();
            let revision =
                update(&store, &mut durable).await.unwrap_or_else(|error| panic!("{side:?} {at}: {error}"));
            let was_cut = proxy.cuts() > 0;
            proxy.mend();
            let now = store.snapshot(&stack(), At::Current).await.unwrap();
            assert_eq!(names(&now.snapshot), ["a", "b", "c", "d"], "{side:?} {at}");
            assert_eq!((now.revision, store.revisions(&stack()).await.unwrap().len()), (revision, 2));
            is_in_order(&store, &stack()).await;
            if !was_cut {
                break;
            }
            cuts += 1;
            recovered += 1;
        }
    }
    println!("cut {cuts} connections: {recovered} updates went on and ended well, 0 entries lost");
    assert!(cuts > 20, "an update has more statements than {cuts}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s05_an_update_that_is_cut_off_at_any_statement_is_brought_in_by_the_next() {
    let server = Server::shared();
    let proxy = Proxy::start(server.port());
    let url = server.url();
    let next = PostgresStore::open(&url, patient()).await.unwrap();
    let (mut cuts, mut entries) = (0, 0);
    for (checkpoints, side) in SWEEPS {
        for at in 1.. {
            empty(server, &url);
            committed(&next, &["a"]).await;
            let store =
                PostgresStore::open(&proxy.url(&url), checkpointing(impatient(), checkpoints)).await.unwrap();
            proxy.cut_off(at, side);
            let mut durable = Vec::new();
            let done = update(&store, &mut durable).await;
            let was_cut = proxy.cuts() > 0;
            drop(store);
            proxy.mend_after_the_dead().await;
            let_leases_expire(server, &url);
            acquire(&next, "up").await.release().await.unwrap();
            let now = next.snapshot(&stack(), At::Current).await.unwrap();
            let present = names(&now.snapshot);
            assert!(durable.iter().all(|name| present.contains(name)), "{side:?} {at}: {present:?}");
            if let Ok(revision) = done {
                assert_eq!(now.revision, revision, "{side:?} {at}");
            }
            assert!(next.revisions(&stack()).await.unwrap().len() <= 2, "{side:?} {at}");
            is_in_order(&next, &stack()).await;
            entries += durable.len() * 2;
            if !was_cut {
                break;
            }
            cuts += 1;
        }
    }
    println!("cut off {cuts} updates: {entries} acknowledged entries, 0 lost");
    assert!(cuts > 20, "an update has more statements than {cuts}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s05_a_recovery_that_is_cut_off_at_any_statement_is_finished_by_the_next() {
    let server = Server::shared();
    let proxy = Proxy::start(server.port());
    let url = server.url();
    let next = PostgresStore::open(&url, patient()).await.unwrap();
    let mut cuts = 0;
    for side in [Side::Before, Side::After] {
        for at in 1.. {
            empty(server, &url);
            committed(&next, &["a"]).await;
            let dead = acquire(&next, "up").await;
            dead.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
            drop(dead);
            let_leases_expire(server, &url);
            let store = PostgresStore::open(&proxy.url(&url), impatient()).await.unwrap();
            proxy.cut_off(at, side);
            if let Ok(lease) = store.acquire(&stack(), Claim::new("up")).await {
                let _ = lease.release().await;
            }
            let was_cut = proxy.cuts() > 0;
            drop(store);
            proxy.mend_after_the_dead().await;
            let_leases_expire(server, &url);
            acquire(&next, "up").await.release().await.unwrap();
            let now = next.snapshot(&stack(), At::Current).await.unwrap();
            assert_eq!(names(&now.snapshot), ["a", "b"], "{side:?} {at}");
            assert_eq!(now.snapshot.pending_operations.len(), 1, "{side:?} {at}");
            assert_eq!(next.revisions(&stack()).await.unwrap().len(), 2, "{side:?} {at}");
            is_in_order(&next, &stack()).await;
            if !was_cut {
                break;
            }
            cuts += 1;
        }
    }
    println!("cut off {cuts} recoveries: each was finished by the next holder, once");
    assert!(cuts > 10, "a recovery has more statements than {cuts}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn a_move_that_is_cut_off_at_any_statement_leaves_the_stack_in_one_place() {
    let server = Server::shared();
    let proxy = Proxy::start(server.port());
    let url = server.url();
    let next = PostgresStore::open(&url, patient()).await.unwrap();
    let target = StackId::new("shop", "live").unwrap();
    let mut cuts = 0;
    for side in [Side::Before, Side::After] {
        for at in 1.. {
            empty(server, &url);
            let first = committed(&next, &["a"]).await;
            committed(&next, &["b"]).await;
            let store = PostgresStore::open(&proxy.url(&url), impatient()).await.unwrap();
            proxy.cut_off(at, side);
            if let Ok(lease) = store.acquire(&stack(), Claim::new("stack rename")).await {
                let to = Relocation::To { stack: target.clone(), snapshot: Some(Box::new(snapshot(&["b"]))) };
                let _ = lease.relocate(to).await;
                let _ = lease.release().await;
            }
            let was_cut = proxy.cuts() > 0;
            drop(store);
            proxy.mend_after_the_dead().await;
            let_leases_expire(server, &url);
            let there: Vec<StackId> =
                next.stacks(None).await.unwrap().into_iter().map(|summary| summary.stack).collect();
            assert_eq!(there.len(), 1, "{side:?} {at}: {there:?}");
            next.acquire(&there[0], Claim::new("up")).await.unwrap().release().await.unwrap();
            let old = next.snapshot(&there[0], At::Revision(first)).await.unwrap();
            assert_eq!(names(&old.snapshot), ["a"], "{side:?} {at}: its revisions are where it is");
            is_in_order(&next, &there[0]).await;
            if !was_cut {
                assert_eq!(there, std::slice::from_ref(&target));
                break;
            }
            cuts += 1;
        }
    }
    println!("cut off {cuts} renames: the stack was whole under one of its names");
    assert!(cuts > 10, "a rename has more statements than {cuts}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s02_a_server_that_is_killed_and_started_again_in_an_update_loses_nothing() {
    // Every commit must reach the system before it is answered, whatever is left of the server.
    let settings = ["synchronous_commit=on"];
    let mut server = Server::start(&settings);
    let url = server.url();
    let mut options = patient();
    options.diy.checkpoint_interval = Some(Duration::from_millis(50));
    let store = PostgresStore::open(&url, options).await.unwrap();
    committed(&store, &["base"]).await;
    let lease: std::sync::Arc<dyn drystone_stores::HeldLease> = acquire(&store, "up").await.into();
    let (mut operation, mut crashes) = (0, 0);
    let mut expected = vec!["base".to_owned()];
    for _ in 0..3 {
        let holder = std::sync::Arc::clone(&lease);
        let from = operation;
        let writes = tokio::spawn(async move {
            for operation in from + 1..=from + 60 {
                let name = format!("r{operation}");
                holder.append(vec![begin(operation * 2 - 1, operation, &name)]).await.unwrap();
                holder.append(vec![success(operation * 2, operation, &name)]).await.unwrap();
            }
        });
        tokio::time::sleep(Duration::from_millis(60)).await;
        server = tokio::task::spawn_blocking(move || {
            server.kill();
            server.start_again(&settings);
            server
        })
        .await
        .unwrap();
        crashes += 1;
        writes.await.unwrap();
        expected.extend((from + 1..=from + 60).map(|operation| format!("r{operation}")));
        operation += 60;
    }
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    drop(lease);
    let_leases_expire(&server, &url);
    acquire(&store, "up").await.release().await.unwrap();
    expected.sort();
    let now = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(names(&now.snapshot), expected);
    let next = acquire(&store, "up").await;
    assert_eq!(*next.recovery(), Recovery::Nothing);
    next.release().await.unwrap();
    println!(
        "killed the server {crashes} times in one update: {} acknowledged entries, 0 lost",
        operation * 2
    );
}
