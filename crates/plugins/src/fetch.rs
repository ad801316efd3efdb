//! Fetching what stands at an `http://` or `https://` address: assets, archives, plugins.
//!
//! It goes to a file without a name first: a tar file says the size of a member before its bytes, and a ZIP file is
//! read from its end. A server that is busy or broken is asked again, as the stock CLI does; unlike there, an answer that
//! is none (404 and the like) is an error, not content.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::IpAddr;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;
use ureq::http::{Response, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// How far fetching goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many bytes may come.
    pub(crate) bytes: u64,
    /// How often it is tried.
    pub(crate) attempts: u32,
    /// How long the first pause between attempts is; each is twice as long as the one before.
    pub(crate) pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 4 << 30, attempts: 5, pause: Duration::from_millis(100) }
    }
}

/// How long a server may ask us to wait before we try again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// How long everything may take.
const WHOLE: Duration = Duration::from_secs(30 * 60);

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    // The certificates that this machine trusts, so that those of a company count.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .timeout_global(Some(WHOLE))
        .build()
        .new_agent()
});

/// What stands at an address.
pub(crate) fn fetch(uri: &str, limits: Limits) -> io::Result<File> {
    let failed =
        |why: &dyn std::fmt::Display| io::Error::other(format!("cannot fetch '{}': {why}", shown(uri)));
    let mut pause = limits.pause;
    for attempt in 1.. {
        let last = attempt >= limits.attempts;
        match get(uri) {
            Ok(mut response) if response.status().is_success() => {
                return save(&mut response, limits.bytes).map_err(|error| failed(&error));
            }
            Ok(response) => {
                let status = response.status();
                if last || !(status.is_server_error() || status.as_u16() == 429) {
                    return Err(failed(&format!("the server answered {status}")));
                }
                sleep(wanted_pause(&response).unwrap_or_default());
            }
            Err(error) if last || !is_passing(&error) => return Err(failed(&error)),
            Err(_) => {}
        }
        sleep(pause);
        pause *= 2;
    }
    Err(failed(&"it was never tried"))
}

fn get(uri: &str) -> Result<Response<Body>, ureq::Error> {
    let request = AGENT.get(uri);
    // What is on this machine is not behind a proxy.
    if is_here(uri) { request.config().proxy(None).build().call() } else { request.call() }
}

fn is_here(uri: &str) -> bool {
    let host = uri.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Whether another attempt may go better.
fn is_passing(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::HostNotFound
    )
}

/// How long the server asks us to wait, within reason.
fn wanted_pause(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

fn save(response: &mut Response<Body>, most: u64) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    let body = response.body_mut().with_config().limit(u64::MAX).reader();
    let copied = io::copy(&mut body.take(most.saturating_add(1)), &mut file)?;
    if copied > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    file.rewind()?;
    Ok(file)
}

/// An address without what only its owner should know: names and passwords, and the signature of a query.
pub(crate) fn shown(uri: &str) -> String {
    let plain = uri.split(['?', '#']).next().unwrap_or(uri);
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or(host))
        }
        None => plain.to_owned(),
    }
}
