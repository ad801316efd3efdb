//! The URL of a bucket: which cloud, which bucket, what prefix, and the parameters that Pulumi's URLs take.

use crate::{Error, Result};
use object_store::path::Path;
use std::collections::BTreeMap;
use std::path::PathBuf;
use url::Url;

/// A bucket's URL, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// The URL without its parameters, for messages.
    pub(super) shown: String,
    pub(super) bucket: String,
    /// What all objects' names begin with.
    pub(super) prefix: Option<Path>,
    parameters: BTreeMap<String, String>,
}

impl Address {
    /// Takes a URL apart. A parameter that is none of those known is refused: what it was meant for would not happen.
    pub(super) fn parse(url: &Url, known: &[&str]) -> Result<Self> {
        let bucket = url.host_str().unwrap_or_default().to_owned();
        let shown = format!("{}://{bucket}{}", url.scheme(), url.path().trim_end_matches('/'));
        let mut address = Self { shown, bucket, prefix: None, parameters: BTreeMap::new() };
        if address.bucket.is_empty() {
            return Err(address.refused("the URL names no bucket"));
        }
        address.prefix = address.parse_prefix(url.path())?;
        for (name, value) in url.query_pairs() {
            if !known.contains(&name.as_ref()) {
                let known = known.join(", ");
                return Err(address.refused(format!("unknown parameter `{name}`; those known are {known}")));
            }
            if address.parameters.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                return Err(address.refused(format!("the parameter `{name}` is given twice")));
            }
        }
        Ok(address)
    }

    /// Names that the client of the clouds would write in another way than other tools are refused, so that all of them
    /// find the same objects.
    fn parse_prefix(&self, path: &str) -> Result<Option<Path>> {
        let path = path.trim_matches('/');
        if path.is_empty() {
            return Ok(None);
        }
        let decoded = percent_decoded(path).ok_or_else(|| self.refused("the path is not UTF-8"))?;
        let prefix = Path::parse(&decoded)
            .map_err(|error| self.refused(format!("the path cannot be used in a bucket: {error}")))?;
        Ok(Some(prefix))
    }

    /// A parameter that is given and says something.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A parameter that is true or false, as Go reads them.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.text(name).map(|value| self.parse_flag(name, value)).transpose()
    }

    pub(super) fn parse_flag(&self, name: &str, value: &str) -> Result<bool> {
        match value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(self.refused(format!("`{name}` is true or false, not `{value}`"))),
        }
    }

    /// A parameter that says one of a few things.
    pub(super) fn one_of<'a>(&self, name: &str, choices: &[&'a str]) -> Result<Option<&'a str>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        match choices.iter().find(|choice| choice.eq_ignore_ascii_case(value)) {
            Some(choice) => Ok(Some(choice)),
            None => Err(self.refused(format!("`{name}` is one of {}, not `{value}`", choices.join(", ")))),
        }
    }

    /// Why the URL cannot be opened.
    pub(super) fn refused(&self, reason: impl Into<String>) -> Error {
        Error::Unsupported { path: PathBuf::from(&self.shown), reason: reason.into() }
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    percent_encoding::percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address> {
        Address::parse(&Url::parse(url).unwrap(), &["region", "anonymous", "ssetype"])
    }

    #[test]
    fn a_url_names_a_bucket_and_a_prefix() {
        let plain = parse("s3://acme-state").unwrap();
        assert_eq!((plain.bucket.as_str(), &plain.prefix), ("acme-state", &None));
        let below = parse("s3://acme-state/teams/web/?region=eu-west-1").unwrap();
        assert_eq!(below.prefix, Some(Path::from("teams/web")));
        assert_eq!(
            (below.shown.as_str(), below.text("region")),
            ("s3://acme-state/teams/web", Some("eu-west-1"))
        );
        assert_eq!(parse("s3://acme-state/a%20b").unwrap().prefix, Some(Path::parse("a b").unwrap()));
    }

    #[test]
    fn what_is_not_known_is_refused_by_its_name() {
        let error = parse("s3://acme-state?regoin=eu-west-1").unwrap_err().to_string();
        assert_eq!(
            error,
            "s3://acme-state: unknown parameter `regoin`; those known are region, anonymous, ssetype"
        );
        assert!(parse("s3://?region=eu-west-1").is_err());
        assert!(parse("s3://b?region=a&region=b").unwrap_err().to_string().contains("twice"));
        assert!(parse("s3://b/a//c").unwrap_err().to_string().contains("path"));
    }

    #[test]
    fn flags_and_choices_are_checked() {
        let address = parse("s3://b?anonymous=T&ssetype=AWS:KMS").unwrap();
        assert_eq!(address.flag("anonymous").unwrap(), Some(true));
        assert_eq!(address.flag("region").unwrap(), None);
        assert_eq!(address.one_of("ssetype", &["AES256", "aws:kms"]).unwrap(), Some("aws:kms"));
        assert!(parse("s3://b?anonymous=maybe").unwrap().flag("anonymous").is_err());
        assert!(parse("s3://b?ssetype=rot13").unwrap().one_of("ssetype", &["AES256"]).is_err());
    }
}
