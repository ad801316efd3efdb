//! The lease and commit protocol of the local store when others interfere between any two of its steps.

#![allow(clippy::unwrap_used)]

mod meddling;

use drystone_stores::conformance::make::{begin, committed, names, snapshot, stack, success};
use drystone_stores::{At, Commit, Error, Keep, Leases, Reads, Recovery, Relocation};
use meddling::{checkpoint, everything, plain, up};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn lease_file(folder: &Path) -> std::path::PathBuf {
    folder.join(".pulumi/drystone/leases/projects/shop/prod/lease.json")
}

async fn current(folder: &Path) -> Vec<String> {
    names(&plain(folder).snapshot(&stack(), At::Current).await.unwrap().snapshot)
}

/// What the stock CLI would do: replaces the checkpoint by one with another resource.
fn rewrite(folder: &Path, from: &str, to: &str) {
    let path = checkpoint(folder);
    let text = fs::read_to_string(&path).unwrap().replace(from, to);
    let temporary = path.with_extension("stock");
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, &path).unwrap();
}

#[tokio::test]
async fn s13_a_fenced_holder_that_releases_leaves_the_new_holders_journal_alone() {
    let folder = folder();
    let (one, two) = (plain(folder.path()), plain(folder.path()));
    committed(&one, &["a"]).await;
    let old = one.acquire(&stack(), up()).await.unwrap();
    old.append(vec![begin(1, 1, "b")]).await.unwrap();
    two.break_lease(&stack(), up()).await.unwrap();
    let new = two.acquire(&stack(), up()).await.unwrap();
    new.append(vec![begin(1, 1, "c"), success(2, 1, "c")]).await.unwrap();
    let before = everything(folder.path());
    old.release().await.unwrap();
    assert_eq!(everything(folder.path()), before);
    new.append(vec![begin(3, 2, "d"), success(4, 2, "d")]).await.unwrap();
    drop(new);
    let next = one.acquire(&stack(), up()).await.unwrap();
    assert!(matches!(next.recovery(), Recovery::Replayed { entries: 4, .. }), "{:?}", next.recovery());
    next.release().await.unwrap();
    assert_eq!(current(folder.path()).await, ["a", "c", "d"]);
}

#[tokio::test]
async fn s04_a_fenced_writer_changes_nothing_at_all() {
    let folder = folder();
    let (one, two) = (plain(folder.path()), plain(folder.path()));
    committed(&one, &["a"]).await;
    committed(&one, &["a", "b"]).await;
    // Another tool wrote it last, so that a writer would first have to make a revision of it.
    rewrite(folder.path(), "::b\"", "::z\"");
    let old = one.acquire(&stack(), up()).await.unwrap();
    two.break_lease(&stack(), up()).await.unwrap();
    let before = everything(folder.path());
    let fenced =
        |outcome: Result<(), Error>| assert!(matches!(outcome, Err(Error::Fenced { .. })), "{outcome:?}");
    fenced(old.append(vec![begin(1, 1, "c")]).await);
    fenced(old.commit(Commit { snapshot: Some(snapshot(&["x"])), ..Commit::default() }).await.map(drop));
    fenced(
        old.commit(Commit { tags: Some([("k".into(), "v".into())].into()), ..Commit::default() })
            .await
            .map(drop),
    );
    fenced(old.prune(Keep { newest: 0 }).await.map(drop));
    fenced(old.relocate(Relocation::Trash { note: None }).await);
    assert_eq!(everything(folder.path()), before);
    old.release().await.unwrap();
    let next = two.acquire(&stack(), up()).await.unwrap();
    assert_eq!(*next.recovery(), Recovery::Nothing);
    next.release().await.unwrap();
}

#[tokio::test]
async fn s04_a_lease_that_is_broken_while_its_holder_commits_publishes_nothing() {
    let folder = folder();
    committed(&plain(folder.path()), &["a"]).await;
    let armed = Arc::new(AtomicBool::new(false));
    let (trigger, root) = (Arc::clone(&armed), folder.path().to_owned());
    let store = meddling::store(folder.path(), move |operation, path| {
        // The new document is being written; somebody breaks the lease and commits something else.
        if operation == "create"
            && path.contains("/stacks/shop/prod.json")
            && trigger.swap(false, Ordering::SeqCst)
        {
            let root = root.clone();
            let other = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let other = plain(&root);
                    other.break_lease(&stack(), up()).await.unwrap();
                    committed(&other, &["other"]).await;
                });
            });
            other.join().unwrap();
        }
        Ok(())
    });
    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    armed.store(true, Ordering::SeqCst);
    let late = lease.commit(Commit::default()).await;
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    lease.release().await.unwrap();
    assert_eq!(current(folder.path()).await, ["other"]);
    for info in store.revisions(&stack()).await.unwrap() {
        let number = u64::try_from(info.number).unwrap();
        store.snapshot(&stack(), At::Revision(number)).await.unwrap();
    }
    let left: Vec<_> = everything(folder.path())
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().ends_with(".drystone-tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn s02_after_a_failed_append_nothing_is_committed_and_what_is_durable_is_kept() {
    let folder = folder();
    committed(&plain(folder.path()), &["a"]).await;
    let full = Arc::new(AtomicBool::new(false));
    let disk_is_full = Arc::clone(&full);
    let store = meddling::store(folder.path(), move |operation, _| {
        let fails = operation == "append" && disk_is_full.load(Ordering::SeqCst);
        if fails { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    });
    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    full.store(true, Ordering::SeqCst);
    let failed = lease.append(vec![success(4, 2, "c")]).await;
    assert!(matches!(failed, Err(Error::Poisoned { .. })), "{failed:?}");
    full.store(false, Ordering::SeqCst);
    let again = lease.append(vec![begin(5, 3, "d")]).await;
    assert!(matches!(again, Err(Error::Poisoned { .. })), "{again:?}");
    let refused = lease.commit(Commit::default()).await;
    assert!(matches!(refused, Err(Error::Poisoned { .. })), "{refused:?}");
    assert_eq!(current(folder.path()).await, ["a"], "nothing was published");
    lease.release().await.unwrap();
    let kept = plain(folder.path()).snapshot(&stack(), At::Current).await.unwrap().snapshot;
    assert_eq!(names(&kept), ["a", "b"]);
    assert_eq!(kept.pending_operations.len(), 1, "what began is pending");
    let next = store.acquire(&stack(), up()).await.unwrap();
    assert_eq!(*next.recovery(), Recovery::Nothing);
    next.release().await.unwrap();
}

#[tokio::test]
async fn s02_a_release_that_fails_leaves_everything_to_the_next_holder() {
    let folder = folder();
    committed(&plain(folder.path()), &["a"]).await;
    let full = Arc::new(AtomicBool::new(false));
    let disk_is_full = Arc::clone(&full);
    let store = meddling::store(folder.path(), move |operation, _| {
        let fails = operation == "create" && disk_is_full.load(Ordering::SeqCst);
        if fails { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    });
    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    full.store(true, Ordering::SeqCst);
    let failed = lease.release().await;
    assert!(matches!(failed, Err(Error::Io { .. })), "{failed:?}");
    let refused = store.acquire(&stack(), up()).await;
    assert!(matches!(refused, Err(Error::Io { .. })), "no lease without a place to write it");
    full.store(false, Ordering::SeqCst);
    let next = store.acquire(&stack(), up()).await.unwrap();
    assert!(matches!(next.recovery(), Recovery::Replayed { entries: 2, .. }), "{:?}", next.recovery());
    next.release().await.unwrap();
    assert_eq!(current(folder.path()).await, ["a", "b"]);
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_read_and_refused_once() {
    let folder = folder();
    committed(&plain(folder.path()), &["a"]).await;
    let before = everything(folder.path());
    let store = meddling::store(folder.path(), |operation, _| match operation {
        "read" | "stat" | "list" => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem)),
    });
    assert_eq!(names(&store.snapshot(&stack(), At::Running).await.unwrap().snapshot), ["a"]);
    assert_eq!(store.stacks(None).await.unwrap().len(), 1);
    assert!(store.describe(&stack()).await.unwrap().holders.is_empty());
    let refused = store.acquire(&stack(), up()).await.map(drop);
    let Err(Error::Io { source, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(source.kind(), io::ErrorKind::ReadOnlyFilesystem);
    assert!(store.break_lease(&stack(), up()).await.is_err());
    assert_eq!(everything(folder.path()), before);
}

#[tokio::test]
async fn s14_a_foreign_lock_that_appears_while_ours_is_written_wins() {
    let folder = folder();
    committed(&plain(folder.path()), &["a"]).await;
    let locks = folder.path().join(".pulumi/locks/organization/shop/prod");
    let (looks, place) = (Arc::new(AtomicUsize::new(0)), locks.clone());
    let store = meddling::store(folder.path(), move |operation, path| {
        let second =
            operation == "list" && path.contains("/locks/") && looks.fetch_add(1, Ordering::SeqCst) == 1;
        if second {
            fs::write(place.join("foreign.json"), r#"{"pid":1,"username":"ana","hostname":"there"}"#)?;
        }
        Ok(())
    });
    let refused = store.acquire(&stack(), up()).await.map(drop);
    let Err(Error::Held { lease, .. }) = refused else { panic!("{refused:?}") };
    assert!(lease.foreign && lease.user == "ana", "{lease:?}");
    let left: Vec<_> = fs::read_dir(&locks).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["foreign.json"], "our own lock is gone");
    fs::remove_file(locks.join("foreign.json")).unwrap();
    plain(folder.path()).acquire(&stack(), up()).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn s12_a_damaged_or_deleted_lease_file_does_not_start_the_epochs_over() {
    let folder = folder();
    let store = plain(folder.path());
    committed(&store, &["a"]).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    let epoch = lease.info().epoch;
    fs::remove_file(lease_file(folder.path())).unwrap();
    let held = store.acquire(&stack(), up()).await.map(drop);
    let Err(Error::Held { lease: holder, .. }) = held else { panic!("{held:?}") };
    assert_eq!(holder.user, "unknown");
    let fenced = lease.append(vec![begin(3, 2, "c")]).await;
    assert!(matches!(fenced, Err(Error::Fenced { .. })), "{fenced:?}");
    drop(lease);
    fs::write(lease_file(folder.path()), b"{\"user\":").unwrap();
    // The lock file that nothing names any more is another's until somebody breaks it.
    let held = store.acquire(&stack(), up()).await.map(drop);
    assert!(matches!(held, Err(Error::Held { .. })), "{held:?}");
    let (broken, recovery) = store.break_lease(&stack(), up()).await.unwrap();
    assert_eq!(broken.len(), 1);
    assert!(matches!(recovery, Recovery::Replayed { .. }), "{recovery:?}");
    let next = store.acquire(&stack(), up()).await.unwrap();
    assert!(next.info().epoch > epoch);
    next.release().await.unwrap();
    let names = current(folder.path()).await;
    assert!(names.starts_with(&["a".to_owned(), "b".to_owned()]), "{names:?}");
}

#[tokio::test]
async fn s14_a_stack_that_another_tool_removed_does_not_block_its_name() {
    let folder = folder();
    let store = plain(folder.path());
    committed(&store, &["a"]).await;
    let live = drystone_stores::StackId::new("shop", "live").unwrap();
    let lease = store.acquire(&live, up()).await.unwrap();
    lease.commit(Commit { snapshot: Some(snapshot(&["old"])), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    for name in ["live.json", "live.json.bak"] {
        let _ = fs::remove_file(folder.path().join(".pulumi/stacks/shop").join(name));
    }
    let lease = store.acquire(&stack(), up()).await.unwrap();
    let moved = Some(Box::new(snapshot(&["a"])));
    lease.relocate(Relocation::To { stack: live.clone(), snapshot: moved }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&live, At::Current).await.unwrap().snapshot), ["a"]);
    let titles: Vec<String> = store.revisions(&live).await.unwrap().into_iter().map(|it| it.title).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
}

#[tokio::test]
async fn s20_a_checkpoint_that_another_tool_rewrites_under_the_lease_is_a_conflict() {
    let folder = folder();
    let store = plain(folder.path());
    committed(&store, &["a"]).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    rewrite(folder.path(), "::a\"", "::q\"");
    let late = lease.commit(Commit { snapshot: Some(snapshot(&["x"])), ..Commit::default() }).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    let late = lease.append(vec![begin(1, 1, "b")]).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    lease.release().await.unwrap();

    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    rewrite(folder.path(), "::q\"", "::r\"");
    let late = lease.commit(Commit::default()).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    lease.release().await.unwrap();
    assert_eq!(current(folder.path()).await, ["r"], "the other tool's state stands");
    let orphans = store.describe(&stack()).await.unwrap().orphans;
    assert_eq!(orphans.len(), 1);
    assert_eq!(names(&orphans[0].snapshot), ["b", "q"]);
}
