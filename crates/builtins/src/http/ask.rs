//! One question to a server, within limits.

use crate::fields::Fields;
use crate::kind::Answer;
use crate::world::World;
use drystone_engine::ProviderError;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;
use tokio::sync::oneshot;
use ureq::http::{self, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

/// The largest body that is taken: it goes into the state.
const LARGEST_BODY: u64 = 16 << 20;

/// How long a server may take to be reached.
const CONNECTING: Duration = Duration::from_secs(30);

/// A question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    url: Url,
    /// Whether the address must not be shown.
    hidden: bool,
    method: String,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    timeout: Duration,
    retry: Retry,
}

#[derive(Debug, Clone, Copy)]
struct Retry {
    attempts: i64,
    pause: Duration,
    longest: Duration,
}

/// What a server answered.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// An address that can be asked: an absolute one of HTTP.
pub(super) fn address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn milliseconds(value: Option<i64>, otherwise: u64) -> Duration {
    Duration::from_millis(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(otherwise))
}

impl Question {
    pub(super) fn new(inputs: &Fields) -> Answer<Self> {
        let url = inputs.text("url").and_then(address);
        let url = url.ok_or_else(|| ProviderError::new("`url` is no address of `http://` or `https://`"))?;
        let part = |key: &str| inputs.value("retry")?.get(key)?.as_number()?.as_i64();
        Ok(Self {
            url,
            hidden: inputs.is_secret("url"),
            method: inputs.text("method").unwrap_or("GET").to_owned(),
            headers: inputs.map("requestHeaders"),
            body: inputs.text("requestBody").map(str::to_owned),
            timeout: milliseconds(inputs.whole("requestTimeoutMs"), 30_000),
            retry: Retry {
                attempts: part("attempts").unwrap_or_default(),
                pause: milliseconds(part("minDelayMs"), 1_000),
                longest: milliseconds(part("maxDelayMs"), 30_000),
            },
        })
    }

    /// The address without what only its owner should know: names and passwords, and the query.
    fn shown(&self) -> String {
        if self.hidden {
            return "the address".to_owned();
        }
        let mut url = self.url.clone();
        // Only an address without a host has no place for them.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        format!("`{url}`")
    }

    /// Asks, again if it has to. A cancellation does not wait for the server.
    pub(super) async fn ask(self, world: &World, limit: Option<Duration>) -> Answer<Answered> {
        let shown = self.shown();
        let within = limit.unwrap_or(Duration::MAX);
        let failed = |why: String| ProviderError::new(format!("{shown} cannot be read: {why}"));
        tokio::select! {
            answered = self.attempts() => answered.map_err(failed),
            () = world.cancelled() => Err(failed("it was cancelled".to_owned())),
            () = tokio::time::sleep(within.min(Duration::from_secs(1 << 30))) => {
                Err(failed("its time limit is over".to_owned()))
            }
        }
    }

    async fn attempts(self) -> Result<Answered, String> {
        let mut pause = self.retry.pause.min(self.retry.longest);
        let mut left = self.retry.attempts;
        loop {
            let answered = self.clone().attempt().await;
            let passing = match &answered {
                Ok(answered) => answered.status == 429 || (answered.status >= 500 && answered.status != 501),
                Err(failure) => failure.passing,
            };
            if left <= 0 || !passing {
                return answered.map_err(|failure| failure.why);
            }
            left -= 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.retry.longest);
        }
    }

    /// Asks once, in a thread that nobody has to wait for.
    async fn attempt(self) -> Result<Answered, Failure> {
        let (done, answered) = oneshot::channel();
        let thread = std::thread::Builder::new().name("http".to_owned());
        let started = thread.spawn(move || {
            // Nobody is left to hear it when it was cancelled.
            let _ = done.send(self.call());
        });
        started.map_err(|error| Failure { why: error.to_string(), passing: true })?;
        answered.await.unwrap_or_else(|_| Err(Failure { why: "it was given up".to_owned(), passing: false }))
    }

    fn call(self) -> Result<Answered, Failure> {
        let mut request = http::Request::builder().method(self.method.as_str()).uri(self.url.as_str());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(self.body.clone().unwrap_or_default());
        let request = request.map_err(|_| Failure {
            why: "a header is not one that HTTP allows".to_owned(),
            passing: false,
        })?;
        let mut response = self.agent().run(request).map_err(Failure::from)?;
        let headers = joined(&response);
        let mut body = Vec::new();
        let reader = response.body_mut().with_config().limit(u64::MAX).reader();
        let read = reader.take(LARGEST_BODY + 1).read_to_end(&mut body);
        read.map_err(|error| Failure { why: format!("the answer was cut: {error}"), passing: true })?;
        if body.len() as u64 > LARGEST_BODY {
            return Err(Failure { why: "the answer is larger than 16 MiB".to_owned(), passing: false });
        }
        Ok(Answered { status: response.status().as_u16(), headers, body })
    }

    fn agent(&self) -> Agent {
        // The certificates that this machine trusts, so that those of a company count.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_connect(Some(self.timeout.min(CONNECTING)))
            .timeout_global(Some(self.timeout));
        // What is on this machine is not behind a proxy.
        let config = if self.is_here() { config.proxy(None) } else { config };
        config.build().new_agent()
    }

    fn is_here(&self) -> bool {
        let host = self.url.as_str().parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        let host = host.unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

/// The headers by name; several of a name are joined.
fn joined(response: &http::Response<Body>) -> BTreeMap<String, String> {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|joined| *joined = format!("{joined}, {value}"))
            .or_insert(value);
    }
    headers
}

/// Why there is no answer.
#[derive(Debug)]
struct Failure {
    why: String,
    /// Whether another attempt may go better.
    passing: bool,
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        let passing = matches!(
            error,
            ureq::Error::Io(_)
                | ureq::Error::Timeout(_)
                | ureq::Error::ConnectionFailed
                | ureq::Error::HostNotFound
        );
        // The words of other errors may repeat the address.
        let why = match &error {
            ureq::Error::BadUri(_) => "it is no address".to_owned(),
            _ => error.to_string(),
        };
        Self { why, passing }
    }
}
