//! A deployment is killed at each request that it sends, before and after the server carries it out: the record is true.

#![allow(clippy::unwrap_used)]

mod cdkd_bucket;

use cdkd_bucket::{IDS, account_at, client, deploy, ids, key, keys, options, prefix};
use drystone_servers::{BUCKET, Proxy, Trouble, minio};
use drystone_stores::cdkd::{LockPatience, open_bucket};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PLACE: &str = "DRYSTONE_DEPLOYMENT_PLACE";
const TTL: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s02_a_deployment_killed_at_any_request_leaves_a_true_record() {
    let mut kills = 0;
    for trouble in [Trouble::Cut, Trouble::Hang] {
        for after in 0.. {
            let prefix = prefix();
            let proxy = Proxy::before(minio().port());
            proxy.trouble(after, trouble, LONG);
            let Some(told) = run_and_kill(&proxy, &prefix) else { break };
            kills += 1;
            let store = client(minio(), &prefix, TTL).await;
            let state = store.state(&key()).await.unwrap();
            let there = state.as_ref().map(ids).unwrap_or_default();
            assert!(
                there.len() == told.len() || there.len() == told.len() + 1,
                "{after}: {there:?}, {told:?}"
            );
            assert_eq!(there, IDS[..there.len()], "killed at {after}");
            let patience = LockPatience { attempts: 200, pause: Duration::from_millis(50) };
            deploy(&store, patience, |_| {}).await.unwrap();
            let state = store.state(&key()).await.unwrap().unwrap();
            assert_eq!((ids(&state), state.outputs.len()), (IDS.to_vec(), 1));
        }
    }
    println!("killed {kills} deployments");
    // The lock, the state read under it, and then a look at the lock and a write each.
    assert!(kills >= 2 * 15, "{kills}");
}

/// Lets a deployment run into the trouble, kills it there, and gives what it had been told by then; `None` when it came
/// to its end before.
fn run_and_kill(proxy: &Proxy, prefix: &str) -> Option<Vec<String>> {
    let mut deployment = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_deployment", "--include-ignored", "--nocapture"])
        .env(PLACE, format!("{} {prefix} {}", proxy.port(), keys(minio()).join(" ")))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(deployment.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter_map(|line| Some(line.split_once("told ")?.1.to_owned())).collect::<Vec<_>>()
    });
    let began = Instant::now();
    let troubled = loop {
        if proxy.has_come_about() {
            break true;
        }
        if deployment.try_wait().unwrap().is_some() {
            break false;
        }
        assert!(began.elapsed() < LONG, "it neither ended nor ran into the trouble");
        std::thread::sleep(Duration::from_millis(2));
    };
    if troubled {
        // What the server was asked to do is done by then.
        std::thread::sleep(Duration::from_millis(100));
        deployment.kill().unwrap();
    }
    deployment.wait().unwrap();
    let told = reader.join().unwrap();
    troubled.then_some(told)
}

/// The process that is killed; the test above starts it.
#[test]
#[ignore = "a part of the test above, started by it"]
fn a_deployment() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let words: Vec<&str> = place.split(' ').collect();
    let [port, prefix, key, secret] = words[..] else { panic!("{place}") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let account = account_at(port.parse().unwrap(), [key.to_owned(), secret.to_owned()]).await;
        let store = open_bucket(&account, BUCKET, options(prefix, TTL)).await.unwrap();
        let mut out = std::io::stdout();
        let told = |id| {
            writeln!(out, "told {id}").unwrap();
            out.flush().unwrap();
        };
        deploy(&store, LockPatience::ONCE, told).await.unwrap();
    });
}
