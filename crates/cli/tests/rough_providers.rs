//! Providers that crash, hang, answer garbage or answer late: a clear error each, and a state as true as it can be.

mod harness;
mod programs;
mod rough;

use programs::{Running, wait_until};
use rough::{Site, failed, known};
use std::time::Instant;

const CHAIN: &str = "{resources: 3, shape: chain}";

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s5_a_creation_without_a_sound_answer_is_pending() {
    for (fault, cause) in [
        ("die", "the provider 'bench' ended"),
        ("die-after", "the provider 'bench' ended"),
        ("garbage", "the provider's answer makes no sense: the message is cut short"),
        ("not-text", "the provider's answer makes no sense: a text is not valid UTF-8"),
        ("signature", "property `odd`: unrecognized signature '0123456789abcdef'"),
        ("unknown", "property `odd`: unexpected unknown value"),
        ("no-id", "no id when it made it"),
    ] {
        let mut site = Site::new(CHAIN);
        let ended = site.run_with("BENCH_FAULT", &format!("create item-00001 {fault}"), "up");
        failed(&ended, "item-00001", cause);
        assert!(ended.stdout.contains("it is kept as a pending operation"), "{fault}: {ended:#?}");
        assert_eq!(site.known(), known(&["item-00000"], &[("creating", "item-00001")]), "{fault}");
        assert!(!site.things().contains("item-00002"), "{fault}: the run went on");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_is_refused_is_not_pending() {
    let mut site = Site::new(CHAIN);
    let ended = site.run_with("BENCH_FAULT", "create item-00001 refuse", "up");
    failed(&ended, "item-00001", "the quota is used up");
    assert_eq!(site.known(), known(&["item-00000"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn keys_that_nobody_asked_for_are_kept() {
    let mut site = Site::new(CHAIN);
    let ended = site.run_with("BENCH_FAULT", "create item-00001 extra", "up");
    assert_eq!(ended.code, 0, "{ended:#?}");
    let export = site.export();
    let resources = export["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let item = resources.iter().find(|resource| resource["id"] == "item-00001").expect("the item");
    assert_eq!(item["outputs"]["neverAskedFor"]["deep"][2][""], "an empty key", "{item:#}");
    assert_eq!(item["outputs"]["edge"], 9_007_199_254_740_991_i64, "{item:#}");
    assert_eq!(item["outputs"]["dotted.key[0]"], "ключ \u{0}\u{1f9f1}", "{item:#}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s5_a_lost_update_or_deletion_is_pending_and_the_next_run_settles_it() {
    let mut site = Site::new(CHAIN);
    assert_eq!(site.run("up").code, 0);
    site.program("{resources: 3, shape: chain, text: b}");
    let ended = site.run_with("BENCH_FAULT", "update item-00001 die-after", "up");
    failed(&ended, "item-00001", "the provider 'bench' ended");
    let all = ["item-00000", "item-00001", "item-00002"];
    assert_eq!(site.known(), known(&all, &[("updating", "item-00001")]));
    assert_eq!(site.run("up").code, 0);
    assert_eq!(site.known(), known(&all, &[]));
    let ended = site.run_with("BENCH_FAULT", "delete item-00001 die-after", "destroy");
    failed(&ended, "item-00001", "the provider 'bench' ended");
    assert_eq!(site.known(), known(&all[..2], &[("deleting", "item-00001")]));
    assert_eq!(site.run("destroy").code, 0);
    assert_eq!((site.known(), site.things().len()), (known(&[], &[]), 0));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_only_looks_leaves_nothing_pending() {
    for (fault, cause) in [("check item-00001 die", "ended"), ("check item-00001 garbage", "makes no sense")]
    {
        let mut site = Site::new(CHAIN);
        let ended = site.run_with("BENCH_FAULT", fault, "up");
        failed(&ended, "item-00001", cause);
        assert_eq!(site.known(), known(&["item-00000"], &[]), "{fault}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_does_not_come_up_is_named_with_what_it_said() {
    for (start, cause) in [
        ("exit", "the plugin bench ended with exit code 4 before it answered; it printed:"),
        ("text", "the plugin bench printed `Welcome to the bench provider!` where its port was expected"),
        ("silent", "the plugin bench has not printed its port within 1.5 s"),
        ("closed", "the plugin bench does not answer: "),
        ("bytes", "failed to handshake with 'bench'"),
        ("mute", "failed to handshake with 'bench': the provider 'bench' has not answered for 2 s"),
    ] {
        let mut site = Site::new(CHAIN);
        site.sandbox.set("DRYSTONE_PLUGIN_START_LIMIT", "1.5");
        site.sandbox.set("DRYSTONE_PROVIDER_GRACE", "2");
        let ended = site.run_with("BENCH_START", start, "up");
        failed(&ended, "pulumi:providers:bench default", cause);
        assert_eq!(site.known(), known(&[], &[]), "{start}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_falls_over_as_it_is_greeted_or_configured_made_nothing() {
    for (fault, resource, cause) in [
        ("handshake * die", "pulumi:providers:bench default", "the provider 'bench' ended with exit code 3"),
        ("handshake * refuse", "pulumi:providers:bench default", "failed to handshake with 'bench'"),
        ("configure * die", "item-00000", "the provider 'bench' ended with exit code 3"),
        ("configure * refuse", "item-00000", "the quota is used up"),
    ] {
        let mut site = Site::new(CHAIN);
        let ended = site.run_with("BENCH_FAULT", fault, "up");
        failed(&ended, resource, cause);
        assert_eq!((site.known(), site.things().len()), (known(&[], &[]), 0), "{fault}");
        assert_eq!(site.run("up").code, 0, "{fault}: what is left does not let the next run through");
        assert_eq!(site.things().len(), 3, "{fault}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s5_an_answer_after_the_deadline_is_not_waited_for_and_the_next_run_finds_what_was_made() {
    let limited = "{steps: [{register: {name: a, timeouts: {create: 1s}}}]}";
    let mut site = Site::new(limited);
    site.sandbox.set("DRYSTONE_PROVIDER_GRACE", "1");
    let began = Instant::now();
    let ended = site.run_with("BENCH_FAULT", "create a late:60000", "up");
    let cause = "has not answered 1 s after its time limit of 1 s (customTimeouts) had passed";
    failed(&ended, "bench:index:Item a", cause);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert!(ended.stdout.contains("it is kept as a pending operation"), "{ended:#?}");
    assert_eq!(site.known(), known(&[], &[("creating", "a")]));
    assert!(site.things().contains("a"));
    assert_eq!(site.run("up").code, 0);
    assert_eq!((site.known(), site.things().len()), (known(&["a"], &[]), 1));

    // An answer within the grace is as good as any.
    let mut site = Site::new(limited);
    let ended = site.run_with("BENCH_FAULT", "create a late:2000", "up");
    assert_eq!((ended.code, site.known()), (0, known(&["a"], &[])), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_hanging_creation_ends_with_the_second_signal_and_is_pending() {
    let mut site = Site::new(CHAIN);
    site.sandbox.set("BENCH_FAULT", "create item-00001 hang-after");
    let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("the thing", || site.things().contains("item-00001"));
    running.signal("INT");
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert_eq!(site.known(), known(&["item-00000"], &[("creating", "item-00001")]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn an_answer_after_the_first_signal_is_recorded() {
    let mut site = Site::new(CHAIN);
    site.sandbox.set("BENCH_FAULT", "create item-00001 late:2500");
    let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("the thing", || site.things().contains("item-00001"));
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert_eq!(site.known(), known(&["item-00000", "item-00001"], &[]));
    assert!(!site.things().contains("item-00002"));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s4_a_run_whose_lease_was_taken_begins_nothing_more() {
    let mut site = Site::new(CHAIN);
    site.sandbox.set("BENCH_FAULT", "create item-00001 late:3000");
    let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("the thing", || site.things().contains("item-00001"));
    site.sandbox.ok(&["cancel", "--yes"]);
    let ended = running.end();
    assert_eq!(ended.code, 10, "{ended:#?}");
    assert!(ended.stderr.contains("was taken over by"), "{ended:#?}");
    assert_eq!(site.known(), known(&["item-00000"], &[("creating", "item-00001")]));
    assert!(!site.things().contains("item-00002"));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s2_without_checkpoints_the_journal_still_has_everything() {
    let mut site = Site::new(CHAIN);
    site.sandbox.set("PULUMI_SKIP_CHECKPOINTS", "true");
    site.sandbox.set("BENCH_FAULT", "create item-00001 hang-after");
    let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("the thing", || site.things().contains("item-00001"));
    running.signal("KILL");
    running.end();
    assert_eq!(site.known(), known(&[], &[]), "a checkpoint was written");
    site.sandbox.ok(&["cancel", "--yes"]);
    assert_eq!(site.known(), known(&["item-00000"], &[("creating", "item-00001")]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s5_the_run_after_a_killed_one_tells_what_became_of_what_was_under_way() {
    let mut site = Site::new(CHAIN);
    site.sandbox.set("BENCH_FAULT", "create item-00001 hang-after");
    let running = Running::start(&site.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("the thing", || site.things().contains("item-00001"));
    running.signal("KILL");
    running.end();
    site.sandbox.unset("BENCH_FAULT");
    let up = site.run("up");
    assert_eq!(up.code, 0, "{up:#?}");
    let told: Vec<&str> = up.stderr.lines().take(3).collect();
    assert!(told[0].contains(", last heard of ") && told[0].contains("nothing lost."), "{up:#?}");
    assert_eq!(
        told[1..],
        ["1 operation was under way and is now pending:", "  creating  bench:index:Item item-00001"]
    );
    let became = "item-00001: read back from the provider: it exists (id item-00001), imported";
    assert!(up.stdout.contains(became), "{up:#?}");
    // Nobody is told to settle by hand what is settled.
    assert!(!up.stdout.contains("pending operations from previous deployment"), "{up:#?}");
    assert_eq!(site.known(), known(&["item-00000", "item-00001", "item-00002"], &[]));
}
