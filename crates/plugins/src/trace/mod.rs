//! A log of all calls, as the stock CLI writes it to the file of `PULUMI_DEBUG_GRPC`: a JSON line when a call begins
//! and one when it has ended, each with the messages in the JSON form of protobuf.
//!
//! The log holds secrets in clear; it is for finding faults.

mod json;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use prost::Message;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tonic::Status;

/// What every message looks like.
const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// An open log. Copies write to the same file.
#[derive(Debug, Clone)]
pub struct CallLog {
    file: Arc<Mutex<File>>,
    pool: DescriptorPool,
}

impl CallLog {
    /// Appends to a file, which only its owner may read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = Arc::new(Mutex::new(options.open(path)?));
        let pool = DescriptorPool::decode(DESCRIPTORS).map_err(io::Error::other)?;
        Ok(Self { file, pool })
    }

    /// Messages of one method: what is asked and what is answered.
    fn method(&self, name: &str) -> Option<(MessageDescriptor, MessageDescriptor)> {
        let (service, method) = name.strip_prefix('/')?.split_once('/')?;
        let service = self.pool.get_service_by_name(service)?;
        let method = service.methods().find(|candidate| candidate.name() == method)?;
        Some((method.input(), method.output()))
    }

    fn write(&self, entry: &Map<String, Value>) {
        let line = Value::from(entry.clone()).to_string() + "\n";
        // A log that cannot be written must not fail what it logs.
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

/// One side of a conversation: the log, and what says whose it is. Without a log nothing is done at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    log: Option<(CallLog, Value)>,
}

impl Trace {
    /// Calls that we answer.
    pub(crate) fn server(log: Option<&CallLog>) -> Self {
        Self { log: log.map(|log| (log.clone(), json!({"mode": "server"}))) }
    }

    /// Calls that we make, to a plugin of that kind and name.
    pub(crate) fn client(log: Option<&CallLog>, kind: &str, name: &str) -> Self {
        let metadata = match name {
            "" => json!({"kind": kind, "mode": "client"}),
            name => json!({"kind": kind, "mode": "client", "name": name}),
        };
        Self { log: log.map(|log| (log.clone(), metadata)) }
    }

    /// Writes down that a call begins.
    pub(crate) fn begin(&self, method: &str, request: &impl Message) -> OpenCall {
        let Some((log, metadata)) = &self.log else { return OpenCall(None) };
        let messages = log.method(method);
        let mut entry = Map::new();
        entry.insert("method".to_owned(), json!(method));
        if let Some((asked, _)) = &messages {
            entry.insert("request".to_owned(), json::of(asked, &request.encode_to_vec()));
        }
        entry.insert("metadata".to_owned(), metadata.clone());
        entry.insert("progress".to_owned(), json!("request_started"));
        entry.insert("timestamp".to_owned(), json!(Timestamp::now().to_string()));
        log.write(&entry);
        let answer = messages.map(|(_, answer)| answer);
        OpenCall(Some(Box::new(Open { log: log.clone(), entry, answer, begun: Instant::now() })))
    }
}

/// A call that has begun.
#[derive(Debug)]
#[must_use]
pub(crate) struct OpenCall(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    log: CallLog,
    entry: Map<String, Value>,
    answer: Option<MessageDescriptor>,
    begun: Instant,
}

impl OpenCall {
    /// Writes down how the call ended.
    pub(crate) fn end(self, outcome: Result<&impl Message, &Status>) {
        let Some(open) = self.0 else { return };
        let Open { log, mut entry, answer, begun } = *open;
        match (outcome, answer) {
            (Ok(message), Some(answer)) => {
                entry.insert("response".to_owned(), json::of(&answer, &message.encode_to_vec()));
            }
            (Ok(_), None) => {}
            (Err(status), _) => {
                let text = format!("rpc error: code = {:?} desc = {}", status.code(), status.message());
                entry.insert("errors".to_owned(), json!([text]));
            }
        }
        entry.insert("progress".to_owned(), json!("response_completed"));
        entry.insert("timestamp".to_owned(), json!(Timestamp::now().to_string()));
        entry.insert("duration".to_owned(), json!(nanoseconds(begun.elapsed())));
        log.write(&entry);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
