//! A machine, a stack on it, and an update to be interrupted.

use drystone_secrets::envelope::EnvKey;
use drystone_sim::{Fault, SimDisk, SimHost, Survival, World};
use drystone_stores::conformance::make::{begin, committed, stack, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, Commit, Leases, Result, Sealing};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A machine with a simulated disk.
pub(crate) struct Machine {
    world: Arc<Mutex<World>>,
    checkpoints: bool,
    /// What everything on its disk is sealed with.
    sealing: Option<Sealing>,
}

impl Machine {
    pub(crate) fn new(seed: u64, checkpoints: bool) -> Self {
        Self { world: Arc::new(Mutex::new(World::new(seed))), checkpoints, sealing: None }
    }

    /// The same machine, with everything on its disk sealed.
    pub(crate) fn sealed(self) -> Self {
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let key = EnvKey::new("STATE_KEY", &|_| Some(key.into())).expect("a key");
        Self { sealing: Some(Sealing::with(Arc::new(key))), ..self }
    }

    /// Another machine with what this one has on its disk.
    pub(crate) fn fork(&self, seed: u64) -> Self {
        let mut world = self.world.lock().unwrap().clone();
        world.reseed(seed);
        let (checkpoints, sealing) = (self.checkpoints, self.sealing.clone());
        Self { world: Arc::new(Mutex::new(world)), checkpoints, sealing }
    }

    /// The store as a process of this machine opens it.
    pub(crate) fn store(&self, process: u64) -> Result<LocalStore> {
        self.store_with(process, LocalOptions::default())
    }

    /// The same, with options of its own.
    pub(crate) fn store_with(&self, process: u64, options: LocalOptions) -> Result<LocalStore> {
        let disk = Arc::new(SimDisk::new(Arc::clone(&self.world), process));
        let checkpoint_interval = self.checkpoints.then_some(Duration::from_secs(1));
        let options = LocalOptions { checkpoint_interval, sealing: self.sealing.clone(), ..options };
        LocalStore::with(disk, Arc::new(SimHost::new(process)), options)
    }

    /// A committed stack with one resource.
    pub(crate) async fn prepare(&self) {
        committed(&self.store(0).expect("a store"), &["a"]).await;
    }

    pub(crate) fn plan(&self, step: u64, fault: Fault, survival: Survival) {
        self.world.lock().unwrap().plan(step, fault, survival);
    }

    pub(crate) fn call_off(&self) -> bool {
        self.world.lock().unwrap().call_off()
    }

    pub(crate) fn kill(&self, process: u64) {
        self.world.lock().unwrap().kill(process);
    }

    /// Every operation so far.
    pub(crate) fn trace(&self) -> Vec<String> {
        self.world.lock().unwrap().trace().to_vec()
    }

    /// Every file with its content.
    pub(crate) fn content(&self) -> Vec<(String, Vec<u8>)> {
        self.world.lock().unwrap().content()
    }

    /// The last operations, for messages.
    pub(crate) fn last_steps(&self) -> Vec<String> {
        let trace = self.trace();
        trace[trace.len().saturating_sub(12)..].to_vec()
    }
}

/// What an update was told before it was interrupted.
#[derive(Default)]
pub(crate) struct Report {
    /// Names of resources whose making was acknowledged; `begun x` for operations that only began.
    pub(crate) acknowledged: Vec<String>,
    /// Whether the commit was acknowledged.
    pub(crate) committed: bool,
}

/// An update of six resources, one of which never ends, with a commit at the end.
pub(crate) async fn update(machine: &Machine, process: u64) -> Report {
    let mut report = Report::default();
    // How far it came is in the report; how it ended does not matter.
    let _ = run(machine, process, &mut report).await;
    report
}

async fn run(machine: &Machine, process: u64, report: &mut Report) -> Result<()> {
    let store = machine.store(process)?;
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
