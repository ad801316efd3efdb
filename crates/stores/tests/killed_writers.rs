//! A process is killed in the middle of an update, many times: what it was told is durable is in the state (S2, S5).

use drystone_stores::conformance::make::{begin, committed, names, stack, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{At, Claim, Leases, Reads};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const KILLS: u64 = 40;
const FOLDER: &str = "DRYSTONE_WRITER_FOLDER";

/// With checkpoints so often that some kills fall into one.
fn open(folder: &Path) -> LocalStore {
    let options =
        LocalOptions { checkpoint_interval: Some(Duration::from_millis(5)), ..LocalOptions::default() };
    LocalStore::open(folder, options).expect("a store")
}

#[tokio::test]
async fn s05_what_a_killed_process_was_told_is_in_the_state() {
    let mut entries = 0;
    for kill in 0..KILLS {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        committed(&store, &["base"]).await;
        let acknowledged = run_and_kill(folder.path(), 3 + kill * 7);
        entries += acknowledged.len();
        let lease = store.acquire(&stack(), Claim::new("up")).await.expect("the lease is had at once");
        lease.release().await.expect("a release");
        let current = store.snapshot(&stack(), At::Current).await.expect("a snapshot");
        let present = names(&current.snapshot);
        let pending = &current.snapshot.pending_operations;
        for name in &acknowledged {
            let there = match name.strip_prefix("begun ") {
                Some(begun) => {
                    present.iter().any(|name| name == begun)
                        || pending.iter().any(|operation| operation.resource.urn.name() == begun)
                }
                None => present.contains(name),
            };
            assert!(there, "kill {kill}: {name} is lost");
        }
    }
    println!("killed {KILLS} writers: {entries} acknowledged entries, none lost");
    assert!(entries > 0, "no writer got as far as an append");
}

/// Lets a writer append for a while, kills it, and gives what it had been told by then.
fn run_and_kill(folder: &Path, milliseconds: u64) -> Vec<String> {
    let mut writer = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_writer", "--include-ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a writer");
    let output = BufReader::new(writer.stdout.take().expect("piped"));
    let reader = std::thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("told ").map(str::to_owned)).collect::<Vec<_>>()
    });
    std::thread::sleep(Duration::from_millis(milliseconds));
    writer.kill().expect("a kill");
    writer.wait().expect("an end");
    reader.join().expect("what it said")
}

/// The process that is killed; the test above starts it.
#[test]
#[ignore = "a part of the test above, started by it"]
fn a_writer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = open(Path::new(&folder));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let lease = store.acquire(&stack(), Claim::new("up")).await.expect("the lease");
        let mut out = std::io::stdout();
        for operation in 1.. {
            let name = format!("r{operation}");
            lease.append(vec![begin(operation * 2 - 1, operation, &name)]).await.expect("an append");
            writeln!(out, "told begun {name}").expect("a reader");
            lease.append(vec![success(operation * 2, operation, &name)]).await.expect("an append");
            writeln!(out, "told {name}").expect("a reader");
            out.flush().expect("a reader");
        }
    });
}
