//! Snapshots and entries for the cases, and for tests elsewhere that need a small stack.

use crate::{Claim, Commit, HeldLease, StackId, Store};
use drystone_journal::{Entry, Kind};
use drystone_model::{Manifest, Operation, OperationKind, ROOT_STACK_TYPE, Resource, Snapshot, Urn};

/// The stack of the cases.
#[must_use]
pub fn stack() -> StackId {
    StackId::new("shop", "prod").expect("a valid name")
}

/// Its root resource.
#[must_use]
pub fn root() -> Resource {
    Resource {
        urn: Urn::build("prod", "shop", "", ROOT_STACK_TYPE, "shop-prod"),
        type_token: ROOT_STACK_TYPE.to_owned(),
        ..Resource::default()
    }
}

/// A component.
#[must_use]
pub fn resource(name: &str) -> Resource {
    Resource {
        urn: Urn::build("prod", "shop", "", "my:mod:Thing", name),
        type_token: "my:mod:Thing".to_owned(),
        ..Resource::default()
    }
}

/// A snapshot with the root and components of these names.
#[must_use]
pub fn snapshot(names: &[&str]) -> Snapshot {
    let resources = std::iter::once(root()).chain(names.iter().map(|name| resource(name))).collect();
    Snapshot { manifest: Manifest::new("2026-01-01T00:00:00Z", "test"), resources, ..Snapshot::default() }
}

/// The names of a snapshot's resources, without the root, sorted.
#[must_use]
pub fn names(snapshot: &Snapshot) -> Vec<String> {
    let below = snapshot.resources.iter().filter(|resource| resource.type_token != ROOT_STACK_TYPE);
    let mut names: Vec<String> = below.map(|resource| resource.urn.name().to_owned()).collect();
    names.sort();
    names
}

/// An entry that begins the making of a component.
#[must_use]
pub fn begin(sequence: i64, operation: i64, name: &str) -> Entry {
    let pending =
        Operation { resource: resource(name), kind: OperationKind::Creating, ..Operation::default() };
    Entry { operation: Some(pending), ..Entry::new(Kind::Begin, sequence, operation) }
}

/// An entry that ends it well.
#[must_use]
pub fn success(sequence: i64, operation: i64, name: &str) -> Entry {
    Entry { state: Some(resource(name)), ..Entry::new(Kind::Success, sequence, operation) }
}

/// Takes the lease, which must be free.
pub async fn acquire(store: &dyn Store, purpose: &str) -> Box<dyn HeldLease> {
    store.acquire(&stack(), Claim::new(purpose)).await.expect("the lease is free")
}

/// A stack with one committed snapshot.
pub async fn committed(store: &dyn Store, names: &[&str]) -> u64 {
    let lease = acquire(store, "import").await;
    let commit = Commit { title: "import".to_owned(), snapshot: Some(snapshot(names)), ..Commit::default() };
    let revision = lease.commit(commit).await.expect("a commit").revision.expect("a revision");
    lease.release().await.expect("a release");
    revision
}
