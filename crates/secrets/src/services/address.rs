//! The URL of a key, taken apart as Pulumi takes it apart.

use super::{KeyServiceFault, KeyServiceName};
use percent_encoding::percent_decode_str;
use url::Url;

/// The URL of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The service that its scheme names.
    pub(super) service: KeyServiceName,
    /// Host and path, joined: `alias/main`, `projects/p/…`, `vault.vault.azure.net/keys/k`.
    pub(super) key: String,
    /// The parameters of its query.
    pub(super) parameters: Vec<(String, String)>,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, KeyServiceFault> {
        let fault = |reason: String| KeyServiceFault::Address(reason);
        let parsed = Url::parse(url).map_err(|error| match error {
            url::ParseError::InvalidPort if url.contains("://arn:") => {
                fault("an ARN is written after three slashes: `awskms:///arn:aws:kms:…`".to_owned())
            }
            other => fault(format!("it is no URL: {other}")),
        })?;
        let service = KeyServiceName::of_scheme(parsed.scheme())
            .ok_or_else(|| fault(format!("no key service has the scheme `{}`", parsed.scheme())))?;
        if !url[parsed.scheme().len()..].starts_with("://") {
            return Err(fault(format!("it is no URL: `{}:` wants two slashes", parsed.scheme())));
        }
        let port = parsed.port().map(|port| format!(":{port}")).unwrap_or_default();
        let whole = format!("{}{port}/{}", parsed.host_str().unwrap_or_default(), parsed.path());
        let whole = percent_decode_str(&whole).decode_utf8_lossy().into_owned();
        let parts: Vec<&str> = whole.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            return Err(fault("the key's name leaves its place with `..`".to_owned()));
        }
        if parts.is_empty() {
            return Err(fault("it names no key".to_owned()));
        }
        let parameters =
            parsed.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        Ok(Self { service, key: parts.join("/"), parameters })
    }

    /// The first value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Fails when there is a parameter that is not among those known.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), KeyServiceFault> {
        match self.parameters.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(KeyServiceFault::Address(match known {
                [] => format!("it takes no parameters, and has `{name}`"),
                _ => format!("unknown parameter `{name}`; known are {}", known.join(", ")),
            })),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_as_in_pulumi() {
        let key = |url: &str| Address::parse(url).unwrap().key;
        assert_eq!(key("awskms://alias/Example-Alias?region=us-east-1"), "alias/Example-Alias");
        assert_eq!(
            key("awskms://1234abcd-12ab-34cd-56ef-1234567890ab"),
            "1234abcd-12ab-34cd-56ef-1234567890ab"
        );
        let arn = "arn:aws:kms:us-east-1:111122223333:key/1234abcd";
        assert_eq!(key(&format!("awskms:///{arn}?region=us-east-1")), arn);
        assert_eq!(
            key("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/K"),
            "projects/p/locations/l/keyRings/r/cryptoKeys/K"
        );
        assert_eq!(
            key("azurekeyvault://acme.vault.azure.net/keys/k/1a2b"),
            "acme.vault.azure.net/keys/k/1a2b"
        );
        assert_eq!(
            key("azurekeyvault://acme.vault.azure.net:8443/keys/k"),
            "acme.vault.azure.net:8443/keys/k"
        );
        assert_eq!(key("hashivault://my-key?engine=transit/team"), "my-key");
        assert_eq!(key("hashivault://my%20key//x/"), "my key/x");
    }

    #[test]
    fn what_names_no_key_is_refused() {
        for (url, expected) in [
            ("awskms://", "it names no key"),
            ("awskms:alias/main", "wants two slashes"),
            ("awskms://arn:aws:kms:eu-1:1:key/k", "three slashes"),
            ("hashivault://a/%2e%2e/%2e%2e/sys", "it names no key"),
            ("nonsense", "it is no URL"),
            ("sops://x", "no key service has the scheme `sops`"),
        ] {
            match Address::parse(url) {
                Err(KeyServiceFault::Address(reason)) if reason.contains(expected) => {}
                // The parser resolves dots itself, so that what is left stays below its place.
                Ok(address) if url.contains("%2e") => assert!(!address.key.contains(".."), "{address:?}"),
                other => panic!("{url} gave {other:?}"),
            }
        }
    }

    #[test]
    fn parameters_that_nobody_knows_are_refused() {
        let address = Address::parse("hashivault://k?engine=a&color=red").unwrap();
        assert_eq!(address.parameter("engine"), Some("a"));
        let refused = address.only(&["engine"]).unwrap_err().to_string();
        assert_eq!(refused, "unknown parameter `color`; known are engine");
    }
}
