//! A machine, a stack on it, and an update to be interrupted.

use drystone_sim::{Fault, SimDisk, SimHost, Survival, World};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::conformance::make::{begin, committed, stack, success};
use drystone_stores::{Claim, Commit, Leases, Result};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A machine with a simulated disk.
pub struct Machine {
    world: Arc<Mutex<World>>,
    checkpoints: bool,
}

impl Machine {
    pub fn new(seed: u64, checkpoints: bool) -> Self {
        Self { world: Arc::new(Mutex::new(World::new(seed))), checkpoints }
    }

    /// The store as a process of this machine opens it.
    pub fn store(&self, process: u64) -> LocalStore {
        let disk = Arc::new(SimDisk::new(Arc::clone(&self.world), process));
        let options = LocalOptions {
            checkpoint_interval: self.checkpoints.then_some(Duration::from_secs(1)),
            ..LocalOptions::default()
        };
        LocalStore::with(disk, Arc::new(SimHost::new(process)), options).expect("a store")
    }

    /// A committed stack with one resource.
    pub async fn prepare(&self) {
        committed(&self.store(0), &["a"]).await;
    }

    pub fn plan(&self, step: u64, fault: Fault, survival: Survival) {
        self.world.lock().unwrap().plan(step, fault, survival);
    }

    pub fn call_off(&self) -> bool {
        self.world.lock().unwrap().call_off()
    }

    pub fn kill(&self, process: u64) {
        self.world.lock().unwrap().kill(process);
    }

    pub fn trace(&self) -> Vec<String> {
        self.world.lock().unwrap().trace().to_vec()
    }
}

/// What an update was told before it was interrupted.
#[derive(Default)]
pub struct Report {
    /// Names of resources whose making was acknowledged; `begun x` for operations that only began.
    pub acknowledged: Vec<String>,
    /// Whether the commit was acknowledged.
    pub committed: bool,
}

/// An update of six resources, one of which never ends, with a commit at the end.
pub async fn update(store: &LocalStore) -> Report {
    let mut report = Report::default();
    // How far it came is in the report; how it ended does not matter.
    let _ = run(store, &mut report).await;
    report
}

async fn run(store: &LocalStore, report: &mut Report) -> Result<()> {
    let lease = store.acquire(&stack(), Claim::new("up")).await?;
    let mut sequence = 0;
    let mut next = || {
        sequence += 1;
        sequence
    };
    for (operation, name) in (1..).zip(["b", "c", "d", "e", "f"]) {
        lease.append(vec![begin(next(), operation, name)]).await?;
        report.acknowledged.push(format!("begun {name}"));
        if name == "d" {
            continue;
        }
        lease.append(vec![success(next(), operation, name)]).await?;
        report.acknowledged.push(name.to_owned());
    }
    let update = Some(drystone_model::Json::parse(r#"{"kind":"update"}"#).expect("valid JSON"));
    lease.commit(Commit { title: "up".to_owned(), update, ..Commit::default() }).await?;
    report.committed = true;
    lease.release().await
}
