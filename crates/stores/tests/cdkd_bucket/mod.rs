//! A part of a real server's bucket with cdkd's stacks in it.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use drystone_dialects::cdkd::{Resource, StackKey, StackState};
use drystone_model::Json;
use drystone_servers::{BUCKET, Cloud};
use drystone_stores::cdkd::{CdkdOptions, CdkdStore, Error, HeldStack, LockPatience, open_bucket};
use drystone_stores::object::{AccountOptions, S3Account};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Enough for a busy machine, and not so much that a failing test is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const IDS: [&str; 3] = ["A", "B", "C"];

/// The account that a server has.
pub(crate) async fn account(cloud: &'static Cloud) -> S3Account {
    account_at(cloud.port(), keys(cloud)).await
}

/// The key of a server's account, and its secret.
pub(crate) fn keys(cloud: &Cloud) -> [String; 2] {
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| cloud.variable(name).unwrap())
}

/// An account by a port: a server's own, or that of somebody in between.
pub(crate) async fn account_at(port: u16, [key, secret]: [String; 2]) -> S3Account {
    let options = AccountOptions { patience: PATIENCE, ..AccountOptions::default() };
    let variables = move |name: &str| match name {
        "AWS_ENDPOINT_URL" => Some(format!("http://127.0.0.1:{port}")),
        "AWS_REGION" => Some("us-east-1".to_owned()),
        "AWS_ACCESS_KEY_ID" => Some(key.clone()),
        "AWS_SECRET_ACCESS_KEY" => Some(secret.clone()),
        _ => None,
    };
    S3Account::open(options, variables).await.unwrap()
}

/// A prefix that nobody else has.
pub(crate) fn prefix() -> String {
    static HANDED_OUT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), HANDED_OUT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn options(prefix: &str, lock_ttl: Duration) -> CdkdOptions {
    CdkdOptions { lock_ttl, patience: PATIENCE, ..CdkdOptions::under(prefix).unwrap() }
}

/// A store of a prefix, with a client of its own.
pub(crate) async fn client(cloud: &'static Cloud, prefix: &str, lock_ttl: Duration) -> CdkdStore {
    let account = account(cloud).await;
    open_bucket(&account, BUCKET, options(prefix, lock_ttl)).await.unwrap()
}

/// What is in the bucket, past all locks.
pub(crate) struct Objects(std::sync::Arc<dyn ObjectStore>);

impl Objects {
    pub(crate) async fn of(cloud: &'static Cloud) -> Self {
        Self(account(cloud).await.objects(BUCKET).await.unwrap())
    }

    pub(crate) async fn write(&self, path: &str, text: &str) {
        self.0.put(&Path::parse(path).unwrap(), text.to_owned().into()).await.unwrap();
    }

    pub(crate) async fn text(&self, path: &str) -> Option<String> {
        let found = self.0.get(&Path::parse(path).unwrap()).await.ok()?;
        Some(String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap())
    }
}

pub(crate) fn key() -> StackKey {
    StackKey::parse("Shop", "us-east-1").unwrap()
}

pub(crate) async fn acquire(store: &CdkdStore, patience: LockPatience) -> Result<HeldStack, Error> {
    store.acquire(&key(), "deploy", patience).await
}

pub(crate) fn resource(id: &str) -> Resource {
    Resource {
        physical_id: format!("physical-{id}"),
        resource_type: "AWS::SQS::Queue".to_owned(),
        properties: Some(Json::parse("{}").unwrap()),
        ..Resource::default()
    }
}

pub(crate) fn ids(state: &StackState) -> Vec<&str> {
    state.resources.iter().map(|(id, _)| id).collect()
}

/// A deployment; what it was told is recorded is handed on at once.
pub(crate) async fn deploy(
    store: &CdkdStore,
    patience: LockPatience,
    mut told: impl FnMut(&'static str),
) -> Result<(), Error> {
    let held = acquire(store, patience).await?;
    held.begin().await?;
    for id in IDS {
        held.save_resource(id, resource(id)).await?;
        told(id);
    }
    held.record(|state| drop(state.outputs.insert("Url", Json::parse("\"https://shop\"").unwrap()))).await?;
    held.update_exports().await;
    held.release().await?;
    Ok(())
}
