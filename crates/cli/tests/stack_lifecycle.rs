//! The life of stacks: made, listed, selected, renamed, removed, brought back, freed from those who hold them.

mod harness;

use drystone_stores::conformance::make::{begin, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, HeldLease, Leases, StackId};
use harness::{Sandbox, deployment};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A sandbox with the stack `dev`, which is selected.
fn with_dev() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

/// A sandbox whose stack `dev` has resources.
fn with_resources() -> Sandbox {
    let sandbox = with_dev();
    put_resources(&sandbox, "dev");
    sandbox
}

fn checkpoint(sandbox: &Sandbox, stack: &str) -> PathBuf {
    sandbox.state().join(format!(".pulumi/stacks/shop/{stack}.json"))
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Gives a stack the resources of the sample deployment, as another tool would.
fn put_resources(sandbox: &Sandbox, stack: &str) {
    let path = checkpoint(sandbox, stack);
    let mut document = read_json(&path);
    let sample: Value = serde_json::from_str(&deployment()).expect("JSON");
    let mut resources = sample["deployment"]["resources"].clone();
    resources[2]["aliases"] = json!([
        "urn:pulumi:dev::shop::random:index:Pet::old",
        "urn:pulumi:other::shop::random:index:Pet::old"
    ]);
    resources[3]["inputs"]["friend"] = json!({
        "4dabf18193072939515e22adb298388d": "5cf8f73096256a8f31e491e813e4eb8e",
        "urn": "urn:pulumi:dev::shop::random:index:Pet::a",
        "id": "red-fox",
    });
    resources[3]["inputs"]["big"] = json!(9_007_199_254_740_993_u64);
    document["checkpoint"]["latest"]["resources"] = resources;
    document["checkpoint"]["latest"]["manifest"]["time"] = json!("2026-01-02T03:04:05.678Z");
    std::fs::write(path, document.to_string()).expect("a file");
}

/// Every file below a folder with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push((path.clone(), std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    found.sort();
    found
}

/// What the stock CLI would see of the backend.
fn stock_files(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let all = files(&sandbox.state());
    all.into_iter()
        .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "drystone"))
        .collect()
}

fn list(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = vec!["stack", "ls", "--json"];
    all.extend(arguments);
    serde_json::from_str(&sandbox.ok(&all)).expect("JSON")
}

fn names(listed: &Value) -> Vec<String> {
    let stacks = listed.as_array().expect("a list").iter();
    stacks.map(|stack| stack["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_new_stack_is_what_the_stock_cli_makes() {
    let sandbox = Sandbox::new();
    let ended = sandbox.drystone(&["stack", "init", "dev"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", "Created stack 'dev'\n"));
    let settings = sandbox.read("Pulumi.dev.yaml");
    let salt = settings.strip_prefix("encryptionsalt: ").expect("a salt").trim_end();
    assert!(salt.starts_with("v1:") && settings.lines().count() == 1, "{settings}");
    let document = read_json(&checkpoint(&sandbox, "dev"));
    assert_eq!(document["version"], 3);
    assert_eq!(document["checkpoint"]["stack"], "organization/shop/dev");
    let latest = &document["checkpoint"]["latest"];
    assert_eq!(latest["secrets_providers"], json!({ "type": "passphrase", "state": { "salt": salt } }));
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "dev\n");
    assert_eq!(sandbox.ok(&["stack", "--show-name", "-Q"]), "organization/shop/dev\n");

    sandbox.ok(&["stack", "new", "organization/shop/qa", "--no-select", "--secrets-provider", "passphrase"]);
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "dev\n");
    assert_eq!(names(&list(&sandbox, &[])), ["dev", "qa"]);
}

#[test]
fn settings_that_are_there_keep_their_salt_and_text() {
    let sandbox = with_dev();
    let text = format!("# ours\n{}config:\n  shop:color: blue # nice\n", sandbox.read("Pulumi.dev.yaml"));
    sandbox.write("Pulumi.dev.yaml", &text);
    sandbox.ok(&["stack", "rm", "--yes", "--preserve-config"]);
    let mut wrong = sandbox;
    wrong.set("PULUMI_CONFIG_PASSPHRASE", "battery staple");
    let before = stock_files(&wrong);
    let ended = wrong.drystone(&["stack", "init", "dev"]);
    assert_eq!(ended.code, 3, "{ended:#?}");
    assert!(ended.stderr.contains("incorrect passphrase") && ended.stderr.contains("hint: "), "{ended:#?}");
    assert_eq!(stock_files(&wrong), before);
    wrong.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    wrong.ok(&["stack", "init", "dev"]);
    assert_eq!(wrong.read("Pulumi.dev.yaml"), text);
    wrong.ok(&["stack", "init", "qa", "--copy-config-from", "dev"]);
    let copied = wrong.read("Pulumi.qa.yaml");
    assert!(copied.contains("shop:color: blue"), "{copied}");
    assert!(!text.contains(copied.lines().next().expect("a salt")), "the salt is its own");
}

#[test]
fn what_cannot_be_made_is_refused_and_nothing_changes() {
    let sandbox = with_dev();
    let before = (stock_files(&sandbox), files(&sandbox.project()));
    let long = "x".repeat(300);
    let cases: [(&[&str], i32, &str); 12] = [
        (&["dev"], 1, "stack 'shop/dev' already exists"),
        (&["../dev"], 2, "organization name must be 'organization'"),
        (&["organization/shop/.."], 2, "may not consist of periods only"),
        (&["a\nb"], 2, "invalid character"),
        (&["a\u{7}b"], 2, "invalid character"),
        (&[""], 2, "may not be empty"),
        (&[&long], 2, "cannot exceed 100 characters"),
        (&["organization/other/x"], 1, "doesn't match Pulumi.yaml"),
        (&["x", "--secrets-provider", "awskms://alias/key"], 2, "its region is not known"),
        (&["x", "--secrets-provider", "rot13"], 2, "unknown secrets provider type 'rot13'"),
        (&["x", "--copy-config-from", "nope"], 6, "no stack named 'shop/nope' found"),
        (&["x", "--stack", "y"], 2, "only one of --stack or argument stack name"),
    ];
    for (arguments, code, text) in cases {
        let ended = sandbox.drystone(&[&["stack", "init"], arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{arguments:?} {ended:#?}");
        assert!(
            ended.stderr.starts_with("error: ") && ended.stderr.contains(text),
            "{arguments:?} {ended:#?}"
        );
        assert_eq!((stock_files(&sandbox), files(&sandbox.project())), before, "{arguments:?}");
    }
    let ended = sandbox.drystone(&["stack", "init"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("missing stack name"), "{ended:#?}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_its_settings_a_stack_is_not_made() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\nstackConfigDir: /proc/nowhere\n");
    let ended = sandbox.drystone(&["stack", "init", "dev"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.stderr.contains("/proc/nowhere") && ended.stderr.contains("was not made"), "{ended:#?}");
    assert_eq!(sandbox.ok(&["stack", "ls", "--json"]), "[]\n");
    assert_eq!(list(&sandbox, &["--trash"]), json!([]));
}

#[test]
fn settings_that_cannot_be_read_are_refused_and_kept() {
    let sandbox = with_dev();
    let path = sandbox.project().join("Pulumi.dev.yaml");
    std::fs::write(&path, b"config: \xff\xfe").expect("a file");
    let before = stock_files(&sandbox);
    let ended = sandbox.drystone(&["stack", "rm", "--yes"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(
        ended.stderr.contains("Pulumi.dev.yaml") && ended.stderr.contains("--preserve-config"),
        "{ended:#?}"
    );
    assert_eq!(stock_files(&sandbox), before);
    sandbox.ok(&["stack", "rm", "--yes", "--preserve-config"]);
    assert!(path.exists());
    sandbox.write("Pulumi.dev.yaml", "config: [\n");
    let ended = sandbox.drystone(&["stack", "init", "dev"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.stderr.contains("Pulumi.dev.yaml:"), "where it is wrong: {ended:#?}");
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), "config: [\n");
}

#[test]
fn a_backend_that_cannot_be_written_is_refused() {
    let mut sandbox = Sandbox::new();
    let file = sandbox.project().join("Pulumi.yaml");
    sandbox.set("PULUMI_BACKEND_URL", &format!("file://{}", file.display()));
    let ended = sandbox.drystone(&["stack", "init", "dev"]);
    assert_eq!(ended.code, 12, "{ended:#?}");
    assert!(ended.stderr.contains("hint: "), "{ended:#?}");
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
}

#[test]
fn stacks_are_listed_as_the_stock_cli_lists_them() {
    let sandbox = with_resources();
    sandbox.ok(&["stack", "init", "qa", "--no-select"]);
    sandbox.ok(&["stack", "tag", "set", "team", "blue", "--stack", "qa"]);
    let listed = list(&sandbox, &[]);
    assert_eq!(
        listed[0],
        json!({ "name": "dev", "current": true, "lastUpdate": "2026-01-02T03:04:05.678Z", "resourceCount": 4 })
    );
    let keys: Vec<&String> = listed[1].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["name", "current", "lastUpdate", "resourceCount"]);
    assert_eq!(names(&list(&sandbox, &["--tag", "team"])), ["qa"]);
    assert_eq!(names(&list(&sandbox, &["-t", "team=blue"])), ["qa"]);
    assert_eq!(names(&list(&sandbox, &["-t", "team=red"])), Vec::<String>::new());
    assert_eq!(names(&list(&sandbox, &["-p", "elsewhere"])), Vec::<String>::new());
    let text = sandbox.ok(&["stack", "ls"]);
    let first: Vec<&str> = text.lines().nth(1).expect("a row").split_whitespace().collect();
    assert_eq!((first[0], first[2..].join(" ").as_str()), ("dev*", "months ago 4"), "{text}");

    sandbox.write("Pulumi.yaml", "name: other\nruntime: yaml\n");
    assert_eq!(names(&list(&sandbox, &[])), Vec::<String>::new());
    assert_eq!(names(&list(&sandbox, &["-a"])), ["organization/shop/dev", "organization/shop/qa"]);
}

#[test]
fn stacks_are_selected_and_unselected() {
    let sandbox = with_dev();
    let ended = sandbox.drystone(&["stack", "select", "qa"]);
    assert_eq!(ended.code, 6);
    assert!(ended.stderr.contains("no stack named 'shop/qa' found"), "{ended:#?}");
    sandbox.ok(&["stack", "select", "qa", "--create"]);
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "qa\n");
    sandbox.ok(&["stack", "select", "--stack", "organization/shop/dev"]);
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "dev\n");
    assert_eq!(sandbox.drystone(&["stack", "unselect"]).stderr, "Stack was unselected\n");
    assert_eq!(sandbox.drystone(&["stack", "unselect"]).stderr, "");
    let ended = sandbox.drystone(&["stack"]);
    assert!(ended.code != 0 && ended.stderr.contains("no stack is selected"), "{ended:#?}");
    assert_eq!(sandbox.drystone(&["stack", "select"]).code, 6);
}

#[test]
fn a_stack_with_resources_is_not_removed_by_accident() {
    let sandbox = with_resources();
    let before = stock_files(&sandbox);
    for arguments in
        [&["stack", "rm", "--yes"][..], &["stack", "rm", "dev"], &["stack", "rm", "--yes", "--purge"]]
    {
        let ended = sandbox.drystone(arguments);
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert!(ended.stderr.contains("'dev' still has resources; removal rejected"), "{ended:#?}");
    }
    let ended = sandbox.drystone(&["stack", "rm", "--force"]);
    assert_eq!(ended.code, 2, "nobody can be asked: {ended:#?}");
    assert!(ended.stderr.contains("--yes"), "{ended:#?}");
    assert_eq!(stock_files(&sandbox), before);
    assert_eq!(sandbox.drystone(&["stack", "rm", "nope", "--yes"]).code, 6);
}

#[test]
fn a_removed_stack_comes_back_whole() {
    let sandbox = with_resources();
    sandbox.ok(&["stack", "tag", "set", "team", "blue"]);
    let (before, settings) = (stock_files(&sandbox), sandbox.read("Pulumi.dev.yaml"));
    let ended = sandbox.drystone(&["stack", "rm", "--yes", "--force"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Stack 'dev' has been removed\n"));
    assert!(ended.stderr.contains("undo: drystone stack restore dev"), "{ended:#?}");
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
    assert!(!checkpoint(&sandbox, "dev").exists());
    assert_eq!(names(&list(&sandbox, &[])), Vec::<String>::new());
    assert_eq!(sandbox.drystone(&["stack", "--stack", "dev"]).code, 6);
    let trash = list(&sandbox, &["--trash"]);
    assert_eq!((&trash[0]["name"], &trash[0]["resourceCount"]), (&json!("dev"), &json!(4)));
    assert!(sandbox.ok(&["stack", "restore"]).contains(trash[0]["id"].as_str().expect("an id")));

    assert_eq!(sandbox.ok(&["stack", "restore", "dev"]), "Stack 'dev' is back\n");
    assert_eq!(stock_files(&sandbox), before);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings);
    assert_eq!(names(&list(&sandbox, &["--trash"])), Vec::<String>::new());
    let ended = sandbox.drystone(&["stack", "restore", "dev"]);
    assert_eq!(ended.code, 6);
    assert!(ended.stderr.contains("no stack named 'dev' found in the trash"), "{ended:#?}");
}

#[test]
fn of_two_removed_stacks_of_one_name_each_can_come_back() {
    let sandbox = with_resources();
    sandbox.ok(&["stack", "rm", "--yes", "--force"]);
    sandbox.ok(&["stack", "init", "dev"]);
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert_eq!(sandbox.drystone(&["stack", "restore", "dev"]).code, 1, "the name is taken");
    sandbox.ok(&["stack", "rm", "--yes", "--preserve-config"]);
    let trash = list(&sandbox, &["--trash"]);
    let older = trash.as_array().expect("a list").iter().find(|stack| stack["resourceCount"] == 4);
    let id = older.expect("the one with resources")["id"].as_str().expect("an id");
    sandbox.ok(&["stack", "restore", "--id", id]);
    assert_eq!(list(&sandbox, &[])[0]["resourceCount"], 4);
    assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings, "what is there is not written over");
    sandbox.ok(&["stack", "rm", "dev", "--yes", "--force", "--purge"]);
    assert_eq!(list(&sandbox, &["--trash"]).as_array().map(Vec::len), Some(1), "a purged one is nowhere");
    sandbox.ok(&["stack", "restore", "dev"]);
    assert_eq!(list(&sandbox, &[])[0]["resourceCount"], 0, "the one that was removed last");
}

#[test]
fn renaming_changes_every_name_in_the_state() {
    let sandbox = with_resources();
    sandbox.ok(&["stack", "tag", "set", "team", "blue"]);
    let settings = sandbox.read("Pulumi.dev.yaml");
    assert_eq!(sandbox.ok(&["stack", "rename", "prod"]), "Renamed dev to prod\n");
    assert_eq!(sandbox.read("Pulumi.prod.yaml"), settings);
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "prod\n", "the selection follows");
    assert_eq!(sandbox.ok(&["stack", "tag", "get", "team"]), "blue\n");
    let text = std::fs::read_to_string(checkpoint(&sandbox, "prod")).expect("a checkpoint");
    assert!(!text.contains("urn:pulumi:dev::"), "{text}");
    assert!(text.contains("urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod"), "the root's own name");
    assert!(
        text.contains("urn:pulumi:other::shop::random:index:Pet::old"),
        "the name of another stack stays"
    );
    assert!(text.contains("9007199254740993"), "S10: numbers are exact");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["checkpoint"]["stack"], "organization/shop/prod");
    let last = &document["checkpoint"]["latest"]["resources"][3];
    assert_eq!(last["inputs"]["friend"]["urn"], "urn:pulumi:prod::shop::random:index:Pet::a");
    assert_eq!(last["propertyDependencies"]["prefix"][0], "urn:pulumi:prod::shop::random:index:Pet::a");
    let provider = last["provider"].as_str().expect("a provider");
    assert!(provider.starts_with("urn:pulumi:prod::shop::pulumi:providers:random::default::0a1b2c3d"));

    let renamed = sandbox.ok(&["stack", "rename", "organization/store/prod"]);
    assert_eq!(renamed, "Renamed prod to organization/store/prod\n");
    let moved =
        std::fs::read_to_string(sandbox.state().join(".pulumi/stacks/store/prod.json")).expect("a file");
    assert!(moved.contains("urn:pulumi:prod::store::pulumi:pulumi:Stack::store-prod"), "{moved}");
    assert_eq!(sandbox.ok(&["stack", "--show-name", "-Q"]), "organization/store/prod\n");
}

#[test]
fn a_name_that_is_taken_is_not_renamed_to() {
    let sandbox = with_resources();
    sandbox.ok(&["stack", "init", "qa", "--no-select"]);
    sandbox.write("Pulumi.free.yaml", "config:\n  shop:color: red\n");
    let before = (stock_files(&sandbox), files(&sandbox.project()));
    let cases = [
        ("qa", 1, "stack 'shop/qa' already exists"),
        ("free", 2, "is there already"),
        ("a/b/c", 2, "organization"),
    ];
    for (name, code, text) in cases {
        let ended = sandbox.drystone(&["stack", "rename", name]);
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(ended.stderr.contains(text), "{ended:#?}");
        assert_eq!((stock_files(&sandbox), files(&sandbox.project())), before);
    }
    assert_eq!(sandbox.drystone(&["stack", "rename", "x", "--stack", "nope"]).code, 6);
}

#[test]
fn tags_are_set_read_and_removed() {
    let sandbox = with_dev();
    assert_eq!(sandbox.ok(&["stack", "tag", "ls", "--json"]), "{}\n");
    sandbox.ok(&["stack", "tag", "set", "team", "blue"]);
    sandbox.ok(&["stack", "tag", "set", "a b", ""]);
    assert_eq!(sandbox.ok(&["stack", "tag", "get", "team"]), "blue\n");
    assert_eq!(
        sandbox.ok(&["stack", "tag", "ls", "--json"]),
        "{\n  \"a b\": \"\",\n  \"team\": \"blue\"\n}\n"
    );
    assert_eq!(sandbox.ok(&["stack", "tag", "ls"]), "NAME  VALUE\na b\nteam  blue\n");
    sandbox.ok(&["stack", "tag", "rm", "team"]);
    sandbox.ok(&["stack", "tag", "rm", "never there"]);
    let ended = sandbox.drystone(&["stack", "tag", "get", "team"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("stack tag 'team' not found for stack 'dev'"), "{ended:#?}");
    assert_eq!(sandbox.drystone(&["stack", "tag", "ls", "--stack", "nope"]).code, 6);
    assert_eq!(sandbox.drystone(&["stack", "tag", "set", "a", "b", "--stack", "nope"]).code, 6);
    assert!(!checkpoint(&sandbox, "nope").exists());
}

#[test]
fn a_stack_that_cannot_be_read_is_listed_and_can_be_put_away() {
    let sandbox = with_dev();
    std::fs::write(checkpoint(&sandbox, "dev"), "{\"version\":3,\"checkpoint\":{\"lat").expect("a file");
    assert!(sandbox.ok(&["stack", "ls"]).contains("unreadable"));
    for arguments in
        [&["stack"][..], &["stack", "output"], &["stack", "rm", "--yes"], &["stack", "rename", "x"]]
    {
        let ended = sandbox.drystone(arguments);
        assert_eq!(ended.code, 11, "{arguments:?} {ended:#?}");
        assert!(ended.stderr.contains("dev.json") && ended.stderr.contains("hint: "), "{ended:#?}");
    }
    assert_eq!(sandbox.drystone(&["stack", "init", "dev"]).code, 1, "it is there");
    sandbox.ok(&["stack", "rm", "--yes", "--force"]);
    sandbox.ok(&["stack", "restore", "dev"]);
    let text = std::fs::read_to_string(checkpoint(&sandbox, "dev")).expect("a checkpoint");
    assert_eq!(text, "{\"version\":3,\"checkpoint\":{\"lat", "not a byte is lost");
}

const HELD: &str = "DRYSTONE_HELD_STATE";

fn prod() -> StackId {
    StackId::new("shop", "prod").expect("a name")
}

async fn hold(state: &Path) -> Box<dyn HeldLease> {
    let store = LocalStore::open(state, LocalOptions::default()).expect("a store");
    let lease = store.acquire(&prod(), Claim::new("up")).await.expect("the lease");
    let entries = vec![begin(1, 1, "a"), success(2, 1, "a"), begin(3, 2, "b")];
    lease.append(entries).await.expect("an append");
    lease
}

/// A process that holds the lease until it is killed; started by the tests below.
#[tokio::test]
#[ignore = "a process of its own, started by the tests that need a holder"]
async fn a_holder() {
    let Some(state) = std::env::var_os(HELD) else { return };
    let _lease = hold(Path::new(&state)).await;
    println!("holding");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

/// Starts a holder and waits until it holds.
fn start_holder(sandbox: &Sandbox) -> std::process::Child {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_holder", "--include-ignored", "--nocapture"])
        .env(HELD, sandbox.state())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("holding") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut out, &mut line).expect("a line") > 0, "the holder ended");
    }
    child
}

#[test]
fn s13_cancel_takes_the_stack_from_a_live_holder_and_records_what_it_did() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "prod"]);
    let mut holder = start_holder(&sandbox);
    let ended = sandbox.drystone(&["stack", "tag", "set", "a", "b"]);
    assert_eq!(ended.code, 10, "{ended:#?}");
    assert!(ended.stderr.contains("the stack is currently locked by"), "SDKs look for it: {ended:#?}");
    assert!(ended.stderr.contains("(`up`, since"), "{ended:#?}");
    assert!(sandbox.ok(&["stack", "ls"]).contains("in progress by"));

    let json: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "--running", "--output", "json"])).expect("JSON");
    assert_eq!(json["resources"][0]["name"], "a", "S8: what is journaled is seen without waiting");
    assert_eq!(json["pendingOperations"][0]["type"], "creating");
    assert_eq!(json["heldBy"][0]["purpose"], "up");
    let current: Value = serde_json::from_str(&sandbox.ok(&["stack", "--output", "json"])).expect("JSON");
    assert_eq!(current["resources"], json!([]));

    let ended = sandbox.drystone(&["cancel", "--yes", "--stack", "prod"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(ended.stdout, "The currently running update for 'prod' has been canceled\n");
    assert!(
        ended.stderr.contains("Took the stack from") && ended.stderr.contains("nothing lost"),
        "{ended:#?}"
    );
    let text = sandbox.ok(&["stack"]);
    assert!(text.contains("Pending operations (1)\n  creating  my:mod:Thing b\n"), "{text}");
    sandbox.ok(&["stack", "tag", "set", "a", "b"]);
    holder.kill().expect("a kill");
    holder.wait().expect("an end");
    assert_eq!(sandbox.ok(&["stack", "tag", "get", "a"]), "b\n");
}

#[test]
fn s05_cancel_brings_in_what_a_dead_holder_left() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "prod"]);
    let mut holder = start_holder(&sandbox);
    holder.kill().expect("a kill");
    holder.wait().expect("an end");
    let text = sandbox.ok(&["stack"]);
    assert!(text.contains("is no longer running") && text.contains("an update died here"), "{text}");
    let ended = sandbox.drystone(&["cancel", "prod"]);
    assert_eq!(ended.code, 0, "nobody can be asked, as with the stock CLI: {ended:#?}");
    for says in ["1 step replayed into revision 2, nothing lost", "now pending:\n  creating  my:mod:Thing b"]
    {
        assert!(ended.stderr.contains(says), "{says}: {ended:#?}");
    }
    assert!(sandbox.ok(&["stack"]).contains("my:mod:Thing  a"));
    let ended = sandbox.drystone(&["cancel", "--yes"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
    assert!(ended.stderr.contains("No update of 'prod' is running"), "{ended:#?}");
}

#[test]
fn s14_cancel_removes_the_lock_file_of_another_tool() {
    let sandbox = with_dev();
    let locks = sandbox.state().join(".pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&locks).expect("a folder");
    let lock = locks.join("5f8a7a0e-6a86-4a4e-9d3b-3f0d1c1b2a3c.json");
    let content =
        json!({ "pid": 1, "username": "bo", "hostname": "ci", "timestamp": "2026-01-02T03:04:05Z" });
    std::fs::write(&lock, content.to_string()).expect("a file");
    let ended = sandbox.drystone(&["stack", "rename", "prod"]);
    assert_eq!(ended.code, 10, "{ended:#?}");
    assert!(ended.stderr.contains("bo@ci (another tool"), "{ended:#?}");
    let ended = sandbox.drystone(&["cancel", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("Took the stack from bo@ci"), "{ended:#?}");
    assert!(!lock.exists());
    sandbox.ok(&["stack", "rename", "prod"]);
    assert_eq!(sandbox.drystone(&["cancel", "nope", "--yes"]).code, 6);
}

#[test]
fn a_user_without_a_variable_still_has_a_name() {
    let mut sandbox = Sandbox::new();
    for name in ["USER", "LOGNAME", "USERNAME"] {
        sandbox.set(name, "");
    }
    let known = Command::new("id").arg("-un").output().expect("id");
    assert_eq!(sandbox.ok(&["whoami"]), String::from_utf8_lossy(&known.stdout));
}

#[test]
fn a_stack_is_shown_as_a_tree() {
    let sandbox = with_resources();
    let text = sandbox.ok(&["stack", "--show-ids"]);
    let below: String = text
        .lines()
        .skip_while(|line| !line.starts_with("Resources"))
        .fold(String::new(), |text, line| text + line + "\n");
    insta::assert_snapshot!(below, @"
    Resources (4)
      pulumi:pulumi:Stack         shop-dev
      ├─ random:index:Pet         a
      │     ID: red-fox
      ├─ random:index:Pet         b
      │     ID: blue-owl
      └─ pulumi:providers:random  default
            ID: 0a1b2c3d-0000-4000-8000-000000000001

    Outputs (1)
      url  https://shop.example
    ");
    assert!(text.starts_with("shop/dev\n  Backend      file://"), "{text}");
    assert!(text.contains("months ago (2026-01-02T03:04:05Z)"), "{text}");
    assert!(sandbox.ok(&["stack", "-u"]).contains("URN: urn:pulumi:dev::shop::random:index:Pet::b\n"));
}
