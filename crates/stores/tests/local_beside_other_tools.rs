//! Members that only other tools know, and journals whose base another tool changed.

#![allow(clippy::unwrap_used)]

use drystone_stores::conformance::make::{begin, committed, names, resource, snapshot, stack, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{At, Claim, Commit, Error, Leases, Reads, Recovery, Relocation, StackId, StackSummary};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn plain(folder: &Path) -> LocalStore {
    LocalStore::open(folder, LocalOptions::default()).unwrap()
}

fn up() -> Claim {
    Claim::new("up")
}

fn checkpoint(folder: &Path) -> PathBuf {
    folder.join(".pulumi/stacks/shop/prod.json")
}

const CONFIG: &str = r#""config":{"shop:region":"eu","big":18014398509481985}"#;
const INNER: &str = r#""fromTheFuture":{"a":[1,2]}"#;
const OUTER: &str = r#""signature":"<&>""#;

/// Puts members into the checkpoint that this version does not know, as another tool would.
fn mark(folder: &Path) {
    let path = checkpoint(folder);
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replacen(r#""latest":"#, &format!(r#"{CONFIG},"latest":"#), 1);
    let body = text.strip_suffix("}}").unwrap();
    let temporary = path.with_extension("stock");
    fs::write(&temporary, format!("{body},{INNER}}},{OUTER}}}")).unwrap();
    fs::rename(&temporary, &path).unwrap();
}

fn assert_marked(path: &Path, when: &str) {
    let text = fs::read_to_string(path).unwrap();
    for member in [CONFIG, INNER, OUTER] {
        assert_eq!(text.matches(member).count(), 1, "{member} {when}: {text}");
    }
}

#[tokio::test]
async fn s09_unknown_members_around_the_state_survive_everything() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        LocalOptions { checkpoint_interval: Some(Duration::from_nanos(1)), ..LocalOptions::default() };
    let store = LocalStore::open(folder.path(), options).unwrap();
    committed(&store, &["a"]).await;
    mark(folder.path());
    let file = checkpoint(folder.path());
    committed(&store, &["a", "b"]).await;
    assert_marked(&file, "after a commit");

    let lease = store.acquire(&stack(), up()).await.unwrap();
    let before = fs::read(&file).unwrap();
    for sequence in 1.. {
        lease.append(vec![begin(sequence, sequence, &format!("r{sequence}"))]).await.unwrap();
        if fs::read(&file).unwrap() != before {
            break;
        }
        assert!(sequence < 10_000, "no checkpoint on the way");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_marked(&file, "in a checkpoint on the way");
    drop(lease);
    let lease = store.acquire(&stack(), up()).await.unwrap();
    assert!(matches!(lease.recovery(), Recovery::Replayed { .. }), "{:?}", lease.recovery());
    assert_marked(&file, "after a recovery");

    let live = StackId::new("shop", "live").unwrap();
    let to = Relocation::To { stack: live.clone(), snapshot: Some(Box::new(snapshot(&["a"]))) };
    lease.relocate(to).await.unwrap();
    lease.release().await.unwrap();
    let file = file.with_file_name("live.json");
    assert_marked(&file, "after a rename");
    assert!(fs::read_to_string(&file).unwrap().contains(r#""stack":"organization/shop/live""#));
    let lease = store.acquire(&live, up()).await.unwrap();
    lease.commit(Commit { snapshot: Some(snapshot(&["z"])), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_marked(&file, "after a commit under the new name");
}

#[tokio::test]
async fn s14_a_list_says_what_the_checkpoint_says_whoever_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(folder.path());
    committed(&store, &["a"]).await;
    let listed = store.stacks(None).await.unwrap();
    let told = |listed: &[StackSummary]| (listed[0].last_update.clone(), listed[0].resources);
    let time = store.snapshot(&stack(), At::Current).await.unwrap().snapshot.manifest.time;
    assert_eq!(told(&listed), (Some(time.clone()), Some(2)));

    let path = checkpoint(folder.path());
    let text = fs::read_to_string(&path).unwrap().replace(&time, "2026-02-02T00:00:00Z");
    fs::write(path.with_extension("stock"), text).unwrap();
    fs::rename(path.with_extension("stock"), &path).unwrap();
    let listed = store.stacks(None).await.unwrap();
    assert_eq!(told(&listed), (Some("2026-02-02T00:00:00Z".to_owned()), Some(2)));

    let locks = folder.path().join(".pulumi/locks/organization/shop/prod");
    fs::create_dir_all(&locks).unwrap();
    assert!(store.holders(None).await.unwrap().is_empty());
    let lock = r#"{"pid":7,"username":"ana","hostname":"elsewhere","timestamp":"2026-01-01T00:00:00Z"}"#;
    fs::write(locks.join("8a.json"), lock).unwrap();
    let holders = store.holders(Some("shop")).await.unwrap();
    assert_eq!(holders[&stack()][0].holder(), "ana@elsewhere");
}

#[tokio::test]
async fn s09_the_first_checkpoint_of_the_stock_cli_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let file = checkpoint(folder.path());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(folder.path().join(".pulumi/meta.yaml"), "version: 1\n").unwrap();
    fs::write(&file, r#"{"version":0,"checkpoint":{"stack":"organization/shop/prod"},"odd":1}"#).unwrap();
    let store = plain(folder.path());
    assert!(!store.snapshot(&stack(), At::Current).await.unwrap().ever_written);
    committed(&store, &["a"]).await;
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(r#"{"version":3,"#) && text.ends_with(r#""odd":1}"#), "{text}");
}

#[tokio::test]
async fn s09_a_document_of_a_newer_tool_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(folder.path());
    committed(&store, &["a"]).await;
    let file = checkpoint(folder.path());
    let newer = r#"{"version":99,"checkpoint":{"stack":"organization/shop/prod","latest":{}}}"#;
    fs::write(&file, newer).unwrap();
    let lease = store.acquire(&stack(), up()).await.unwrap();
    let commit = lease.commit(Commit { snapshot: Some(snapshot(&["b"])), ..Commit::default() }).await;
    assert!(matches!(commit, Err(Error::Unsupported { .. })), "{commit:?}");
    let append = lease.append(vec![begin(1, 1, "b")]).await;
    assert!(matches!(append, Err(Error::Unsupported { .. })), "{append:?}");
    lease.release().await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}

/// An update dies with a journal, and another tool changes the stack before the next holder comes.
async fn orphaned(folder: &Path) -> LocalStore {
    let store = plain(folder);
    committed(&store, &["a"]).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b"), begin(3, 2, "c")]).await.unwrap();
    drop(lease);
    let file = checkpoint(folder);
    let changed = fs::read_to_string(&file).unwrap().replace("::a\"", "::other\"");
    fs::write(file.with_extension("stock"), changed).unwrap();
    fs::rename(file.with_extension("stock"), &file).unwrap();
    store
}

#[tokio::test]
async fn s20_a_journal_whose_base_another_tool_changed_is_kept_reported_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let store = orphaned(folder.path()).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    let Recovery::Orphaned { entries: 3, journal, holder } = lease.recovery().clone() else {
        panic!("{:?}", lease.recovery());
    };
    assert_eq!(holder.purpose, "up");
    lease.release().await.unwrap();
    let current = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(names(&current.snapshot), ["other"], "it is not replayed blindly");

    let described = store.describe(&stack()).await.unwrap();
    assert!(!described.unrecovered, "it waits for people, not for the next holder");
    let [orphan] = &described.orphans[..] else { panic!("{:?}", described.orphans) };
    assert_eq!((&orphan.journal, orphan.entries, orphan.replayed), (&journal, 3, false));
    assert_eq!(names(&orphan.snapshot), ["a", "b"]);
    assert_eq!(orphan.snapshot.pending_operations.len(), 1);

    // It outlives commits, and its base outlives pruning.
    committed(&store, &["other", "more"]).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    let pruned = lease.prune(drystone_stores::Keep { newest: 0 }).await.unwrap();
    assert!(!pruned.contains(&orphan.base), "{pruned:?}");
    assert_eq!(store.describe(&stack()).await.unwrap().orphans.len(), 1);

    let mut merged = store.snapshot(&stack(), At::Current).await.unwrap().snapshot;
    merged.resources.push(resource("b"));
    let merge = Commit {
        title: "state doctor".to_owned(),
        snapshot: Some(merged),
        settles: vec![journal.clone()],
        ..Commit::default()
    };
    lease.commit(merge).await.unwrap();
    assert!(store.describe(&stack()).await.unwrap().orphans.is_empty());
    assert!(lease.prune(drystone_stores::Keep { newest: 0 }).await.unwrap().contains(&orphan.base));
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["b", "more", "other"]);
    let kept = folder.path().join(".pulumi/drystone/stacks/projects/shop/prod/journals");
    let kept: Vec<_> = fs::read_dir(kept).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(kept, [format!("{journal}.settled").as_str()], "people can still look at it");
}

#[tokio::test]
async fn s20_an_orphan_is_dropped_by_name_and_only_an_orphan() {
    let folder = tempfile::tempdir().unwrap();
    let store = orphaned(folder.path()).await;
    let lease = store.acquire(&stack(), up()).await.unwrap();
    let Recovery::Orphaned { journal, .. } = lease.recovery().clone() else { panic!() };
    for wrong in ["../../../../meta.yaml", "nothing.orphan", ""] {
        let refused = lease.commit(Commit { settles: vec![wrong.to_owned()], ..Commit::default() }).await;
        assert!(refused.is_err(), "{wrong}");
    }
    assert_eq!(store.describe(&stack()).await.unwrap().orphans.len(), 1);
    let dropped = lease.commit(Commit { settles: vec![journal], ..Commit::default() }).await.unwrap();
    assert_eq!(dropped.revision, None, "dropping changes no state");
    lease.release().await.unwrap();
    assert!(store.describe(&stack()).await.unwrap().orphans.is_empty());
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["other"]);
}
