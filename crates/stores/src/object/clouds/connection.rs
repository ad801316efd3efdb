//! The connection to a cloud: one HTTP client that sends each request once, and says what the server really answered.
//!
//! Nothing here sends a request again: whether one was carried out is settled by `requests`, which knows what it sent.
//! Redirects are not followed either, since a request is signed for where it goes.

use crate::object::faults::{Fault, Refusal};
use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use hyper::body::{Body, Frame, SizeHint};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{ClientOptions, RetryConfig};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(5);
/// The slowest link on which a write is still waited for, in bytes a second.
const SLOWEST: u64 = 64 * 1024;
const AGENT: &str = concat!("drystone/", env!("CARGO_PKG_VERSION"));

/// Connects one bucket with its server.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    client: reqwest::Client,
    /// How long an answer may take, beside the time that sending needs.
    timeout: Duration,
    /// Whether credentials were refused since they were last renewed.
    refused: Arc<AtomicBool>,
}

/// The server did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer for {} seconds", after.as_secs_f32())]
struct Silence {
    after: Duration,
}

impl Connection {
    /// A client for one bucket. `certificates` are more that are trusted, in PEM.
    pub(super) fn new(timeout: Duration, certificates: Option<&[u8]>) -> Result<Self, reqwest::Error> {
        // Whoever was first chose the cryptography for the whole process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(AGENT)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECTING.min(timeout))
            .tcp_keepalive(timeout)
            .tcp_nodelay(true);
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        {
            builder = builder.tcp_user_timeout(timeout);
        }
        if let Some(pem) = certificates {
            builder = builder.tls_certs_merge(reqwest::Certificate::from_pem_bundle(pem)?);
        }
        Ok(Self { client: builder.build()?, timeout, refused: Arc::default() })
    }

    /// Set when a server no longer takes the credentials; whoever renews them takes it back.
    pub(super) fn refused(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.refused)
    }

    /// The client itself, for whoever asks for credentials.
    pub(super) fn client(&self) -> reqwest::Client {
        self.client.clone()
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let sending = request.body().content_length() as u64 / SLOWEST;
        let after = self.timeout + Duration::from_secs(sending);
        match tokio::time::timeout(after, self.client.call(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(silence(after)),
        }
    }

    /// Turns a refusal into an error that carries what the server said. What is a refusal of a condition, or says that
    /// an object is not there, stays an answer.
    async fn sorted(&self, answer: HttpResponse) -> Result<HttpResponse, HttpError> {
        let status = answer.status();
        if status.is_success() || is_about_a_condition(status) {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        let body = body.bytes().await?;
        let refusal = Refusal::of(status, &parts.headers, &body);
        if status == StatusCode::NOT_FOUND && refusal.fault() != Fault::NoBucket {
            return Ok(HttpResponse::from_parts(parts, body.into()));
        }
        if matches!(refusal.fault(), Fault::Expired | Fault::Credentials) {
            self.refused.store(true, Ordering::Relaxed);
        }
        Err(HttpError::new(HttpErrorKind::Unknown, refusal))
    }
}

fn silence(after: Duration) -> HttpError {
    HttpError::new(HttpErrorKind::Timeout, Silence { after })
}

fn is_about_a_condition(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT)
}

#[async_trait]
impl HttpService for Connection {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.sorted(self.send(request).await?).await?;
        let (parts, body) = answer.into_parts();
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(Impatient::new(body, self.timeout))))
    }
}

impl HttpConnector for Connection {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

/// A body that fails when nothing more of it comes.
struct Impatient {
    body: HttpResponseBody,
    after: Duration,
    silence: Pin<Box<Sleep>>,
}

impl Impatient {
    fn new(body: HttpResponseBody, after: Duration) -> Self {
        Self { body, after, silence: Box::pin(tokio::time::sleep(after)) }
    }
}

impl Body for Impatient {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let after = self.after;
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(part) => {
                self.silence.as_mut().reset(Instant::now() + after);
                Poll::Ready(part)
            }
            Poll::Pending => self.silence.as_mut().poll(context).map(|()| Some(Err(silence(after)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The client's own retries, which are off.
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: Duration::ZERO, ..RetryConfig::default() }
}
