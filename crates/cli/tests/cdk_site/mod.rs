//! Commands on buckets of a real server, and a way past them to what is in the buckets.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::harness::{Ended, Sandbox};
use drystone_servers::{Cloud, Proxy, moto_alone};
use std::path::{Path, PathBuf};

/// A server of one's own, and commands that know it.
pub(crate) struct Site {
    sandbox: Sandbox,
    cloud: Cloud,
}

impl Site {
    /// With a moto of one's own, whose account is 123456789012.
    pub(crate) fn on_moto() -> Self {
        let (mut sandbox, cloud) = (Sandbox::new(), moto_alone());
        surround(&mut sandbox, &cloud, cloud.port());
        Self { sandbox, cloud }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.sandbox.set(name, value);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.sandbox.write(name, text);
    }

    pub(crate) fn drystone(&self, arguments: &[&str]) -> Ended {
        self.sandbox.drystone(arguments)
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.sandbox.ok(arguments)
    }

    /// Runs a command, and gives the heads of the requests that it sent.
    pub(crate) fn watched(&self, arguments: &[&str]) -> Vec<String> {
        let proxy = Proxy::before(self.cloud.port());
        let mut sandbox = Sandbox::new();
        surround(&mut sandbox, &self.cloud, proxy.port());
        sandbox.ok(arguments);
        proxy.heads()
    }

    /// Writes an object. moto asks for no signature.
    pub(crate) fn put(&self, bucket: &str, key: &str, text: &str) {
        self.cloud.ask("PUT", &format!("/{bucket}/{key}"), text);
    }

    pub(crate) fn delete(&self, bucket: &str, key: &str) {
        self.cloud.ask("DELETE", &format!("/{bucket}/{key}"), "");
    }

    pub(crate) fn get(&self, target: &str) -> String {
        self.cloud.ask("GET", target, "")
    }
}

/// Tells commands where a server is, and who they are there.
pub(crate) fn surround(sandbox: &mut Sandbox, cloud: &Cloud, port: u16) {
    sandbox.set("AWS_ENDPOINT_URL", &format!("http://127.0.0.1:{port}"));
    sandbox.set("AWS_REGION", "us-east-1");
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        sandbox.set(name, &cloud.variable(name).expect("a key"));
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/fixtures/cdkd")
}

/// A file that the tool wrote.
pub(crate) fn fixture(name: &str) -> String {
    std::fs::read_to_string(fixtures().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Puts all that the tool left in a bucket into another.
pub(crate) fn upload_fixture(site: &Site, bucket: &str, name: &str) {
    let root = fixtures().join(name);
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let key = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
            site.put(bucket, &key, &std::fs::read_to_string(&path).expect("a file"));
        }
    }
}
