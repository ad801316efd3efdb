//! Journals that a disk damaged: what is sound counts, the rest is kept and reported.

#![allow(clippy::unwrap_used)]

use drystone_stores::conformance::make::{begin, committed, names, stack, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{At, Claim, Leases, Reads, Recovery};
use std::fs;
use std::path::{Path, PathBuf};

/// A dead update of two resources; gives its journal.
async fn dead_update(folder: &Path) -> (LocalStore, PathBuf) {
    let store = LocalStore::open(folder, LocalOptions::default()).unwrap();
    committed(&store, &["a"]).await;
    let lease = store.acquire(&stack(), Claim::new("up")).await.unwrap();
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    lease.append(vec![begin(3, 2, "c"), success(4, 2, "c")]).await.unwrap();
    drop(lease);
    let journals = folder.join(".pulumi/drystone/stacks/projects/shop/prod/journals");
    let journal = fs::read_dir(journals).unwrap().next().unwrap().unwrap().path();
    (store, journal)
}

/// Changes one byte in the frame that holds a text.
fn damage(journal: &Path, text: &str) {
    let mut file = fs::read(journal).unwrap();
    let at = file.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    file[at] ^= 1;
    fs::write(journal, file).unwrap();
}

#[tokio::test]
async fn s05_entries_around_a_damaged_one_are_brought_in_and_the_journal_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (store, journal) = dead_update(folder.path()).await;
    damage(&journal, r#""sequenceID":2"#);
    let lease = store.acquire(&stack(), Claim::new("up")).await.unwrap();
    assert!(matches!(lease.recovery(), Recovery::Replayed { entries: 3, .. }), "{:?}", lease.recovery());
    lease.release().await.unwrap();
    let current = store.snapshot(&stack(), At::Current).await.unwrap().snapshot;
    assert_eq!(names(&current), ["a", "c"]);
    assert_eq!(current.pending_operations.len(), 1, "b is asked about");
    let orphans = store.describe(&stack()).await.unwrap().orphans;
    assert!(orphans.len() == 1 && orphans[0].replayed, "{orphans:?}");
}

#[tokio::test]
async fn s05_a_journal_with_a_damaged_header_is_kept_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (store, journal) = dead_update(folder.path()).await;
    damage(&journal, r#""baseHash""#);
    let lease = store.acquire(&stack(), Claim::new("up")).await.unwrap();
    assert!(matches!(lease.recovery(), Recovery::Orphaned { entries: 4, .. }), "{:?}", lease.recovery());
    lease.release().await.unwrap();
    let orphans = store.describe(&stack()).await.unwrap().orphans;
    assert_eq!(orphans.len(), 1);
    assert_eq!((names(&orphans[0].snapshot), orphans[0].base), (vec!["b".to_owned(), "c".to_owned()], 0));
}

#[tokio::test]
async fn s20_a_journal_of_another_stack_is_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, journal) = dead_update(folder.path()).await;
    let other = drystone_stores::StackId::new("shop", "other").unwrap();
    let text = fs::read(folder.path().join(".pulumi/stacks/shop/prod.json")).unwrap();
    fs::write(folder.path().join(".pulumi/stacks/shop/other.json"), text).unwrap();
    let theirs = folder.path().join(".pulumi/drystone/stacks/projects/shop/other/journals");
    fs::create_dir_all(&theirs).unwrap();
    fs::copy(&journal, theirs.join(journal.file_name().unwrap())).unwrap();
    let lease = store.acquire(&other, Claim::new("up")).await.unwrap();
    assert!(matches!(lease.recovery(), Recovery::Orphaned { .. }), "{:?}", lease.recovery());
    lease.release().await.unwrap();
    assert_eq!(names(&store.snapshot(&other, At::Current).await.unwrap().snapshot), ["a"]);
    store.describe(&other).await.unwrap();
}

#[tokio::test]
async fn s05_a_damaged_base_revision_locks_nobody_out() {
    for changed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = dead_update(folder.path()).await;
        let revisions = folder.path().join(".pulumi/drystone/stacks/projects/shop/prod/revisions");
        fs::write(revisions.join("1.json.zst"), b"damaged").unwrap();
        if changed {
            let file = folder.path().join(".pulumi/stacks/shop/prod.json");
            let text = fs::read_to_string(&file).unwrap().replace("::a\"", "::other\"");
            fs::write(&file, text).unwrap();
        }
        let lease = store.acquire(&stack(), Claim::new("up")).await.unwrap();
        let orphaned = matches!(lease.recovery(), Recovery::Orphaned { .. });
        assert_eq!(orphaned, changed, "{:?}", lease.recovery());
        lease.release().await.unwrap();
        let expected: &[&str] = if changed { &["other"] } else { &["a", "b", "c"] };
        assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
        assert_eq!(store.describe(&stack()).await.unwrap().orphans.len(), usize::from(changed));
    }
}
