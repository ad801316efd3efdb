//! `config` and its commands: what they print, what they write, and what they refuse.

mod harness;

use harness::{Ended, Sandbox};
use std::collections::BTreeMap;

const CONFIGURATION: i32 = 2;
const AUTHENTICATION: i32 = 3;
const STACK_NOT_FOUND: i32 = 6;

/// A project whose stacks `dev` and `prod` exist, `dev` being the one that is meant.
fn shop() -> Sandbox {
    let mut sandbox = Sandbox::new();
    for stack in ["dev", "prod"] {
        make_stack(&sandbox, stack, None);
    }
    sandbox.set("PULUMI_STACK", "dev");
    sandbox
}

/// Puts the checkpoint of an empty stack into the backend.
fn make_stack(sandbox: &Sandbox, name: &str, salt: Option<&str>) {
    let folder = sandbox.state().join(".pulumi/stacks/shop");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(sandbox.state().join(".pulumi/meta.yaml"), "version: 1\n").expect("a file");
    let mut latest = serde_json::json!({
        "manifest": { "time": "2026-01-02T03:04:05Z", "magic": "", "version": "" }, "metadata": {},
    });
    if let Some(salt) = salt {
        latest["secrets_providers"] = serde_json::json!({ "type": "passphrase", "state": { "salt": salt } });
    }
    let checkpoint = serde_json::json!({
        "version": 3,
        "checkpoint": { "stack": format!("organization/shop/{name}"), "latest": latest },
    });
    std::fs::write(folder.join(format!("{name}.json")), checkpoint.to_string()).expect("a file");
}

/// Records an update of `dev` that ran with a configuration.
fn record_update(sandbox: &Sandbox, number: u32, config: &serde_json::Value) {
    let folder = sandbox.state().join(".pulumi/history/shop/dev");
    std::fs::create_dir_all(&folder).expect("a folder");
    let record = serde_json::json!({
        "kind": "update", "startTime": 1, "message": "", "environment": {}, "config": config, "version": 0,
        "result": "succeeded", "endTime": 2,
    });
    std::fs::write(folder.join(format!("dev-{number}.history.json")), record.to_string()).expect("a file");
}

/// The salt in a settings file.
fn salt(sandbox: &Sandbox, file: &str) -> String {
    let text = sandbox.read(file);
    let line = text.lines().find_map(|line| line.strip_prefix("encryptionsalt: ")).expect("a salt");
    line.to_owned()
}

fn refused(sandbox: &Sandbox, arguments: &[&str], code: i32, words: &str) -> Ended {
    let before = files(sandbox);
    let ended = sandbox.drystone(arguments);
    assert_eq!(ended.code, code, "{arguments:?}: {ended:#?}");
    assert!(ended.stderr.contains(words), "{arguments:?}: {ended:#?}");
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert_eq!(files(sandbox), before, "{arguments:?} changed a file");
    ended
}

/// Every file of the project by name.
fn files(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a file"))
    };
    std::fs::read_dir(sandbox.project()).expect("a folder").map(read).collect()
}

#[test]
fn values_are_listed_with_the_projects_own_and_secrets_masked() {
    let sandbox = shop();
    sandbox.write(
        "Pulumi.yaml",
        "name: shop\nruntime: yaml\nconfig:\n  region: {type: string, default: eu}\n  size: 3\n",
    );
    assert_eq!(sandbox.ok(&["config"]), "KEY     VALUE\nregion  eu\nsize    3\n");
    sandbox.ok(&["config", "set", "region", "us"]);
    sandbox.ok(&["config", "set", "--secret", "key", "top"]);
    sandbox.ok(&["config", "set", "aws:profile", "ops"]);
    insta::assert_snapshot!(sandbox.ok(&["config"]), @r"
    KEY          VALUE
    aws:profile  ops
    key          [secret]
    region       us
    size         3
    ");
    assert!(sandbox.ok(&["config", "--show-secrets"]).contains("key          top\n"));
    insta::assert_snapshot!(sandbox.ok(&["config", "--json"]), @r#"
    {
      "aws:profile": {
        "value": "ops",
        "secret": false
      },
      "shop:key": {
        "secret": true
      },
      "shop:region": {
        "value": "us",
        "secret": false
      },
      "shop:size": {
        "value": "3",
        "secret": false
      }
    }
    "#);
    assert_eq!(sandbox.ok(&["config", "get", "size"]), "3\n");
}

#[test]
fn an_empty_configuration_is_an_empty_table_and_an_empty_object() {
    let sandbox = shop();
    assert_eq!(sandbox.ok(&["config"]), "KEY  VALUE\n");
    assert_eq!(sandbox.ok(&["config", "-j"]), "{}\n");
}

#[test]
fn one_value_is_printed_as_it_is_or_as_json() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "html", "<a>&"]);
    sandbox.ok(&["config", "set", "--path", "list[0].name", "x"]);
    sandbox.ok(&["config", "set", "--path", "list[0].size", "5"]);
    sandbox.ok(&["config", "set", "--path", "list[0].key", "--secret", "top"]);
    assert_eq!(sandbox.ok(&["config", "get", "html"]), "<a>&\n");
    assert_eq!(
        sandbox.ok(&["config", "get", "html", "--json"]),
        "{\n  \"value\": \"\\u003ca\\u003e\\u0026\",\n  \"secret\": false\n}\n"
    );
    assert_eq!(
        sandbox.ok(&["config", "get", "list"]),
        "[{\"key\":\"top\",\"name\":\"x\",\"size\":5}]\n",
        "the secrets of a value are opened with it"
    );
    assert_eq!(sandbox.ok(&["config", "get", "--path", "list[0].size"]), "5\n");
    insta::assert_snapshot!(sandbox.ok(&["config", "get", "--path", "list[0]", "--json"]), @r#"
    {
      "value": "{\"key\":\"top\",\"name\":\"x\",\"size\":5}",
      "objectValue": {
        "key": "top",
        "name": "x",
        "size": 5
      },
      "secret": true
    }
    "#);
    refused(&sandbox, &["config", "get", "nope"], 1, "configuration key 'nope' not found for stack 'dev'");
    refused(&sandbox, &["config", "get", "--path", "list[7]"], 1, "'list[7]' not found");
}

#[test]
fn control_characters_arrive() {
    let sandbox = shop();
    let text = "\u{1b}[31mred\u{7}\u{8}\u{7f}\u{2028}";
    sandbox.ok(&["config", "set", "text", text]);
    assert_eq!(sandbox.ok(&["config", "get", "text"]), format!("{text}\n"));
}

#[test]
fn comments_and_the_order_of_the_file_stay() {
    let sandbox = shop();
    let text = "# Owned by payments.\nconfig:\n  shop:b: 2   # two\n  # The first.\n  shop:a: \"1\"\n";
    sandbox.write("Pulumi.dev.yaml", text);
    sandbox.ok(&["config", "set", "b", "three"]);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), text.replace("shop:b: 2 ", "shop:b: three "));
    sandbox.ok(&["config", "set", "c", "4"]);
    sandbox.ok(&["config", "rm", "c"]);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), text.replace("shop:b: 2 ", "shop:b: three "));
    sandbox.ok(&["config", "rm", "a"]);
    assert!(
        sandbox
            .read("Pulumi.dev.yaml")
            .starts_with("# Owned by payments.\nconfig:\n  shop:b: three   # two\n")
    );
}

#[test]
fn types_are_texts_unless_said_otherwise() {
    let sandbox = shop();
    for (arguments, written) in [
        (vec!["number", "5"], "shop:number: \"5\""),
        (vec!["number", "5", "--type", "int"], "shop:number: 5"),
        (vec!["number", "-5"], "shop:number: \"-5\""),
        (vec!["number", "1.5", "--type", "float"], "shop:number: 1.5"),
        (vec!["flag", "true", "--type", "bool"], "shop:flag: true"),
        (vec!["flag", "true"], "shop:flag: \"true\""),
        (vec!["text", "--", "--not-an-option"], "shop:text: --not-an-option"),
        (vec!["text", ""], "shop:text: \"\""),
    ] {
        let arguments: Vec<&str> = ["config", "set"].into_iter().chain(arguments).collect();
        sandbox.ok(&arguments);
        assert!(sandbox.read("Pulumi.dev.yaml").contains(written), "{}", sandbox.read("Pulumi.dev.yaml"));
    }
    refused(
        &sandbox,
        &["config", "set", "a", "x", "--type", "int"],
        CONFIGURATION,
        "`x` is not a whole number",
    );
    refused(&sandbox, &["config", "set", "a", "x", "--type", "date"], CONFIGURATION, "`date` is not a type");
    refused(
        &sandbox,
        &["config", "set", "a", "x", "--type", "int", "--secret"],
        CONFIGURATION,
        "cannot be used with",
    );
    refused(
        &sandbox,
        &["config", "set", "a", "x", "--plaintext", "--secret"],
        CONFIGURATION,
        "cannot be used with",
    );
}

#[test]
fn a_missing_value_is_read_from_standard_input() {
    let sandbox = shop();
    for (options, kept) in [(vec![], "two\nlines"), (vec!["--raw"], "two\nlines\n")] {
        let arguments: Vec<&str> = ["config", "set", "text"].into_iter().chain(options).collect();
        assert_eq!(sandbox.drystone_with(&arguments, "two\nlines\n").code, 0);
        assert_eq!(sandbox.ok(&["config", "get", "text"]), format!("{kept}\n"));
    }
    assert_eq!(sandbox.drystone_with(&["config", "set", "--secret", "key"], "top\n").code, 0);
    assert_eq!(sandbox.ok(&["config", "get", "key"]), "top\n");
}

#[test]
fn s17_what_looks_like_a_secret_is_not_kept_in_plain_text_by_accident() {
    let sandbox = shop();
    let random = "Xk39vQz81mPw";
    for key in ["dbPassword", "apiToken", "SECRET", "pwd"] {
        let ended = refused(&sandbox, &["config", "set", key, random], 1, "looks like a secret");
        assert!(!ended.stderr.contains(random), "the value is not repeated");
        assert!(ended.stderr.contains("--secret") && ended.stderr.contains("--plaintext"));
    }
    for (key, value) in [
        ("name", random),
        ("passwordLength", "16"),
        ("secretName", "my-secret-name"),
        ("dbPassword", "hunter2"),
        ("tokenUrl", "projects/acme/secrets/db/versions/latest"),
    ] {
        sandbox.ok(&["config", "set", key, value]);
    }
    sandbox.ok(&["config", "set", "--plaintext", "apiToken", random]);
    sandbox.ok(&["config", "set", "--secret", "dbPassword", random]);
    assert!(!sandbox.read("Pulumi.dev.yaml").contains(&format!("dbPassword: {random}")));
}

#[test]
fn the_first_secret_gives_the_stack_a_salt_and_the_next_one_keeps_it() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "--secret", "a", "one"]);
    let first = salt(&sandbox, "Pulumi.dev.yaml");
    assert!(first.starts_with("v1:"));
    sandbox.ok(&["config", "set", "--secret", "b", "two"]);
    assert_eq!(salt(&sandbox, "Pulumi.dev.yaml"), first);
    assert_eq!(sandbox.ok(&["config", "get", "a"]), "one\n");
}

#[test]
fn the_first_secret_takes_the_salt_of_the_state_so_that_both_agree() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "--secret", "a", "one"]);
    let first = salt(&sandbox, "Pulumi.dev.yaml");
    make_stack(&sandbox, "dev", Some(&first));
    std::fs::remove_file(sandbox.project().join("Pulumi.dev.yaml")).expect("removed");
    sandbox.ok(&["config", "set", "--secret", "a", "two"]);
    assert_eq!(salt(&sandbox, "Pulumi.dev.yaml"), first);
}

#[test]
fn a_passphrase_is_needed_for_secrets_only() {
    let mut sandbox = shop();
    sandbox.ok(&["config", "set", "--secret", "key", "top"]);
    sandbox.ok(&["config", "set", "plain", "x"]);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    for arguments in [
        &["config", "get", "key"] as &[&str],
        &["config", "--show-secrets"],
        &["config", "set", "--secret", "other", "x"],
        &["config", "set-all", "--plaintext", "a=1", "--secret", "b=2"],
        &["config", "cp", "--dest", "prod"],
    ] {
        let ended = refused(&sandbox, arguments, AUTHENTICATION, "error: incorrect passphrase");
        assert!(ended.stderr.contains("hint: set PULUMI_CONFIG_PASSPHRASE"), "{ended:#?}");
    }
    assert_eq!(sandbox.ok(&["config", "get", "plain"]), "x\n");
    sandbox.ok(&["config", "set", "plain", "y"]);
    sandbox.ok(&["config", "rm", "key"]);
    assert_eq!(sandbox.ok(&["config", "--show-secrets"]), "KEY    VALUE\nplain  y\n");

    let mut without = shop();
    without.set("PULUMI_CONFIG_PASSPHRASE_FILE", "/nowhere/at/all");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_drystone"));
    let output = without
        .command(program, &["config", "set", "--secret", "key", "top"])
        .env_remove("PULUMI_CONFIG_PASSPHRASE")
        .env_remove("PULUMI_CONFIG_PASSPHRASE_FILE")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(AUTHENTICATION));
    assert!(String::from_utf8_lossy(&output.stderr).contains("passphrase must be set with"));
}

#[test]
fn a_secret_that_does_not_open_is_named() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "--secret", "good", "top"]);
    let text = sandbox.read("Pulumi.dev.yaml");
    let foreign = "v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    sandbox.write("Pulumi.dev.yaml", &format!("{text}  shop:foreign:\n    secure: {foreign}\n"));
    refused(&sandbox, &["config", "--show-secrets"], AUTHENTICATION, "the secret `foreign` cannot be opened");
    assert_eq!(sandbox.ok(&["config", "get", "good"]), "top\n", "the others open");
    sandbox.write("Pulumi.dev.yaml", &format!("config:\n  shop:foreign:\n    secure: {foreign}\n"));
    refused(&sandbox, &["config", "get", "foreign"], AUTHENTICATION, "no `encryptionsalt`");
}

#[test]
fn several_values_are_set_as_one_change() {
    let sandbox = shop();
    sandbox.ok(&[
        "config",
        "set-all",
        "--path",
        "--plaintext",
        "names[0]=a",
        "--plaintext",
        "names[1]=b=c",
        "--secret",
        "keys.db=top",
        "--plaintext",
        "aws:region=eu",
        "--plaintext",
        "empty=",
        "--plaintext",
        "offset=-1",
    ]);
    assert_eq!(sandbox.ok(&["config", "get", "names"]), "[\"a\",\"b=c\"]\n");
    assert_eq!(sandbox.ok(&["config", "get", "--path", "keys.db"]), "top\n");
    assert_eq!(sandbox.ok(&["config", "get", "aws:region"]), "eu\n");
    assert_eq!(sandbox.ok(&["config", "get", "empty"]), "\n");
    sandbox.ok(&["config", "set-all", "--plaintext", "\"a=b\"=c"]);
    assert_eq!(sandbox.ok(&["config", "get", "a=b"]), "c\n");
    refused(
        &sandbox,
        &["config", "set-all", "--plaintext", "good=1", "--plaintext", "bad"],
        CONFIGURATION,
        "must be in the form KEY=VALUE",
    );
    refused(
        &sandbox,
        &["config", "set-all", "--path", "--plaintext", "names[9]=x"],
        CONFIGURATION,
        "`names[9]` is out of range",
    );
    let ended = refused(&sandbox, &["config", "set-all", "--secret", "hunter2"], CONFIGURATION, "KEY=VALUE");
    assert!(!ended.stderr.contains("hunter2"), "S17: what may be a secret is not repeated");
}

#[test]
fn the_json_of_one_stack_can_be_set_on_another() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "plain", "x"]);
    sandbox.ok(&["config", "set", "--secret", "key", "top"]);
    sandbox.ok(&["config", "set", "--path", "list[0]", "5"]);
    sandbox.ok(&["config", "set", "--path", "open.key", "--secret", "deep"]);
    let json = sandbox.ok(&["config", "--json", "--show-secrets"]);
    sandbox.ok(&["config", "set-all", "--json", &json, "--stack", "prod"]);
    assert_eq!(sandbox.ok(&["config", "get", "key", "--stack", "prod"]), "top\n");
    assert_eq!(sandbox.ok(&["config", "get", "list", "--stack", "prod"]), "[5]\n");
    assert_eq!(sandbox.ok(&["config", "get", "open", "--stack", "prod"]), "{\"key\":\"deep\"}\n");
    assert!(!sandbox.read("Pulumi.prod.yaml").contains("deep"));
    let masked = sandbox.ok(&["config", "--json"]);
    refused(&sandbox, &["config", "set-all", "--json", &masked], CONFIGURATION, "no value for `shop:key`");
    refused(&sandbox, &["config", "set-all", "--json", "[1"], CONFIGURATION, "does not have the shape");
    refused(
        &sandbox,
        &["config", "set-all", "--json", "{}", "--plaintext", "a=1"],
        CONFIGURATION,
        "cannot be used with",
    );
}

#[test]
fn values_are_removed_alone_or_together() {
    let sandbox = shop();
    sandbox.ok(&[
        "config",
        "set-all",
        "--path",
        "--plaintext",
        "a.x=1",
        "--plaintext",
        "a.y=2",
        "--plaintext",
        "b=3",
    ]);
    sandbox.ok(&["config", "rm", "--path", "a.x"]);
    assert_eq!(sandbox.ok(&["config", "get", "a"]), "{\"y\":2}\n");
    sandbox.ok(&["config", "remove", "never-there"]);
    sandbox.ok(&["config", "delete-all", "a", "b"]);
    assert_eq!(sandbox.ok(&["config", "--json"]), "{}\n");
    refused(&sandbox, &["config", "rm-all"], CONFIGURATION, "required");
    refused(&sandbox, &["config", "rm", "a:b:c"], CONFIGURATION, "invalid configuration key");
}

#[test]
fn removing_from_no_file_makes_none() {
    let sandbox = shop();
    sandbox.ok(&["config", "rm", "a"]);
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
}

#[test]
fn copies_are_encrypted_for_the_other_stack() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "plain", "x"]);
    sandbox.ok(&["config", "set", "--secret", "key", "top"]);
    sandbox.ok(&["config", "set", "--stack", "prod", "other", "stays"]);
    sandbox.ok(&["config", "cp", "plain", "--dest", "prod"]);
    assert!(!sandbox.read("Pulumi.prod.yaml").contains("encryptionsalt"), "no secret, no salt");
    sandbox.ok(&["config", "cp", "-d", "prod"]);
    assert_ne!(salt(&sandbox, "Pulumi.dev.yaml"), salt(&sandbox, "Pulumi.prod.yaml"));
    let secure = |file: &str| {
        let text = sandbox.read(file);
        text.lines().find(|line| line.contains("secure:")).expect("a secret").to_owned()
    };
    assert_ne!(secure("Pulumi.dev.yaml"), secure("Pulumi.prod.yaml"));
    assert_eq!(
        sandbox.ok(&["config", "--show-secrets", "--stack", "prod"]),
        "KEY    VALUE\nkey    top\nother  stays\nplain  x\n"
    );
    refused(&sandbox, &["config", "cp", "--dest", "dev"], CONFIGURATION, "are the same");
    refused(&sandbox, &["config", "cp", "--dest", "nope"], STACK_NOT_FOUND, "no stack named");
    refused(&sandbox, &["config", "cp", "nope", "--dest", "prod"], 1, "configuration key 'nope' not found");
}

#[test]
fn refreshing_brings_back_what_the_last_update_had_and_keeps_the_file() {
    let sandbox = shop();
    refused(&sandbox, &["config", "refresh"], 1, "no previous deployment");
    sandbox.ok(&["config", "set", "--secret", "key", "top"]);
    let text = sandbox.read("Pulumi.dev.yaml");
    let sealed =
        text.lines().find_map(|line| line.trim().strip_prefix("secure: ")).expect("a secret").to_owned();
    make_stack(&sandbox, "dev", Some(&salt(&sandbox, "Pulumi.dev.yaml")));
    record_update(&sandbox, 1, &serde_json::json!({ "shop:old": "1" }));
    record_update(
        &sandbox,
        2,
        &serde_json::json!({ "shop:key": { "secure": sealed }, "shop:list": [1, { "a": true }], "aws:region": "eu" }),
    );
    sandbox.write("Pulumi.dev.yaml", "# mine\nconfig:\n  shop:local: x\n");
    let ended = sandbox.drystone(&["config", "refresh"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.ends_with("refreshed configuration for stack 'dev'\n"), "{ended:#?}");
    assert_eq!(sandbox.read("Pulumi.dev.yaml.bak"), "# mine\nconfig:\n  shop:local: x\n");
    assert_eq!(
        sandbox.ok(&["config", "--show-secrets"]),
        "KEY         VALUE\naws:region  eu\nkey         top\nlist        [1,{\"a\":true}]\n"
    );
    assert!(sandbox.read("Pulumi.dev.yaml").starts_with("# mine\n"));

    let before = files(&sandbox);
    sandbox.ok(&["config", "refresh"]);
    assert_eq!(files(&sandbox), before, "nothing to do, nothing done");
    sandbox.ok(&["config", "set", "local", "again"]);
    sandbox.ok(&["config", "refresh"]);
    assert!(sandbox.project().join("Pulumi.dev.yaml.bak.bak").exists());
    sandbox.ok(&["config", "set", "local", "again"]);
    sandbox.ok(&["config", "refresh", "--force"]);
    assert!(!sandbox.project().join("Pulumi.dev.yaml.bak.bak.bak").exists());
    std::fs::remove_file(sandbox.project().join("Pulumi.dev.yaml")).expect("removed");
    sandbox.ok(&["config", "refresh"]);
    assert_eq!(sandbox.ok(&["config", "get", "key"]), "top\n");
}

#[test]
fn another_settings_file_can_be_named() {
    let sandbox = shop();
    sandbox.ok(&["config", "set", "--config-file", "other.yaml", "a", "1"]);
    assert_eq!(sandbox.ok(&["config", "get", "a", "--config-file", "other.yaml"]), "1\n");
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
    sandbox.ok(&["config", "--config-file", "other.json", "set", "a", "1"]);
    assert_eq!(sandbox.read("other.json"), "{\n    \"config\": {\n        \"shop:a\": \"1\"\n    }\n}\n");
    refused(&sandbox, &["config", "--config-file", "other.toml"], CONFIGURATION, "ends neither with");
}

#[test]
fn the_stack_must_exist_and_the_project_too() {
    let sandbox = shop();
    for arguments in [
        &["config", "--stack", "nope"] as &[&str],
        &["config", "get", "a", "--stack", "nope"],
        &["config", "set", "a", "1", "--stack", "nope"],
        &["config", "set-all", "--plaintext", "a=1", "--stack", "nope"],
        &["config", "rm", "a", "--stack", "nope"],
        &["config", "refresh", "--stack", "nope"],
    ] {
        refused(&sandbox, arguments, STACK_NOT_FOUND, "no stack named");
    }
    let parent = sandbox.project().join("..");
    let parent = parent.to_str().expect("a path");
    refused(&sandbox, &["config", "--cwd", parent], CONFIGURATION, "no Pulumi.yaml project file found");
}

#[test]
fn a_settings_file_that_is_none_is_refused_with_its_place() {
    let sandbox = shop();
    for (text, words) in [
        ("config: [1]\n", "Pulumi.dev.yaml:1"),
        ("config:\n  a: {b\n", "Pulumi.dev.yaml:"),
        ("config:\n  shop:a: 1\n  a: 2\n", "name the same value"),
        ("config:\n  a:b:c: 1\n", "`a:b:c` is not a configuration key"),
    ] {
        sandbox.write("Pulumi.dev.yaml", text);
        refused(&sandbox, &["config"], CONFIGURATION, words);
        refused(&sandbox, &["config", "set", "x", "1"], CONFIGURATION, words);
    }
}

#[test]
fn a_settings_file_that_cannot_be_read_says_why() {
    let sandbox = shop();
    std::fs::create_dir(sandbox.project().join("folder.yaml")).expect("a folder");
    let ended = sandbox.drystone(&["config", "set", "a", "1", "--config-file", "folder.yaml"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (12, ""), "{ended:#?}");
    assert!(ended.stderr.contains("folder.yaml`: Is a directory"), "{ended:#?}");
}

#[test]
fn secrets_of_a_key_service_that_cannot_be_asked_are_refused_and_the_rest_works() {
    let sandbox = shop();
    let text =
        "secretsprovider: awskms://alias/x\nencryptedkey: AAAA\nconfig:\n  shop:key:\n    secure: v1:AA:AA\n";
    sandbox.write("Pulumi.dev.yaml", text);
    for arguments in [&["config", "get", "key"] as &[&str], &["config", "set", "--secret", "other", "x"]] {
        let ended = refused(&sandbox, arguments, 2, "with awskms://alias/x: its region is not known");
        assert!(ended.stderr.contains("hint: docs/guides/secrets.md"), "{ended:#?}");
    }
    sandbox.ok(&["config", "set", "plain", "x"]);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), format!("{text}  shop:plain: x\n"));
    assert_eq!(sandbox.ok(&["config"]), "KEY    VALUE\nkey    [secret]\nplain  x\n");
}

#[test]
fn environments_are_refused_and_not_passed_over() {
    let sandbox = shop();
    for arguments in
        [&["config", "env", "ls", "--json"] as &[&str], &["config", "env", "add", "x"], &["config", "env"]]
    {
        refused(&sandbox, arguments, 1, "does not support environments");
    }
    sandbox.write("Pulumi.dev.yaml", "environment:\n  - prod\nconfig:\n  shop:a: \"1\"\n");
    refused(&sandbox, &["config"], 1, "imports environments");
    refused(&sandbox, &["config", "get", "a"], 1, "imports environments");
    sandbox.ok(&["config", "set", "a", "2"]);
    assert!(sandbox.read("Pulumi.dev.yaml").starts_with("environment:\n  - prod\n"));
}

/// The argument lists of the Automation SDKs.
#[test]
fn the_sdks_ways_to_call_are_understood() {
    let sandbox = shop();
    for arguments in [
        &["config", "set", "--path", "a.b", "--secret", "--non-interactive", "--stack", "dev", "--", "v"]
            as &[&str],
        &["config", "set", "plain", "--plaintext", "--non-interactive", "--stack", "dev", "--", "--v"],
        &[
            "config",
            "set-all",
            "--stack",
            "dev",
            "--path",
            "--plaintext",
            "x.y=1",
            "--secret",
            "x.z=2",
            "--non-interactive",
        ],
        &["config", "set-all", "--json", "{\"shop:j\":{\"value\":\"1\",\"secret\":false}}", "--stack", "dev"],
        &["config", "get", "plain", "--json", "--stack", "dev", "--non-interactive"],
        &["config", "get", "--path", "a.b", "--json", "--open=false", "--stack", "dev"],
        &["config", "--show-secrets", "--json", "--stack", "dev", "--non-interactive"],
        &["config", "--open=false", "--show-secrets"],
        &["config", "rm", "plain", "--stack", "dev", "--non-interactive"],
        &["config", "rm-all", "--stack", "dev", "--path", "x.y", "x.z", "--non-interactive"],
    ] {
        let ended = sandbox.drystone(arguments);
        assert_eq!(ended.code, 0, "{arguments:?}: {ended:#?}");
    }
}
