//! `s3://`: Amazon's S3, and whatever speaks its language.

use super::address::Address;
use super::aws::{Sources, Wanted};
use super::connection::{Connection, no_retries};
use super::{Environment, built};
use crate::Result;
use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use std::net::IpAddr;
use std::sync::Arc;
use url::Url;

/// The parameters that Pulumi's URLs take, today and in the time of the SDK before.
pub(super) const PARAMETERS: &[&str] = &[
    "region",
    "endpoint",
    "profile",
    "role",
    "use_path_style",
    "s3ForcePathStyle",
    "hostname_immutable",
    "disable_https",
    "disableSSL",
    "ssetype",
    "kmskeyid",
    "anonymous",
    "dualstack",
    "fips",
    "accelerate",
    "awssdk",
    // How a request is protected, how often the other SDK repeats one: here every request is signed with its content,
    // and repeated at our own pace. They are taken so that URLs can be shared.
    "request_checksum_calculation",
    "response_checksum_validation",
    "rate_limiter_capacity",
];

/// Where nothing says which region a bucket is in, this one is asked: it answers with the right one.
pub(super) const FIRST_GUESS: &str = "us-east-1";

/// Opens a bucket in a region, or in the one that the settings say.
pub(super) async fn open(
    address: &Address,
    environment: &Environment,
    connection: Connection,
    region: Option<String>,
) -> Result<Arc<dyn ObjectStore>> {
    let sources = Sources::new(Wanted::by(address), environment, &connection);
    let region = match region {
        Some(region) => region,
        None => sources.region().await.unwrap_or_else(|| FIRST_GUESS.to_owned()),
    };
    let place = Place::new(address, environment, &region)?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&address.bucket)
        .with_region(&region)
        .with_endpoint(place.endpoint)
        .with_virtual_hosted_style_request(place.names_bucket)
        .with_retry(no_retries())
        .with_http_connector(connection);
    if let Some((kind, key)) = encryption(address)? {
        builder = builder.with_config(encryption_key("aws_server_side_encryption", address)?, kind);
        if let Some(key) = key {
            builder = builder.with_config(encryption_key("aws_sse_kms_key_id", address)?, key);
        }
    }
    builder = match address.flag("anonymous")? {
        Some(true) => builder.with_skip_signature(true),
        _ => builder.with_credentials(Arc::new(sources.credentials(&region).await?)),
    };
    Ok(Arc::new(builder.build().map_err(built(address))?))
}

fn encryption_key(name: &str, address: &Address) -> Result<AmazonS3ConfigKey> {
    name.parse().map_err(built(address))
}

/// How objects are encrypted at rest, and with which key.
fn encryption(address: &Address) -> Result<Option<(&'static str, Option<&str>)>> {
    let key = address.text("kmskeyid");
    let kind = address.one_of("ssetype", &["AES256", "aws:kms", "aws:kms:dsse"])?;
    Ok(kind.or(key.map(|_| "aws:kms")).map(|kind| (kind, key)))
}

/// Where requests go.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    pub(super) endpoint: String,
    /// Whether the endpoint's name has the bucket's in it.
    pub(super) names_bucket: bool,
}

impl Place {
    pub(super) fn new(address: &Address, environment: &Environment, region: &str) -> Result<Self> {
        let flag = |name| Ok::<_, crate::Error>(address.flag(name)?.unwrap_or(false));
        let plain = flag("disable_https")? || flag("disableSSL")?;
        let by_path = flag("use_path_style")? || flag("s3ForcePathStyle")?;
        let given = address.text("endpoint").map(str::to_owned);
        let given = given.or_else(|| environment.get("AWS_ENDPOINT_URL_S3"));
        let given = given.or_else(|| environment.get("AWS_ENDPOINT_URL"));
        let url = match given {
            Some(given) => endpoint_url(address, &given, plain)?,
            None => {
                let host = amazon(region, flag("dualstack")?, flag("fips")?, flag("accelerate")?);
                endpoint_url(address, &host, plain)?
            }
        };
        let is_fixed = flag("hostname_immutable")? || is_address(&url);
        if by_path || is_fixed || !can_be_in_host_name(&address.bucket, &url) {
            return Ok(Self { endpoint: trimmed(&url), names_bucket: false });
        }
        let host = url.host_str().unwrap_or_default();
        let mut endpoint = url.clone();
        endpoint
            .set_host(Some(&format!("{}.{host}", address.bucket)))
            .map_err(|error| address.refused(format!("the endpoint `{url}`: {error}")))?;
        Ok(Self { endpoint: trimmed(&endpoint), names_bucket: true })
    }
}

/// An endpoint with its scheme, which the SDK before did not ask for.
fn endpoint_url(address: &Address, given: &str, plain: bool) -> Result<Url> {
    let text = match (given.contains("://"), plain) {
        (true, _) => given.to_owned(),
        (false, true) => format!("http://{given}"),
        (false, false) => format!("https://{given}"),
    };
    let url = Url::parse(&text)
        .map_err(|error| address.refused(format!("the endpoint `{given}` is no URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(address.refused(format!("the endpoint `{given}` is no URL of a server")));
    }
    Ok(url)
}

/// The host of Amazon's S3 in a region.
fn amazon(region: &str, dualstack: bool, fips: bool, accelerate: bool) -> String {
    if accelerate {
        return format!("s3-accelerate{}.amazonaws.com", if dualstack { ".dualstack" } else { "" });
    }
    let suffix = suffix(region);
    let service = if fips { "s3-fips" } else { "s3" };
    let stack = if dualstack { "dualstack." } else { "" };
    format!("{service}.{stack}{region}.{suffix}")
}

/// What the hosts of a region end in.
pub(super) fn suffix(region: &str) -> &'static str {
    match region {
        region if region.starts_with("cn-") => "amazonaws.com.cn",
        region if region.starts_with("eusc-") => "amazonaws.eu",
        region if region.starts_with("us-isob-") => "sc2s.sgov.gov",
        region if region.starts_with("us-iso-") => "c2s.ic.gov",
        _ => "amazonaws.com",
    }
}

fn is_address(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse::<IpAddr>().is_ok()
}

/// Whether a bucket's name can be a part of a host's. One with dots would not be covered by the server's certificate.
fn can_be_in_host_name(bucket: &str, url: &Url) -> bool {
    let is_label = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    bucket.chars().all(|letter| is_label(letter) || (letter == '.' && url.scheme() == "http"))
}

fn trimmed(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, variables: &[(&str, &str)], region: &str) -> Result<(String, bool)> {
        let address = Address::parse(&Url::parse(url).unwrap(), PARAMETERS)?;
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let environment = Environment::new(move |wanted: &str| {
            variables.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        });
        let place = Place::new(&address, &environment, region)?;
        Ok((place.endpoint, place.names_bucket))
    }

    #[test]
    fn requests_go_where_the_url_says() {
        for (url, region, endpoint, names_bucket) in [
            ("s3://acme", "eu-west-1", "https://acme.s3.eu-west-1.amazonaws.com", true),
            ("s3://acme?use_path_style=true", "eu-west-1", "https://s3.eu-west-1.amazonaws.com", false),
            ("s3://acme?s3ForcePathStyle=true", "eu-west-1", "https://s3.eu-west-1.amazonaws.com", false),
            ("s3://a.b", "eu-west-1", "https://s3.eu-west-1.amazonaws.com", false),
            (
                "s3://acme?dualstack=true",
                "us-east-1",
                "https://acme.s3.dualstack.us-east-1.amazonaws.com",
                true,
            ),
            (
                "s3://acme?fips=true",
                "us-gov-west-1",
                "https://acme.s3-fips.us-gov-west-1.amazonaws.com",
                true,
            ),
            ("s3://acme", "cn-north-1", "https://acme.s3.cn-north-1.amazonaws.com.cn", true),
            ("s3://acme?accelerate=true", "eu-west-1", "https://acme.s3-accelerate.amazonaws.com", true),
            ("s3://acme?endpoint=https://r2.example", "auto", "https://acme.r2.example", true),
            (
                "s3://acme?endpoint=minio:9000&disableSSL=true&s3ForcePathStyle=true",
                "x",
                "http://minio:9000",
                false,
            ),
            ("s3://acme?endpoint=minio:9000", "x", "https://acme.minio:9000", true),
            ("s3://acme?endpoint=http://127.0.0.1:9000/", "x", "http://127.0.0.1:9000", false),
            ("s3://acme?endpoint=http://[::1]:9000", "x", "http://[::1]:9000", false),
            (
                "s3://acme?endpoint=https://s3.example&hostname_immutable=true",
                "x",
                "https://s3.example",
                false,
            ),
        ] {
            assert_eq!(place(url, &[], region).unwrap(), (endpoint.to_owned(), names_bucket), "{url}");
        }
    }

    #[test]
    fn an_endpoint_comes_from_the_environment_where_the_url_has_none() {
        let variables =
            [("AWS_ENDPOINT_URL_S3", "http://10.0.0.1:9000"), ("AWS_ENDPOINT_URL", "http://10.0.0.2")];
        assert_eq!(place("s3://acme", &variables, "x").unwrap().0, "http://10.0.0.1:9000");
        assert_eq!(place("s3://acme", &variables[1..], "x").unwrap().0, "http://10.0.0.2");
        let given = place("s3://acme?endpoint=http://10.0.0.3", &variables, "x").unwrap();
        assert_eq!(given.0, "http://10.0.0.3");
        assert!(place("s3://acme?endpoint=ftp://here", &[], "x").is_err());
        assert!(place("s3://acme?disableSSL=banana", &[], "x").is_err());
    }

    #[test]
    fn objects_are_encrypted_as_the_url_says() {
        let read = |url: &str| {
            let address = Address::parse(&Url::parse(url).unwrap(), PARAMETERS).unwrap();
            encryption(&address).map(|found| found.map(|(kind, key)| (kind, key.map(str::to_owned))))
        };
        assert_eq!(read("s3://a").unwrap(), None);
        assert_eq!(read("s3://a?ssetype=aes256").unwrap(), Some(("AES256", None)));
        assert_eq!(read("s3://a?kmskeyid=alias/k").unwrap(), Some(("aws:kms", Some("alias/k".to_owned()))));
        assert_eq!(
            read("s3://a?ssetype=aws:kms:dsse&kmskeyid=k").unwrap(),
            Some(("aws:kms:dsse", Some("k".to_owned())))
        );
        assert!(read("s3://a?ssetype=none").is_err());
    }
}
