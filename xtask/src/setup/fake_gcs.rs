//! fake-gcs-server, a Google Cloud Storage for tests, built from its Go module.

use super::Peer;
use super::go::{Go, Module};

const MODULE: Module = Module {
    name: "fake-gcs-server",
    path: "github.com/fsouza/fake-gcs-server",
    version: "v1.56.1",
    package: "github.com/fsouza/fake-gcs-server",
};

/// The server.
pub(crate) const FAKE_GCS: Peer = Peer {
    name: "fake-gcs-server",
    version: "1.56.1",
    purpose: "the tests of stacks on Google Cloud Storage",
    variable: Some("DRYSTONE_PEER_FAKE_GCS"),
    find: |cache| Some(MODULE.place(cache)).filter(|binary| binary.is_file()),
    install: |cache| MODULE.install(&Go::ready(cache)?, cache),
};
