//! A machine whose clock and ids come from the simulation.

use drystone_stores::Host;
use jiff::{SignedDuration, Timestamp};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A simulated process: time moves by a second with each look at the clock.
#[derive(Debug)]
pub struct SimHost {
    process: u64,
    clock: AtomicI64,
    ids: AtomicU64,
}

impl SimHost {
    /// A process.
    #[must_use]
    pub fn new(process: u64) -> Self {
        Self { process, clock: AtomicI64::new(0), ids: AtomicU64::new(0) }
    }
}

impl Host for SimHost {
    fn now(&self) -> Timestamp {
        // Each process starts a day after the one before, so that time never runs backwards between them.
        let day = i64::try_from(self.process).unwrap_or(0) * 86_400;
        let second = self.clock.fetch_add(1, Ordering::Relaxed);
        Timestamp::UNIX_EPOCH
            .saturating_add(SignedDuration::from_secs(day + second))
            .unwrap_or(Timestamp::MAX)
    }

    fn new_id(&self) -> String {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        format!("{:08x}-0000-4000-8000-{id:012x}", self.process)
    }

    fn user(&self) -> String {
        "sim".to_owned()
    }

    fn hostname(&self) -> String {
        "machine".to_owned()
    }

    fn pid(&self) -> u32 {
        u32::try_from(self.process).unwrap_or(u32::MAX)
    }

    fn is_running(&self, _: u32) -> Option<bool> {
        None
    }

    fn has_threads(&self) -> bool {
        false
    }
}
