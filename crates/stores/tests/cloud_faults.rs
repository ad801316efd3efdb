//! Updates through a network and a server that misbehave: nothing that was acknowledged is lost.

#![allow(clippy::unwrap_used)]

mod on_clouds;

use drystone_servers::{self as servers, Cloud, Proxy, Trouble};
use drystone_stores::conformance::make::{acquire, begin, committed, names, stack, success};
use drystone_stores::object::{BucketOptions, BucketStore, open_url, open_url_on};
use drystone_stores::{At, Claim, Commit, Error, HeldLease, Host, Leases, Reads, Recovery, SystemHost};
use futures::StreamExt;
use on_clouds::{TTL, open, options, outlast_leases};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How many updates run at once.
const AT_ONCE: usize = 8;

/// An update that creates a stack, appends three groups of entries and commits; gives what it was told is durable, and
/// what ended it.
async fn update(store: &BucketStore) -> (Vec<String>, Result<u64, Error>) {
    let mut durable = Vec::new();
    let ended = try_update(store, &mut durable).await;
    (durable, ended)
}

async fn try_update(store: &BucketStore, durable: &mut Vec<String>) -> Result<u64, Error> {
    let lease = store.acquire(&stack(), Claim::new("up")).await?;
    for (operation, name) in [(1, "b"), (2, "c"), (3, "d")] {
        let sequence = operation * 2 - 1;
        lease.append(vec![begin(sequence, operation, name), success(sequence + 1, operation, name)]).await?;
        durable.push(name.to_owned());
    }
    let done = lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await?;
    lease.release().await?;
    Ok(done.revision.expect("a revision"))
}

/// Nobody is left on the stack, and nothing waits for anybody.
async fn is_in_order(store: &BucketStore) {
    let described = store.describe(&stack()).await.unwrap();
    assert!(described.holders.is_empty(), "{:?}", described.holders);
    assert!(described.orphans.is_empty(), "{:?}", described.orphans);
    assert!(!described.unrecovered);
    let now = store.snapshot(&stack(), At::Current).await.unwrap();
    let newest = store.revisions(&stack()).await.unwrap().pop().unwrap();
    assert_eq!(newest.hash, now.hash);
}

async fn present(store: &BucketStore) -> Vec<String> {
    names(&store.snapshot(&stack(), At::Current).await.unwrap().snapshot)
}

/// A part of MinIO's bucket, and a proxy before it.
struct Line {
    cloud: &'static Cloud,
    part: String,
    proxy: Proxy,
}

impl Line {
    fn new(part: String) -> Self {
        let cloud = servers::minio();
        Self { cloud, part, proxy: Proxy::before(cloud.port()) }
    }

    async fn good(&self) -> BucketStore {
        open(self.cloud, &self.cloud.url_of(&self.part, self.cloud.port()), options()).await.unwrap()
    }

    /// Through the proxy, with so much patience. Leases live long enough for no renewal to come between.
    async fn bad(&self, patience: Duration, lease_ttl: Duration) -> Result<BucketStore, Error> {
        let options =
            BucketOptions { patience, lease_ttl, answer_timeout: Duration::from_millis(700), ..options() };
        open(self.cloud, &self.cloud.url_of(&self.part, self.proxy.port()), options).await
    }
}

/// How many requests an update takes.
async fn requests_of_an_update(test: &str) -> u64 {
    let line = Line::new(format!("measured-{test}-{}", std::process::id()));
    committed(&line.good().await, &["a"]).await;
    let store = line.bad(Duration::from_secs(10), Duration::from_secs(60)).await.unwrap();
    let before = line.proxy.traffic().requests;
    update(&store).await.1.unwrap();
    line.proxy.traffic().requests - before
}

/// Every trouble at every request.
fn cases(requests: u64, troubles: &'static [Trouble]) -> Vec<(u64, Trouble)> {
    (0..requests).flat_map(|number| troubles.iter().map(move |trouble| (number, *trouble))).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s11_a_trouble_that_passes_at_any_request_is_not_noticed() {
    let requests = requests_of_an_update("passing").await;
    let cases = cases(requests, &Trouble::PASSING);
    let tried = cases.len();
    let runs = futures::stream::iter(cases).map(|(number, trouble)| async move {
        let line = Line::new(format!("passing-{}-{number}-{trouble:?}", std::process::id()));
        let good = line.good().await;
        committed(&good, &["a"]).await;
        let store = line.bad(Duration::from_secs(15), Duration::from_secs(60)).await.unwrap();
        line.proxy.trouble(number, trouble, Duration::from_secs(2));
        let (durable, ended) = update(&store).await;
        let revision = ended.unwrap_or_else(|error| panic!("{trouble:?} at {number}: {error}"));
        assert!(line.proxy.mend(), "{trouble:?} at {number} did not come about");
        assert_eq!(durable, ["b", "c", "d"]);
        assert_eq!(present(&good).await, ["a", "b", "c", "d"], "{trouble:?} at {number}");
        let made = good.revisions(&stack()).await.unwrap();
        assert_eq!(made.last().map(|last| u64::try_from(last.number).unwrap()), Some(revision));
        assert_eq!(made.len(), 2, "{trouble:?} at {number}: {made:?}");
        is_in_order(&good).await;
    });
    runs.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    println!("{requests} requests an update, {tried} troubles that pass: all updates done, 0 entries lost");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s05_an_update_that_is_cut_off_at_any_request_is_made_good_by_the_next() {
    let requests = requests_of_an_update("cut").await;
    let cases = cases(requests, &Trouble::ENDING);
    let tried = cases.len();
    let runs = futures::stream::iter(cases).map(|(number, trouble)| async move {
        let line = Line::new(format!("cut-{}-{number}-{trouble:?}", std::process::id()));
        committed(&line.good().await, &["a"]).await;
        let store = line.bad(Duration::from_millis(200), TTL).await.unwrap();
        line.proxy.trouble(number, trouble, Duration::ZERO);
        let (durable, ended) = update(&store).await;
        (line, number, trouble, durable, ended.ok())
    });
    let ended: Vec<_> = runs.buffer_unordered(AT_ONCE).collect().await;
    tokio::task::spawn_blocking(outlast_leases).await.unwrap();
    let (mut entries, mut recovered) = (0, 0);
    for (line, number, trouble, durable, revision) in ended {
        let next = line.good().await;
        let lease = acquire(&next, "up").await;
        recovered += u32::from(matches!(lease.recovery(), Recovery::Replayed { .. }));
        lease.release().await.unwrap();
        let present = present(&next).await;
        assert!(durable.iter().all(|name| present.contains(name)), "{trouble:?} at {number}: {present:?}");
        if let Some(revision) = revision {
            let now = next.snapshot(&stack(), At::Current).await.unwrap().revision;
            assert_eq!(now, Some(revision), "{trouble:?} at {number}");
        }
        is_in_order(&next).await;
        entries += durable.len() * 2;
    }
    println!(
        "{tried} updates cut off: {recovered} journals replayed, {entries} entries acknowledged, 0 lost"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s02_a_server_that_dies_and_comes_back_in_the_middle_of_an_update_is_waited_for() {
    let mut cloud = servers::minio_in("");
    let url = Url::parse(&cloud.url()).unwrap();
    let variables: Vec<(&str, Option<String>)> =
        ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| (name, cloud.variable(name))).to_vec();
    let find = move |name: &str| variables.iter().find(|(known, _)| *known == name)?.1.clone();
    let options =
        BucketOptions { lease_ttl: Duration::from_secs(60), patience: Duration::from_secs(60), ..options() };
    let store = open_url(&url, options, find).await.unwrap();
    committed(&store, &[]).await;
    let lease: Arc<dyn HeldLease> = Arc::from(acquire(&store, "up").await);
    let mut appends = tokio::task::JoinSet::new();
    let mut kills = 0;
    for operation in 1..=30_i64 {
        let lease = Arc::clone(&lease);
        appends.spawn(async move {
            let name = format!("r{operation:02}");
            let sequence = operation * 2 - 1;
            lease
                .append(vec![begin(sequence, operation, &name), success(sequence + 1, operation, &name)])
                .await
        });
        tokio::time::sleep(Duration::from_millis(5)).await;
        if operation % 10 == 5 {
            cloud = tokio::task::spawn_blocking(move || {
                cloud.server().restart();
                cloud
            })
            .await
            .unwrap();
            kills += 1;
        }
    }
    while let Some(done) = appends.join_next().await {
        done.unwrap().unwrap();
    }
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    drop(lease);
    assert_eq!(present(&store).await.len(), 30);
    println!("a server killed {kills} times under 60 entries: 0 lost");
    drop(cloud);
}

const URL: &str = "DRYSTONE_WRITER_URL";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s04_a_suspended_writer_begins_nothing_after_another_took_over() {
    let cloud = servers::minio();
    let url = cloud.url();
    let store = open(cloud, &url, options()).await.unwrap();
    committed(&store, &["base"]).await;
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_writer", "--include-ignored", "--nocapture"])
        .env(URL, &url)
        .env("AWS_ACCESS_KEY_ID", cloud.variable("AWS_ACCESS_KEY_ID").unwrap())
        .env("AWS_SECRET_ACCESS_KEY", cloud.variable("AWS_SECRET_ACCESS_KEY").unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut told: Vec<String> = Vec::new();
    while told.len() < 5 {
        let line = lines.next().expect("a writer that goes on");
        told.extend(line.strip_prefix("told ").map(str::to_owned));
    }
    signal(writer.id(), "STOP");
    tokio::task::spawn_blocking(outlast_leases).await.unwrap();
    let lease = acquire(&store, "up").await;
    let Recovery::Replayed { entries, .. } = lease.recovery().clone() else {
        panic!("{:?}", lease.recovery())
    };
    lease.append(vec![begin(1, 1, "mine"), success(2, 1, "mine")]).await.unwrap();
    signal(writer.id(), "CONT");
    let rest: Vec<String> = lines.collect();
    assert!(writer.wait().unwrap().success());
    told.extend(rest.iter().filter_map(|line| line.strip_prefix("told ").map(str::to_owned)));
    assert!(rest.iter().any(|line| line == "fenced"), "{rest:?}");
    lease.commit(Commit { title: "up".to_owned(), ..Commit::default() }).await.unwrap();
    lease.release().await.unwrap();
    let present = present(&store).await;
    for name in &told {
        assert!(present.contains(name), "{name} is lost");
    }
    // One may have been written without its writer being told.
    assert!(present.len() <= told.len() + 3, "told {told:?}, there is {present:?}");
    is_in_order(&store).await;
    println!(
        "a suspended writer: {} told, {entries} entries replayed, 0 lost, fenced when it came back",
        told.len()
    );
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The writer that is suspended; the test above starts it.
#[test]
#[ignore = "a part of the test above, started by it"]
fn a_writer() {
    let Ok(url) = std::env::var(URL) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let url = Url::parse(&url).unwrap();
        let store = open_url(&url, options(), |name| std::env::var(name).ok()).await.unwrap();
        let lease = acquire(&store, "up").await;
        let mut out = std::io::stdout();
        for operation in 1.. {
            let name = format!("r{operation}");
            let entries =
                vec![begin(operation * 2 - 1, operation, &name), success(operation * 2, operation, &name)];
            match lease.append(entries).await {
                Ok(()) => writeln!(out, "\ntold {name}").unwrap(),
                Err(Error::Fenced { .. }) => {
                    writeln!(out, "\nfenced").unwrap();
                    break;
                }
                Err(error) => panic!("{error}"),
            }
            out.flush().unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        lease.release().await.unwrap();
    });
}

/// A machine whose clock is wrong.
#[derive(Debug)]
struct Wrong(jiff::SignedDuration);

impl Host for Wrong {
    fn now(&self) -> jiff::Timestamp {
        SystemHost.now() + self.0
    }
    fn new_id(&self) -> String {
        SystemHost.new_id()
    }
    fn user(&self) -> String {
        "ana".to_owned()
    }
    fn hostname(&self) -> String {
        "elsewhere".to_owned()
    }
    fn pid(&self) -> u32 {
        SystemHost.pid()
    }
    fn is_running(&self, _: u32) -> Option<bool> {
        None
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s12_clocks_that_differ_by_minutes_decide_nothing() {
    let cloud = servers::minio();
    for (first, second) in [(10, -10), (-10, 10)] {
        let url = Url::parse(&cloud.url()).unwrap();
        let client = |minutes: i64| {
            let host = Arc::new(Wrong(jiff::SignedDuration::from_mins(minutes)));
            open_url_on(&url, host, options(), |name| cloud.variable(name))
        };
        let (one, two) = (client(first).await.unwrap(), client(second).await.unwrap());
        committed(&one, &["a"]).await;
        let held = acquire(&one, "up").await;
        held.append(vec![begin(1, 1, "b"), success(2, 1, "b")]).await.unwrap();
        // Longer than the lease would live without a renewal.
        tokio::time::sleep(TTL * 2).await;
        let refused = two.acquire(&stack(), Claim::new("up")).await;
        assert!(matches!(refused, Err(Error::Held { .. })), "a living holder was taken for dead");
        held.append(vec![begin(3, 2, "c"), success(4, 2, "c")]).await.unwrap();
        drop(held);
        tokio::task::spawn_blocking(outlast_leases).await.unwrap();
        let next = acquire(&two, "up").await;
        assert!(matches!(next.recovery(), Recovery::Replayed { entries: 4, .. }), "{:?}", next.recovery());
        next.release().await.unwrap();
        assert_eq!(present(&two).await, ["a", "b", "c"]);
        is_in_order(&two).await;
    }
}
