//! `install`: the packages of the project's language, and the plugins that they need.

mod harness;

use harness::{Ended, Sandbox};

/// A Node.js project with a package whose plugin is at a place where nobody answers.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("package.json", "{\"name\": \"shop\"}");
    sandbox.write(
        "node_modules/bench/package.json",
        "{\"name\": \"bench\", \"version\": \"1.2.3\",
          \"pulumi\": {\"resource\": true, \"name\": \"bench\", \"server\": \"http://127.0.0.1:1\"}}",
    );
    let home = sandbox.project().join("plugins-home");
    sandbox.set("PULUMI_HOME", home.to_str().expect("a path"));
    sandbox
}

fn install(sandbox: &Sandbox, words: &[&str]) -> Ended {
    sandbox.drystone(&[&["install"], words].concat())
}

/// It tried to fetch the plugin, and could not.
fn tried(ended: &Ended) -> bool {
    ended.code == 12 && ended.stderr.contains("http://127.0.0.1:1/pulumi-resource-bench-v1.2.3-")
}

#[test]
fn the_plugins_of_installed_packages_are_installed() {
    let sandbox = project();
    let ended = install(&sandbox, &["--no-dependencies"]);
    assert!(tried(&ended), "{ended:#?}");
    let ended = install(&sandbox, &["--no-dependencies", "--use-language-version-tools"]);
    assert!(tried(&ended), "{ended:#?}");
}

#[test]
fn plugins_are_left_when_that_is_asked_for() {
    let ended = install(&project(), &["--no-dependencies", "--no-plugins"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
}

#[test]
fn a_plugin_that_is_installed_is_installed_again_only_when_that_is_asked_for() {
    let sandbox = project();
    sandbox.write("plugins-home/plugins/resource-bench-v1.2.3/pulumi-resource-bench", "#!/bin/sh\n");
    let ended = install(&sandbox, &["--no-dependencies"]);
    assert!(ended.code == 0 && ended.stderr.contains("resource bench-1.2.3 is installed"), "{ended:#?}");
    let ended = install(&sandbox, &["--no-dependencies", "--reinstall"]);
    assert!(tried(&ended), "{ended:#?}");
}
