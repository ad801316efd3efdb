//! Time, randomness and cancellation, from outside so that a simulation can replay them.

use jiff::Timestamp;
use tokio::sync::watch;
use uuid::Uuid;

/// What the engine does not make up itself.
pub trait Surroundings: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;
    /// A fresh id.
    fn uuid(&self) -> Uuid;
    /// A seed for the names that a provider makes up.
    fn seed(&self) -> [u8; 32];
}

/// The real ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemSurroundings;

impl Surroundings for SystemSurroundings {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }

    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        let (first, second) = seed.split_at_mut(16);
        first.copy_from_slice(Uuid::new_v4().as_bytes());
        second.copy_from_slice(Uuid::new_v4().as_bytes());
        seed
    }
}

/// How urgently an operation is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CancelLevel {
    /// Not at all.
    #[default]
    None,
    /// Nothing new begins; providers are told, and what runs is waited for and recorded.
    Graceful,
    /// At once. What runs stays in the journal as a pending operation.
    Terminate,
}

/// Asks an operation to stop. Copies ask the same operation.
#[derive(Debug, Clone)]
pub struct Cancellation(watch::Sender<CancelLevel>);

impl Default for Cancellation {
    fn default() -> Self {
        Self(watch::Sender::new(CancelLevel::None))
    }
}

impl Cancellation {
    /// Asks for that much; asking for less than before changes nothing.
    pub fn request(&self, level: CancelLevel) {
        self.0.send_if_modified(|current| {
            let more = level > *current;
            *current = (*current).max(level);
            more
        });
    }

    /// How urgently it was asked so far.
    #[must_use]
    pub fn level(&self) -> CancelLevel {
        *self.0.borrow()
    }

    /// Waits until at least that much is asked.
    pub async fn requested(&self, level: CancelLevel) {
        let mut watched = self.0.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = watched.wait_for(|current| *current >= level).await;
    }
}
