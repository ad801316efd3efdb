//! MinIO, the S3 server whose conditional writes are honest, built from its Go module.

use super::Peer;
use super::go::{Go, Module};

const MODULE: Module = Module {
    name: "minio",
    path: "github.com/minio/minio",
    // Its releases are no versions in Go's sense.
    version: "v0.0.0-20260212201848-7aac2a2c5b7c",
    package: "github.com/minio/minio",
};

/// The server.
pub(crate) const MINIO: Peer = Peer {
    name: "MinIO",
    version: "20260212201848",
    purpose: "the tests of stacks on S3",
    variable: Some("DRYSTONE_PEER_MINIO"),
    find: |cache| Some(MODULE.place(cache)).filter(|binary| binary.is_file()),
    install: |cache| MODULE.install(&Go::ready(cache)?, cache),
};
