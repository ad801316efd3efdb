//! Python programs run with the SDK from PyPI and our own runner.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use drystone_plugins::languages::{Language, LanguageError, Outcome, RunRequest};
use drystone_plugins::process::Stream;
use drystone_plugins::search::Search;
use serde_json::json;
use std::future::pending;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use support::engine::YesEngine;
use support::sdk::{Written, virtualenv};
use support::{Lines, environment};

const PROJECT: &str = "name: web\nruntime: {name: python, options: {virtualenv: venv}}\n";

async fn run(request: &RunRequest) -> (Result<Outcome, LanguageError>, Lines) {
    run_with(request, &[], pending()).await
}

async fn run_with(
    request: &RunRequest,
    variables: &[(&str, &str)],
    cancelled: impl Future<Output = ()>,
) -> (Result<Outcome, LanguageError>, Lines) {
    let lines = Lines::default();
    let environment = environment(variables);
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
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_program_registers_resources_and_prints_lines() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[
        ("Pulumi.yaml", PROJECT),
        (
            "__main__.py",
            "import os, sys, pulumi, helper\n\
             print('one'); print('two', file=sys.stderr); print('three', end='')\n\
             class Thing(pulumi.CustomResource):\n    \
                 def __init__(self, name, **inputs):\n        super().__init__('my:index:Thing', name, inputs)\n\
             Thing('thing', organization=pulumi.get_organization(), project=pulumi.get_project(),\n    \
                 stack=pulumi.get_stack(), args=sys.argv[1:], cwd=os.getcwd(), helped=helper.VALUE,\n    \
                 venv=os.environ['VIRTUAL_ENV'], path=os.environ['PATH'].split(':')[0],\n    \
                 dry=pulumi.runtime.is_dry_run(), root=pulumi.runtime.get_root_directory())\n\
             pulumi.export('answer', 42)\n",
        ),
        ("helper.py", "VALUE = 'helped'\n"),
        // A module of the program hides none of the library.
        ("logging.py", "raise Exception('the wrong logging')\n"),
        ("asyncio/__init__.py", "raise Exception('the wrong asyncio')\n"),
    ]);
    let mut request = written.request(&engine.address);
    request.args = vec!["--flag".to_owned(), "word".to_owned()];
    let (outcome, lines) = run(&request).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?} {:?}", lines.all(), engine.errors());
    assert_eq!(lines.of(Stream::Stdout), ["one", "three"]);
    assert_eq!(lines.of(Stream::Stderr), ["two"]);
    let inputs = engine.inputs_of("thing");
    let root = written.root().to_str().unwrap();
    assert_eq!(inputs["organization"], "acme");
    assert_eq!(inputs["project"], "web");
    assert_eq!(inputs["stack"], "dev");
    assert_eq!(inputs["cwd"], root);
    assert_eq!(inputs["root"], root);
    assert_eq!(inputs["helped"], "helped");
    assert_eq!(inputs["dry"], false);
    assert_eq!(inputs["args"], json!(["--flag", "word"]));
    assert_eq!(inputs["venv"], format!("{root}/venv"));
    assert_eq!(inputs["path"], format!("{root}/venv/bin"));
    assert_eq!(engine.told().outputs["answer"], 42);
    assert!(engine.told().has_signalled_the_end);
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn configuration_and_the_keys_of_secrets_are_delivered() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[
        ("Pulumi.yaml", PROJECT),
        (
            "__main__.py",
            "import pulumi\n\
             config, aws = pulumi.Config(), pulumi.Config('aws')\n\
             class Thing(pulumi.CustomResource):\n    \
                 def __init__(self, name, **inputs):\n        super().__init__('my:index:Thing', name, inputs)\n\
             Thing('thing', open=config.require('open'), region=aws.require('region'),\n    \
                 hidden=config.require_secret('hidden'), object=config.require_object('object'),\n    \
                 dry=pulumi.runtime.is_dry_run())\n",
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
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?} {:?}", lines.all(), engine.errors());
    let inputs = engine.inputs_of("thing");
    assert_eq!(inputs["open"], "yes");
    assert_eq!(inputs["region"], "eu");
    assert_eq!(inputs["object"], json!({"a": [1, 2]}));
    assert_eq!(inputs["dry"], true);
    let secret = &inputs["hidden"];
    assert_eq!(secret["4dabf18193072939515e22adb298388d"], "1b47061264138c4ac30d75fd1eb44270", "{secret}");
    assert_eq!(secret["value"], "s3cret \"quoted\" ü");
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_program_that_fails_has_told_why_in_its_own_lines() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[
        ("Pulumi.yaml", PROJECT),
        ("__main__.py", "import part\n"),
        ("part.py", "def deep():\n    raise ValueError('no such luck')\ndeep()\n"),
    ]);
    let (outcome, lines) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Bailed, "{:?}", lines.all());
    let errors = engine.errors();
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(error.starts_with("Program failed with an unhandled exception:\nTraceback"), "{error}");
    assert!(error.contains("__main__.py\", line 1") && error.contains("no such luck"), "{error}");
    assert!(!error.contains("runpy") && !error.contains("<string>"), "{error}");
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_configuration_may_be_longer_than_a_variable() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[
        ("Pulumi.yaml", PROJECT),
        (
            "__main__.py",
            "import subprocess, pulumi\n\
             config = pulumi.Config()\n\
             pulumi.export('last', config.require_secret('key1999'))\n\
             pulumi.export('length', len(config.require('key1998')))\n\
             subprocess.run(['true'], check=True)\n",
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
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_program_that_exits_is_told_with_its_code_or_signal() {
    let engine = YesEngine::start().await;
    for (program, outcome) in [
        ("import sys; sys.exit(1)", failed("program exited with non-zero exit code: 1")),
        ("import sys; sys.exit(0)", Outcome::Finished),
        ("import os; os._exit(32)", Outcome::Bailed),
        ("import os; os.kill(os.getpid(), 9)", failed("program was ended by signal 9 (SIGKILL)")),
        ("import pulumi; raise pulumi.RunError('told')", failed("program exited with non-zero exit code: 1")),
        ("syntax error", Outcome::Bailed),
        ("import no_such_module", Outcome::Bailed),
    ] {
        let written = Written::python(&[("Pulumi.yaml", PROJECT), ("__main__.py", program)]);
        let (ended, lines) = run(&written.request(&engine.address)).await;
        assert_eq!(ended.unwrap(), outcome, "{program}: {:?}", lines.all());
    }
    assert!(engine.errors().iter().any(|error| error == "told"), "{:?}", engine.errors());
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_folder_without_a_program_is_told() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[("Pulumi.yaml", PROJECT), ("app.py", "")]);
    let (outcome, _) = run(&written.request(&engine.address)).await;
    assert_eq!(outcome.unwrap(), Outcome::Bailed);
    let expected =
        format!("unable to find main python program `__main__.py` in `{}`", written.root().display());
    assert_eq!(engine.errors(), [expected]);
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn main_may_be_a_file_or_a_folder_and_paths_may_have_blanks() {
    let engine = YesEngine::start().await;
    for main in ["the program/__main__.py", "the program"] {
        let project =
            format!("name: web\nmain: '{main}'\nruntime: {{name: python, options: {{virtualenv: v e}}}}\n");
        let written = Written::new(
            "a b/ünï",
            &[
                ("Pulumi.yaml", &project),
                ("the program/__main__.py", "import os, beside; print(os.getcwd() + beside.MARK)"),
                ("the program/beside.py", "MARK = '!'"),
            ],
        )
        .with_virtualenv("v e");
        let (outcome, lines) = run(&written.request(&engine.address)).await;
        assert_eq!(outcome.unwrap(), Outcome::Finished, "{main}: {:?} {:?}", lines.all(), engine.errors());
        assert_eq!(lines.of(Stream::Stdout), [format!("{}/the program!", written.root().display())]);
    }
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn lines_come_as_they_are_printed_and_cancelling_ends_the_program() {
    let engine = YesEngine::start().await;
    let written = Written::python(&[
        ("Pulumi.yaml", PROJECT),
        ("__main__.py", "import time\nprint('waiting')\ntime.sleep(1000)\n"),
    ]);
    let request = written.request(&engine.address);
    let lines = Lines::default();
    let environment = environment(&[]);
    let search = Search::new(&environment, None).unwrap();
    let language =
        Language::open(&request.program, None, &search, &environment, "", lines.sink()).await.unwrap();
    let printed = async {
        while lines.all().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert_eq!(language.run(&request, printed).await.unwrap(), Outcome::Cancelled);
    assert_eq!(lines.all(), ["waiting"]);
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn without_a_virtual_environment_the_named_python_runs() {
    let engine = YesEngine::start().await;
    let written = Written::new(
        "p",
        &[("Pulumi.yaml", "name: web\nruntime: python\n"), ("__main__.py", "import sys; print(sys.prefix)")],
    );
    let python = virtualenv().join("bin/python").display().to_string();
    let request = written.request(&engine.address);
    let (outcome, lines) = run_with(&request, &[("PULUMI_PYTHON_CMD", &python)], pending()).await;
    assert_eq!(outcome.unwrap(), Outcome::Finished, "{:?}", lines.all());
    assert_eq!(lines.of(Stream::Stdout), [virtualenv().display().to_string()]);
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn uv_and_poetry_give_their_virtual_environments() {
    let engine = YesEngine::start().await;
    let tools = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("uv", "#!/bin/sh\necho \"$@\" > uv-arguments\n"),
        (
            "poetry",
            "#!/bin/sh\n[ \"$*\" = 'env info --path' ] && [ -d of-poetry ] && echo \"$PWD/of-poetry\"\n",
        ),
    ] {
        let path = tools.path().join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    for (options, lock, place) in [
        ("{toolchain: uv}", "other", ".venv"),
        ("{}", "uv.lock", ".venv"),
        ("{toolchain: uv, virtualenv: named}", "other", "named"),
        ("{toolchain: poetry}", "other", "of-poetry"),
        ("{}", "poetry.lock", "of-poetry"),
    ] {
        let written = Written::new(
            "p",
            &[
                ("Pulumi.yaml", &format!("name: web\nruntime: {{name: python, options: {options}}}\n")),
                ("__main__.py", "import os; print(os.environ['VIRTUAL_ENV'])"),
                ("pyproject.toml", "[project]\nname = 'p'\n"),
                (lock, ""),
            ],
        )
        .with_virtualenv(place);
        let (outcome, lines) =
            run_with(&written.request(&engine.address), &[("PATH", &path)], pending()).await;
        assert_eq!(outcome.unwrap(), Outcome::Finished, "{options} {lock}: {:?}", lines.all());
        assert_eq!(lines.of(Stream::Stdout), [written.root().join(place).display().to_string()]);
        let synced = std::fs::read_to_string(written.root().join("uv-arguments")).ok();
        let expected = (place != "of-poetry").then(|| "sync --inexact\n".to_owned());
        assert_eq!(synced, expected, "{options} {lock}");
    }
    let project = "name: web\nruntime: {name: python, options: {toolchain: poetry}}\n";
    let written = Written::new("p", &[("Pulumi.yaml", project), ("__main__.py", "")]);
    let request = written.request(&engine.address);
    let error = run_with(&request, &[("PATH", &path)], pending()).await.0.unwrap_err();
    let directory = written.root().display();
    assert_eq!(error.to_string(), format!("Poetry has no virtual environment for `{directory}`"));
    assert_eq!(error.hint().unwrap(), "make it with `poetry install`");
}

#[tokio::test]
#[ignore = "needs the PyPI SDK: run by cargo xtask test"]
async fn a_missing_type_checker_is_told() {
    let written = Written::python(&[
        (
            "Pulumi.yaml",
            "name: web\nruntime: {name: python, options: {virtualenv: venv, typechecker: pyright}}\n",
        ),
        ("__main__.py", ""),
    ]);
    let error = run(&written.request("127.0.0.1:1")).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the typechecker option is set to pyright, but pyright is not installed");
    let python = written.root().join("venv/bin/python");
    assert_eq!(
        error.hint().unwrap(),
        format!("install it with `{} -m pip install pyright`", python.display())
    );
}

/// A virtual environment without packages costs little; its Python has no SDK.
fn bare_virtualenv(written: &Written) {
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(written.root().join("venv"))
        .status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn a_missing_sdk_is_told_with_the_command_that_installs_it() {
    let written = Written::new("p", &[("Pulumi.yaml", PROJECT), ("__main__.py", "")]);
    bare_virtualenv(&written);
    let (outcome, lines) = run(&written.request("127.0.0.1:1")).await;
    let error = outcome.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the Pulumi SDK `pulumi` is not installed for `{}`", written.root().display())
    );
    let python = written.root().join("venv/bin/python");
    assert_eq!(
        error.hint().unwrap(),
        format!("install it with `{} -m pip install -r requirements.txt`", python.display())
    );
    assert!(lines.all().is_empty(), "{:?}", lines.all());
}

#[tokio::test]
async fn a_type_checker_that_finds_something_stops_the_run() {
    let project = "name: web\nruntime: {name: python, options: {virtualenv: venv, typechecker: mypy}}\n";
    let written = Written::new("p", &[("Pulumi.yaml", project), ("__main__.py", "print('never')")]);
    bare_virtualenv(&written);
    let library = std::fs::read_dir(written.root().join("venv/lib")).unwrap().next().unwrap().unwrap().path();
    let checker = "import sys; print('found in', sys.argv[1:]); sys.exit(1)";
    std::fs::write(library.join("site-packages/mypy.py"), checker).unwrap();
    let (outcome, lines) = run(&written.request("127.0.0.1:1")).await;
    let found = format!("found in ['--exclude', 'venv', '{}']", written.root().display());
    assert_eq!(outcome.unwrap(), failed(&format!("mypy failed: exit code 1\n{found}")));
    assert_eq!(lines.all(), [found]);
}

#[tokio::test]
async fn a_missing_virtual_environment_is_told_with_the_command_that_makes_it() {
    let written = Written::new("p", &[("Pulumi.yaml", PROJECT), ("__main__.py", "")]);
    let request = written.request("127.0.0.1:1");
    let folder = written.root().join("venv");
    let error = run(&request).await.0.unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` does not exist", folder.display()));
    let path = folder.display();
    assert_eq!(
        error.hint().unwrap(),
        format!("make it with `python3 -m venv {path} && {path}/bin/pip install -r requirements.txt`")
    );
    std::fs::create_dir(&folder).unwrap();
    let error = run(&request).await.0.unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` is not a virtual environment", folder.display()));
}

#[tokio::test]
async fn a_missing_python_is_told() {
    let written = Written::new("p", &[("Pulumi.yaml", "name: web\nruntime: python\n"), ("__main__.py", "")]);
    let request = written.request("127.0.0.1:1");
    let error = run_with(&request, &[("PATH", "/nowhere")], pending()).await.0.unwrap_err();
    assert_eq!(error.to_string(), "could not find python3 or python on the $PATH");
}
