//! Fetching what stands at an `http://` or `https://` address: assets, archives, plugins.
//!
//! It goes to a file first: a tar file says the size of a member before its bytes, and a ZIP file is read from its end.
//! A server that is busy or broken is asked again, as the stock CLI does; unlike there, an answer that is none (404 and
//! the like) is an error, not content, and what has come already is not asked for twice.

mod partial;
#[cfg(test)]
pub(crate) mod server;

pub(crate) use partial::Partial;

use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;
use ureq::config::RedirectAuthHeaders;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED, RETRY_AFTER};
use ureq::http::{HeaderMap, HeaderName, Response, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// How far fetching goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many bytes may come.
    pub(crate) bytes: u64,
    /// How often in a row it is tried in vain.
    pub(crate) attempts: u32,
    /// How long the first pause between attempts is; each is twice as long as the one before.
    pub(crate) pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 4 << 30, attempts: 5, pause: Duration::from_millis(100) }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// Where it stands.
    pub(crate) uri: String,
    /// What kind of content is wanted.
    pub(crate) accept: Option<&'static str>,
    /// Who asks. It stays with the server that it is for.
    pub(crate) authorization: Option<String>,
}

impl Request {
    /// Asks for what stands at an address.
    pub(crate) fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), ..Self::default() }
    }
}

/// How a download goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    /// That much is here.
    Received {
        /// How many bytes.
        bytes: u64,
        /// How many there will be, if the server says.
        total: Option<u64>,
    },
    /// Something went wrong; it is tried again.
    Again {
        /// What.
        cause: String,
    },
}

/// Why something is not fetched.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch '{uri}': {cause}")]
pub(crate) struct FetchError {
    uri: String,
    pub(crate) cause: Cause,
}

impl FetchError {
    /// What is at an address cannot be put down, or is not what it should be.
    pub(crate) fn disk(uri: &str, error: io::Error) -> Self {
        Self { uri: shown(uri), cause: Cause::Disk(error) }
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// The server answered, but not with what stands there.
    #[error("the server answered {status}")]
    Status {
        /// With what.
        status: StatusCode,
        /// What else it said.
        headers: Box<HeaderMap>,
    },
    /// There is too much of it.
    #[error("it is larger than {0} bytes")]
    Large(u64),
    /// There was no answer, or it broke off.
    #[error("{0}")]
    Line(Box<ureq::Error>),
    /// The rest of what came in part does not go with it.
    #[error("the server sent another part than it was asked for")]
    Part,
    /// The disk said no.
    #[error("{0}")]
    Disk(io::Error),
}

impl Cause {
    /// Whether another attempt may go better.
    fn is_passing(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            Self::Line(error) => matches!(
                **error,
                ureq::Error::Io(_)
                    | ureq::Error::Timeout(_)
                    | ureq::Error::ConnectionFailed
                    | ureq::Error::HostNotFound
            ),
            Self::Part => true,
            Self::Large(_) | Self::Disk(_) => false,
        }
    }

    /// How long the server asks us to wait, within reason.
    fn wanted_pause(&self) -> Option<Duration> {
        let Self::Status { headers, .. } = self else { return None };
        let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
    }
}

/// How long a server may ask us to wait before we try again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// How long one answer may take. What has come by then is gone on from.
const WHOLE: Duration = Duration::from_secs(30 * 60);

/// How often a download that always breaks off is gone on with.
const MOST_ATTEMPTS: u32 = 100;

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    // The certificates that this machine trusts, so that those of a company count.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .redirect_auth_headers(RedirectAuthHeaders::SameHost)
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .timeout_global(Some(WHOLE))
        .build()
        .new_agent()
});

/// What stands at an address.
pub(crate) fn fetch(uri: &str, limits: Limits) -> io::Result<File> {
    let partial = Partial::unnamed()?;
    download(&Request::new(uri), limits, partial, &|_| ()).map_err(io::Error::other)
}

/// What stands at an address, from where an earlier download of it broke off. What has come stays in its file if this
/// one breaks off for good, too.
pub(crate) fn download(
    request: &Request,
    limits: Limits,
    mut partial: Partial,
    watch: &dyn Fn(Progress),
) -> Result<File, FetchError> {
    let failed = |cause: Cause| FetchError { uri: shown(&request.uri), cause };
    let (mut pause, mut in_vain) = (limits.pause, 0);
    for _ in 0..MOST_ATTEMPTS {
        let before = partial.length();
        let Err(cause) = attempt(request, limits.bytes, &mut partial, watch) else {
            return partial.into_file().map_err(|error| failed(Cause::Disk(error)));
        };
        if partial.length() > before {
            (pause, in_vain) = (limits.pause, 0);
        }
        in_vain += 1;
        if in_vain >= limits.attempts || !cause.is_passing() {
            partial.leave();
            return Err(failed(cause));
        }
        watch(Progress::Again { cause: cause.to_string() });
        sleep(pause + cause.wanted_pause().unwrap_or_default());
        pause *= 2;
    }
    partial.leave();
    Err(failed(Cause::Part))
}

/// Asks once for what is still missing, and adds what comes.
fn attempt(
    request: &Request,
    most: u64,
    partial: &mut Partial,
    watch: &dyn Fn(Progress),
) -> Result<(), Cause> {
    let mut response = get(request, partial).map_err(|error| Cause::Line(Box::new(error)))?;
    match response.status() {
        StatusCode::PARTIAL_CONTENT if begins_at(&response, partial.length()) => {}
        // Whoever asked for the rest died before using what was whole.
        StatusCode::RANGE_NOT_SATISFIABLE if ends_at(&response, partial.length()) => return Ok(()),
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if partial.length() > 0 => {
            partial.clear().map_err(Cause::Disk)?;
            return Err(Cause::Part);
        }
        StatusCode::OK => {
            let mark = mark(&response);
            partial.begin(&request.uri, mark).map_err(Cause::Disk)?;
        }
        status => {
            return Err(Cause::Status { status, headers: Box::new(response.headers().clone()) });
        }
    }
    let total = header(&response, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    let total = total.map(|rest| partial.length() + rest);
    if total.is_some_and(|total| total > most) {
        return Err(Cause::Large(most));
    }
    let outcome = receive(&mut response, most, total, partial, watch);
    if outcome.is_err() && !partial.can_go_on() {
        partial.clear().map_err(Cause::Disk)?;
    }
    outcome
}

/// Adds what comes to what is here.
fn receive(
    response: &mut Response<Body>,
    most: u64,
    total: Option<u64>,
    partial: &mut Partial,
    watch: &dyn Fn(Progress),
) -> Result<(), Cause> {
    let mut body = response.body_mut().with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 64 << 10];
    loop {
        watch(Progress::Received { bytes: partial.length(), total });
        let read = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Cause::Line(Box::new(ureq::Error::from(error)))),
        };
        if partial.length() + read as u64 > most {
            return Err(Cause::Large(most));
        }
        partial.add(&buffer[..read]).map_err(Cause::Disk)?;
    }
    if total.is_some_and(|total| partial.length() < total) {
        let cut = io::Error::new(io::ErrorKind::UnexpectedEof, "the connection broke off");
        return Err(Cause::Line(Box::new(ureq::Error::from(cut))));
    }
    Ok(())
}

fn get(request: &Request, partial: &Partial) -> Result<Response<Body>, ureq::Error> {
    let mut asked = AGENT.get(&request.uri);
    if let Some(accept) = request.accept {
        asked = asked.header("accept", accept);
    }
    if let Some(authorization) = &request.authorization {
        asked = asked.header("authorization", authorization);
    }
    if let Some(mark) = partial.goes_on(&request.uri) {
        asked = asked.header("range", format!("bytes={}-", partial.length())).header("if-range", mark);
    }
    // What is on this machine is not behind a proxy.
    if is_here(&request.uri) { asked.config().proxy(None).build().call() } else { asked.call() }
}

/// Whether an address is on this machine.
pub(crate) fn is_here(uri: &str) -> bool {
    let host = uri.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Whether the part that comes is the one after what is here.
fn begins_at(response: &Response<Body>, length: u64) -> bool {
    let range = header(response, &CONTENT_RANGE).and_then(|range| range.strip_prefix("bytes "));
    let begin = range.and_then(|range| range.split('-').next()?.trim().parse::<u64>().ok());
    begin == Some(length)
}

/// Whether there is nothing after what is here.
fn ends_at(response: &Response<Body>, length: u64) -> bool {
    length > 0 && header(response, &CONTENT_RANGE) == Some(&format!("bytes */{length}"))
}

/// What tells whether the rest, asked for later, is of the same content: a mark that is never the same for two contents,
/// or else when it was changed.
fn mark(response: &Response<Body>) -> Option<String> {
    let strong = header(response, &ETAG).filter(|tag| tag.starts_with('"'));
    strong.or_else(|| header(response, &LAST_MODIFIED)).map(str::to_owned)
}

fn header<'a>(response: &'a Response<Body>, name: &HeaderName) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
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

#[cfg(test)]
mod tests;
