//! A crash or a failure at every single I/O step of what the local store does, one run a step.
//!
//! After each: the next lease is had at once, every acknowledged entry is in the state, and the snapshot is sound.

#![allow(clippy::unwrap_used)]

mod scenario;

use drystone_model::{Severity, verify};
use drystone_sim::{Fault, Survival};
use drystone_stores::conformance::make::{names, snapshot, stack};
use drystone_stores::local::LocalOptions;
use drystone_stores::{
    At, Claim, Commit, Error, Leases, Reads, Recovery, Relocation, Result, StackId, Upgrade,
};
use scenario::{Machine, update};

const SURVIVALS: [Survival; 3] = [Survival::Nothing, Survival::Everything, Survival::Some];

/// Runs the update with one fault; gives `false` when it ran to its end before the fault came.
async fn update_with(prepared: &Machine, step: u64, fault: Fault, survival: Survival) -> bool {
    let seed = step * 31 + 7;
    let machine = prepared.fork(seed);
    machine.plan(step, fault, survival);
    let report = update(&machine, 1).await;
    let happened = machine.call_off();
    let place = format!("seed {seed}, step {step}, {fault:?}, {survival:?}: {:?}", machine.last_steps());
    machine.kill(1);
    check(&machine, 2, &report.acknowledged, report.committed, &place).await;
    happened
}

/// What must hold whatever happened before.
async fn check(machine: &Machine, process: u64, acknowledged: &[String], committed: bool, place: &str) {
    let store = machine.store(process).expect("a store");
    let lease = match store.acquire(&stack(), Claim::new("up")).await {
        Ok(lease) => lease,
        Err(error) => panic!("the next lease is not had: {error} ({place})"),
    };
    assert!(!matches!(lease.recovery(), Recovery::Orphaned { .. }), "orphaned ({place})");
    lease.release().await.unwrap_or_else(|error| panic!("{error} ({place})"));
    let current =
        store.snapshot(&stack(), At::Current).await.unwrap_or_else(|error| panic!("{error} ({place})"));
    let broken: Vec<_> =
        verify(&current.snapshot).into_iter().filter(|it| it.severity() == Severity::Error).collect();
    assert!(broken.is_empty(), "{broken:?} ({place})");
    let present = names(&current.snapshot);
    let pending: Vec<&str> =
        current.snapshot.pending_operations.iter().map(|operation| operation.resource.urn.name()).collect();
    for name in acknowledged {
        match name.strip_prefix("begun ") {
            Some(begun) => assert!(
                present.iter().any(|name| name == begun) || pending.contains(&begun),
                "operation on {begun} is forgotten ({place})"
            ),
            None => assert!(present.contains(name), "{name} is lost ({place})"),
        }
    }
    assert!(!committed || pending.len() == 1, "the commit is lost: {pending:?} ({place})");
    assert!(current.revision.is_some(), "the current snapshot has no revision ({place})");
    for info in store.revisions(&stack()).await.unwrap() {
        let number = u64::try_from(info.number).unwrap();
        let read = store.snapshot(&stack(), At::Revision(number)).await;
        assert!(read.is_ok(), "revision {number} is not readable ({place})");
    }
}

async fn every_step(fault: Fault, checkpoints: bool) -> u64 {
    every_step_on(Machine::new(0, checkpoints), fault).await
}

async fn every_step_on(prepared: Machine, fault: Fault) -> u64 {
    let mut runs = 0;
    prepared.prepare().await;
    for survival in SURVIVALS {
        for step in 1.. {
            runs += 1;
            if !update_with(&prepared, step, fault, survival).await {
                assert!(step > 40, "the update has more steps than {step}");
                break;
            }
        }
    }
    runs
}

#[tokio::test]
async fn s05_a_crash_at_every_step_of_an_update_loses_nothing() {
    let runs = every_step(Fault::Crash, false).await;
    println!("crashed at every I/O step of an update: {runs} runs");
}

#[tokio::test]
async fn s05_a_crash_at_every_step_of_an_update_with_checkpoints_loses_nothing() {
    let runs = every_step(Fault::Crash, true).await;
    println!("crashed at every I/O step of an update with background checkpoints: {runs} runs");
}

#[tokio::test]
async fn s02_a_failure_at_every_step_of_an_update_loses_nothing() {
    let runs = every_step(Fault::Fail, true).await;
    println!("failed at every I/O step of an update: {runs} runs");
}

#[tokio::test]
async fn s19_a_crash_at_every_step_of_a_sealed_update_loses_nothing_and_leaves_nothing_in_clear() {
    let machine = Machine::new(0, true).sealed();
    let (mut runs, looked) = (0, machine.fork(1));
    for fault in [Fault::Crash, Fault::Fail] {
        runs += every_step_on(machine.fork(0), fault).await;
    }
    looked.prepare().await;
    looked.plan(60, Fault::Crash, Survival::Everything);
    update(&looked, 1).await;
    assert!(looked.call_off());
    let content = looked.content();
    assert!(content.len() > 4);
    for (path, content) in content {
        assert!(!String::from_utf8_lossy(&content).contains("urn:pulumi"), "{path} is clear");
    }
    println!("crashed and failed at every I/O step of a sealed update: {runs} runs");
}

#[tokio::test]
async fn s05_a_crash_at_every_step_of_a_recovery_loses_nothing() {
    let mut runs = 0;
    for first in (1..).step_by(3) {
        let crashed = Machine::new(first, first % 2 == 0);
        crashed.prepare().await;
        crashed.plan(first, Fault::Crash, SURVIVALS[(first % 3) as usize]);
        let report = update(&crashed, 1).await;
        if !crashed.call_off() && first > 100 {
            break;
        }
        crashed.kill(1);
        for second in 1.. {
            runs += 1;
            let machine = crashed.fork(first * 1000 + second);
            machine.plan(second, Fault::Crash, SURVIVALS[(second % 3) as usize]);
            let _ =
                async { machine.store(2)?.acquire(&stack(), Claim::new("up")).await?.release().await }.await;
            let happened = machine.call_off();
            let place = format!("steps {first} and {second}: {:?}", machine.last_steps());
            machine.kill(2);
            check(&machine, 3, &report.acknowledged, report.committed, &place).await;
            if !happened {
                break;
            }
        }
    }
    println!("crashed at every I/O step of recoveries: {runs} runs");
}

#[tokio::test]
async fn s12_a_crash_at_every_step_of_a_cancel_leaves_the_stack_free() {
    let dead = Machine::new(5, false);
    dead.prepare().await;
    dead.plan(70, Fault::Crash, Survival::Everything);
    let report = update(&dead, 1).await;
    assert!(dead.call_off() && !report.acknowledged.is_empty(), "the update is to die half way");
    dead.kill(1);
    let mut runs = 0;
    for survival in SURVIVALS {
        for step in 1.. {
            runs += 1;
            let machine = dead.fork(step * 13 + 1);
            machine.plan(step, Fault::Crash, survival);
            let _ = async { machine.store(2)?.break_lease(&stack(), Claim::new("cancel")).await }.await;
            let happened = machine.call_off();
            let place = format!("{survival:?}, step {step}: {:?}", machine.last_steps());
            machine.kill(2);
            check(&machine, 3, &report.acknowledged, report.committed, &place).await;
            if !happened {
                break;
            }
        }
    }
    println!("crashed at every I/O step of a cancel: {runs} runs");
}

#[tokio::test]
async fn a_crash_at_every_step_of_a_move_leaves_the_stack_in_one_place() {
    let runs = every_step_of_a_move(Machine::new(0, false)).await;
    println!("crashed at every I/O step of moves: {runs} runs");
}

/// On the way to another name everything is sealed anew.
#[tokio::test]
async fn s19_a_crash_at_every_step_of_a_sealed_move_leaves_the_stack_in_one_place() {
    let runs = every_step_of_a_move(Machine::new(0, false).sealed()).await;
    println!("crashed at every I/O step of sealed moves: {runs} runs");
}

/// Gives how many runs it took.
async fn every_step_of_a_move(prepared: Machine) -> u64 {
    let target = StackId::new("shop", "live").unwrap();
    prepared.prepare().await;
    let mut runs: u64 = 0;
    for to_trash in [false, true] {
        for survival in SURVIVALS {
            for step in 1.. {
                runs += 1;
                let machine = prepared.fork(step * 17 + 3);
                machine.plan(step, Fault::Crash, survival);
                let _ = async {
                    let store = machine.store(1)?;
                    let lease = store.acquire(&stack(), Claim::new("stack rename")).await?;
                    let snapshot = Some(Box::new(store.snapshot(&stack(), At::Current).await?.snapshot));
                    let to = if to_trash {
                        Relocation::Trash { note: None }
                    } else {
                        Relocation::To { stack: target.clone(), snapshot }
                    };
                    lease.relocate(to).await?;
                    lease.release().await
                }
                .await;
                let happened = machine.call_off();
                let place = format!("{to_trash}, {survival:?}, step {step}: {:?}", machine.last_steps());
                machine.kill(1);
                one_place(&machine, &target, to_trash, &place).await;
                if !happened {
                    break;
                }
            }
        }
    }
    runs
}

/// After the next holders have been there, the stack is under one name with everything it had.
async fn one_place(machine: &Machine, target: &StackId, to_trash: bool, place: &str) {
    let store = machine.store(2).expect("a store");
    for name in [&stack(), target] {
        let lease =
            store.acquire(name, Claim::new("up")).await.unwrap_or_else(|error| panic!("{error} ({place})"));
        lease.release().await.unwrap_or_else(|error| panic!("{error} ({place})"));
    }
    let listed = store.stacks(None).await.unwrap_or_else(|error| panic!("{error} ({place})"));
    let complete = listed.iter().filter(|it| it.trashed.is_none()).collect::<Vec<_>>();
    let trashed = listed.iter().filter(|it| it.trashed.is_some() && it.resources.is_some()).count();
    if to_trash {
        assert_eq!(complete.len() + trashed, 1, "{listed:?} ({place})");
    } else {
        assert_eq!(complete.len(), 1, "{listed:?} ({place})");
    }
    for summary in complete {
        let read =
            store.snapshot(&summary.stack, At::Current).await.unwrap_or_else(|e| panic!("{e} ({place})"));
        assert_eq!(names(&read.snapshot), ["a"], "({place})");
        assert!(read.revision.is_some(), "no revision ({place})");
        let revisions = store.revisions(&summary.stack).await.unwrap();
        assert!(!revisions.is_empty(), "({place})");
        for info in revisions {
            let revision = At::Revision(u64::try_from(info.number).unwrap());
            let read = store.snapshot(&summary.stack, revision).await;
            assert!(read.is_ok(), "revision {} is not readable ({place})", info.number);
        }
    }
}

/// An upgrade that a crash cut short is finished by the next one.
#[tokio::test]
async fn a_crash_at_every_step_of_an_upgrade_loses_no_stack() {
    let legacy = LocalOptions { legacy_layout: true, ..LocalOptions::default() };
    let prepared = Machine::new(0, false);
    let store = prepared.store_with(0, legacy).expect("a store");
    for name in ["dev", "prod"] {
        let lease = store.acquire(&StackId::legacy(name).unwrap(), Claim::new("import")).await.unwrap();
        lease.commit(Commit { snapshot: Some(snapshot(&["a"])), ..Commit::default() }).await.unwrap();
        lease.release().await.unwrap();
    }
    let mut runs = 0;
    for survival in SURVIVALS {
        for step in 1.. {
            runs += 1;
            let machine = prepared.fork(step * 13 + 1);
            machine.plan(step, Fault::Crash, survival);
            let _ = upgrade(&machine, 1).await;
            let happened = machine.call_off();
            let place = format!("{survival:?}, step {step}: {:?}", machine.last_steps());
            machine.kill(1);
            upgrade(&machine, 2).await.unwrap_or_else(|error| panic!("{error} ({place})"));
            let store = machine.store(3).expect("a store");
            assert!(store.legacy().await.unwrap().is_empty(), "({place})");
            let listed = store.stacks(None).await.unwrap();
            let stacks: Vec<String> = listed.iter().map(|summary| summary.stack.qualified()).collect();
            assert_eq!(stacks, ["organization/shop/dev", "organization/shop/prod"], "({place})");
            for summary in listed {
                let lease = store.acquire(&summary.stack, Claim::new("up")).await.unwrap();
                lease.release().await.unwrap();
                let read = store.snapshot(&summary.stack, At::Current).await.unwrap();
                assert_eq!(names(&read.snapshot), ["a"], "({place})");
                assert!(read.revision.is_some(), "no revision ({place})");
            }
            if !happened {
                break;
            }
        }
    }
    println!("crashed at every I/O step of an upgrade: {runs} runs");
}

async fn upgrade(machine: &Machine, process: u64) -> Result<()> {
    let store = machine.store(process)?;
    let found = store.legacy().await?;
    let upgraded = store.upgrade(found).await?;
    match upgraded.skipped.first() {
        Some((stack, reason)) => Err(Error::Poisoned { reason: format!("{stack}: {reason}") }),
        None => Ok(()),
    }
}

/// The same seed and the same plan give the same run, step by step.
#[tokio::test]
async fn a_seed_gives_one_run() {
    let run = async |seed| {
        let machine = Machine::new(seed, true);
        machine.prepare().await;
        machine.plan(60, Fault::Crash, Survival::Some);
        update(&machine, 1).await;
        machine.kill(1);
        check(&machine, 2, &[], false, "").await;
        (machine.trace(), machine.content())
    };
    let first = run(5).await;
    assert!(first == run(5).await, "one seed gave two runs");
    let mut different = 0;
    for seed in 6..20 {
        different += u32::from(run(seed).await != first);
    }
    assert!(different > 0, "the seed decides nothing");
}
