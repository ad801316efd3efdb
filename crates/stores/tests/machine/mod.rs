//! A machine whose clock is set by the test.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use drystone_stores::Host;
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct TestMachine {
    /// Shared by all machines: nobody's clock is wrong.
    now: Arc<AtomicI64>,
    ids: Arc<AtomicU64>,
    pid: u32,
}

impl TestMachine {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { now: Arc::new(AtomicI64::new(1_794_767_498_943)), ids: Arc::default(), pid: 1 })
    }

    /// Another machine at the same time.
    pub(crate) fn beside(&self, pid: u32) -> Arc<Self> {
        Arc::new(Self { now: Arc::clone(&self.now), ids: Arc::clone(&self.ids), pid })
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, by: Duration) {
        self.now.fetch_add(by.as_millis().try_into().unwrap(), Ordering::SeqCst);
    }
}

impl Host for TestMachine {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now.load(Ordering::SeqCst)).unwrap()
    }

    fn new_id(&self) -> String {
        format!("{:08}-test", self.ids.fetch_add(1, Ordering::SeqCst))
    }

    fn user(&self) -> String {
        "ana".to_owned()
    }

    fn hostname(&self) -> String {
        "laptop".to_owned()
    }

    fn pid(&self) -> u32 {
        self.pid
    }

    fn is_running(&self, _pid: u32) -> Option<bool> {
        None
    }
}
