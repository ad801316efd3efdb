//! The lease and commit protocol of buckets when connections are cut, holders are away, and others interfere.

#![allow(clippy::unwrap_used)]

mod bucket;

use bucket::TestBucket;
use drystone_stores::conformance::make::{acquire, begin, committed, names, snapshot, stack, success};
use drystone_stores::object::{BucketOptions, BucketStore, DiyOptions};
use drystone_stores::{
    At, Claim, Commit, Error, HeldLease, Leases, Reads, Recovery, Relocation, StackId, StackSummary,
};
use std::sync::Arc;
use std::time::Duration;

const CHECKPOINT: &str = ".pulumi/stacks/shop/prod.json";

fn options(checkpoint_interval: Option<Duration>) -> BucketOptions {
    let diy = DiyOptions { checkpoint_interval, ..DiyOptions::default() };
    BucketOptions { diy, ..BucketOptions::default() }
}

fn plain(bucket: &Arc<TestBucket>) -> BucketStore {
    bucket.client(&options(None))
}

fn let_leases_expire(bucket: &TestBucket) {
    bucket.advance(BucketOptions::default().lease_ttl + Duration::from_secs(2));
}

async fn current(store: &BucketStore) -> Vec<String> {
    names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot)
}

/// What the stock CLI would do: replaces the checkpoint by one with another resource.
async fn rewrite(bucket: &TestBucket, from: &str, to: &str) {
    let text = bucket.text(CHECKPOINT).await.unwrap();
    bucket.write(CHECKPOINT, text.replace(from, to)).await;
}

/// Nobody is left on the stack, nothing waits for anybody, and the newest revision is the current document.
async fn is_in_order(store: &BucketStore) {
    let described = store.describe(&stack()).await.unwrap();
    assert!(described.holders.is_empty(), "{:?}", described.holders);
    assert!(described.orphans.is_empty(), "{:?}", described.orphans);
    assert!(!described.unrecovered);
    let now = store.snapshot(&stack(), At::Current).await.unwrap();
    let newest = store.revisions(&stack()).await.unwrap().pop().unwrap();
    assert_eq!(
        (newest.hash, Some(newest.number)),
        (now.hash, now.revision.and_then(|it| it.try_into().ok()))
    );
    let next = acquire(store, "up").await;
    assert_eq!(*next.recovery(), Recovery::Nothing);
    next.release().await.unwrap();
}

/// An update that dies at the first request that fails; gives what it was told is durable, and its revision.
async fn update(store: &BucketStore) -> (Vec<String>, Option<u64>) {
    let mut durable = Vec::new();
    let Ok(lease) = store.acquire(&stack(), Claim::new("up")).await else { return (durable, None) };
    for (operation, name) in [(1, "b"), (2, "c"), (3, "d")] {
        let sequence = operation * 2 - 1;
        if lease.append(vec![begin(sequence, operation, name)]).await.is_err()
            || lease.append(vec![success(sequence + 1, operation, name)]).await.is_err()
        {
            return (durable, None);
        }
        durable.push(name.to_owned());
    }
    let Ok(done) = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await else {
        return (durable, None);
    };
    let _ = lease.release().await;
    (durable, done.revision)
}

#[tokio::test]
async fn s05_an_update_that_is_cut_off_at_any_request_loses_nothing() {
    for (interval, carried_out) in
        [(None, false), (None, true), (Some(Duration::ZERO), false), (Some(Duration::ZERO), true)]
    {
        let mut writes = 0;
        loop {
            let bucket = TestBucket::new();
            committed(&plain(&bucket), &["a"]).await;
            bucket.cut_after(writes, carried_out);
            let (durable, revision) = update(&bucket.client(&options(interval))).await;
            let was_cut = bucket.is_cut();
            bucket.mend();
            let_leases_expire(&bucket);

            let next = plain(&bucket);
            acquire(&next, "up").await.release().await.unwrap();
            let now = next.snapshot(&stack(), At::Current).await.unwrap();
            let present = names(&now.snapshot);
            assert!(durable.iter().all(|name| present.contains(name)), "cut after {writes}: {present:?}");
            if revision.is_some() {
                assert_eq!(now.revision, revision, "cut after {writes}");
            }
            is_in_order(&next).await;
            let made = next.revisions(&stack()).await.unwrap();
            assert!(made.len() <= 2, "cut after {writes}: {made:?}");
            if !was_cut {
                break;
            }
            writes += 1;
        }
        assert!(writes > 10, "an update takes more than {writes} writes");
    }
}

#[tokio::test]
async fn s05_a_recovery_that_is_cut_off_at_any_request_is_finished_by_the_next() {
    for carried_out in [false, true] {
        let mut writes = 0;
        loop {
            let bucket = TestBucket::new();
            let store = plain(&bucket);
            committed(&store, &["a"]).await;
            let dead = acquire(&store, "up").await;
            dead.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
            drop(dead);
            let_leases_expire(&bucket);
            bucket.cut_after(writes, carried_out);
            if let Ok(lease) = plain(&bucket).acquire(&stack(), Claim::new("up")).await {
                let _ = lease.release().await;
            }
            let was_cut = bucket.is_cut();
            bucket.mend();
            let_leases_expire(&bucket);

            let next = plain(&bucket);
            acquire(&next, "up").await.release().await.unwrap();
            let now = next.snapshot(&stack(), At::Current).await.unwrap();
            assert_eq!(names(&now.snapshot), ["a", "b"], "cut after {writes}");
            assert_eq!(now.snapshot.pending_operations.len(), 1, "cut after {writes}");
            assert_eq!(next.revisions(&stack()).await.unwrap().len(), 2, "cut after {writes}");
            is_in_order(&next).await;
            if !was_cut {
                break;
            }
            writes += 1;
        }
        assert!(writes > 5, "a recovery takes more than {writes} writes");
    }
}

#[tokio::test]
async fn a_move_that_is_cut_off_at_any_request_leaves_the_stack_in_one_place() {
    let target = StackId::new("shop", "live").unwrap();
    let to = |snapshot| Relocation::To { stack: target.clone(), snapshot: Some(Box::new(snapshot)) };
    for (renames, carried_out) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut writes = 0;
        loop {
            let bucket = TestBucket::new();
            let store = plain(&bucket);
            let first = committed(&store, &["a"]).await;
            committed(&store, &["b"]).await;
            bucket.cut_after(writes, carried_out);
            let relocation = if renames { to(snapshot(&["b"])) } else { Relocation::Trash { note: None } };
            let mut moved = false;
            if let Ok(lease) = plain(&bucket).acquire(&stack(), Claim::new("stack rename")).await {
                moved = lease.relocate(relocation).await.is_ok();
                let _ = lease.release().await;
            }
            let was_cut = bucket.is_cut();
            bucket.mend();
            let_leases_expire(&bucket);

            let next = plain(&bucket);
            acquire(&next, "up").await.release().await.unwrap();
            let listed = next.stacks(None).await.unwrap();
            assert_eq!(listed.len(), 1, "cut after {writes}: {listed:?}");
            let is_moved = listed[0].stack == target || listed[0].trashed.is_some();
            assert!(is_moved || !moved, "cut after {writes}");
            if let Some(trashed) = &listed[0].trashed {
                let lease = acquire(&next, "stack restore").await;
                lease.relocate(Relocation::FromTrash { id: trashed.id.clone() }).await.unwrap();
                lease.release().await.unwrap();
            }
            let now = next.snapshot(&listed[0].stack, At::Current).await.unwrap();
            assert_eq!(names(&now.snapshot), ["b"], "cut after {writes}");
            let old = next.snapshot(&listed[0].stack, At::Revision(first)).await.unwrap();
            assert_eq!(names(&old.snapshot), ["a"], "cut after {writes}");
            next.acquire(&target, Claim::new("up")).await.unwrap().release().await.unwrap();
            if !was_cut {
                break;
            }
            writes += 1;
        }
        assert!(writes > 10, "a move takes more than {writes} writes");
    }
}

#[tokio::test]
async fn s04_a_holder_that_was_away_for_longer_than_its_lease_is_refused() {
    let bucket = TestBucket::new();
    let (one, two) = (plain(&bucket), plain(&bucket));
    committed(&one, &["a"]).await;
    let old = acquire(&one, "up").await;
    old.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    let held = two.acquire(&stack(), Claim::new("up")).await;
    assert!(matches!(held, Err(Error::Held { .. })));
    let_leases_expire(&bucket);
    let new = acquire(&two, "up").await;
    assert!(matches!(new.recovery(), Recovery::Replayed { entries: 2, .. }), "{:?}", new.recovery());
    new.append(vec![begin(1, 1, "c"), success(2, 1, "c")]).await.unwrap();
    let late = old.append(vec![begin(3, 2, "z")]).await;
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    let late = old.commit(Commit { snapshot: Some(snapshot(&["z"])), ..Commit::default() }).await;
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    old.release().await.unwrap();
    new.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    new.release().await.unwrap();
    assert_eq!(current(&one).await, ["a", "b", "c"]);
    is_in_order(&one).await;
}

/// Works until it is told that the lease is another's; gives what it was told is durable.
async fn work(lease: Box<dyn HeldLease>) -> Vec<String> {
    let mut durable = Vec::new();
    for operation in 1.. {
        let name = format!("r{operation}");
        let entries =
            vec![begin(operation * 2 - 1, operation, &name), success(operation * 2, operation, &name)];
        match lease.append(entries).await {
            Ok(()) => durable.push(name),
            Err(Error::Fenced { .. }) => break,
            Err(error) => panic!("{error}"),
        }
        if operation % 3 == 0 {
            match lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await {
                Ok(_) => {}
                Err(Error::Fenced { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    lease.release().await.unwrap();
    durable
}

#[tokio::test]
async fn s04_a_holder_that_is_broken_in_the_middle_of_its_work_keeps_all_that_it_was_told() {
    for seed in 1..=200_u64 {
        let bucket = TestBucket::new();
        let interval = seed.is_multiple_of(2).then_some(Duration::ZERO);
        let (one, two) = (bucket.client(&options(interval)), plain(&bucket));
        committed(&one, &[]).await;
        let lease = acquire(&one, "up").await;
        bucket.mix_requests(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let worker = tokio::spawn(work(lease));
        for _ in 0..seed * 3 {
            tokio::task::yield_now().await;
        }
        let (broken, _) = two.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
        assert_eq!(broken.len(), 1, "seed {seed}");
        let mut durable = worker.await.unwrap();
        durable.sort();
        bucket.mix_requests(0);
        assert_eq!(current(&two).await, durable, "seed {seed}");
        is_in_order(&two).await;
    }
}

#[tokio::test]
async fn s14_lock_files_of_other_tools_are_honoured_and_removed_by_breaking() {
    let bucket = TestBucket::new();
    let store = plain(&bucket);
    committed(&store, &["a"]).await;
    let lock = r#"{"pid":7,"username":"ana","hostname":"elsewhere","timestamp":"2026-01-01T00:00:00Z"}"#;
    bucket.write(".pulumi/locks/organization/shop/prod/8a.json", lock).await;
    let Err(Error::Held { lease, .. }) = store.acquire(&stack(), Claim::new("up")).await else {
        panic!("the lock was passed over");
    };
    assert_eq!((lease.holder().as_str(), lease.foreign), ("ana@elsewhere", true));
    assert_eq!(store.holders(None).await.unwrap()[&stack()], [*lease]);
    let (broken, _) = store.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    assert_eq!(broken.len(), 1);
    let held = acquire(&store, "up").await;
    let locks = bucket.paths().await.into_iter().filter(|path| path.starts_with(".pulumi/locks/")).count();
    assert_eq!(locks, 1, "other tools see the lease");
    held.release().await.unwrap();
    is_in_order(&store).await;
}

#[tokio::test]
async fn s08_a_list_opens_no_checkpoint_but_those_that_another_tool_wrote() {
    let bucket = TestBucket::new();
    let store = plain(&bucket);
    for number in 0..40 {
        let stack = StackId::new("shop", &format!("s{number}")).unwrap();
        let lease = store.acquire(&stack, Claim::new("import")).await.unwrap();
        let commit = Commit { snapshot: Some(snapshot(&["a"])), ..Commit::default() };
        lease.commit(commit).await.unwrap();
        lease.release().await.unwrap();
    }
    bucket.mend();
    let listed = store.stacks(None).await.unwrap();
    assert!(store.holders(None).await.unwrap().is_empty());
    let is_known = |summary: &StackSummary| summary.resources == Some(2) && summary.last_update.is_some();
    assert_eq!(listed.iter().filter(|summary| is_known(summary)).count(), 40);
    assert_eq!(bucket.reads(".pulumi/stacks/"), 0);
    assert_eq!(bucket.reads(""), 40, "one note each");

    let path = ".pulumi/stacks/shop/s7.json";
    let text = bucket.text(path).await.unwrap().replace("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z");
    bucket.write(path, text).await;
    let listed = store.stacks(None).await.unwrap();
    let changed = listed.iter().find(|summary| summary.stack.name() == "s7").unwrap();
    assert_eq!(changed.last_update.as_deref(), Some("2026-02-02T00:00:00Z"));
    assert_eq!(bucket.reads(path), 1);
}

#[tokio::test]
async fn s20_a_journal_whose_base_another_tool_changed_is_kept_aside() {
    for dies in [true, false] {
        let bucket = TestBucket::new();
        let store = plain(&bucket);
        committed(&store, &["a"]).await;
        let lease = acquire(&store, "up").await;
        lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
        rewrite(&bucket, "::a\"", "::z\"").await;
        if dies {
            drop(lease);
            let_leases_expire(&bucket);
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
        lease.commit(Commit { settles, ..Commit::default() }).await.unwrap();
        lease.release().await.unwrap();
        assert!(store.describe(&stack()).await.unwrap().orphans.is_empty());
    }
}

#[tokio::test]
async fn s03_checkpoints_on_the_way_are_for_other_tools_and_make_no_revision() {
    let bucket = TestBucket::new();
    let store = bucket.client(&options(Some(Duration::ZERO)));
    let base = committed(&store, &["a"]).await;
    let lease = acquire(&store, "up").await;
    for (operation, name) in [(1, "b"), (2, "c")] {
        let sequence = operation * 2 - 1;
        lease
            .append(vec![begin(sequence, operation, name), success(sequence + 1, operation, name)])
            .await
            .unwrap();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(bucket.text(CHECKPOINT).await.unwrap().contains(&format!("::{name}\"")));
    }
    let done = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    assert_eq!(done.previous, Some(base));
    lease.release().await.unwrap();
    assert_eq!(store.revisions(&stack()).await.unwrap().len(), 2);
    assert_eq!(current(&store).await, ["a", "b", "c"]);
    is_in_order(&store).await;
}

#[tokio::test]
async fn s14_a_checkpoint_in_another_compression_takes_the_place_of_the_old_one() {
    let bucket = TestBucket::new();
    let store = plain(&bucket);
    committed(&store, &["a"]).await;
    let mut compressed = options(None);
    compressed.diy.compression = drystone_stores::object::Compression::Gzip;
    let store = bucket.client(&compressed);
    assert_eq!(current(&store).await, ["a"]);
    committed(&store, &["b"]).await;
    assert_eq!(current(&store).await, ["b"]);
    let paths = bucket.paths().await;
    let is_there = |ending: &str| paths.contains(&format!("{CHECKPOINT}{ending}"));
    assert_eq!((is_there(""), is_there(".bak"), is_there(".gz")), (false, true, true));
    is_in_order(&store).await;
}

#[tokio::test]
async fn s11_a_server_whose_conditions_do_not_hold_is_found_out() {
    let bucket = TestBucket::new();
    let store = plain(&bucket);
    bucket.mix_requests(7);
    store.probe().await.unwrap();
    bucket.lose_answers(3);
    store.probe().await.unwrap();
    bucket.mend();
    assert!(bucket.paths().await.is_empty(), "it leaves nothing");
    bucket.ignore_conditions();
    let refused = store.probe().await;
    let Err(Error::Unsupported { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("let 8 of 8 writers create the same object"), "{reason}");
}

#[tokio::test]
async fn s08_what_was_read_before_is_not_taken_for_what_stands_there_now() {
    let bucket = TestBucket::new();
    let store = plain(&bucket);
    committed(&store, &["a"]).await;
    assert_eq!(current(&store).await, current(&store).await);
    rewrite(&bucket, "::a\"", "::z\"").await;
    assert_eq!(current(&store).await, ["z"]);
    // Another compression of it is the newer one, and then the same text once more.
    let text = bucket.text(CHECKPOINT).await.unwrap();
    bucket.advance(Duration::from_secs(1));
    bucket.write(&format!("{CHECKPOINT}.gz"), text.replace("::z\"", "::y\"")).await;
    assert_eq!(current(&store).await, ["y"]);
    bucket.advance(Duration::from_secs(1));
    bucket.write(CHECKPOINT, text).await;
    assert_eq!(current(&store).await, ["z"]);
    bucket.delete_as_others(CHECKPOINT).await;
    bucket.delete_as_others(&format!("{CHECKPOINT}.gz")).await;
    let gone = store.snapshot(&stack(), At::Current).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound { .. }), "{gone}");
}
