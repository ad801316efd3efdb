//! unobin's tree on buckets: the same contract as in a folder, races of two clients, and answers that get lost.

#![allow(clippy::unwrap_used)]

mod bucket;
mod machine;
mod on_clouds;

use bucket::TestBucket;
use drystone_dialects::unobin::{Factory, Revision, Snapshot, Time};
use drystone_secrets::envelope::{Encrypter, EnvKey, Noop};
use drystone_servers::{self as servers, Cloud, Proxy, Trouble};
use drystone_stores::disk::OsDisk;
use drystone_stores::object::BucketOptions;
use drystone_stores::unobin::{Error, Root, Tree};
use drystone_stores::{Host, SystemHost};
use machine::TestMachine;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn key() -> Arc<dyn Encrypter> {
    Arc::new(EnvKey::new("UB_STATE_KEY", &|_| Some(KEY.into())).unwrap())
}

fn snapshot(stack: &str) -> Snapshot {
    let factory = Factory { name: "demo".to_owned(), version: "v1".to_owned(), ..Factory::default() };
    Snapshot::new(factory, stack, Time::parse("2026-04-30T12:00:00Z").unwrap())
}

fn names(revisions: &[Revision]) -> Vec<&str> {
    revisions.iter().map(Revision::as_str).collect()
}

/// A place for trees that nobody else has. Each client is one of its own, as another process would have it.
struct Site {
    open: Box<dyn Fn(Arc<dyn Host>) -> Root + Send + Sync>,
    races: usize,
    _folder: Option<tempfile::TempDir>,
}

impl Site {
    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let open = move |host| Root::folder(Arc::new(OsDisk::private(&root)), host);
        Self { open: Box::new(open), races: 200, _folder: Some(folder) }
    }

    fn memory(bucket: Arc<TestBucket>) -> Self {
        let open = move |host| {
            Root::bucket(Arc::<TestBucket>::clone(&bucket), "s3://state", host, Duration::from_secs(30))
        };
        Self { open: Box::new(open), races: 1000, _folder: None }
    }

    fn losing_answers() -> Self {
        let bucket = TestBucket::new();
        bucket.lose_answers(3);
        Self { races: 20, ..Self::memory(bucket) }
    }

    fn mixing_requests() -> Self {
        let bucket = TestBucket::new();
        bucket.mix_requests(0x9e37_79b9_7f4a_7c15);
        Self::memory(bucket)
    }

    fn cloud(cloud: &'static Cloud) -> Self {
        let url = cloud.url();
        let open = move |host| on_clouds::wait_for(open(cloud, &url, host, &BucketOptions::default()));
        Self { open: Box::new(open), races: 100, _folder: None }
    }

    fn client(&self, host: Arc<dyn Host>, stack: &str) -> Tree {
        (self.open)(host).tree("demo", stack, key()).unwrap()
    }

    fn tree(&self) -> Tree {
        self.client(Arc::new(SystemHost), "dev")
    }
}

async fn open(cloud: &'static Cloud, url: &str, host: Arc<dyn Host>, options: &BucketOptions) -> Root {
    let url = Url::parse(url).unwrap();
    Root::open_url(&url, host, options, |name| cloud.variable(name)).await.unwrap()
}

/// What holds wherever a tree stands.
mod contract {
    use super::*;

    pub(super) async fn an_empty_tree_has_no_current_snapshot(site: Site) {
        let tree = site.tree();
        assert!(matches!(tree.current().await, Err(Error::NoCurrent)));
        assert!(matches!(tree.current_revision().await, Err(Error::NoCurrent)));
        assert!(tree.list().await.unwrap().is_empty());
        assert!(tree.holder().await.unwrap().is_none());
        assert!(tree.force_unlock().await.unwrap().is_none());
        assert!(matches!(tree.get("2020-01-01T00:00:00Z").await, Err(Error::NoRevision { .. })));
        assert!(matches!(tree.set_current("2020-01-01T00:00:00Z").await, Err(Error::NotWritten { .. })));
        tree.delete("2020-01-01T00:00:00Z").await.unwrap();
    }

    pub(super) async fn a_write_is_read_back_and_made_current_on_demand(site: Site) {
        let tree = site.tree();
        let first = tree.write(&snapshot("dev")).await.unwrap();
        assert!(matches!(tree.current().await, Err(Error::NoCurrent)), "a write makes nothing current");
        tree.set_current(&first).await.unwrap();
        let second = tree.write(&snapshot("dev")).await.unwrap();
        assert_ne!(first, second, "the same content is a revision of its own");
        let other = site.tree();
        assert_eq!(other.current_revision().await.unwrap(), first);
        assert_eq!(other.current().await.unwrap(), snapshot("dev"));
        assert_eq!(other.get(&second).await.unwrap(), snapshot("dev"));
        assert_eq!(names(&other.list().await.unwrap()), [first.as_str(), second.as_str()]);
        other.set_current(&second).await.unwrap();
        assert!(matches!(tree.delete(&second).await, Err(Error::IsCurrent { .. })));
        tree.delete(&first).await.unwrap();
        assert!(matches!(tree.get(&first).await, Err(Error::NoRevision { .. })));
        assert_eq!(names(&tree.list().await.unwrap()), [second.as_str()]);
    }

    pub(super) async fn stacks_beside_each_other_share_nothing(site: Site) {
        let host: Arc<dyn Host> = Arc::new(SystemHost);
        let (dev, dev2) = (site.client(Arc::clone(&host), "dev"), site.client(host, "dev2"));
        let revision = dev2.write(&snapshot("dev2")).await.unwrap();
        dev2.set_current(&revision).await.unwrap();
        let _held = dev2.try_lock().await.unwrap().unwrap();
        assert!(matches!(dev.current().await, Err(Error::NoCurrent)));
        assert!(dev.list().await.unwrap().is_empty());
        dev.try_lock().await.unwrap().unwrap().unlock().await.unwrap();
    }

    pub(super) async fn s06_revisions_keep_the_order_of_their_writing(site: Site) {
        let clock = TestMachine::new();
        let tree = site.client(Arc::<TestMachine>::clone(&clock), "dev");
        let mut written = Vec::new();
        for _ in 0..12 {
            written.push(tree.write(&snapshot("dev")).await.unwrap());
        }
        assert!(written[11].ends_with("Z_11"), "{written:?}");
        for step in [1_000, 450, 50, 500, 1] {
            clock.advance(Duration::from_millis(step));
            written.push(tree.write(&snapshot("dev")).await.unwrap());
        }
        // Another machine, whose clock is behind.
        let behind = site.client(TestMachine::new(), "dev");
        written.push(behind.write(&snapshot("dev")).await.unwrap());
        assert_eq!(names(&tree.list().await.unwrap()), written);
    }

    pub(super) async fn s06_current_moves_only_from_what_was_seen(site: Site) {
        let (one, two) = (site.tree(), site.tree());
        let mut written = Vec::new();
        for _ in 0..3 {
            written.push(one.write(&snapshot("dev")).await.unwrap());
        }
        one.move_current(None, &written[0]).await.unwrap();
        two.move_current(Some(&written[0]), &written[1]).await.unwrap();
        for from in [None, Some(written[0].as_str())] {
            let told = one.move_current(from, &written[2]).await.unwrap_err();
            let Error::Moved { found, .. } = &told else { panic!("{told}") };
            assert_eq!(found.as_deref(), Some(written[1].as_str()));
        }
        assert_eq!(one.current_revision().await.unwrap(), written[1]);
    }

    pub(super) async fn s11_one_holds_the_lock_and_the_others_are_told_who(site: Site) {
        let (one, two) = (site.tree(), site.tree());
        let held = one.try_lock().await.unwrap().unwrap();
        assert!(two.try_lock().await.unwrap().is_none());
        let mut told = None;
        let refused = two.lock(Some(Duration::from_millis(1)), |holder| told = Some(holder.clone())).await;
        let Err(Error::Locked { holder }) = refused else { panic!("{refused:?}") };
        assert!(holder.since.is_some());
        assert!(told.is_none_or(|told| told == *holder));
        let next = tokio::spawn(async move { two.lock(Some(Duration::from_secs(60)), |_| {}).await });
        held.unlock().await.unwrap();
        next.await.unwrap().unwrap().unlock().await.unwrap();
        assert!(one.holder().await.unwrap().is_none());
    }

    pub(super) async fn s13_an_unlock_removes_only_its_own_lock(site: Site) {
        let machine = TestMachine::new();
        let (one, two) = (site.client(machine.beside(1), "dev"), site.client(machine.beside(2), "dev"));
        let broken = one.try_lock().await.unwrap().unwrap();
        assert!(two.force_unlock().await.unwrap().is_some());
        let held = two.try_lock().await.unwrap().unwrap();
        let refused = broken.unlock().await;
        assert!(matches!(refused, Err(Error::LostLock { .. })), "{refused:?}");
        assert!(one.try_lock().await.unwrap().is_none(), "the lock of the second is gone");
        held.unlock().await.unwrap();
        let gone = one.try_lock().await.unwrap().unwrap();
        two.force_unlock().await.unwrap();
        gone.unlock().await.unwrap();
    }

    pub(super) async fn a_lock_that_is_dropped_is_given_back(site: Site) {
        let tree = site.tree();
        drop(tree.try_lock().await.unwrap().unwrap());
        tree.lock(Some(Duration::from_secs(60)), |_| {}).await.unwrap().unlock().await.unwrap();
    }

    pub(super) async fn s11_of_two_who_want_the_lock_one_has_it(site: Site) {
        let (one, two) = (site.tree(), site.tree());
        for race in 0..site.races {
            let (first, second) = tokio::join!(one.try_lock(), two.try_lock());
            let held: Vec<_> = [first.unwrap(), second.unwrap()].into_iter().flatten().collect();
            assert_eq!(held.len(), 1, "race {race}");
            for held in held {
                held.unlock().await.unwrap();
            }
        }
    }

    pub(super) async fn s06_two_writers_never_write_over_each_other(site: Site) {
        let clock = TestMachine::new();
        let client = || site.client(Arc::<TestMachine>::clone(&clock), "dev");
        let (one, two) = (client(), client());
        let mut written = Vec::new();
        for _ in 0..8 {
            let (dev, other) = (snapshot("dev"), snapshot("dev"));
            let (first, second) = tokio::join!(one.write(&dev), two.write(&other));
            written.extend([first.unwrap(), second.unwrap()]);
        }
        let listed = one.list().await.unwrap();
        assert_eq!(listed.len(), 16);
        written.sort();
        written.dedup();
        assert_eq!(written.len(), 16, "two writers were told the same revision");
        for revision in &listed {
            one.get(revision.as_str()).await.unwrap();
        }
    }

    pub(super) async fn s06_of_two_who_move_current_from_the_same_one_does(site: Site) {
        let (one, two) = (site.tree(), site.tree());
        let mut from = one.write(&snapshot("dev")).await.unwrap();
        one.set_current(&from).await.unwrap();
        let (a, b) = (one.write(&snapshot("dev")).await.unwrap(), one.write(&snapshot("dev")).await.unwrap());
        for _ in 0..site.races / 10 {
            let (first, second) =
                tokio::join!(one.move_current(Some(&from), &a), two.move_current(Some(&from), &b));
            let winner = match (first, second) {
                (Ok(()), Err(Error::Moved { .. })) => &a,
                (Err(Error::Moved { .. }), Ok(())) => &b,
                other => panic!("{other:?}"),
            };
            assert_eq!(&one.current_revision().await.unwrap(), winner);
            one.set_current(&from).await.unwrap();
            from.clone_from(&one.current_revision().await.unwrap());
        }
    }
}

/// One case in one place, with attributes.
macro_rules! contract_test {
    ($case:ident, $site:expr, [$($attributes:tt)*]) => {
        #[tokio::test(flavor = "multi_thread")]
        $($attributes)*
        async fn $case() {
            contract::$case($site).await;
        }
    };
}

/// Runs the contract in one place.
macro_rules! contract_tests {
    ($site:expr, $attributes:tt) => {
        contract_tests!(
            @each $site, $attributes,
            an_empty_tree_has_no_current_snapshot,
            a_write_is_read_back_and_made_current_on_demand,
            stacks_beside_each_other_share_nothing,
            s06_revisions_keep_the_order_of_their_writing,
            s06_current_moves_only_from_what_was_seen,
            s11_one_holds_the_lock_and_the_others_are_told_who,
            s13_an_unlock_removes_only_its_own_lock,
            a_lock_that_is_dropped_is_given_back,
            s11_of_two_who_want_the_lock_one_has_it,
            s06_two_writers_never_write_over_each_other,
        );
    };
    (@each $site:expr, $attributes:tt, $($case:ident,)*) => {
        $(contract_test!($case, $site, $attributes);)*
    };
}

mod in_a_folder {
    use super::*;
    contract_tests!(Site::folder(), []);
}

mod in_memory {
    use super::*;
    contract_tests!(Site::memory(TestBucket::new()), []);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::memory(TestBucket::new()), []);
}

mod where_answers_get_lost {
    use super::*;
    contract_tests!(Site::losing_answers(), []);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::losing_answers(), []);
}

mod where_requests_meet {
    use super::*;
    contract_tests!(Site::mixing_requests(), []);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::mixing_requests(), []);
}

mod on_minio {
    use super::*;
    contract_tests!(Site::cloud(servers::minio()), [#[ignore = "needs MinIO: run by cargo xtask test"]]);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::cloud(servers::minio()), [#[ignore = "needs MinIO: run by cargo xtask test"]]);
}

mod on_moto {
    use super::*;
    contract_tests!(Site::cloud(servers::moto()), [#[ignore = "needs moto: run by cargo xtask test"]]);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::cloud(servers::moto()), [#[ignore = "needs moto: run by cargo xtask test"]]);
}

mod on_fake_gcs_server {
    use super::*;
    contract_tests!(Site::cloud(servers::fake_gcs()), [#[ignore = "needs fake-gcs-server: run by cargo xtask test"]]);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::cloud(servers::fake_gcs()), [#[ignore = "needs fake-gcs-server: run by cargo xtask test"]]);
}

mod on_azurite {
    use super::*;
    contract_tests!(Site::cloud(servers::azurite()), [#[ignore = "needs Azurite: run by cargo xtask test"]]);
    contract_test!(s06_of_two_who_move_current_from_the_same_one_does, Site::cloud(servers::azurite()), [#[ignore = "needs Azurite: run by cargo xtask test"]]);
}

#[tokio::test]
async fn s16_objects_have_the_form_of_unobin() {
    let bucket = TestBucket::new();
    let site = Site::memory(Arc::clone(&bucket));
    let tree = site.client(TestMachine::new(), "dev");
    let held = tree.try_lock().await.unwrap().unwrap();
    let lock = bucket.text("demo/dev/lock").await.unwrap();
    let fields: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let expected = format!(
        r#"{{"id":"{}","who":"ana@laptop","created":"{}"}}"#,
        fields["id"].as_str().unwrap(),
        TestMachine::new().now()
    );
    assert_eq!(lock, expected);
    let revision = tree.write(&snapshot("dev")).await.unwrap();
    tree.set_current(&revision).await.unwrap();
    assert_eq!(bucket.text("demo/dev/current").await.unwrap(), format!("{revision}\n"));
    let envelope = bucket.text(&format!("demo/dev/snapshots/{revision}.json.enc")).await.unwrap();
    assert!(envelope.starts_with("{\n  \"envelope-version\": 1,\n  \"ciphertext\": \""), "{envelope}");
    held.unlock().await.unwrap();
    assert_eq!(bucket.paths().await.len(), 2);
}

#[tokio::test]
async fn a_lock_of_unobin_is_told_by_its_holder_and_one_that_is_none_still_holds() {
    let bucket = TestBucket::new();
    let tree = Site::memory(Arc::clone(&bucket)).tree();
    let lock = r#"{"id":"5e4dae156c3040085307058934739b19","who":"root@vm","created":"2026-11-15T18:19:16.223272049Z"}"#;
    bucket.write("demo/dev/lock", lock).await;
    let told = tree.lock(Some(Duration::ZERO), |_| {}).await.unwrap_err().to_string();
    assert_eq!(told, "state locked by root@vm since 2026-11-15T18:19:16.223272049Z");
    bucket.write("demo/dev/lock", "not a lock").await;
    let told = tree.lock(Some(Duration::ZERO), |_| {}).await.unwrap_err().to_string();
    assert!(told.starts_with("state locked by somebody who left no name since "), "{told}");
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_with_its_key() {
    let bucket = TestBucket::new();
    let site = Site::memory(Arc::clone(&bucket));
    let revision = site.tree().write(&snapshot("dev")).await.unwrap();
    let key = format!("demo/dev/snapshots/{revision}.json.enc");
    let whole = bucket.text(&key).await.unwrap();
    let noop: Arc<dyn Encrypter> = Arc::new(Noop);
    let wrong: Arc<dyn Encrypter> =
        Arc::new(EnvKey::new("K", &|_| Some("//////////////////////////////////////////8=".into())).unwrap());
    let tampered = whole.replace("\"ciphertext\": \"", "\"ciphertext\": \"AAAA");
    let (right, half) = (self::key(), whole[..whole.len() / 2].to_owned());
    for (content, encrypter, expected) in [
        (&whole, wrong, "open: decrypt: cipher: message authentication failed"),
        (&whole, noop, "it is sealed, and the noop encrypter opens nothing"),
        (&tampered, Arc::clone(&right), "open: decrypt: cipher: message authentication failed"),
        (&half, right, "envelope: unexpected end of JSON input"),
    ] {
        bucket.write(&key, content.as_str()).await;
        let tree = (site.open)(Arc::new(SystemHost)).tree("demo", "dev", encrypter).unwrap();
        let told = tree.get(&revision).await.unwrap_err();
        assert_eq!(told.to_string(), format!("s3 store: open {revision}: {expected}"));
        assert_eq!(told.path().unwrap().to_str().unwrap(), format!("s3://state/{key}"));
    }
}

/// What everybody who looks into the bucket sees: unobin finds its objects by these keys.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs moto: run by cargo xtask test"]
async fn s16_keys_are_those_of_unobin_to_the_letter() {
    let cloud = servers::moto();
    let url = cloud.url_of("keys of unobin", cloud.port());
    let root = open(cloud, &url, TestMachine::new(), &BucketOptions::default()).await;
    let tree = root.tree("demo", "dev", key()).unwrap();
    let revision = tree.write(&snapshot("dev")).await.unwrap();
    tree.set_current(&revision).await.unwrap();
    let listing = format!("http://127.0.0.1:{}/{}?list-type=2", cloud.port(), servers::BUCKET);
    let listing = reqwest::get(listing).await.unwrap().text().await.unwrap();
    for key in ["current".to_owned(), format!("snapshots/{revision}.json.enc")] {
        assert!(listing.contains(&format!("<Key>keys of unobin/demo/dev/{key}</Key>")), "{key}: {listing}");
    }
    assert!(revision.contains(':'));
}

/// One turn of a writer: lock, write, make current, unlock.
async fn turn(tree: &Tree) -> Result<String, Error> {
    let held = tree.lock(Some(Duration::ZERO), |_| {}).await?;
    let revision = tree.write(&snapshot("dev")).await?;
    tree.set_current(&revision).await?;
    held.unlock().await?;
    Ok(revision)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s11_a_trouble_that_passes_at_any_request_is_not_noticed() {
    let cloud = servers::minio();
    let options = BucketOptions {
        patience: Duration::from_secs(15),
        answer_timeout: Duration::from_millis(700),
        ..BucketOptions::default()
    };
    let proxy = Proxy::before(cloud.port());
    let part = |number: u64, trouble: &str| format!("unobin-{}-{number}-{trouble}", std::process::id());
    let through = async |part: &str| {
        let root = open(cloud, &cloud.url_of(part, proxy.port()), Arc::new(SystemHost), &options).await;
        root.tree("demo", "dev", key()).unwrap()
    };
    let tree = through(&part(0, "measured")).await;
    let before = proxy.traffic().requests;
    turn(&tree).await.unwrap();
    let requests = proxy.traffic().requests - before;
    for number in 0..requests {
        for trouble in Trouble::PASSING {
            let tree = through(&part(number, &format!("{trouble:?}"))).await;
            proxy.trouble(number, trouble, Duration::from_secs(2));
            let ended = turn(&tree).await;
            let revision = ended.unwrap_or_else(|error| panic!("{trouble:?} at {number}: {error}"));
            assert!(proxy.mend(), "{trouble:?} at {number} did not come about");
            assert_eq!(tree.current_revision().await.unwrap(), revision);
            assert_eq!(names(&tree.list().await.unwrap()), [revision], "{trouble:?} at {number}");
            assert!(tree.holder().await.unwrap().is_none(), "{trouble:?} at {number}: the lock is left");
        }
    }
    println!("{requests} requests a turn, {} troubles that pass", requests * 8);
}
