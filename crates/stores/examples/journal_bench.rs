//! Durable appends to the journal of a local store, beside raw `fdatasync` of the same bytes on the same disk.
//!
//! For each number of appenders two raw figures are taken: every appender writing and syncing its own records (what a
//! journal without group commit does), and one writer that syncs one record of each appender at a time (the best that
//! any group commit could do). The goal is on the first; the second says what is left. Runs alternate and the medians count, since disks drift.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use drystone_journal::Entry;
use drystone_model::Resource;
use drystone_stores::conformance::make::{begin, stack};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, HeldLease, Leases};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
const TIME: Duration = Duration::from_millis(600);
const GOAL: f64 = 0.8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = tempfile::tempdir_in(place)?;
    let record = serde_json::to_vec(&entry(1, 1))?.len() + 9;
    println!(
        "journal of a local store, records of {record} bytes, medians of {ROUNDS} rounds, appends a second"
    );
    println!(
        "{:>9} {:>10} {:>12} {:>7} {:>12} {:>7}",
        "appenders", "journal", "raw, alone", "ratio", "raw, grouped", "ratio"
    );
    let mut reached = true;
    for appenders in [1, 8, 64] {
        let mut figures = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            let path = folder.path().join(format!("{appenders}-{round}"));
            std::fs::create_dir(&path)?;
            figures[0].push(journal(&path, appenders)?);
            figures[1].push(raw_alone(&path, appenders, record)?);
            figures[2].push(raw_grouped(&path, appenders, record)?);
        }
        let [journal, alone, grouped] = figures.map(median);
        let (over_alone, over_grouped) = (journal / alone, journal / grouped);
        reached &= over_alone >= GOAL;
        println!(
            "{appenders:>9} {journal:>10.0} {alone:>12.0} {over_alone:>7.2} {grouped:>12.0} {over_grouped:>7.2}"
        );
    }
    println!("goal of {GOAL} {}", if reached { "reached" } else { "missed" });
    Ok(())
}

/// A begin entry of a resource of ordinary size.
fn entry(sequence: i64, operation: i64) -> Entry {
    let mut entry = begin(sequence, operation, "resource");
    if let Some(operation) = &mut entry.operation {
        let inputs = format!(r#"{{"text":"{}"}}"#, "x".repeat(600));
        let inputs = serde_json::from_str(&inputs).unwrap_or_default();
        operation.resource = Resource { inputs, ..operation.resource.clone() };
    }
    entry
}

fn journal(folder: &Path, appenders: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let options = LocalOptions { checkpoint_interval: None, ..LocalOptions::default() };
    let store = LocalStore::open(folder.join("state"), options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    runtime.block_on(async {
        let lease: Arc<dyn HeldLease> = Arc::from(store.acquire(&stack(), Claim::new("bench")).await?);
        lease.append(vec![entry(1, 1)]).await?;
        let sequence = Arc::new(std::sync::atomic::AtomicI64::new(2));
        let start = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..appenders {
            let (lease, sequence) = (Arc::clone(&lease), Arc::clone(&sequence));
            tasks.spawn(async move {
                let mut done = 0_u32;
                while start.elapsed() < TIME {
                    let next = sequence.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    lease.append(vec![entry(next, next)]).await?;
                    done += 1;
                }
                Ok::<u32, drystone_stores::Error>(done)
            });
        }
        let mut total = 0.0;
        while let Some(done) = tasks.join_next().await {
            total += f64::from(done??);
        }
        Ok(total / start.elapsed().as_secs_f64())
    })
}

fn open(folder: &Path, name: &str) -> std::io::Result<File> {
    OpenOptions::new().append(true).create(true).open(folder.join(name))
}

fn raw_alone(folder: &Path, appenders: usize, record: usize) -> std::io::Result<f64> {
    let start = Instant::now();
    let counts: Vec<std::io::Result<u32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..appenders)
            .map(|_| {
                scope.spawn(|| {
                    let mut file = open(folder, "alone")?;
                    let bytes = vec![b'x'; record];
                    let mut done = 0;
                    while start.elapsed() < TIME {
                        file.write_all(&bytes)?;
                        file.sync_data()?;
                        done += 1;
                    }
                    Ok(done)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0))).collect()
    });
    let total: u32 = counts.into_iter().sum::<std::io::Result<u32>>()?;
    Ok(f64::from(total) / start.elapsed().as_secs_f64())
}

fn raw_grouped(folder: &Path, appenders: usize, record: usize) -> std::io::Result<f64> {
    let mut file = open(folder, "grouped")?;
    let bytes = vec![b'x'; record * appenders];
    let start = Instant::now();
    let mut syncs = 0_u32;
    while start.elapsed() < TIME {
        file.write_all(&bytes)?;
        file.sync_data()?;
        syncs += 1;
    }
    let appended = f64::from(syncs) * f64::from(u32::try_from(appenders).unwrap_or(0));
    Ok(appended / start.elapsed().as_secs_f64())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
