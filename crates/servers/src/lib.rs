//! Real servers for tests, started on this machine, and a proxy in front of them that misbehaves.
//!
//! A server is found by the variable that `cargo xtask setup` gives it, listens on the loopback on a free port, and
//! ends with whoever started it, however that ends. The tests of one process share one ([`minio`], [`moto`],
//! [`fake_gcs`], [`azurite`], [`Postgres::shared`]), and each test has a part of its bucket or a table to itself.

mod clouds;
mod gateway;
mod http;
mod postgres;
mod process;
mod proxy;
mod scripted;
mod xml_api;

pub use clouds::{
    AZURITE_KEY, AZURITE_TOKEN, BUCKET, Cloud, azurite, fake_gcs, minio, minio_in, moto, moto_alone,
};
pub use postgres::Postgres;
pub use process::Server;
pub use proxy::{Proxy, Traffic, Trouble};
pub use scripted::Scripted;
