//! What the tests of languages share: an engine that says yes to everything, and the SDKs.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

pub(crate) mod engine;
pub(crate) mod host;
pub(crate) mod sdk;

use drystone_plugins::process::{Line, LineSink, Stream};
use drystone_workspace::Environment;
use std::sync::{Arc, Mutex};

/// Lines in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<Line>>>);

impl Lines {
    pub(crate) fn sink(&self) -> LineSink {
        let lines = self.0.clone();
        Arc::new(move |line| lines.lock().unwrap().push(line))
    }

    pub(crate) fn of(&self, stream: Stream) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|line| line.stream == stream).map(|line| line.text.clone()).collect()
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|line| line.text.clone()).collect()
    }
}

/// The surroundings of this process, with some variables changed.
pub(crate) fn environment(changed: &[(&str, &str)]) -> Arc<Environment> {
    let changed: Vec<(String, String)> =
        changed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let lookup = move |name: &str| {
        let value = changed.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        value.or_else(|| std::env::var(name).ok())
    };
    Arc::new(Environment::new(lookup, None, std::env::current_dir().unwrap()))
}
