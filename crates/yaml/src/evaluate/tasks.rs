//! What runs while a program is evaluated.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::{JoinError, JoinSet};

/// Starts what waits for promises. Copies start for the same run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    /// Starts something.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spawn(task);
    }

    /// Waits until everything has ended, also what is started meanwhile. A fault in the program that runs, not in the
    /// one that is run, is given back.
    pub(crate) async fn finish(&self) -> Result<(), JoinError> {
        loop {
            let mut started = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
            if started.is_empty() {
                return Ok(());
            }
            while let Some(ended) = started.join_next().await {
                ended?;
            }
        }
    }

    /// What ends everything when it goes.
    pub(crate) fn guard(&self) -> Guard {
        Guard(self.clone())
    }
}

/// Ends everything that was started when it goes: tasks hold the run that holds them.
#[derive(Debug)]
pub(crate) struct Guard(Tasks);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
