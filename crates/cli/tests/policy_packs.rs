//! `--policy-pack` with packs of both SDKs: passing, advising, refusing, mending, configured, and misbehaving.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod programs;
mod rough;

use harness::Ended;
use programs::{Running, peer, wait_until};
use rough::Site;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/policy_packs");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sdk {
    Node,
    Python,
}

const SDKS: [Sdk; 2] = [Sdk::Node, Sdk::Python];

/// A stack with a chain of items of a text, and the pack of an SDK at `guard`.
fn site(sdk: Sdk, text: &str) -> Site {
    let site = Site::new(&options(text));
    let folder = site.sandbox.project().join("guard");
    std::fs::create_dir(&folder).unwrap();
    let copy = |name: &str, of: &str| {
        std::fs::copy(format!("{PACKS}/{of}/{name}"), folder.join(name)).unwrap();
    };
    let project = match sdk {
        Sdk::Node => {
            copy("index.js", "node");
            copy("package.json", "node");
            symlink(peer("DRYSTONE_PEER_NODE_POLICY").join("node_modules"), folder.join("node_modules"))
                .unwrap();
            "runtime: nodejs\nversion: 1.2.3\n".to_owned()
        }
        Sdk::Python => {
            copy("__main__.py", "python");
            let venv = peer("DRYSTONE_PEER_PYTHON_POLICY");
            format!(
                "runtime:\n  name: python\n  options: {{ virtualenv: {} }}\nversion: 1.2.3\n",
                venv.display()
            )
        }
    };
    std::fs::write(folder.join("PulumiPolicy.yaml"), project).unwrap();
    site
}

fn options(text: &str) -> String {
    format!("{{resources: 2, shape: chain, text: {text}}}")
}

fn run(site: &Site, command: &str, more: &[&str]) -> Ended {
    let mut arguments = match command {
        "up" => vec!["up", "--yes", "--skip-preview"],
        other => vec![other],
    };
    arguments.extend(["--policy-pack", "guard"]);
    arguments.extend(more);
    let ended = site.sandbox.drystone(&arguments);
    assert!(!ended.stderr.contains("panicked") && !ended.stdout.contains("panicked"), "{ended:#?}");
    ended
}

/// The events of one kind.
fn events(ended: &Ended, kind: &str) -> Vec<Value> {
    let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|event| event.get(kind).cloned()).collect()
}

fn text_of(site: &Site, name: &str) -> Value {
    let export = site.export();
    let resources = export["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let found = resources.iter().find(|resource| resource["id"] == name).unwrap().clone();
    assert_eq!(found["inputs"]["text"], found["outputs"]["text"], "{found:#}");
    found["inputs"]["text"].clone()
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_stack_that_keeps_every_policy_is_made() {
    for sdk in SDKS {
        let site = site(sdk, "fine");
        let ended = run(&site, "up", &[]);
        assert_eq!(ended.code, 0, "{sdk:?}: {ended:#?}");
        assert!(ended.stdout.contains("guard@v1.2.3  (guard)  no violations"), "{sdk:?}: {ended:#?}");
        assert_eq!(site.known().state.len(), 2);
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn advice_is_shown_and_the_stack_is_made() {
    for sdk in SDKS {
        let site = site(sdk, "advise");
        let ended = run(&site, "up", &[]);
        assert_eq!(ended.code, 0, "{sdk:?}: {ended:#?}");
        let said = "warning: policy advised of guard@v1.2.3 (low): item-00001 is not as it should be";
        assert!(ended.stdout.contains(said), "{sdk:?}: {ended:#?}");
        assert!(ended.stdout.contains("2 advisory violations"), "{sdk:?}: {ended:#?}");
        assert_eq!(site.known().state.len(), 2);
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_mandatory_policy_fails_previews_and_stops_updates() {
    for sdk in SDKS {
        let site = site(sdk, "refuse");
        let preview = run(&site, "preview", &[]);
        assert_eq!(preview.code, 5, "{sdk:?}: {preview:#?}");
        for name in ["item-00000 must not be", "item-00001 must not be"] {
            assert!(preview.stdout.contains(name), "{sdk:?}: a preview tells all: {preview:#?}");
        }
        let said = "error: the preview of shop/dev breaks mandatory policies 2 times";
        assert!(preview.stderr.contains(said) && preview.stderr.contains("hint: "), "{sdk:?}: {preview:#?}");

        let up = run(&site, "up", &[]);
        assert_eq!(up.code, 5, "{sdk:?}: {up:#?}");
        assert!(
            up.stderr.contains("error: the update of shop/dev breaks a mandatory policy"),
            "{sdk:?}: {up:#?}"
        );
        assert!(
            up.stdout.contains("error: policy strict of guard@v1.2.3: item-00000 must not be"),
            "{up:#?}"
        );
        assert!(site.things().is_empty() && site.known().state.is_empty(), "{sdk:?}: nothing was made");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_policy_that_keeps_itself_changes_what_is_made() {
    for sdk in SDKS {
        let site = site(sdk, "mend");
        let ended = run(&site, "up", &["--show-policy-remediations"]);
        assert_eq!(ended.code, 0, "{sdk:?}: {ended:#?}");
        assert_eq!(text_of(&site, "item-00000"), "mended", "{sdk:?}");
        let said = r#"policy tidied of guard@v1.2.3 changed text: "mend" → "mended""#;
        assert!(ended.stdout.contains(said), "{sdk:?}: {ended:#?}");
        assert!(ended.stdout.contains("no violations, tidied changed 2 resources"), "{sdk:?}: {ended:#?}");
        let again = run(&site, "preview", &["--expect-no-changes"]);
        assert_eq!(again.code, 0, "{sdk:?}: what was mended stays so: {again:#?}");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_policy_of_the_stack_fails_an_update_that_was_done() {
    for sdk in SDKS {
        let site = site(sdk, "stack");
        let preview = run(&site, "preview", &[]);
        assert_eq!(preview.code, 5, "{sdk:?}: {preview:#?}");
        let up = run(&site, "up", &["--json"]);
        assert_eq!(up.code, 5, "{sdk:?}: {up:#?}");
        let broken = events(&up, "policyEvent");
        let urn = "urn:pulumi:dev::shop::bench:index:Item::item-00001";
        let of_second = broken.iter().find(|event| event["resourceUrn"] == urn).unwrap();
        assert_eq!(
            of_second["message"], "A rule for the stack.\nitem-00001 with 1\n",
            "{sdk:?}: {of_second:#}"
        );
        assert_eq!((broken.len(), site.known().state.len()), (2, 2), "{sdk:?}: {up:#?}");
        assert_eq!(events(&up, "summaryEvent")[0]["result"], "failed");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn settings_come_from_a_file_and_are_held_to_what_the_pack_takes() {
    for sdk in SDKS {
        let site = site(sdk, "refuse");
        let with = |settings: &Value| {
            site.sandbox.write("settings.json", &settings.to_string());
            run(&site, "preview", &["--policy-pack-config", "settings.json"])
        };
        let off = with(&json!({ "strict": "disabled" }));
        assert_eq!(off.code, 0, "{sdk:?}: {off:#?}");
        let milder = with(&json!({ "all": "advisory", "sized": { "most": 1 } }));
        assert_eq!(milder.code, 0, "{sdk:?}: {milder:#?}");
        assert!(milder.stdout.contains("item-00001 is one of more than 1"), "{sdk:?}: {milder:#?}");
        let stricter = with(&json!({ "strict": { "enforcementLevel": "advisory" }, "sized": { "most": 1 } }));
        assert_eq!(stricter.code, 5, "{sdk:?}: {stricter:#?}");
        assert!(stricter.stdout.contains("1 mandatory violation, 2 advisory violations"), "{stricter:#?}");

        let wrong = with(&json!({ "sized": { "most": 0 }, "strict": "advisory" }));
        assert_eq!(wrong.code, 2, "{sdk:?}: {wrong:#?}");
        assert!(
            wrong.stderr.contains("sized: most: Must be greater than or equal to 1"),
            "{sdk:?}: {wrong:#?}"
        );
        let wrong = with(&json!({ "strict": "severe" }));
        assert_eq!(wrong.code, 2, "{sdk:?}: {wrong:#?}");
        assert!(wrong.stderr.contains("\"severe\" is not a valid enforcement level"), "{sdk:?}: {wrong:#?}");
        let stranger = with(&json!({ "strikt": "advisory", "strict": "advisory" }));
        assert_eq!(stranger.code, 0, "{sdk:?}: {stranger:#?}");
        assert!(stranger.stdout.contains("settings for the policy `strikt`"), "{sdk:?}: {stranger:#?}");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_pack_knows_the_stack_its_configuration_its_tags_and_the_resource() {
    for sdk in SDKS {
        let site = site(sdk, "where");
        site.sandbox.ok(&["config", "set", "zone", "north"]);
        site.sandbox.ok(&["stack", "tag", "set", "team", "red"]);
        let ended = run(&site, "preview", &[]);
        assert_eq!(ended.code, 0, "{sdk:?}: {ended:#?}");
        assert!(ended.stdout.contains("shop/dev in north of red"), "{sdk:?}: {ended:#?}");
        site.program(&options("see"));
        let ended = run(&site, "preview", &[]);
        let said = "bench:index:Item false pulumi:providers:bench 1";
        assert!(ended.stdout.contains(said), "{sdk:?}: {ended:#?}");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn events_tell_what_every_pack_said() {
    for sdk in SDKS {
        let site = site(sdk, "mend");
        let ended = run(&site, "up", &["--json"]);
        assert_eq!(ended.code, 0, "{sdk:?}: {ended:#?}");
        assert_eq!(events(&ended, "policyLoadEvent").len(), 1, "{sdk:?}");
        let remediated = events(&ended, "policyRemediationEvent");
        assert_eq!(remediated.len(), 2, "{sdk:?}: {remediated:#?}");
        assert_eq!(
            (&remediated[0]["before"]["text"], &remediated[0]["after"]["text"]),
            (&json!("mend"), &json!("mended"))
        );
        let analyzed = events(&ended, "policyAnalyzeSummaryEvent");
        let of_item =
            analyzed.iter().find(|event| event["resourceUrn"].as_str().unwrap().ends_with("item-00000"));
        let passed = of_item.unwrap()["passed"].as_array().unwrap();
        assert!(
            passed.contains(&json!("strict")) && !passed.contains(&json!("whole")),
            "{sdk:?}: {passed:?}"
        );
        assert_eq!(events(&ended, "policyAnalyzeStackSummaryEvent")[0]["passed"], json!(["whole"]));
        assert_eq!(events(&ended, "summaryEvent")[0]["PolicyPacks"], json!({ "guard|local|guard": "1.2.3" }));
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_policy_that_throws_and_a_pack_that_dies_are_clear_errors() {
    for sdk in SDKS {
        for (text, says) in [
            ("throw", "a bug in a policy"),
            ("crash", "the policy pack 'guard' ended with exit code 3 before it answered; it printed:\n"),
        ] {
            let site = site(sdk, text);
            let ended = run(&site, "up", &[]);
            assert_eq!(ended.code, 4, "{sdk:?} {text}: {ended:#?}");
            let told = ended.stdout.contains("error: failed to run policy: ");
            let first = says.trim_end();
            assert!(told && ended.stdout.contains(first), "{sdk:?} {text}: {ended:#?}");
            assert!(site.known().state.is_empty(), "{sdk:?} {text}: nothing was made");
        }
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_pack_that_hangs_is_given_up_when_the_run_is_asked_to_stop() {
    let site = site(Sdk::Node, "hang");
    let arguments = ["up", "--yes", "--skip-preview", "--policy-pack", "guard"];
    let running = Running::start(&site.sandbox, &arguments);
    let mark = site.sandbox.project().join("guard/hangs");
    wait_until("the pack hangs", || mark.exists());
    let asked = Instant::now();
    running.signal("INT");
    let ended = running.end();
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
    assert_eq!(ended.code, 8, "{ended:#?}");
    let says = "the policy pack 'guard' has not answered Analyze 5 s after the run was asked to stop";
    assert!(ended.stdout.contains(says), "{ended:#?}");
    assert!(site.things().is_empty());
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_pack_can_be_written_in_typescript() {
    let site = site(Sdk::Node, "refuse");
    let folder = site.sandbox.project().join("guard");
    std::fs::remove_file(folder.join("index.js")).unwrap();
    std::fs::write(folder.join("package.json"), r#"{ "name": "typed", "version": "0.0.1" }"#).unwrap();
    let text = r#"
        import { PolicyPack, ReportViolation, ResourceValidationArgs } from "@pulumi/policy";
        const validateResource = (args: ResourceValidationArgs, report: ReportViolation): void => {
            if (args.props.text === "refuse") report(`${args.name} must not be`);
        };
        new PolicyPack("typed", {
            policies: [{ name: "strict", description: "A rule.", enforcementLevel: "mandatory", validateResource }],
        });
    "#;
    std::fs::write(folder.join("index.ts"), text).unwrap();
    let ended = run(&site, "preview", &[]);
    assert_eq!(ended.code, 5, "{ended:#?}");
    assert!(ended.stdout.contains("policy strict of typed@v1.2.3: item-00000 must not be"), "{ended:#?}");
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_pack_of_a_language_without_a_plugin_is_run_by_an_analyzer() {
    let mut site = site(Sdk::Node, "refuse");
    let folder = site.sandbox.project().join("guard");
    std::fs::write(folder.join("PulumiPolicy.yaml"), "runtime: { name: rego, options: { strict: true } }\n")
        .unwrap();
    let bin = site.sandbox.project().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let analyzer = bin.join("pulumi-analyzer-policy-rego");
    let runner = "node_modules/@pulumi/pulumi/cmd/run-policy-pack/index.js";
    std::fs::write(&analyzer, format!("#!/bin/sh\necho \"$@\" > arguments\nexec node {runner} \"$@\"\n"))
        .unwrap();
    std::fs::set_permissions(&analyzer, std::fs::Permissions::from_mode(0o755)).unwrap();
    let plugins = std::env::var("DRYSTONE_TESTBED").unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    site.sandbox.set("PATH", &format!("{}:{plugins}:{path}", bin.display()));
    let ended = run(&site, "preview", &[]);
    assert_eq!(ended.code, 5, "{ended:#?}");
    assert!(ended.stdout.contains("policy strict of guard@v0.0.7: item-00000 must not be"), "{ended:#?}");
    let arguments = std::fs::read_to_string(folder.join("arguments")).unwrap();
    assert!(arguments.trim_end().ends_with(" . -strict=true"), "{arguments}");
}

fn analyze(site: &Site, more: &[&str]) -> Ended {
    let arguments = [&["policy", "analyze", "--policy-pack", "guard"], more].concat();
    site.sandbox.drystone(&arguments)
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn a_state_is_judged_as_it_stands() {
    for sdk in SDKS {
        let site = site(sdk, "refuse");
        let empty = analyze(&site, &[]);
        assert!(empty.code == 0 && empty.stderr.contains("nothing to analyze"), "{sdk:?}: {empty:#?}");
        assert_eq!(site.run("up").code, 0);
        let before = site.export();
        let broken = analyze(&site, &[]);
        assert_eq!(broken.code, 5, "{sdk:?}: {broken:#?}");
        assert!(broken.stdout.contains("Analyzing shop/dev"), "{sdk:?}: {broken:#?}");
        assert!(
            broken.stdout.contains("policy strict of guard@v1.2.3: item-00001 must not be"),
            "{broken:#?}"
        );
        assert!(broken.stderr.contains("shop/dev breaks mandatory policies 2 times"), "{sdk:?}: {broken:#?}");

        let events = analyze(&site, &["--json"]);
        let of_policies = self::events(&events, "policyEvent");
        assert_eq!((events.code, of_policies.len()), (5, 2), "{sdk:?}: {events:#?}");
        let summary = &self::events(&events, "summaryEvent")[0];
        assert_eq!(
            (&summary["PolicyPacks"], &summary["result"]),
            (&json!({ "guard": "1.2.3" }), &json!("failed"))
        );

        site.sandbox.ok(&["stack", "export", "--file", "state.json"]);
        let of_file = analyze(&site, &["--file", "state.json"]);
        assert_eq!(of_file.code, 5, "{sdk:?}: {of_file:#?}");
        assert!(of_file.stdout.contains("item-00000 must not be"), "{sdk:?}: {of_file:#?}");
        assert_eq!(site.export(), before, "{sdk:?}: nothing changes");
    }
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn judging_a_state_tells_what_would_be_changed_and_judges_the_stack() {
    for sdk in SDKS {
        let site = site(sdk, "mend");
        assert_eq!(site.run("up").code, 0);
        let told = analyze(&site, &[]);
        // What is not mended is broken, and nothing is.
        assert_eq!(told.code, 5, "{sdk:?}: {told:#?}");
        assert!(told.stdout.contains(r#"changed text: "mend" → "mended""#), "{sdk:?}: {told:#?}");
        assert_eq!(text_of(&site, "item-00000"), "mend", "{sdk:?}");
        site.program(&options("stack"));
        assert_eq!(site.run("up").code, 0);
        let of_stack = analyze(&site, &[]);
        assert_eq!(of_stack.code, 5, "{sdk:?}: {of_stack:#?}");
        assert!(of_stack.stdout.contains("item-00001 with 1"), "{sdk:?}: {of_stack:#?}");
        let settings = json!({ "whole": "disabled" }).to_string();
        site.sandbox.write("settings.json", &settings);
        let off = analyze(&site, &["--policy-pack-config", "settings.json"]);
        assert_eq!(off.code, 0, "{sdk:?}: {off:#?}");
    }
}

#[test]
#[ignore = "needs the policy SDKs and the stock Pulumi CLI: run by cargo xtask test"]
fn both_clis_find_the_same_in_a_state() {
    let mut site = site(Sdk::Node, "refuse");
    let folder = site.sandbox.project().join("guard");
    let bin = site.sandbox.project().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let runner = folder.join("node_modules/@pulumi/pulumi/cmd/run-policy-pack/index.js");
    let analyzer = bin.join("pulumi-analyzer-policy-nodejs");
    std::fs::write(&analyzer, format!("#!/bin/sh\nexec node {} \"$@\"\n", runner.display())).unwrap();
    std::fs::set_permissions(&analyzer, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(site.run("up").code, 0);
    let plugins = std::env::var("DRYSTONE_TESTBED").unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    site.sandbox.set("PATH", &format!("{}:{plugins}:{path}", bin.display()));
    site.sandbox.set("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
    let arguments = ["policy", "analyze", "--policy-pack", "guard", "--stack", "dev", "--json"];
    let (stock, ours) = (site.sandbox.stock(&arguments), site.sandbox.drystone(&arguments));
    let found = |ended: &Ended| {
        let mut found = events(ended, "policyEvent");
        for event in &mut found {
            // The stock CLI leaves the colour and the line break out here, and only here.
            let message = event["message"].as_str().unwrap().trim_end().to_owned();
            event["message"] = json!(message);
            event.as_object_mut().unwrap().remove("color");
        }
        found.sort_by_key(Value::to_string);
        (found, events(ended, "summaryEvent")[0]["result"].clone())
    };
    assert_eq!((stock.code, ours.code), (1, 5), "{stock:#?} {ours:#?}");
    assert_eq!(found(&stock), found(&ours));
}

#[test]
#[ignore = "needs the policy SDKs: run by cargo xtask test"]
fn packs_of_both_sdks_hold_one_update() {
    let site = site(Sdk::Node, "mend");
    let other = self::site(Sdk::Python, "mend");
    let python = other.sandbox.project().join("guard");
    let arguments = ["--policy-pack", python.to_str().unwrap()];
    let ended = run(&site, "up", &arguments);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(text_of(&site, "item-00001"), "mended");
    let lines = ended.stdout.lines().filter(|line| line.contains("guard@v1.2.3  ("));
    assert_eq!(lines.count(), 2, "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn packs_that_do_not_start_are_clear_errors_and_nothing_is_done() {
    let site = Site::new(&options("fine"));
    let folder = site.sandbox.project().join("guard");
    let missing = run(&site, "up", &[]);
    assert_eq!(missing.code, 2, "{missing:#?}");
    assert!(missing.stderr.contains("there is no policy pack at `guard`"), "{missing:#?}");

    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    for (project, says) in [
        ("version: 1\n", "a plugin has a `runtime`"),
        ("runtime: nodejs\n", "`@pulumi/pulumi` is not installed"),
        ("runtime: klingon\n", "klingon"),
        ("runtime: [\n", "PulumiPolicy.yaml"),
    ] {
        write("PulumiPolicy.yaml", project);
        let ended = run(&site, "up", &[]);
        assert_eq!(ended.code, 2, "{project}: {ended:#?}");
        assert!(ended.stderr.contains(says) && ended.stderr.contains("hint: "), "{project}: {ended:#?}");
    }
    for settings in [None, Some("nothing.json"), Some("broken.json")] {
        site.sandbox.write("broken.json", "{\"a\": ");
        let Some(settings) = settings else { continue };
        let ended = run(&site, "up", &["--policy-pack-config", settings]);
        assert_eq!(ended.code, 2, "{ended:#?}");
        assert!(ended.stderr.contains(settings), "{ended:#?}");
    }
    let uneven = run(&site, "up", &["--policy-pack", "b", "--policy-pack-config", "c.json"]);
    assert!(uneven.code == 2 && uneven.stderr.contains("must match the number"), "{uneven:#?}");
    assert!(site.things().is_empty() && site.known().state.is_empty());
}
