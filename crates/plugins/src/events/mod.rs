//! Events for whoever drives us: the Automation API serves a stream, and we send one JSON text for each event.

#[cfg(test)]
mod tests;

use crate::proto::pulumirpc::{EventRequest, events_client::EventsClient};
use std::time::Duration;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Status, transport::Endpoint};

/// How long whoever drives us may take to answer, at the beginning and at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why events do not reach whoever drives us.
#[derive(Debug, thiserror::Error)]
pub enum EventStreamError {
    /// The address is none.
    #[error("`{0}` is not an address of the form `tcp://host:port`")]
    Address(String),
    /// Nobody answers there.
    #[error("nobody takes events at {address}")]
    Unreachable {
        /// The address.
        address: String,
        /// Why.
        source: tonic::transport::Error,
    },
    /// The stream broke; events after that are lost.
    #[error("the event stream broke: {0}")]
    Broken(String),
    /// The end of the stream was not acknowledged.
    #[error("the end of the event stream was not acknowledged within {} s", PATIENCE.as_secs())]
    Silent,
}

/// An open stream of events. Call [`EventStream::close`], or the last events may be lost.
#[derive(Debug)]
pub struct EventStream {
    events: mpsc::UnboundedSender<EventRequest>,
    sending: JoinHandle<Result<(), Status>>,
}

impl EventStream {
    /// Whether the target of an event log is a stream rather than a file.
    #[must_use]
    pub fn is_address(target: &str) -> bool {
        target.starts_with("tcp://")
    }

    /// Opens a stream to `tcp://host:port`.
    pub async fn open(target: &str) -> Result<Self, EventStreamError> {
        let address = target.strip_prefix("tcp://").unwrap_or(target);
        let endpoint = Endpoint::from_shared(format!("http://{address}"))
            .ok()
            .filter(|endpoint| endpoint.uri().port_u16().is_some())
            .ok_or_else(|| EventStreamError::Address(target.to_owned()))?;
        let channel = endpoint
            .connect_timeout(PATIENCE)
            .connect()
            .await
            .map_err(|source| EventStreamError::Unreachable { address: address.to_owned(), source })?;
        let (events, queued) = mpsc::unbounded_channel();
        let mut client = EventsClient::new(channel).max_encoding_message_size(crate::LARGEST_MESSAGE);
        let sending = tokio::spawn(async move {
            let queued = UnboundedReceiverStream::new(queued);
            client.stream_events(queued).await.map(drop)
        });
        Ok(Self { events, sending })
    }

    /// Sends an event, as JSON. Never blocks; that the stream broke is told by [`EventStream::close`].
    pub fn send(&self, event: String) {
        let _ = self.events.send(EventRequest { event });
    }

    /// Ends the stream and waits until everything has arrived.
    pub async fn close(self) -> Result<(), EventStreamError> {
        drop(self.events);
        match timeout(PATIENCE, self.sending).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(status))) => Err(EventStreamError::Broken(status.message().to_owned())),
            Ok(Err(error)) => Err(EventStreamError::Broken(error.to_string())),
            Err(_) => Err(EventStreamError::Silent),
        }
    }
}
