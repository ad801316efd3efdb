//! unobin's local tree: what unobin left is read and continued, and what it leaves open is closed.
#![allow(clippy::unwrap_used)]

use drystone_dialects::unobin::{Envelope, Factory, Revision, Snapshot, Time};
use drystone_secrets::envelope::{Encrypter, EnvKey, Noop};
use drystone_stores::disk::OsDisk;
use drystone_stores::unobin::{Error, Root, Tree};
use drystone_stores::{Host, SystemHost};
use futures::executor::block_on;
use jiff::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/unobin");
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A machine whose clock stands still until it is set, and whose process is any.
#[derive(Debug)]
struct StillHost {
    seconds: AtomicI64,
    process: u32,
}

impl Host for StillHost {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.seconds.load(Ordering::Relaxed)).unwrap()
    }
    fn new_id(&self) -> String {
        SystemHost.new_id()
    }
    fn user(&self) -> String {
        "ana".to_owned()
    }
    fn hostname(&self) -> String {
        "here".to_owned()
    }
    fn pid(&self) -> u32 {
        self.process
    }
    fn is_running(&self, pid: u32) -> Option<bool> {
        Some(pid == self.process)
    }
}

fn host(process: u32) -> Arc<StillHost> {
    Arc::new(StillHost { seconds: AtomicI64::new(1_777_550_400), process })
}

fn key() -> Arc<dyn Encrypter> {
    Arc::new(EnvKey::new("UB_STATE_KEY", &|_| Some(KEY.into())).unwrap())
}

fn tree_of(root: &Path, host: Arc<dyn Host>, stack: &str, encrypter: Arc<dyn Encrypter>) -> Tree {
    Root::folder(Arc::new(OsDisk::private(root)), host).tree("demo", stack, encrypter).unwrap()
}

fn tree(root: &Path) -> Tree {
    tree_of(root, host(7), "dev", key())
}

fn snapshot(stack: &str) -> Snapshot {
    let factory = Factory { name: "demo".to_owned(), version: "v1".to_owned(), ..Factory::default() };
    Snapshot::new(factory, stack, Time::parse("2026-04-30T12:00:00Z").unwrap())
}

/// Copies a tree of the fixtures, with the colons back in the names.
fn restored(fixture: &str, root: &Path) {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            let name = if name.starts_with("2026") { name.replace('_', ":") } else { name };
            if file.file_type().unwrap().is_dir() {
                copy(&file.path(), &to.join(name));
            } else {
                fs::copy(file.path(), to.join(name)).unwrap();
            }
        }
    }
    copy(Path::new(&format!("{FIXTURES}/{fixture}")), root);
}

fn names(revisions: &[Revision]) -> Vec<&str> {
    revisions.iter().map(Revision::as_str).collect()
}

fn snapshot_file(root: &Path, stack: &str, revision: &str) -> PathBuf {
    root.join(format!("demo/{stack}/snapshots/{revision}.json.enc"))
}

#[tokio::test]
async fn s16_what_unobin_left_is_read() {
    let noop: Arc<dyn Encrypter> = Arc::new(Noop);
    for (fixture, stack, encrypter, revisions) in [
        ("state-env-key", "dev", key(), 5),
        ("state-env-key-after-destroy", "dev", key(), 5),
        ("state-noop", "plain", Arc::clone(&noop), 3),
        ("seed-state-env-key", "dev", key(), 2),
        ("seed-state-noop", "dev", noop, 2),
    ] {
        let root = tempfile::tempdir().unwrap();
        restored(fixture, root.path());
        let tree = tree_of(root.path(), Arc::new(SystemHost), stack, encrypter);
        let listed = tree.list().await.unwrap();
        assert_eq!(listed.len(), revisions, "{fixture}");
        for revision in &listed {
            let snapshot = tree.get(revision.as_str()).await.unwrap();
            assert!(!snapshot.encode().unwrap().is_empty());
        }
        assert!(names(&listed).contains(&tree.current_revision().await.unwrap().as_str()));
        tree.current().await.unwrap();
    }
}

#[tokio::test]
async fn s16_what_is_written_has_the_form_of_unobin() {
    let root = tempfile::tempdir().unwrap();
    let tree = tree(root.path());
    let revision = tree.write(&snapshot("dev")).await.unwrap();
    assert_eq!(revision, "2026-04-30T12:00:00Z");
    assert!(matches!(tree.current_revision().await, Err(Error::NoCurrent)), "a write makes nothing current");
    tree.set_current(&revision).await.unwrap();
    assert_eq!(tree.current().await.unwrap(), snapshot("dev"));
    assert_eq!(fs::read_to_string(root.path().join("demo/dev/current")).unwrap(), "2026-04-30T12:00:00Z\n");
    let file = snapshot_file(root.path(), "dev", &revision);
    let envelope = Envelope::decode(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((envelope.version, envelope.encrypter), (1, None));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for file in [file.clone(), root.path().join("demo/dev/current")] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    let left: Vec<_> = fs::read_dir(file.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "a file that was being written is left: {left:?}");
}

#[tokio::test]
async fn a_tree_without_a_current_snapshot_says_so_and_is_not_made_by_reading() {
    let root = tempfile::tempdir().unwrap();
    let tree = tree(root.path());
    assert!(matches!(tree.current().await, Err(Error::NoCurrent)));
    assert_eq!(tree.current_revision().await.unwrap_err().to_string(), "no current snapshot");
    assert!(tree.list().await.unwrap().is_empty());
    assert!(!root.path().join("demo").exists());
    fs::create_dir_all(root.path().join("demo/dev")).unwrap();
    fs::write(root.path().join("demo/dev/current"), " \n").unwrap();
    assert!(matches!(tree.current().await, Err(Error::NoCurrent)));
}

#[tokio::test]
async fn s6_revisions_of_one_moment_get_numbers_and_none_is_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let tree = tree(root.path());
    let mut written = Vec::new();
    for _ in 0..100 {
        written.push(tree.write(&snapshot("dev")).await.unwrap());
    }
    assert_eq!(written[..3], ["2026-04-30T12:00:00Z", "2026-04-30T12:00:00Z_1", "2026-04-30T12:00:00Z_2"]);
    assert_eq!(names(&tree.list().await.unwrap()), written, "in the order they were written in");
    assert_eq!(
        tree.write(&snapshot("dev")).await.unwrap_err().to_string(),
        "local store: could not allocate fresh revision after 100 attempts"
    );
}

#[tokio::test]
async fn revisions_stay_in_the_order_of_their_writing_when_the_clock_goes_back() {
    let root = tempfile::tempdir().unwrap();
    let clock = host(7);
    let tree = tree_of(root.path(), Arc::clone(&clock) as Arc<dyn Host>, "dev", key());
    let mut written = vec![tree.write(&snapshot("dev")).await.unwrap()];
    for step in [1, -3600, -3600, 7200] {
        clock.seconds.fetch_add(step, Ordering::Relaxed);
        written.push(tree.write(&snapshot("dev")).await.unwrap());
    }
    assert_eq!(names(&tree.list().await.unwrap()), written);
    assert_eq!(written[2], "2026-04-30T12:00:01.000000001Z");
}

#[tokio::test]
async fn names_cannot_leave_the_root() {
    let root = tempfile::tempdir().unwrap();
    let outside = root.path().join("in");
    for bad in ["..", ".", "../../esc", "a/b", "a\\b", "a\0b", "/etc"] {
        for (factory, stack) in [("demo", bad), (bad, "dev")] {
            let opened =
                Root::folder(Arc::new(OsDisk::private(&outside)), host(7)).tree(factory, stack, key());
            assert!(matches!(opened, Err(Error::Name { .. })), "{factory:?} {stack:?}");
        }
        let tree = tree(&outside);
        assert!(matches!(tree.get(bad).await, Err(Error::Name { .. })), "{bad:?}");
        assert!(matches!(tree.delete(bad).await, Err(Error::Name { .. })), "{bad:?}");
        assert!(matches!(tree.set_current(bad).await, Err(Error::Name { .. })), "{bad:?}");
    }
    let nameless = Root::folder(Arc::new(OsDisk::private(&outside)), host(7)).tree("demo", "", key());
    assert_eq!(nameless.unwrap_err().to_string(), "local store: stack is required");
    fs::create_dir_all(outside.join("demo/dev")).unwrap();
    fs::write(outside.join("demo/dev/current"), "../../../secret\n").unwrap();
    assert!(matches!(tree(&outside).current().await, Err(Error::Name { .. })));
}

#[tokio::test]
async fn the_current_revision_cannot_be_deleted() {
    let root = tempfile::tempdir().unwrap();
    let tree = tree(root.path());
    let (old, new) =
        (tree.write(&snapshot("dev")).await.unwrap(), tree.write(&snapshot("dev")).await.unwrap());
    tree.set_current(&new).await.unwrap();
    assert!(matches!(tree.delete(&new).await, Err(Error::IsCurrent { .. })));
    tree.delete(&old).await.unwrap();
    tree.delete(&old).await.unwrap();
    assert_eq!(names(&tree.list().await.unwrap()), [new.as_str()]);
    tree.current().await.unwrap();
    let told = tree.set_current(&old).await.unwrap_err().to_string();
    let path = snapshot_file(root.path(), "dev", &old);
    assert_eq!(told, format!("set-current {old}: stat {}: no such file or directory", path.display()));
    assert_eq!(tree.current_revision().await.unwrap(), new);
}

#[tokio::test]
async fn s19_a_snapshot_copied_to_another_stack_or_revision_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let at = |stack: &str| tree_of(root.path(), host(7), stack, key()).bound();
    let revision = at("dev").write(&snapshot("dev")).await.unwrap();
    at("dev").get(&revision).await.unwrap();
    let file = snapshot_file(root.path(), "dev", &revision);
    fs::create_dir_all(root.path().join("demo/other/snapshots")).unwrap();
    fs::copy(&file, snapshot_file(root.path(), "other", &revision)).unwrap();
    fs::copy(&file, snapshot_file(root.path(), "dev", "2020-01-01T00:00:00Z")).unwrap();
    for told in [at("other").get(&revision).await, at("dev").get("2020-01-01T00:00:00Z").await] {
        let told = told.unwrap_err().to_string();
        assert!(told.contains("sealed for demo/dev at 2026-04-30T12:00:00Z"), "{told}");
    }
    // A tree that binds opens what unobin wrote, if that says where it belongs.
    let shared = tree(root.path()).write(&snapshot("dev")).await.unwrap();
    at("dev").get(&shared).await.unwrap();
    fs::copy(snapshot_file(root.path(), "dev", &shared), snapshot_file(root.path(), "other", &shared))
        .unwrap();
    let told = at("other").get(&shared).await.unwrap_err().to_string();
    assert!(told.ends_with("it is a snapshot of demo/dev, not of demo/other"), "{told}");
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_with_its_file() {
    let root = tempfile::tempdir().unwrap();
    let revision = tree(root.path()).write(&snapshot("dev")).await.unwrap();
    let file = snapshot_file(root.path(), "dev", &revision);
    let wrong: Arc<dyn Encrypter> =
        Arc::new(EnvKey::new("K", &|_| Some("//////////////////////////////////////////8=".into())).unwrap());
    let told = |encrypter: Arc<dyn Encrypter>| {
        let tree = tree_of(root.path(), host(7), "dev", encrypter);
        let told = block_on(tree.get(&revision)).unwrap_err();
        assert_eq!(told.path(), Some(&file));
        told.to_string()
    };
    assert_eq!(
        told(wrong),
        format!("local store: open {revision}: open: decrypt: cipher: message authentication failed")
    );
    assert_eq!(
        told(Arc::new(Noop)),
        format!("local store: open {revision}: it is sealed, and the noop encrypter opens nothing")
    );
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(told(key()), format!("local store: open {revision}: envelope: unexpected end of JSON input"));
    let missing = tree(root.path()).get("2020-01-01T00:00:00Z").await.unwrap_err().to_string();
    assert!(
        missing.starts_with("open /") && missing.ends_with(".json.enc: no such file or directory"),
        "{missing}"
    );
}

#[tokio::test]
async fn s11_one_holds_the_lock_and_the_others_are_told_who() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (tree(root.path()), tree_of(root.path(), host(8), "dev", key()));
    let held = first.try_lock().await.unwrap().unwrap();
    assert_eq!(fs::read_to_string(root.path().join("demo/dev/lock")).unwrap(), "7\n");
    assert!(second.try_lock().await.unwrap().is_none());
    let mut waited_for = None;
    let told =
        second.lock(Some(Duration::from_millis(1)), |holder| waited_for = holder.process).await.unwrap_err();
    assert!(told.to_string().starts_with("state locked by process 7 since "), "{told}");
    assert!(matches!(waited_for, None | Some(7)));
    held.unlock().await.unwrap();
    assert!(second.holder().await.unwrap().is_none());
    drop(second.lock(Some(Duration::ZERO), |_| {}).await.unwrap());
    assert!(first.try_lock().await.unwrap().is_some(), "a lock that was dropped is given back");
}

#[tokio::test]
async fn s13_an_unlock_removes_only_its_own_lock() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (tree(root.path()), tree_of(root.path(), host(8), "dev", key()));
    let broken = first.try_lock().await.unwrap().unwrap();
    assert_eq!(second.force_unlock().await.unwrap().unwrap().process, Some(7));
    let held = second.try_lock().await.unwrap().unwrap();
    let told = broken.unlock().await.unwrap_err().to_string();
    assert!(told.starts_with("the lock is no longer ours: state locked by process 8"), "{told}");
    assert_eq!(second.holder().await.unwrap().unwrap().process, Some(8));
    held.unlock().await.unwrap();
    assert!(second.force_unlock().await.unwrap().is_none());
    let gone = first.try_lock().await.unwrap().unwrap();
    second.force_unlock().await.unwrap();
    gone.unlock().await.unwrap();
}

#[test]
fn s11_of_many_who_want_the_lock_one_has_it_at_a_time() {
    let root = tempfile::tempdir().unwrap();
    let inside = AtomicI64::new(0);
    std::thread::scope(|threads| {
        for process in 1..=4 {
            let (root, inside) = (root.path(), &inside);
            threads.spawn(move || {
                let tree = tree_of(root, host(process), "dev", key());
                for _ in 0..50 {
                    let Some(held) = block_on(tree.try_lock()).unwrap() else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    block_on(held.unlock()).unwrap();
                }
            });
        }
    });
}

#[test]
fn two_writers_without_a_lock_never_write_over_each_other() {
    let root = tempfile::tempdir().unwrap();
    let mut written: Vec<String> = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                threads.spawn(|| {
                    let tree = tree(root.path());
                    (0..10).map(|_| block_on(tree.write(&snapshot("dev"))).unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    written.sort();
    written.dedup();
    assert_eq!(written.len(), 40);
    assert_eq!(block_on(tree(root.path()).list()).unwrap().len(), 40);
}
