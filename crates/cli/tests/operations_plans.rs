//! `preview --save-plan`, `up --plan` and `up --strict`: what the file holds, what it is bound to, what is refused.

mod harness;
mod made_stack;
mod programs;

use harness::{Ended, Sandbox};
use made_stack::everything;
use programs::{Running, deeds, history, node, peer, set_program, things, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

const PLAN: &str = "plan.json";

/// A stack of one thing, and a plan to make another.
fn planned() -> Sandbox {
    let sandbox = node(&json!({ "things": [{ "name": "a" }] }));
    sandbox.ok(&["config", "set", "size", "3"]);
    sandbox.ok(&["config", "set", "token", "sesame-open", "--secret"]);
    sandbox.ok(&["up", "--skip-preview"]);
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }, { "name": "b" }] }));
    sandbox.ok(&["preview", "--save-plan", PLAN]);
    sandbox
}

fn plan(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(PLAN)).expect("JSON")
}

/// Everything in the backend but the lease, which may have been taken and given back.
fn state(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let mut found = everything(sandbox);
    found.retain(|path, _| !path.contains("/drystone/leases/"));
    found
}

/// Runs `up` with the plan, which must be refused before anything is done.
fn refused(sandbox: &Sandbox, more: &[&str], code: i32, says: &[&str]) {
    let before = (deeds(sandbox), state(sandbox));
    for how in ["--yes", "--skip-preview"] {
        let ended = sandbox.drystone(&[&["up", "--plan", PLAN, how], more].concat());
        assert_eq!(ended.code, code, "{ended:#?}");
        for text in says {
            assert!(ended.stderr.contains(text), "{text:?}: {ended:#?}");
        }
        assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:#?}");
        assert!(ended.stderr.contains("hint: ") && ended.stdout.is_empty(), "{ended:#?}");
    }
    assert!((deeds(sandbox), state(sandbox)) == before, "something was done");
}

#[track_caller]
fn ends(ended: &Ended, code: i32, says: &str) {
    assert_eq!(ended.code, code, "{ended:#?}");
    assert!(ended.stderr.contains(says) || ended.stdout.contains(says), "{says:?}: {ended:#?}");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_plan_is_carried_out_once() {
    let sandbox = planned();
    let path = sandbox.project().join(PLAN);
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    let text = sandbox.read(PLAN);
    assert!(!text.contains("sesame") && !text.contains("hush"), "{text}");
    let steps = |name: &str| {
        let plans = plan(&sandbox)["resourcePlans"].clone();
        let of = |(urn, _): &(&String, &Value)| urn.ends_with(&format!("::{name}"));
        plans.as_object().expect("plans").iter().find(of).map(|(_, plan)| plan["steps"].clone())
    };
    assert_eq!((steps("a"), steps("b")), (Some(json!(["same"])), Some(json!(["create"]))));

    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    ends(&up, 0, "Updating shop/dev");
    assert_eq!(things(&sandbox), ["a", "b"]);
    assert_eq!(history(&sandbox)[0]["environment"]["updatePlan"], "true");
    assert_eq!(history(&sandbox)[1]["environment"]["updatePlan"], "false");

    let says = ["the state of shop/dev is not the one", "made at revision 2, the state is at revision 3"];
    refused(&sandbox, &[], 10, &says);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_preview_says_how_its_plan_is_used_and_json_stays_json() {
    let sandbox = planned();
    let preview = sandbox.drystone(&["preview", "--save-plan", PLAN]);
    ends(&preview, 0, "Update plan written to '");
    ends(&preview, 0, "Run `drystone up --plan='");
    let preview = sandbox.drystone(&["preview", "--json", "--save-plan", "other.json"]);
    assert_eq!((preview.code, preview.stderr.as_str()), (0, ""), "{preview:#?}");
    serde_json::from_str::<Value>(&preview.stdout).expect("JSON");
    ends(&sandbox.drystone(&["up", "-f", "--plan", "other.json"]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_preview_that_fails_writes_no_plan() {
    let sandbox = planned();
    let before = sandbox.read(PLAN);
    assert_eq!(sandbox.drystone(&["preview", "--save-plan", PLAN, "--expect-no-changes"]).code, 7);
    sandbox.write("index.js", "throw new Error('no program');\n");
    assert_eq!(sandbox.drystone(&["preview", "--save-plan", PLAN]).code, 4);
    assert_eq!(sandbox.drystone(&["preview", "--save-plan", "new.json"]).code, 4);
    assert!(sandbox.read(PLAN) == before && !sandbox.project().join("new.json").exists());
    let left: Vec<_> = std::fs::read_dir(sandbox.project()).expect("a folder").flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().contains(".tmp")), "{left:?}");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_plan_that_cannot_be_written_is_told() {
    let sandbox = planned();
    let preview = sandbox.drystone(&["preview", "--save-plan", "Pulumi.yaml/plan.json"]);
    ends(&preview, 12, "no plan was written");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn an_edited_plan_is_refused() {
    let sandbox = planned();
    let whole = sandbox.read(PLAN);
    let edits: [fn(&mut Value); 7] = [
        |plan| plan["resourcePlans"].as_object_mut().expect("plans").retain(|urn, _| !urn.ends_with("::b")),
        |plan| {
            for plan in plan["resourcePlans"].as_object_mut().expect("plans").values_mut() {
                plan["steps"] = json!(["delete"]);
            }
        },
        |plan| plan["config"]["shop:size"] = json!("4"),
        |plan| plan["manifest"]["time"] = json!("2020-01-01T00:00:00Z"),
        |plan| plan["more"] = json!(true),
        |plan| plan["drystone"]["seal"] = json!("v1:AAAA:AAAA"),
        |plan| plan["drystone"]["seal"] = json!(""),
    ];
    for edit in edits {
        let mut edited: Value = serde_json::from_str(&whole).expect("JSON");
        edit(&mut edited);
        sandbox.write(PLAN, &edited.to_string());
        refused(&sandbox, &[], 2, &["edited"]);
    }
    // How it is laid out says nothing.
    let same: Value = serde_json::from_str(&whole).expect("JSON");
    sandbox.write(PLAN, &same.to_string());
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn what_is_no_plan_is_refused() {
    let sandbox = planned();
    let whole = sandbox.read(PLAN);
    let export = sandbox.ok(&["stack", "export"]);
    for text in
        ["", "{", "[]", "null", "plan", "{}", &whole[..whole.len() / 2], &whole[..whole.len() - 3], &export]
    {
        sandbox.write(PLAN, text);
        refused(&sandbox, &[], 2, &["is not a plan, or not a whole one"]);
    }
    sandbox.write(PLAN, &whole.replacen("\"seed\": \"", "\"seed\": \"AA", 1));
    refused(&sandbox, &[], 2, &["edited"]);
    std::fs::remove_file(sandbox.project().join(PLAN)).expect("removed");
    refused(&sandbox, &[], 2, &["plan.json` cannot be read"]);
    std::fs::create_dir(sandbox.project().join(PLAN)).expect("a folder");
    refused(&sandbox, &[], 2, &["plan.json` cannot be read"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_plan_of_another_stack_is_refused() {
    let sandbox = planned();
    sandbox.ok(&["stack", "init", "prod"]);
    refused(
        &sandbox,
        &["--stack", "prod"],
        2,
        &["is one of organization/shop/dev, not of organization/shop/prod"],
    );
    // Its name alone does not make it another stack's.
    sandbox.write(PLAN, &sandbox.read(PLAN).replace("organization/shop/dev", "organization/shop/prod"));
    refused(&sandbox, &["--stack", "prod"], 2, &["does not open with the secrets of shop/prod"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_plan_of_a_newer_kind_is_refused() {
    let sandbox = planned();
    let mut newer = plan(&sandbox);
    newer["drystone"]["version"] = json!(2);
    sandbox.write(PLAN, &newer.to_string());
    refused(&sandbox, &[], 2, &["bound in a newer way (2) than this version knows"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_program_that_changed_is_refused_by_its_files() {
    let sandbox = planned();
    let program = sandbox.read("index.js");
    sandbox.write("index.js", &format!("{program}// Nothing else.\n"));
    sandbox.write("more.js", "");
    let says = ["the program is not the one", "changed: index.js", "added: more.js"];
    refused(&sandbox, &[], 2, &says);
    sandbox.write("index.js", &program);
    std::fs::remove_file(sandbox.project().join("more.js")).expect("removed");
    sandbox.write("notes.txt", "not the program's");
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn configuration_that_changed_is_refused_by_its_keys() {
    let sandbox = planned();
    sandbox.ok(&["config", "set", "size", "4"]);
    let says = ["the configuration of shop/dev is not the one", "changed: shop:size"];
    refused(&sandbox, &[], 2, &says);
    sandbox.ok(&["config", "set", "size", "3"]);
    sandbox.ok(&["config", "set", "token", "sesame-shut", "--secret"]);
    refused(&sandbox, &[], 2, &["changed: shop:token"]);
    // Sealed anew it is the same value.
    sandbox.ok(&["config", "set", "token", "sesame-open", "--secret"]);
    sandbox.ok(&["config", "set", "more", "1"]);
    refused(&sandbox, &[], 2, &["added: shop:more"]);
    sandbox.ok(&["config", "rm", "more"]);
    let both = sandbox.drystone(&["up", "--yes", "--plan", PLAN, "--config", "size=4"]);
    ends(&both, 2, "cannot be used with");
    assert!(
        sandbox.read("Pulumi.dev.yaml").contains("shop:size: \"3\""),
        "{}",
        sandbox.read("Pulumi.dev.yaml")
    );
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn options_that_differ_are_refused_by_name() {
    let sandbox = planned();
    let says = ["the options are not those", "added: --refresh", "added: --target **::a"];
    refused(&sandbox, &["--target", "**::a", "--refresh"], 2, &says);
    sandbox.ok(&["preview", "--save-plan", PLAN, "--target", "**::b"]);
    refused(&sandbox, &[], 2, &["missing: --target **::b"]);
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN, "--target", "**::b"]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn what_a_program_does_differently_is_stopped_before_it_is_done() {
    let sandbox = planned();
    let before = deeds(&sandbox);
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }, { "name": "b", "size": 2 }] }));
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    ends(&up, 4, "violates plan: properties changed: =+size[{2}]");
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }, { "name": "c" }] }));
    let up = sandbox.drystone(&["up", "--skip-preview", "--plan", PLAN]);
    ends(&up, 4, "create is not allowed by the plan: no steps were expected for this resource");
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }] }));
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    ends(
        &up,
        4,
        "expected resource operations for urn:pulumi:dev::shop::pulumi-nodejs:dynamic:Resource::b but none",
    );
    assert_eq!((deeds(&sandbox), things(&sandbox)), (before, vec!["a".to_owned()]));
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_state_that_another_tool_changed_is_refused() {
    let sandbox = planned();
    let export = sandbox.ok(&["stack", "export"]);
    let urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic:Resource::a";
    sandbox.ok(&["state", "protect", urn, "--yes"]);
    refused(&sandbox, &[], 10, &["made at revision 2, the state is at revision 3"]);
    // The same state again is the one that the plan was made for, whatever its number.
    let imported = sandbox.drystone_with(&["stack", "import"], &export);
    assert_eq!(imported.code, 0, "{imported:#?}");
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "revision 4 → 5");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s17_a_plan_shows_secrets_to_who_asked_for_them() {
    let sandbox = planned();
    sandbox.ok(&["preview", "--save-plan", PLAN, "--show-secrets"]);
    assert!(sandbox.read(PLAN).contains("hush-hush"), "{}", sandbox.read(PLAN));
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "revision 2 → 3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn without_the_passphrase_no_plan_is_opened() {
    let mut sandbox = planned();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong horse");
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    assert_eq!(up.code, 3, "{up:#?}");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s5_a_plan_over_what_a_dead_run_left_is_for_the_state_that_is_recovered() {
    let sandbox = planned();
    set_program(
        &sandbox,
        &json!({ "things": [{ "name": "a" }, { "name": "b" }, { "name": "c", "takes": 60_000 }] }),
    );
    let running = Running::start(&sandbox, &["up", "--skip-preview"]);
    wait_until("the creation of c", || deeds(&sandbox).contains(&"begin c".to_owned()));
    running.signal("KILL");
    running.end();
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }, { "name": "b" }, { "name": "d" }] }));
    sandbox.ok(&["preview", "--save-plan", PLAN]);
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    ends(&up, 0, "Updating shop/dev");
    assert_eq!(things(&sandbox), ["a", "b", "d"]);
}

/// A plan as the stock CLI would write it.
fn unseal(sandbox: &Sandbox) {
    let mut bare = plan(sandbox);
    bare.as_object_mut().expect("a plan").remove("drystone");
    for plan in bare["resourcePlans"].as_object_mut().expect("plans").values_mut() {
        if let Some(goal) = plan["goal"].as_object_mut() {
            goal.remove("drystone");
        }
    }
    sandbox.write(PLAN, &bare.to_string());
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_plan_without_a_seal_is_only_taken_from_who_insists() {
    let mut sandbox = planned();
    unseal(&sandbox);
    refused(&sandbox, &[], 2, &["has no seal", "DRYSTONE_UNSEALED_PLANS=true"]);
    sandbox.set("DRYSTONE_UNSEALED_PLANS", "true");
    sandbox.ok(&["stack", "init", "prod"]);
    let other = sandbox.drystone(&["up", "--yes", "--plan", PLAN, "--stack", "prod"]);
    ends(&other, 2, "is one of shop/dev, not of shop/prod");
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN, "--stack", "dev"]);
    ends(&up, 0, "has no seal: only its resources and steps are compared");
    assert_eq!(deeds(&sandbox)[2..], ["begin b", "end b"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn strict_holds_an_update_to_its_own_preview() {
    let sandbox = planned();
    ends(&sandbox.drystone(&["up", "-f", "--strict"]), 2, "--strict cannot be used with --skip-preview");
    // A program that does something else when it is not a preview.
    let program = sandbox.read("index.js");
    let sly = "if (!pulumi.runtime.isDryRun()) new Thing(\"sly\", {});\n";
    sandbox.write("index.js", &format!("{program}{sly}"));
    let up = sandbox.drystone(&["up", "--yes", "--strict"]);
    ends(&up, 4, "create is not allowed by the plan: no steps were expected for this resource");
    assert!(!deeds(&sandbox).iter().any(|deed| deed.contains("sly")), "{:?}", deeds(&sandbox));
    sandbox.write("index.js", &program);
    ends(&sandbox.drystone(&["up", "--yes", "--strict"]), 0, "Updating shop/dev");
    assert_eq!(things(&sandbox), ["a", "b"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI and the Node.js SDK: run by cargo xtask test"]
fn the_stock_cli_and_ours_take_each_other_s_plans() {
    let mut sandbox = Sandbox::new();
    let host = peer("DRYSTONE_PEER_YAML");
    let folder = host.parent().expect("a folder").display().to_string();
    sandbox.set("PATH", &format!("{folder}:{}", std::env::var("PATH").unwrap_or_default()));
    let program =
        |values: &str| format!("name: shop\nruntime: yaml\nresources:\n{values}outputs: {{ open: plain }}\n");
    let stash = |name: &str, value: &str| {
        format!("  {name}: {{ type: 'pulumi:index:Stash', properties: {{ input: {value} }} }}\n")
    };
    sandbox.write("Pulumi.yaml", &program(&stash("a", "1")));
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&["up", "--skip-preview"]);

    sandbox.write("Pulumi.yaml", &program(&(stash("a", "2") + &stash("b", "x"))));
    sandbox.ok(&["preview", "--save-plan", PLAN]);
    let up = sandbox.stock(&["up", "--yes", "--skip-preview", "--stack", "dev", "--plan", PLAN]);
    assert_eq!(up.code, 0, "{up:#?}");

    sandbox.write("Pulumi.yaml", &program(&stash("b", "y")));
    sandbox.stock_ok(&["preview", "--stack", "dev", "--save-plan", PLAN]);
    sandbox.set("DRYSTONE_UNSEALED_PLANS", "true");
    sandbox.write("Pulumi.yaml", &program(&stash("b", "z")));
    let up = sandbox.drystone(&["up", "--yes", "--plan", PLAN]);
    ends(&up, 4, "violates plan: properties changed: ~~input[{y}!={z}]");
    sandbox.write("Pulumi.yaml", &program(&stash("b", "y")));
    ends(&sandbox.drystone(&["up", "--yes", "--plan", PLAN]), 0, "Updating shop/dev");
}
