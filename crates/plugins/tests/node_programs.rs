//! Node.js programs run with the SDK from npm and no other tool.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use drystone_plugins::languages::{Language, LanguageError, Outcome, RunRequest};
use drystone_plugins::process::Stream;
use drystone_plugins::search::Search;
use serde_json::json;
use std::future::pending;
use std::time::Duration;
use support::engine::YesEngine;
use support::sdk::Written;
use support::{Lines, environment};

const PROJECT: &str = "name: web\nruntime: nodejs\n";

/// Runs a program and gives how it ended and what it printed.
async fn run(request: &RunRequest) -> (Result<Outcome, LanguageError>, Lines) {
    run_until(request, pending()).await
}

async fn run_until(
    request: &RunRequest,
    cancelled: impl Future<Output = ()>,
) -> (Result<Outcome, LanguageError>, Lines) {
    let lines = Lines::default();
    let environment = environment(&[]);
    let search = Search::new(&environment, None).unwrap();
    let engine = &request.engine_address;
    let language =
        Language::open(&request.program, None, &search, &environment, engine, lines.sink()).await.unwrap();
    (language.run(request, cancelled).await, lines)
}

fn failed(message: &str) -> Outcome {
    Outcome::Failed { message: message.to_owned() }
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_program_registers_resources_and_prints_lines() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        (
            "index.js",
            "const pulumi = require('@pulumi/pulumi');
             console.log('one'); console.error('two'); process.stdout.write('three');
             new pulumi.CustomResource('my:index:Thing', 'thing', {
                 organization: pulumi.getOrganization(), project: pulumi.getProject(), stack: pulumi.getStack(),
                 args: process.argv.slice(2), cwd: process.cwd(), dry: pulumi.runtime.isDryRun(),
             });
             module.exports = {answer: 42};",
        ),
    ]);
    let mut request = written.request(&engine.address);
    request.args = vec!["--flag".to_owned(), "word".to_owned()];
    let (outcome, lines) = run(&request).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?}", lines.all());
    assert_eq!(lines.of(Stream::Stdout), ["one", "three"]);
    assert_eq!(lines.of(Stream::Stderr), ["two"]);
    let inputs = engine.inputs_of("thing");
    assert_eq!(inputs["organization"], "acme");
    assert_eq!(inputs["project"], "web");
    assert_eq!(inputs["stack"], "dev");
    assert_eq!(inputs["cwd"], written.root().to_str().unwrap());
    assert_eq!(inputs["dry"], false);
    assert_eq!(inputs["args"], json!(["--flag", "word"]));
    assert_eq!(engine.told().outputs["answer"], 42);
    assert!(engine.told().has_signalled_the_end);
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn configuration_and_the_keys_of_secrets_are_delivered() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        (
            "index.js",
            "const pulumi = require('@pulumi/pulumi');
             const config = new pulumi.Config(), aws = new pulumi.Config('aws');
             new pulumi.CustomResource('my:index:Thing', 'thing', {
                 open: config.require('open'), region: aws.require('region'),
                 hidden: config.requireSecret('hidden'), object: config.requireObject('object'),
             });",
        ),
    ]);
    let mut request = written.request(&engine.address);
    request.config = [
        ("web:open", "yes"),
        ("web:hidden", "s3cret \"quoted\" ü"),
        ("web:object", r#"{"a":[1,2]}"#),
        ("aws:region", "eu"),
    ]
    .map(|(key, value)| (key.parse().unwrap(), value.to_owned()))
    .into();
    request.secret_keys = ["web:hidden".parse().unwrap()].into();
    request.dry_run = true;
    let (outcome, lines) = run(&request).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?}", lines.all());
    let inputs = engine.inputs_of("thing");
    assert_eq!(inputs["open"], "yes");
    assert_eq!(inputs["region"], "eu");
    assert_eq!(inputs["object"], json!({"a": [1, 2]}));
    let secret = &inputs["hidden"];
    assert_eq!(secret["4dabf18193072939515e22adb298388d"], "1b47061264138c4ac30d75fd1eb44270", "{secret}");
    assert_eq!(secret["value"], "s3cret \"quoted\" ü");
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn typescript_needs_no_build_step() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", "name: web\nruntime: {name: nodejs, options: {tsconfig: build/ts.json}}\n"),
        (
            "build/ts.json",
            r#"{"compilerOptions": {"strict": true, "target": "es2020", "module": "commonjs"}}"#,
        ),
        ("package.json", r#"{"main": "src/index.ts"}"#),
        (
            "src/index.ts",
            "import * as pulumi from '@pulumi/pulumi';
             class Thing extends pulumi.CustomResource {
                 constructor(name: string, readonly size: number) { super('my:index:Thing', name, { size }); }
             }
             export const made = new Thing('typed', 3).size;",
        ),
    ]);
    let (outcome, lines) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?} {:?}", lines.all(), engine.errors());
    assert_eq!(engine.inputs_of("typed")["size"], 3);
    assert_eq!(engine.told().outputs["made"], 3);
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_type_error_is_told_by_the_program_itself() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        ("tsconfig.json", r#"{"compilerOptions": {"strict": true}}"#),
        ("index.ts", "const size: number = 'three'; export { size };"),
    ]);
    let (outcome, lines) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Bailed, "{:?}", lines.all());
    assert!(engine.errors().iter().any(|error| error.contains("not assignable")), "{:?}", engine.errors());
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn options_reach_node() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        (
            "Pulumi.yaml",
            "name: web\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n    nodeargs: --title='a b' --no-warnings\n",
        ),
        ("index.js", "console.log(process.execArgv.join('|'), process.env.PULUMI_NODEJS_TYPESCRIPT);"),
    ]);
    let (outcome, lines) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    assert_eq!(lines.of(Stream::Stdout), ["--title=a b|--no-warnings undefined"]);

    let wrong = Written::node(&[
        ("Pulumi.yaml", "name: web\nruntime: {name: nodejs, options: {typescript: 'yes'}}\n"),
        ("index.js", ""),
    ]);
    let error = run(&wrong.request(&engine.address)).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the runtime option `typescript` must be true or false");
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn main_may_be_a_file_or_a_folder_and_paths_may_have_blanks() {
    let engine = YesEngine::start().await;
    for main in ["the program/app.js", "the program", "./the program/../the program/"] {
        let written = Written::new(
            "a b/ünï",
            &[
                ("Pulumi.yaml", &format!("name: web\nruntime: nodejs\nmain: '{main}'\n")),
                ("the program/app.js", "console.log(process.cwd());"),
                ("the program/package.json", r#"{"main": "app.js"}"#),
            ],
        )
        .with_node_modules("");
        let (outcome, lines) = run(&written.request(&engine.address)).await;
        assert_eq!(outcome.unwrap(), Outcome::Finished, "{main}: {:?}", lines.all());
        let folder = written.root().join("the program").display().to_string();
        assert_eq!(lines.of(Stream::Stdout), [folder], "{main}");
    }
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_program_that_throws_has_told_why() {
    let engine = YesEngine::start().await;
    let written =
        Written::node(&[("Pulumi.yaml", PROJECT), ("index.js", "throw new Error('no such luck');")]);
    let (outcome, _) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Bailed);
    assert!(engine.errors().iter().any(|error| error.contains("no such luck")), "{:?}", engine.errors());
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_configuration_may_be_longer_than_a_variable() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        (
            "index.js",
            "const config = new (require('@pulumi/pulumi').Config)();
             const hidden = config.requireSecret('key1999');
             module.exports = {last: hidden, length: config.require('key1998').length};",
        ),
    ]);
    let mut request = written.request(&engine.address);
    for number in 0..2000 {
        let key: drystone_workspace::config::Key = format!("web:key{number}").parse().unwrap();
        request.config.insert(key.clone(), format!("{number:0>300}"));
        request.secret_keys.insert(key);
    }
    let (outcome, lines) = run(&request).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?} {:?}", lines.all(), engine.errors());
    assert_eq!(engine.told().outputs["length"], 300);
    assert_eq!(engine.told().outputs["last"]["value"], format!("{:0>300}", 1999));
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_program_that_exits_is_told_with_its_code_or_signal() {
    let engine = YesEngine::start().await;
    for (program, outcome) in [
        ("process.exit(1)", failed("Program exited with non-zero exit code: 1")),
        ("process.exit(32)", Outcome::Bailed),
        ("process.kill(process.pid, 'SIGKILL')", failed("Program was ended by signal 9 (SIGKILL)")),
        ("process.abort()", failed("Program was ended by signal 6 (SIGABRT)")),
    ] {
        let written = Written::node(&[("Pulumi.yaml", PROJECT), ("index.js", program)]);
        assert_eq!(run(&written.request(&engine.address)).await.0.unwrap(), outcome, "{program}");
    }
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_program_out_of_memory_is_told_what_helps() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", "name: web\nruntime: {name: nodejs, options: {nodeargs: --max-old-space-size=60}}\n"),
        ("index.js", "const kept = []; for (;;) kept.push(new Array(10000).fill({}));"),
    ]);
    let (outcome, _) = run(&written.request(&engine.address)).await;
    let Outcome::Failed { message } = outcome.unwrap() else { panic!() };
    assert!(message.contains("--max-old-space-size=<megabytes>"), "{message}");
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_cancelled_program_ends_with_what_it_started() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        (
            "index.js",
            "const child = require('child_process').spawn('sleep', ['1000']);
             require('fs').writeFileSync('child', String(child.pid));
             setInterval(() => {}, 1000);",
        ),
    ]);
    let child = written.root().join("child");
    let started = async {
        while !std::fs::metadata(&child).is_ok_and(|file| file.len() > 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (outcome, _) = run_until(&written.request(&engine.address), started).await;
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    let id = std::fs::read_to_string(&child).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "the program's child still runs: {state}");
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn what_a_program_leaves_running_is_not_awaited() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", PROJECT),
        (
            "index.js",
            "const child = require('child_process').spawn('sleep', ['300'], {stdio: 'inherit', detached: true});
             child.unref();
             console.log(child.pid);",
        ),
    ]);
    let (outcome, lines) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    let [child] = lines.of(Stream::Stdout).try_into().unwrap();
    let killed = std::process::Command::new("kill").arg(child).status();
    assert!(killed.unwrap().success(), "the child had ended before the run did");
}

#[tokio::test]
async fn a_missing_sdk_is_told_with_the_command_that_installs_it() {
    for (lock, option, install) in [
        ("package.json", "", "npm install"),
        ("yarn.lock", "", "yarn install"),
        ("pnpm-lock.yaml", "", "pnpm install"),
        ("bun.lock", "", "bun install"),
        ("yarn.lock", "packagemanager: pnpm", "pnpm install"),
    ] {
        let project = format!("name: web\nruntime: {{name: nodejs, options: {{{option}}}}}\n");
        let written = Written::new("p", &[("Pulumi.yaml", &project), ("index.js", ""), (lock, "{}")]);
        let error = run(&written.request("127.0.0.1:1")).await.0.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the Pulumi SDK `@pulumi/pulumi` is not installed for `{}`", written.root().display())
        );
        assert_eq!(error.hint().unwrap(), format!("install it with `{install}`"));
    }
}

#[tokio::test]
async fn a_missing_node_is_told() {
    let written = Written::new("p", &[("Pulumi.yaml", PROJECT), ("index.js", "")]);
    let request = written.request("127.0.0.1:1");
    let environment = environment(&[("PATH", "/nowhere")]);
    let search = Search::new(&environment, None).unwrap();
    let lines = Lines::default();
    let language =
        Language::open(&request.program, None, &search, &environment, "", lines.sink()).await.unwrap();
    let error = language.run(&request, pending()).await.unwrap_err();
    assert_eq!(error.to_string(), "could not find node on the $PATH");
    assert!(error.hint().unwrap().contains("nodejs.org"));
}
