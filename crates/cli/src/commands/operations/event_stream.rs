//! `--event-log tcp://HOST:PORT`: events for the Automation API, which serves the stream.

use crate::display::EventStream;
use crate::report::{Failure, Outcome};
use drystone_plugins::events;
use std::thread::JoinHandle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

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
    let (sender, mut receiver) = unbounded_channel();
    let (answer, connected) = std::sync::mpsc::channel();
    let target = address.to_owned();
    let thread = std::thread::Builder::new()
        .name("event-log".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                match events::EventStream::open(&target).await {
                    Err(error) => drop(answer.send(Err(error.to_string()))),
                    Ok(stream) => {
                        let _ = answer.send(Ok(()));
                        while let Some(event) = receiver.recv().await {
                            stream.send(event);
                        }
                        // A reader that went away does not stop an operation.
                        let _ = stream.close().await;
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
