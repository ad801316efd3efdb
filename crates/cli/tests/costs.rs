//! What an update costs on each cloud, as the guides say it: requests that do not grow with the stack, and few.

#![allow(clippy::print_stdout)]

mod backends;
mod harness;

use backends::{Place, UP, program};
use drystone_servers::{Cloud, Proxy, Traffic, azurite, fake_gcs, minio};

/// Little more than the guides say that an `up` takes which changes one value: how entries fall into groups varies.
const REQUESTS: u64 = 42;

/// An update of a stack with one value, counted by somebody in between.
fn update(place: &Place, proxy: &Proxy) -> Traffic {
    let sandbox = place.sandbox();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    sandbox.write("Pulumi.yaml", &program("two"));
    let before = proxy.traffic();
    sandbox.ok(&UP);
    let after = proxy.traffic();
    Traffic {
        requests: after.requests - before.requests,
        sent: after.sent - before.sent,
        received: after.received - before.received,
    }
}

fn costs_little(name: &str, place: &Place, proxy: &Proxy) {
    let Traffic { requests, sent, received } = update(place, proxy);
    println!("{name}: {requests} requests, {sent} bytes sent, {received} received");
    assert!(requests > 0, "the proxy was gone round");
    assert!(requests <= REQUESTS, "{name}: {requests}");
}

fn port_of(cloud: &Cloud, variable: &str) -> u16 {
    let address = cloud.variable(variable).expect("a variable");
    address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
}

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn an_update_costs_little_on_s3() {
    let proxy = Proxy::before(minio().port());
    costs_little("S3", &Place::minio_by(proxy.port()), &proxy);
}

#[test]
#[ignore = "needs Azurite: run by cargo xtask test"]
fn an_update_costs_little_on_azure() {
    let proxy = Proxy::before(azurite().port());
    costs_little("Azure", &Place::azurite_by(proxy.port()), &proxy);
}

#[test]
#[ignore = "needs fake-gcs-server: run by cargo xtask test"]
fn an_update_costs_little_on_google_cloud_storage() {
    let proxy = Proxy::before(port_of(fake_gcs(), "STORAGE_EMULATOR_HOST"));
    costs_little("Google Cloud Storage", &Place::fake_gcs_by(proxy.port()), &proxy);
}
