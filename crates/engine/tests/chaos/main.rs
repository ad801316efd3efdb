//! Random stacks, programs, faults and crash points, each from a seed.
//!
//! `DRYSTONE_SEED=123 cargo test -p drystone-engine --test chaos` runs one seed and tells its story;
//! `DRYSTONE_CHAOS_SEEDS=100000` runs that many.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod check;
mod figures;
mod forgotten;
mod invent;
mod journal;
mod program;
mod provider;
mod scenario;
mod stack;
mod world;

use figures::Figures;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Seeds of a normal test run.
const SEEDS: u64 = 2000;
/// Failures that are shown before the run gives up.
const MOST_FAILURES: usize = 5;

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Whether the story of a seed is told.
pub(crate) fn is_verbose() -> bool {
    static VERBOSE: OnceLock<bool> = OnceLock::new();
    *VERBOSE.get_or_init(|| std::env::var_os("DRYSTONE_SEED").is_some())
}

#[test]
fn nothing_is_forgotten_and_everything_converges_whatever_happens() {
    let started = std::time::Instant::now();
    let seeds = match number_from("DRYSTONE_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number_from("DRYSTONE_CHAOS_FIRST").unwrap_or(0);
            first..first + number_from("DRYSTONE_CHAOS_SEEDS").unwrap_or(SEEDS)
        }
    };
    let next = AtomicU64::new(seeds.start);
    let total = Mutex::new(Figures::default());
    let failures: Mutex<Vec<(u64, String)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= seeds.end || failures.lock().unwrap().len() >= MOST_FAILURES {
                        return;
                    }
                    let (figures, outcome) = scenario::run(seed);
                    total.lock().unwrap().add(&figures);
                    if let Err(wrong) = outcome {
                        failures.lock().unwrap().push((seed, wrong));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    println!("chaos: {} in {:.1} s", total.into_inner().unwrap(), started.elapsed().as_secs_f64());
    for (seed, wrong) in &failures {
        println!(
            "\n{wrong}\n  DRYSTONE_SEED={seed} cargo test -p drystone-engine --test chaos -- --nocapture"
        );
    }
    assert!(
        failures.is_empty(),
        "seeds went wrong: {:?}",
        failures.iter().map(|(seed, _)| seed).collect::<Vec<_>>()
    );
}
