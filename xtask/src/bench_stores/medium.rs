//! The media that are measured: a real server each, behind a proxy that counts what goes through and can take its time.

use crate::bench_up::Backend;
use crate::failure::Failure;
use crate::setup;
use drystone_servers::{Asked, Cloud, Postgres, Proxy, Traffic, Wire, minio_of};
use std::cell::Cell;
use std::time::Duration;

/// Which medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Store {
    Minio,
    Postgres,
}

impl Store {
    pub(super) const ALL: [Self; 2] = [Self::Minio, Self::Postgres];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Minio => "minio",
            Self::Postgres => "postgres",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|store| store.name() == word)
    }

    /// Whether a request writes a group of journal entries: creates a segment, inserts a row.
    pub(super) fn is_group(self, asked: &Asked) -> bool {
        match self {
            Self::Minio => {
                let name = asked.what.rsplit('/').next().unwrap_or_default();
                asked.what.starts_with("PUT ")
                    && asked.what.contains("/journals/")
                    && name.len() == 8
                    && name.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Postgres => asked.what.starts_with("WITH fence AS"),
        }
    }

    /// Whether a request writes a whole snapshot: as a revision, or as the checkpoint.
    pub(super) fn is_snapshot(self, asked: &Asked) -> bool {
        match self {
            Self::Minio => {
                asked.what.starts_with("PUT ")
                    && (asked.what.contains("/revisions/") || asked.what.contains("/.pulumi/stacks/"))
            }
            // Both go with one transaction, the revision first.
            Self::Postgres => {
                asked.what.starts_with("INSERT INTO") && asked.what.contains("_drystone_revisions\"")
            }
        }
    }
}

/// A server and the proxy before it.
pub(super) struct Medium {
    pub(super) store: Store,
    server: Server,
}

enum Server {
    Bucket { cloud: Cloud, proxy: Proxy },
    Database { _server: Postgres, proxy: Wire, tables: Cell<usize> },
}

/// How far a medium's proxy had counted.
pub(super) struct Mark {
    traffic: Traffic,
    asked: usize,
}

/// What has gone through since a mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    pub(super) traffic: Traffic,
    pub(super) asked: Vec<Asked>,
}

impl Medium {
    /// Starts a server. PostgreSQL keeps its word as it does out of the box, and waits for its disk.
    pub(super) fn start(store: Store) -> Result<Self, Failure> {
        let server = match store {
            Store::Minio => {
                let cloud = minio_of(setup::ensure(&[&setup::MINIO])?.place(&setup::MINIO)?, "");
                let proxy = Proxy::before(cloud.port());
                Server::Bucket { cloud, proxy }
            }
            Store::Postgres => {
                let peers = setup::ensure(&[&setup::POSTGRES])?;
                let settings = ["fsync=on", "autovacuum=on", "shared_buffers=128MB"];
                let server = Postgres::start_of(peers.place(&setup::POSTGRES)?, &settings);
                let proxy = Wire::before(server.port());
                Server::Database { _server: server, proxy, tables: Cell::new(0) }
            }
        };
        Ok(Self { store, server })
    }

    /// A place on it that nobody has used.
    pub(super) fn place(&self) -> Backend {
        match &self.server {
            Server::Bucket { cloud, proxy } => {
                let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
                let variables = keys.map(|name| (name, cloud.variable(name).unwrap_or_default()));
                let url = format!("{}&region=us-east-1", cloud.url_by(proxy.port()));
                Backend { url, variables: variables.to_vec() }
            }
            Server::Database { proxy, tables, .. } => {
                let table = tables.get() + 1;
                tables.set(table);
                let address = format!("127.0.0.1:{}", proxy.port());
                let url =
                    format!("postgres://drystone@{address}/postgres?sslmode=disable&table=bench_{table}");
                Backend { url, variables: Vec::new() }
            }
        }
    }

    /// Makes every request take longer.
    pub(super) fn slow_down(&self, by: Duration) {
        match &self.server {
            Server::Bucket { proxy, .. } => proxy.slow_down(by),
            Server::Database { proxy, .. } => proxy.slow_down(by),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        let (traffic, asked) = self.seen();
        Mark { traffic, asked: asked.len() }
    }

    pub(super) fn since(&self, mark: &Mark) -> Spent {
        let (now, mut asked) = self.seen();
        let traffic = Traffic {
            requests: now.requests - mark.traffic.requests,
            sent: now.sent - mark.traffic.sent,
            received: now.received - mark.traffic.received,
        };
        Spent { traffic, asked: asked.split_off(mark.asked) }
    }

    fn seen(&self) -> (Traffic, Vec<Asked>) {
        match &self.server {
            Server::Bucket { proxy, .. } => (proxy.traffic(), proxy.asked()),
            Server::Database { proxy, .. } => (proxy.traffic(), proxy.asked()),
        }
    }
}
