//! Plugins come up, fail to come up, and end, with everything that they started.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_plugins::process::{Deadlines, Exit, Group, Line, LineSink, Plugin, StartError, Stream};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

fn shell(script: &str) -> Command {
    // Whoever started the tests may have had interrupts ignored, which children inherit. A signal with a handler is
    // back to its default in them, as it is in those of the command.
    let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn quick() -> Deadlines {
    Deadlines {
        port: Duration::from_millis(700),
        connect: Duration::from_millis(700),
        stop: Duration::from_millis(700),
    }
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(Stream, String)>>>);

impl Seen {
    fn sink(&self) -> LineSink {
        let seen = self.clone();
        Arc::new(move |line: Line| seen.0.lock().unwrap().push((line.stream, line.text)))
    }

    fn of(&self, stream: Stream) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|line| line.0 == stream).map(|line| line.1.clone()).collect()
    }
}

async fn start(script: &str, deadlines: Deadlines) -> (Result<Plugin, StartError>, Seen) {
    let seen = Seen::default();
    (Plugin::spawn("tried", shell(script), deadlines, seen.sink()).await, seen)
}

fn runs(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    match status {
        Ok(status) => !status.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')),
        Err(_) if cfg!(target_os = "linux") => false,
        Err(_) => Command::new("kill").args(["-0", &process.to_string()]).status().unwrap().success(),
    }
}

/// Whether the process is neither running nor waiting to be buried.
fn is_buried(process: u32) -> bool {
    !Command::new("kill").args(["-0", &process.to_string()]).stderr(Stdio::null()).status().unwrap().success()
}

async fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn a_plugin_says_its_port_and_then_prints_lines() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // A shell that starts a child just then would wait for it, whatever signal comes.
    let script =
        format!("echo early >&2; printf 'last' >&2; printf ' {port} \\r\\n'; echo out; exec sleep 100");
    let (plugin, seen) = start(&script, Deadlines::default()).await;
    let plugin = plugin.unwrap();
    assert_eq!(plugin.address(), format!("127.0.0.1:{port}"));
    assert_eq!(plugin.exit(), None);
    // The last line has no end, so that it comes when the process ends.
    assert!(comes_true(|| seen.of(Stream::Stdout) == ["out"]).await);
    plugin.stop().await;
    assert_eq!(plugin.exit(), Some(Exit::Signal(2)));
    assert_eq!(seen.of(Stream::Stdout), ["out"]);
    assert_eq!(seen.of(Stream::Stderr), ["early", "last"]);
    assert_eq!(plugin.last_lines().lines().count(), 3);
}

#[tokio::test]
async fn a_plugin_may_listen_a_little_later_than_it_says() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let late = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let _kept = listener.accept().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
    });
    let (plugin, _) = start(&format!("echo {port}; sleep 100"), Deadlines::default()).await;
    plugin.unwrap();
    late.abort();
}

#[tokio::test]
async fn a_plugin_that_ends_early_is_told_with_what_it_printed() {
    let (plugin, seen) = start("echo 'no credentials' >&2; exit 3", Deadlines::default()).await;
    let error = plugin.unwrap_err();
    assert!(matches!(&error, StartError::Ended { exit: Some(Exit::Code(3)), .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the plugin tried ended with exit code 3 before it answered; it printed:\nno credentials"
    );
    assert_eq!(seen.of(Stream::Stderr), ["no credentials"]);
}

#[tokio::test]
async fn a_plugin_that_ends_after_its_port_line_is_not_awaited() {
    let begin = Instant::now();
    let (plugin, _) = start("echo 1; echo oops >&2; exit 4", Deadlines::default()).await;
    let error = plugin.unwrap_err();
    assert!(matches!(&error, StartError::Ended { exit: Some(Exit::Code(4)), .. }), "{error:?}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_plugin_that_prints_no_port_is_told_with_the_line() {
    let (plugin, _) = start("echo 'usage: tool <file>'; echo why >&2; sleep 100", Deadlines::default()).await;
    assert_eq!(
        plugin.unwrap_err().to_string(),
        "the plugin tried printed `usage: tool <file>` where its port was expected; it printed:\nwhy"
    );
}

#[tokio::test]
async fn a_plugin_that_says_nothing_is_given_up() {
    let (plugin, _) = start("echo thinking >&2; sleep 100", quick()).await;
    let error = plugin.unwrap_err();
    assert!(matches!(error, StartError::Silent { .. }), "{error:?}");
    assert!(error.to_string().ends_with("it printed:\nthinking"), "{error}");
}

#[tokio::test]
async fn a_plugin_that_closes_its_output_is_given_up() {
    let (plugin, _) = start("exec >&-; sleep 100", Deadlines::default()).await;
    let error = plugin.unwrap_err();
    assert!(matches!(&error, StartError::Ended { exit: None, .. }), "{error:?}");
}

#[tokio::test]
async fn a_plugin_whose_port_nobody_answers_is_given_up() {
    let (plugin, _) = start("echo 1; sleep 100", quick()).await;
    let error = plugin.unwrap_err();
    assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let command = Command::new("/nowhere/pulumi-resource-gone");
    let error = Plugin::spawn("gone", command, quick(), Arc::new(|_| {})).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/pulumi-resource-gone"), "{error}");
}

/// Starts a process that starts another, and gives both their ids.
async fn family(script: &str) -> (Group, u32) {
    let (group, stdout, _stderr) = Group::spawn(shell(script)).unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stdout));
    let child = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    (group, child)
}

#[tokio::test]
async fn stopping_kills_what_a_stubborn_process_started() {
    let (group, child) = family("trap '' INT; sleep 1000 & echo $!; wait; wait").await;
    assert!(runs(group.id()) && runs(child));
    assert_eq!(group.stop(Duration::from_millis(300)).await, Exit::Signal(9));
    assert!(comes_true(|| !runs(child)).await, "the grandchild {child} still runs");
    assert!(is_buried(group.id()), "a zombie is left");
}

#[tokio::test]
async fn stopping_lets_a_process_clean_up() {
    let (group, _) = family("trap 'exit 7' INT; echo $$; while :; do sleep 0.05; done").await;
    assert_eq!(group.stop(Duration::from_secs(5)).await, Exit::Code(7));
}

#[tokio::test]
async fn dropping_kills_the_group_and_leaves_no_zombie() {
    let (group, child) = family("trap '' INT; sleep 1000 & echo $!; wait").await;
    let leader = group.id();
    drop(group);
    assert!(comes_true(|| !runs(child) && is_buried(leader)).await, "{leader} or {child} is still there");
}

#[tokio::test]
async fn an_abandoned_start_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
    let starting = start(&script, Deadlines::default());
    let id = || std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u32>().ok());
    tokio::select! {
        (started, _) = starting => panic!("{started:?}"),
        is_up = comes_true(|| id().is_some()) => assert!(is_up),
    }
    let child = id().unwrap();
    assert!(comes_true(|| !runs(child)).await, "{child} still runs");
}

/// Set for the copy of this test that gets killed.
const VICTIM: &str = "DRYSTONE_TEST_VICTIM";

#[tokio::test]
async fn killing_us_ends_what_we_started() {
    if std::env::var_os(VICTIM).is_some() {
        let (group, child) = family("trap '' INT; sleep 1000 & echo $!; wait; wait").await;
        let (ended, _) = family("echo $$").await;
        ended.exited().await;
        println!("{} {child}", group.id());
        tokio::time::sleep(Duration::from_secs(60)).await;
        return;
    }
    let mut us = Command::new(std::env::current_exe().unwrap())
        .args(["killing_us_ends_what_we_started", "--exact", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(us.stdout.take().unwrap());
    let ids: Vec<u32> = loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the victim printed no ids");
        let ids: Vec<u32> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        if ids.len() == 2 {
            break ids;
        }
    };
    assert!(ids.iter().all(|id| runs(*id)));
    us.kill().unwrap();
    us.wait().unwrap();
    assert!(comes_true(|| ids.iter().all(|id| !runs(*id))).await, "{ids:?} outlived us");
}
