//! The commands of every store on stacks of cdkd and unobin, and copying them to stacks of ours.

mod cdk_site;
mod harness;

use cdk_site::{Site, upload_fixture};
use harness::Sandbox;
use serde_json::Value;
use std::path::Path;

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../stores/tests/fixtures/unobin/state-env-key");
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const ACCOUNT_BUCKET: &str = "cdkd-state-123456789012";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name().to_string_lossy().replace('_', ":"));
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The tree that the real tool wrote, as the backend in use.
fn tree() -> Sandbox {
    let mut sandbox = Sandbox::new();
    let root = sandbox.folder().join("tree");
    copy(Path::new(TREE), &root);
    sandbox.set("UB_STATE_KEY", KEY);
    sandbox.set("PULUMI_BACKEND_URL", &format!("unobin+file://{}", root.display()));
    sandbox
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Everything that a command which must succeed said.
fn told(ended: &harness::Ended) -> String {
    assert_eq!(ended.code, 0, "{ended:#?}");
    format!("{}{}", ended.stdout, ended.stderr)
}

/// How many revisions a stack has.
fn revisions(listed: &str) -> usize {
    parsed(listed).as_array().expect("a list").len()
}

fn current(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.folder().join("tree/demo/dev/current")).expect("a revision")
}

#[test]
fn s16_the_commands_of_every_store_read_a_tree_of_unobin() {
    let sandbox = tree();
    let stack = ["--stack", "demo/dev"];
    let with = |command: &[&str]| told(&sandbox.drystone(&[command, &stack].concat()));
    assert!(sandbox.ok(&["stack", "ls", "--all"]).contains("organization/demo/dev"));
    assert_eq!(with(&["state", "verify"]), "demo/dev is sound: 6 resources\n");
    assert_eq!(revisions(&with(&["state", "history", "--json"])), 5);
    let diff = with(&["state", "diff", "4", "5"]);
    assert!(diff.contains("\"Hello from unobin <&> é\" → \"Second message\""), "{diff}");
    assert!(with(&["state", "lock", "show"]).contains("free"));
    assert!(with(&["state", "ls"]).contains("resource.token"));
}

#[test]
fn s17_what_is_sensitive_in_a_tree_is_not_shown() {
    let sandbox = tree();
    for command in [&["state", "diff", "1", "5"][..], &["state", "ls"], &["state", "history"], &["stack"]] {
        let ended = sandbox.drystone(&[command, &["--stack", "demo/dev"]].concat());
        assert!(!format!("{ended:?}").contains("hunter2"), "{command:?}: {ended:#?}");
    }
}

#[test]
fn s06_rolling_a_tree_back_writes_a_revision_that_the_tool_opens() {
    let sandbox = tree();
    let before = current(&sandbox);
    sandbox.ok(&["state", "rollback", "3", "--yes", "--stack", "demo/dev"]);
    assert_ne!(current(&sandbox), before);
    let root = sandbox.folder().join("tree").display().to_string();
    let own = |verb: &[&str]| {
        let tree = ["debug", "unobin", "store", &root, "demo", "dev", "env-key:UB_STATE_KEY"];
        sandbox.ok(&[&tree[..], verb].concat())
    };
    let listed = own(&["list"]);
    let names: Vec<&str> = listed.lines().collect();
    assert_eq!(names.len(), 6);
    assert_eq!(format!("{}\n", names[5]), current(&sandbox));
    assert_eq!(own(&["current"]), own(&["get", names[2]]));
    assert_eq!(revisions(&sandbox.ok(&["state", "history", "--json", "--stack", "demo/dev"])), 6);
}

#[test]
fn s13_a_lock_of_the_tool_is_honoured_and_told_of() {
    let sandbox = tree();
    std::fs::write(sandbox.folder().join("tree/demo/dev/lock"), "1\n").expect("a lock");
    let shown = sandbox.ok(&["state", "lock", "show", "--stack", "demo/dev"]);
    assert!(shown.contains("another tool"), "{shown}");
    let before = current(&sandbox);
    let refused = sandbox.drystone(&["state", "rollback", "3", "--yes", "--stack", "demo/dev"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("is being updated by"), "{refused:#?}");
    assert_eq!(current(&sandbox), before);
    sandbox.ok(&["cancel", "--yes", "demo/dev"]);
    sandbox.ok(&["state", "rollback", "3", "--yes", "--stack", "demo/dev"]);
}

#[test]
fn what_is_wrong_with_a_tree_is_told_with_its_file() {
    let mut sandbox = tree();
    let state = |sandbox: &Sandbox| sandbox.drystone(&["state", "verify", "--stack", "demo/dev"]);
    let missing = sandbox.drystone(&["state", "verify", "--stack", "demo/other"]);
    assert!(missing.stderr.contains("no stack named"), "{missing:#?}");
    sandbox.set("UB_STATE_KEY", "//////////////////////////////////////////8=");
    let refused = state(&sandbox);
    assert!(refused.stderr.contains("message authentication failed"), "{refused:#?}");
    assert!(refused.stderr.contains(current(&sandbox).trim()), "{refused:#?}");
    sandbox.unset("UB_STATE_KEY");
    assert!(state(&sandbox).stderr.contains("UB_STATE_KEY is not set"));
    let unsealed = format!("unobin+file://{}?encrypter=noop", sandbox.folder().join("tree").display());
    sandbox.set("PULUMI_BACKEND_URL", &unsealed);
    assert!(state(&sandbox).stderr.contains("it is sealed"), "{:#?}", state(&sandbox));
}

#[test]
fn a_stack_of_unobin_becomes_one_of_ours_with_its_secrets_sealed() {
    let mut sandbox = tree();
    let source = format!("unobin+file://{}#demo/dev", sandbox.folder().join("tree").display());
    let target = format!("file://{}", sandbox.folder().join("there").display());
    std::fs::create_dir(sandbox.folder().join("there")).expect("a folder");
    std::fs::write(sandbox.project().join("Pulumi.yaml"), "name: demo\nruntime: yaml\nresources: {}\n")
        .expect("a project");
    sandbox.set("PULUMI_BACKEND_URL", &target);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "pw");
    let refused = sandbox.drystone(&["stack", "migrate", &source, &target]);
    assert!(refused.stderr.contains("would stand in clear"), "{refused:#?}");
    assert_eq!(sandbox.ok(&["stack", "ls", "--json"]).trim(), "[]");
    let migrated = sandbox.drystone(&["stack", "migrate", &source, &target, "--secrets-provider", "default"]);
    assert_eq!(migrated.code, 0, "{migrated:#?}");
    assert!(migrated.stderr.contains("unobin:action:std.exec-command  action.read-back"), "{migrated:#?}");
    let ours = ["--stack", "dev"];
    assert_eq!(revisions(&sandbox.ok(&[&["stack", "revisions", "--json"][..], &ours].concat())), 5);
    let shown = parsed(&sandbox.ok(&[&["stack", "export", "--show-secrets"][..], &ours].concat()));
    let resources = shown["deployment"]["resources"].as_array().expect("resources").clone();
    let token =
        resources.iter().find(|it| it["urn"].as_str().is_some_and(|urn| urn.ends_with("resource.token")));
    let token = token.expect("the token");
    assert_eq!(token["type"], "drystone:local:File");
    assert!(token["inputs"]["content"]["plaintext"].as_str().is_some_and(|text| text.contains("hunter2")));
    assert!(resources.iter().all(|it| !it["type"].as_str().is_some_and(|kind| kind.starts_with("unobin"))));
    let text = |folder: &str| {
        let mut found = String::new();
        let mut folders = vec![sandbox.folder().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push_str(&String::from_utf8_lossy(&std::fs::read(path).expect("a file")));
                }
            }
        }
        found
    };
    assert!(!text("there").contains("hunter2"), "S17");
}

/// A bucket that keeps versions, with a stack that the real tool deployed and then changed.
fn bucket() -> Site {
    let mut site = Site::on_moto();
    site.ok(&["cdk", "bootstrap"]);
    upload_fixture(&site, ACCOUNT_BUCKET, "deployed");
    upload_fixture(&site, ACCOUNT_BUCKET, "updated");
    site.set("PULUMI_BACKEND_URL", &format!("cdkd+s3://{ACCOUNT_BUCKET}"));
    site
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s15_the_commands_of_every_store_read_and_return_a_stack_of_cdkd() {
    let site = bucket();
    let stack = ["--stack", "ProducerStack/us-east-1"];
    let with = |command: &[&str]| told(&site.drystone(&[command, &stack].concat()));
    let listed = site.ok(&["stack", "ls", "--all"]);
    assert!(listed.contains("organization/ParentStack~ChildNestedStack"), "{listed}");
    assert!(with(&["state", "verify"]).contains("ProducerStack/us-east-1 is sound"));
    assert_eq!(revisions(&with(&["state", "history", "--json"])), 2);
    let diff = with(&["state", "diff", "1", "2"]);
    assert!(diff.contains("aws-native:"), "{diff}");
    assert!(with(&["state", "lock", "show"]).contains("free"));
    with(&["state", "rollback", "1", "--yes"]);
    assert_eq!(revisions(&with(&["state", "history", "--json"])), 3);
    assert!(
        with(&["state", "diff", "1", "3"]).contains("no difference")
            || with(&["state", "diff", "1", "3"]).trim().is_empty()
    );
    let shown = parsed(&site.ok(&["cdk", "state", "show", "ProducerStack", "--json"]));
    let deployed = parsed(&cdk_site::fixture("deployed/cdkd/ProducerStack/us-east-1/state.json"));
    assert_eq!(shown["state"]["resources"], deployed["resources"]);
    assert_eq!(shown["lock"], Value::Null);
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn a_stack_of_cdkd_becomes_one_of_ours_and_what_has_no_type_is_listed() {
    let site = bucket();
    let source = format!("cdkd+s3://{ACCOUNT_BUCKET}#ParentStack/us-east-1");
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!("file://{}#shop/prod", folder.path().display());
    let migrated = site.drystone(&["stack", "migrate", &source, &target]);
    assert_eq!(migrated.code, 0, "{migrated:#?}");
    assert!(migrated.stderr.contains("cdkd:AWS.CloudFormation:Stack"), "{migrated:#?}");
    assert!(migrated.stderr.contains("drystone refresh"), "{migrated:#?}");
    let mut ours = Sandbox::new();
    ours.set("PULUMI_BACKEND_URL", &format!("file://{}", folder.path().display()));
    let state = parsed(&ours.ok(&["stack", "export", "--stack", "organization/shop/prod"]));
    let resources = state["deployment"]["resources"].as_array().expect("resources");
    let parameter =
        resources.iter().find(|it| it["type"] == "aws-native:ssm:Parameter").expect("the parameter");
    assert_eq!(parameter["id"], "/cdkd/fromchild");
    let topic = resources.iter().find(|it| it["type"] == "aws-native:sns:Topic").expect("the topic");
    assert_eq!(parameter["dependencies"], serde_json::json!([topic["urn"]]));
    assert_eq!(topic["urn"], "urn:pulumi:prod::shop::aws-native:sns:Topic::ParentTopicEFE305AF");
    ours.ok(&["state", "verify", "--stack", "organization/shop/prod"]);
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s07_a_stack_of_cdkd_that_is_not_sound_is_mended_in_its_own_form() {
    let site = bucket();
    let key = "cdkd/ParentStack/us-east-1/state.json";
    let sound = cdk_site::fixture(&format!("deployed/{key}"));
    let torn = sound.replace(r#""ParentTopicEFE305AF": {"#, r#""Renamed": {"#);
    site.ok(&["cdk", "state", "orphan", "ParentStack", "--force", "--yes"]);
    site.put(ACCOUNT_BUCKET, key, &torn);
    let stack = ["--stack", "ParentStack/us-east-1"];
    let refused = site.drystone(&[&["state", "verify"][..], &stack].concat());
    assert!(refused.code != 0 && format!("{refused:?}").contains("ParentTopicEFE305AF"), "{refused:#?}");
    told(&site.drystone(&[&["state", "doctor", "--yes"][..], &stack].concat()));
    assert!(told(&site.drystone(&[&["state", "verify"][..], &stack].concat())).contains("is sound"));
    let shown = parsed(&site.ok(&["cdk", "state", "show", "ParentStack", "--json"]));
    let resources = shown["state"]["resources"].as_object().expect("resources").clone();
    assert_eq!(resources.len(), 3);
    assert_eq!(resources["Renamed"], parsed(&sound)["resources"]["ParentTopicEFE305AF"]);
}
