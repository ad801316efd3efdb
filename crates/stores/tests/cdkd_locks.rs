//! Locks on cdkd's stacks: one holder at a time, whatever the others do.

#![allow(clippy::unwrap_used)]

mod bucket;
mod machine;

use bucket::TestBucket;
use drystone_dialects::cdkd::{Lock, StackKey};
use drystone_stores::cdkd::{CdkdOptions, CdkdStore, Error, HeldStack, LockFile, LockPatience};
use machine::TestMachine;
use object_store::path::Path;
use object_store::{Attribute, ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;

const LOCK: &str = "cdkd/Parent~Child/us-east-1/lock.json";
const TTL: Duration = Duration::from_secs(30 * 60);
const RACES: u64 = 1000;

fn key() -> StackKey {
    StackKey::parse("Parent~Child", "us-east-1").unwrap()
}

fn client(bucket: &Arc<TestBucket>, machine: &Arc<TestMachine>) -> CdkdStore {
    let bucket: Arc<dyn ObjectStore> = Arc::<TestBucket>::clone(bucket);
    let machine = Arc::<TestMachine>::clone(machine);
    CdkdStore::with(bucket, "s3://state", machine, CdkdOptions::default())
}

async fn take(store: &CdkdStore) -> Result<HeldStack, Error> {
    store.acquire(&key(), "deploy", LockPatience::ONCE).await
}

async fn lock_there(bucket: &TestBucket) -> Lock {
    Lock::read(bucket.text(LOCK).await.unwrap().as_bytes()).unwrap().unwrap()
}

/// A lock that a holder left who has not been heard of since.
async fn leave_expired_lock(bucket: &TestBucket, machine: &TestMachine) {
    let text = r#"{"owner":"bob@ci:1","timestamp":1,"expiresAt":2,"operation":"destroy"}"#;
    bucket.write(LOCK, text).await;
    machine.advance(Duration::from_millis(1));
}

#[tokio::test]
async fn s15_a_lock_is_the_tool_s_file_with_the_tool_s_fields() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let held = take(&client(&bucket, &machine)).await.unwrap();
    let expected = r#"{
  "owner": "ana@laptop/00000000:1",
  "timestamp": 1794767498943,
  "expiresAt": 1794769298943,
  "operation": "deploy"
}"#;
    assert_eq!(bucket.text(LOCK).await.unwrap(), expected);
    let object = bucket.get(&Path::parse(LOCK).unwrap()).await.unwrap();
    assert_eq!(object.attributes.get(&Attribute::ContentType).unwrap().as_ref(), "application/json");
    assert!(held.release().await.unwrap());
    assert_eq!(bucket.paths().await, Vec::<String>::new());
}

#[tokio::test]
async fn s13_who_comes_second_is_told_who_holds_it() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let held = take(&client(&bucket, &machine)).await.unwrap();
    let other = client(&bucket, &machine.beside(2));
    let error = take(&other).await.unwrap_err();
    assert_eq!(error.to_string(), "Parent~Child (us-east-1) is locked by ana@laptop/00000000:1 (`deploy`)");
    assert_eq!(other.lock(&key()).await.unwrap(), LockFile::Held(Box::new(held.lock())));
    held.release().await.unwrap();
    assert_eq!(other.lock(&key()).await.unwrap(), LockFile::Absent);
    take(&other).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn s13_who_waits_gets_it_when_it_is_given_back() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let held = take(&client(&bucket, &machine)).await.unwrap();
    let other = client(&bucket, &machine.beside(2));
    let patience = LockPatience { attempts: 1000, pause: Duration::from_millis(1) };
    let waiting = key();
    let (second, first) = tokio::join!(other.acquire(&waiting, "deploy", patience), async {
        tokio::task::yield_now().await;
        held.release().await
    });
    assert!(first.unwrap());
    let owner = second.unwrap().lock().owner;
    assert!(owner.starts_with("ana@laptop/") && owner.ends_with(":2"), "{owner}");
}

#[tokio::test]
async fn s11_a_thousand_times_two_clients_take_one_expired_lock_and_one_has_it() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let clients = [client(&bucket, &machine), client(&bucket, &machine.beside(1))];
    let mut won = [0, 0];
    for race in 0..RACES {
        bucket.mend();
        leave_expired_lock(&bucket, &machine).await;
        bucket.mix_requests(0x9e37_79b9_7f4a_7c15 ^ (race << 17));
        let (one, other) = tokio::join!(take(&clients[0]), take(&clients[1]));
        let winner = match (one, other) {
            (Ok(held), Err(Error::Held { .. })) => (0, held),
            (Err(Error::Held { .. }), Ok(held)) => (1, held),
            (one, other) => panic!("race {race}: {one:?} and {other:?}"),
        };
        assert_eq!(lock_there(&bucket).await, winner.1.lock(), "race {race}");
        won[winner.0] += 1;
        assert!(winner.1.release().await.unwrap());
    }
    assert!(won.iter().all(|wins| *wins > 0), "one of them never won: {won:?}");
}

#[tokio::test]
async fn s11_takers_agree_when_answers_get_lost() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let clients = [client(&bucket, &machine), client(&bucket, &machine.beside(1))];
    for every in 2..8 {
        bucket.mend();
        leave_expired_lock(&bucket, &machine).await;
        bucket.lose_answers(every);
        let (one, other) = tokio::join!(take(&clients[0]), take(&clients[1]));
        bucket.mend();
        assert!(one.is_ok() != other.is_ok(), "{one:?} and {other:?}");
        assert!(one.or(other).unwrap().release().await.unwrap());
    }
}

#[tokio::test]
async fn s12_a_lock_outlives_its_time_by_renewal_and_not_without() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let held = take(&client(&bucket, &machine)).await.unwrap();
    let other = client(&bucket, &machine.beside(2));
    for _ in 0..5 {
        machine.advance(TTL * 2 / 3);
        held.renew().await.unwrap();
        assert!(matches!(take(&other).await, Err(Error::Held { .. })));
    }
    let lock = lock_there(&bucket).await;
    assert_eq!(lock.timestamp, 1_794_767_498_943, "since when it is held does not change");
    machine.advance(TTL);
    let taken = take(&other).await.unwrap();
    assert!(matches!(held.renew().await, Err(Error::Fenced { .. })));
    assert!(!held.release().await.unwrap(), "it is another's by now");
    assert_eq!(lock_there(&bucket).await, taken.lock());
}

#[tokio::test]
async fn s12_a_lock_is_renewed_by_itself() {
    let bucket = TestBucket::new();
    let options = CdkdOptions { lock_ttl: Duration::from_millis(90), ..CdkdOptions::default() };
    let client: Arc<dyn ObjectStore> = Arc::<TestBucket>::clone(&bucket);
    let store = CdkdStore::open(client, "s3://state", options);
    let held = take(&store).await.unwrap();
    let began = lock_there(&bucket).await;
    let now = std::time::Instant::now();
    while lock_there(&bucket).await.expires_at == began.expires_at {
        assert!(now.elapsed() < Duration::from_secs(60), "it was never renewed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    held.release().await.unwrap();
}

#[tokio::test]
async fn s04_who_lost_the_lock_writes_nothing_more() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let store = client(&bucket, &machine);
    let other = client(&bucket, &machine.beside(2));
    // Broken by a person, and then taken by somebody; or taken by the tool, which deletes and creates.
    for breaks in [true, false] {
        let held = take(&store).await.unwrap();
        held.begin().await.unwrap();
        let before = bucket.text("cdkd/Parent~Child/us-east-1/state.json").await.unwrap();
        let next = if breaks {
            assert!(matches!(other.force_unlock(&key()).await.unwrap(), LockFile::Held(_)));
            Some(take(&other).await.unwrap())
        } else {
            bucket.write(LOCK, r#"{"owner":"bob@ci:7","timestamp":1,"expiresAt":99999999999999}"#).await;
            None
        };
        let error = held.record(|state| state.outputs = Default::default()).await.unwrap_err();
        let by = match &next {
            Some(next) => format!("{} (`deploy`)", next.lock().owner),
            None => "bob@ci:7".to_owned(),
        };
        assert!(matches!(&error, Error::Fenced { by: found, .. } if *found == by), "{error}");
        assert_eq!(bucket.text("cdkd/Parent~Child/us-east-1/state.json").await.unwrap(), before);
        assert!(!held.release().await.unwrap());
        assert!(bucket.text(LOCK).await.is_some(), "another's lock is left alone");
        match next {
            Some(next) => assert!(next.release().await.unwrap()),
            None => drop(other.force_unlock(&key()).await.unwrap()),
        }
    }
}

#[tokio::test]
async fn s13_a_lock_that_cannot_be_read_is_named_and_can_be_broken() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    let store = client(&bucket, &machine);
    for text in ["42", "null", "[]", "{\"owner\":", ""] {
        bucket.write(LOCK, text).await;
        let error = take(&store).await.unwrap_err();
        assert!(error.to_string().starts_with(&format!("s3://state/{LOCK}: ")), "{error}");
        assert!(matches!(error, Error::UnreadableLock { .. }), "{text}");
        assert!(matches!(store.force_unlock(&key()).await.unwrap(), LockFile::Unreadable(_)));
        take(&store).await.unwrap().release().await.unwrap();
    }
    assert_eq!(store.force_unlock(&key()).await.unwrap(), LockFile::Absent);
    bucket.write("cdkd/Old/lock.json", r#"{"owner":"o","timestamp":1}"#).await;
    let old = StackKey::parse("Old", "us-east-1").unwrap().stack;
    assert!(matches!(store.force_unlock_legacy(&old).await.unwrap(), LockFile::Held(_)));
    assert_eq!(bucket.paths().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_lock_is_given_back_when_the_state_cannot_be_read() {
    let (bucket, machine) = (TestBucket::new(), TestMachine::new());
    bucket.write("cdkd/Parent~Child/us-east-1/state.json", r#"{"version":9,"resources":{}}"#).await;
    let error = take(&client(&bucket, &machine)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "s3://state/cdkd/Parent~Child/us-east-1/state.json: its schema version 9 is newer than the newest one known, 8"
    );
    assert_eq!(bucket.text(LOCK).await, None);
}
