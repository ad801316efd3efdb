//! `--event-log tcp://HOST:PORT`: events for the Automation API, which serves the stream.

use crate::display::EventStream;
use crate::report::{Failure, Outcome};
use drystone_plugins::process;
use drystone_plugins::proto::pulumirpc::EventRequest;
use drystone_plugins::proto::pulumirpc::events_client::EventsClient;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long whoever serves the stream has to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends events from a thread of its own: the one that shows them must not wait, and the engine's may be waiting for
/// that one.
struct Stream {
    sender: UnboundedSender<String>,
    thread: JoinHandle<()>,
}

/// Connects to a stream at `host:port`.
pub(super) fn connect(address: &str) -> Outcome<Box<dyn EventStream>> {
    let failed = |reason: &dyn std::fmt::Display| {
        Failure::configuration(format!("the event log tcp://{address} cannot be written: {reason}"))
            .hint("start whatever reads the events first, or name a file")
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    let (sender, receiver) = unbounded_channel();
    let (answer, connected) = std::sync::mpsc::channel();
    let target = address.to_owned();
    let thread = std::thread::Builder::new()
        .name("event-log".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                match process::connect(&target, PATIENCE).await {
                    Err(error) => drop(answer.send(Err(error.to_string()))),
                    Ok(channel) => {
                        let _ = answer.send(Ok(()));
                        // A reader that went away does not stop an operation.
                        let _ = EventsClient::new(channel).stream_events(requests(receiver)).await;
                    }
                }
            });
        })
        .map_err(|error| failed(&error))?;
    match connected.recv() {
        Ok(Ok(())) => Ok(Box::new(Stream { sender, thread })),
        Ok(Err(reason)) => Err(failed(&reason)),
        Err(error) => Err(failed(&error)),
    }
}

/// Events as the stream takes them, until the last.
fn requests(mut receiver: UnboundedReceiver<String>) -> impl futures::Stream<Item = EventRequest> {
    futures::stream::poll_fn(move |context| {
        receiver.poll_recv(context).map(|event| event.map(|event| EventRequest { event }))
    })
}

impl EventStream for Stream {
    fn send(&mut self, event: String) {
        let _ = self.sender.send(event);
    }

    fn close(self: Box<Self>) {
        let Self { sender, thread } = *self;
        drop(sender);
        let _ = thread.join();
    }
}
