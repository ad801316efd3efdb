//! `up`, `preview`, `refresh` and `destroy` before anything runs: options, refusals, configuration, exit codes.

mod harness;
mod made_stack;

use harness::{Ended, Sandbox};
use made_stack::{everything, sandbox};
use std::collections::BTreeMap;

const OPERATIONS: [&str; 4] = ["up", "preview", "refresh", "destroy"];

/// Everything in the backend but the lease, which may have been taken and given back.
fn state(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let mut found = everything(sandbox);
    found.retain(|path, _| !path.contains("/drystone/leases/"));
    found
}

/// Runs a command that must be refused and must change nothing.
fn refused(sandbox: &Sandbox, arguments: &[&str], code: i32, says: &str) -> Ended {
    let settings = sandbox.read("Pulumi.dev.yaml");
    let before = state(sandbox);
    let ended = sandbox.drystone(arguments);
    assert_eq!(ended.code, code, "{arguments:?}: {ended:#?}");
    assert!(ended.stderr.contains(says), "{arguments:?} should say {says:?}: {ended:#?}");
    assert!(ended.stderr.contains("error: ") && ended.stdout.is_empty(), "{arguments:?}: {ended:#?}");
    assert!(state(sandbox) == before, "{arguments:?} changed the backend");
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings, "{arguments:?} changed the settings");
    ended
}

#[test]
fn every_option_of_the_stock_cli_is_known() {
    let sandbox = sandbox();
    let everywhere = "--config a=b --config-path --config-file f --debug --diff --event-log f --exclude u --exclude-dependents \
        --json --message m --parallel 3 --run-program --show-replacement-steps --show-sames --skip-config-validation \
        --skip-plugin-pre-install --stack s --suppress-outputs --suppress-permalink --suppress-permalink=true \
        --suppress-progress --target-dependents --urns --exec-kind cli --exec-agent a --client c --neo --copilot \
        --override-env a=b --remote --remote-inherit-settings --remote-env a=b --remote-env-secret a=b \
        --remote-pre-run-command c --remote-skip-install-dependencies --remote-git-branch b --remote-git-commit c \
        --remote-git-repo-dir d --remote-git-auth-access-token t --remote-git-auth-ssh-private-key k \
        --remote-git-auth-ssh-private-key-path p --remote-git-auth-password p --remote-git-auth-username u \
        --remote-executor-image i --remote-executor-image-username u --remote-executor-image-password p \
        --remote-agent-pool-id i --suppress-stream-logs --logflow --logtostderr --tracing u --tracing-header h \
        --otel-traces u --diff=false --json=true --non-interactive=true -v=9 -c a=b -d -j -m m -p 3 -s s";
    let some = [
        (
            "up",
            "--attach-debugger --attach-debugger=plugins --continue-on-error --continue-on-error=false --expect-no-changes \
            --ignore-protect --plan p --policy-pack p --policy-pack-config c --refresh --refresh=false -r --replace u \
            --secrets-provider default --show-config --show-full-output --show-policy-remediations --show-reads \
            --show-secrets --skip-preview -f --strict --target-replace u --yes -y --neo-task-on-failure --output json",
        ),
        (
            "preview",
            "--attach-debugger --expect-no-changes --ignore-protect --import-file f --policy-pack p \
            --policy-pack-config c --refresh -r --replace u --save-plan p --show-config --show-full-output \
            --show-policy-remediations --show-reads --show-secrets --target-replace u -x u --output default",
        ),
        (
            "refresh",
            "--clear-pending-creates --import-pending-creates u --skip-pending-creates --expect-no-changes \
            --preview-only --skip-preview -f --yes -y -x u",
        ),
        (
            "destroy",
            "--continue-on-error --exclude-protected --preview-only --refresh -r --remove --show-config \
            --show-full-output --skip-preview -f --yes -y -x u",
        ),
    ];
    for (command, own) in some {
        for group in [everywhere, own] {
            let words: Vec<&str> = group.split_whitespace().collect();
            let mut options: Vec<Vec<&str>> = Vec::new();
            for word in words {
                match options.last_mut() {
                    Some(last) if !word.starts_with('-') => last.push(word),
                    _ => options.push(vec![word]),
                }
            }
            for option in options {
                // Parsing comes first: with `--help` nothing else happens.
                let arguments = [&[command][..], &option, &["--help"]].concat();
                let ended = sandbox.drystone(&arguments);
                assert_eq!(ended.code, 0, "{arguments:?}: {ended:#?}");
            }
        }
    }
    let unknown = sandbox.drystone(&["up", "--no-such-option", "--help"]);
    assert_eq!(unknown.code, 2, "{unknown:#?}");
}

#[test]
fn the_aliases_of_the_stock_cli_are_there() {
    let sandbox = sandbox();
    for (alias, command) in [("update", "up"), ("pre", "preview"), ("down", "destroy"), ("dn", "destroy")] {
        assert_eq!(sandbox.ok(&[alias, "--help"]), sandbox.ok(&[command, "--help"]), "{alias}");
    }
}

#[test]
fn help_names_what_the_sdks_look_for() {
    let help = sandbox().ok(&["preview", "--help"]);
    for word in ["--remote", "--remote-inherit-settings"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn without_a_terminal_somebody_must_have_said_yes() {
    let sandbox = sandbox();
    for command in ["up", "refresh", "destroy"] {
        let ended = refused(
            &sandbox,
            &[command, "-s", "dev"],
            2,
            "--yes or --skip-preview or --preview-only must be passed",
        );
        assert!(ended.stderr.contains("hint: "), "{ended:#?}");
    }
    for command in ["refresh", "destroy"] {
        refused(&sandbox, &[command, "-s", "dev", "--yes", "--preview-only"], 2, "cannot be used together");
        refused(&sandbox, &[command, "-s", "dev", "-f", "--preview-only"], 2, "cannot be used together");
    }
}

#[test]
fn what_only_pulumi_cloud_does_is_refused_by_name() {
    let sandbox = sandbox();
    for command in OPERATIONS {
        for (option, value) in
            [("--remote", None), ("--remote-env", Some("A=b")), ("--remote-git-branch", Some("main"))]
        {
            let arguments: Vec<&str> = [command, "-s", "dev", option].into_iter().chain(value).collect();
            refused(&sandbox, &arguments, 2, &format!("`{option}` needs Pulumi Deployments"));
        }
        refused(&sandbox, &[command, "-s", "dev", "--override-env", "a=b"], 2, "only Pulumi Cloud has");
    }
}

#[test]
fn what_comes_later_is_refused_by_name() {
    let sandbox = sandbox();
    let words = ["up", "--yes", "aws-typescript", "-s", "dev"];
    let ended = refused(&sandbox, &words, 2, "`up TEMPLATE` is not part of this version yet");
    assert!(ended.stderr.contains("hint: "), "{ended:#?}");
}

#[test]
fn what_is_no_plan_is_refused() {
    let sandbox = sandbox();
    let up = ["up", "-s", "dev", "--yes", "--plan"];
    let ended = refused(&sandbox, &[&up[..], &["none.json"]].concat(), 2, "none.json` cannot be read");
    assert!(ended.stderr.contains("hint: make one with `drystone preview --save-plan FILE`"), "{ended:#?}");
    for text in
        ["", "{", "[1]", "{}", "{\"manifest\": 3}", "{\"manifest\": {\"time\": \"\"}}", "\u{feff}plan"]
    {
        sandbox.write("plan.json", text);
        refused(
            &sandbox,
            &[&up[..], &["plan.json"]].concat(),
            2,
            "plan.json` is not a plan, or not a whole one",
        );
    }
    refused(
        &sandbox,
        &["up", "-s", "dev", "-f", "--strict"],
        2,
        "--strict cannot be used with --skip-preview",
    );
    refused(&sandbox, &[&up[..], &["p.json", "--config", "a=b"]].concat(), 2, "cannot be used with");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let sandbox = sandbox();
    for command in OPERATIONS {
        refused(
            &sandbox,
            &[command, "-s", "dev", "--target", "a", "--exclude", "b"],
            2,
            "cannot be used with",
        );
        refused(&sandbox, &[command, "-s", "dev", "--json", "--output", "json"], 2, "cannot be used with");
        refused(
            &sandbox,
            &[command, "-s", "dev", "--run-program=perhaps"],
            2,
            "unable to determine value for --run-program",
        );
    }
    refused(
        &sandbox,
        &["destroy", "-s", "dev", "-y", "--exclude-protected", "--ignore-protect"],
        2,
        "cannot be used with",
    );
    refused(
        &sandbox,
        &["destroy", "-s", "dev", "-y", "--exclude-protected", "-t", "a"],
        2,
        "--target and --exclude-protected",
    );
    refused(
        &sandbox,
        &["up", "-s", "dev", "-y", "--refresh=maybe"],
        2,
        "unable to determine value for --refresh",
    );
    refused(
        &sandbox,
        &["refresh", "-s", "dev", "-y", "--skip-pending-creates", "--clear-pending-creates"],
        2,
        "cannot set both --skip-pending-creates and --clear-pending-creates",
    );
    refused(
        &sandbox,
        &["refresh", "-s", "dev", "-y", "--import-pending-creates", "urn"],
        2,
        "odd number of entries",
    );
}

#[test]
fn a_stack_that_is_not_there_is_named() {
    let sandbox = sandbox();
    for command in OPERATIONS {
        let approval = if command == "preview" { "--diff" } else { "--yes" };
        let ended =
            refused(&sandbox, &[command, "-s", "nope", approval], 6, "no stack named 'shop/nope' found");
        assert!(ended.stderr.contains("drystone stack init"), "{ended:#?}");
    }
    refused(&sandbox, &["up", "--yes"], 2, "no stack is selected");
    refused(&sandbox, &["up", "--yes", "-s", "organization/other/dev"], 1, "doesn't match Pulumi.yaml");
}

#[test]
fn an_operation_needs_a_project() {
    let sandbox = sandbox();
    let home = sandbox.state();
    let folder = home.to_str().expect("a path");
    for command in ["up", "refresh"] {
        refused(
            &sandbox,
            &[command, "--yes", "-s", "organization/shop/dev", "-C", folder],
            2,
            "no Pulumi.yaml project file found",
        );
    }
}

#[test]
fn configuration_that_the_project_asks_for_must_be_there() {
    let sandbox = sandbox();
    sandbox.write(
        "Pulumi.yaml",
        "name: shop\nruntime: yaml\nconfig:\n  size:\n    type: integer\n  region:\n    type: string\n  tok:\n    type: string\n    secret: true\n",
    );
    let up = ["up", "-s", "dev", "--skip-preview"];
    let ended = refused(&sandbox, &up, 2, "Stack 'dev' is missing configuration values 'region' and 'size'");
    assert!(ended.stderr.contains("drystone config set region"), "{ended:#?}");
    sandbox.ok(&["config", "set", "region", "eu", "-s", "dev"]);
    refused(&sandbox, &up, 2, "Stack 'dev' is missing configuration value 'size'");
    sandbox.ok(&["config", "set", "size", "many", "-s", "dev"]);
    refused(&sandbox, &up, 2, "Stack 'dev' with configuration key 'size' must be of type 'integer'");
    sandbox.ok(&["config", "set", "size", "3", "-s", "dev"]);
    sandbox.ok(&["config", "set", "tok", "open", "--plaintext", "-s", "dev"]);
    refused(&sandbox, &up, 2, "Stack 'dev' with configuration key 'tok' must be encrypted as it's secret");
}

#[test]
fn a_project_that_asks_for_another_version_is_refused() {
    let sandbox = sandbox();
    for (range, says) in [
        ("'>=4.0.0'", "does not satisfy the version range \">=4.0.0\""),
        ("'newest'", "parsing CLI version range \"newest\""),
    ] {
        sandbox.write("Pulumi.yaml", &format!("name: shop\nruntime: yaml\nrequiredPulumiVersion: {range}\n"));
        let ended = refused(&sandbox, &["up", "-s", "dev", "-f"], 2, says);
        assert!(ended.stderr.contains("requiredPulumiVersion"), "{ended:#?}");
    }
}

#[test]
fn values_of_the_command_line_are_kept_only_when_the_configuration_is_right() {
    let sandbox = sandbox();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\nconfig:\n  size:\n    type: integer\n");
    refused(&sandbox, &["up", "-s", "dev", "-f", "-c", "size=many"], 2, "must be of type 'integer'");
    refused(&sandbox, &["up", "-s", "dev", "-f", "-c", "size"], 2, "key=value");
    refused(&sandbox, &["up", "-s", "dev", "-f", "-c", "a:b:c:d=1"], 2, "hint: ");
}

#[test]
fn a_wrong_passphrase_stops_an_operation_before_it_begins() {
    let mut sandbox = sandbox();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    for command in ["up", "preview"] {
        let approval = if command == "preview" { "--diff" } else { "--skip-preview" };
        refused(&sandbox, &[command, "-s", "dev", approval], 3, "incorrect passphrase");
    }
}

#[test]
fn s7_an_unsound_state_is_not_operated_on() {
    let sandbox = sandbox();
    let broken = made_stack::changed(|deployment| {
        deployment["resources"][3]["dependencies"] =
            serde_json::json!(["urn:pulumi:dev::shop::random:index:Pet::gone"]);
    });
    let ended = sandbox.drystone_with(&["stack", "import", "-s", "dev", "--force"], &broken);
    assert_eq!(ended.code, 0, "{ended:#?}");
    for command in OPERATIONS {
        let approval = if command == "preview" { "--diff" } else { "--skip-preview" };
        let ended = refused(&sandbox, &[command, "-s", "dev", approval], 11, "refusing to operate on it");
        assert!(ended.stderr.contains("drystone state doctor"), "{ended:#?}");
    }
}
