//! Languages that have a plugin of their own, and inline programs of the Automation API.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use drystone_plugins::languages::{
    Language, LanguageError, LanguageHost, Offer, Outcome, PluginHost, PolicyRun, Program,
};
use drystone_plugins::process::{Plugin, Stream};
use drystone_plugins::proto::pulumirpc::RunResponse;
use drystone_plugins::search::{Search, Wanted};
use drystone_workspace::project::{Project, Runtime};
use std::collections::BTreeMap;
use std::future::pending;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use std::time::Duration;
use support::engine::YesEngine;
use support::host::{Script, ScriptedHost};
use support::sdk::Written;
use support::{Lines, environment};

/// A client runs the program whatever its language.
const CLIENT: &str = "name: web\nruntime: {name: nodejs, options: {level: 3}}\n";

fn answer(error: &str, bail: bool) -> Script {
    Script::Answer(RunResponse { error: error.to_owned(), bail })
}

/// Opens the language of a project, with a client and variables.
async fn open(
    written: &Written,
    client: Option<&str>,
    variables: &[(&str, &str)],
    lines: &Lines,
) -> Result<Language, LanguageError> {
    let environment = environment(variables);
    let project = written.project();
    let search = Search::new(&environment, Some(&project)).unwrap();
    let program = Program::of(&project).unwrap();
    Language::open(&program, client, &search, &environment, "127.0.0.1:9", lines.sink()).await
}

#[tokio::test]
async fn a_client_runs_the_program_and_is_told_everything() {
    let host = ScriptedHost::start(answer("", false), "").await;
    let written = Written::new("p", &[("Pulumi.yaml", CLIENT)]);
    let language = open(&written, Some(&host.address), &[], &Lines::default()).await.unwrap();
    let mut request = written.request("127.0.0.1:8");
    request.config = [("web:a".parse().unwrap(), "b".to_owned())].into();
    request.secret_keys = ["web:a".parse().unwrap()].into();
    request.dry_run = true;
    assert_eq!(language.run(&request, pending()).await.unwrap(), Outcome::Finished);
    let told = host.request.lock().unwrap().clone().unwrap();
    assert_eq!(
        (told.project.as_str(), told.stack.as_str(), told.organization.as_str()),
        ("web", "dev", "acme")
    );
    assert_eq!(told.config["web:a"], "b");
    assert_eq!(told.config_secret_keys, ["web:a"]);
    assert_eq!((told.dry_run, told.parallel), (true, 4));
    assert_eq!(told.monitor_address, "127.0.0.1:8");
    assert_eq!(told.args, [request.engine_address]);
    assert_eq!(told.pwd, written.root().to_str().unwrap());
    let info = told.info.unwrap();
    assert_eq!(info.entry_point, ".");
    assert_eq!(info.options.unwrap().to_json().unwrap()["level"], 3);
}

#[tokio::test]
async fn how_a_program_ended_is_what_the_host_says() {
    let written = Written::new("p", &[("Pulumi.yaml", CLIENT)]);
    for (script, outcome) in [
        (answer("", true), Outcome::Bailed),
        (answer("it broke", false), Outcome::Failed { message: "it broke".to_owned() }),
        (
            Script::Refuse(tonic::Status::unknown("no venv")),
            Outcome::Failed { message: "no venv".to_owned() },
        ),
    ] {
        let host = ScriptedHost::start(script, "").await;
        let language = open(&written, Some(&host.address), &[], &Lines::default()).await.unwrap();
        let request = written.request("127.0.0.1:8");
        assert_eq!(language.run(&request, pending()).await.unwrap(), outcome);
    }
}

#[tokio::test]
async fn a_cancelled_program_is_cancelled_by_its_host() {
    let host = ScriptedHost::start(Script::UntilCancelled, "").await;
    let written = Written::new("p", &[("Pulumi.yaml", CLIENT)]);
    let language = open(&written, Some(&host.address), &[], &Lines::default()).await.unwrap();
    let request = written.request("127.0.0.1:8");
    let soon = tokio::time::sleep(Duration::from_millis(100));
    assert_eq!(language.run(&request, soon).await.unwrap(), Outcome::Cancelled);
    assert_eq!(*host.calls.lock().unwrap(), ["run", "cancel"]);
}

#[tokio::test]
async fn an_older_host_says_its_plugins_and_installs_dependencies() {
    let host = ScriptedHost::start(answer("", false), "").await;
    let written = Written::new("p", &[("Pulumi.yaml", CLIENT)]);
    let program = Program::of(&written.project()).unwrap();
    let language = LanguageHost::connect(&host.address).await.unwrap();
    assert_eq!(language.version().await.unwrap().as_deref(), Some("9.8.7"));
    let required = language.required_packages(&program).await.unwrap();
    assert_eq!(required.packages.len(), 1);
    assert_eq!(required.packages[0].name, "aws");
    assert_eq!(*host.calls.lock().unwrap(), ["packages", "plugins"]);
    let lines = Lines::default();
    language.install_dependencies(&program, &lines.sink()).await.unwrap();
    assert_eq!(lines.of(Stream::Stdout), ["fetching", "last"]);
    assert_eq!(lines.of(Stream::Stderr), ["warn", "warn"]);
}

#[tokio::test]
async fn a_client_that_is_not_there_is_told() {
    let error = LanguageHost::connect("nonsense").await.unwrap_err();
    assert!(matches!(error, LanguageError::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn a_host_that_is_debugged_is_attached_to() {
    let host = ScriptedHost::start(answer("", false), "").await;
    let port = host.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", "name: web\nruntime: nodejs\n")]);
    let debugged = format!("nodejs:{port}");
    let language =
        open(&written, None, &[("PULUMI_DEBUG_LANGUAGES", &debugged)], &Lines::default()).await.unwrap();
    let request = written.request("127.0.0.1:8");
    assert_eq!(language.run(&request, pending()).await.unwrap(), Outcome::Finished);
    assert_eq!(*host.calls.lock().unwrap(), ["handshake", "run"]);
}

#[tokio::test]
async fn a_language_without_a_plugin_is_told() {
    let written = Written::new("p", &[("Pulumi.yaml", "name: web\nruntime: cobol\n")]);
    let error = open(&written, None, &[], &Lines::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("no language plugin 'pulumi-language-cobol' found"), "{error}");
    assert!(error.hint().unwrap().contains("pulumi-language-cobol"));
}

/// Makes a program of a project's folder the plugin of a language.
fn plugin_script(written: &Written, script: &str) {
    let path = written.root().join("bin/pulumi-language-odd");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const ODD: &str = "name: web\nruntime: odd\nplugins: {languages: [{name: odd, path: bin}]}\n";

#[tokio::test]
async fn a_host_that_ends_while_the_program_runs_is_told() {
    let host = ScriptedHost::start(Script::Refuse(tonic::Status::unavailable("gone")), "").await;
    let port = host.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", ODD), ("bin/keep", "")]);
    plugin_script(&written, &format!("#!/bin/sh\necho {port}\necho 'out of paper' >&2\nsleep 0.3\nexit 7\n"));
    let language = open(&written, None, &[], &Lines::default()).await.unwrap();
    let error = language.run(&written.request("127.0.0.1:8"), pending()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the language host for odd ended with exit code 7; it printed:\nout of paper"
    );
}

#[tokio::test]
async fn the_lines_of_a_host_are_those_of_the_program() {
    let host = ScriptedHost::start(answer("", false), "").await;
    let port = host.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", ODD), ("bin/keep", "")]);
    plugin_script(&written, &format!("#!/bin/sh\necho \"$@ $PWD\" >&2\necho {port}\nsleep 1000\n"));
    let lines = Lines::default();
    let language = open(&written, None, &[], &lines).await.unwrap();
    assert_eq!(language.run(&written.request("127.0.0.1:8"), pending()).await.unwrap(), Outcome::Finished);
    language.close().await;
    assert_eq!(lines.of(Stream::Stderr), [format!("127.0.0.1:9 {}", written.root().display())]);
    assert_eq!(*host.calls.lock().unwrap(), ["run", "cancel"]);
}

/// Starts a plugin in source code that the scripted host runs.
async fn hosted(
    host: &ScriptedHost,
    lines: &Lines,
) -> Result<Plugin, drystone_plugins::languages::PluginError> {
    let port = host.address.rsplit(':').next().unwrap();
    let project = format!("{ODD}  # and a provider\n")
        .replace("plugins: {languages", "plugins: {providers: [{name: mine, path: mine}], languages");
    let written = Written::new(
        "p",
        &[("Pulumi.yaml", &project), ("bin/keep", ""), ("mine/PulumiPlugin.yaml", "runtime: odd\n")],
    );
    plugin_script(&written, &format!("#!/bin/sh\necho {port}\nsleep 1000\n"));
    let environment = environment(&[]);
    let project = written.project();
    let search = Search::new(&environment, Some(&project)).unwrap();
    let lines = lines.clone();
    let sink = Arc::new(move |_: &Wanted| lines.sink());
    let program = Program::of(&project).unwrap();
    let plugins = PluginHost::new(search, environment, program, "web", "127.0.0.1:9", sink);
    let started = plugins.start(&Wanted::provider("mine", None), &BTreeMap::new(), &Offer::default()).await;
    let request = host.plugin.lock().unwrap().clone().unwrap();
    assert_eq!(request.args, ["127.0.0.1:9"]);
    assert_eq!((request.kind.as_str(), request.name.as_str()), ("resource", "mine"));
    assert!(request.env.iter().any(|entry| entry == "PULUMI_PROJECT=web"));
    let started = started?;
    started.plugin.stop().await;
    plugins.close().await;
    Ok(started.plugin)
}

#[tokio::test]
async fn a_host_runs_policy_packs() {
    let engine = YesEngine::start().await;
    let host = ScriptedHost::start(answer("", false), engine.address.rsplit(':').next().unwrap()).await;
    let port = host.address.rsplit(':').next().unwrap();
    let files = [
        ("Pulumi.yaml", ODD),
        ("bin/keep", ""),
        ("pack/PulumiPolicy.yaml", "runtime: { name: odd, options: { speed: 3 } }\nversion: 1.5\n"),
    ];
    let written = Written::new("p", &files);
    plugin_script(&written, &format!("#!/bin/sh\necho {port}\nsleep 1000\n"));
    let environment = environment(&[]);
    let project = written.project();
    let search = Search::new(&environment, Some(&project)).unwrap();
    let sink = Arc::new(|_: &Wanted| Lines::default().sink());
    let program = Program::of(&project).unwrap();
    let plugins = PluginHost::new(search, environment, program, "web", "127.0.0.1:9", sink);
    let run = PolicyRun { stack: "dev".to_owned(), dry_run: true, ..PolicyRun::default() };
    let folder = written.root().join("pack");
    let started = plugins.start_policy_pack(&folder, &run).await.unwrap();
    assert_eq!(
        (started.plugin.address(), started.project.version.as_deref()),
        (&*engine.address, Some("1.5"))
    );
    let request = host.plugin.lock().unwrap().clone().unwrap();
    assert_eq!((request.kind.as_str(), request.args), ("analyzer", vec!["127.0.0.1:9".to_owned()]));
    let info = request.info.unwrap();
    assert_eq!(info.program_directory, folder.display().to_string());
    assert_eq!(info.options.unwrap().to_json().unwrap()["speed"], 3);
    for variable in ["PULUMI_STACK=dev", "PULUMI_NODEJS_DRY_RUN=true", "PULUMI_CONFIG={}"] {
        assert!(request.env.iter().any(|entry| entry == variable), "{variable}: {:?}", request.env);
    }
    started.plugin.stop().await;
    plugins.close().await;
}

#[tokio::test]
async fn a_host_runs_plugins_in_source_code() {
    let engine = YesEngine::start().await;
    let port = engine.address.rsplit(':').next().unwrap();
    let host = ScriptedHost::start(answer("", false), port).await;
    let lines = Lines::default();
    let plugin = hosted(&host, &lines).await.unwrap();
    assert_eq!(plugin.address(), engine.address);
    assert_eq!(lines.of(Stream::Stderr), ["coming up"]);
    for _ in 0..100 {
        if host.calls.lock().unwrap().iter().any(|call| call == "plugin ended") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the host was not told that the plugin is to end");
}

#[tokio::test]
async fn a_hosted_plugin_that_does_not_come_up_is_told() {
    let host = ScriptedHost::start(answer("", false), "").await;
    let error = hosted(&host, &Lines::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plugin mine printed `` where its port was expected; it printed:\ncoming up\nmore"
    );
}

#[tokio::test]
#[ignore = "needs the YAML language plugin: run by cargo xtask test"]
async fn a_real_language_plugin_runs_a_program() {
    let engine = YesEngine::start().await;
    let yaml = std::env::var_os("DRYSTONE_PEER_YAML").expect("DRYSTONE_PEER_YAML is set by cargo xtask test");
    let written = Written::new(
        "p",
        &[
            (
                "Pulumi.yaml",
                "name: web\nruntime: yaml\nvariables: {greeting: hello}\noutputs: {said: '${greeting} world'}\n\
                 plugins: {languages: [{name: yaml, path: bin}]}\n",
            ),
            ("bin/keep", ""),
        ],
    );
    symlink(yaml, written.root().join("bin/pulumi-language-yaml")).unwrap();
    let lines = Lines::default();
    let environment = environment(&[]);
    let project = written.project();
    let search = Search::new(&environment, Some(&project)).unwrap();
    let mut request = written.request(&engine.address);
    // It loads no schema, but does not start without somebody to load schemas from.
    request.loader_address = Some(engine.address.clone());
    let language =
        Language::open(&request.program, None, &search, &environment, &engine.address, lines.sink())
            .await
            .unwrap();
    let required = language.required_packages(&request.program).await.unwrap();
    assert_eq!(required.packages, []);
    let outcome = language.run(&request, pending()).await.unwrap();
    assert_eq!(outcome, Outcome::Finished, "{:?} {:?}", lines.all(), engine.errors());
    assert_eq!(engine.told().outputs["said"], "hello world");
    language.close().await;
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn an_inline_program_of_the_automation_api_runs() {
    let engine = YesEngine::start().await;
    let written = Written::node(&[
        ("Pulumi.yaml", "name: web\nruntime: client\n"),
        (
            "serve.js",
            "const grpc = require('@grpc/grpc-js');
             const { LanguageServer } = require('@pulumi/pulumi/automation/server');
             const { LanguageRuntimeService } = require('@pulumi/pulumi/proto/language_grpc_pb');
             const server = new grpc.Server();
             server.addService(LanguageRuntimeService, new LanguageServer(async () => {
                 const config = new (require('@pulumi/pulumi').Config)();
                 if (config.get('fail')) throw new Error('no such luck');
                 return { answer: config.require('answer') };
             }));
             server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
                 (error, port) => console.log(port));",
        ),
    ]);
    let mut command = std::process::Command::new("node");
    command.arg("serve.js").current_dir(written.root());
    let inline = Plugin::spawn("inline", command, Default::default(), Lines::default().sink()).await.unwrap();
    let language = open(&written, Some(inline.address()), &[], &Lines::default()).await.unwrap();
    let mut request = written.request(&engine.address);
    let required = language.required_packages(&request.program).await.unwrap();
    assert_eq!(required.packages, []);
    request.config = [("web:answer".parse().unwrap(), "42".to_owned())].into();
    assert_eq!(language.run(&request, pending()).await.unwrap(), Outcome::Finished);
    assert_eq!(engine.told().outputs["answer"], "42");
    request.config.insert("web:fail".parse().unwrap(), "yes".to_owned());
    let outcome = language.run(&request, pending()).await.unwrap();
    let Outcome::Failed { message } = outcome else { panic!("{outcome:?}") };
    assert!(message.contains("no such luck"), "{message}");
    language.close().await;
    assert_eq!(inline.exit(), None);
}

#[test]
fn the_program_of_a_project_is_its_main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/app.js"), "").unwrap();
    let runtime = Runtime { name: "nodejs".to_owned(), ..Runtime::default() };
    let project = |main: Option<&str>| Project {
        path: root.join("Pulumi.yaml"),
        runtime: Some(runtime.clone()),
        main: main.map(str::to_owned),
        ..Project::default()
    };
    for (main, directory, entry_point) in [
        (None, root.to_owned(), "."),
        (Some("src"), root.join("src"), "."),
        (Some("./src/../src/"), root.join("src"), "."),
        (Some("src/app.js"), root.join("src"), "app.js"),
    ] {
        let program = Program::of(&project(main)).unwrap();
        assert_eq!(
            (program.root.as_path(), program.directory, program.entry_point.as_str()),
            (root, directory, entry_point)
        );
    }
    let error = Program::of(&project(Some("gone"))).unwrap_err();
    assert!(error.to_string().starts_with("project 'main' could not be read"), "{error}");
    let error = Program::of(&Project { runtime: None, ..project(None) }).unwrap_err();
    assert!(matches!(error, LanguageError::NoRuntime { .. }));
}
