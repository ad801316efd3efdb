//! The gRPC services and messages that programs, plugins and the engine exchange, generated from `proto/`.
//!
//! A `google.protobuf.Struct` inside a message is a [`crate::wire::Struct`]: bytes until somebody asks for its values.

#![allow(
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "generated code"
)]

/// Monitor, engine, providers, languages, callbacks, analyzers and events.
pub mod pulumirpc {
    tonic::include_proto!("pulumirpc");

    /// Diagnostics of program conversion.
    pub mod codegen {
        tonic::include_proto!("pulumirpc.codegen");
    }
}

/// Schemas and mappings.
pub mod codegen {
    tonic::include_proto!("codegen");
}

/// The status of a failed call.
pub mod rpc {
    tonic::include_proto!("google.rpc");
}
