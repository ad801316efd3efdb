//! Programs that fail in every way, and programs with more than one would think of.

mod harness;
mod programs;
mod rough;

use harness::Ended;
use programs::{Running, link_node_sdk, peer, wait_until};
use rough::{Site, failed, known};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

const SECRET: &str = "hush-0999-hush";

/// A site with a program that registers `a` and then does what the code says.
fn site(language: Language, code: &str) -> Site {
    let mut site = Site::new("{}");
    let folder = site.sandbox.project();
    match language {
        Language::Node => {
            link_node_sdk(&folder);
            site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
            site.sandbox.write("package.json", "{\"name\": \"shop\", \"main\": \"index.js\"}\n");
            let before = "const pulumi = require(\"@pulumi/pulumi\");\n\
                          const Item = name => new pulumi.CustomResource(\"bench:index:Item\", name, { x: 1 });\n\
                          const a = Item(\"a\");\n";
            site.sandbox.write("index.js", &format!("{before}{code}\n"));
        }
        Language::Python => {
            symlink(peer("DRYSTONE_PEER_PYTHON"), folder.join("venv")).expect("a link");
            site.sandbox.set("PYTHONDONTWRITEBYTECODE", "1");
            let project = "name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n";
            site.sandbox.write("Pulumi.yaml", project);
            let before = "import asyncio, os, signal, sys\nimport pulumi\n\
                          def Item(name):\n    return pulumi.CustomResource(\"bench:index:Item\", name, {\"x\": 1})\n\
                          a = Item(\"a\")\n";
            site.sandbox.write("__main__.py", &format!("{before}{code}\n"));
        }
    }
    site
}

/// The language of a program.
#[derive(Debug, Clone, Copy)]
enum Language {
    Node,
    Python,
}

use Language::{Node, Python};

fn errors(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().filter(|line| line.contains("error: ")).collect()
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn however_a_program_ends_what_it_made_is_recorded() {
    for (language, code, says) in [
        (Node, "a.urn.apply(() => process.exit(1));", vec!["Program exited with non-zero exit code: 1"]),
        (Node, "a.urn.apply(() => process.exit(32));", vec![]),
        (Node, "a.urn.apply(() => process.kill(process.pid, 'SIGKILL'));", vec!["signal 9 (SIGKILL)"]),
        (Node, "throw new Error('the shelf is empty');", vec!["failed with an unhandled exception"]),
        (Python, "a.urn.apply(lambda _: os._exit(1))", vec!["program exited with non-zero exit code: 1"]),
        (Python, "a.urn.apply(lambda _: os._exit(32))", vec![]),
        (Python, "a.urn.apply(lambda _: os.kill(os.getpid(), signal.SIGKILL))", vec!["signal 9 (SIGKILL)"]),
        (Python, "raise Exception('the shelf is empty')", vec!["Program failed with an unhandled exception"]),
    ] {
        let site = site(language, code);
        let ended = site.run("up");
        assert_eq!(ended.code, 4, "{code}: {ended:#?}");
        let told = errors(&ended);
        assert_eq!(told.len(), says.len(), "{code}: {ended:#?}");
        assert!(told.iter().zip(&says).all(|(line, cause)| line.contains(cause)), "{code}: {ended:#?}");
        assert!(ended.stderr.contains("hint: "), "{code}: {ended:#?}");
        assert_eq!(site.known(), known(&["a"], &[]), "{code}");
        assert_eq!(site.things().len(), 1, "{code}");
    }
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn what_an_sdk_registers_after_a_failure_is_not_made() {
    for (language, code) in [
        (Node, "a.urn.promise().catch(() => undefined).then(() => Item('b'));"),
        (
            Python,
            "async def more():\n    try:\n        await a.urn.future()\n    except BaseException:\n        pass\n    \
             Item('b')\nasyncio.ensure_future(more())",
        ),
    ] {
        let mut site = site(language, code);
        let ended = site.run_with("BENCH_FAULT", "create a refuse", "up");
        failed(&ended, "bench:index:Item a", "the quota is used up");
        assert_eq!((site.known(), site.things().len()), (known(&[], &[]), 0), "{language:?}");
    }
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn a_program_that_prints_bytes_that_are_no_text_goes_on() {
    for (language, code) in [
        (Node, "process.stdout.write(Buffer.from([0xff, 0xfe, 0x41, 0x0a]));"),
        (Python, "sys.stdout.buffer.write(b'\\xff\\xfeA\\n')\nsys.stdout.flush()"),
    ] {
        let ended = site(language, code).run("up");
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert!(ended.stdout.contains("\u{fffd}\u{fffd}A"), "{ended:#?}");
    }
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn ten_megabytes_of_output_are_shown_and_hold_up_nothing() {
    for (language, code) in [
        (Node, "for (let i = 0; i < 100000; i++) console.log('x'.repeat(100));"),
        (Node, "console.log('x'.repeat(10000000));"),
        (Python, "for i in range(100000): print('x' * 100)"),
        (Python, "print('x' * 10000000)"),
    ] {
        let began = Instant::now();
        let ended = site(language, code).run("up");
        assert_eq!(ended.code, 0, "{code}: {}", ended.stderr);
        let shown = ended.stdout.bytes().filter(|byte| *byte == b'x').count();
        assert!(shown >= 10_000_000, "{code}: {shown} of 10000000 bytes are shown");
        assert!(began.elapsed().as_secs() < 60, "{code}: {:?}", began.elapsed());
    }
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn a_text_that_is_no_text_is_never_recorded_broken() {
    // JavaScript and Python both have strings that no encoding of Unicode has. The SDK of Node.js leaves such a part out.
    let broken = "new pulumi.CustomResource('bench:index:Item', 'b', { x: 'lone \\ud800surrogate' });";
    let node = site(Node, broken);
    assert_eq!(node.run("up").code, 0);
    assert!(node.export().to_string().contains("\"lone surrogate\""));
    let python =
        site(Python, "pulumi.CustomResource('bench:index:Item', 'b', {'x': 'lone \\ud800 surrogate'})");
    let ended = python.run("up");
    assert!(ended.code == 4 && errors(&ended).len() == 1, "{ended:#?}");
    assert!(ended.stdout.contains("surrogates not allowed"), "{ended:#?}");
    assert_eq!(python.known().pending, []);
}

#[test]
#[ignore = "needs the testbed plugins and the SDKs: run by cargo xtask test"]
fn resources_that_wait_for_each_other_end_with_an_error_or_a_signal() {
    // Node.js notices that nothing is left to be done.
    let cycle = "let resolve; const later = new Promise(done => { resolve = done; });\n\
                 const b = new pulumi.CustomResource('bench:index:Item', 'b', { x: later });\n\
                 const c = new pulumi.CustomResource('bench:index:Item', 'c', { x: b.urn });\n\
                 c.urn.apply(urn => resolve(urn));";
    let node = site(Node, cycle);
    let ended = node.run("up");
    assert!(ended.code == 4 && errors(&ended).len() == 1, "{ended:#?}");
    assert!(ended.stdout.contains("\"c\" [bench:index:Item] was waiting for"), "{ended:#?}");
    assert!(ended.stdout.contains("cyclic dependency"), "{ended:#?}");
    assert_eq!(node.known(), known(&["a"], &[]));
    // Python waits forever, so that only the user can end it.
    let cycle = "later = asyncio.Future()\n\
                 b = pulumi.CustomResource('bench:index:Item', 'b', {'x': pulumi.Output.from_input(later)})\n\
                 c = pulumi.CustomResource('bench:index:Item', 'c', {'x': b.urn})\n\
                 c.urn.apply(lambda urn: later.set_result(urn))";
    let python = site(Python, cycle);
    let running = Running::start(&python.sandbox, &["up", "--yes", "--skip-preview"]);
    wait_until("a", || python.things().contains("a"));
    std::thread::sleep(Duration::from_secs(1));
    running.signal("INT");
    let began = Instant::now();
    let ended = running.end();
    assert!(ended.code == 8 && began.elapsed().as_secs() < 15, "{:?} {ended:#?}", began.elapsed());
    assert_eq!(python.known(), known(&["a"], &[]));
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
fn a_language_host_that_falls_over_is_told_with_what_it_said_if_it_said_anything() {
    let silent = Site::new("{steps: [{register: {name: a}}, {exit: 3}]}").run("up");
    assert_eq!(silent.code, 4, "{silent:#?}");
    assert!(errors(&silent).len() == 1, "{silent:#?}");
    assert!(
        errors(&silent)[0].ends_with("the language host for bench ended with exit code 3"),
        "{silent:#?}"
    );
    let site = Site::new("{steps: [{register: {name: a}}, {print: {text: the shelf is empty}}, {exit: 3}]}");
    let spoke = site.run("up");
    assert!(errors(&spoke).len() == 1, "{spoke:#?}");
    assert!(errors(&spoke)[0].ends_with("ended with exit code 3; it printed:"), "{spoke:#?}");
    assert!(spoke.stdout.contains("the shelf is empty"), "{spoke:#?}");
    assert_eq!(site.known(), known(&["a"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn references_to_nothing_are_refused_by_name() {
    for (member, says) in [
        (
            "dependencies: [nonsense]",
            "cannot register bench:index:Item a: invalid dependency URN: `nonsense`",
        ),
        ("dependencies: [\"urn:pulumi:dev::shop::bench:index:Item::a\"]", "bench:index:Item::a"),
        ("dependencies: [\"urn:pulumi:dev::shop::bench:index:Item::b\"]", "bench:index:Item::b"),
        ("deletedWith: \"urn:pulumi:dev::shop::bench:index:Item::a\"", "bench:index:Item::a"),
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

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_wrong_passphrase_has_a_code_of_its_own_in_every_operation_that_meets_a_secret() {
    let mut site = Site::new("{steps: [{register: {name: a, secrets: 1}}]}");
    assert_eq!(site.run("up").code, 0);
    site.sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    for words in [&["up", "-f"][..], &["preview"], &["refresh", "-f"], &["destroy", "-f"]] {
        let ended = site.sandbox.drystone(words);
        assert!(ended.code == 3 && ended.stderr.contains("incorrect passphrase"), "{words:?}: {ended:#?}");
    }
    assert_eq!(site.things().len(), 1);
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn every_preview_is_one_object_of_json() {
    let site = Site::new("{steps: [{register: {name: a}}]}");
    let object = |words: &[&str]| -> serde_json::Value {
        let ended = site.sandbox.drystone(words);
        assert_eq!(ended.code, 0, "{words:?}: {ended:#?}");
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {ended:#?}"))
    };
    assert_eq!(object(&["preview", "--json"])["changeSummary"]["create"], 2);
    assert_eq!(site.run("up").code, 0);
    assert_eq!(object(&["refresh", "--preview-only", "--json"])["changeSummary"]["same"], 2);
    assert_eq!(object(&["destroy", "--preview-only", "--json"])["changeSummary"]["delete"], 2);
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn an_option_may_be_given_twice_or_by_a_variable() {
    let mut site = Site::new("{steps: [{register: {name: a}}]}");
    let ended =
        site.sandbox.drystone(&["up", "--yes", "--yes", "-s", "x", "--stack", "dev", "--skip-preview", "-f"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    site.sandbox.set("PULUMI_OPTION_YES", "true");
    let ended = site.sandbox.drystone(&["destroy"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(site.things().is_empty());
}
