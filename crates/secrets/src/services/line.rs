//! The line to a service: one HTTP client, within limits, that asks again when it may help.

use super::KeyServiceFault;
use std::fmt;
use std::io::Read;
use std::net::IpAddr;
use std::thread::sleep;
use std::time::Duration;
use ureq::Agent;
use ureq::http::header::RETRY_AFTER;
use ureq::http::request::Parts;
use ureq::http::{HeaderMap, Request, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use zeroize::Zeroizing;

/// How long a service is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long one answer may take.
    pub answer: Duration,
    /// How often it is asked.
    pub attempts: u32,
    /// The first pause between two attempts; each is twice as long as the one before.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { answer: Duration::from_secs(20), attempts: 3, pause: Duration::from_millis(200) }
    }
}

/// How long a service may take to be reached.
const CONNECTING: Duration = Duration::from_secs(10);

/// How long the services of a cloud's own machines are waited for. They answer at once or are not there.
const NEARBY: Duration = Duration::from_secs(1);

/// How long a service may ask us to wait before we try again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The largest answer that is taken. None that is right comes near it.
const LARGEST: u64 = 1 << 20;

/// A client for one service.
pub(super) struct Line {
    limits: Limits,
    tls: TlsConfig,
}

/// What a service answered.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// It may hold a key.
    pub(super) body: Zeroizing<Vec<u8>>,
}

impl Answer {
    pub(super) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the server is busy or broken, so that another attempt may go better.
    fn is_passing(&self) -> bool {
        self.status == 429 || (self.status >= 500 && self.status != 501)
    }

    fn wanted_pause(&self) -> Duration {
        let seconds =
            self.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        seconds.map(Duration::from_secs).unwrap_or_default().min(LONGEST_PAUSE)
    }
}

impl Line {
    /// A line that trusts the certificates of this machine, or what `tls` says.
    pub(super) fn new(limits: Limits, tls: Option<TlsConfig>) -> Self {
        // The certificates that this machine trusts, so that those of a company count.
        let machine = || TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        Self { limits, tls: tls.unwrap_or_else(machine) }
    }

    /// Asks until there is an answer that is not for passing reasons, or no attempt is left. Sealing and opening change
    /// nothing at the service, so that asking twice is as good as once.
    pub(super) fn ask(
        &self,
        parts: &Parts,
        body: &[u8],
        is_busy: impl Fn(&Answer) -> bool,
    ) -> Result<Answer, KeyServiceFault> {
        let mut pause = self.limits.pause;
        let mut left = self.limits.attempts;
        loop {
            left = left.saturating_sub(1);
            let answered = self.attempt(parts, body);
            let wanted = match &answered {
                Ok(answer) if answer.is_passing() || is_busy(answer) => answer.wanted_pause(),
                Err(silence) if silence.passing => Duration::ZERO,
                _ => Duration::MAX,
            };
            if left == 0 || wanted == Duration::MAX {
                return answered.map_err(|silence| KeyServiceFault::Silent {
                    host: host(&parts.uri),
                    reason: silence.reason,
                });
            }
            sleep(pause.max(wanted));
            pause *= 2;
        }
    }

    /// Asks once.
    pub(super) fn attempt(&self, parts: &Parts, body: &[u8]) -> Result<Answer, Silence> {
        let request = Request::from_parts(parts.clone(), body);
        let mut response = self.agent(&parts.uri).run(request).map_err(Silence::from)?;
        let mut body = Zeroizing::new(Vec::with_capacity(4096));
        let reader = response.body_mut().with_config().limit(u64::MAX).reader();
        reader
            .take(LARGEST + 1)
            .read_to_end(&mut body)
            .map_err(|error| Silence { reason: format!("the answer was cut: {error}"), passing: true })?;
        if body.len() as u64 > LARGEST {
            return Err(Silence { reason: "the answer is larger than 1 MiB".to_owned(), passing: false });
        }
        let headers = std::mem::take(response.headers_mut());
        Ok(Answer { status: response.status().as_u16(), headers, body })
    }

    fn agent(&self, uri: &Uri) -> Agent {
        let nearby = is_nearby(uri);
        let (connecting, whole) =
            if nearby { (NEARBY, NEARBY) } else { (CONNECTING.min(self.limits.answer), self.limits.answer) };
        let config = Agent::config_builder()
            .tls_config(self.tls.clone())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(connecting))
            .timeout_global(Some(whole));
        // What is on this machine, or right beside it, is not behind a proxy.
        let config = if nearby || is_here(uri) { config.proxy(None) } else { config };
        config.build().new_agent()
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Silence {
    pub(super) reason: String,
    passing: bool,
}

impl From<ureq::Error> for Silence {
    fn from(error: ureq::Error) -> Self {
        let passing =
            matches!(error, ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed);
        let reason = match &error {
            ureq::Error::Timeout(_) => "it took too long".to_owned(),
            ureq::Error::HostNotFound => "there is no such host".to_owned(),
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        Self { reason, passing }
    }
}

/// The host and port of an address.
pub(super) fn host(uri: &Uri) -> String {
    uri.authority().map_or_else(String::new, |authority| {
        authority.as_str().rsplit('@').next().unwrap_or_default().to_owned()
    })
}

fn address(uri: &Uri) -> Option<IpAddr> {
    uri.host()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether an address is on this machine.
fn is_here(uri: &Uri) -> bool {
    uri.host() == Some("localhost") || address(uri).is_some_and(|address| address.is_loopback())
}

/// Whether it is the service that tells a cloud's machines about themselves.
fn is_nearby(uri: &Uri) -> bool {
    let link_local = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address.is_unique_local(),
    };
    uri.host() == Some("metadata.google.internal") || address(uri).is_some_and(link_local)
}
