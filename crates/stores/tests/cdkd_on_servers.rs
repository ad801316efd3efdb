//! cdkd's stacks in buckets of real servers: the contract, races for a lock, and what is wrong there.

#![allow(clippy::unwrap_used)]

mod cdkd_bucket;

use cdkd_bucket::{IDS, Objects, acquire, client, deploy, ids, key, prefix, resource};
use drystone_dialects::cdkd::{Lock, StackKey};
use drystone_servers::{Cloud, minio, moto};
use drystone_stores::cdkd::{Contents, Error, LockFile, LockPatience};
use std::time::{Duration, Instant};

const TTL: Duration = Duration::from_secs(30 * 60);

/// Deploys, looks, nests, tears, and takes everything away again.
async fn is_kept(cloud: &'static Cloud) {
    let prefix = prefix();
    let store = client(cloud, &prefix, TTL).await;
    deploy(&store, LockPatience::ONCE, |_| {}).await.unwrap();
    let state = store.state(&key()).await.unwrap().unwrap();
    assert_eq!((ids(&state), state.outputs.len()), (IDS.to_vec(), 1));
    assert!(store.exports(&key().region).await.unwrap().exports.contains("Url"));

    let held = acquire(&store, LockPatience::ONCE).await.unwrap();
    let second = client(cloud, &prefix, TTL).await;
    assert!(matches!(acquire(&second, LockPatience::ONCE).await, Err(Error::Held { .. })));
    let mut child = resource("Child");
    child.resource_type = "AWS::CloudFormation::Stack".to_owned();
    held.save_resource("Child", child).await.unwrap();
    assert!(matches!(store.nested(&key()).await, Err(Error::Torn { .. })));
    let nested = StackKey::parse("Shop~Child", "us-east-1").unwrap();
    let inner = store.acquire(&nested, "deploy", LockPatience::ONCE).await.unwrap();
    inner.record(|state| state.nest_in(&key(), "Child")).await.unwrap();
    assert!(inner.release().await.unwrap());
    let tree = store.nested(&key()).await.unwrap().unwrap();
    assert!(matches!(tree.lock, LockFile::Held(_)));
    assert_eq!(tree.children.len(), 1);
    assert_eq!(tree.children[0].state.parent().unwrap().logical_id, "Child");

    let summaries = second.summaries(Contents::StatesAndLocks).await.unwrap();
    let locked: Vec<bool> = summaries.iter().map(|summary| summary.lock != LockFile::Absent).collect();
    assert_eq!((summaries.len(), locked), (2, vec![true, false]));
    for id in ["Child", "C", "B", "A"] {
        held.destroyed_resource(id).await.unwrap();
    }
    held.remove_state().await.unwrap();
    held.update_exports().await;
    assert!(held.release().await.unwrap());
    let listed = store.stacks().await.unwrap();
    assert_eq!(listed.len(), 1, "the nested one is left");
    store.orphan(&listed[0]).await.unwrap();
    assert_eq!(store.stacks().await.unwrap(), []);
    assert!(store.exports(&key().region).await.unwrap().exports.is_empty());
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s15_stacks_are_kept_on_minio() {
    is_kept(minio()).await;
}

#[tokio::test]
#[ignore = "needs moto: run by cargo xtask test"]
async fn s15_stacks_are_kept_on_moto() {
    is_kept(moto()).await;
}

/// So often two clients find one expired lock: one of them has it.
async fn has_one_winner(cloud: &'static Cloud, races: u32) {
    let prefix = prefix();
    let path = format!("{prefix}/Shop/us-east-1/lock.json");
    let objects = Objects::of(cloud).await;
    let clients = [client(cloud, &prefix, TTL).await, client(cloud, &prefix, TTL).await];
    let mut won = [0, 0];
    let began = Instant::now();
    for race in 0..races {
        let expired =
            format!(r#"{{"owner":"bob@ci:1","timestamp":{race},"expiresAt":2,"operation":"destroy"}}"#);
        objects.write(&path, &expired).await;
        // A server that takes one request after the other has the first come first served.
        let first = (race % 2) as usize;
        let (one, other) = tokio::join!(
            acquire(&clients[first], LockPatience::ONCE),
            acquire(&clients[1 - first], LockPatience::ONCE)
        );
        let (winner, held) = match (one, other) {
            (Ok(held), Err(Error::Held { .. })) => (first, held),
            (Err(Error::Held { .. }), Ok(held)) => (1 - first, held),
            (one, other) => panic!("race {race}: {one:?} and {other:?}"),
        };
        let there = Lock::read(objects.text(&path).await.unwrap().as_bytes()).unwrap().unwrap();
        assert_eq!(there, held.lock(), "race {race}");
        won[winner] += 1;
        assert!(held.release().await.unwrap());
    }
    println!("{races} races in {:?}, won {won:?}", began.elapsed());
    assert!(won.iter().all(|wins| *wins > 0), "one of them never won: {won:?}");
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s11_a_thousand_times_one_of_two_takes_an_expired_lock_on_minio() {
    has_one_winner(minio(), 1000).await;
}

#[tokio::test]
#[ignore = "needs moto: run by cargo xtask test"]
async fn s11_one_of_two_takes_an_expired_lock_on_moto() {
    has_one_winner(moto(), 50).await;
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s12_a_lock_that_is_held_longer_than_its_time_is_kept_by_renewal() {
    let (prefix, ttl) = (prefix(), Duration::from_secs(3));
    let store = client(minio(), &prefix, ttl).await;
    let other = client(minio(), &prefix, ttl).await;
    let held = acquire(&store, LockPatience::ONCE).await.unwrap();
    let first = held.lock();
    let began = Instant::now();
    while began.elapsed() < ttl * 3 {
        assert!(matches!(acquire(&other, LockPatience::ONCE).await, Err(Error::Held { .. })));
        tokio::time::sleep(ttl / 10).await;
    }
    held.begin().await.unwrap();
    assert!(held.lock().expires_at > first.expires_at.map(|first| first + 3000));
    // Not released: that looks like dying, and the lock expires.
    drop(held);
    let patience = LockPatience { attempts: 200, pause: Duration::from_millis(100) };
    assert!(acquire(&other, patience).await.unwrap().release().await.unwrap());
}

/// What is wrong is told with the key of the object.
async fn is_told(cloud: &'static Cloud) {
    let prefix = prefix();
    let objects = Objects::of(cloud).await;
    let store = client(cloud, &prefix, TTL).await;
    for (stack, text, what) in [
        (
            "Newer",
            r#"{"version":9,"resources":{}}"#,
            "its schema version 9 is newer than the newest one known, 8",
        ),
        ("Half", r#"{"version":8,"resou"#, "it is cut off after 19 bytes, in `resou`"),
        ("Foreign", r#"{"name":"left-pad"}"#, "it is not a cdkd state: it has no `resources`"),
        ("Empty", "", "it is empty"),
    ] {
        let path = format!("{prefix}/{stack}/us-east-1/state.json");
        objects.write(&path, text).await;
        let error = store.state(&StackKey::parse(stack, "us-east-1").unwrap()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("s3://acme-state/{path}: {what}"));
    }
    for foreign in ["notes.txt", "Shop/us-east-1/x/state.json", "_index/README.md"] {
        objects.write(&format!("{prefix}/{foreign}"), "?").await;
    }
    deploy(&store, LockPatience::ONCE, |_| {}).await.unwrap();
    let summaries = store.summaries(Contents::StatesAndLocks).await.unwrap();
    let good: Vec<&str> = summaries
        .iter()
        .filter(|summary| summary.state.is_ok())
        .map(|summary| summary.listed.stack.as_str())
        .collect();
    assert_eq!((summaries.len(), good), (5, vec!["Shop"]));
    let path = format!("{prefix}/Shop/us-east-1/lock.json");
    objects.write(&path, "{\"owner\":").await;
    let error = acquire(&store, LockPatience::ONCE).await.unwrap_err();
    assert!(matches!(error, Error::UnreadableLock { .. }));
    assert!(error.to_string().starts_with(&format!("s3://acme-state/{path}: ")), "{error}");
    assert!(matches!(store.force_unlock(&key()).await.unwrap(), LockFile::Unreadable(_)));
    for listed in store.stacks().await.unwrap() {
        store.orphan(&listed).await.unwrap();
    }
    assert_eq!(store.stacks().await.unwrap(), [], "what cannot be read can be forgotten");
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s09_what_is_wrong_is_told_with_its_key_on_minio() {
    is_told(minio()).await;
}

#[tokio::test]
#[ignore = "needs moto: run by cargo xtask test"]
async fn s09_what_is_wrong_is_told_with_its_key_on_moto() {
    is_told(moto()).await;
}
