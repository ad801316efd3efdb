//! Commands: what they see, print, cost and leave.

use crate::harness::Bench;
use drystone_engine::{CreateArguments, Provider, ProviderErrorKind};
use drystone_model::Value;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn a_command_lives_from_creation_to_deletion() {
    let bench = Bench::new();
    let mut program = json!({
        "create": "echo made; echo aside >&2; touch made",
        "update": "echo \"$PULUMI_COMMAND_STDOUT, changed to $TO\"",
        "delete": "echo \"$PULUMI_COMMAND_STDOUT|$PULUMI_COMMAND_STDERR\" > deleted",
        "environment": { "TO": "one" },
    });
    let thing = bench.create("command:Command", &program);
    assert_eq!((thing.text("stdout").as_str(), thing.text("stderr").as_str()), ("made", "aside"));
    assert!(bench.path("made").exists() && thing.id.starts_with("command-"));
    assert_eq!(bench.log.lock().unwrap().len(), 2);
    assert_eq!(bench.changes(&thing, &program), [""; 0]);
    program["environment"] = json!({ "TO": "two" });
    assert_eq!(bench.changes(&thing, &program), ["update environment.TO"]);
    let updated = bench.update(&thing, &program);
    assert_eq!(
        (updated.id.as_str(), updated.text("stdout").as_str()),
        (thing.id.as_str(), "made, changed to two")
    );
    program["triggers"] = json!([1, { "a": "b" }]);
    assert_eq!(bench.changes(&updated, &program), ["add-replace triggers"]);
    assert_eq!(bench.read(&updated).unwrap().outputs, updated.outputs);
    bench.delete(&updated);
    assert_eq!(fs::read_to_string(bench.path("deleted")).unwrap(), "made, changed to two|\n");
}

#[test]
fn without_a_command_for_it_creation_runs_again_and_deletion_nothing() {
    let bench = Bench::new();
    let thing = bench.create("command:Command", &json!({ "create": "echo $A", "environment": { "A": "1" } }));
    let updated = bench.update(&thing, &json!({ "create": "echo $A", "environment": { "A": "2" } }));
    assert_eq!(updated.text("stdout"), "2");
    bench.delete(&updated);
    let nothing = bench.create("command:Command", &json!({ "delete": "true" }));
    assert_eq!((nothing.text("stdout").as_str(), nothing.text("stderr").as_str()), ("", ""));
}

#[test]
fn a_change_of_what_comes_later_runs_nothing() {
    let bench = Bench::new();
    let thing = bench.create("command:Command", &json!({ "create": "echo x >> runs; echo made" }));
    let later = json!({ "create": "echo x >> runs; echo made", "delete": "true", "logging": "none" });
    assert_eq!(bench.changes(&thing, &later), ["add delete", "update logging"]);
    assert_eq!(bench.update(&thing, &later).text("stdout"), "made");
    assert_eq!(fs::read_to_string(bench.path("runs")).unwrap(), "x\n");
}

#[test]
fn it_runs_where_and_how_it_is_told() {
    let bench = Bench::new();
    fs::create_dir(bench.path("d")).unwrap();
    let run = |program: serde_json::Value| bench.create("command:Command", &program).text("stdout");
    assert!(run(json!({ "create": "pwd", "dir": "d" })).ends_with("/d"));
    assert_eq!(run(json!({ "create": "cat", "stdin": "a\nb" })), "a\nb");
    assert_eq!(run(json!({ "create": "cat" })), "");
    assert_eq!(run(json!({ "create": "one two", "interpreter": ["printf", "<%s>"] })), "<one two>");
    assert_eq!(run(json!({ "create": "printf '\\377\\n\\n'" })), "\u{fffd}");
    // Input that nobody reads holds up nothing.
    assert_eq!(run(json!({ "create": "echo done", "stdin": "x".repeat(1 << 20) })), "done");
    for (inputs, says) in [
        (json!({ "create": "true", "dir": "gone" }), "the command's folder `gone` is not there"),
        (json!({ "create": "true", "interpreter": ["/no/such/shell"] }), "`/no/such/shell` does not start"),
    ] {
        let error = bench.try_create("command:Command", "x", &inputs).unwrap_err();
        assert!(error.message.contains(says), "{error}");
    }
    let failures =
        bench.failures("command:Command", &json!({ "environment": { "A=B": "c" }, "interpreter": [] }));
    assert_eq!(failures.len(), 2, "{failures:#?}");
}

#[test]
fn a_command_that_fails_half_way_says_what_it_printed_last() {
    let bench = Bench::new();
    let inputs = json!({ "create": "echo begun > half; echo wrong >&2; exit 3; echo never" });
    let error = bench.try_create("command:Command", "x", &inputs).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ProviderErrorKind::Refused, "the command ended with exit code 3:\nwrong")
    );
    let killed = bench.try_create("command:Command", "x", &json!({ "create": "kill -9 $$" })).unwrap_err();
    assert_eq!(killed.message, "the command ended with signal 9 (SIGKILL)");
    let loud = json!({ "create": "yes | head -c 1000000 >&2; exit 1" });
    assert!(bench.try_create("command:Command", "x", &loud).unwrap_err().message.len() < 5000);
}

#[test]
fn s17_what_a_command_with_secrets_prints_is_secret() {
    let bench = Bench::new();
    for (key, value) in [
        ("environment", json!({ "TOKEN": { "secret": "hush-hush" } })),
        ("stdin", json!({ "secret": "hush-hush" })),
    ] {
        let mut program = json!({ "create": "echo \"$TOKEN\"; cat" });
        program[key] = value;
        let thing = bench.create("command:Command", &program);
        assert!(thing.is_secret("stdout") && thing.is_secret("stderr"), "{key}");
        assert!(thing.text("stdout").contains("hush-hush"));
        program["create"] = json!("echo \"$TOKEN\" >&2; cat >&2; exit 1");
        let error = bench.try_create("command:Command", "x", &program).unwrap_err();
        assert!(!error.message.contains("hush") && error.message.contains("not shown"), "{error}");
    }
    let shell = json!({ "create": "x", "interpreter": [{ "secret": "/hush-hush" }] });
    let error = bench.try_create("command:Command", "x", &shell).unwrap_err();
    assert!(!error.message.contains("hush"), "{error}");
    // What was printed before stays secret for the commands that are told of it.
    let thing = bench.create("command:Command", &json!({ "create": { "secret": "echo hush-hush" } }));
    let told = bench.update(&thing, &json!({ "create": "echo $PULUMI_COMMAND_STDOUT" }));
    assert!(told.is_secret("stdout"));
    assert!(!bench.log.lock().unwrap().iter().any(|line| line.contains("hush")));
}

#[test]
fn what_is_shown_is_chosen() {
    for (logging, shown) in [
        ("stdout", vec!["out\n"]),
        ("stderr", vec!["err\n"]),
        ("none", vec![]),
        ("stdoutAndStderr", vec!["err\n", "out\n"]),
    ] {
        let bench = Bench::new();
        bench.create("command:Command", &json!({ "create": "echo out; echo err >&2", "logging": logging }));
        let mut log = bench.log.lock().unwrap().clone();
        log.sort();
        assert_eq!(log, shown, "{logging}");
    }
}

/// Creates something and cancels the operation meanwhile.
fn cancelled(bench: &Bench, command: &str, limit: f64) -> (drystone_engine::ProviderError, Duration) {
    let start = Instant::now();
    let inputs = bench.check("command:Command", &json!({ "create": command })).properties;
    let urn = crate::harness::urn("command:Command", "x");
    let arguments = CreateArguments { urn, inputs, timeout: limit, ..CreateArguments::default() };
    let error = bench.run(async {
        let soon = async {
            if limit == 0.0 {
                while !bench.path("started").exists() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                bench.provider.cancel().await.unwrap();
            }
        };
        tokio::join!(bench.provider.create(arguments), soon).0.unwrap_err()
    });
    (error, start.elapsed())
}

fn is_running(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_command_that_hangs_ends_with_all_that_it_started() {
    let bench = Bench::new();
    let (error, took) = cancelled(&bench, "sleep 600 & echo $! > child; touch started; wait", 0.0);
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ProviderErrorKind::Unknown, "the command was cancelled")
    );
    assert!(took < Duration::from_secs(20), "{took:?}");
    let child = fs::read_to_string(bench.path("child")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_running(&child) {
        assert!(Instant::now() < deadline, "{child} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_that_will_not_hear_is_killed() {
    let bench = Bench::new();
    let (error, took) =
        cancelled(&bench, "trap '' INT TERM; touch started; while :; do sleep 0.1; done", 0.0);
    assert_eq!(error.kind, ProviderErrorKind::Unknown);
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_time_limit_is_kept() {
    let bench = Bench::new();
    let (error, took) = cancelled(&bench, "sleep 600", 0.2);
    assert_eq!(error.message, "the command's time limit is over");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn a_command_that_never_stops_printing_is_ended() {
    let bench = Bench::new();
    let start = Instant::now();
    let error =
        bench.try_create("command:Command", "x", &json!({ "create": "yes", "logging": "none" })).unwrap_err();
    assert_eq!(error.message, "the command printed more than 16 MiB");
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_daemon_that_keeps_the_pipes_open_holds_up_nothing() {
    let bench = Bench::new();
    let start = Instant::now();
    let thing =
        bench.create("command:Command", &json!({ "create": "sleep 30 & echo $! > child; echo done" }));
    assert_eq!(thing.text("stdout"), "done");
    assert!(start.elapsed() < Duration::from_secs(20));
    let child = fs::read_to_string(bench.path("child")).unwrap();
    assert!(is_running(&child), "a daemon is meant to stay");
    std::process::Command::new("kill").arg(child.trim()).status().unwrap();
}

#[test]
fn output_that_no_variable_holds_does_not_keep_it_from_being_deleted() {
    let bench = Bench::new();
    let program = json!({ "create": "head -c 300000 /dev/zero | tr '\\0' x", "delete": "touch deleted", "logging": "none" });
    let thing = bench.create("command:Command", &program);
    assert_eq!(thing.text("stdout").len(), 300_000);
    bench.delete(&thing);
    assert!(bench.path("deleted").exists());
}

#[test]
fn the_function_runs_a_command() {
    let bench = Bench::new();
    let invoked =
        bench.invoke("drystone:command:run", &json!({ "command": "echo $A", "environment": { "A": "b" } }));
    assert_eq!(invoked.unwrap().properties["stdout"], Value::from("b"));
    let hidden =
        bench.invoke("drystone:command:run", &json!({ "command": { "secret": "echo hush" } })).unwrap();
    assert!(hidden.properties["stdout"].is_secret() && hidden.properties["command"].is_secret());
    let failed = bench.invoke("drystone:command:run", &json!({ "command": "exit 2" })).unwrap_err();
    assert!(failed.message.starts_with("the command ended with exit code 2\n"), "{failed}");
    let unknown = bench.invoke("drystone:command:run", &json!({ "command": { "unknown": true } })).unwrap();
    assert!(unknown.unknown);
}

#[test]
fn s17_the_function_shows_nothing_unless_it_is_asked_to() {
    let bench = Bench::new();
    let run = |logging: serde_json::Value| {
        let arguments = json!({ "command": "echo hush; echo hush >&2; exit 1", "logging": logging });
        bench.invoke("drystone:command:run", &arguments).unwrap_err().message
    };
    let told = run(serde_json::Value::Null);
    assert!(!told.contains("hush"), "{told}");
    assert!(bench.log.lock().unwrap().is_empty());
    assert_eq!(run(json!("stderr")), "the command ended with exit code 1:\nhush");
    assert_eq!(*bench.log.lock().unwrap(), ["hush\n"]);
}

#[test]
fn a_command_is_not_imported() {
    let error = Bench::new().try_import("command:Command", "command-1").unwrap_err();
    assert!(error.message.starts_with("a command cannot be imported"), "{error}");
}
