//! Keys, what must not stand in clear, and a life of a stack in which it might.

#![allow(clippy::unwrap_used)]

use drystone_secrets::envelope::{Encrypter, EnvKey};
use drystone_stores::conformance::make::{acquire, begin, committed, names, stack, success};
use drystone_stores::{At, Claim, Commit, Recovery, Relocation, StackId, Store};
use std::sync::Arc;

pub(crate) const KEYS: [&str; 2] =
    ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "//////////////////////////////////////////8="];

/// The key of a variable, `FIRST` or `SECOND`.
pub(crate) fn key(name: &'static str) -> Arc<dyn Encrypter> {
    let value = KEYS[usize::from(name == "SECOND")];
    Arc::new(EnvKey::new(name, &|_| Some(value.into())).unwrap())
}

/// What must stand nowhere: the names of resources, in clear or as a compression would leave them.
pub(crate) const SECRETS: [&str; 3] = ["topsecret-a", "topsecret-b", "urn:pulumi"];

pub(crate) fn is_clear(content: &[u8]) -> bool {
    let plain = match content.get(..4) {
        Some([0x28, 0xb5, 0x2f, 0xfd]) => zstd::stream::decode_all(content).unwrap_or_default(),
        _ => content.to_vec(),
    };
    let text = String::from_utf8_lossy(&plain);
    SECRETS.iter().any(|secret| text.contains(secret))
}

/// An update with a record of it, one that dies with entries in its journal, and the recovery by the next; `look` is
/// called after each.
pub(crate) async fn run(
    client: impl Fn() -> Box<dyn Store>,
    die: impl Fn(),
    mut look: impl AsyncFnMut(&str),
) {
    let store = client();
    committed(&*store, &["topsecret-a"]).await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "topsecret-b"), success(2, 1, "topsecret-b")]).await.unwrap();
    look("an update under way").await;
    let update = drystone_model::Json::parse(r#"{"kind":"update","message":"topsecret-a"}"#).unwrap();
    let commit = Commit { title: "up".to_owned(), update: Some(update), ..Commit::default() };
    lease.commit(commit).await.unwrap();
    lease.release().await.unwrap();
    look("an update").await;
    let lease = acquire(&*store, "up").await;
    lease.append(vec![begin(1, 1, "topsecret-c"), success(2, 1, "topsecret-c")]).await.unwrap();
    drop(lease);
    drop(store);
    die();
    look("a crash").await;
    let store = client();
    let lease = acquire(&*store, "up").await;
    assert!(matches!(lease.recovery(), Recovery::Replayed { entries: 2, .. }), "{:?}", lease.recovery());
    lease.release().await.unwrap();
    look("a recovery").await;
    let now = store.snapshot(&stack(), At::Current).await.unwrap();
    assert_eq!(names(&now.snapshot), ["topsecret-a", "topsecret-b", "topsecret-c"]);
    let other = StackId::new("shop", "other").unwrap();
    let lease = acquire(&*store, "stack rename").await;
    let snapshot = Box::new(now.snapshot);
    lease.relocate(Relocation::To { stack: other.clone(), snapshot: Some(snapshot) }).await.unwrap();
    lease.release().await.unwrap();
    look("a rename").await;
    let revisions = store.revisions(&other).await.unwrap();
    assert!(revisions.len() >= 4, "{revisions:?}");
    for info in revisions {
        store.snapshot(&other, At::Revision(u64::try_from(info.number).unwrap())).await.unwrap();
    }
    assert_eq!(store.updates(&other).await.unwrap().len(), 1);
    let lease = store.acquire(&other, Claim::new("stack rm")).await.unwrap();
    lease.relocate(Relocation::Trash { note: None }).await.unwrap();
    lease.release().await.unwrap();
    look("the trash").await;
}
