//! A crash or a failure at every single I/O step of a write to unobin's tree, one run a step.
//!
//! After each: there is a current snapshot, it is the old one or the new one, what was acknowledged is there, and every
//! revision that is listed opens.

#![allow(clippy::unwrap_used)]

use drystone_dialects::unobin::{Factory, Snapshot, Time};
use drystone_secrets::envelope::EnvKey;
use drystone_sim::{Fault, SimDisk, SimHost, Survival, World};
use drystone_stores::unobin::{Result, Root, Tree};
use std::sync::{Arc, Mutex};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn tree(world: &Arc<Mutex<World>>, process: u64) -> Tree {
    let disk = Arc::new(SimDisk::new(Arc::clone(world), process));
    let key = EnvKey::new("KEY", &|_| Some(KEY.into())).unwrap();
    let root = Root::folder(disk, Arc::new(SimHost::new(process)));
    root.tree("demo", "dev", Arc::new(key)).unwrap().bound()
}

fn snapshot(version: &str) -> Snapshot {
    let factory = Factory { name: "demo".to_owned(), version: version.to_owned(), ..Factory::default() };
    Snapshot::new(factory, "dev", Time::default())
}

/// What a writer was told.
#[derive(Default)]
struct Report {
    written: Option<String>,
    made_current: bool,
}

async fn write(tree: &Tree, report: &mut Report) -> Result<()> {
    let held = tree.try_lock().await?;
    let revision = tree.write(&snapshot("new")).await?;
    report.written = Some(revision.clone());
    tree.set_current(&revision).await?;
    report.made_current = true;
    match held {
        Some(held) => held.unlock().await,
        None => Ok(()),
    }
}

/// Writes with one fault; gives `false` when the write ran to its end before the fault came.
async fn write_with(prepared: &World, step: u64, fault: Fault, survival: Survival) -> bool {
    let mut world = prepared.clone();
    world.reseed(step * 31 + 7);
    world.plan(step, fault, survival);
    let world = Arc::new(Mutex::new(world));
    let mut report = Report::default();
    // How far it came is in the report; how it ended does not matter.
    let _ = write(&tree(&world, 1), &mut report).await;
    let happened = world.lock().unwrap().call_off();
    let place = format!("step {step}, {fault:?}, {survival:?}: {:?}", world.lock().unwrap().trace());

    let next = tree(&world, 2);
    let current = next.current().await.unwrap_or_else(|error| panic!("{error} ({place})"));
    let version = current.factory.version.as_str();
    assert!(matches!(version, "old" | "new"), "{version} ({place})");
    assert!(!report.made_current || version == "new", "what was acknowledged is lost ({place})");
    let listed = next.list().await.unwrap();
    for revision in &listed {
        next.get(revision.as_str()).await.unwrap_or_else(|error| panic!("{error} ({place})"));
    }
    if let Some(written) = &report.written {
        assert!(listed.iter().any(|revision| revision.as_str() == written), "{written} is lost ({place})");
    }
    next.force_unlock().await.unwrap();
    let revision = next.write(&snapshot("next")).await.unwrap();
    assert_eq!(next.list().await.unwrap().last().unwrap().as_str(), revision, "{place}");
    happened
}

#[tokio::test]
async fn s02_a_crash_or_a_failure_at_any_step_of_a_write_loses_nothing_that_was_acknowledged() {
    let world = Arc::new(Mutex::new(World::new(0)));
    let first = tree(&world, 0);
    let revision = first.write(&snapshot("old")).await.unwrap();
    first.set_current(&revision).await.unwrap();
    let prepared = world.lock().unwrap().clone();
    for fault in [Fault::Crash, Fault::Fail] {
        for survival in [Survival::Nothing, Survival::Everything, Survival::Some] {
            let mut last = 1;
            while write_with(&prepared, last, fault, survival).await {
                last += 1;
            }
            assert!(last > 10, "a write has more steps than {last}");
        }
    }
}
