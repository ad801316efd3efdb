//! Where plugins are found, and what is said when they are not.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_plugins::search::{BuiltIn, Found, Kind, Place, Search, SearchError, Wanted, at};
use drystone_workspace::Environment;
use drystone_workspace::project::Project;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine with folders on the PATH, beside our executable, and in the plugin cache.
struct Machine {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let variables = [
            ("PULUMI_HOME".to_owned(), at("home")),
            ("PATH".to_owned(), format!("{}:{}:.", at("bin"), at("bin2"))),
        ];
        Self { variables: variables.into(), folder }
    }

    fn with(mut self, variable: &str, value: &str) -> Self {
        self.variables.insert(variable.to_owned(), value.to_owned());
        self
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn program(&self, path: &str) -> PathBuf {
        self.write(path, "#!/bin/sh\n", 0o755)
    }

    fn install(&self, name: &str) -> PathBuf {
        let file = name.rsplit_once("-v").unwrap().0;
        self.program(&format!("home/plugins/{name}/pulumi-{file}"))
    }

    fn search(&self, project: Option<&str>) -> Result<Search, SearchError> {
        let variables = self.variables.clone();
        let environment =
            Environment::new(move |name| variables.get(name).cloned(), None, self.folder.path().to_owned());
        let project =
            project.map(|text| Project::load(&self.write("project/Pulumi.yaml", text, 0o644)).unwrap());
        Ok(Search::new(&environment, project.as_ref())?.beside(Some(self.at("beside"))))
    }

    fn find(&self, wanted: &Wanted) -> Result<Found, SearchError> {
        self.search(None).unwrap().find(wanted)
    }
}

fn provider(name: &str, version: &str) -> Wanted {
    Wanted::provider(name, (!version.is_empty()).then(|| version.parse().unwrap()))
}

fn executable(path: &Path) -> Found {
    Found { place: Place::Executable(path.to_owned()), warning: None }
}

#[test]
fn the_path_comes_before_the_cache_and_is_told() {
    let machine = Machine::new();
    let cached = machine.install("resource-aws-v6.0.0");
    assert_eq!(machine.find(&provider("aws", "6.0.0")).unwrap(), executable(&cached));
    machine.write("bin/pulumi-resource-aws", "not a program", 0o644);
    let ambient = machine.program("bin2/pulumi-resource-aws");
    let found = machine.find(&provider("aws", "6.0.0")).unwrap();
    assert_eq!(found.place, Place::Executable(ambient.clone()));
    assert_eq!(found.warning, Some(format!("using pulumi-resource-aws from $PATH at {}", ambient.display())));
    let ignoring = machine.with("PULUMI_IGNORE_AMBIENT_PLUGINS", "true");
    assert_eq!(ignoring.find(&provider("aws", "6.0.0")).unwrap(), executable(&cached));
}

#[test]
fn bundled_plugins_are_found_beside_us() {
    let machine = Machine::new();
    let bundled = machine.program("beside/pulumi-language-yaml");
    machine.program("beside/pulumi-resource-aws");
    assert_eq!(machine.find(&Wanted::language("yaml")).unwrap(), executable(&bundled));
    assert!(machine.find(&provider("aws", "")).is_err());

    let link = machine.at("bin/pulumi-language-yaml");
    fs::create_dir_all(machine.at("bin")).unwrap();
    symlink(&bundled, &link).unwrap();
    assert_eq!(machine.find(&Wanted::language("yaml")).unwrap(), executable(&link));
    fs::remove_file(&link).unwrap();
    let other = machine.program("bin/pulumi-language-yaml");
    let warning = machine.find(&Wanted::language("yaml")).unwrap().warning.unwrap();
    assert_eq!(
        warning,
        format!(
            "using pulumi-language-yaml from $PATH at {} expected {}",
            other.display(),
            bundled.display()
        )
    );
}

#[test]
fn the_cache_gives_the_exact_version() {
    let machine = Machine::new();
    for version in ["1.0.0", "1.0.1", "1.2.0-alpha.3"] {
        machine.install(&format!("resource-random-v{version}"));
    }
    let exact = machine.at("home/plugins/resource-random-v1.0.0/pulumi-resource-random");
    assert_eq!(machine.find(&provider("random", "1.0.0")).unwrap(), executable(&exact));
    assert!(machine.find(&provider("random", "1.0.2")).is_err());
    let newer = machine.with("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH", "1");
    let newest = newer.at("home/plugins/resource-random-v1.0.1/pulumi-resource-random");
    assert_eq!(newer.find(&provider("random", "1.0.0")).unwrap(), executable(&newest));
}

#[test]
fn without_a_version_the_cache_gives_the_newest_stable_one() {
    let machine = Machine::new();
    for version in ["0.9.0", "0.10.0", "1.0.0-rc.1"] {
        machine.install(&format!("resource-random-v{version}"));
    }
    machine.install("resource-random-x-v7.0.0");
    machine.install("resource-random-v8.0.0.tmp123");
    machine.install("resource-random-v9.0.0");
    machine.write("home/plugins/resource-random-v9.0.0.partial", "", 0o644);
    machine.write("home/plugins/resource-random-v10.0.0", "a file", 0o755);
    let newest = machine.at("home/plugins/resource-random-v0.10.0/pulumi-resource-random");
    assert_eq!(machine.find(&provider("random", "")).unwrap(), executable(&newest));
}

#[test]
fn a_prerelease_is_better_than_nothing() {
    let machine = Machine::new();
    let only = machine.install("resource-random-v1.0.0-rc.1");
    assert_eq!(machine.find(&provider("random", "")).unwrap(), executable(&only));
}

#[test]
fn the_project_says_where_a_plugin_is() {
    let machine = Machine::new();
    machine.program("bin/pulumi-resource-mine");
    let mine = machine.program("project/dev/pulumi-resource-mine");
    let versioned = machine.program("other/pulumi-resource-mine");
    let project = format!(
        "name: p\nplugins:\n  providers:\n    - {{name: mine, path: {}, version: 2.0.0}}\n    - {{name: mine, path: dev}}\n",
        machine.at("other").display()
    );
    let search = machine.search(Some(&project)).unwrap();
    assert_eq!(search.find(&provider("mine", "1.0.0")).unwrap(), executable(&mine));
    assert_eq!(search.find(&provider("mine", "2.0.0")).unwrap(), executable(&versioned));
    assert_eq!(search.find(&provider("mine", "")).unwrap(), executable(&versioned));

    let twice = "name: p\nplugins:\n  providers:\n    - {name: a, path: x, version: 1.0.0}\n    - {name: a, path: y, version: 1.0.0}\n";
    assert!(matches!(machine.search(Some(twice)), Err(SearchError::Twice { .. })));
}

#[test]
fn a_folder_without_a_plugin_is_told() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("project/empty")).unwrap();
    let project = "name: p\nplugins: {providers: [{name: mine, path: empty}]}\n";
    let error = machine.search(Some(project)).unwrap().find(&provider("mine", "")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` has no plugin: no program `pulumi-resource-mine` and no file `PulumiPlugin.yaml`",
            machine.at("project/empty").display()
        )
    );
}

#[test]
fn a_plugin_may_be_source_code() {
    let machine = Machine::new();
    machine.write("home/plugins/resource-mine-v1.0.0/PulumiPlugin.yaml", "runtime: nodejs\n", 0o644);
    let Place::Source(source) = machine.find(&provider("mine", "1.0.0")).unwrap().place else { panic!() };
    assert_eq!(source.folder, machine.at("home/plugins/resource-mine-v1.0.0"));
    assert_eq!(source.runtime.name, "nodejs");

    machine.write("policy/PulumiPolicy.yaml", "runtime: python\n", 0o644);
    assert!(matches!(at(&machine.at("policy"), Kind::Analyzer, "p"), Ok(Place::Source(_))));
    assert!(matches!(at(&machine.at("policy"), Kind::Resource, "p"), Err(SearchError::Nothing { .. })));
    machine.write("broken/PulumiPlugin.yaml", "packages: {}\n", 0o644);
    assert!(matches!(at(&machine.at("broken"), Kind::Resource, "p"), Err(SearchError::Project(_))));
}

#[test]
fn a_plugin_that_is_being_debugged_is_attached_to() {
    let machine = Machine::new()
        .with("PULUMI_DEBUG_PROVIDERS", "aws:4711,pulumi-nodejs:4712,bad:x")
        .with("PULUMI_DEBUG_LANGUAGES", "nodejs:4713");
    assert_eq!(machine.find(&provider("aws", "1.0.0")).unwrap().place, Place::Attached(4711));
    assert_eq!(machine.find(&provider("pulumi-nodejs", "")).unwrap().place, Place::Attached(4712));
    assert_eq!(machine.find(&Wanted::language("nodejs")).unwrap().place, Place::Attached(4713));
    let error = machine.find(&provider("bad", "")).unwrap_err();
    assert!(error.to_string().contains("PULUMI_DEBUG_PROVIDERS has `x` as the port of `bad`"), "{error}");
}

#[test]
fn what_we_start_ourselves_needs_no_plugin() {
    let machine = Machine::new();
    machine.program("bin/pulumi-language-nodejs");
    for (wanted, built_in) in [
        (Wanted::language("nodejs"), BuiltIn::Node),
        (Wanted::language("bun"), BuiltIn::Bun),
        (Wanted::language("python"), BuiltIn::Python),
        (provider("pulumi-nodejs", ""), BuiltIn::NodeDynamic),
        (provider("pulumi-python", ""), BuiltIn::PythonDynamic),
    ] {
        assert_eq!(machine.find(&wanted).unwrap(), Found { place: Place::BuiltIn(built_in), warning: None });
    }
    let own = machine.program("project/host/pulumi-language-nodejs");
    let project = "name: p\nplugins: {languages: [{name: nodejs, path: host}]}\n";
    let search = machine.search(Some(project)).unwrap();
    assert_eq!(search.find(&Wanted::language("nodejs")).unwrap(), executable(&own));
}

#[test]
fn a_missing_plugin_is_told_with_where_it_was_looked_for() {
    let machine = Machine::new();
    machine.install("resource-aws-v6.1.0");
    let error = machine.find(&provider("aws", "6.2.0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no resource plugin 'pulumi-resource-aws' found in the workspace at version v6.2.0 or on your $PATH"
    );
    assert_eq!(
        error.details(),
        [
            format!("looked for it in the folders of $PATH, {}", machine.at("home/plugins").display()),
            "installed are v6.1.0".to_owned(),
        ]
    );
    assert_eq!(
        error.hint().unwrap(),
        "install it with `drystone plugin install resource aws 6.2.0`, or put `pulumi-resource-aws` on your $PATH"
    );
    let machine = machine.with("PULUMI_IGNORE_AMBIENT_PLUGINS", "1");
    let error = machine.find(&provider("gcp", "")).unwrap_err();
    assert_eq!(error.to_string(), "no resource plugin 'pulumi-resource-gcp' found in the workspace");
}
