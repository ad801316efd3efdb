//! Backends on servers of this machine, and projects whose state is there.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::Sandbox;
use drystone_servers::{Cloud, Postgres, azurite, fake_gcs, minio};
use serde_json::Value;

/// A part of a server that nobody else has.
pub(crate) struct Place {
    pub(crate) url: String,
    variables: Vec<(&'static str, String)>,
}

impl Place {
    pub(crate) fn minio() -> Self {
        let url = format!("{}&region=us-east-1", minio().url());
        Self::in_cloud(minio(), url, &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    }

    /// The same by way of somebody who listens on another port.
    pub(crate) fn minio_by(port: u16) -> Self {
        let url = format!("{}&region=us-east-1", minio().url_by(port));
        Self::in_cloud(minio(), url, &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    }

    pub(crate) fn fake_gcs() -> Self {
        Self::in_cloud(fake_gcs(), fake_gcs().url(), &["STORAGE_EMULATOR_HOST"])
    }

    pub(crate) fn azurite() -> Self {
        Self::in_cloud(azurite(), azurite().url(), &["AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"])
    }

    pub(crate) fn fake_gcs_by(port: u16) -> Self {
        Self {
            url: fake_gcs().url(),
            variables: vec![("STORAGE_EMULATOR_HOST", format!("127.0.0.1:{port}"))],
        }
    }

    pub(crate) fn azurite_by(port: u16) -> Self {
        Self::in_cloud(azurite(), azurite().url_by(port), &["AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"])
    }

    pub(crate) fn postgres() -> Self {
        Self { url: Postgres::shared().url(), variables: Vec::new() }
    }

    fn in_cloud(cloud: &Cloud, url: String, names: &[&'static str]) -> Self {
        let variables = names.iter().map(|name| (*name, cloud.variable(name).expect("a variable")));
        Self { url, variables: variables.collect() }
    }

    /// Lets the commands of a sandbox come here.
    pub(crate) fn open_to(&self, sandbox: &mut Sandbox) {
        for (name, value) in &self.variables {
            sandbox.set(name, value);
        }
    }

    /// A project whose backend it is.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let mut sandbox = Sandbox::new();
        sandbox.write("Pulumi.yaml", &program("one"));
        self.open_to(&mut sandbox);
        sandbox.set("PULUMI_BACKEND_URL", &self.url);
        let path = std::env::var("PATH").unwrap_or_default();
        let yaml = std::env::var_os("DRYSTONE_PEER_YAML").map(std::path::PathBuf::from);
        if let Some(folder) = yaml.as_deref().and_then(std::path::Path::parent) {
            sandbox.set("PATH", &format!("{}:{path}", folder.display()));
        }
        sandbox
    }
}

const PROGRAM: &str = "name: shop\nruntime: yaml\nresources:\n  a:\n    type: pulumi:index:Stash\n    properties: {input: VALUE}\noutputs:\n  said: VALUE\n";

/// A program that keeps a value.
pub(crate) fn program(value: &str) -> String {
    PROGRAM.replace("VALUE", value)
}

/// What commands print as JSON.
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// How many things a command prints as JSON.
pub(crate) fn count(text: &str) -> usize {
    json(text).as_array().map_or(0, Vec::len)
}

/// How many resources an export has.
pub(crate) fn resources(exported: &str) -> usize {
    json(exported)["deployment"]["resources"].as_array().map_or(0, Vec::len)
}

pub(crate) const UP: [&str; 5] = ["up", "--yes", "--skip-preview", "--stack", "dev"];

/// Whether anybody holds the stack, as `state lock show` says.
pub(crate) fn is_held(sandbox: &Sandbox) -> bool {
    json(&sandbox.ok(&["state", "lock", "show", "--json", "-s", "dev"]))["held"] == true
}

/// The stock CLI and ours take turns on a stack, each going on with what the other left (S14).
pub(crate) fn take_turns(place: &Place) {
    let sandbox = place.sandbox();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    // The root, the provider that is built in, and the value.
    assert_eq!(resources(&sandbox.stock_ok(&["stack", "export", "-s", "dev"])), 3);
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.stock_ok(&UP);
    assert_eq!(resources(&sandbox.ok(&["stack", "export", "-s", "dev"])), 3);
    assert_eq!(sandbox.ok(&["stack", "output", "said", "-s", "dev"]).trim(), "two");
    sandbox.ok(&UP);
    assert_eq!(count(&sandbox.stock_ok(&["stack", "history", "--json", "-s", "dev"])), 3);
    sandbox.stock_ok(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    assert_eq!(resources(&sandbox.ok(&["stack", "export", "-s", "dev"])), 0);

    // A stack that the stock CLI has made.
    sandbox.stock_ok(&["stack", "init", "theirs"]);
    sandbox.stock_ok(&["up", "--yes", "--skip-preview", "--stack", "theirs"]);
    sandbox.write("Pulumi.yaml", &program("three"));
    sandbox.ok(&["up", "--yes", "--skip-preview", "--stack", "theirs"]);
    assert_eq!(sandbox.stock_ok(&["stack", "output", "said", "-s", "theirs"]).trim(), "three");
}
