//! The conformance suite on the local store, plain and in its variants.

use drystone_stores::conformance::Fixture;
use drystone_stores::local::{Compression, LocalOptions, LocalStore};
use drystone_stores::{Store, conformance_tests};

struct Directory {
    folder: tempfile::TempDir,
    options: LocalOptions,
}

impl Directory {
    fn new(options: LocalOptions) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), options }
    }
}

impl Fixture for Directory {
    fn client(&self) -> Box<dyn Store> {
        Box::new(LocalStore::open(self.folder.path(), self.options.clone()).expect("a store"))
    }
}

mod plain {
    use super::*;
    conformance_tests!(Directory::new(LocalOptions::default()));
}

mod gzip {
    use super::*;
    conformance_tests!(Directory::new(LocalOptions {
        compression: Compression::Gzip,
        ..LocalOptions::default()
    }));
}

mod zstd_with_every_checkpoint_retained {
    use super::*;
    conformance_tests!(Directory::new(LocalOptions {
        compression: Compression::Zstd,
        retain_checkpoints: true,
        ..LocalOptions::default()
    }));
}
