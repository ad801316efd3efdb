//! Disks that take nothing more: one clear error, the right exit code, and nothing changed or lost.
//!
//! Each test mounts a disk of its own in a name space that ends with it, which Linux lets every user do.

mod harness;

use harness::{Sandbox, deployment};
use std::process::Command;

/// Runs a shell script as root of a mount name space; `$STATE` is the backend's folder and `$DRYSTONE` our CLI.
fn script(sandbox: &Sandbox, text: &str) -> String {
    let arguments = ["--user", "--map-root-user", "--mount", "sh", "-euc", text];
    let mut command: Command = sandbox.command("unshare".as_ref(), &arguments);
    command.env("STATE", sandbox.state()).env("DRYSTONE", env!("CARGO_BIN_EXE_drystone"));
    let output = command.output().expect("unshare starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    stdout.into_owned()
}

fn stack_with_a_state() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("state.json", &deployment());
    sandbox.ok(&["stack", "import", "--file", "state.json"]);
    sandbox
}

#[test]
#[ignore = "needs Linux's mount name spaces: run by cargo xtask test"]
fn a_read_only_disk_is_read_and_a_write_changes_nothing() {
    let sandbox = stack_with_a_state();
    let told = script(
        &sandbox,
        r#"
        before=$("$DRYSTONE" stack export)
        mount --bind "$STATE" "$STATE"
        mount -o remount,bind,ro "$STATE"
        test "$before" = "$("$DRYSTONE" stack export)"
        "$DRYSTONE" stack ls >/dev/null
        "$DRYSTONE" state verify >/dev/null
        for command in "state protect --all --yes" "stack rm --force --yes" "stack rename other" "stack tag set a b"; do
            code=0
            "$DRYSTONE" $command 2>&1 || code=$?
            echo "code $code"
        done
        test "$before" = "$("$DRYSTONE" stack export)"
        "#,
    );
    assert_eq!(told.matches("code 12").count(), 4, "{told}");
    assert_eq!(told.matches("error: ").count(), 4, "{told}");
    assert_eq!(
        told.matches("hint: the directory is not writable for you: nothing was changed").count(),
        4,
        "{told}"
    );
}

#[test]
#[ignore = "needs Linux's mount name spaces: run by cargo xtask test"]
fn a_full_disk_refuses_and_loses_nothing() {
    let sandbox = stack_with_a_state();
    let told = script(
        &sandbox,
        r#"
        cp -r "$STATE" copy
        mount -t tmpfs -o size=256k tmpfs "$STATE"
        cp -r copy/. "$STATE"
        before=$("$DRYSTONE" stack export)
        cat /dev/zero > "$STATE/filler" 2>/dev/null || true
        for command in "state protect --all --yes" "stack import --file state.json" "stack tag set a b"; do
            code=0
            "$DRYSTONE" $command 2>&1 || code=$?
            echo "code $code"
        done
        test "$before" = "$("$DRYSTONE" stack export)"
        rm "$STATE/filler"
        "$DRYSTONE" state protect --all --yes >/dev/null 2>&1
        "$DRYSTONE" state verify >/dev/null
        echo mended
        "#,
    );
    assert_eq!(told.matches("code 12").count(), 3, "{told}");
    assert_eq!(told.matches("hint: the disk is full: nothing was changed; make room").count(), 3, "{told}");
    assert!(told.contains("mended"), "{told}");
}
