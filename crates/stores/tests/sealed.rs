//! Backends that are sealed at rest: the same suite, nothing in clear, and the ways to sealing, from it and between keys.

#![allow(clippy::unwrap_used)]

mod bucket;
mod sealing;

use bucket::TestBucket;
use drystone_stores::conformance::Fixture;
use drystone_stores::conformance::make::{acquire, begin, committed, names, stack, success};
use drystone_stores::local::{Compression, LocalOptions, LocalStore};
use drystone_stores::object::{BucketOptions, BucketStore};
use drystone_stores::{At, Claim, Commit, Error, Leases, Reads, Sealing, StackId, Store, conformance_tests};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use sealing::{is_clear, key, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn sealed() -> LocalOptions {
    LocalOptions { sealing: Some(Sealing::with(key("FIRST"))), ..LocalOptions::default() }
}

struct Directory {
    folder: tempfile::TempDir,
    options: LocalOptions,
}

impl Directory {
    fn new(options: LocalOptions) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), options }
    }
}

impl Fixture for Directory {
    fn client(&self) -> Box<dyn Store> {
        Box::new(LocalStore::open(self.folder.path(), self.options.clone()).unwrap())
    }
}

struct Memory {
    bucket: Arc<TestBucket>,
    options: BucketOptions,
}

impl Memory {
    fn new() -> Self {
        let options = BucketOptions { diy: sealed(), ..BucketOptions::default() };
        Self { bucket: TestBucket::new(), options }
    }

    fn losing_answers() -> Self {
        let memory = Self::new();
        memory.bucket.lose_answers(7);
        memory
    }
}

impl Fixture for Memory {
    fn client(&self) -> Box<dyn Store> {
        Box::new(self.bucket.client(&self.options))
    }

    fn let_leases_expire(&self) {
        self.bucket.advance(self.options.lease_ttl + Duration::from_secs(2));
    }
}

mod in_a_folder {
    use super::*;
    conformance_tests!(Directory::new(sealed()));
}

mod in_a_folder_with_gzip_and_every_checkpoint_retained {
    use super::*;
    conformance_tests!(Directory::new(LocalOptions {
        compression: Compression::Gzip,
        retain_checkpoints: true,
        ..sealed()
    }));
}

mod in_a_bucket {
    use super::*;
    conformance_tests!(Memory::new());
}

mod in_a_bucket_where_answers_get_lost {
    use super::*;
    conformance_tests!(Memory::losing_answers());
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// The files that hold something of a resource in clear.
fn clear_files(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| is_clear(&fs::read(path).unwrap())).collect()
}

async fn clear_objects(bucket: &TestBucket) -> Vec<String> {
    let mut clear = Vec::new();
    for path in bucket.paths().await {
        let content = bucket.get(&Key::parse(&path).unwrap()).await.unwrap().bytes().await.unwrap();
        if is_clear(&content) {
            clear.push(path);
        }
    }
    clear
}

#[tokio::test]
async fn s19_nothing_of_a_resource_stands_in_clear_in_a_folder() {
    let site = Directory::new(sealed());
    let folder = site.folder.path().to_owned();
    let look = async |when: &str| {
        assert!(files(&folder).len() > 4, "{when}");
        assert_eq!(clear_files(&folder), Vec::<PathBuf>::new(), "after {when}");
    };
    run(|| site.client(), || {}, look).await;
    // The test can fail: without sealing there is a lot.
    let open = Directory::new(LocalOptions::default());
    committed(&*open.client(), &["topsecret-a"]).await;
    assert!(clear_files(open.folder.path()).len() > 1);
}

#[tokio::test]
async fn s19_nothing_of_a_resource_stands_in_clear_in_a_bucket() {
    let site = Memory::new();
    let look = async |when: &str| {
        assert_eq!(clear_objects(&site.bucket).await, Vec::<String>::new(), "after {when}");
    };
    run(|| site.client(), || site.let_leases_expire(), look).await;
    assert!(site.bucket.paths().await.len() > 4);
}

#[tokio::test]
async fn s19_who_has_no_key_or_another_is_refused_and_changes_nothing() {
    let site = Directory::new(sealed());
    committed(&*site.client(), &["topsecret-a"]).await;
    let refused = LocalStore::open(site.folder.path(), LocalOptions::default()).unwrap_err();
    let Error::Sealed { with, .. } = &refused else { panic!("{refused}") };
    assert_eq!(with, "env-key env-var FIRST");
    let options = LocalOptions { sealing: Some(Sealing::with(key("SECOND"))), ..LocalOptions::default() };
    let other = LocalStore::open(site.folder.path(), options).unwrap();
    let told = other.snapshot(&stack(), At::Current).await.unwrap_err().to_string();
    assert!(told.contains("message authentication failed (sealed with env-key env-var FIRST)"), "{told}");
    let before = files(site.folder.path()).len();
    let lease = other.acquire(&stack(), Claim::new("up")).await.unwrap();
    assert!(lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.is_err());
    let snapshot = Some(drystone_model::Snapshot::default());
    let commit = Commit { title: "up".to_owned(), snapshot, ..Commit::default() };
    assert!(lease.commit(commit).await.is_err());
    lease.release().await.unwrap();
    assert!(files(site.folder.path()).len() <= before);
    assert_eq!(
        names(&site.client().snapshot(&stack(), At::Current).await.unwrap().snapshot),
        ["topsecret-a"]
    );
}

#[tokio::test]
async fn s19_a_document_opens_in_its_place_only_and_a_clear_one_not_at_all() {
    let site = Directory::new(sealed());
    let store = site.client();
    committed(&*store, &["topsecret-a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    let own = site.folder.path().join(".pulumi/drystone/stacks/projects/shop/prod/revisions");
    let last = store.revisions(&stack()).await.unwrap().pop().unwrap().number;
    let newest = u64::try_from(last).unwrap();
    // An older revision, whole and sealed with the right key, in the place of a newer one.
    fs::copy(own.join(format!("{}.json.zst", newest - 1)), own.join(format!("{newest}.json.zst"))).unwrap();
    let told = store.snapshot(&stack(), At::Revision(newest)).await.unwrap_err().to_string();
    assert!(told.contains(&format!("sealed for shop/prod at revision {}", newest - 1)), "{told}");
    // The checkpoint of one stack in the place of another's.
    let stacks = site.folder.path().join(".pulumi/stacks/shop");
    fs::copy(stacks.join("prod.json"), stacks.join("other.json")).unwrap();
    let other = StackId::new("shop", "other").unwrap();
    let told = store.snapshot(&other, At::Current).await.unwrap_err().to_string();
    assert!(told.contains("sealed for shop/prod at checkpoint"), "{told}");
    // A clear one, put there by somebody without the key.
    fs::write(stacks.join("prod.json"), r#"{"version":3,"checkpoint":{"stack":"organization/shop/prod"}}"#)
        .unwrap();
    let told = store.snapshot(&stack(), At::Current).await.unwrap_err().to_string();
    assert!(told.contains("it is not sealed"), "{told}");
}

fn local(folder: &Path, sealing: Option<Sealing>) -> Result<LocalStore, Error> {
    LocalStore::open(folder, LocalOptions { sealing, ..LocalOptions::default() })
}

#[tokio::test]
async fn s19_a_folder_is_sealed_sealed_anew_and_unsealed_and_what_was_cut_short_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clear = local(folder, None).unwrap();
    committed(&clear, &["topsecret-a"]).await;
    // A journal of a holder that died is brought in on the way.
    let lease = acquire(&clear, "up").await;
    lease.append(vec![begin(1, 1, "topsecret-b"), success(2, 1, "topsecret-b")]).await.unwrap();
    drop(lease);
    let expected = ["topsecret-a", "topsecret-b"];

    let begun = local(folder, Some(Sealing::beginning(key("FIRST")))).unwrap();
    let done = begun.reseal("state seal").await.unwrap();
    assert!(done.stacks == 1 && done.documents >= 3, "{done:?}");
    assert_eq!(clear_files(folder), Vec::<PathBuf>::new());
    assert_eq!(begun.reseal("state seal").await.unwrap().documents, 0, "there is nothing left to do");
    assert!(matches!(local(folder, None), Err(Error::Sealed { .. })));
    let first = local(folder, Some(Sealing::with(key("FIRST")))).unwrap();
    assert_eq!(names(&first.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);

    // Cut short: one file of the two forms.
    let changing = || local(folder, Some(Sealing::changing(key("FIRST"), key("SECOND")))).unwrap();
    let before: Vec<(PathBuf, Vec<u8>)> =
        files(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    changing().reseal("state rekey").await.unwrap();
    let (path, content) = before.iter().find(|(path, _)| path.ends_with("prod.json")).unwrap();
    fs::write(path, content).unwrap();
    assert_eq!(names(&changing().snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
    assert_eq!(changing().reseal("state rekey").await.unwrap().documents, 1);
    let second = local(folder, Some(Sealing::with(key("SECOND")))).unwrap();
    for info in second.revisions(&stack()).await.unwrap() {
        let revision = At::Revision(u64::try_from(info.number).unwrap());
        second.snapshot(&stack(), revision).await.unwrap();
        assert!(
            local(folder, Some(Sealing::with(key("FIRST"))))
                .unwrap()
                .snapshot(&stack(), revision)
                .await
                .is_err()
        );
    }

    let ending = local(folder, Some(Sealing::ending(key("SECOND")))).unwrap();
    ending.reseal("state unseal").await.unwrap();
    let clear = local(folder, None).unwrap();
    assert_eq!(names(&clear.snapshot(&stack(), At::Current).await.unwrap().snapshot), expected);
    assert!(matches!(local(folder, Some(Sealing::with(key("SECOND")))), Err(Error::NotSealed { .. })));
    let meta = fs::read_to_string(folder.join(".pulumi/meta.yaml")).unwrap();
    assert_eq!(meta, "version: 1\n");
}

#[tokio::test]
async fn s19_a_bucket_is_sealed_and_unsealed() {
    let bucket = TestBucket::new();
    let open = async |sealing: Option<Sealing>| {
        let client: Arc<dyn ObjectStore> = Arc::<TestBucket>::clone(&bucket);
        let diy = LocalOptions { sealing, ..LocalOptions::default() };
        BucketStore::open(client, "test://bucket", BucketOptions { diy, ..BucketOptions::default() }).await
    };
    committed(&open(None).await.unwrap(), &["topsecret-a"]).await;
    assert!(!clear_objects(&bucket).await.is_empty());
    let begun = open(Some(Sealing::beginning(key("FIRST")))).await.unwrap();
    assert!(begun.reseal("state seal").await.unwrap().documents > 2);
    assert_eq!(clear_objects(&bucket).await, Vec::<String>::new());
    assert!(matches!(open(None).await, Err(Error::Sealed { .. })));
    let store = open(Some(Sealing::with(key("FIRST")))).await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["topsecret-a"]);
    open(Some(Sealing::ending(key("FIRST")))).await.unwrap().reseal("state unseal").await.unwrap();
    let store = open(None).await.unwrap();
    assert_eq!(names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot), ["topsecret-a"]);
}
