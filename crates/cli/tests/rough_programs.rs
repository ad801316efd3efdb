//! Programs that fail in every way, and programs with more than one would think of.

mod harness;
mod rough;

use harness::Ended;
use rough::{Site, failed};
use std::path::Path;
use std::time::Instant;

const SECRET: &str = "hush-0999-hush";

/// A site with a Node.js program that registers `a` and then does what the code says.
fn node(code: &str) -> Site {
    let site = Site::new("{}");
    let sdk =
        std::env::var_os("DRYSTONE_PEER_NODE_SDK").expect("DRYSTONE_PEER_NODE_SDK: run `cargo xtask test`");
    let folder = site.sandbox.project();
    std::os::unix::fs::symlink(Path::new(&sdk).join("node_modules"), folder.join("node_modules"))
        .expect("a link");
    site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    site.sandbox.write("package.json", "{\"name\": \"shop\", \"main\": \"index.js\"}\n");
    let before = "const pulumi = require(\"@pulumi/pulumi\");\n\
                  const a = new pulumi.CustomResource(\"bench:index:Item\", \"a\", { x: 1 });\n";
    site.sandbox.write("index.js", &format!("{before}{code}\n"));
    site
}

fn errors(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().filter(|line| line.contains("error: ")).collect()
}

#[test]
#[ignore = "needs the testbed plugins and the Node.js SDK: run by cargo xtask test"]
fn however_a_program_ends_what_it_made_is_recorded() {
    for (code, says) in [
        ("a.urn.apply(() => process.exit(1));", vec!["Program exited with non-zero exit code: 1"]),
        ("a.urn.apply(() => process.exit(32));", vec![]),
        ("a.urn.apply(() => process.kill(process.pid, 'SIGKILL'));", vec!["signal 9 (SIGKILL)"]),
        ("throw new Error('the shelf is empty');", vec!["failed with an unhandled exception"]),
    ] {
        let site = node(code);
        let ended = site.run("up");
        assert_eq!(ended.code, 4, "{code}: {ended:#?}");
        let told = errors(&ended);
        assert_eq!(told.len(), says.len(), "{code}: {ended:#?}");
        assert!(told.iter().zip(&says).all(|(line, cause)| line.contains(cause)), "{code}: {ended:#?}");
        assert_eq!(site.known().state, ["a"], "{code}");
    }
}

#[test]
#[ignore = "needs the testbed plugins and the Node.js SDK: run by cargo xtask test"]
fn a_program_that_prints_bytes_that_are_no_text_goes_on() {
    let site = node("process.stdout.write(Buffer.from([0xff, 0xfe, 0x41, 0x0a]));");
    let ended = site.run("up");
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.contains("\u{fffd}\u{fffd}A"), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_program_that_does_not_end_after_a_failure_is_ended() {
    let mut site = Site::new("{steps: [{register: {name: a, mayFail: true}}, {hang: true}]}");
    let began = Instant::now();
    let ended = site.run_with("BENCH_FAULT", "create a refuse", "up");
    failed(&ended, "bench:index:Item a", "the quota is used up");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_is_registered_after_a_failure_is_not_made() {
    let mut site =
        Site::new("{steps: [{register: {name: a, mayFail: true}}, {register: {name: b, mayFail: true}}]}");
    let ended = site.run_with("BENCH_FAULT", "create a refuse", "up");
    failed(&ended, "bench:index:Item a", "the quota is used up");
    assert_eq!((site.known().state.len(), site.things().len()), (0, 0));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn references_to_nothing_are_refused_by_name() {
    for (member, says) in [
        ("dependencies: [nonsense]", "invalid dependency URN: `nonsense`"),
        ("parent: \"urn:pulumi:dev::shop::bench:index:Item::nobody\"", "could not find parent resource"),
        ("parent: \"urn:pulumi:dev::shop::bench:index:Item::a\"", "could not find parent resource"),
        ("provider: \"urn:pulumi:dev::shop::pulumi:providers:bench::x::0\"", "unknown provider"),
    ] {
        let site = Site::new(&format!("{{steps: [{{register: {{name: a, {member}}}}}]}}"));
        let ended = site.run("up");
        assert_eq!(ended.code, 4, "{member}: {ended:#?}");
        assert!(errors(&ended).len() == 1 && errors(&ended)[0].contains(says), "{member}: {ended:#?}");
        assert_eq!(site.things().len(), 0, "{member}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s17_a_thousand_secrets_are_nowhere_in_clear() {
    let site = Site::new("{steps: [{register: {name: a, secrets: 1000}}]}");
    let log = site.sandbox.project().join("events.json");
    let arguments = ["up", "--yes", "--skip-preview", "--event-log", log.to_str().expect("a path")];
    let ended = site.sandbox.drystone(&arguments);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(!ended.stdout.contains("hush-") && !ended.stderr.contains("hush-"), "{ended:#?}");
    assert!(!std::fs::read_to_string(&log).expect("the log").contains("hush-"));
    assert!(!holds(&site.sandbox.state(), b"hush-"), "a secret stands in a file of the backend");
    // Revisions are compressed, so that their bytes say nothing; this is what they hold.
    assert!(!site.sandbox.ok(&["stack", "export"]).contains("hush-"));
    assert!(site.sandbox.ok(&["stack", "export", "--show-secrets"]).contains(SECRET));
}

fn holds(folder: &Path, needle: &[u8]) -> bool {
    std::fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return holds(&path, needle);
        }
        let content = std::fs::read(&path).expect("a file");
        content.windows(needle.len()).any(|window| window == needle)
    })
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s10_a_property_of_50_megabytes_and_bytes_that_are_no_text_survive() {
    let bytes = "{4dabf18193072939515e22adb298388d: 803fd3297a5875dc03ca845dda5d2a98, value: \"//4A\"}";
    let site = Site::new(&format!(
        "{{steps: [{{register: {{name: a, filler: 52428800, properties: {{raw: {bytes}}}}}}}]}}"
    ));
    assert_eq!(site.run("up").code, 0);
    let export = site.export();
    assert_eq!(export["features"], serde_json::json!(["byteString"]));
    let resources = export["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let item = resources.iter().find(|resource| resource["id"] == "a").expect("the item");
    assert_eq!(item["outputs"]["raw"]["value"], "//4A");
    assert_eq!(item["outputs"]["filler"].as_str().map(str::len), Some(52_428_800));
    let again = site.run("up");
    assert!(again.code == 0 && again.stdout.contains("nothing changed"), "{}", again.stderr);
}
