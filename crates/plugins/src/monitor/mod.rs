//! The engine as programs and plugins reach it over gRPC.

mod endpoint;
#[cfg(test)]
pub(crate) mod tests;

pub use endpoint::Endpoint;
