//! Requests that we sign ourselves: those that the client of the clouds cannot send, and those that must say more than it
//! can, such as whom the bucket is expected to belong to. What is not signed along would be refused.

use super::aws::Renewed;
use super::connection::Connection;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue};
use hyper::body::Body;
use object_store::aws::AwsAuthorizer;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpService,
};
use object_store::{ClientOptions, CredentialProvider};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

/// A server answers only if the bucket belongs to the account that this names.
const EXPECTED_OWNER: HeaderName = HeaderName::from_static("x-amz-expected-bucket-owner");

/// A connection to a service in a region.
#[derive(Debug, Clone)]
pub(super) struct Signed {
    pub(super) connection: Connection,
    pub(super) credentials: Arc<Renewed>,
    pub(super) service: &'static str,
    pub(super) region: String,
    /// Whom the bucket is expected to belong to.
    pub(super) owner: Option<String>,
}

impl Signed {
    async fn signed(&self, request: HttpRequest) -> Result<HttpRequest, HttpError> {
        let (parts, body) = request.into_parts();
        let mut request = HttpRequest::from_parts(parts, whole(body).await?.into());
        if let Some(owner) = &self.owner {
            request.headers_mut().insert(EXPECTED_OWNER, HeaderValue::from_str(owner).map_err(unsigned)?);
        }
        let credential = self.credentials.get_credential().await.map_err(unsigned)?;
        AwsAuthorizer::new(&credential, self.service, &self.region)
            .try_authorize(&mut request, None)
            .map_err(unsigned)?;
        Ok(request)
    }
}

#[async_trait]
impl HttpService for Signed {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = self.signed(request).await?;
        self.connection.call(request).await
    }
}

impl HttpConnector for Signed {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

/// A body in one piece, whose digest the signature covers.
async fn whole(body: HttpRequestBody) -> Result<Bytes, HttpError> {
    if let Some(bytes) = body.as_bytes() {
        return Ok(bytes.clone());
    }
    let mut content = BytesMut::with_capacity(body.content_length());
    let mut body = pin!(body);
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Some(data) = frame?.data_ref() {
            content.extend_from_slice(data);
        }
    }
    Ok(content.freeze())
}

fn unsigned<E: std::error::Error + Send + Sync + 'static>(error: E) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, error)
}
