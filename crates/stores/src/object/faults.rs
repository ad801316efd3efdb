//! Why a server said no, by what can be done about it.
//!
//! The client of the clouds tells most refusals apart by their status alone, and hides the rest in text. What a server
//! really said is therefore taken down where its answer comes in (`clouds::connection`) and travels inside the client's
//! errors as a [`Refusal`], which is found again here.

use http::{HeaderMap, StatusCode};
use object_store::Error as Answer;
use serde::Deserialize;
use std::error::Error as StdError;
use std::fmt;

/// What a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no such bucket or container.
    NoBucket,
    /// There are no credentials, or the server does not know them.
    Credentials,
    /// The credentials were good until lately.
    Expired,
    /// The credentials are known, and may not do this.
    Forbidden,
    /// The bucket stands in another region.
    Region,
    /// The clock of this machine is too far from the server's.
    Clock,
    /// The server is busy, or broken for the moment.
    Busy,
    /// The server does not understand the request, or cannot carry it out.
    Request,
}

/// What a server said instead of doing what it was asked for.
#[derive(Debug, Clone)]
pub struct Refusal {
    fault: Fault,
    status: Option<u16>,
    code: String,
    message: String,
    region: Option<String>,
}

impl Refusal {
    /// What the refusal means.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The region in which the bucket stands, where the server said so.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    /// Credentials that could not be had, before any server was asked.
    pub(super) fn no_credentials(message: impl Into<String>) -> Self {
        Self {
            fault: Fault::Credentials,
            status: None,
            code: String::new(),
            message: message.into(),
            region: None,
        }
    }

    /// What an answer says that is no success.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let said = Said::of(body);
        let code = header("x-ms-error-code").unwrap_or(said.code);
        let region = header("x-amz-bucket-region").or(said.region);
        let fault = sort(status, &code, region.is_some());
        Self { fault, status: Some(status.as_u16()), code, message: said.message, region }
    }
}

/// What the body of a refusal says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    #[serde(rename = "Code")]
    code: String,
    #[serde(rename = "Message")]
    message: String,
    #[serde(rename = "Region")]
    region: Option<String>,
}

impl Said {
    /// S3, Google and Azure answer in XML, token services and some gateways in anything.
    fn of(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim().trim_start_matches('\u{feff}');
        let mut said: Self = quick_xml::de::from_str(text).unwrap_or_default();
        if said.code.is_empty() && said.message.is_empty() {
            said.message = text.chars().take(200).collect();
        }
        // Some of them tell the request's id and time on lines of their own.
        said.message = said.message.lines().next().unwrap_or_default().trim().to_owned();
        said
    }
}

fn sort(status: StatusCode, code: &str, names_region: bool) -> Fault {
    match code {
        "NoSuchBucket" | "ContainerNotFound" | "ContainerDisabled" => Fault::NoBucket,
        "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "RequestExpired" => {
            Fault::Expired
        }
        "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "InvalidToken"
        | "InvalidSecurity"
        | "InvalidClientTokenId"
        | "UnrecognizedClientException"
        | "AuthenticationFailed"
        | "AuthenticationRequired"
        | "NoAuthenticationInformation" => Fault::Credentials,
        "RequestTimeTooSkewed" => Fault::Clock,
        "PermanentRedirect" | "TemporaryRedirect" | "Redirect" | "IllegalLocationConstraintException" => {
            Fault::Region
        }
        "AuthorizationHeaderMalformed" if names_region => Fault::Region,
        "RequestTimeout"
        | "SlowDown"
        | "InternalError"
        | "ServerBusy"
        | "OperationTimedOut"
        | "OperationAborted"
        | "Throttling"
        | "ThrottlingException"
        | "ServiceUnavailable" => Fault::Busy,
        code => sort_by_status(status, code),
    }
}

fn sort_by_status(status: StatusCode, code: &str) -> Fault {
    match status.as_u16() {
        300..=399 => Fault::Region,
        401 => Fault::Expired,
        // The answer to a question about an object without its content has no body to say more.
        400 if code.is_empty() => Fault::Expired,
        403 => Fault::Forbidden,
        408 | 425 | 429 => Fault::Busy,
        501 | 505 => Fault::Request,
        500..=599 => Fault::Busy,
        _ => Fault::Request,
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = match self.fault {
            Fault::NoBucket => "there is no such bucket",
            Fault::Credentials if self.status.is_none() => "there are no credentials to ask with",
            Fault::Credentials => "the server does not know these credentials",
            Fault::Expired => "the credentials are no longer good",
            Fault::Forbidden => "the credentials do not allow this",
            Fault::Region => "the bucket is in another region",
            Fault::Clock => "the clock of this machine is too far from the server's",
            Fault::Busy => "the server is busy or broken",
            Fault::Request => "the server refused the request",
        };
        f.write_str(meaning)?;
        if let Some(region) = self.region.as_ref().filter(|_| self.fault == Fault::Region) {
            write!(f, ", {region}")?;
        }
        let status = self.status.map(|status| status.to_string()).unwrap_or_default();
        let words: Vec<&str> =
            [status.as_str(), self.code.as_str()].into_iter().filter(|word| !word.is_empty()).collect();
        match (words.is_empty(), self.message.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => write!(f, ": {}", self.message),
            (false, true) => write!(f, " ({})", words.join(" ")),
            (false, false) => write!(f, " ({}: {})", words.join(" "), self.message),
        }
    }
}

impl StdError for Refusal {}

/// What a server said, when an error comes from its answer.
#[must_use]
pub fn refusal(error: &crate::Error) -> Option<&Refusal> {
    match error {
        crate::Error::Io { source, .. } => source.get_ref().and_then(|inner| refusal_in(inner)),
        _ => None,
    }
}

/// The refusal that an error carries, at whatever depth.
pub(super) fn refusal_in<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Refusal> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// What becomes of a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Its condition was not met, for whatever reason; what stands there has to be looked at.
    Unmet,
    /// The same request may fare better later: no answer, or a server that is busy or broken. It may have been carried
    /// out.
    Passing,
    /// Other credentials may fare better.
    Expired,
    /// It will fail again.
    Final,
}

impl Outcome {
    pub(super) fn of(error: &Answer) -> Self {
        match error {
            Answer::AlreadyExists { .. } | Answer::Precondition { .. } | Answer::NotModified { .. } => {
                Self::Unmet
            }
            Answer::Unauthenticated { .. } => Self::Expired,
            Answer::Generic { source, .. } => match refusal_in(&**source).map(Refusal::fault) {
                Some(Fault::Expired) => Self::Expired,
                Some(Fault::Busy) => Self::Passing,
                Some(_) => Self::Final,
                None if is_untrusted(&**source) => Self::Final,
                None => Self::Passing,
            },
            _ => Self::Final,
        }
    }
}

/// Whether whoever answered could not prove to be the server.
fn is_untrusted(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|error| {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let tls = tls.or_else(|| error.downcast_ref::<rustls::Error>());
        matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, body: &str) -> Refusal {
        Refusal::of(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes())
    }

    fn s3(status: u16, code: &str) -> Fault {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>No.</Message>\
             <BucketName>b</BucketName><RequestId>1</RequestId></Error>"
        );
        refused(status, &body).fault()
    }

    #[test]
    fn refusals_are_told_apart_by_their_codes() {
        for (status, code, fault) in [
            (404, "NoSuchBucket", Fault::NoBucket),
            (403, "InvalidAccessKeyId", Fault::Credentials),
            (403, "SignatureDoesNotMatch", Fault::Credentials),
            (400, "ExpiredToken", Fault::Expired),
            (403, "AccessDenied", Fault::Forbidden),
            (403, "RequestTimeTooSkewed", Fault::Clock),
            (301, "PermanentRedirect", Fault::Region),
            (400, "RequestTimeout", Fault::Busy),
            (503, "SlowDown", Fault::Busy),
            (500, "InternalError", Fault::Busy),
            (429, "TooManyRequests", Fault::Busy),
            (408, "", Fault::Busy),
            (400, "InvalidArgument", Fault::Request),
            (400, "MalformedXML", Fault::Request),
            (501, "NotImplemented", Fault::Request),
            (400, "AuthorizationHeaderMalformed", Fault::Request),
        ] {
            assert_eq!(s3(status, code), fault, "{status} {code}");
        }
    }

    #[test]
    fn the_region_is_taken_from_the_header_or_the_body() {
        let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message>\
                    <Region>eu-central-1</Region></Error>";
        let said = refused(400, body);
        assert_eq!((said.fault(), said.region()), (Fault::Region, Some("eu-central-1")));
        let mut headers = HeaderMap::new();
        headers.insert("x-amz-bucket-region", "ap-south-1".parse().unwrap());
        let moved = Refusal::of(StatusCode::MOVED_PERMANENTLY, &headers, b"");
        assert_eq!((moved.fault(), moved.region()), (Fault::Region, Some("ap-south-1")));
        assert_eq!(moved.to_string(), "the bucket is in another region, ap-south-1 (301)");
    }

    #[test]
    fn azure_tells_its_codes_in_a_header() {
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-error-code", "ContainerNotFound".parse().unwrap());
        let body = "\u{feff}<?xml version=\"1.0\"?><Error><Code>ContainerNotFound</Code>\
                    <Message>The specified container does not exist.\nRequestId:7\nTime:2026</Message></Error>";
        let said = Refusal::of(StatusCode::NOT_FOUND, &headers, body.as_bytes());
        assert_eq!(
            said.to_string(),
            "there is no such bucket (404 ContainerNotFound: The specified container does not exist.)"
        );
    }

    #[test]
    fn answers_of_something_else_are_shown_and_do_not_fill_the_screen() {
        let said = refused(502, &format!("<html><body>{}</body></html>", "gateway ".repeat(100)));
        assert_eq!(said.fault(), Fault::Busy);
        assert!(said.to_string().len() < 300, "{said}");
        assert_eq!(refused(403, "").to_string(), "the credentials do not allow this (403)");
    }
}
