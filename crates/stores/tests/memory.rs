//! The conformance suite on the memory store.

use drystone_stores::conformance::Fixture;
use drystone_stores::memory::MemoryStore;
use drystone_stores::{Store, conformance_tests};

#[derive(Default)]
struct Memory(MemoryStore);

impl Fixture for Memory {
    fn client(&self) -> Box<dyn Store> {
        Box::new(self.0.clone())
    }
}

conformance_tests!(Memory::default());
