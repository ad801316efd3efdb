//! What the stock CLI's environment variables do.

mod harness;
mod programs;
mod rough;

use programs::link_node_sdk;
use rough::Site;
use serde_json::Value;

const TWO: &str = "{steps: [{register: {name: a, object: {n: 1}}}, {register: {name: b}}]}";

/// The calls that a command makes and takes, as PULUMI_DEBUG_GRPC logs them when they are answered.
fn calls(site: &mut Site, words: &[&str]) -> Vec<(String, Value)> {
    site.sandbox.set("PULUMI_DEBUG_GRPC", "calls.jsonl");
    let ended = site.sandbox.drystone(words);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let text = site.sandbox.read("calls.jsonl");
    let call = |line: &str| {
        let call: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let method = call["method"].as_str().expect("a method").to_owned();
        (method.trim_start_matches("/pulumirpc.").to_owned(), call)
    };
    text.lines().map(call).filter(|(_, call)| call["progress"] == "response_completed").collect()
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn debug_grpc_logs_every_call() {
    let mut site = Site::new(TWO);
    let calls = calls(&mut site, &["up", "--yes", "--skip-preview"]);
    let count = |method: &str| calls.iter().filter(|(name, _)| name == method).count();
    assert_eq!(count("ResourceMonitor/RegisterResource"), 3, "{calls:#?}");
    assert_eq!((count("ResourceProvider/Create"), count("ResourceProvider/Configure")), (2, 1));
    let (_, create) = calls.iter().find(|(name, _)| name == "ResourceProvider/Create").expect("a call");
    assert!(create["request"]["properties"].is_object() && create["response"]["id"].is_string(), "{create}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn disable_provider_preview_asks_providers_nothing_that_they_would_make() {
    for (value, creations) in [("", 2), ("false", 2), ("true", 0)] {
        let mut site = Site::new(TWO);
        site.sandbox.set("PULUMI_DISABLE_PROVIDER_PREVIEW", value);
        let calls = calls(&mut site, &["preview"]);
        let count = calls.iter().filter(|(name, _)| name == "ResourceProvider/Create").count();
        assert_eq!(count, creations, "{value:?}");
    }
}

/// What a Node.js program is told of the run.
fn deployment(variables: &[(&str, &str)]) -> Value {
    let mut site = Site::new("{steps: []}");
    site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    site.sandbox.write("index.js", "require('@pulumi/pulumi');\n");
    link_node_sdk(&site.sandbox.project());
    for (name, value) in variables {
        site.sandbox.set(name, value);
    }
    let mut calls = calls(&mut site, &["preview"]).into_iter();
    let info = calls.find(|(name, _)| name == "ResourceMonitor/GetDeploymentInfo");
    info.expect("the program asks").1["response"].clone()
}

#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn features_are_switched_off_by_their_variables() {
    let features = |variables: &[(&str, &str)]| {
        let told = deployment(variables);
        let names = told["supportedFeatures"].as_array().expect("features").clone();
        let has = |name: &str| names.contains(&Value::from(format!("RESOURCE_MONITOR_FEATURE_{name}")));
        (has("RESOURCE_REFERENCES"), has("OUTPUT_VALUES"))
    };
    assert_eq!(features(&[]), (true, true));
    assert_eq!(features(&[("PULUMI_DISABLE_RESOURCE_REFERENCES", "true")]), (false, true));
    assert_eq!(features(&[("PULUMI_DISABLE_OUTPUT_VALUES", "1")]), (true, false));
}

#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn parallel_says_how_many_resources_are_worked_on() {
    assert_eq!(deployment(&[("PULUMI_PARALLEL", "3")])["parallel"], 3);
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_parallel_that_is_no_number_is_told() {
    let mut site = Site::new(TWO);
    site.sandbox.set("PULUMI_PARALLEL", "lots");
    let ended = site.sandbox.drystone(&["preview"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("warning: PULUMI_PARALLEL is `lots`"), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn continue_on_error_goes_on_with_the_rest() {
    let steps = "{steps: [{register: {name: bad, mayFail: true}}, {register: {name: other}}]}";
    for (value, made) in [("", vec![]), ("true", vec!["other".to_owned()])] {
        let mut site = Site::new(steps);
        site.sandbox.set("PULUMI_CONTINUE_ON_ERROR", value);
        let ended = site.run_with("BENCH_FAULT", "create bad refuse", "up");
        assert_eq!(ended.code, 4, "{ended:#?}");
        assert_eq!(site.known().state, made, "{value:?}: {ended:#?}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn run_program_runs_it_in_a_destroy() {
    for (value, runs) in [("", false), ("true", true)] {
        let mut site = Site::new(TWO);
        assert_eq!(site.run("up").code, 0);
        site.program("{steps: [{print: {text: hello from the program}}]}");
        site.sandbox.set("PULUMI_RUN_PROGRAM", value);
        let ended = site.run("destroy");
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(ended.stdout.contains("hello from the program"), runs, "{ended:#?}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn enable_streaming_json_preview_prints_events_instead_of_one_object() {
    let mut site = Site::new(TWO);
    let whole: Value = serde_json::from_str(&site.sandbox.ok(&["preview", "--json"])).expect("one object");
    assert_eq!(whole["steps"].as_array().map(Vec::len), Some(3), "{whole}");
    site.sandbox.set("PULUMI_ENABLE_STREAMING_JSON_PREVIEW", "true");
    let lines = site.sandbox.ok(&["preview", "--json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(events.iter().any(|event| event.get("resourcePreEvent").is_some()), "{lines}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_form_of_checkpoints_is_chosen_by_variables() {
    for (variable, end, magic) in [
        ("PULUMI_DIY_BACKEND_GZIP", "json.gz", &[0x1f, 0x8b][..]),
        ("PULUMI_DIY_BACKEND_ZSTD", "json.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let mut site = Site::new(TWO);
        site.sandbox.set(variable, "true");
        assert_eq!(site.run("up").code, 0);
        let stacks = site.sandbox.state().join(".pulumi/stacks/shop");
        let bytes = std::fs::read(stacks.join(format!("dev.{end}"))).expect("a checkpoint");
        assert!(bytes.starts_with(magic), "{variable}");
        assert_eq!(site.known().state, ["a", "b"]);
    }
    let mut site = Site::new(TWO);
    site.sandbox.set("PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS", "true");
    assert_eq!(site.run("up").code, 0);
    let stacks = std::fs::read_dir(site.sandbox.state().join(".pulumi/stacks/shop")).expect("a folder");
    let names: Vec<String> =
        stacks.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    // Named after the moment, as the stock CLI does.
    let kept = |name: &&String| name.strip_prefix("dev.json.").is_some_and(|end| end.parse::<u64>().is_ok());
    assert!(names.iter().any(|name| kept(&name)), "{names:?}");
}

#[test]
fn plugins_are_fetched_from_the_places_that_override_others() {
    let mut sandbox = harness::Sandbox::new();
    let install = ["plugin", "install", "resource", "thing", "1.2.3"];
    sandbox.set("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", "pulumi-(?P<name>.*)$=http://127.0.0.1:1/of-${name}");
    let ended = sandbox.drystone(&install);
    assert_eq!(ended.code, 12, "{ended:#?}");
    assert!(ended.stderr.contains("http://127.0.0.1:1/of-thing/pulumi-resource-thing-v1.2.3-"), "{ended:#?}");
    sandbox.set("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", "nonsense");
    let ended = sandbox.drystone(&install);
    assert!(ended.code == 2 && ended.stderr.contains("REGEXP=ADDRESS"), "{ended:#?}");
}

#[test]
fn every_variable_that_is_read_is_in_the_reference() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let reference =
        std::fs::read_to_string(root.join("docs/reference/environment-variables.md")).expect("text");
    let mut folders: Vec<_> = std::fs::read_dir(root.join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("a crate").path().join("src"))
        .collect();
    let mut names = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(path).expect("text");
                names.extend(quoted_variables(&text));
            }
        }
    }
    assert!(names.contains("PULUMI_PARALLEL"), "{names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !reference.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The names of variables that stand in quotes.
fn quoted_variables(text: &str) -> impl Iterator<Item = String> + '_ {
    let starts = ["\"PULUMI_", "\"DRYSTONE_"].into_iter().flat_map(|start| text.match_indices(start));
    let names = starts.filter_map(|(at, _)| text[at + 1..].split_once('"').map(|(name, _)| name));
    let named = |name: &&str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let whole = |name: &&str| !name.starts_with("PULUMI_OPTION_") && !name.ends_with('_');
    names.filter(named).filter(whole).map(str::to_owned)
}
