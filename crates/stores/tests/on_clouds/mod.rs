//! Stores on the servers that stand in for the clouds.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use drystone_servers::Cloud;
use drystone_stores::conformance::Fixture;
use drystone_stores::object::{BucketOptions, BucketStore, DiyOptions, open_url};
use drystone_stores::{Result, Store};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::Runtime;
use url::Url;

/// Leases that expire soon enough to be waited for, and not so soon that a busy machine loses them.
pub(crate) const TTL: Duration = Duration::from_secs(2);

pub(crate) fn options() -> BucketOptions {
    let diy = DiyOptions { checkpoint_interval: None, ..DiyOptions::default() };
    BucketOptions { diy, lease_ttl: TTL, patience: Duration::from_secs(20), ..BucketOptions::default() }
}

/// Waits until a holder that fell silent counts as dead. Servers tell the time in whole seconds.
pub(crate) fn outlast_leases() {
    std::thread::sleep(TTL + Duration::from_millis(2_100));
}

/// Opens a bucket of a server.
pub(crate) async fn open(cloud: &'static Cloud, url: &str, options: BucketOptions) -> Result<BucketStore> {
    open_url(&Url::parse(url).unwrap(), options, |name| cloud.variable(name)).await
}

/// The part of a server's bucket that one test has.
pub(crate) struct Part {
    cloud: &'static Cloud,
    url: String,
    options: BucketOptions,
}

impl Part {
    pub(crate) fn of(cloud: &'static Cloud) -> Self {
        Self { cloud, url: cloud.url(), options: options() }
    }
}

impl Fixture for Part {
    fn client(&self) -> Box<dyn Store> {
        Box::new(wait_for(open(self.cloud, &self.url, self.options.clone())).expect("a store"))
    }

    fn let_leases_expire(&self) {
        outlast_leases();
    }
}

/// Waits for something from within a test's own runtime. What it leaves running goes on beside all tests.
pub(crate) fn wait_for<T: Send>(work: impl Future<Output = T> + Send) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().expect("a runtime"));
    std::thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join().expect("no panic"))
}
