//! unobin's trees as users name them.

use crate::report::{Failure, Outcome};
use drystone_dialects::unobin::Ref;
use drystone_secrets::envelope::{Encrypter, Encrypters};
use drystone_stores::SystemHost;
use drystone_stores::disk::OsDisk;
use drystone_stores::object::{self, BucketOptions};
use drystone_stores::unobin::{Root, UnobinStore};
use std::sync::Arc;
use url::Url;

/// What the URLs of trees begin with, before that of the folder or the bucket.
pub(crate) const SCHEME: &str = "unobin+";
/// The parameter that names the encrypter, of trees and of backends that are sealed.
pub(crate) const ENCRYPTER: &str = "encrypter";
/// The encrypter where none is named: the tool's own, by the variable that it looks at. What is not sealed is opened only
/// when the URL says so.
const DEFAULT: &str = "env-key:UB_STATE_KEY";

/// The store of a URL such as `unobin+s3://bucket?encrypter=kms:KEY`.
pub(crate) async fn open(
    url: &str,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Outcome<UnobinStore> {
    let place = url.strip_prefix(SCHEME).unwrap_or(url);
    let (place, named) = without_encrypter(place);
    let place = place.strip_prefix(crate::backend::FILE).map(str::to_owned).unwrap_or(place);
    let root = root(&place, variables).await?;
    Ok(UnobinStore::new(root, encrypter(named.as_deref().unwrap_or(DEFAULT))?, Arc::new(SystemHost)))
}

/// A URL without the parameter that is ours, and what that says.
pub(crate) fn without_encrypter(url: &str) -> (String, Option<String>) {
    let Some((place, parameters)) = url.split_once('?') else { return (url.to_owned(), None) };
    let decoded = url::form_urlencoded::parse(parameters.as_bytes());
    let named = decoded.into_iter().find(|(name, _)| name == ENCRYPTER).map(|(_, value)| value.into_owned());
    let is_ours = |parameter: &&str| parameter.split('=').next() == Some(ENCRYPTER);
    let others: Vec<&str> = parameters.split('&').filter(|parameter| !is_ours(parameter)).collect();
    let place = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
    (place, named)
}

/// A folder, or the bucket that a URL names.
pub(crate) async fn root(
    root: &str,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Outcome<Root> {
    let host = Arc::new(SystemHost);
    let is_bucket = root.split_once("://").is_some_and(|(scheme, _)| object::SCHEMES.contains(&scheme));
    if !is_bucket {
        return Ok(Root::folder(Arc::new(OsDisk::private(root)), host));
    }
    let url = Url::parse(root).map_err(|error| Failure::general(format!("{root}: {error}")))?;
    Root::open_url(&url, host, &BucketOptions::default(), variables).await.map_err(Failure::general)
}

/// The encrypter that is said. There is none that is taken when none is said.
pub(crate) fn encrypter(said: &str) -> Outcome<Arc<dyn Encrypter>> {
    let reference = match said.split_once(':') {
        _ if said.starts_with('{') => {
            Ref::decode(said.as_bytes()).map_err(Failure::general)?.unwrap_or_default()
        }
        None => Ref::built_in(said, []),
        Some(("env-key", variable)) => Ref::built_in("env-key", [("env-var", variable.to_owned())]),
        Some((name, key)) => Ref::built_in(name, [("key-id", key.to_owned())]),
    };
    Encrypters::new(Box::new(|name: &str| std::env::var_os(name)))
        .resolve(&reference)
        .map_err(Failure::general)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encrypter_is_taken_out_of_the_url() {
        let parts = |url| without_encrypter(url);
        let named = |text: &str| Some(text.to_owned());
        assert_eq!(parts("file:///state"), ("file:///state".to_owned(), None));
        assert_eq!(parts("file:///state?encrypter=noop"), ("file:///state".to_owned(), named("noop")));
        let url = "s3://b/p?region=eu-west-1&encrypter=kms%3Aalias%2Fk&endpoint=x";
        assert_eq!(parts(url), ("s3://b/p?region=eu-west-1&endpoint=x".to_owned(), named("kms:alias/k")));
    }
}
