//! Compiles the protocol definitions in `proto/` with a compiler written in Rust, so that no machine needs protoc.

use prost::Message;
use std::{env, error::Error, fs, path::Path};

const FILES: [&str; 16] = [
    "codegen/codegen.proto",
    "google/rpc/status.proto",
    "pulumirpc/analyzer.proto",
    "pulumirpc/callback.proto",
    "pulumirpc/converter.proto",
    "pulumirpc/engine.proto",
    "pulumirpc/errors.proto",
    "pulumirpc/events.proto",
    "pulumirpc/hcl.proto",
    "pulumirpc/language.proto",
    "pulumirpc/monitor.proto",
    "pulumirpc/package.proto",
    "pulumirpc/provider.proto",
    "pulumirpc/resource.proto",
    "pulumirpc/status.proto",
    "pulumirpc/transform.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(FILES, ["proto"])?;
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&folder).join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .extern_path(".google.protobuf.Struct", "crate::wire::Struct")
        .extern_path(".google.protobuf.Value", "crate::wire::RawValue")
        .generate_default_stubs(true)
        .compile_fds(descriptors)?;
    Ok(())
}
