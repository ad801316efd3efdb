//! Pulumi's SDK for Node.js from npm, with the compiler that TypeScript programs bring.

use super::{Peer, debian};
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::fs;
use std::path::PathBuf;

const VERSION: &str = "3.260.0";
/// Packages that came out later are not looked at, so that what the SDK depends on is always the same.
const BEFORE: &str = "2026-11-15";
/// The oldest Node.js that the SDK was seen to run on.
const OLDEST_NODE: u32 = 20;

/// The SDK, as a folder that has its `node_modules`.
pub(crate) const NODE_SDK: Peer = Peer {
    name: "@pulumi/pulumi",
    version: VERSION,
    purpose: "the tests that run Node.js programs and providers",
    variable: Some("DRYSTONE_PEER_NODE_SDK"),
    find,
    install,
};

const PACKAGE_JSON: &str = r#"{
  "private": true,
  "dependencies": {
    "@pulumi/pulumi": "3.260.0",
    "@types/node": "22.19.1",
    "ts-node": "10.9.2",
    "typescript": "5.9.3"
  }
}
"#;

fn find(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("node-sdk", VERSION);
    let mut asked = process::command("node", ["-p", "require('@pulumi/pulumi/package.json').version"]);
    if !place.is_dir() {
        return None;
    }
    let answer = process::output_of(asked.current_dir(&place))?;
    (answer.trim() == VERSION).then_some(place)
}

fn install(cache: &Cache) -> Result<(), Failure> {
    modules(cache, "node-sdk", VERSION, PACKAGE_JSON)
}

/// Installs the packages of a manifest beside their place and renames the folder.
pub(super) fn modules(cache: &Cache, name: &str, version: &str, packages: &str) -> Result<(), Failure> {
    node_ready()?;
    let workshop = cache.workshop(name, version)?;
    let manifest = workshop.join("package.json");
    fs::write(&manifest, packages).map_err(|error| Failure::at(&manifest, "write", &error))?;
    let mut npm = process::command(
        "npm",
        ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--before", BEFORE],
    );
    // Standard output is for the variables of `setup --env`.
    process::run(npm.current_dir(&workshop).stdout(std::io::stderr()))?;
    let place = cache.peer(name, version);
    remove_folder(&place)?;
    make_folder(&cache.root().join("peers"))?;
    fs::rename(&workshop, &place).map_err(|error| Failure::at(&place, "put the packages at", &error))
}

fn node_ready() -> Result<(), Failure> {
    let hint = format!("install Node.js {OLDEST_NODE} or newer with npm and put both on the PATH");
    let npm_answers = process::output_of(&mut process::command("npm", ["--version"])).is_some();
    if node_version().is_none() || !npm_answers {
        debian::install("Node.js", &["nodejs", "npm"], &hint)?;
    }
    match node_version() {
        Some(version) if version >= OLDEST_NODE => Ok(()),
        Some(version) => Err(Failure::new(format!("Node.js {version} is too old for the SDK")).hint(hint)),
        None => Err(Failure::new("Node.js does not answer").hint(hint)),
    }
}

/// Reads `v20.20.2`.
fn node_version() -> Option<u32> {
    let answer = process::output_of(&mut process::command("node", ["--version"]))?;
    answer.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}
