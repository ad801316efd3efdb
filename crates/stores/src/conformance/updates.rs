//! Updates: what is journaled is never forgotten.

use super::Fixture;
use super::make::{acquire, begin, committed, names, stack, success};
use crate::{At, Claim, Commit, Error, Recovery};
use std::sync::Arc;

/// S2: every append that returned is there after a crash, whoever shared its write.
pub async fn s02_concurrent_appends_are_all_durable(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &[]).await;
    let lease: Arc<dyn crate::HeldLease> = Arc::from(acquire(&*store, "up").await);
    // Sequences are given out by the engine; each task has a block of its own, so arrival is out of order.
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8_i64 {
        let lease = Arc::clone(&lease);
        tasks.spawn(async move {
            for step in 0..10_i64 {
                let operation = task * 10 + step + 1;
                let name = format!("r{operation:02}");
                let sequence = operation * 2 - 1;
                lease.append(vec![begin(sequence, operation, &name)]).await.unwrap();
                lease.append(vec![success(sequence + 1, operation, &name)]).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic");
    }
    drop(lease);
    fixture.let_leases_expire();
    let next = acquire(&*store, "up").await;
    assert!(
        matches!(next.recovery(), Recovery::Replayed { entries: 160, pending: 0, .. }),
        "{:?}",
        next.recovery()
    );
    next.release().await.unwrap();
    let expected: Vec<String> = (1..=80).map(|operation| format!("r{operation:02}")).collect();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
}

/// S5: finished operations are in the state, unfinished ones pending.
pub async fn s05_a_dead_update_is_brought_in_by_the_next_holder(fixture: &dyn Fixture) {
    let store = fixture.client();
    let before = committed(&*store, &["a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "b"), begin(2, 2, "c")]).await.unwrap();
    lease.append(vec![success(3, 1, "b")]).await.unwrap();
    fixture.kill(lease);

    let other = fixture.client();
    let unread = other.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(names(&unread.snapshot), ["a"], "readers see the last commit");
    let next = acquire(&*other, "up").await;
    let Recovery::Replayed { holder, entries, steps, pending, revision } = next.recovery().clone() else {
        panic!("{:?}", next.recovery());
    };
    assert_eq!((holder.purpose.as_str(), entries, steps, pending), ("up", 3, 1, 1));
    assert!(revision > before);
    next.release().await.unwrap();
    let current = other.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(
        (names(&current.snapshot), current.revision),
        (vec!["a".to_owned(), "b".to_owned()], Some(revision))
    );
    assert_eq!(current.snapshot.pending_operations.len(), 1);
    assert_eq!(current.snapshot.pending_operations[0].resource.urn.name(), "c");
    let third = acquire(&*other, "up").await;
    assert_eq!(*third.recovery(), Recovery::Nothing, "it is brought in once");
    third.release().await.unwrap();
}

/// S5: cancelling brings in the update at once.
pub async fn s05_a_broken_update_is_brought_in_at_once(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    let (_, recovery) = fixture.client().break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    assert!(matches!(recovery, Recovery::Replayed { entries: 3, pending: 1, .. }), "{recovery:?}");
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b"]);
    fixture.kill(lease);
}

/// S5: an update that ends without a commit leaves its work in the state.
pub async fn s05_releasing_without_a_commit_forgets_nothing(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b"]);
}

/// S5: an entry that makes no sense is refused by its sequence, and the update goes on.
pub async fn s05_a_refused_entry_loses_nothing(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    let mut odd = success(3, 99, "x");
    odd.remove_old = Some(7);
    let refused = lease.append(vec![odd]).await;
    let Err(Error::Refused(refused)) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.sequence, 3);
    lease.append(vec![begin(4, 2, "c"), success(5, 2, "c")]).await.unwrap();
    let done = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    assert!(done.revision.is_some());
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b", "c"]);
}

/// S5: of a call with a refused entry, those before it are recorded, by a commit and after a crash alike.
pub async fn s05_entries_before_a_refused_one_are_recorded(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    for dies in [false, true] {
        let lease = acquire(&*store, "up").await;
        let name = if dies { "c" } else { "b" };
        let batch = vec![begin(1, 1, name), success(2, 1, name), success(3, 99, "x"), begin(4, 2, "y")];
        let refused = lease.append(batch).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        if dies {
            fixture.kill(lease);
            acquire(&*store, "up").await.release().await.unwrap();
        } else {
            lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
            lease.release().await.unwrap();
        }
    }
    let current = store.snapshot(&stack(), At::Current).await.unwrap().snapshot;
    assert_eq!(names(&current), ["a", "b", "c"]);
    assert!(current.pending_operations.is_empty());
    assert!(store.describe(&stack()).await.unwrap().orphans.is_empty());
}

/// S8: readers get the last commit, or with the running journal where they ask for it.
pub async fn s08_readers_see_the_last_commit_while_an_update_runs(fixture: &dyn Fixture) {
    let (writer, reader) = (fixture.client(), fixture.client());
    let revision = committed(&*writer, &["a"]).await;
    let lease = acquire(&*writer, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    let current = reader.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!((names(&current.snapshot), current.revision), (vec!["a".to_owned()], Some(revision)));
    let running = reader.snapshot(&stack(), At::Running).await.unwrap();
    assert_eq!(names(&running.snapshot), ["a", "b"]);
    assert_eq!(running.snapshot.pending_operations.len(), 1);
    lease.append(vec![success(4, 2, "c")]).await.unwrap();
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(names(&reader.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b", "c"]);
}

/// S8: whoever follows a running update gets each entry once, and nothing is locked.
pub async fn s08_a_journal_is_followed_while_it_grows(fixture: &dyn Fixture) {
    let (writer, reader) = (fixture.client(), fixture.client());
    assert!(reader.journal(&stack(), None).await.unwrap().is_none(), "there is no stack");
    let base = committed(&*writer, &["a"]).await;
    assert!(reader.journal(&stack(), None).await.unwrap().is_none(), "nothing runs");
    let lease = acquire(&*writer, "up").await;
    assert!(reader.journal(&stack(), None).await.unwrap().is_none(), "nothing is written");
    lease.append(vec![begin(1, 1, "b")]).await.unwrap();
    let first = reader.journal(&stack(), None).await.unwrap().unwrap();
    let head = first.head.unwrap();
    assert_eq!((head.lease.nonce.as_str(), head.base), (lease.info().nonce.as_str(), Some(base)));
    assert_eq!(sequences(&first.entries), [1]);
    let none = reader.journal(&stack(), Some(&first.mark)).await.unwrap().unwrap();
    assert!(none.head.is_none() && none.entries.is_empty());
    lease.append(vec![success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    lease.append(vec![success(4, 2, "c")]).await.unwrap();
    let second = reader.journal(&stack(), Some(&none.mark)).await.unwrap().unwrap();
    assert!(second.head.is_none());
    assert_eq!(sequences(&second.entries), [2, 3, 4]);
    let late = fixture.client().journal(&stack(), None).await.unwrap().unwrap();
    assert_eq!(sequences(&late.entries), [1, 2, 3, 4], "each who follows has their own place");
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert!(reader.journal(&stack(), Some(&second.mark)).await.unwrap().is_none(), "it is over");

    let lease = acquire(&*writer, "up").await;
    lease.append(vec![begin(1, 1, "d")]).await.unwrap();
    let next = reader.journal(&stack(), Some(&second.mark)).await.unwrap().unwrap();
    assert_eq!(
        next.head.unwrap().lease.nonce,
        lease.info().nonce,
        "a mark of another journal counts for nothing"
    );
    assert_eq!(sequences(&next.entries), [1]);
    lease.release().await.unwrap();
}

/// S8: what a dead update wrote can be read until somebody brings it in.
pub async fn s08_the_journal_of_a_dead_update_is_read_until_it_is_brought_in(fixture: &dyn Fixture) {
    let (writer, reader) = (fixture.client(), fixture.client());
    committed(&*writer, &["a"]).await;
    let lease = acquire(&*writer, "up").await;
    let nonce = lease.info().nonce.clone();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    fixture.kill(lease);
    let left = reader.journal(&stack(), None).await.unwrap().unwrap();
    assert_eq!((left.head.unwrap().lease.nonce, sequences(&left.entries)), (nonce, vec![1, 2, 3]));
    acquire(&*writer, "up").await.release().await.unwrap();
    assert!(reader.journal(&stack(), Some(&left.mark)).await.unwrap().is_none());
}

fn sequences(entries: &[drystone_journal::Entry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.sequence).collect()
}
