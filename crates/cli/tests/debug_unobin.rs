//! `debug unobin`: the verbs by which our bytes are compared with those of unobin's own packages.
#![allow(clippy::unwrap_used)]

mod harness;

use harness::{Ended, Sandbox};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/unobin");
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{FIXTURES}/{name}")).unwrap()
}

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.set("UB_STATE_KEY", KEY);
    sandbox
}

fn unobin(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    sandbox.drystone(&[&["debug", "unobin"], arguments].concat())
}

fn store(sandbox: &Sandbox, verb: &[&str]) -> Ended {
    unobin(sandbox, &[&["store", "tree", "demo", "dev", "env-key:UB_STATE_KEY"], verb].concat())
}

/// What a verb that must succeed printed.
fn printed(ended: Ended) -> String {
    assert_eq!(ended.code, 0, "{ended:#?}");
    ended.stdout
}

#[test]
fn documents_are_encoded_sealed_and_opened() {
    let sandbox = sandbox();
    let file = |name: &str| format!("{FIXTURES}/{name}");
    let (encoded, with_ref) = ("snapshot.encoded.json", "envelope.env-key.with-ref.json");
    assert_eq!(printed(unobin(&sandbox, &["encode", &file(encoded)])), fixture(encoded));
    assert!(!printed(unobin(&sandbox, &["encode", &file("snapshot.in.json")])).contains("Unknown"));

    let reference = r#"{"alias":"aws","name":"kms","body":{"key-id":"alias/state","region":"us-east-1"}}"#;
    let wrapped = printed(unobin(&sandbox, &["wrap", &file(encoded), reference]));
    assert_eq!(wrapped, fixture("envelope.noop.alias-ref.json"));
    assert_eq!(printed(unobin(&sandbox, &["seal", &file(encoded), reference, "noop"])), wrapped);

    assert_eq!(
        printed(unobin(&sandbox, &["open", &file(with_ref), "env-key:UB_STATE_KEY"])),
        fixture(encoded)
    );
    let sealed = printed(unobin(&sandbox, &["seal", &file(encoded), "null", "env-key:UB_STATE_KEY"]));
    assert!(!sealed.contains("encrypter"), "{sealed}");
    sandbox.write("sealed", &sealed);
    assert_eq!(printed(unobin(&sandbox, &["open", "sealed", "env-key:UB_STATE_KEY"])), fixture(encoded));
}

#[test]
fn what_cannot_be_done_ends_with_1_and_the_words_of_unobin() {
    let mut sandbox = sandbox();
    let file = |name: &str| format!("{FIXTURES}/{name}");
    sandbox.write("bad.json", r#"{"format-version":1,"entries":[{"address":"a"}]}"#);
    sandbox.set("OTHER_KEY", "//////////////////////////////////////////8=");
    let sealed = file("envelope.env-key.with-ref.json");
    for (arguments, told) in [
        (vec!["encode", "bad.json"], "error: snapshot: entry \"a\" missing type\n"),
        (vec!["open", &sealed, "env-key:UNSET"], "error: env-key encrypter: UNSET is not set\n"),
        (
            vec!["open", &sealed, "env-key:OTHER_KEY"],
            "error: open: decrypt: cipher: message authentication failed\n\
             hint: the envelope says that it was sealed with env-key env-var UB_STATE_KEY\n",
        ),
        (vec!["open", &sealed, "rot13"], "error: the encrypter 'rot13' is not known\n"),
        (
            vec!["store", "tree", "demo", "../../esc", "noop", "list"],
            "error: local store: \"../../esc\" cannot",
        ),
    ] {
        let ended = unobin(&sandbox, &arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{arguments:?}: {ended:#?}");
        assert!(ended.stderr.starts_with(told), "{arguments:?}: {ended:#?}");
    }
}

#[test]
fn a_stack_is_written_made_current_and_read() {
    let sandbox = sandbox();
    let ended = store(&sandbox, &["current"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (3, "error: no current snapshot\n"));
    assert_eq!(store(&sandbox, &["current-rev"]).code, 3);
    assert_eq!(printed(store(&sandbox, &["list"])), "");

    let file = format!("{FIXTURES}/snapshot.encoded.json");
    let first = printed(store(&sandbox, &["write", &file]));
    let second = printed(store(&sandbox, &["write", &file]));
    assert_eq!(printed(store(&sandbox, &["list"])), format!("{first}{second}"));
    let (first, second) = (first.trim(), second.trim());
    printed(store(&sandbox, &["set-current", first]));
    assert_eq!(printed(store(&sandbox, &["current-rev"])), format!("{first}\n"));
    for verb in [vec!["current"], vec!["get", second]] {
        assert_eq!(printed(store(&sandbox, &verb)), fixture("snapshot.encoded.json"));
    }
    assert_eq!(store(&sandbox, &["delete", first]).code, 1);
    printed(store(&sandbox, &["delete", second]));
    assert_eq!(store(&sandbox, &["set-current", second]).code, 1);
    assert_eq!(printed(store(&sandbox, &["list"])), format!("{first}\n"));
}

#[test]
fn one_holds_the_lock_until_it_lets_go_or_is_broken() {
    let sandbox = sandbox();
    let arguments = "debug unobin store tree demo dev noop lock-hold 60";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut holder = sandbox
        .command(Path::new(env!("CARGO_BIN_EXE_drystone")), &arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "locked\n");
    let lock = sandbox.project().join("tree/demo/dev/lock");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), format!("{}\n", holder.id()));
    let ended = store(&sandbox, &["lock-try", "0"]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(
        ended.stderr.starts_with(&format!("error: state locked by process {}", holder.id())),
        "{ended:#?}"
    );

    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(store(&sandbox, &["lock-try", "0"]).code, 1, "nothing is taken from the dead unasked");
    let broken = store(&sandbox, &["force-unlock"]);
    assert_eq!(broken.code, 0);
    assert!(broken.stderr.contains(&format!("process {}", holder.id())), "{broken:#?}");
    assert_eq!(printed(store(&sandbox, &["lock-try", "0"])), "locked\n");
    assert!(!lock.exists());
    printed(store(&sandbox, &["lock-hold", "0"]));
    printed(store(&sandbox, &["force-unlock"]));
}
