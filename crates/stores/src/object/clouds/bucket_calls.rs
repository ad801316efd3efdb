//! What S3 is asked of buckets, and what it answers, in the words of its protocol.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::events::Event;
use serde::Deserialize;
use std::fmt::Write as _;

/// The region that an answer without one means.
const NAMELESS_REGION: &str = "us-east-1";
const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";
/// What S3 leaves as it is in names.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &NAME.remove(b'/');

/// A request about a bucket.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) method: http::Method,
    /// The object, encoded for a URL; nothing for the bucket itself.
    pub(super) key: String,
    pub(super) query: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Call {
    fn new(method: http::Method, query: impl Into<String>) -> Self {
        Self { method, key: String::new(), query: query.into(), headers: Vec::new(), body: String::new() }
    }

    fn with_body(mut self, body: String) -> Self {
        self.headers.push(("content-md5", STANDARD.encode(Md5::digest(body.as_bytes()))));
        self.body = body;
        self
    }

    /// Whether there is such a bucket.
    pub(super) fn look() -> Self {
        Self::new(http::Method::HEAD, "")
    }

    /// Which region it is in.
    pub(super) fn location() -> Self {
        Self::new(http::Method::GET, "location=")
    }

    /// Makes a bucket in a region.
    pub(super) fn create(region: &str) -> Self {
        let call = Self::new(http::Method::PUT, "");
        // The oldest region is the only one that may not be named.
        if region == NAMELESS_REGION {
            return call;
        }
        call.with_body(format!(
            "<CreateBucketConfiguration xmlns=\"{NAMESPACE}\"><LocationConstraint>{region}</LocationConstraint>\
             </CreateBucketConfiguration>"
        ))
    }

    /// Keeps what is overwritten and deleted.
    pub(super) fn keep_versions() -> Self {
        Self::new(http::Method::PUT, "versioning=").with_body(format!(
            "<VersioningConfiguration xmlns=\"{NAMESPACE}\"><Status>Enabled</Status></VersioningConfiguration>"
        ))
    }

    /// Encrypts what is written from now on.
    pub(super) fn encrypt() -> Self {
        Self::new(http::Method::PUT, "encryption=").with_body(format!(
            "<ServerSideEncryptionConfiguration xmlns=\"{NAMESPACE}\"><Rule><ApplyServerSideEncryptionByDefault>\
             <SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>\
             <BucketKeyEnabled>true</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>"
        ))
    }

    /// Lets nobody in who is not of the account.
    pub(super) fn keep_others_out(bucket: &str, account: &str, region: &str) -> Self {
        let partition = match region {
            region if region.starts_with("cn-") => "aws-cn",
            region if region.starts_with("us-gov-") => "aws-us-gov",
            region if region.starts_with("us-isob-") => "aws-iso-b",
            region if region.starts_with("us-iso-") => "aws-iso",
            region if region.starts_with("eusc-") => "aws-eusc",
            _ => "aws",
        };
        let policy = serde_json::json!({
            "Version": "2012-10-17",
            "Statement": [{
                "Sid": "DenyExternalAccess",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [
                    format!("arn:{partition}:s3:::{bucket}"),
                    format!("arn:{partition}:s3:::{bucket}/*"),
                ],
                "Condition": { "StringNotEquals": { "aws:PrincipalAccount": account } },
            }],
        });
        Self::new(http::Method::PUT, "policy=").with_body(policy.to_string())
    }

    /// Copies an object of another bucket here, under the same name.
    pub(super) fn copy(from: &str, key: &str, owner: Option<&str>) -> Self {
        let key = utf8_percent_encode(key, PATH).to_string();
        let mut call = Self::new(http::Method::PUT, "");
        call.headers.push(("x-amz-copy-source", format!("/{from}/{key}")));
        call.headers.extend(owner.map(|owner| ("x-amz-source-expected-bucket-owner", owner.to_owned())));
        Self { key, ..call }
    }

    /// A page of the versions of all objects whose keys begin with a text, after those that another page ended with.
    pub(super) fn versions(prefix: &str, after: Option<&Marker>) -> Self {
        let encoded = |text| utf8_percent_encode(text, NAME).to_string();
        // The names stand in the order in which they are signed.
        let mut query = String::new();
        if let Some(Marker { key, .. }) = after {
            let _ = write!(query, "key-marker={}&", encoded(key));
        }
        if !prefix.is_empty() {
            let _ = write!(query, "prefix={}&", encoded(prefix));
        }
        if let Some(Marker { version, .. }) = after {
            let _ = write!(query, "version-id-marker={}&", encoded(version));
        }
        query.push_str("versions=");
        Self::new(http::Method::GET, query)
    }

    /// Deletes versions for good, at most a thousand at a time.
    pub(super) fn delete(versions: &[ObjectVersion]) -> Self {
        let mut body = format!("<Delete xmlns=\"{NAMESPACE}\"><Quiet>true</Quiet>");
        for ObjectVersion { key, version, .. } in versions {
            let (key, version) = (quick_xml::escape::escape(key), quick_xml::escape::escape(version));
            let _ = write!(body, "<Object><Key>{key}</Key><VersionId>{version}</VersionId></Object>");
        }
        body.push_str("</Delete>");
        Self::new(http::Method::POST, "delete=").with_body(body)
    }

    /// Deletes a bucket that has nothing in it.
    pub(super) fn delete_bucket() -> Self {
        Self::new(http::Method::DELETE, "")
    }
}

/// One content that an object has or had, or that it was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObjectVersion {
    /// The object.
    pub key: String,
    /// Which content of it.
    pub version: String,
    /// When it was written, RFC 3339.
    pub modified: String,
    /// Whether it was deleted then, rather than written.
    pub is_deletion: bool,
}

/// What a page of versions ended with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Marker {
    key: String,
    version: String,
}

/// The region that an answer names.
pub(super) fn read_location(answer: &str) -> String {
    #[derive(Deserialize, Default)]
    struct Location {
        #[serde(rename = "$text", default)]
        region: String,
    }
    let location: Location = quick_xml::de::from_str(answer).unwrap_or_default();
    match location.region.as_str() {
        "" => NAMELESS_REGION.to_owned(),
        // The first region in Europe had a name of its own.
        "EU" => "eu-west-1".to_owned(),
        region => region.to_owned(),
    }
}

/// The account that an answer of the token service names.
pub(super) fn read_account(answer: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "GetCallerIdentityResult")]
        result: Caller,
    }
    #[derive(Deserialize)]
    struct Caller {
        #[serde(rename = "Account")]
        account: String,
    }
    let answer: Answer = quick_xml::de::from_str(answer).ok()?;
    Some(answer.result.account).filter(|account| account.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A page of versions, and what the next one begins after.
pub(super) fn read_versions(answer: &str) -> Result<(Vec<ObjectVersion>, Option<Marker>), quick_xml::Error> {
    let mut reader = quick_xml::Reader::from_str(answer);
    let mut versions: Vec<ObjectVersion> = Vec::new();
    let mut next = Marker::default();
    let mut within: Vec<String> = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Start(tag) => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                if matches!(name.as_str(), "Version" | "DeleteMarker") {
                    let is_deletion = name == "DeleteMarker";
                    versions.push(ObjectVersion { is_deletion, ..ObjectVersion::default() });
                }
                within.push(name);
            }
            Event::End(_) => drop(within.pop()),
            Event::Eof => break,
            event => {
                let Some(text) = text_of(&event) else { continue };
                let place: Vec<&str> = within.iter().skip(1).map(String::as_str).collect();
                match (place.as_slice(), versions.last_mut()) {
                    (["Version" | "DeleteMarker", "Key"], Some(version)) => version.key.push_str(&text),
                    (["Version" | "DeleteMarker", "VersionId"], Some(version)) => {
                        version.version.push_str(&text);
                    }
                    (["Version" | "DeleteMarker", "LastModified"], Some(version)) => {
                        version.modified.push_str(&text);
                    }
                    (["NextKeyMarker"], _) => next.key.push_str(&text),
                    (["NextVersionIdMarker"], _) => next.version.push_str(&text),
                    _ => {}
                }
            }
        }
    }
    Ok((versions, Some(next).filter(|next| !next.key.is_empty())))
}

/// The text that an event is, or that a reference in it stands for.
fn text_of(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Text(text) => text.decode().ok().map(std::borrow::Cow::into_owned),
        Event::GeneralRef(reference) => {
            let name = reference.decode().ok()?;
            quick_xml::escape::unescape(&format!("&{name};")).ok().map(std::borrow::Cow::into_owned)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let answer = |inside: &str| {
            format!(
                "<?xml version=\"1.0\"?>\n<LocationConstraint xmlns=\"{NAMESPACE}\">{inside}</LocationConstraint>"
            )
        };
        assert_eq!(read_location(&answer("")), "us-east-1");
        assert_eq!(read_location(&answer("EU")), "eu-west-1");
        assert_eq!(read_location(&answer("ap-south-1")), "ap-south-1");
        assert_eq!(read_location(&format!("<LocationConstraint xmlns=\"{NAMESPACE}\"/>")), "us-east-1");
        let caller = "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
            <GetCallerIdentityResult><Arn>arn:aws:sts::123456789012:user/moto</Arn><UserId>A</UserId>\
            <Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>";
        assert_eq!(read_account(caller).as_deref(), Some("123456789012"));
        assert_eq!(read_account("<Error><Code>AccessDenied</Code></Error>"), None);
    }

    #[test]
    fn versions_and_deletions_are_read_in_whatever_order_they_come() {
        let page = "<ListVersionsResult><Name>b</Name><NextKeyMarker>a&amp;b</NextKeyMarker>\
            <NextVersionIdMarker>v3</NextVersionIdMarker>\
            <Version><Key>a&amp;b</Key><VersionId>v1</VersionId><Owner><ID>x</ID></Owner></Version>\
            <DeleteMarker><Key>c</Key><VersionId>v2</VersionId></DeleteMarker>\
            <Version><Key>d</Key><VersionId>v3</VersionId></Version></ListVersionsResult>";
        let of = |key: &str, version: &str, modified: &str, is_deletion| ObjectVersion {
            key: key.to_owned(),
            version: version.to_owned(),
            modified: modified.to_owned(),
            is_deletion,
        };
        let (versions, next) = read_versions(page).unwrap();
        assert_eq!(versions, [of("a&b", "v1", "", false), of("c", "v2", "", true), of("d", "v3", "", false)]);
        assert_eq!(next, Some(Marker { key: "a&b".to_owned(), version: "v3".to_owned() }));
        assert_eq!(read_versions("<ListVersionsResult/>").unwrap(), (vec![], None));
    }

    #[test]
    fn names_are_encoded_where_they_stand() {
        let call = Call::copy("old", "cdkd/Parent~Child/us-east-1/a b+c.json", Some("123456789012"));
        assert_eq!(call.key, "cdkd/Parent~Child/us-east-1/a%20b%2Bc.json");
        assert_eq!(call.headers[0].1, "/old/cdkd/Parent~Child/us-east-1/a%20b%2Bc.json");
        let after = Marker { key: "a/b".to_owned(), version: "v=1".to_owned() };
        let query = Call::versions("", Some(&after)).query;
        assert_eq!(query, "key-marker=a%2Fb&version-id-marker=v%3D1&versions=");
        assert_eq!(
            Call::versions("a b", Some(&after)).query.find("prefix=a%20b&"),
            Some("key-marker=a%2Fb&".len())
        );
        assert_eq!(Call::versions("a", None).query, "prefix=a&versions=");
        let version = ObjectVersion { key: "a/b".to_owned(), ..ObjectVersion::default() };
        assert!(Call::delete(&[version]).body.contains("<Object><Key>a/b</Key>"));
    }
}
