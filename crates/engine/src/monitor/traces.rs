//! How the program came to what a plugin registers for it.
//!
//! A component that a provider constructs, or a method that it runs, registers from another process, whose own trace
//! ends at that process. It is handed a word for the trace that led to it, and gives that word with what it registers.

use crate::deployment::Deployment;
use drystone_model::StackFrame;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The traces that led to what plugins do just now, by their words.
#[derive(Debug, Default)]
pub(crate) struct Traces(Mutex<HashMap<String, Vec<StackFrame>>>);

impl Traces {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<StackFrame>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the trace that a word stands for before a request's own. A word that nobody was given changes nothing.
    pub(super) fn lead(&self, word: &str, own: &mut Vec<StackFrame>) {
        if let Some(before) = self.lock().get(word) {
            own.splice(0..0, before.iter().cloned());
        }
    }
}

/// A trace that a plugin may build on, until this is dropped.
#[derive(Debug)]
pub(super) struct Lent {
    deployment: Arc<Deployment>,
    /// What stands for it; empty when there is no trace.
    pub(super) word: String,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.deployment.monitor.traces.lock().remove(&self.word);
    }
}

impl Deployment {
    /// Lends the trace of a request to the plugin that carries it out.
    pub(super) fn lend_trace(self: &Arc<Self>, trace: &[StackFrame]) -> Lent {
        let mut word = String::new();
        if !trace.is_empty() {
            word = self.surroundings.uuid().to_string();
            self.monitor.traces.lock().insert(word.clone(), trace.to_vec());
        }
        Lent { deployment: Arc::clone(self), word }
    }
}
