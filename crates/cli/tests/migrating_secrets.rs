//! `stack migrate --secrets-provider` (S18): the copy is sealed anew, its settings go with it, and a migration that was
//! killed at any moment goes on.

#![allow(clippy::print_stdout)]

mod backends;
mod guarded;
mod harness;

use backends::{Place, json};
use drystone_servers::{Proxy, Trouble, minio};
use drystone_standins::vault::Vault;
use guarded::{PROGRAM, VAULT_KEY, make_guarded, set_vault, up};
use harness::{Ended, Sandbox};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A stack `dev` with a passphrase, two updates and a secret in each half, Vault, and another folder to go to.
fn source() -> (Sandbox, Vault, String) {
    let mut sandbox = Sandbox::new();
    let vault = Vault::start();
    set_vault(&mut sandbox, &vault);
    make_guarded(&sandbox, "passphrase");
    sandbox.write("Pulumi.yaml", &PROGRAM.replace("hush-hush", "hush-hush-hush"));
    assert_eq!(up(&sandbox).code, 0);
    let there = sandbox.folder().join("there");
    std::fs::create_dir(&there).expect("a folder");
    (sandbox, vault, format!("file://{}", there.display()))
}

fn migrate(sandbox: &Sandbox, to: &str, provider: &str) -> Ended {
    sandbox.drystone(&["stack", "migrate", "dev", to, "--secrets-provider", provider])
}

fn revisions(sandbox: &Sandbox, stack: &str) -> usize {
    let revisions = json(&sandbox.ok(&["stack", "revisions", "--json", "-s", stack]));
    revisions.as_array().map_or(0, Vec::len)
}

fn sealed_by(sandbox: &Sandbox, stack: &str, version: Option<&str>) -> String {
    let mut words = vec!["stack", "export", "-s", stack];
    words.extend(version.iter().flat_map(|version| ["--version", *version]));
    let provider = json(&sandbox.ok(&words))["deployment"]["secrets_providers"].clone();
    provider["state"]["url"]
        .as_str()
        .unwrap_or_else(|| provider["type"].as_str().unwrap_or("none"))
        .to_owned()
}

/// Asserts that the stack of the backend in use opens, state and settings, in all its revisions.
fn opens(sandbox: &Sandbox, stack: &str) {
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", stack]).trim(), "tok-1");
    let revisions = json(&sandbox.ok(&["stack", "revisions", "--json", "-s", stack]));
    // That of `stack init` has no secrets. A write that was cut short may leave a number out.
    for revision in revisions.as_array().into_iter().flatten().filter(|it| it["command"] != "stack init") {
        let version = revision["number"].to_string();
        let state = sandbox.ok(&["stack", "export", "-s", stack, "--version", &version, "--show-secrets"]);
        assert!(state.contains("hush-hush") && state.contains("tok-1"), "{version}: {state}");
    }
    let sealed =
        sandbox.ok(&["stack", "export", "-s", stack]) + &sandbox.read(&format!("Pulumi.{stack}.yaml"));
    assert!(!sealed.contains("hush-hush") && !sealed.contains("tok-1"), "{sealed}");
}

#[test]
fn s18_the_copy_is_sealed_anew_with_its_revisions_and_its_settings() {
    let (mut sandbox, _vault, there) = source();
    let before = revisions(&sandbox, "dev");
    let ended = migrate(&sandbox, &there, VAULT_KEY);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("all were read back"), "{ended:#?}");
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert!(settings.contains(&format!("secretsprovider: {VAULT_KEY}\n")), "{settings}");
    assert!(settings.contains("encryptedkey: ") && !settings.contains("encryptionsalt"), "{settings}");

    // The source stays, and opens with its passphrase.
    let state = sandbox.ok(&["stack", "export", "-s", "dev", "--show-secrets"]);
    assert!(state.contains("hush-hush-hush"), "{state}");
    assert_eq!(sealed_by(&sandbox, "dev", None), "passphrase");

    // Whoever has only the new key can open everything of the copy.
    sandbox.set("PULUMI_BACKEND_URL", &there);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "forgotten");
    assert_eq!(revisions(&sandbox, "dev"), before);
    opens(&sandbox, "dev");
    for version in ["1", "2", "3"] {
        assert_eq!(sealed_by(&sandbox, "dev", Some(version)), VAULT_KEY, "{version}");
    }
    let unchanged = sandbox.drystone(&["up", "--yes", "--skip-preview", "--expect-no-changes", "-s", "dev"]);
    assert_eq!(unchanged.code, 0, "{unchanged:#?}");
}

#[test]
fn s18_an_earlier_revision_that_cannot_be_opened_keeps_what_sealed_it() {
    let (mut sandbox, _vault, there) = source();
    let changed = sandbox
        .drystone_with(&["stack", "change-secrets-provider", "passphrase", "-s", "dev"], "battery staple\n");
    assert_eq!(changed.code, 0, "{changed:#?}");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "battery staple");
    let ended = migrate(&sandbox, &there, VAULT_KEY);
    assert_eq!(ended.code, 0, "{ended:#?}");
    for revision in ["revision 2 is copied as it is", "revision 3 is copied as it is"] {
        assert!(ended.stderr.contains(revision), "{revision}: {ended:#?}");
    }
    sandbox.set("PULUMI_BACKEND_URL", &there);
    assert_eq!(sealed_by(&sandbox, "dev", None), VAULT_KEY);
    assert_eq!(sealed_by(&sandbox, "dev", Some("3")), "passphrase");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    opens(&sandbox, "dev");
}

#[test]
fn s18_what_cannot_be_opened_is_not_copied() {
    let (mut sandbox, vault, there) = source();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    let settings = sandbox.read("Pulumi.dev.yaml");
    let refused = migrate(&sandbox, &there, VAULT_KEY);
    assert_eq!(refused.code, 3, "{refused:#?}");
    vault.server().suffer(drystone_standins::Trouble::HangsUp);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    let refused = migrate(&sandbox, &there, VAULT_KEY);
    assert_eq!(refused.code, 12, "{refused:#?}");
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings);
    sandbox.set("PULUMI_BACKEND_URL", &there);
    assert_eq!(sandbox.drystone(&["stack", "export", "-s", "dev"]).code, 6, "nothing was made");
}

#[test]
fn s18_a_new_passphrase_is_read_like_that_of_a_change() {
    let (mut sandbox, _vault, there) = source();
    let words = ["stack", "migrate", "dev", &there, "--secrets-provider", "passphrase"];
    let ended = sandbox.drystone_with(&words, "battery staple\n");
    assert_eq!(ended.code, 0, "{ended:#?}");
    // Once more changes nothing: what is wanted is there.
    let settings = sandbox.read("Pulumi.dev.yaml");
    let again = sandbox.drystone_with(&words, "battery staple\n");
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stderr.contains("Copied 0 revision(s)"), "{again:#?}");
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings);
    sandbox.set("PULUMI_BACKEND_URL", &there);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "battery staple");
    opens(&sandbox, "dev");
}

#[test]
fn a_copy_of_another_name_gets_the_settings() {
    let (mut sandbox, _vault, there) = source();
    let settings = sandbox.read("Pulumi.dev.yaml");
    sandbox.ok(&["stack", "migrate", "dev", &format!("{there}#plain")]);
    sandbox.ok(&["stack", "migrate", "dev", &format!("{there}#prod"), "--secrets-provider", VAULT_KEY]);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings, "the source's own stay");
    sandbox.set("PULUMI_BACKEND_URL", &there);
    opens(&sandbox, "plain");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "forgotten");
    opens(&sandbox, "prod");
}

#[test]
fn secrets_are_not_sealed_anew_where_the_settings_are_not() {
    let (sandbox, _vault, there) = source();
    let elsewhere = format!("{there}#organization/store/dev");
    let refused = migrate(&sandbox, &elsewhere, VAULT_KEY);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.stderr.contains("hint: run the command in the folder of its project"), "{refused:#?}");
    let refused = migrate(&sandbox, &there, "nope");
    assert_eq!(refused.code, 2, "{refused:#?}");
}

#[test]
fn s18_a_copy_that_was_made_as_it_was_is_sealed_anew_by_a_second_command() {
    let (mut sandbox, _vault, there) = source();
    sandbox.ok(&["stack", "migrate", "dev", &there]);
    let ended = migrate(&sandbox, &there, VAULT_KEY);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("Copied 1 revision(s)"), "{ended:#?}");
    let again = migrate(&sandbox, &there, VAULT_KEY);
    assert!(again.code == 0 && again.stderr.contains("Copied 0 revision(s)"), "{again:#?}");
    sandbox.set("PULUMI_BACKEND_URL", &there);
    assert_eq!(sealed_by(&sandbox, "dev", None), VAULT_KEY);
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "dev"]).trim(), "tok-1");
}

/// Runs a migration and kills it when so many changes and one more have been carried out; says whether it came to that.
/// Killing it after something that only reads would leave the same.
fn killed(sandbox: &Sandbox, to: &str, proxy: &Proxy, after: u64) -> bool {
    proxy.trouble_changes(after, Trouble::Hang, Duration::from_secs(30));
    let mut child = sandbox
        .command(
            env!("CARGO_BIN_EXE_drystone").as_ref(),
            &["stack", "migrate", "dev", to, "--secrets-provider", VAULT_KEY],
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the CLI starts");
    let began = Instant::now();
    loop {
        if proxy.has_come_about() {
            break;
        }
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it hangs before change {after}");
        std::thread::sleep(Duration::from_millis(2));
    }
    // The change counts when it is on its way; it is carried out within moments.
    std::thread::sleep(Duration::from_millis(30));
    child.kill().expect("a kill");
    child.wait().expect("an end");
    true
}

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn s18_a_migration_that_was_killed_after_any_write_goes_on() {
    let (mut sandbox, _vault, _) = source();
    let proxy = Proxy::before(minio().port());
    let here = format!("file://{}", sandbox.state().display());
    let (settings, count) = (sandbox.read("Pulumi.dev.yaml"), revisions(&sandbox, "dev"));
    let mut kills = 0;
    loop {
        let place = Place::minio_by(proxy.port());
        place.open_to(&mut sandbox);
        sandbox.set("PULUMI_BACKEND_URL", &here);
        sandbox.write("Pulumi.dev.yaml", &settings);
        let was_killed = killed(&sandbox, &place.url, &proxy, kills);
        proxy.mend();
        if was_killed {
            // What the killed one held would be free in a minute by itself.
            sandbox.set("PULUMI_BACKEND_URL", &place.url);
            sandbox.drystone(&["cancel", "--yes", "dev"]);
            sandbox.set("PULUMI_BACKEND_URL", &here);
            let again = migrate(&sandbox, &place.url, VAULT_KEY);
            assert_eq!(again.code, 0, "killed after write {kills}: {again:#?}");
        }
        sandbox.set("PULUMI_BACKEND_URL", &place.url);
        sandbox.set("PULUMI_CONFIG_PASSPHRASE", "forgotten");
        assert_eq!(revisions(&sandbox, "dev"), count, "killed after write {kills}");
        opens(&sandbox, "dev");
        sandbox.unset("PULUMI_CONFIG_PASSPHRASE");
        if !was_killed {
            break;
        }
        kills += 1;
    }
    println!("killed {kills} migrations, each after another write; all went on, nothing is lost");
    assert!(kills > 10, "{kills}");
}
