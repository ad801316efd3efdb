//! One resource deleted from a stack of 30,000: the time of each part, and the memory at its highest.
//!
//! The first round finds a checkpoint that another tool wrote; the second continues its own.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use drystone_model::Resource;
use drystone_stores::conformance::make::{resource, snapshot, stack};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{At, Claim, Commit, Leases, Reads};
use std::path::Path;
use std::time::Instant;

const RESOURCES: usize = 30_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    match &arguments[..] {
        [action, folder] if action == "make" => runtime.block_on(make(Path::new(folder))),
        [action, folder] if action == "delete" => runtime.block_on(delete(Path::new(folder))),
        _ => Err("usage: big_stack make|delete FOLDER".into()),
    }
}

/// Writes the stack, and leaves nothing but its checkpoint.
async fn make(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = LocalStore::open(folder, LocalOptions::default())?;
    let mut whole = snapshot(&[]);
    for number in 0..RESOURCES {
        let name = format!("resource-{number:06}");
        let texts: Vec<String> = (0..12)
            .map(|text| format!(r#""property{text}":"{name}-{:0>80}""#, number * 7919 + text))
            .collect();
        let properties = format!("{{{}}}", texts.join(","));
        let properties: drystone_model::Json = serde_json::from_str(&properties)?;
        whole.resources.push(Resource {
            inputs: properties.decode()?,
            outputs: properties.decode()?,
            ..resource(&name)
        });
    }
    let lease = store.acquire(&stack(), Claim::new("make")).await?;
    lease.commit(Commit { snapshot: Some(whole), ..Commit::default() }).await?;
    lease.release().await?;
    std::fs::remove_dir_all(folder.join(".pulumi/drystone"))?;
    Ok(())
}

async fn delete(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let options = LocalOptions { backups: false, ..LocalOptions::default() };
    let store = LocalStore::open(folder, options)?;
    let size = std::fs::metadata(folder.join(".pulumi/stacks/shop/prod.json"))?.len();
    for round in ["written by another tool", "written by this one"] {
        let start = Instant::now();
        let lease = store.acquire(&stack(), Claim::new("state delete")).await?;
        let acquired = start.elapsed();
        let mut snapshot = store.snapshot(&stack(), At::Current).await?.snapshot;
        let read = start.elapsed();
        snapshot.resources.pop();
        lease.commit(Commit { snapshot: Some(snapshot), ..Commit::default() }).await?;
        let committed = start.elapsed();
        lease.release().await?;
        println!(
            "{round}: {} MB, acquire {acquired:.2?}, read {:.2?}, commit {:.2?}, in all {:.2?}",
            size / 1_000_000,
            read - acquired,
            committed - read,
            start.elapsed()
        );
    }
    let start = Instant::now();
    store.stacks(None).await?;
    println!("listed in {:.2?}", start.elapsed());
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        println!("memory at its highest: {}", peak.trim());
    }
    Ok(())
}
