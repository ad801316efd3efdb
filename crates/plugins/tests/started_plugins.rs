//! Plugins are started from wherever they are: dynamic providers of the SDKs, source code in three languages, programs.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use drystone_plugins::languages::{Offer, PluginError, PluginHost, Program, StartedPlugin};
use drystone_plugins::process::{Exit, Plugin, Stream};
use drystone_plugins::proto::pulumirpc::resource_provider_client::ResourceProviderClient;
use drystone_plugins::search::{Kind, Search, Wanted};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use support::engine::YesEngine;
use support::sdk::Written;
use support::{Lines, environment};

const NODE: &str = "name: web\nruntime: nodejs\n";
const PYTHON: &str = "name: web\nruntime: {name: python, options: {virtualenv: venv, answer: 42}}\n";

fn host(written: &Written, engine: &YesEngine, lines: &Lines, variables: &[(&str, &str)]) -> PluginHost {
    let project = written.project();
    let environment = environment(variables);
    let search = Search::new(&environment, Some(&project)).unwrap();
    let program = Program::of(&project).unwrap();
    let lines = lines.clone();
    let sink = Arc::new(move |_: &Wanted| lines.sink());
    PluginHost::new(search, environment, program, &project.name, &engine.address, sink)
}

async fn start(written: &Written, name: &str) -> (Result<StartedPlugin, PluginError>, Lines) {
    let engine = YesEngine::start().await;
    let lines = Lines::default();
    let started = host(written, &engine, &lines, &[])
        .start(&Wanted::provider(name, None), &BTreeMap::new(), &Offer::default())
        .await;
    (started, lines)
}

async fn version(plugin: &Plugin) -> String {
    let info = ResourceProviderClient::new(plugin.channel()).get_plugin_info(()).await;
    info.unwrap().into_inner().version
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn the_dynamic_provider_of_node_answers() {
    let written = Written::node(&[("Pulumi.yaml", NODE), ("index.js", "")]);
    let (started, lines) = start(&written, "pulumi-nodejs").await;
    let started = started.unwrap();
    assert_eq!(version(&started.plugin).await, "3.260.0", "{:?}", lines.all());
    assert_eq!(started.folder.as_deref(), Some(written.root()));
    assert_eq!(started.warning, None);
    started.plugin.stop().await;
    assert_eq!(started.plugin.exit(), Some(Exit::Signal(2)));
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn the_dynamic_provider_of_python_answers() {
    let written = Written::python(&[("Pulumi.yaml", PYTHON), ("__main__.py", "")]);
    let (started, lines) = start(&written, "pulumi-python").await;
    let started = started.unwrap();
    assert_eq!(version(&started.plugin).await, "0.1.0", "{:?}", lines.all());
    started.plugin.stop().await;
    assert!(started.plugin.exit().is_some());
}

#[tokio::test]
async fn a_dynamic_provider_without_its_sdk_is_told() {
    let written = Written::new("p", &[("Pulumi.yaml", NODE), ("index.js", "")]);
    let error = start(&written, "pulumi-nodejs").await.0.unwrap_err();
    assert!(error.to_string().starts_with("the Pulumi SDK `@pulumi/pulumi` is not installed"), "{error}");
    assert_eq!(error.hint().unwrap(), "install it with `npm install`");
}

#[tokio::test]
#[ignore = "needs the npm SDK: run by cargo xtask test"]
async fn a_plugin_in_typescript_runs_from_its_folder() {
    let written = Written::node(&[
        (
            "Pulumi.yaml",
            "name: web\nruntime: nodejs\nplugins: {providers: [{name: mine, path: the plugin}]}\n",
        ),
        ("index.js", ""),
        ("the plugin/PulumiPlugin.yaml", "runtime: nodejs\n"),
        ("the plugin/package.json", r#"{"main": "index.ts"}"#),
        (
            "the plugin/index.ts",
            "import * as provider from '@pulumi/pulumi/provider';
             console.error(process.cwd());
             const mine: provider.Provider = {version: '1.2.3'};
             provider.main(mine, process.argv.slice(2));",
        ),
    ]);
    let (started, lines) = start(&written, "mine").await;
    let started = started.unwrap();
    assert_eq!(version(&started.plugin).await, "1.2.3");
    assert_eq!(started.folder, Some(written.root().join("the plugin")));
    started.plugin.stop().await;
    assert_eq!(lines.of(Stream::Stderr)[..1], [written.root().display().to_string()]);
}

const PYTHON_PROVIDER: &str = "import os, sys, pulumi.provider\n\
    class Mine(pulumi.provider.Provider):\n    def __init__(self): super().__init__('4.5.6')\n\
    print(os.environ['PULUMI_PROJECT'], os.environ['PULUMI_RUNTIME_ANSWER'], file=sys.stderr)\n\
    pulumi.provider.main(Mine(), sys.argv[1:])\n";

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_plugin_in_python_runs_from_its_folder() {
    let written = Written::python(&[
        ("Pulumi.yaml", &format!("{PYTHON}plugins: {{providers: [{{name: mine, path: plugin}}]}}\n")),
        ("__main__.py", ""),
        ("plugin/PulumiPlugin.yaml", "runtime: python\n"),
        ("plugin/__main__.py", PYTHON_PROVIDER),
    ]);
    let error = start(&written, "mine").await.0.unwrap_err();
    let missing = written.root().join("plugin/venv");
    assert_eq!(error.to_string(), format!("`{}` does not exist", missing.display()));

    let written = written.with_virtualenv("plugin/venv");
    let (started, lines) = start(&written, "mine").await;
    let started = started.unwrap();
    assert_eq!(version(&started.plugin).await, "4.5.6");
    started.plugin.stop().await;
    assert_eq!(lines.of(Stream::Stderr)[..1], ["web 42"]);
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_plugin_that_is_a_python_package_runs_by_its_name() {
    let pyproject =
        "[project]\nname = 'my-plugin'\n[build-system]\nbuild-backend = 'setuptools.build_meta'\n";
    let written = Written::python(&[
        ("Pulumi.yaml", &format!("{PYTHON}plugins: {{providers: [{{name: mine, path: plugin}}]}}\n")),
        ("__main__.py", ""),
        ("plugin/PulumiPlugin.yaml", "runtime: python\n"),
        ("plugin/pyproject.toml", pyproject),
        // Found because Python looks in the folder that the plugin runs in, which is the program's.
        ("my_plugin/__init__.py", ""),
        ("my_plugin/__main__.py", PYTHON_PROVIDER),
    ])
    .with_virtualenv("plugin/venv");
    let (started, _) = start(&written, "mine").await;
    assert_eq!(version(&started.unwrap().plugin).await, "4.5.6");

    std::fs::write(written.root().join("plugin/pyproject.toml"), "[project]\nname = 'x'\n").unwrap();
    let error = start(&written, "mine").await.0.unwrap_err();
    assert!(error.to_string().contains("neither __main__.py nor a buildable pyproject.toml"), "{error}");
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_plugin_can_be_started_where_it_is() {
    let engine = YesEngine::start().await;
    let lines = Lines::default();
    let written = Written::python(&[
        ("Pulumi.yaml", PYTHON),
        ("__main__.py", ""),
        ("plugin/PulumiPlugin.yaml", "runtime: python\n"),
        ("plugin/__main__.py", PYTHON_PROVIDER),
    ])
    .with_virtualenv("plugin/venv");
    let host = host(&written, &engine, &lines, &[]);
    let started = host.start_at(&written.root().join("plugin"), Kind::Resource, "mine").await.unwrap();
    assert_eq!(version(&started.plugin).await, "4.5.6");
}

#[tokio::test]
async fn a_program_gets_flags_and_the_address_of_the_engine() {
    let engine = YesEngine::start().await;
    let port = engine.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", NODE), ("index.js", "")]);
    let program = written.root().join("bin/pulumi-resource-mine");
    std::fs::create_dir(written.root().join("bin")).unwrap();
    let script = format!("#!/bin/sh\necho \"$@\" >&2\npwd >&2\necho {port}\nsleep 1000\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", written.root().join("bin").display(), std::env::var("PATH").unwrap());
    let lines = Lines::default();
    let host = host(&written, &engine, &lines, &[("PATH", &path)]).with_flags(vec!["-v=9".to_owned()]);
    let started =
        host.start(&Wanted::provider("mine", None), &BTreeMap::new(), &Offer::default()).await.unwrap();
    let warning = format!("using pulumi-resource-mine from $PATH at {}", program.display());
    assert_eq!(started.warning, Some(warning));
    assert_eq!(started.folder, Some(written.root().join("bin")));
    started.plugin.stop().await;
    assert_eq!(
        lines.of(Stream::Stderr),
        [format!("-v=9 {}", engine.address), written.root().display().to_string()]
    );
}

#[tokio::test]
async fn a_plugin_sees_variables_under_the_names_that_they_are_mapped_to() {
    let engine = YesEngine::start().await;
    let port = engine.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", NODE), ("index.js", "")]);
    let program = written.root().join("bin/pulumi-resource-mine");
    std::fs::create_dir(written.root().join("bin")).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$TOKEN ${{ABSENT-unset}} $PULUMI_PROJECT\" >&2\necho {port}\nsleep 1000\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", written.root().join("bin").display(), std::env::var("PATH").unwrap());
    let lines = Lines::default();
    let host =
        host(&written, &engine, &lines, &[("PATH", &path), ("MY_TOKEN", "sesame"), ("MY_PROJECT", "theirs")]);
    let mappings = [("MY_TOKEN", "TOKEN"), ("NOWHERE", "ABSENT"), ("MY_PROJECT", "PULUMI_PROJECT")];
    let mappings = mappings.map(|(ours, its)| (ours.to_owned(), its.to_owned())).into();
    let started = host.start(&Wanted::provider("mine", None), &mappings, &Offer::default()).await.unwrap();
    started.plugin.stop().await;
    assert_eq!(lines.of(Stream::Stderr), ["sesame unset web"]);
}

#[tokio::test]
async fn a_plugin_that_is_debugged_is_attached_to_and_left_running() {
    let engine = YesEngine::start().await;
    let port = engine.address.rsplit(':').next().unwrap();
    let written = Written::new("p", &[("Pulumi.yaml", NODE), ("index.js", "")]);
    let lines = Lines::default();
    let debugged = format!("mine:{port}");
    let host = host(&written, &engine, &lines, &[("PULUMI_DEBUG_PROVIDERS", &debugged)]);
    let started =
        host.start(&Wanted::provider("mine", None), &BTreeMap::new(), &Offer::default()).await.unwrap();
    assert_eq!(started.plugin.address(), engine.address);
    assert_eq!((started.folder, started.plugin.exit()), (None, None));
    started.plugin.stop().await;
    assert!(std::net::TcpStream::connect(&engine.address).is_ok());
}

#[tokio::test]
async fn a_missing_provider_is_told() {
    let written = Written::new("p", &[("Pulumi.yaml", NODE), ("index.js", "")]);
    let error = start(&written, "no-such-provider").await.0.unwrap_err();
    assert!(
        error.to_string().starts_with("no resource plugin 'pulumi-resource-no-such-provider'"),
        "{error}"
    );
}
