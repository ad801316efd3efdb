//! Real plugins for tests and benchmarks, as small as plugins can be.
//!
//! `pulumi-resource-bench` is a provider whose objects are files in the folder `BENCH_WORLD`, written before it answers,
//! so that a test can compare what exists with what a state knows. `pulumi-language-bench` is a language whose program
//! is its options: it registers that many resources in that shape. `pulumi-converter-bench` lists what a file says exists.
//! `null-engine` runs provider and language with an engine that decides nothing, which is the least that any engine can
//! cost.

pub mod converter;
pub mod fault;
pub mod language;
pub mod program;
pub mod provider;
pub mod steps;
pub mod views;
pub mod world;

use tokio::net::TcpListener;
use tonic::transport::server::{Router, TcpIncoming};

/// The largest message that is taken.
pub const LARGEST_MESSAGE: usize = drystone_plugins::LARGEST_MESSAGE;

/// Serves a plugin on a port of its own, and tells the port as plugins do.
pub async fn serve_plugin(router: Router) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    tell(listener.local_addr()?.port())?;
    router.serve_with_incoming(at_once(listener)).await.map_err(std::io::Error::other)
}

/// Connections that send small answers at once, as those of other plugins do.
#[must_use]
pub fn at_once(listener: TcpListener) -> TcpIncoming {
    TcpIncoming::from(listener).with_nodelay(Some(true))
}

/// The port line: the first line that a plugin prints.
fn tell(port: u16) -> std::io::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{port}")?;
    out.flush()
}
