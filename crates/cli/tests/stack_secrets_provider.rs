//! Changing the passphrase of a stack.

mod harness;
mod made_stack;

use harness::{Ended, Sandbox};
use made_stack::{SALT, everything, exported, import, sandbox, with_open_secret};

fn change(sandbox: &Sandbox, new: &str) -> Ended {
    sandbox.drystone_with(&["stack", "change-secrets-provider", "passphrase", "-s", "dev"], new)
}

/// What the state and the settings hide, opened with a passphrase.
fn opened(sandbox: &mut Sandbox, passphrase: &str) -> (Ended, bool) {
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", passphrase);
    let state = sandbox.drystone(&["stack", "export", "-s", "dev", "--show-secrets"]);
    let folder = sandbox.state().join(".pulumi/history/shop/dev");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = sandbox.read("Pulumi.dev.yaml");
    let ciphertext =
        settings.split("secure: ").nth(1).and_then(|rest| rest.lines().next()).expect("a secret");
    let record = format!(
        r#"{{"kind":"update","startTime":1,"message":"","environment":{{}},"config":{{"shop:tok":{{"secure":"{ciphertext}"}}}},"version":0,"result":"succeeded","endTime":2}}"#
    );
    std::fs::write(folder.join("dev-1.history.json"), record).expect("a file");
    let history = sandbox.drystone(&["stack", "history", "-s", "dev", "--json", "--show-secrets"]);
    (state, history.stdout.contains("\"value\": \"abc\""))
}

#[test]
fn s18_state_and_settings_are_sealed_anew_and_old_revisions_stay_readable() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let ended = change(&sandbox, "battery staple\n");
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(ended.stdout, "Migrating old configuration and state to new secrets provider\n");
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert!(!settings.contains(SALT) && settings.contains("# The token."), "{settings}");
    let salt =
        exported(&sandbox)["deployment"]["secrets_providers"]["state"]["salt"].as_str().unwrap().to_owned();
    assert!(settings.contains(&salt), "{settings} {salt}");
    let (state, token) = opened(&mut sandbox, "battery staple");
    assert!(state.stdout.contains("hush-hush"), "{state:#?}");
    assert!(token);
    let (state, token) = opened(&mut sandbox, "correct horse");
    assert_eq!(state.code, 3, "{state:#?}");
    assert!(!token);
    let old = sandbox.ok(&["stack", "export", "-s", "dev", "--version", "@-", "--show-secrets"]);
    assert!(old.contains("hush-hush"), "{old}");
}

#[test]
fn s18_a_crash_after_the_state_is_finished_by_the_same_command() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert_eq!(change(&sandbox, "battery staple\n").code, 0);
    sandbox.write("Pulumi.dev.yaml", &settings);
    let committed = std::fs::read(made_stack::state_file(&sandbox)).unwrap();
    let again = change(&sandbox, "battery staple\n");
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stderr.contains("Finishing a change"), "{again:#?}");
    assert_eq!(std::fs::read(made_stack::state_file(&sandbox)).unwrap(), committed);
    let (state, token) = opened(&mut sandbox, "battery staple");
    assert!(state.stdout.contains("hush-hush") && token, "{state:#?}");
}

#[test]
fn s18_a_crash_after_the_state_can_be_undone_instead() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert_eq!(change(&sandbox, "battery staple\n").code, 0);
    sandbox.write("Pulumi.dev.yaml", &settings);
    let undone = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    assert!(undone.stderr.contains("sealed by another secrets provider"), "{undone:#?}");
    let (state, token) = opened(&mut sandbox, "correct horse");
    assert!(state.stdout.contains("hush-hush") && token, "{state:#?}");
}

#[test]
fn s18_a_crash_of_the_stock_cli_between_its_writes_is_finished_too() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let state = std::fs::read(made_stack::state_file(&sandbox)).unwrap();
    assert_eq!(change(&sandbox, "battery staple\n").code, 0);
    std::fs::write(made_stack::state_file(&sandbox), state).unwrap();
    let again = change(&sandbox, "battery staple\n");
    assert_eq!(again.code, 0, "{again:#?}");
    let (state, token) = opened(&mut sandbox, "battery staple");
    assert!(state.stdout.contains("hush-hush") && token, "{state:#?}");
}

#[test]
fn a_wrong_old_passphrase_or_a_missing_new_one_changes_nothing() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let (before, settings) = (everything(&sandbox), sandbox.read("Pulumi.dev.yaml"));
    let missing = change(&sandbox, "");
    assert_eq!(missing.code, 3, "{missing:#?}");
    assert!(missing.stderr.contains("hint: pipe it in"), "{missing:#?}");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    let wrong = change(&sandbox, "battery staple\n");
    assert_eq!(wrong.code, 3, "{wrong:#?}");
    assert!(wrong.stderr.contains("incorrect passphrase"), "{wrong:#?}");
    let unchanged: Vec<_> =
        everything(&sandbox).into_iter().filter(|(path, _)| !path.contains("/leases/")).collect();
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings);
    for (path, content) in before {
        assert!(path.contains("lease") || unchanged.contains(&(path.clone(), content)), "{path}");
    }
}

#[test]
fn other_providers_are_told_apart() {
    let sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let default = sandbox.drystone(&["stack", "change-secrets-provider", "default", "-s", "dev"]);
    assert_eq!(default.code, 0, "{default:#?}");
    assert!(default.stderr.contains("Nothing had to change."), "{default:#?}");
    for (provider, message) in
        [("awskms://alias/x", "its region is not known"), ("nope", "unknown secrets provider type 'nope'")]
    {
        let ended = sandbox.drystone(&["stack", "change-secrets-provider", provider, "-s", "dev"]);
        assert_eq!(ended.code, 2, "{ended:#?}");
        assert!(ended.stderr.contains(message), "{ended:#?}");
    }
}
