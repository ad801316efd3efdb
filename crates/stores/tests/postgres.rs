//! The conformance suite on a real PostgreSQL server: plain, compressed, and over connections that are slow and cut.

mod database;
mod proxy;

use database::Server;
use drystone_stores::conformance::Fixture;
use drystone_stores::postgres::{Compression, DiyOptions, PostgresOptions};
use drystone_stores::{Store, conformance_tests};
use proxy::Proxy;

struct Database {
    url: String,
    /// How clients get to it.
    way: String,
    options: PostgresOptions,
}

impl Database {
    fn new(diy: DiyOptions) -> Self {
        let url = Server::shared().url();
        Self { way: url.clone(), url, options: PostgresOptions { diy, ..PostgresOptions::default() } }
    }

    /// One to which statements take their time, and of whose connections one is cut in so many statements: in turn
    /// before the server saw the statement, and after it had carried it out.
    fn cut_off(every: u64) -> Self {
        let database = Self::new(DiyOptions::default());
        let proxy = Proxy::start(Server::shared().port());
        proxy.cut_every(every);
        proxy.delay(0x9e37_79b9_7f4a_7c15);
        Self { way: proxy.url(&database.url), ..database }
    }
}

impl Fixture for Database {
    fn client(&self) -> Box<dyn Store> {
        Box::new(database::open(&self.way, &self.options))
    }

    fn let_leases_expire(&self) {
        database::let_leases_expire(Server::shared(), &self.url);
    }
}

mod plain {
    use super::*;
    conformance_tests!(
        Database::new(DiyOptions::default()), #[ignore = "needs PostgreSQL: run by cargo xtask test"]
    );
}

mod gzip {
    use super::*;
    conformance_tests!(
        Database::new(DiyOptions { compression: Compression::Gzip, ..DiyOptions::default() }), #[ignore = "needs PostgreSQL: run by cargo xtask test"]
    );
}

mod connections_that_are_cut {
    use super::*;
    conformance_tests!(Database::cut_off(37), #[ignore = "needs PostgreSQL: run by cargo xtask test"]);
}
