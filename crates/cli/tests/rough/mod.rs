//! A stack of the bench language and the bench provider, which misbehaves as it is told.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox};
use crate::programs::{Running, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A project of the bench language with a stack `dev`, and the world that its provider changes.
pub(crate) struct Site {
    pub(crate) sandbox: Sandbox,
    world: PathBuf,
}

/// What a stack knows, by the names of resources.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) state: Vec<String>,
    pub(crate) pending: Vec<(String, String)>,
}

impl Site {
    /// A project with these runtime options, which are the program.
    pub(crate) fn new(options: &str) -> Self {
        let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
        let mut sandbox = Sandbox::new();
        let world = sandbox.project().join("world");
        std::fs::create_dir(&world).expect("a folder");
        sandbox.set("PATH", &format!("{plugins}:{}", std::env::var("PATH").unwrap_or_default()));
        sandbox.set("BENCH_WORLD", world.to_str().expect("a path"));
        let site = Self { sandbox, world };
        site.program(options);
        site.sandbox.ok(&["stack", "init", "dev"]);
        site
    }

    /// Changes the program.
    pub(crate) fn program(&self, options: &str) {
        let text = format!("name: shop\nruntime:\n  name: bench\n  options: {options}\n");
        self.sandbox.write("Pulumi.yaml", &text);
    }

    /// Runs a command without a preview; whatever happens, nothing may panic.
    pub(crate) fn run(&self, command: &str) -> Ended {
        let ended = self.sandbox.drystone(&[command, "--yes", "--skip-preview"]);
        assert!(!ended.stderr.contains("panicked") && !ended.stdout.contains("panicked"), "{ended:#?}");
        ended
    }

    /// Runs a command with a fault of the provider, and then has no fault any more.
    pub(crate) fn run_with(&mut self, variable: &str, fault: &str, command: &str) -> Ended {
        self.sandbox.set(variable, fault);
        let ended = self.run(command);
        self.sandbox.unset(variable);
        ended
    }

    /// Starts a command with a fault of the provider and waits until the fault has come about.
    pub(crate) fn run_into(&mut self, fault: &str, command: &str) -> Running {
        let mark = self.sandbox.project().join("mark");
        let _ = std::fs::remove_file(&mark);
        self.sandbox.set("BENCH_FAULT", fault);
        self.sandbox.set("BENCH_MARK", mark.to_str().expect("a path"));
        let running = Running::start(&self.sandbox, &[command, "--yes", "--skip-preview"]);
        wait_until(fault, || mark.exists());
        self.sandbox.unset("BENCH_FAULT");
        self.sandbox.unset("BENCH_MARK");
        running
    }

    /// What exists.
    pub(crate) fn things(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(&self.world).expect("the world");
        entries.map(|entry| entry.expect("a thing").file_name().to_string_lossy().into_owned()).collect()
    }

    pub(crate) fn export(&self) -> Value {
        serde_json::from_str(&self.sandbox.ok(&["stack", "export"])).expect("JSON")
    }

    /// The items in the state and what is pending.
    pub(crate) fn known(&self) -> Known {
        let export = self.export();
        let list = |key: &str| export["deployment"][key].as_array().cloned().unwrap_or_default();
        let name =
            |urn: &Value| urn.as_str().and_then(|urn| urn.rsplit("::").next()).unwrap_or_default().to_owned();
        let items = list("resources");
        let items = items.iter().filter(|resource| resource["type"] == "bench:index:Item");
        Known {
            state: items.map(|resource| name(&resource["urn"])).collect(),
            pending: list("pending_operations")
                .iter()
                .map(|operation| {
                    let kind = operation["type"].as_str().unwrap_or_default().to_owned();
                    (kind, name(&operation["resource"]["urn"]))
                })
                .collect(),
        }
    }
}

/// What a stack knows, for comparing.
pub(crate) fn known(state: &[&str], pending: &[(&str, &str)]) -> Known {
    Known {
        state: state.iter().map(|name| (*name).to_owned()).collect(),
        pending: pending.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect(),
    }
}

/// The run failed with one clear error about a resource, and says what to do.
pub(crate) fn failed(ended: &Ended, resource: &str, cause: &str) {
    assert_eq!(ended.code, 4, "{ended:#?}");
    let told: Vec<&str> = ended
        .stdout
        .lines()
        .filter(|line| line.contains(": error: ") || line.starts_with("error: "))
        .collect();
    assert_eq!(told.len(), 1, "{ended:#?}");
    assert!(told[0].contains(resource) && told[0].contains(cause), "{resource}, {cause}: {ended:#?}");
    assert!(ended.stderr.contains("error: the ") && ended.stderr.contains("hint: "), "{ended:#?}");
}
