//! Where events go for programs to read: a file, or a stream that somebody else serves.

use crate::report::{Failure, Outcome};
use crate::terminal;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Takes events as JSON, one at a time, and is told when the last one came.
pub(crate) trait EventStream: Send {
    /// Takes one event, without a line break. Must not wait for its reader for long.
    fn send(&mut self, event: String);
    /// Ends the stream and waits until its reader has everything, by a thread of its own: the engine's is waiting.
    fn close(self: Box<Self>);
}

/// Where `--event-log` writes to.
pub(crate) struct EventLog(Target);

enum Target {
    File { file: File, line: Vec<u8>, lost: Option<std::io::Error> },
    Stream(Box<dyn EventStream>),
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Target::File { .. } => "EventLog(file)",
            Target::Stream(_) => "EventLog(stream)",
        })
    }
}

impl EventLog {
    /// A file, emptied when it exists. A reader that follows it sees whole lines.
    pub(crate) fn file(path: &Path) -> Outcome<Self> {
        let create = || -> std::io::Result<File> {
            // In append mode each event is one write at the end, whatever a reader does to the file.
            File::create(path)?;
            File::options().append(true).open(path)
        };
        let file = create().map_err(|error| {
            Failure::configuration(format!("the event log {} cannot be written: {error}", path.display()))
        })?;
        Ok(Self(Target::File { file, line: Vec::new(), lost: None }))
    }

    /// A stream that somebody else serves.
    pub(crate) fn stream(stream: Box<dyn EventStream>) -> Self {
        Self(Target::Stream(stream))
    }

    pub(super) fn write(&mut self, event: &str) {
        match &mut self.0 {
            Target::File { file, line, lost } => {
                line.clear();
                line.extend_from_slice(event.as_bytes());
                line.push(b'\n');
                // A log that cannot be written does not stop an operation; its end says so.
                if let Err(error) = file.write_all(line) {
                    lost.get_or_insert(error);
                }
            }
            Target::Stream(stream) => stream.send(event.to_owned()),
        }
    }

    pub(super) fn close(self) {
        match self.0 {
            Target::Stream(stream) => stream.close(),
            Target::File { lost: Some(error), .. } => {
                terminal::warning(format!("the event log is not complete: {error}"));
            }
            Target::File { .. } => {}
        }
    }
}
