//! `state seal`, `state rekey` and `state unseal`, and what those see who have no key.
#![allow(clippy::unwrap_used)]

mod harness;

use harness::{Ended, Sandbox, deployment};
use std::path::{Path, PathBuf};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "//////////////////////////////////////////8=";

/// What a command says of the stack. Which one is selected is known by the backend's URL, which changes here.
const EXPORT: [&str; 4] = ["stack", "export", "--stack", "dev"];

/// A backend with a stack that has resources.
fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.set("STATE_KEY", KEY);
    sandbox.set("OTHER_KEY", OTHER);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("state.json", &deployment());
    sandbox.ok(&["stack", "import", "--file", "state.json", "--force"]);
    sandbox
}

/// Opens the backend with an encrypter, or without one.
fn open_with(sandbox: &mut Sandbox, encrypter: Option<&str>) {
    let place = format!("file://{}", sandbox.state().display());
    let url = encrypter.map_or_else(|| place.clone(), |encrypter| format!("{place}?encrypter={encrypter}"));
    sandbox.set("PULUMI_BACKEND_URL", &url);
}

fn clear_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(clear_files(&path));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains("urn:pulumi") {
            found.push(path);
        }
    }
    found
}

fn refused(ended: &Ended, told: &str) {
    assert!(ended.code != 0 && ended.stderr.contains(told), "{ended:#?}");
}

#[test]
fn s19_a_backend_is_sealed_sealed_anew_and_unsealed() {
    let mut sandbox = sandbox();
    let before = sandbox.ok(&EXPORT);
    assert!(!clear_files(&sandbox.state()).is_empty());
    refused(&sandbox.drystone(&["state", "seal", "noop", "--yes"]), "seals nothing");
    let sealed = sandbox.drystone(&["state", "seal", "env-key:STATE_KEY", "--yes"]);
    assert_eq!(sealed.code, 0, "{sealed:#?}");
    assert!(sealed.stderr.contains("?encrypter=env-key:STATE_KEY'"), "{sealed:#?}");
    assert_eq!(clear_files(&sandbox.state()), Vec::<PathBuf>::new());

    let ended = sandbox.drystone(&EXPORT);
    refused(&ended, "everything here is sealed with env-key env-var STATE_KEY");
    refused(&ended, "encrypter=env-key:STATE_KEY");
    open_with(&mut sandbox, Some("env-key:OTHER_KEY"));
    refused(&sandbox.drystone(&EXPORT), "message authentication failed");
    open_with(&mut sandbox, Some("env-key:STATE_KEY"));
    assert_eq!(sandbox.ok(&EXPORT), before);
    sandbox.ok(&["stack", "tag", "set", "team", "a", "--stack", "dev"]);
    sandbox.ok(&["stack", "rename", "live", "--stack", "dev"]);
    sandbox.ok(&["stack", "rename", "dev", "--stack", "live"]);

    sandbox.ok(&["state", "rekey", "env-key:OTHER_KEY", "--yes"]);
    refused(&sandbox.drystone(&EXPORT), "sealed with env-key env-var OTHER_KEY");
    open_with(&mut sandbox, Some("env-key:OTHER_KEY"));
    assert_eq!(sandbox.ok(&["stack", "tag", "get", "team", "--stack", "dev"]).trim(), "a");
    sandbox.ok(&["state", "unseal", "--yes"]);
    refused(&sandbox.drystone(&EXPORT), "this backend is not sealed");
    open_with(&mut sandbox, None);
    sandbox.ok(&EXPORT);
    assert!(!clear_files(&sandbox.state()).is_empty());
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s19_the_stock_cli_is_told_that_a_stack_is_sealed_and_changes_nothing() {
    let sandbox = sandbox();
    sandbox.ok(&["state", "seal", "env-key:STATE_KEY", "--yes"]);
    let checkpoint = sandbox.state().join(".pulumi/stacks/shop/dev.json");
    let before = std::fs::read(&checkpoint).unwrap();
    for words in [vec!["stack", "export", "--stack", "dev"], vec!["preview", "--stack", "dev"]] {
        let ended = sandbox.stock(&words);
        assert_ne!(ended.code, 0, "{words:?}: {ended:#?}");
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("sealed-by-drystone"), "{words:?}: {ended:#?}");
    }
    assert_eq!(std::fs::read(&checkpoint).unwrap(), before);
}
