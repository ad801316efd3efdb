//! The stock CLI and ours take turns on the stacks of one database (S14, S20).

#![allow(clippy::unwrap_used)]

mod database;

use database::{Server, let_leases_expire};
use drystone_stores::conformance::make::{begin, success};
use drystone_stores::postgres::{DiyOptions, PostgresOptions, PostgresStore};
use drystone_stores::{At, Claim, Commit, Error, Leases, Reads, Recovery, StackId};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// A project and the stock CLI, logged in to a table of its own.
struct Stock {
    folder: tempfile::TempDir,
    url: String,
}

impl Stock {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stock = Self { folder, url: Server::shared().url() };
        std::fs::create_dir_all(stock.path().join("home/bin")).unwrap();
        let host = std::env::var_os("DRYSTONE_PEER_YAML").expect("DRYSTONE_PEER_YAML is not set");
        symlink(host, stock.path().join("home/bin/pulumi-language-yaml")).unwrap();
        stock.program("one");
        stock
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program's only output.
    fn program(&self, output: &str) {
        let text = format!("name: shop\nruntime: yaml\noutputs:\n  said: {output}\n");
        std::fs::write(self.path().join("Pulumi.yaml"), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let pulumi = std::env::var_os("DRYSTONE_PEER_PULUMI").expect("DRYSTONE_PEER_PULUMI is not set");
        let home = self.path().join("home");
        let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());
        Command::new(pulumi)
            .args(arguments)
            .args(["--non-interactive"])
            .current_dir(self.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", &home)
            .env("PULUMI_HOME", home.join(".pulumi"))
            .env("PULUMI_BACKEND_URL", &self.url)
            .env("PULUMI_CONFIG_PASSPHRASE", "correct horse")
            .env("PULUMI_SKIP_UPDATE_CHECK", "true")
            .env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true")
            .output()
            .unwrap()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert!(ended.status.success(), "{arguments:?}: {}{}", text(&ended.stdout), text(&ended.stderr));
        text(&ended.stdout)
    }

    async fn ours(&self) -> PostgresStore {
        let diy = DiyOptions { checkpoint_interval: None, ..DiyOptions::default() };
        PostgresStore::open(&self.url, PostgresOptions { diy, ..PostgresOptions::default() }).await.unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn dev() -> StackId {
    StackId::new("shop", "dev").unwrap()
}

/// The names of what is in the state, sorted.
async fn there(store: &PostgresStore) -> Vec<String> {
    let snapshot = store.snapshot(&dev(), At::Current).await.unwrap().snapshot;
    let mut names: Vec<String> =
        snapshot.resources.iter().map(|resource| resource.urn.name().to_owned()).collect();
    names.sort();
    names
}

/// Entries whose resource belongs to the stack of these tests.
fn making(name: &str) -> Vec<drystone_journal::Entry> {
    let mut entries = vec![begin(1, 1, name), success(2, 1, name)];
    for entry in &mut entries {
        let states = entry.state.iter_mut().chain(entry.operation.iter_mut().map(|it| &mut it.resource));
        for resource in states {
            resource.urn = resource.urn.moved("dev", "shop");
        }
    }
    entries
}

#[tokio::test]
#[ignore = "needs PostgreSQL and the stock Pulumi CLI: run by cargo xtask test"]
async fn s14_the_stock_cli_and_ours_take_turns() {
    let stock = Stock::new();
    stock.ok(&["stack", "init", "dev"]);
    stock.ok(&["up", "--yes", "--skip-preview"]);
    let store = stock.ours().await;
    let listed = store.stacks(None).await.unwrap();
    assert_eq!((listed.len(), listed[0].resources), (1, Some(1)));
    assert_eq!(store.updates(&dev()).await.unwrap().len(), 1);

    let lease = store.acquire(&dev(), Claim::new("up")).await.unwrap();
    let refused = stock.run(&["up", "--yes", "--skip-preview"]);
    let said = text(&refused.stdout) + &text(&refused.stderr);
    assert!(!refused.status.success() && said.contains("currently locked by 1 lock"), "{said}");
    lease.append(making("ours")).await.unwrap();
    let tags = Some([("team".to_owned(), "blue".to_owned())].into());
    let done = lease.commit(Commit { title: "up".to_owned(), tags, ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(done.previous, Some(1), "what the stock CLI wrote is a revision");
    assert!(stock.ok(&["stack", "export"]).contains("my:mod:Thing::ours"));
    assert_eq!(stock.ok(&["stack", "tag", "get", "team"]).trim(), "blue");

    // A component that the program does not name goes again.
    stock.program("two");
    stock.ok(&["up", "--yes", "--skip-preview"]);
    assert_eq!(there(&store).await, ["shop-dev"]);
    assert_eq!(stock.ok(&["stack", "output", "said"]).trim(), "two");
    let lease = store.acquire(&dev(), Claim::new("up")).await.unwrap();
    lease.append(making("again")).await.unwrap();
    lease.release().await.unwrap();
    assert_eq!(there(&store).await, ["again", "shop-dev"]);
    let titles: Vec<String> =
        store.revisions(&dev()).await.unwrap().into_iter().map(|info| info.title).collect();
    assert_eq!(titles.len(), 4, "{titles:?}");
    stock.ok(&["stack", "rm", "--yes", "--force"]);
    assert!(matches!(store.snapshot(&dev(), At::Current).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
#[ignore = "needs PostgreSQL and the stock Pulumi CLI: run by cargo xtask test"]
async fn s20_a_stock_cancel_and_up_after_our_crash_leave_our_journal_to_be_looked_at() {
    let stock = Stock::new();
    stock.ok(&["stack", "init", "dev"]);
    stock.ok(&["up", "--yes", "--skip-preview"]);
    let store = stock.ours().await;
    let lease = store.acquire(&dev(), Claim::new("up")).await.unwrap();
    lease.append(making("lost")).await.unwrap();
    drop(lease);
    stock.ok(&["cancel", "--yes"]);
    stock.program("two");
    stock.ok(&["up", "--yes", "--skip-preview"]);
    let_leases_expire(Server::shared(), &stock.url);
    let next = store.acquire(&dev(), Claim::new("up")).await.unwrap();
    assert!(matches!(next.recovery(), Recovery::Orphaned { entries: 2, .. }), "{:?}", next.recovery());
    next.release().await.unwrap();
    assert_eq!(there(&store).await, ["shop-dev"], "what the stock CLI made is current");
    let orphans = store.describe(&dev()).await.unwrap().orphans;
    let known = &orphans[0].snapshot.resources;
    assert!(known.iter().any(|resource| resource.urn.name() == "lost"), "{known:?}");
}
