//! The engine as programs and plugins reach it over gRPC.
//!
//! One port serves everything: the resource monitor, the engine, the status of views, schemas and mappings. It opens
//! before plugins start and outlives the program. Requests are read here and handed to the running operation.

mod call;
mod duration;
mod endpoint;
mod engine;
mod features;
mod hooks;
mod invoke;
pub(crate) mod options;
mod package;
mod position;
mod read;
pub(crate) mod refusal;
mod register;
mod server;
mod service;
mod status;
#[cfg(test)]
pub(crate) mod tests;

pub use duration::seconds as duration_seconds;
pub(crate) use duration::text as duration_text;
pub use endpoint::Endpoint;
pub use engine::check_version;
pub use position::source_position;
pub use server::{MonitorServer, MonitorSettings};
