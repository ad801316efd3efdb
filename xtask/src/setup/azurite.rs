//! Azurite, Microsoft's emulator of Azure Blob Storage, from npm.

use super::{Peer, node_sdk};
use crate::cache::Cache;
use crate::process;
use std::path::PathBuf;

const VERSION: &str = "3.37.0";

/// The emulator, as a folder that has its `node_modules`.
pub(crate) const AZURITE: Peer = Peer {
    name: "Azurite",
    version: VERSION,
    purpose: "the tests of stacks on Azure Blob Storage",
    variable: Some("DRYSTONE_PEER_AZURITE"),
    find,
    install: |cache| {
        let manifest =
            format!("{{ \"private\": true, \"dependencies\": {{ \"azurite\": \"{VERSION}\" }} }}\n");
        node_sdk::modules(cache, "azurite", VERSION, &manifest)
    },
};

fn find(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("azurite", VERSION);
    if !place.is_dir() {
        return None;
    }
    let mut asked = process::command("node", ["-p", "require('azurite/package.json').version"]);
    let answer = process::output_of(asked.current_dir(&place))?;
    (answer.trim() == VERSION).then_some(place)
}
