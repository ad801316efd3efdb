//! Reaching a server that has only just come up.

use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::transport::{Channel, Endpoint};

/// Why a server cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is none.
    #[error("`{address}` is not an address of the form `host:port`")]
    Address {
        /// The address.
        address: String,
    },
    /// Nobody answered in time.
    #[error("nobody answers at {address} after {} s", waited.as_secs_f32())]
    Silent {
        /// The address.
        address: String,
        /// How long it was tried.
        waited: Duration,
        /// What came of the last try.
        source: Option<tonic::transport::Error>,
    },
}

/// A connection to a server, tried until the deadline.
pub async fn connect(address: &str, deadline: Duration) -> Result<Channel, ConnectError> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .ok()
        .filter(|endpoint| endpoint.uri().port_u16().is_some())
        .ok_or_else(|| ConnectError::Address { address: address.to_owned() })?;
    let end = Instant::now() + deadline;
    let mut pause = Duration::from_millis(5);
    let mut failure = None;
    loop {
        match timeout_at(end, endpoint.connect()).await {
            Ok(Ok(channel)) => return Ok(channel),
            Ok(Err(error)) => failure = Some(error),
            Err(_) => {}
        }
        if Instant::now() + pause >= end {
            return Err(ConnectError::Silent {
                address: address.to_owned(),
                waited: deadline,
                source: failure,
            });
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}
