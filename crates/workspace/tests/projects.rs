//! Finding and reading project files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::project::{
    ConfigType, Package, Plugin, PluginProject, Project, ProjectError, Runtime,
};
use drystone_workspace::{Environment, Value};
use std::path::{Path, PathBuf};

fn environment(directory: &Path) -> Environment {
    Environment::new(|_| None, None, directory.to_owned())
}

fn load(name: &str, text: &str) -> Result<Project, ProjectError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    Project::load(&path)
}

/// What is wrong with a project, line by line.
fn problems(text: &str) -> Vec<String> {
    match load("Pulumi.yaml", text) {
        Err(ProjectError::Invalid { problems, .. }) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_nearest_project_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a/b/c");
    std::fs::create_dir_all(&inside).unwrap();
    let searched = environment(&inside);
    assert!(matches!(
        Project::discover(&searched),
        Err(ProjectError::NotFound { directory }) if directory == inside
    ));
    std::fs::create_dir(inside.join("Pulumi.yaml")).unwrap();
    std::fs::write(folder.path().join("Pulumi.yml"), "name: outer\n").unwrap();
    assert_eq!(Project::discover(&searched).unwrap().name, "outer");
    std::fs::write(folder.path().join("a/Pulumi.yaml"), "name: nearer\n").unwrap();
    assert_eq!(Project::discover(&searched).unwrap().name, "nearer");
    std::fs::write(folder.path().join("a/Pulumi.json"), "{\"name\": \"json wins\"}").unwrap();
    let project = Project::discover(&searched).unwrap();
    assert_eq!(project.name, "json wins");
    assert_eq!(project.directory(), folder.path().join("a"));
}

#[test]
fn everything_in_a_project_file_is_read() {
    let project = load(
        "Pulumi.yaml",
        "\u{feff}name: web # the name\n\
         runtime: {name: nodejs, options: {typescript: false, nodeargs: --x}}\n\
         description: A web app.\n\
         author: ~\n\
         main: src/\n\
         stackConfigDir: stacks\n\
         backend: {url: 's3://bucket?region=x'}\n\
         options: {refresh: always}\n\
         requiredPulumiVersion: '>=3.0.0'\n\
         config:\n  \
           size: t3.micro\n  \
           aws:region: us-west-2\n  \
           count: {type: integer, default: 3, description: how many}\n  \
           names: {type: array, items: {type: string}, default: [a, b]}\n  \
           web:password: {secret: true}\n\
         packages:\n  \
           random: random@4.0.0\n  \
           local: {source: ./local, version: 1.0.0, parameters: [a], checksums: {linux-x64: AAA=}}\n\
         plugins:\n  \
           providers:\n  \
           - {name: aws, path: ../aws, version: 6.0.0}\n\
         resources: {r: {type: 'random:RandomPet'}}\n\
         variables: {1: x}\n",
    )
    .unwrap();
    assert_eq!(project.name, "web");
    let options =
        [("nodeargs".into(), Value::String("--x".into())), ("typescript".into(), Value::Bool(false))];
    assert_eq!(project.runtime, Some(Runtime { name: "nodejs".into(), options: options.into() }));
    assert_eq!(project.description.as_deref(), Some("A web app."));
    assert_eq!((project.author.as_deref(), project.main.as_deref()), (None, Some("src/")));
    assert_eq!(project.backend_url.as_deref(), Some("s3://bucket?region=x"));
    assert!(project.always_refreshes);
    assert_eq!(project.required_pulumi_version.as_deref(), Some(">=3.0.0"));
    assert_eq!(project.config["size"].default, Some(Value::String("t3.micro".into())));
    assert_eq!(project.config["aws:region"].value, Some(Value::String("us-west-2".into())));
    assert_eq!(project.config["count"].kind, Some(ConfigType::Integer));
    assert_eq!(project.config["names"].kind, Some(ConfigType::Array(Box::new(ConfigType::String))));
    assert!(project.config["web:password"].secret);
    assert_eq!(
        project.packages["random"],
        Package { source: "random".into(), version: Some("4.0.0".into()), ..Package::default() }
    );
    assert_eq!(project.packages["local"].checksums["linux-x64"], "AAA=");
    assert_eq!(
        project.plugins.providers,
        [Plugin { name: "aws".into(), path: "../aws".into(), version: Some("6.0.0".into()) }]
    );
    assert_eq!(project.extra.keys().collect::<Vec<_>>(), ["resources", "variables"]);
    assert!(project.stack_settings_path("dev").ends_with("stacks/Pulumi.dev.yaml"));
    assert!(project.stack_settings_path("organization/web/prod").ends_with("stacks/Pulumi.prod.yaml"));
}

#[test]
fn json_projects_are_read_whatever_json_allows() {
    let project =
        load("Pulumi.json", "{\n\t\"name\": \"j\\u0061\\ud83d\\ude00\",\n\t\"runtime\": \"yaml\"\n}")
            .unwrap();
    assert_eq!(project.name, "ja😀");
    assert_eq!(project.stack_settings_path("dev").extension().unwrap(), "json");
    let error = load("Pulumi.json", "{\"name\": }").unwrap_err().to_string();
    assert!(error.ends_with("Pulumi.json:1:10: expected value"), "{error}");
    let error = load("Pulumi.json", "{\n  \"name\": \"x\",\n  \"runtime\": 5\n}").unwrap_err().to_string();
    assert!(error.contains("Pulumi.json:3:14: `runtime` is"), "{error}");
}

#[test]
fn the_older_name_of_the_settings_folder_still_counts() {
    let project = load("Pulumi.yaml", "name: x\nconfig: ./cfg\n").unwrap();
    assert_eq!(project.stack_config_dir.as_deref(), Some("./cfg"));
    assert_eq!(
        problems("name: x\nconfig: ./cfg\nstackConfigDir: y\n"),
        ["2:9: `config` and `stackConfigDir` both name a folder; keep `stackConfigDir`"]
    );
}

#[test]
fn problems_are_told_with_their_place() {
    for (text, expected) in [
        ("runtime: yaml\n", "1:1: the project has no `name`"),
        ("Nme: x\n", "1:1: the project has no `name`; is `Nme` meant to be it?"),
        ("name: 5\n", "1:7: the `name` of a project is a text that is not empty"),
        ("", "1:1: a project file is a mapping with at least a `name`"),
        ("- a\n", "1:1: a project file is a mapping with at least a `name`"),
        (
            "name: x\nruntime: 5\n",
            "2:10: `runtime` is the name of a language, or a mapping with `name` and `options`",
        ),
        ("name: x\nruntime:\n  nam: y\n", "3:8: a `runtime` has a text `name` and a mapping `options`"),
        ("name: x\nbackend:\n  urll: y\n", "3:3: `backend` has no `urll`; is `url` meant?"),
        ("name: x\nbackend: y\n", "2:10: `backend` is a mapping"),
        ("name: x\noptions: {refresh: never}\n", "2:20: the only value that `refresh` can have is `always`"),
        ("name: x\nauthor: 5\n", "2:9: `author` is a text"),
        (
            "name: x\nconfig:\n  a: {type: array}\n",
            "3:6: an array needs `items` with the `type` of what is in it",
        ),
        (
            "name: x\nconfig:\n  a: {type: integer, default: y}\n",
            "3:6: the default of `a` is not of type integer",
        ),
        ("name: x\nconfig:\n  a: {default: 1, value: 2}\n", "3:6: `a` has both a `default` and a `value`"),
        (
            "name: x\nconfig:\n  a:b: {type: string}\n",
            "3:8: `a:b` belongs to another namespace, so it must not have a `type`",
        ),
        (
            "name: x\nconfig:\n  a:b: {default: 1}\n",
            "3:8: `a:b` belongs to another namespace, so it takes a `value`, not a `default`",
        ),
        (
            "name: x\nconfig:\n  a:b: {}\n",
            "3:8: `a:b` belongs to another namespace, so it must have a `value`",
        ),
        (
            "name: x\nconfig:\n  a: 1.5\n",
            "3:6: `a` is a text, a whole number, a truth value, a list or a declaration",
        ),
        ("name: x\npackages:\n  a: {version: 1.0.0}\n", "3:6: the package `a` has no `source`"),
        ("name: x\nplugins:\n  providers: [{name: y}]\n", "3:15: a plugin has a `name` and a `path`"),
        ("name: [\n", "2:1: while parsing a node, did not find expected node content"),
        ("name: x\nname: y\n", "2:1: the key `name` was already given on line 1"),
        ("name: x\n? [a]\n: b\n", "2:3: a key must be a text, not a list or a mapping"),
    ] {
        assert_eq!(problems(text), [expected], "{text}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let text = "name: x\nruntime: 5\nauthor: 6\nmain: 7\n";
    assert_eq!(problems(text).len(), 3);
    let error = load("Pulumi.yaml", text).unwrap_err().to_string();
    assert!(error.ends_with("Pulumi.yaml:2:10: `runtime` is the name of a language, or a mapping with `name` and `options` (and 2 more)"), "{error}");
}

#[test]
fn huge_and_endless_values_are_refused() {
    let deep = |levels: usize| format!("name: x\na: {}{}\n", "[".repeat(levels), "]".repeat(levels));
    assert!(problems(&deep(150))[0].ends_with("values nest deeper than 128 levels"));
    assert_eq!(problems(&deep(50_000)).len(), 1);
    let mut laughs = String::from("name: x\na0: &a0 [l, l, l, l, l, l, l, l, l, l]\n");
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(problems(&laughs)[0].ends_with("aliases stand for more than 100000 values"));
}

#[test]
fn unreadable_files_are_named() {
    let error = Project::load(&PathBuf::from("/nowhere/Pulumi.yaml")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read `/nowhere/Pulumi.yaml`");
    let error = Project::load(&PathBuf::from("Pulumi.toml")).unwrap_err();
    assert_eq!(error.to_string(), "`Pulumi.toml` ends neither with .yaml, .yml nor .json");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Pulumi.yaml");
    std::fs::write(&path, b"name: \xff\n").unwrap();
    assert!(matches!(Project::load(&path), Err(ProjectError::File(_))));
}

#[test]
fn a_plugin_that_is_source_code_names_its_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("PulumiPlugin.yaml");
    std::fs::write(
        &path,
        "runtime: {name: python, options: {virtualenv: venv}}\nrequiredPulumiVersion: '>=3'\n",
    )
    .unwrap();
    let plugin = PluginProject::load(&path).unwrap();
    assert_eq!(plugin.runtime.name, "python");
    assert_eq!(plugin.runtime.options["virtualenv"], Value::String("venv".to_owned()));
    assert_eq!(plugin.required_pulumi_version.as_deref(), Some(">=3"));
    std::fs::write(&path, "packages: {}\n").unwrap();
    assert!(matches!(PluginProject::load(&path), Err(ProjectError::Invalid { .. })));
}
