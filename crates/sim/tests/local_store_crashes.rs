//! A crash or a failure at every single I/O step of what the local store does, one run a step.
//!
//! After each: the next lease is had at once, every acknowledged entry is in the state, and the snapshot is sound.

mod scenario;

use drystone_model::{Severity, verify};
use drystone_sim::{Fault, Survival};
use drystone_stores::conformance::make::{names, stack};
use drystone_stores::{At, Claim, Leases, Reads, Recovery, Relocation, StackId};
use scenario::{Machine, update};

const SURVIVALS: [Survival; 3] = [Survival::Nothing, Survival::Everything, Survival::Some];

/// Runs the update with one fault; gives `false` when it ran to its end before the fault came.
async fn update_with(seed: u64, step: u64, fault: Fault, survival: Survival, checkpoints: bool) -> bool {
    let machine = Machine::new(seed, checkpoints);
    machine.prepare().await;
    machine.plan(step, fault, survival);
    let report = update(&machine, 1).await;
    let happened = machine.call_off();
    let place = format!("seed {seed}, step {step}, {fault:?}, {survival:?}: {:?}", machine.trace());
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
    let mut runs = 0;
    for survival in SURVIVALS {
        for step in 1.. {
            runs += 1;
            if !update_with(step * 31 + 7, step, fault, survival, checkpoints).await {
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
async fn s05_a_crash_at_every_step_of_a_recovery_loses_nothing() {
    let mut runs = 0;
    for first in (1..400).step_by(3) {
        for second in 1.. {
            runs += 1;
            let machine = Machine::new(first * 1000 + second, first % 2 == 0);
            machine.prepare().await;
            machine.plan(first, Fault::Crash, SURVIVALS[(first % 3) as usize]);
            let report = update(&machine, 1).await;
            machine.call_off();
            machine.kill(1);
            machine.plan(second, Fault::Crash, SURVIVALS[(second % 3) as usize]);
            let _ =
                async { machine.store(2)?.acquire(&stack(), Claim::new("up")).await?.release().await }.await;
            let happened = machine.call_off();
            let place = format!("steps {first} and {second}: {:?}", machine.trace());
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
async fn a_crash_at_every_step_of_a_move_leaves_the_stack_in_one_place() {
    let target = StackId::new("shop", "live").unwrap();
    let mut runs = 0;
    for to_trash in [false, true] {
        for survival in SURVIVALS {
            for step in 1.. {
                runs += 1;
                let machine = Machine::new(step * 17 + 3, false);
                machine.prepare().await;
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
                let place = format!("{to_trash}, {survival:?}, step {step}: {:?}", machine.trace());
                machine.kill(1);
                one_place(&machine, &target, to_trash, &place).await;
                if !happened {
                    break;
                }
            }
        }
    }
    println!("crashed at every I/O step of moves: {runs} runs");
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
        assert!(!store.revisions(&summary.stack).await.unwrap().is_empty(), "({place})");
    }
}
