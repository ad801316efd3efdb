//! `--wait` (S13): who waits is told whom for, gets the stack when it is free, and gives up in time.

mod harness;

use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, HeldLease, Leases, StackId};
use harness::{Sandbox, deployment};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn held_stack() -> (Sandbox, Box<dyn HeldLease>, tokio::runtime::Runtime) {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("state.json", &deployment());
    sandbox.ok(&["stack", "import", "--file", "state.json"]);
    let store = LocalStore::open(sandbox.state(), LocalOptions::default()).expect("a store");
    let stack = StackId::new("shop", "dev").expect("a name");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let lease = runtime.block_on(store.acquire(&stack, Claim::new("up"))).expect("the lease");
    (sandbox, lease, runtime)
}

#[test]
fn s13_without_wait_a_held_stack_is_a_clear_error_at_once() {
    let (sandbox, _lease, _runtime) = held_stack();
    let ended = sandbox.drystone(&["state", "protect", "--all"]);
    assert_eq!(ended.code, 10, "{ended:#?}");
    for says in
        ["shop/dev is being updated by", "(`up`, since", "wait for it with `--wait`", "drystone cancel"]
    {
        assert!(ended.stderr.contains(says), "{says}: {ended:#?}");
    }
}

#[test]
fn s13_waiting_ends_when_its_time_is_up() {
    let (sandbox, _lease, _runtime) = held_stack();
    let began = Instant::now();
    let ended = sandbox.drystone(&["state", "protect", "--all", "--wait=1s"]);
    assert_eq!(ended.code, 9, "{ended:#?}");
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert!(ended.stderr.contains("Waiting for shop/dev: held by"), "{ended:#?}");
    let bad = sandbox.drystone(&["state", "protect", "--all", "--wait=soon"]);
    assert!(bad.code == 2 && bad.stderr.contains("90s, 10m or 1h"), "{bad:#?}");
}

#[test]
fn s13_who_waits_gets_the_stack_when_it_is_free() {
    let (sandbox, lease, runtime) = held_stack();
    let waiting = sandbox
        .command(env!("CARGO_BIN_EXE_drystone").as_ref(), &["state", "protect", "--all", "--yes", "--wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the CLI starts");
    std::thread::sleep(Duration::from_millis(400));
    runtime.block_on(lease.release()).expect("a release");
    let output = waiting.wait_with_output().expect("the CLI ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("Waiting for shop/dev: held by"), "{told}");
    assert!(sandbox.ok(&["stack", "export"]).contains("\"protect\": true"));
}
