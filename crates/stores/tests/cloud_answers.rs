//! What servers answer, sorted: what passes is tried again, what does not fails at once and says what to do.

#![allow(clippy::unwrap_used)]

use drystone_servers::Scripted;
use drystone_stores::object::{BucketOptions, BucketStore, Fault, open_url, refusal};
use drystone_stores::{Error, Result};
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use url::Url;

const NO_META: &str = "404 Not Found\nContent-Type: application/xml\n\n<Error><Code>NoSuchKey</Code></Error>";
const NO_STACKS: &str = "200 OK\nContent-Type: application/xml\n\n<ListBucketResult><Name>b</Name>\
                         <Prefix></Prefix><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys>\
                         <IsTruncated>false</IsTruncated></ListBucketResult>";

fn said(status: &str, code: &str) -> String {
    format!(
        "{status}\nContent-Type: application/xml\n\n<Error><Code>{code}</Code><Message>No.</Message></Error>"
    )
}

/// Opens a bucket on a server that answers so, and then that it is empty.
async fn open(answers: &[&str], parameters: &str) -> (Result<BucketStore>, Vec<String>) {
    let script: Vec<&str> = answers.iter().copied().chain([NO_META, NO_STACKS]).collect();
    let server = Scripted::answering(&script);
    let url = format!("s3://acme?endpoint=http://127.0.0.1:{}{parameters}", server.port());
    let options = BucketOptions {
        patience: Duration::from_secs(5),
        answer_timeout: Duration::from_secs(5),
        ..BucketOptions::default()
    };
    let opened = open_url(&Url::parse(&url).unwrap(), options, keys).await;
    (opened, server.asked())
}

fn keys(name: &str) -> Option<String> {
    match name {
        "AWS_ACCESS_KEY_ID" => Some("AKIA".to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some("secret".to_owned()),
        _ => None,
    }
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    for answer in [
        said("503 Slow Down", "SlowDown"),
        said("500 Internal Server Error", "InternalError"),
        said("400 Bad Request", "RequestTimeout"),
        said("429 Too Many Requests", "TooManyRequests"),
        said("408 Request Timeout", ""),
        "502 Bad Gateway\n\n<html>the gateway is tired".to_owned(),
    ] {
        let (opened, asked) = open(&[&answer, &answer], "").await;
        opened.unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(asked.len(), 4, "{answer}");
    }
}

#[tokio::test]
async fn what_does_not_pass_fails_at_once() {
    for (status, code, fault, kind) in [
        ("404 Not Found", "NoSuchBucket", Fault::NoBucket, ErrorKind::NotFound),
        ("403 Forbidden", "InvalidAccessKeyId", Fault::Credentials, ErrorKind::PermissionDenied),
        ("403 Forbidden", "SignatureDoesNotMatch", Fault::Credentials, ErrorKind::PermissionDenied),
        ("403 Forbidden", "AccessDenied", Fault::Forbidden, ErrorKind::PermissionDenied),
        ("403 Forbidden", "RequestTimeTooSkewed", Fault::Clock, ErrorKind::InvalidInput),
        ("400 Bad Request", "InvalidArgument", Fault::Request, ErrorKind::InvalidInput),
        ("501 Not Implemented", "NotImplemented", Fault::Request, ErrorKind::InvalidInput),
    ] {
        let began = Instant::now();
        let (opened, asked) = open(&[&said(status, code)], "").await;
        let error = opened.unwrap_err();
        assert_eq!(refusal(&error).map(drystone_stores::object::Refusal::fault), Some(fault), "{error}");
        let Error::Io { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), kind, "{error}");
        assert!(error.to_string().contains(code), "{error}");
        assert_eq!(asked.len(), 1, "{code}");
        assert!(began.elapsed() < Duration::from_secs(3), "{code}");
    }
}

#[tokio::test]
async fn credentials_that_expired_are_renewed_and_asked_with_again() {
    let expired = said("400 Bad Request", "ExpiredToken");
    let (opened, asked) = open(&[&expired], "").await;
    opened.unwrap();
    assert_eq!(asked.len(), 3);
    let (opened, asked) = open(&[&expired, &expired, &expired], "").await;
    let error = opened.unwrap_err();
    assert_eq!(refusal(&error).map(drystone_stores::object::Refusal::fault), Some(Fault::Expired), "{error}");
    assert_eq!(asked.len(), 3);
}

#[tokio::test]
async fn a_bucket_in_another_region_is_found_there() {
    let moved = "301 Moved Permanently\nx-amz-bucket-region: eu-central-1\n\n\
                 <Error><Code>PermanentRedirect</Code></Error>";
    let malformed = "400 Bad Request\n\n<Error><Code>AuthorizationHeaderMalformed</Code>\
                     <Message>expecting eu-central-1</Message><Region>eu-central-1</Region></Error>";
    for (answer, parameters) in [(moved, ""), (malformed, ""), (moved, "&region=us-west-2")] {
        let (opened, asked) = open(&[answer], parameters).await;
        opened.unwrap();
        let signed_for = |head: &String| {
            let credential = head.split("Credential=").nth(1).unwrap();
            credential.split('/').nth(2).unwrap().to_owned()
        };
        let first = if parameters.is_empty() { "us-east-1" } else { "us-west-2" };
        let regions: Vec<String> = asked.iter().map(signed_for).collect();
        assert_eq!(regions, [first, "eu-central-1", "eu-central-1"]);
    }
    let nowhere = "301 Moved Permanently\n\n<Error><Code>PermanentRedirect</Code></Error>";
    let (opened, asked) = open(&[nowhere], "").await;
    assert!(opened.unwrap_err().to_string().contains("another region"));
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up_after_a_while() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("s3://acme?endpoint=http://{}", silent.local_addr().unwrap());
    let options = BucketOptions {
        patience: Duration::from_millis(500),
        answer_timeout: Duration::from_millis(200),
        ..BucketOptions::default()
    };
    let began = Instant::now();
    let error = open_url(&Url::parse(&url).unwrap(), options, keys).await.unwrap_err();
    assert!(error.to_string().contains("no answer for 0.2 seconds"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn objects_are_written_with_the_encryption_that_the_url_asks_for() {
    let created = "200 OK\nETag: \"1\"\n\n";
    let script = [NO_META, NO_STACKS, created];
    let server = Scripted::answering(&script);
    let url =
        format!("s3://acme?endpoint=http://127.0.0.1:{}&ssetype=aws:kms&kmskeyid=alias/state", server.port());
    let options = BucketOptions { patience: Duration::from_secs(1), ..BucketOptions::default() };
    let store = open_url(&Url::parse(&url).unwrap(), options, keys).await.unwrap();
    // What comes of it does not matter: the server says yes to everything, and understands nothing.
    store.probe().await.unwrap_err();
    let asked = server.asked();
    let put = asked.iter().find(|head| head.starts_with("PUT ")).unwrap().to_ascii_lowercase();
    assert!(put.contains("x-amz-server-side-encryption: aws:kms\r\n"), "{put}");
    assert!(put.contains("x-amz-server-side-encryption-aws-kms-key-id: alias/state\r\n"), "{put}");
    assert!(put.contains("if-none-match: *\r\n"), "{put}");
}
