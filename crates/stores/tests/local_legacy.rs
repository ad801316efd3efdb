//! The layout without projects, as very old CLIs left it: told apart as the stock CLI tells it, read, and upgraded.

#![allow(clippy::unwrap_used)]

use drystone_stores::conformance::make::{names, resource, snapshot};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{At, Claim, Commit, Leases, Reads, StackId, Upgrade};
use std::fs;
use std::path::Path;

fn open(folder: &Path) -> LocalStore {
    LocalStore::open(folder, LocalOptions::default()).unwrap()
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(".pulumi").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A checkpoint as an old CLI wrote it, of resources of these URNs.
fn checkpoint(stack: &str, urns: &[&str]) -> String {
    let resources: Vec<String> =
        urns.iter().map(|urn| format!(r#"{{"urn":"{urn}","type":"my:mod:Thing"}}"#)).collect();
    let resources = resources.join(",");
    format!(
        r#"{{"version":3,"checkpoint":{{"stack":"{stack}","latest":{{"manifest":{{"time":"2020-01-01T00:00:00Z","magic":"","version":""}},"resources":[{resources}]}}}}}}"#
    )
}

const IN_SHOP: &str = "urn:pulumi:dev::shop::my:mod:Thing::a";

#[test]
fn s14_the_layout_is_told_as_the_stock_cli_tells_it() {
    let legacy_wanted = LocalOptions { legacy_layout: true, ..LocalOptions::default() };
    type Files = &'static [(&'static str, &'static str)];
    let cases: [(&str, Files, bool, bool); 8] = [
        ("nothing there", &[], true, false),
        ("a stack in a project", &[("stacks/shop/dev.json", "{}")], true, false),
        ("a stack without one", &[("stacks/dev.json", "{}")], false, false),
        ("a compressed one", &[("stacks/dev.json.gz", "")], false, false),
        ("only its backup", &[("stacks/dev.json.bak", "{}")], true, false),
        ("marked as without", &[("meta.yaml", "version: 0\n")], false, false),
        (
            "marked as with, and an old stack",
            &[("meta.yaml", "version: 1\n"), ("stacks/dev.json", "{}")],
            true,
            true,
        ),
        ("marked as with, old one in a comment", &[("meta.yaml", "# version: 0\nversion: 1\n")], true, true),
    ];
    for (case, files, has_projects, marked) in cases {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            write(folder.path(), file, text);
        }
        assert_eq!(open(folder.path()).has_projects(), has_projects, "{case}");
        let wanted = LocalStore::open(folder.path(), legacy_wanted.clone()).unwrap();
        assert_eq!(wanted.has_projects(), marked, "{case}, with the legacy layout asked for");
    }
    for meta in ["version: 2\n", "version: [", "other: 1\n", ""] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "meta.yaml", meta);
        assert!(LocalStore::open(folder.path(), LocalOptions::default()).is_err(), "{meta:?}");
    }
}

#[tokio::test]
async fn s14_stacks_without_projects_are_read_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "stacks/dev.json", &checkpoint("dev", &[IN_SHOP]));
    let store = open(folder.path());
    let dev = store.stack_id("dev", None).unwrap();
    let listed = store.stacks(None).await.unwrap();
    assert_eq!((listed.len(), &listed[0].stack, listed[0].resources), (1, &dev, Some(1)));
    let lease = store.acquire(&dev, Claim::new("up")).await.unwrap();
    assert!(folder.path().join(".pulumi/locks/dev").is_dir(), "its lock stands where old CLIs look");
    let mut next = store.snapshot(&dev, At::Current).await.unwrap().snapshot;
    next.resources.push(resource("b"));
    lease.commit(Commit { snapshot: Some(next), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(names(&open(folder.path()).snapshot(&dev, At::Current).await.unwrap().snapshot), ["a", "b"]);
    assert!(!folder.path().join(".pulumi/meta.yaml").exists(), "the layout is not marked by a commit");
    assert!(!open(folder.path()).has_projects());
}

#[tokio::test]
async fn upgrading_moves_what_has_a_project_and_says_why_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "stacks/dev.json", &checkpoint("dev", &[IN_SHOP]));
    write(folder.path(), "stacks/detached.json", &checkpoint("detached", &[]));
    let odd = "urn:pulumi:odd::no/name::my:mod:Thing::a";
    write(folder.path(), "stacks/odd.json", &checkpoint("odd", &[odd]));
    write(folder.path(), "stacks/taken.json", &checkpoint("taken", &[IN_SHOP]));
    write(folder.path(), "stacks/shop/taken.json", &checkpoint("organization/shop/taken", &[]));
    write(folder.path(), "history/dev/dev-1.history.json", r#"{"kind":"update"}"#);
    let store = open(folder.path());
    let found = store.legacy().await.unwrap();
    let projects: Vec<(&str, Option<&str>)> =
        found.iter().map(|(stack, project)| (stack.name(), project.as_deref())).collect();
    let shop = Some("shop");
    assert_eq!(projects, [("detached", None), ("dev", shop), ("odd", Some("no/name")), ("taken", shop)]);

    let upgraded = store.upgrade(found).await.unwrap();
    let target = StackId::new("shop", "dev").unwrap();
    assert_eq!(upgraded.moved, [(StackId::legacy("dev").unwrap(), target.clone())]);
    let skipped: Vec<&str> = upgraded.skipped.iter().map(|(stack, _)| stack.name()).collect();
    assert_eq!(skipped, ["detached", "odd", "taken"]);
    assert!(upgraded.skipped.iter().all(|(_, reason)| !reason.is_empty()));

    let store = open(folder.path());
    assert!(store.has_projects());
    assert_eq!(names(&store.snapshot(&target, At::Current).await.unwrap().snapshot), ["a"]);
    assert_eq!(store.updates(&target).await.unwrap().len(), 1);
    let left: Vec<String> =
        store.legacy().await.unwrap().into_iter().map(|(stack, _)| stack.name().to_owned()).collect();
    assert_eq!(left, ["detached", "odd", "taken"]);
    let given = StackId::legacy("detached").unwrap();
    let again = store.upgrade(vec![(given, Some("shop".to_owned()))]).await.unwrap();
    assert_eq!(again.moved.len(), 1, "{again:?}");
    let taken = StackId::new("shop", "taken").unwrap();
    assert!(store.snapshot(&taken, At::Current).await.unwrap().snapshot.resources.is_empty());
}

#[tokio::test]
async fn a_new_stack_in_an_empty_directory_marks_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let dev = store.stack_id("dev", Some("shop")).unwrap();
    let lease = store.acquire(&dev, Claim::new("stack init")).await.unwrap();
    lease.commit(Commit { snapshot: Some(snapshot(&[])), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(".pulumi/meta.yaml")).unwrap(), "version: 1\n");
}
