//! What the resources are surrounded by.

use drystone_engine::{CancelLevel, Cancellation, ProviderError, Severity, Surroundings};
use drystone_model::Urn;
use jiff::Timestamp;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Tells people something about a resource.
pub type Log = Arc<dyn Fn(&Urn, Severity, String) + Send + Sync>;

/// What the package is given by whoever runs it.
#[derive(Clone)]
pub struct Settings {
    /// The program's folder, which relative paths start from.
    pub directory: PathBuf,
    /// Time and randomness.
    pub surroundings: Arc<dyn Surroundings>,
    /// Where commands say what they print.
    pub log: Log,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// What every resource of one operation shares.
#[derive(Debug)]
pub(crate) struct World {
    settings: Settings,
    cancellation: Cancellation,
    /// Who wrote which path in this operation.
    written: Mutex<HashMap<PathBuf, Urn>>,
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, cancellation: Cancellation::default(), written: Mutex::default() }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.settings.directory
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.settings.surroundings.now()
    }

    /// Fresh randomness.
    pub(crate) fn randomness(&self) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(self.settings.surroundings.seed())
    }

    pub(crate) fn log(&self, urn: &Urn, severity: Severity, message: String) {
        (self.settings.log)(urn, severity, message);
    }

    pub(crate) fn cancel(&self) {
        self.cancellation.request(CancelLevel::Graceful);
    }

    /// Waits until it is asked to stop.
    pub(crate) async fn cancelled(&self) {
        self.cancellation.requested(CancelLevel::Graceful).await;
    }

    /// Remembers that a resource writes a path. Two resources that write the same one would undo each other.
    pub(crate) fn claim(&self, path: &Path, urn: &Urn) -> Result<(), ProviderError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match written.get(path) {
            Some(other) if other != urn => Err(ProviderError::new(format!(
                "`{}` is written by `{}` already; two resources cannot share a path",
                path.display(),
                other.name()
            ))),
            _ => {
                written.insert(path.to_owned(), urn.clone());
                Ok(())
            }
        }
    }

    /// Whether something newer stands at a path by now, so that what is deleted is no longer there: a replacement at
    /// the same place, or a resource that took it over under another name.
    pub(crate) fn is_taken_over(&self, path: &Path) -> bool {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }
}
