//! The conformance suite on a bucket, plain and in its variants.

mod bucket;

use bucket::TestBucket;
use drystone_stores::conformance::Fixture;
use drystone_stores::object::{BucketOptions, Compression, DiyOptions};
use drystone_stores::{Store, conformance_tests};
use std::sync::Arc;
use std::time::Duration;

struct Memory {
    bucket: Arc<TestBucket>,
    options: BucketOptions,
}

impl Memory {
    fn new(diy: DiyOptions) -> Self {
        Self { bucket: TestBucket::new(), options: BucketOptions { diy, ..BucketOptions::default() } }
    }

    /// One whose server leaves writes unanswered, those that it carried out and those that it did not.
    fn losing_answers() -> Self {
        let memory = Self::new(DiyOptions::default());
        memory.bucket.lose_answers(7);
        memory
    }

    /// One in which the requests of several clients meet.
    fn mixing_requests() -> Self {
        let memory = Self::new(DiyOptions::default());
        memory.bucket.mix_requests(0x9e37_79b9_7f4a_7c15);
        memory
    }
}

impl Fixture for Memory {
    fn client(&self) -> Box<dyn Store> {
        Box::new(self.bucket.client(&self.options))
    }

    fn let_leases_expire(&self) {
        self.bucket.advance(self.options.lease_ttl + Duration::from_secs(2));
    }
}

mod plain {
    use super::*;
    conformance_tests!(Memory::new(DiyOptions::default()));
}

mod gzip {
    use super::*;
    conformance_tests!(Memory::new(DiyOptions { compression: Compression::Gzip, ..DiyOptions::default() }));
}

mod zstd_with_every_checkpoint_retained {
    use super::*;
    conformance_tests!(Memory::new(DiyOptions {
        compression: Compression::Zstd,
        retain_checkpoints: true,
        ..DiyOptions::default()
    }));
}

mod answers_that_get_lost {
    use super::*;
    conformance_tests!(Memory::losing_answers());
}

mod requests_that_meet {
    use super::*;
    conformance_tests!(Memory::mixing_requests());
}
