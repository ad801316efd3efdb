//! Providers that hang while a run is interrupted: the first signal ends what only looks, the second everything.

mod harness;
mod programs;
mod rough;

use harness::Ended;
use programs::Running;
use rough::{Site, known};
use std::time::{Duration, Instant};

const TWO: &str = "{resources: 2, shape: chain}";

/// How long after the first signal a run may last whose provider changes nothing.
const BOUND: Duration = Duration::from_secs(15);

/// How long after the second signal any run may last.
const AT_ONCE: Duration = Duration::from_secs(4);

/// Interrupts a run so many times; gives how it ended and how long after the last signal.
fn interrupted(running: Running, times: usize) -> (Ended, Duration) {
    for time in 0..times {
        if time > 0 {
            std::thread::sleep(Duration::from_millis(500));
        }
        running.signal("INT");
    }
    let signalled = Instant::now();
    (running.end(), signalled.elapsed())
}

/// A site whose stack exists and whose program has changed since, so that everything is compared.
fn changed() -> Site {
    let site = Site::new(TWO);
    assert_eq!(site.run("up").code, 0);
    site.program("{resources: 2, shape: chain, text: b}");
    site
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_provider_that_hangs_while_it_looks_is_given_up_after_the_first_signal() {
    for (call, command, method) in [
        ("check item-00001", "up", "Check"),
        ("diff item-00001", "up", "Diff"),
        ("configure *", "up", "Configure"),
        ("handshake *", "up", "Handshake"),
        ("read item-00001", "refresh", "Read"),
    ] {
        let mut site = changed();
        let before = site.known();
        let running = site.run_into(&format!("{call} hang"), command);
        let (ended, took) = interrupted(running, 1);
        assert_eq!(ended.code, 8, "{call}: {ended:#?}");
        assert!(took < BOUND, "{call}: {took:?} {ended:#?}");
        let told =
            format!("the provider 'bench' has not answered {method} 5 s after the run was asked to stop");
        assert!(ended.stdout.contains(&told), "{call}: {ended:#?}");
        assert!(ended.stderr.contains(" cancelled") && ended.stderr.contains("hint: "), "{call}: {ended:#?}");
        assert_eq!(site.known(), before, "{call}");
        assert_eq!(site.run("up").code, 0, "{call}: the next run");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_second_signal_ends_a_hanging_provider_at_once() {
    for (call, command) in
        [("check item-00001", "up"), ("diff item-00001", "up"), ("configure *", "up"), ("handshake *", "up")]
    {
        let mut site = changed();
        let before = site.known();
        let running = site.run_into(&format!("{call} hang"), command);
        let (ended, took) = interrupted(running, 2);
        assert_eq!(ended.code, 8, "{call}: {ended:#?}");
        assert!(took < AT_ONCE, "{call}: {took:?} {ended:#?}");
        assert!(ended.stdout.contains("^C received; terminating"), "{call}: {ended:#?}");
        assert_eq!(site.known(), before, "{call}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s05_operations_that_were_given_up_are_named_at_the_end() {
    let mut site = changed();
    let running = site.run_into("update item-00001 hang", "up");
    let (ended, _) = interrupted(running, 2);
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert!(ended.stderr.contains("interrupted while updating: bench:index:Item item-00001"), "{ended:#?}");
    assert_eq!(site.known().pending, [("updating".to_owned(), "item-00001".to_owned())]);
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_does_not_come_up_does_not_hold_up_a_run_that_is_to_stop() {
    for times in [1, 2] {
        let mut site = Site::new(TWO);
        site.sandbox.set("BENCH_START", "silent");
        let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
        std::thread::sleep(Duration::from_secs(2));
        let (ended, took) = interrupted(running, times);
        assert_eq!(ended.code, 8, "{ended:#?}");
        assert!(took < BOUND, "{took:?} {ended:#?}");
        assert!(times == 2 || ended.stdout.contains("the plugin bench was still starting"), "{ended:#?}");
        assert_eq!(site.known(), known(&[], &[]));
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_provider_that_does_not_answer_a_cancellation_does_not_hold_up_the_end() {
    let mut site = Site::new(TWO);
    let began = Instant::now();
    let ended = site.run_with("BENCH_FAULT", "cancel * hang", "up");
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    assert_eq!(site.known(), known(&["item-00000", "item-00001"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s13_who_waits_for_a_stack_after_a_preview_can_be_interrupted() {
    let mut site = changed();
    let holder = site.run_into("update item-00000 hang", "up");
    site.sandbox.set("PULUMI_DEBUG_COMMANDS", "true");
    for signal in ["INT", "TERM", "HUP"] {
        let _ = std::fs::remove_file(site.sandbox.project().join("log"));
        let waiting = Running::start(&site.sandbox, &["up", "--yes", "--wait=30s", "--event-log", "log"]);
        let log = site.sandbox.project().join("log");
        let is_previewed = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("summaryEvent"));
        programs::wait_until("the preview", is_previewed);
        std::thread::sleep(Duration::from_secs(1));
        waiting.signal(signal);
        let ended = waiting.end();
        assert_eq!(ended.code, 8, "{signal}: {ended:#?}");
        assert!(ended.stderr.contains("received while waiting for"), "{signal}: {ended:#?}");
    }
    interrupted(holder, 2);
}
