//! AWS KMS: `awskms://ALIAS-OR-ID?region=…`, `awskms:///ARN`.
//!
//! Opening names no key, as in Pulumi: what the service sealed says with which, so that an alias can move on to another
//! key and what it sealed before still opens.

use super::address::Address;
use super::aws_profiles::{Profiles, assume};
use super::fault::told;
use super::line::{Answer, Line, host};
use super::signing::{self, Sources, sign};
use super::{DataKey, KeyService, KeyServiceFault, Surroundings};
use base64::{Engine, engine::general_purpose::STANDARD};
use reqsign_aws_v4::{Credential, RequestSigner};
use reqsign_core::{Signer, hash::hex_sha256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use ureq::http::{Request, Uri};
use zeroize::Zeroizing;

/// The parameters that Pulumi's URLs may have beside `context_…`. The last ones steer an SDK that is not used here.
const PARAMETERS: [&str; 12] = [
    "region",
    "profile",
    "role",
    "endpoint",
    "anonymous",
    "dualstack",
    "fips",
    "awssdk",
    "hostname_immutable",
    "rate_limiter_capacity",
    "request_checksum_calculation",
    "response_checksum_validation",
];

/// A key of AWS KMS.
#[derive(Debug)]
pub(super) struct AwsKms {
    line: Arc<Line>,
    endpoint: Uri,
    key: String,
    /// What is said with each sealing and has to be said again at each opening.
    context: BTreeMap<String, String>,
    signer: Option<Signer<Credential>>,
}

impl AwsKms {
    pub(super) fn open(address: &Address, around: &Surroundings) -> Result<Self, KeyServiceFault> {
        let context = encryption_context(address)?;
        let profiles = Profiles::read(around, address.parameter("profile"))?;
        let region = region(address, around, &profiles)?;
        let endpoint = endpoint(address, around, &profiles, &region)?;
        let line = around.line();
        let world = signing::context(around, &line);
        let signer = if flag(address, "anonymous")? {
            None
        } else {
            let mut sources = profiles.sources(&world, &region)?;
            if let Some(role) = address.parameter("role") {
                if !role.starts_with("arn:") {
                    return Err(KeyServiceFault::Address(format!(
                        "`role` wants the ARN of a role, not `{role}`"
                    )));
                }
                sources = Sources::new("the role gave none").then(assume(role, sources, &world, &region));
            }
            Some(Signer::new(world, sources, RequestSigner::new("kms", &region)))
        };
        Ok(Self { line, endpoint, key: address.key.clone(), context, signer })
    }

    fn ask<T: for<'a> Deserialize<'a>>(
        &self,
        action: &str,
        question: &Question<'_>,
        key: Option<&DataKey>,
    ) -> Result<T, KeyServiceFault> {
        let body = Zeroizing::new(serde_json::to_vec(question).unwrap_or_default());
        let request = Request::post(self.endpoint.clone())
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("TrentService.{action}"))
            .header("x-amz-content-sha256", hex_sha256(&body))
            .body(());
        let request = request.map_err(|_| KeyServiceFault::Address("its endpoint is no URL".to_owned()))?;
        let mut parts = request.into_parts().0;
        if let Some(signer) = &self.signer {
            sign(signer, &mut parts)?;
        }
        let answer = self.line.ask(&parts, &body, |answer| code(answer).contains("Throttling"))?;
        if !answer.is_good() {
            return Err(self.refused(&answer, key));
        }
        serde_json::from_slice(&answer.body)
            .map_err(|_| self.garbage("it is not JSON in the form of AWS KMS"))
    }

    fn refused(&self, answer: &Answer, key: Option<&DataKey>) -> KeyServiceFault {
        let code = code(answer);
        let said = serde_json::from_slice::<Refusal>(&answer.body).unwrap_or_default();
        let said = match said.message {
            Some(message) => told(&message, key),
            None if code.is_empty() => told(&String::from_utf8_lossy(&answer.body), key),
            None => "(it says no more)".to_owned(),
        };
        let message = if code.is_empty() { said } else { format!("{code}: {said}") };
        match code.as_str() {
            "ExpiredTokenException" | "ExpiredToken" | "RequestExpired" => KeyServiceFault::Expired(message),
            "AccessDeniedException"
            | "AccessDenied"
            | "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "IncompleteSignature"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException"
            | "OptInRequired"
            | "NotAuthorized"
            | "InvalidGrantTokenException" => KeyServiceFault::Denied(message),
            "NotFoundException" | "InvalidArnException" => KeyServiceFault::NoKey(message),
            "InvalidCiphertextException" | "IncorrectKeyException" => KeyServiceFault::OtherKey(message),
            "DisabledException"
            | "KMSInvalidStateException"
            | "KeyUnavailableException"
            | "InvalidKeyUsageException" => KeyServiceFault::Unusable(message),
            _ => KeyServiceFault::Refused { host: host(&self.endpoint), status: answer.status, message },
        }
    }

    /// What is said with each question, if anything is.
    fn said(&self) -> Option<&BTreeMap<String, String>> {
        Some(&self.context).filter(|context| !context.is_empty())
    }

    fn garbage(&self, reason: &'static str) -> KeyServiceFault {
        KeyServiceFault::Garbage { host: host(&self.endpoint), reason }
    }
}

impl KeyService for AwsKms {
    fn wrap(&self, key: &DataKey) -> Result<Vec<u8>, KeyServiceFault> {
        let plaintext = Zeroizing::new(STANDARD.encode(key.as_bytes()));
        let question = Question {
            key_id: Some(&self.key),
            plaintext: Some(&plaintext),
            ciphertext_blob: None,
            encryption_context: self.said(),
        };
        let sealed: Sealed = self.ask("Encrypt", &question, Some(key))?;
        let bytes = STANDARD.decode(sealed.ciphertext_blob).ok();
        let bytes = bytes.filter(|bytes| !bytes.is_empty() && bytes != key.as_bytes());
        bytes.ok_or_else(|| self.garbage("its ciphertext is none"))
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<DataKey, KeyServiceFault> {
        let ciphertext = STANDARD.encode(wrapped);
        let question = Question {
            key_id: None,
            plaintext: None,
            ciphertext_blob: Some(&ciphertext),
            encryption_context: self.said(),
        };
        let opened: Opened = self.ask("Decrypt", &question, None)?;
        let bytes = STANDARD.decode(opened.plaintext.as_bytes()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| self.garbage("its plaintext is not base64"))?;
        DataKey::of_bytes(&bytes).ok_or_else(|| self.garbage("the key in it is not 32 bytes long"))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Question<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext_blob: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption_context: Option<&'a BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Sealed {
    ciphertext_blob: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Opened {
    plaintext: Zeroizing<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Refusal {
    #[serde(rename = "__type")]
    kind: Option<String>,
    #[serde(alias = "Message")]
    message: Option<String>,
}

/// The name of what went wrong, without its namespace.
fn code(answer: &Answer) -> String {
    if answer.is_good() {
        return String::new();
    }
    let body = serde_json::from_slice::<Refusal>(&answer.body).ok().and_then(|refusal| refusal.kind);
    let header = || Some(answer.headers.get("x-amzn-errortype")?.to_str().ok()?.to_owned());
    let kind = body.or_else(header).unwrap_or_default();
    let kind = kind.rsplit('#').next().unwrap_or_default();
    kind.split(':').next().unwrap_or_default().to_owned()
}

fn encryption_context(address: &Address) -> Result<BTreeMap<String, String>, KeyServiceFault> {
    let mut context = BTreeMap::new();
    for (name, value) in &address.parameters {
        match name.strip_prefix("context_") {
            Some(inner) if context.insert(inner.to_owned(), value.clone()).is_some() => {
                return Err(KeyServiceFault::Address(format!("`{name}` must have exactly one value")));
            }
            Some(_) => {}
            None if !PARAMETERS.contains(&name.as_str()) => {
                return Err(KeyServiceFault::Address(format!("unknown parameter `{name}`")));
            }
            None => {}
        }
    }
    Ok(context)
}

fn flag(address: &Address, name: &str) -> Result<bool, KeyServiceFault> {
    match address.parameter(name) {
        None => Ok(false),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(other) => {
            Err(KeyServiceFault::Address(format!("`{name}` wants `true` or `false`, not `{other}`")))
        }
    }
}

/// The region: of the URL, of the key's ARN, of the environment, of the profile.
fn region(address: &Address, around: &Surroundings, profiles: &Profiles) -> Result<String, KeyServiceFault> {
    let of_arn = || {
        let mut parts = address.key.split(':');
        (parts.next() == Some("arn")).then(|| parts.nth(2)).flatten()
    };
    let named = address.parameter("region").or_else(of_arn).filter(|region| !region.is_empty());
    named
        .map(str::to_owned)
        .or_else(|| around.first_variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]))
        .or_else(|| profiles.setting("region").map(str::to_owned))
        .ok_or_else(|| {
            KeyServiceFault::Address(
                "its region is not known: say it with `?region=REGION`, or set AWS_REGION".to_owned(),
            )
        })
}

/// Where the service is: where the URL, the environment or the profile says, or where AWS has it.
fn endpoint(
    address: &Address,
    around: &Surroundings,
    profiles: &Profiles,
    region: &str,
) -> Result<Uri, KeyServiceFault> {
    let ignored = around
        .variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let configured = || {
        let named = around.first_variable(&["AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL"]);
        named.or_else(|| profiles.setting("endpoint_url").map(str::to_owned)).filter(|_| !ignored)
    };
    let text = match address.parameter("endpoint").map(str::to_owned).or_else(configured) {
        Some(named) => named,
        None => {
            let host = if flag(address, "fips")? { "kms-fips" } else { "kms" };
            format!("https://{host}.{region}.{}", suffix(region, flag(address, "dualstack")?))
        }
    };
    let text = if text.contains("://") { text } else { format!("https://{text}") };
    let uri = text.parse::<Uri>().ok().filter(|uri| uri.host().is_some());
    uri.ok_or_else(|| KeyServiceFault::Address(format!("its endpoint is no URL: {text}")))
}

/// The end of the names of AWS's hosts in a region.
fn suffix(region: &str, dualstack: bool) -> &'static str {
    match region {
        _ if region.starts_with("cn-") && dualstack => "api.amazonwebservices.com.cn",
        _ if region.starts_with("cn-") => "amazonaws.com.cn",
        _ if region.starts_with("us-isob-") => "sc2s.sgov.gov",
        _ if region.starts_with("us-isof-") => "csp.hci.ic.gov",
        _ if region.starts_with("us-iso-") => "c2s.ic.gov",
        _ if region.starts_with("eu-isoe-") => "cloud.adc-e.uk",
        _ if region.starts_with("eusc-") => "amazonaws.eu",
        _ if dualstack => "api.aws",
        _ => "amazonaws.com",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::Limits;

    fn around(variables: &'static [(&str, &str)]) -> Surroundings {
        let lookup = move |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Surroundings { environment: Arc::new(lookup), limits: Limits::default() }
    }

    fn opened(url: &str, variables: &'static [(&str, &str)]) -> Result<AwsKms, KeyServiceFault> {
        AwsKms::open(&Address::parse(url).unwrap(), &around(variables))
    }

    #[test]
    fn the_service_is_where_the_region_says() {
        for (url, expected) in [
            ("awskms://alias/k?region=eu-central-1", "https://kms.eu-central-1.amazonaws.com/"),
            ("awskms://alias/k?region=cn-north-1", "https://kms.cn-north-1.amazonaws.com.cn/"),
            (
                "awskms://alias/k?region=us-gov-west-1&fips=true",
                "https://kms-fips.us-gov-west-1.amazonaws.com/",
            ),
            ("awskms://alias/k?region=us-east-1&dualstack=true", "https://kms.us-east-1.api.aws/"),
            ("awskms:///arn:aws:kms:ap-south-1:1:key/k?awssdk=v2", "https://kms.ap-south-1.amazonaws.com/"),
            ("awskms://alias/k?region=x&endpoint=http://127.0.0.1:1/", "http://127.0.0.1:1/"),
            ("awskms://alias/k", "https://kms.sa-east-1.amazonaws.com/"),
        ] {
            let service = opened(url, &[("AWS_DEFAULT_REGION", "sa-east-1")]).unwrap();
            assert_eq!(service.endpoint.to_string(), expected, "{url}");
        }
        let elsewhere = [("AWS_REGION", "eu-west-1"), ("AWS_ENDPOINT_URL_KMS", "http://localhost:9/")];
        let service = opened("awskms://alias/k", Box::leak(Box::new(elsewhere))).unwrap();
        assert_eq!(service.endpoint.to_string(), "http://localhost:9/");
    }

    #[test]
    fn an_address_that_does_not_say_enough_is_refused() {
        for (url, expected) in [
            ("awskms://alias/k", "its region is not known"),
            ("awskms://alias/k?region=r&color=red", "unknown parameter `color`"),
            ("awskms://alias/k?region=r&context_a=1&context_a=2", "`context_a` must have exactly one value"),
            ("awskms://alias/k?region=r&fips=maybe", "`fips` wants `true` or `false`"),
            ("awskms://alias/k?region=r&role=admin", "`role` wants the ARN"),
            ("awskms://alias/k?region=r&profile=nobody", "there is no AWS profile `nobody`"),
        ] {
            let refused = opened(url, &[]).unwrap_err().to_string();
            assert!(refused.contains(expected), "{url}: {refused}");
        }
    }
}
