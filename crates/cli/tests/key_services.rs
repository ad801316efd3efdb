//! Stacks whose secrets a key service guards. The services are stand-ins.

mod guarded;
mod harness;

use drystone_standins::Trouble;
use drystone_standins::vault::{ROOT, Vault};
use guarded::{AZURE_KEY, GOOGLE_KEY, PROGRAM, VAULT_KEY, azure, google, make_guarded, opens, set_vault, up};
use harness::{Ended, Sandbox};
use serde_json::Value;
use std::collections::BTreeMap;

fn in_vault() -> (Sandbox, Vault) {
    let mut sandbox = Sandbox::new();
    let vault = Vault::start();
    set_vault(&mut sandbox, &vault);
    sandbox.unset("PULUMI_CONFIG_PASSPHRASE");
    (sandbox, vault)
}

fn change(sandbox: &Sandbox, provider: &str) -> Ended {
    sandbox.drystone(&["stack", "change-secrets-provider", provider, "-s", "dev"])
}

/// The settings and the checkpoint of the stack, byte for byte.
fn both(sandbox: &Sandbox) -> BTreeMap<&'static str, String> {
    let checkpoint = sandbox.state().join(".pulumi/stacks/shop/dev.json");
    BTreeMap::from([
        ("settings", sandbox.read("Pulumi.dev.yaml")),
        ("state", std::fs::read_to_string(checkpoint).expect("a checkpoint")),
    ])
}

fn provider(sandbox: &Sandbox) -> Value {
    let document: Value = serde_json::from_str(&sandbox.ok(&["stack", "export", "-s", "dev"])).expect("JSON");
    document["deployment"]["secrets_providers"].clone()
}

#[test]
fn a_stack_lives_with_a_key_of_vault() {
    let (sandbox, vault) = in_vault();
    make_guarded(&sandbox, VAULT_KEY);
    opens(&sandbox);
    let (provider, settings) = (provider(&sandbox), sandbox.read("Pulumi.dev.yaml"));
    assert_eq!(provider["type"], "cloud");
    assert_eq!(provider["state"]["url"], VAULT_KEY);
    let key = provider["state"]["encryptedkey"].as_str().expect("a key");
    assert!(settings.contains(&format!("secretsprovider: {VAULT_KEY}\n")), "{settings}");
    assert!(settings.contains(&format!("encryptedkey: {key}\n")), "{settings}");
    assert!(!settings.contains("encryptionsalt"), "{settings}");
    assert_eq!(vault.server().count("/encrypt/stacks"), 1, "only `stack init` makes a data key");
}

#[test]
fn s18_a_command_asks_the_service_once_and_one_without_secrets_never() {
    let (sandbox, vault) = in_vault();
    make_guarded(&sandbox, VAULT_KEY);
    for (arguments, expected) in [
        (&["up", "--yes", "-s", "dev"][..], 1),
        (&["up", "--yes", "--skip-preview", "-s", "dev"], 1),
        (&["preview", "-s", "dev"], 1),
        (&["refresh", "--yes", "-s", "dev"], 1),
        (&["stack", "export", "-s", "dev", "--show-secrets"], 1),
        (&["stack", "output", "-s", "dev", "--show-secrets"], 1),
        (&["config", "-s", "dev", "--show-secrets"], 1),
        (&["config", "set", "--secret", "other", "x", "-s", "dev"], 1),
        (&["stack", "output", "-s", "dev"], 0),
        (&["stack", "export", "-s", "dev"], 0),
        (&["config", "-s", "dev"], 0),
        (&["state", "list", "-s", "dev"], 0),
        (&["stack", "ls"], 0),
        (&["destroy", "--yes", "-s", "dev"], 1),
    ] {
        let before = vault.server().asked().len();
        sandbox.ok(arguments);
        assert_eq!(vault.server().asked().len() - before, expected, "{arguments:?}");
    }
}

#[test]
fn a_stack_lives_with_a_key_of_azure() {
    let mut sandbox = Sandbox::new();
    let (azure, _cloud) = azure(&mut sandbox);
    make_guarded(&sandbox, AZURE_KEY);
    opens(&sandbox);
    // The vault rotates the key: what its older version sealed is opened by naming that version.
    azure.make("stacks");
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.stderr.contains("was not sealed with this key"), "{refused:#?}");
    assert!(
        refused.stderr.contains("hint: if the vault has rotated the key, add the version"),
        "{refused:#?}"
    );
    let named = sandbox.read("Pulumi.dev.yaml").replace(AZURE_KEY, &format!("{AZURE_KEY}/{:032x}", 1));
    sandbox.write("Pulumi.dev.yaml", &named);
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "dev"]).trim(), "tok-1");

    sandbox.set("AZURE_CLIENT_SECRET", "wrong");
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.stderr.contains("AADSTS7000215") && refused.stderr.contains("az login"), "{refused:#?}");
    sandbox.set("AZURE_CLIENT_SECRET", drystone_standins::azure::SECRET);
    azure.set_disabled(true);
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert!(refused.code == 3 && refused.stderr.contains("the key cannot be used"), "{refused:#?}");
    azure.set_disabled(false);
    azure.forbid("decrypt");
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert!(refused.code == 3 && refused.stderr.contains("Key Vault Crypto User"), "{refused:#?}");
    let missing = sandbox.drystone(&[
        "stack",
        "init",
        "x",
        "--secrets-provider",
        "azurekeyvault://acme.vault.azure.net/keys/none",
    ]);
    assert!(missing.code == 3 && missing.stderr.contains("no such key"), "{missing:#?}");
}

#[test]
fn a_stack_lives_with_a_key_of_google() {
    let mut sandbox = Sandbox::new();
    let (google, _cloud) = google(&mut sandbox);
    make_guarded(&sandbox, GOOGLE_KEY);
    opens(&sandbox);
    google.forbid("decrypt");
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert!(refused.code == 3 && refused.stderr.contains("access denied"), "{refused:#?}");
    // An account that the service does not know.
    let (other, _) = (drystone_standins::google::Google::default(), ());
    sandbox.set("GOOGLE_CREDENTIALS", &other.credentials());
    let refused = sandbox.drystone(&["config", "get", "token", "-s", "dev"]);
    assert!(refused.code == 3 && refused.stderr.contains("Invalid JWT Signature"), "{refused:#?}");
    assert!(
        refused.stderr.contains("hint: log in with `gcloud auth application-default login`"),
        "{refused:#?}"
    );
}

#[test]
fn s18_a_stack_moves_between_services_and_its_old_revisions_stay_readable() {
    let (mut sandbox, vault) = in_vault();
    let (_azure, _cloud) = azure(&mut sandbox);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    make_guarded(&sandbox, "passphrase");
    opens(&sandbox);
    for provider in [VAULT_KEY, AZURE_KEY, "passphrase", VAULT_KEY] {
        let changed = change(&sandbox, provider);
        assert_eq!(changed.code, 0, "{provider}: {changed:#?}");
        assert_eq!(changed.stdout, "Migrating old configuration and state to new secrets provider\n");
        opens(&sandbox);
        let settings = sandbox.read("Pulumi.dev.yaml");
        assert_eq!(settings.contains("encryptionsalt"), provider == "passphrase", "{settings}");
        assert_eq!(
            settings.contains(&format!("secretsprovider: {provider}\n")),
            provider != "passphrase",
            "{settings}"
        );
        assert_eq!(settings.contains("encryptedkey"), provider != "passphrase", "{settings}");
    }
    // A revision for each: of the passphrase, of Vault, of Azure, of another passphrase. The first is of `stack init`.
    for back in ["2", "3", "4", "5"] {
        let old = sandbox.ok(&["stack", "export", "-s", "dev", "--version", back, "--show-secrets"]);
        assert!(old.contains("hush-hush"), "{back}: {old}");
    }
    vault.rotate("stacks");
    opens(&sandbox);
}

#[test]
fn s18_the_same_key_again_makes_a_new_data_key() {
    let (sandbox, vault) = in_vault();
    make_guarded(&sandbox, VAULT_KEY);
    let (old, sealed) = (provider(&sandbox), both(&sandbox));
    vault.rotate("stacks");
    let changed = change(&sandbox, VAULT_KEY);
    assert_eq!(changed.code, 0, "{changed:#?}");
    let new = provider(&sandbox);
    assert_eq!(new["state"]["url"], old["state"]["url"]);
    assert_ne!(new["state"]["encryptedkey"], old["state"]["encryptedkey"]);
    assert_ne!(both(&sandbox), sealed);
    opens(&sandbox);
    let before = sandbox.ok(&["stack", "export", "-s", "dev", "--version", "@-", "--show-secrets"]);
    assert!(before.contains("hush-hush"), "{before}");
}

#[test]
fn s18_a_change_that_was_cut_off_is_finished_or_undone() {
    let (mut sandbox, _vault) = in_vault();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    make_guarded(&sandbox, "passphrase");
    let before = both(&sandbox);
    assert_eq!(change(&sandbox, VAULT_KEY).code, 0);
    let after = both(&sandbox);
    let checkpoint = sandbox.state().join(".pulumi/stacks/shop/dev.json");

    // Ours writes the state first.
    sandbox.write("Pulumi.dev.yaml", &before["settings"]);
    let again = change(&sandbox, VAULT_KEY);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stderr.contains("Finishing a change"), "{again:#?}");
    assert_eq!(both(&sandbox)["state"], after["state"]);
    opens(&sandbox);

    sandbox.write("Pulumi.dev.yaml", &before["settings"]);
    let undone = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    opens(&sandbox);

    // The stock CLI writes the settings first.
    sandbox.write("Pulumi.dev.yaml", &after["settings"]);
    std::fs::write(&checkpoint, &before["state"]).expect("a file");
    let again = change(&sandbox, VAULT_KEY);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stderr.contains("Finishing a change"), "{again:#?}");
    opens(&sandbox);
}

#[test]
fn a_service_that_fails_is_told_of_with_a_hint_and_nothing_is_half_done() {
    let (mut sandbox, vault) = in_vault();
    make_guarded(&sandbox, VAULT_KEY);
    sandbox.write(
        "Pulumi.yaml",
        &PROGRAM.replace("kept:", "more: { type: 'pulumi:index:Stash', properties: { input: 1 } }\n  kept:"),
    );
    sandbox.set("VAULT_CLIENT_TIMEOUT", "1");
    let before = both(&sandbox);
    vault.grant("sealer", &["/encrypt/stacks"]);
    let html = "is not understood";
    for (trouble, token, code, message, hint) in [
        (
            Trouble::Refuses(500, "out of order".into()),
            ROOT,
            12,
            "answered 500: out of order",
            "nothing was changed",
        ),
        (
            Trouble::Slow(std::time::Duration::from_secs(3)),
            ROOT,
            12,
            "it took too long",
            "run the command again",
        ),
        (Trouble::Babbles, ROOT, 12, html, "no proxy before it"),
        (Trouble::HangsUp, ROOT, 12, "no answer from 127.0.0.1", "nothing was changed"),
        (Trouble::None, "expired", 3, "invalid token", "the token may have expired"),
        (Trouble::None, "sealer", 3, "permission denied", "its policy lacks `update`"),
        (Trouble::None, "", 3, "VAULT_TOKEN is not set", "set VAULT_TOKEN"),
    ] {
        vault.server().suffer(trouble.clone());
        sandbox.set("VAULT_TOKEN", token);
        for arguments in [
            &["up", "--yes", "--skip-preview", "-s", "dev"][..],
            &["config", "set", "--secret", "other", "x", "-s", "dev"],
            &["stack", "export", "-s", "dev", "--show-secrets"],
            &["stack", "change-secrets-provider", VAULT_KEY, "-s", "dev"],
        ] {
            let ended = sandbox.drystone(arguments);
            assert_eq!(ended.code, code, "{trouble:?} {arguments:?}: {ended:#?}");
            assert!(ended.stderr.contains(message), "{trouble:?} {arguments:?}: {ended:#?}");
            assert!(ended.stderr.contains(hint), "{trouble:?} {arguments:?}: {ended:#?}");
            let errors = ended.stderr.lines().filter(|line| line.starts_with("error:")).count();
            assert_eq!(errors, 1, "{trouble:?} {arguments:?}: {ended:#?}");
        }
        assert_eq!(both(&sandbox), before, "{trouble:?}");
        let other = sandbox.drystone(&["stack", "init", "other", "--secrets-provider", VAULT_KEY]);
        assert_eq!(other.code, code, "{other:#?}");
        assert!(!sandbox.project().join("Pulumi.other.yaml").exists());
    }
    // What needs no secret goes on.
    assert!(sandbox.ok(&["state", "list", "-s", "dev"]).contains("kept"));
    vault.server().suffer(Trouble::None);
    sandbox.set("VAULT_TOKEN", ROOT);
    opens(&sandbox);
}

#[test]
fn what_names_no_key_is_refused_before_anything_is_made() {
    let (mut sandbox, vault) = in_vault();
    sandbox.unset("VAULT_ADDR");
    for (url, message) in [
        (VAULT_KEY, "does not stand in VAULT_ADDR"),
        ("hashivault://stacks?color=red", "unknown parameter `color`"),
        ("awskms://alias/stacks", "its region is not known"),
        ("awskms://arn:aws:kms:eu-1:1:key/k", "an ARN is written after three slashes"),
        ("gcpkms://stacks", "a key is `gcpkms://projects/PROJECT"),
        ("azurekeyvault://acme.example/keys/k", "a key is `azurekeyvault://VAULT.vault.azure.net"),
    ] {
        let ended = sandbox.drystone(&["stack", "init", "dev", "--secrets-provider", url]);
        assert_eq!(ended.code, 2, "{url}: {ended:#?}");
        assert!(ended.stderr.contains(message), "{url}: {ended:#?}");
        assert!(ended.stderr.contains("hint: "), "{url}: {ended:#?}");
        assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
    }
    assert!(vault.server().asked().is_empty());
}

#[test]
fn settings_that_name_a_key_are_kept_to() {
    let (sandbox, vault) = in_vault();
    sandbox.write("Pulumi.dev.yaml", &format!("# Ours.\nsecretsprovider: {VAULT_KEY}\n"));
    sandbox.ok(&["stack", "init", "dev"]);
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert!(settings.contains("# Ours.") && settings.contains("encryptedkey: "), "{settings}");
    sandbox.ok(&["config", "set", "--secret", "token", "tok-1", "-s", "dev"]);
    assert_eq!(vault.server().count("/encrypt/stacks"), 1);

    // The same settings again keep their data key; another provider would lose what it has sealed.
    sandbox.ok(&["stack", "rm", "--yes", "--preserve-config", "dev"]);
    let other = sandbox.drystone(&["stack", "init", "dev", "--secrets-provider", "hashivault://another"]);
    assert_eq!(other.code, 2, "{other:#?}");
    assert!(other.stderr.contains("hold secrets that hashivault://stacks has sealed"), "{other:#?}");
    sandbox.ok(&["stack", "init", "dev", "--secrets-provider", VAULT_KEY]);
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "dev"]).trim(), "tok-1");
    assert_eq!(vault.server().count("/encrypt/stacks"), 1);
}

#[test]
fn configuration_is_copied_from_a_stack_of_another_service() {
    let (mut sandbox, _vault) = in_vault();
    let (_azure, _cloud) = azure(&mut sandbox);
    make_guarded(&sandbox, VAULT_KEY);
    sandbox.ok(&["stack", "init", "prod", "--secrets-provider", AZURE_KEY, "--copy-config-from", "dev"]);
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "prod"]).trim(), "tok-1");
    sandbox.set("VAULT_ADDR", "http://127.0.0.1:1");
    assert_eq!(sandbox.ok(&["config", "get", "token", "-s", "prod"]).trim(), "tok-1");
    assert_eq!(up(&sandbox).code, 12);
}
