//! A process that holds a lease is suspended past its time, and comes back after another has taken over (S4, S12).

#![allow(clippy::unwrap_used)]

mod database;

use database::Server;
use drystone_stores::conformance::make::{begin, committed, names, stack, success};
use drystone_stores::postgres::{DiyOptions, PostgresOptions, PostgresStore};
use drystone_stores::{At, Claim, Error, Leases, Reads, Recovery};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

const URL: &str = "DRYSTONE_WRITER_URL";
const ROUNDS: u64 = 5;

fn options() -> PostgresOptions {
    let diy = DiyOptions { checkpoint_interval: Some(Duration::from_millis(5)), ..DiyOptions::default() };
    PostgresOptions { diy, lease_ttl: Duration::from_secs(2), patience: Duration::from_secs(10) }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn s04_a_writer_that_was_suspended_past_its_time_begins_nothing_more() {
    let mut told = 0;
    for round in 0..ROUNDS {
        let url = Server::shared().url();
        let store = PostgresStore::open(&url, options()).await.unwrap();
        committed(&store, &["base"]).await;
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_writer", "--include-ignored", "--nocapture"])
            .env(URL, &url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut acknowledged = Vec::new();
        while acknowledged.len() < usize::try_from(3 + round * 5).unwrap() {
            let line = lines.next().unwrap().unwrap();
            acknowledged.extend(line.strip_prefix("told ").map(str::to_owned));
        }
        signal(&writer, "-STOP");
        // It lives by the clock of the server only; nobody moves that here.
        let lease = loop {
            match store.acquire(&stack(), Claim::new("up")).await {
                Ok(lease) => break lease,
                Err(Error::Held { .. }) => {
                    store.wait_for_release(&stack(), Duration::from_millis(200)).await.unwrap();
                }
                Err(other) => panic!("{other}"),
            }
        };
        assert!(matches!(lease.recovery(), Recovery::Replayed { .. }), "{:?}", lease.recovery());
        let taken = store.snapshot(&stack(), At::Current).await.unwrap();
        signal(&writer, "-CONT");
        let mut ending = String::new();
        for line in lines {
            let line = line.unwrap();
            // What it had been told, but had not yet said.
            acknowledged.extend(line.strip_prefix("told ").map(str::to_owned));
            if line.starts_with("ended ") {
                ending = line;
            }
        }
        assert!(ending.contains("was taken over by"), "{ending:?}");
        writer.wait().unwrap();
        lease.release().await.unwrap();
        let now = store.snapshot(&stack(), At::Current).await.unwrap();
        assert_eq!(now.hash, taken.hash, "it made something visible");
        let present = names(&now.snapshot);
        let pending: Vec<&str> =
            now.snapshot.pending_operations.iter().map(|operation| operation.resource.urn.name()).collect();
        for name in &acknowledged {
            let there = match name.strip_prefix("begun ") {
                Some(begun) => present.iter().any(|name| name == begun) || pending.contains(&begun),
                None => present.contains(name),
            };
            assert!(there, "round {round}: {name} is lost");
        }
        told += acknowledged.len();
    }
    println!("suspended {ROUNDS} writers: {told} acknowledged entries, 0 lost, none began anything after");
}

fn signal(process: &std::process::Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The process that is suspended; the test above starts it.
#[test]
#[ignore = "a part of the test above, started by it"]
fn a_writer() {
    let Ok(url) = std::env::var(URL) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = PostgresStore::open(&url, options()).await.unwrap();
        let lease = store.acquire(&stack(), Claim::new("up")).await.unwrap();
        let mut out = std::io::stdout();
        writeln!(out).unwrap();
        for operation in 1.. {
            let name = format!("r{operation}");
            let begun = lease.append(vec![begin(operation * 2 - 1, operation, &name)]).await;
            if let Err(error) = begun {
                writeln!(out, "ended {error}").unwrap();
                return;
            }
            writeln!(out, "told begun {name}").unwrap();
            let ended = lease.append(vec![success(operation * 2, operation, &name)]).await;
            if let Err(error) = ended {
                writeln!(out, "ended {error}").unwrap();
                return;
            }
            writeln!(out, "told {name}").unwrap();
            out.flush().unwrap();
        }
    });
}
