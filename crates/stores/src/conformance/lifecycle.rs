//! Making, changing, moving and deleting stacks.

use super::Fixture;
use super::make::{acquire, committed, names, snapshot, stack};
use crate::{At, Commit, Error, Keep, Relocation, RevisionInfo, StackId};
use drystone_model::{Json, Urn};
use std::collections::BTreeMap;

/// Reading what is not there.
pub async fn a_missing_stack_is_not_found(fixture: &dyn Fixture) {
    let store = fixture.client();
    assert!(matches!(store.snapshot(&stack(), At::Current).await, Err(Error::NotFound { .. })));
    assert!(matches!(
        store.snapshot(&stack(), At::Revision(1)).await,
        Err(Error::NotFound { .. } | Error::NoRevision { .. })
    ));
    assert_eq!(store.stacks(None).await.unwrap(), []);
    assert!(store.revisions(&stack()).await.unwrap().is_empty());
    assert!(store.updates(&stack()).await.unwrap().is_empty());
}

/// A commit without a snapshot makes an empty stack.
pub async fn a_new_stack_is_listed(fixture: &dyn Fixture) {
    let store = fixture.client();
    let lease = acquire(&*store, "stack init").await;
    lease.commit(Commit { title: "stack init".to_owned(), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    let listed = fixture.client().stacks(Some("shop")).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].stack, listed[0].resources), (&stack(), Some(0)));
    assert_eq!(store.stacks(Some("other")).await.unwrap(), []);
    assert!(!store.snapshot(&stack(), At::Current).await.unwrap().ever_written);
}

/// S3: nothing new, nothing written.
pub async fn s03_an_update_that_changes_nothing_makes_no_revision(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let before = store.snapshot(&stack(), At::Current).await.unwrap();
    let lease = acquire(&*store, "up").await;
    let update = Some(Json::parse(r#"{"kind":"update","version":0}"#).unwrap());
    let done = lease.commit(Commit { title: "up".to_owned(), update, ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(done.revision, None);
    let after = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!((before.hash, before.revision), (after.hash, after.revision));
    assert_eq!(store.updates(&stack()).await.unwrap().len(), 1);
}

/// S6: revisions stay as they were made.
pub async fn s06_every_commit_makes_a_revision_that_stays(fixture: &dyn Fixture) {
    let store = fixture.client();
    let first = committed(&*store, &["a"]).await;
    let second = committed(&*store, &["a", "b"]).await;
    assert!(second > first);
    let old = store.snapshot(&stack(), At::Revision(first)).await.unwrap();
    assert_eq!(names(&old.snapshot), ["a"]);
    let current = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(
        (names(&current.snapshot), current.revision),
        (vec!["a".to_owned(), "b".to_owned()], Some(second))
    );
    let listed = store.revisions(&stack()).await.unwrap();
    let (last, before) = (&listed[listed.len() - 1], &listed[listed.len() - 2]);
    assert_eq!((last.parent, last.resources, last.title.as_str()), (Some(before.number), 3, "import"));
}

/// S6: going back never unmakes anything.
pub async fn s06_bringing_back_a_revision_is_a_new_revision(fixture: &dyn Fixture) {
    let store = fixture.client();
    let first = committed(&*store, &["a"]).await;
    let second = committed(&*store, &["b"]).await;
    let old = store.snapshot(&stack(), At::Revision(first)).await.unwrap();
    let lease = acquire(&*store, "stack rollback").await;
    let commit = Commit {
        title: "stack rollback".to_owned(),
        snapshot: Some(old.snapshot),
        restores: Some(first),
        ..Commit::default()
    };
    let third = lease.commit(commit).await.unwrap().revision.unwrap();
    lease.release().await.unwrap();
    assert!(third > second);
    let current = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!((names(&current.snapshot), current.revision), (vec!["a".to_owned()], Some(third)));
    assert_eq!(names(&store.snapshot(&stack(), At::Revision(second)).await.unwrap().snapshot), ["b"]);
    let listed = store.revisions(&stack()).await.unwrap();
    assert_eq!(listed.last().unwrap().restores, i64::try_from(first).ok());
}

/// What was copied from another store says when and by whom it was made there.
pub async fn a_copied_revision_keeps_its_time_and_author(fixture: &dyn Fixture) {
    let store = fixture.client();
    let original = RevisionInfo {
        number: 41,
        time: "2020-02-03T04:05:06Z".to_owned(),
        by: "eva@elsewhere".to_owned(),
        ..RevisionInfo::default()
    };
    let lease = acquire(&*store, "stack migrate").await;
    let commit = Commit {
        title: "up".to_owned(),
        snapshot: Some(snapshot(&["a"])),
        copies: Some(Box::new(original)),
        ..Commit::default()
    };
    lease.commit(commit).await.unwrap();
    lease.release().await.unwrap();
    committed(&*store, &["b"]).await;
    let listed = store.revisions(&stack()).await.unwrap();
    let copied = &listed[0];
    assert_eq!((copied.time.as_str(), copied.by.as_str()), ("2020-02-03T04:05:06Z", "eva@elsewhere"));
    assert_eq!((copied.copy_of, copied.title.as_str()), (Some(41), "up"));
    assert_eq!(listed[1].copy_of, None);
}

/// S7: a snapshot that breaks a rule is recorded and marked.
pub async fn s07_an_unsound_snapshot_is_recorded(fixture: &dyn Fixture) {
    let store = fixture.client();
    let sound = committed(&*store, &["a"]).await;
    let mut broken = snapshot(&["a"]);
    broken.resources[1].parent = Urn::build("prod", "shop", "", "my:mod:Thing", "missing");
    let lease = acquire(&*store, "import").await;
    let commit = Commit { title: "import".to_owned(), snapshot: Some(broken), ..Commit::default() };
    let done = lease.commit(commit).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(done.violations.len(), 1);
    let listed = store.revisions(&stack()).await.unwrap();
    assert_eq!(listed.last().unwrap().violations, 1);
    let current = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(current.snapshot.resources[1].parent.name(), "missing");
    assert_eq!(names(&store.snapshot(&stack(), At::Revision(sound)).await.unwrap().snapshot), ["a"]);
}

/// S9: what this version does not know is kept.
pub async fn s09_unknown_members_survive(fixture: &dyn Fixture) {
    let store = fixture.client();
    let mut odd = snapshot(&["a"]);
    let value = Json::parse(r#"{"since":18014398509481985}"#).unwrap();
    odd.resources[1].extra.0.push(("fromTheFuture".to_owned(), value.clone()));
    let lease = acquire(&*store, "import").await;
    lease.commit(Commit { snapshot: Some(odd), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    let read = fixture.client().snapshot(&stack(), At::Current).await.unwrap();
    let (key, kept) = &read.snapshot.resources[1].extra.0[0];
    assert_eq!((key.as_str(), kept.text()), ("fromTheFuture", value.text()));
}

/// Tags are replaced as a whole; update records come back newest first.
pub async fn tags_and_updates_are_kept(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &[]).await;
    let lease = acquire(&*store, "stack tag set").await;
    let tags = BTreeMap::from([("owner".to_owned(), "ana".to_owned())]);
    lease.commit(Commit { tags: Some(tags.clone()), ..Commit::default() }).await.unwrap();
    for kind in ["update", "refresh"] {
        let record = Json::parse(format!(r#"{{"kind":"{kind}","message":"<&>"}}"#)).unwrap();
        lease.commit(Commit { update: Some(record), ..Commit::default() }).await.unwrap();
    }
    lease.release().await.unwrap();
    assert_eq!(store.describe(&stack()).await.unwrap().tags, tags);
    let updates = store.updates(&stack()).await.unwrap();
    let texts: Vec<&str> = updates.iter().map(Json::text).collect();
    assert_eq!(texts, [r#"{"kind":"refresh","message":"<&>"}"#, r#"{"kind":"update","message":"<&>"}"#]);
    let lease = acquire(&*store, "stack tag rm").await;
    lease.commit(Commit { tags: Some(BTreeMap::new()), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert!(store.describe(&stack()).await.unwrap().tags.is_empty());
}

/// A renamed stack has its revisions, tags and history under the new name, and nothing under the old.
pub async fn renaming_moves_everything(fixture: &dyn Fixture) {
    let store = fixture.client();
    let first = committed(&*store, &["a"]).await;
    let target = StackId::new("shop", "live").unwrap();
    let lease = acquire(&*store, "stack rename").await;
    let commit = Commit {
        tags: Some(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
        update: Some(Json::parse(r#"{"kind":"update"}"#).unwrap()),
        ..Commit::default()
    };
    lease.commit(commit).await.unwrap();
    let mut renamed = store.snapshot(&stack(), At::Current).await.unwrap().snapshot;
    for resource in &mut renamed.resources {
        resource.urn = resource.urn.moved("live", "shop");
        if !resource.parent.is_empty() {
            resource.parent = resource.parent.moved("live", "shop");
        }
    }
    let to = Relocation::To { stack: target.clone(), snapshot: Some(Box::new(renamed)) };
    lease.relocate(to).await.unwrap();
    lease.release().await.unwrap();
    assert!(matches!(store.snapshot(&stack(), At::Current).await, Err(Error::NotFound { .. })));
    let current = store.snapshot(&target, At::Current).await.unwrap();
    assert_eq!(current.snapshot.resources[1].urn.stack(), "live");
    assert_eq!(store.updates(&target).await.unwrap().len(), 1);
    assert_eq!(store.describe(&target).await.unwrap().tags.len(), 1);
    assert_eq!(names(&store.snapshot(&target, At::Revision(first)).await.unwrap().snapshot), ["a"]);
    assert!(store.revisions(&target).await.unwrap().last().unwrap().title.contains("renamed from"));
    let free = store.acquire(&target, crate::Claim::new("up")).await.unwrap();
    free.release().await.unwrap();
}

/// Renaming never overwrites.
pub async fn renaming_to_a_taken_name_is_refused(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let target = StackId::new("shop", "live").unwrap();
    let other = store.acquire(&target, crate::Claim::new("stack init")).await.unwrap();
    other.commit(Commit { snapshot: Some(snapshot(&["z"])), ..Commit::default() }).await.unwrap();
    other.release().await.unwrap();
    let lease = acquire(&*store, "stack rename").await;
    let refused = lease.relocate(Relocation::To { stack: target.clone(), snapshot: None }).await;
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&target, At::Current).await.unwrap().snapshot), ["z"]);
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a"]);
}

/// A removed stack can be brought back as it was.
pub async fn the_trash_gives_a_stack_back(fixture: &dyn Fixture) {
    let store = fixture.client();
    let first = committed(&*store, &["a"]).await;
    committed(&*store, &["a", "b"]).await;
    let lease = acquire(&*store, "stack rm").await;
    lease.relocate(Relocation::Trash { note: Some("settings".to_owned()) }).await.unwrap();
    lease.release().await.unwrap();
    assert!(matches!(store.snapshot(&stack(), At::Current).await, Err(Error::NotFound { .. })));
    let listed = store.stacks(None).await.unwrap();
    let trashed = listed[0].trashed.clone().expect("it is in the trash");
    assert_eq!((listed.len(), trashed.note.as_deref()), (1, Some("settings")));

    let lease = acquire(&*store, "stack restore").await;
    lease.relocate(Relocation::FromTrash { id: trashed.id.clone() }).await.unwrap();
    let again = lease.relocate(Relocation::FromTrash { id: trashed.id }).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["a", "b"]);
    assert_eq!(names(&store.snapshot(&stack(), At::Revision(first)).await.unwrap().snapshot), ["a"]);
    assert!(store.stacks(None).await.unwrap().iter().all(|summary| summary.trashed.is_none()));
}

/// Deleting for good is not the trash.
pub async fn deleting_for_good_leaves_nothing(fixture: &dyn Fixture) {
    let store = fixture.client();
    committed(&*store, &["a"]).await;
    let lease = acquire(&*store, "stack rm").await;
    lease.relocate(Relocation::Nowhere).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(store.stacks(None).await.unwrap(), []);
    assert!(store.revisions(&stack()).await.unwrap().is_empty());
}

/// Pruning leaves what was asked for and what is in use.
pub async fn pruning_keeps_the_newest_and_the_current(fixture: &dyn Fixture) {
    let store = fixture.client();
    let mut made = Vec::new();
    for name in ["a", "b", "c", "d"] {
        made.push(committed(&*store, &[name]).await);
    }
    let lease = acquire(&*store, "stack prune").await;
    let deleted = lease.prune(Keep { newest: 2 }).await.unwrap();
    assert_eq!(deleted, made[..2]);
    assert_eq!(lease.prune(Keep { newest: 0 }).await.unwrap(), [made[2]]);
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["d"]);
    let gone = store.snapshot(&stack(), At::Revision(made[0])).await;
    assert!(matches!(gone, Err(Error::NoRevision { .. })), "{gone:?}");
    let next = committed(&*store, &["e"]).await;
    assert!(next > made[3], "numbers are never used again");
}
