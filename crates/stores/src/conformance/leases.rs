//! Who may write.

use super::Fixture;
use super::make::{acquire, begin, committed, names, snapshot, stack, success};
use crate::{At, Claim, Commit, Error};
use std::collections::BTreeMap;

/// S11: of many that ask at once, one gets it.
pub async fn s11_many_clients_race_for_one_lease(fixture: &dyn Fixture) {
    for round in 0..20 {
        let clients: Vec<_> = (0..8).map(|_| fixture.client()).collect();
        let mut won = Vec::new();
        let mut tasks = tokio::task::JoinSet::new();
        for client in clients {
            tasks.spawn(async move { client.acquire(&stack(), Claim::new("up")).await });
        }
        while let Some(outcome) = tasks.join_next().await {
            match outcome.expect("no panic") {
                Ok(lease) => won.push(lease),
                Err(Error::Held { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(won.len(), 1, "round {round}");
        for lease in won {
            lease.release().await.unwrap();
        }
    }
}

/// S12: each taking has a higher epoch, whatever became of the last holder.
pub async fn s12_the_epoch_grows_with_every_holder(fixture: &dyn Fixture) {
    let store = fixture.client();
    let first = acquire(&*store, "up").await;
    let (one, nonce) = (first.info().epoch, first.info().nonce.clone());
    first.release().await.unwrap();
    let second = acquire(&*store, "up").await;
    let two = second.info().epoch;
    assert!(two > one);
    assert_ne!(second.info().nonce, nonce);
    fixture.kill(second);
    let third = acquire(&*store, "up").await;
    assert!(third.info().epoch > two);
    third.release().await.unwrap();
}

/// S13: the error and the description say who, for what and since when.
pub async fn s13_who_waits_is_told_who_holds(fixture: &dyn Fixture) {
    let (one, two) = (fixture.client(), fixture.client());
    let held = acquire(&*one, "destroy").await;
    let Err(Error::Held { lease, .. }) = two.acquire(&stack(), Claim::new("up")).await else {
        panic!("two holders");
    };
    assert_eq!((lease.purpose.as_str(), &lease.nonce), ("destroy", &held.info().nonce));
    assert!(!lease.user.is_empty() && !lease.host.is_empty() && !lease.since.is_empty());
    let described = two.describe(&stack()).await.unwrap();
    assert_eq!(described.holders.len(), 1);
    assert_eq!(described.holders[0].nonce, held.info().nonce);
    held.release().await.unwrap();
    assert!(two.describe(&stack()).await.unwrap().holders.is_empty());
}

/// S13: so does the list of all that are held, which leaves out those of other projects and those that nobody holds.
pub async fn s13_the_list_of_what_is_held_says_who_holds(fixture: &dyn Fixture) {
    let (one, two) = (fixture.client(), fixture.client());
    committed(&*one, &["a"]).await;
    assert_eq!(two.holders(None).await.unwrap(), BTreeMap::new());
    let held = acquire(&*one, "destroy").await;
    let project = stack().project().map(str::to_owned);
    for wanted in [None, project.as_deref()] {
        let holders = two.holders(wanted).await.unwrap();
        assert_eq!(holders.keys().collect::<Vec<_>>(), [&stack()]);
        let nonces: Vec<&str> = holders[&stack()].iter().map(|holder| holder.nonce.as_str()).collect();
        assert_eq!(nonces, [held.info().nonce.as_str()]);
    }
    assert_eq!(two.holders(Some("another")).await.unwrap(), BTreeMap::new());
    held.release().await.unwrap();
    assert_eq!(two.holders(None).await.unwrap(), BTreeMap::new());
}

/// S13: a holder that was broken frees nothing when it comes back.
pub async fn s13_releasing_frees_only_ones_own_lease(fixture: &dyn Fixture) {
    let (one, two) = (fixture.client(), fixture.client());
    let old = acquire(&*one, "up").await;
    let (broken, _) = two.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    assert_eq!(broken.len(), 1);
    assert_eq!(broken[0].nonce, old.info().nonce);
    let new = acquire(&*two, "up").await;
    old.release().await.unwrap();
    let third = fixture.client().acquire(&stack(), Claim::new("up")).await;
    assert!(matches!(third, Err(Error::Held { .. })), "the new holder lost its lease");
    new.release().await.unwrap();
}

/// S4: a writer that lost its lease learns so at its next append, and what it wrote then does not count.
pub async fn s04_a_fenced_writer_cannot_append(fixture: &dyn Fixture) {
    let (one, two) = (fixture.client(), fixture.client());
    committed(&*one, &["a"]).await;
    let old = acquire(&*one, "up").await;
    old.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    two.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    let late = old.append(vec![begin(3, 2, "c"), success(4, 2, "c")]).await;
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    let again = old.append(vec![begin(5, 3, "d")]).await;
    assert!(again.is_err());
    fixture.kill(old);
    let next = acquire(&*two, "up").await;
    next.release().await.unwrap();
    assert_eq!(names(&two.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b"]);
}

/// S4: nor can it make anything visible.
pub async fn s04_a_fenced_writer_cannot_commit(fixture: &dyn Fixture) {
    let (one, two) = (fixture.client(), fixture.client());
    committed(&*one, &["a"]).await;
    let old = acquire(&*one, "up").await;
    two.break_lease(&stack(), Claim::new("cancel")).await.unwrap();
    let new = acquire(&*two, "up").await;
    new.commit(Commit { snapshot: Some(snapshot(&["b"])), ..Commit::default() }).await.unwrap();
    let late = old.commit(Commit { snapshot: Some(snapshot(&["z"])), ..Commit::default() }).await;
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    new.release().await.unwrap();
    assert_eq!(names(&two.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["b"]);
    let titles: Vec<String> =
        two.revisions(&stack()).await.unwrap().into_iter().map(|info| info.hash).collect();
    let current = two.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(titles.last(), Some(&current.hash));
}
