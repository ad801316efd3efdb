//! `cdk` on buckets of real servers: what the tool left is shown as the tool shows it.

mod cdk_site;
mod harness;

use cdk_site::{Site, upload_fixture};
use drystone_servers::BUCKET;
use serde_json::{Value, json};

const ACCOUNT_BUCKET: &str = "cdkd-state-123456789012";
const LEGACY_BUCKET: &str = "cdkd-state-123456789012-us-east-1";
const CHILD: &str = "ParentStack~ChildNestedStackChildNestedStackResourceC40294CA";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A bucket of the account as the tool left it, on a server of one's own.
fn deployed() -> Site {
    let site = Site::on_moto();
    site.ok(&["cdk", "bootstrap"]);
    upload_fixture(&site, ACCOUNT_BUCKET, "deployed");
    site
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s15_what_the_tool_left_is_listed_and_shown_as_the_tool_does() {
    let site = deployed();
    let info = parsed(&site.ok(&["cdk", "state", "info", "--json"]));
    let expected = json!({
        "bucket": ACCOUNT_BUCKET, "region": "us-east-1", "regionSource": "auto-detected",
        "bucketSource": "default", "schemaVersion": 8, "stackCount": 4,
        "assetStorage": [{
            "region": "us-east-1", "assetBucket": "cdkd-assets-123456789012-us-east-1",
            "containerRepo": "cdkd-container-assets-123456789012-us-east-1",
            "createdAt": "2026-11-15T18:20:49.948Z",
        }],
    });
    assert_eq!(info, expected);
    let list = format!(
        "ConsumerStack (us-east-1)\nParentStack (us-east-1)\n{CHILD} (us-east-1)\nProducerStack (us-east-1)\n"
    );
    assert_eq!(site.ok(&["cdk", "state", "list"]), list);
    assert_eq!(site.ok(&["cdk", "state", "ls", "--tree"]), list.replace(CHILD, &format!("└── {CHILD}")));
    let row = |name: &str, count: u64, modified: &str| {
        json!({ "stackName": name, "region": "us-east-1", "resourceCount": count, "lastModified": modified,
                "locked": false })
    };
    let expected = json!([
        row("ConsumerStack", 2, "2026-11-15T18:21:49.638Z"),
        row("ParentStack", 3, "2026-11-15T18:22:04.234Z"),
        row(CHILD, 2, "2026-11-15T18:22:04.133Z"),
        row("ProducerStack", 7, "2026-11-15T18:21:10.826Z"),
    ]);
    assert_eq!(parsed(&site.ok(&["cdk", "state", "list", "--long", "--json"])), expected);
    let tree = parsed(&site.ok(&["cdk", "state", "list", "--tree", "--json"]));
    assert_eq!(tree[1]["children"][0]["parentLogicalId"], CHILD.split_once('~').expect("a child").1);
    assert_eq!((&tree[0]["parentStack"], &tree[0]["children"]), (&Value::Null, &json!([])));
    assert_eq!(site.drystone(&["cdk", "state", "list", "--tree", "--long"]).code, 2);

    let stored = cdk_site::fixture(&format!("deployed/cdkd/{CHILD}/us-east-1/state.json"));
    let show = site.ok(&["cdk", "state", "show", CHILD, "--json"]);
    assert_eq!(parsed(&show), json!({ "state": parsed(&stored), "lock": null }));
    assert!(show.contains("    \"version\": 8,\n    \"region\": \"us-east-1\","), "{show}");
    let nested = parsed(&site.ok(&["cdk", "state", "show", "ParentStack", "--show-nested", "--json"]));
    assert_eq!(nested["children"], json!([{ "state": parsed(&stored), "lock": null, "children": [] }]));
    let shown = site.ok(&["cdk", "state", "show", "ParentStack", "--show-nested"]);
    assert!(shown.starts_with("Stack: ParentStack\n  Region: us-east-1\n  Version: 8\n"), "{shown}");
    assert!(shown.contains(&format!("\n\nNested stack: {CHILD}\nStack: {CHILD}\n")), "{shown}");
    let resources = parsed(&site.ok(&["cdk", "state", "resources", "ProducerStack", "--json"]));
    assert_eq!(resources.as_array().expect("a list").len(), 7);
    assert_eq!(resources[2]["dependencies"], json!(["Queue4A7E3555"]));
    let events = parsed(&site.ok(&["cdk", "events", "ProducerStack", "--json"]));
    let run = events["runs"][0]["runId"].as_str().expect("a run");
    assert_eq!(events["runs"].as_array().expect("a list").len(), 2);
    let of_run = parsed(&site.ok(&["cdk", "events", "ProducerStack", "--run", run, "--format", "json"]));
    assert_eq!(of_run[0]["eventType"], "RUN_STARTED");
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn the_bucket_is_named_by_the_flag_the_environment_the_settings_or_the_account() {
    let mut site = Site::on_moto();
    let source = |site: &Site, flags: &[&str]| {
        let words = [&["cdk", "state", "info", "--json"], flags].concat();
        let ended = site.drystone(&words);
        assert_eq!(ended.code, 0, "{ended:#?}");
        let info = parsed(&ended.stdout);
        let text = |name: &str| info[name].as_str().unwrap_or_default().to_owned();
        (text("bucket"), text("bucketSource"), ended.stderr)
    };
    let missing = site.drystone(&["cdk", "state", "list"]);
    assert_eq!(missing.code, 12, "{missing:#?}");
    assert!(missing.stderr.contains("`drystone cdk bootstrap`"), "{missing:#?}");
    site.ok(&["cdk", "bootstrap", "--state-bucket", LEGACY_BUCKET]);
    let (bucket, from, warned) = source(&site, &[]);
    assert_eq!((bucket.as_str(), from.as_str()), (LEGACY_BUCKET, "default-legacy"));
    assert!(warned.contains("`drystone cdk state migrate --region us-east-1`"), "{warned}");
    site.ok(&["cdk", "bootstrap"]);
    let (bucket, from, warned) = source(&site, &[]);
    assert_eq!((bucket.as_str(), from.as_str(), warned.as_str()), (ACCOUNT_BUCKET, "default", ""));
    upload_fixture(&site, LEGACY_BUCKET, "legacy");
    let (bucket, _, warned) = source(&site, &[]);
    assert_eq!(bucket, LEGACY_BUCKET, "the account's has nothing in it");
    assert!(warned.contains("nothing in it"), "{warned}");
    site.write("cdk.json", r#"{"app":"x","context":{"cdkd":{"stateBucket":"acme-state"}}}"#);
    assert_eq!(source(&site, &[]).1, "cdk.json");
    site.set("CDKD_STATE_BUCKET", ACCOUNT_BUCKET);
    assert_eq!(source(&site, &[]).1, "env");
    assert_eq!(source(&site, &["--state-bucket", BUCKET]).1, "cli-flag");
    let nowhere = site.drystone(&["cdk", "state", "list", "--state-bucket", "nobodys-state"]);
    assert!(nowhere.stderr.contains("there is no bucket nobodys-state"), "{nowhere:#?}");
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn a_bucket_is_made_with_versions_encryption_and_a_policy() {
    let site = Site::on_moto();
    site.ok(&["cdk", "bootstrap", "--region", "eu-west-1"]);
    let info = parsed(&site.ok(&["cdk", "state", "info", "--json"]));
    assert_eq!((&info["region"], &info["schemaVersion"]), (&json!("eu-west-1"), &json!("unknown")));
    let versioning = site.get(&format!("/{ACCOUNT_BUCKET}?versioning"));
    assert!(versioning.contains("<Status>Enabled</Status>"), "{versioning}");
    let encryption = site.get(&format!("/{ACCOUNT_BUCKET}?encryption"));
    assert!(encryption.contains("AES256"), "{encryption}");
    let policy = parsed(&site.get(&format!("/{ACCOUNT_BUCKET}?policy")));
    assert_eq!(
        policy["Statement"][0]["Condition"]["StringNotEquals"]["aws:PrincipalAccount"],
        "123456789012"
    );
    let again = site.drystone(&["cdk", "bootstrap"]);
    assert!(again.stdout.contains("is there already"), "{again:#?}");
    site.ok(&["cdk", "bootstrap", "--force"]);
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn a_bucket_of_a_region_moves_to_that_of_the_account() {
    let site = Site::on_moto();
    site.ok(&["cdk", "bootstrap", "--state-bucket", LEGACY_BUCKET]);
    upload_fixture(&site, LEGACY_BUCKET, "deployed");
    site.put(LEGACY_BUCKET, "cdkd/ParentStack/us-east-1/lock.json", r#"{"owner":"bob@ci:1","timestamp":1}"#);
    let locked = site.drystone(&["cdk", "state", "migrate", "--yes"]);
    assert_eq!(locked.code, 10, "{locked:#?}");
    assert!(locked.stderr.contains("cdkd/ParentStack/us-east-1/lock.json"), "{locked:#?}");
    site.ok(&["cdk", "force-unlock", "ParentStack", "--state-bucket", LEGACY_BUCKET]);
    let planned = site.ok(&["cdk", "state", "migrate", "--dry-run", "--remove-legacy"]);
    assert!(planned.starts_with("Would copy 13 object(s)"), "{planned}");
    let before = site.ok(&["cdk", "state", "list", "--long", "--json"]);
    let copied = site.ok(&["cdk", "state", "migrate", "--yes"]);
    assert!(copied.contains("Copied 13 object(s)"), "{copied}");
    assert_eq!(site.ok(&["cdk", "state", "list", "--long", "--json"]), before);
    let newer = r#"{"version":8,"stackName":"ParentStack","region":"us-east-1","resources":{},"outputs":{}}"#;
    std::thread::sleep(std::time::Duration::from_millis(1100));
    site.put(ACCOUNT_BUCKET, "cdkd/ParentStack/us-east-1/state.json", newer);
    let moved = site.drystone(&["cdk", "state", "migrate", "--yes", "--remove-legacy"]);
    assert_eq!(moved.code, 0, "{moved:#?}");
    assert!(moved.stdout.contains("Copied 0 object(s)") && moved.stdout.contains("Deleted"), "{moved:#?}");
    assert!(moved.stderr.contains("cdkd/ParentStack/us-east-1/state.json has been changed"), "{moved:#?}");
    let gone = site.drystone(&["cdk", "state", "migrate", "--yes"]);
    assert!(gone.stderr.contains("to move from"), "{gone:#?}");
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn locks_are_shown_broken_and_in_the_way() {
    let site = deployed();
    let path = "cdkd/ConsumerStack/us-east-1/lock.json";
    let lock =
        r#"{"owner":"alice@laptop:4242","timestamp":1,"expiresAt":99999999999999,"operation":"deploy"}"#;
    site.put(ACCOUNT_BUCKET, path, lock);
    let long = parsed(&site.ok(&["cdk", "state", "list", "--long", "--json"]));
    assert_eq!((&long[0]["locked"], &long[1]["locked"]), (&json!(true), &json!(false)));
    let shown = parsed(&site.ok(&["cdk", "state", "show", "ConsumerStack", "--json"]));
    assert_eq!(shown["lock"], parsed(lock));
    let shown = site.ok(&["cdk", "state", "show", "ConsumerStack"]);
    assert!(
        shown.contains("  Lock: locked by alice@laptop:4242 (operation: deploy), expires in "),
        "{shown}"
    );
    let held = site.drystone(&["cdk", "state", "orphan", "ConsumerStack", "--yes"]);
    assert_eq!(held.code, 10, "{held:#?}");
    assert!(
        held.stderr.contains("drystone cdk force-unlock ConsumerStack --stack-region us-east-1"),
        "{held:#?}"
    );
    let unlocked = site.drystone(&["cdk", "force-unlock", "ConsumerStack"]);
    assert_eq!(unlocked.stdout, "Lock released for stack: ConsumerStack (us-east-1)\n");
    assert!(unlocked.stderr.contains("alice@laptop:4242"), "{unlocked:#?}");
    let nothing = site.ok(&["cdk", "force-unlock", "ConsumerStack"]);
    assert_eq!(nothing, "No lock found for stack: ConsumerStack (us-east-1)\n");
    // A first deployment that was killed leaves a lock and no state.
    site.put(ACCOUNT_BUCKET, "cdkd/Killed/eu-west-1/lock.json", "not even JSON");
    let unlocked = site.ok(&["cdk", "force-unlock", "Killed"]);
    assert_eq!(unlocked, "Lock released for stack: Killed (eu-west-1)\n");
    let removed = site.ok(&["cdk", "state", "orphan", "ConsumerStack", "--yes"]);
    assert_eq!(removed, "Removed state for stack: ConsumerStack (us-east-1)\n");
    assert_eq!(parsed(&site.ok(&["cdk", "state", "list", "--json"])).as_array().expect("a list").len(), 3);
    let events = parsed(&site.ok(&["cdk", "events", "ConsumerStack", "--json"]));
    assert_eq!(events["runs"].as_array().expect("a list").len(), 1, "runs outlive the state");
    site.put(ACCOUNT_BUCKET, "cdkd/ProducerStack/us-east-1/lock.json", lock);
    let forced = site.drystone(&["cdk", "state", "orphan", "ProducerStack", "--force"]);
    assert_eq!(forced.code, 0, "{forced:#?}");
    assert!(forced.stderr.contains("broke the lock"), "{forced:#?}");
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn s09_bad_stacks_are_told_of_with_their_keys_and_spoil_nothing() {
    let site = deployed();
    let put = |key: &str, text: &str| site.put(ACCOUNT_BUCKET, key, text);
    put("cdkd/FutureStack/us-east-1/state.json", r#"{"version":9,"resources":{}}"#);
    put("cdkd/Half/us-east-1/state.json", r#"{"version":8,"resou"#);
    put("cdkd/notes.txt", "?");
    put(
        "cdkd/Gone~Child/us-east-1/state.json",
        r#"{"version":8,"resources":{},"outputs":{},"parentStack":"Gone","parentLogicalId":"Child","parentRegion":"us-east-1"}"#,
    );
    let long = site.drystone(&["cdk", "state", "list", "--long", "--json"]);
    assert_eq!(long.code, 0, "{long:#?}");
    let rows = parsed(&long.stdout);
    assert_eq!(rows.as_array().expect("a list").len(), 7);
    assert_eq!((&rows[1]["stackName"], &rows[1]["resourceCount"]), (&json!("FutureStack"), &Value::Null));
    for key in
        ["cdkd/FutureStack/us-east-1/state.json: its schema version 9", "cdkd/Half/us-east-1/state.json: "]
    {
        assert!(long.stderr.contains(&format!("s3://{ACCOUNT_BUCKET}/{key}")), "{long:#?}");
    }
    let tree = site.ok(&["cdk", "state", "list", "--tree"]);
    assert!(tree.lines().any(|line| line == "Gone~Child (us-east-1)"), "{tree}");
    for (stack, hint) in
        [("FutureStack", "newer version of cdkd"), ("Half", "an earlier version of that object")]
    {
        let shown = site.drystone(&["cdk", "state", "show", stack]);
        assert_eq!(shown.code, 11, "{shown:#?}");
        assert!(shown.stderr.contains(&format!("cdkd/{stack}/us-east-1/state.json")), "{shown:#?}");
        assert!(shown.stderr.contains(hint), "{shown:#?}");
    }
    site.ok(&["cdk", "state", "orphan", "FutureStack", "Half", "--yes"]);
    site.delete(ACCOUNT_BUCKET, &format!("cdkd/{CHILD}/us-east-1/state.json"));
    let torn = site.drystone(&["cdk", "state", "show", "ParentStack", "--show-nested"]);
    assert_eq!(torn.code, 11, "{torn:#?}");
    assert!(torn.stderr.contains(&format!("cdkd/{CHILD}/us-east-1/state.json")), "{torn:#?}");
    assert!(
        torn.stderr.contains("`drystone cdk state orphan ParentStack --stack-region us-east-1`"),
        "{torn:#?}"
    );
    site.ok(&["cdk", "state", "show", "ParentStack"]);
    let missing = site.drystone(&["cdk", "state", "show", "Nobody"]);
    assert_eq!(missing.code, 6, "{missing:#?}");
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn stacks_of_one_name_are_told_apart_by_their_regions() {
    let site = deployed();
    let state = |region: &str| {
        format!(
            r#"{{"version":8,"stackName":"ProducerStack","region":"{region}","resources":{{}},"outputs":{{}}}}"#
        )
    };
    site.put(ACCOUNT_BUCKET, "cdkd/ProducerStack/eu-west-1/state.json", &state("eu-west-1"));
    let several = site.drystone(&["cdk", "state", "show", "ProducerStack"]);
    assert_eq!(several.code, 2, "{several:#?}");
    assert!(several.stderr.contains("eu-west-1, us-east-1"), "{several:#?}");
    let shown =
        site.ok(&["cdk", "state", "resources", "ProducerStack", "--stack-region", "eu-west-1", "--json"]);
    assert_eq!(parsed(&shown), json!([]));
    let nowhere = site.drystone(&["cdk", "state", "show", "ProducerStack", "--stack-region", "sa-east-1"]);
    assert_eq!(nowhere.code, 6, "{nowhere:#?}");
    // From before regions were in keys, and one of those that does not even say its own.
    site.put(ACCOUNT_BUCKET, "cdkd/Old/state.json", r#"{"version":1,"stackName":"Old","resources":{}}"#);
    assert_eq!(site.drystone(&["cdk", "state", "show", "Old"]).code, 2);
    site.ok(&["cdk", "state", "show", "Old", "--stack-region", "us-east-1"]);
    assert!(site.ok(&["cdk", "state", "list"]).lines().any(|line| line == "Old"));
    site.ok(&["cdk", "state", "orphan", "Old", "--yes"]);
    assert!(!site.ok(&["cdk", "state", "list"]).contains("Old"));
}

#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn every_request_names_the_owner_that_is_expected_and_the_region_is_asked_for_once() {
    let site = Site::on_moto();
    site.ok(&["cdk", "bootstrap"]);
    upload_fixture(&site, ACCOUNT_BUCKET, "deployed");
    for words in [
        &["cdk", "state", "list", "--long"][..],
        &["cdk", "state", "show", "ParentStack", "--show-nested"],
        &["cdk", "state", "orphan", "ConsumerStack", "--yes"],
        &["cdk", "force-unlock", "ProducerStack"],
    ] {
        let heads = site.watched(words);
        let buckets: Vec<&String> = heads.iter().filter(|head| !head.starts_with("POST / ")).collect();
        assert!(buckets.len() >= 4, "{heads:#?}");
        for head in &buckets {
            let head = head.to_lowercase();
            assert!(head.contains("x-amz-expected-bucket-owner: 123456789012\r\n"), "{head}");
            assert!(head.contains(";x-amz-expected-bucket-owner,"), "it is signed along: {head}");
        }
        let locations = buckets.iter().filter(|head| head.contains("?location")).count();
        assert_eq!(locations, 1, "{words:?}");
        assert_eq!(heads.len() - buckets.len(), 1, "who asks is asked for once: {words:?}");
    }
}
