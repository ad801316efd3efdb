//! cdkd's buckets as users name them to the commands of every store.

use crate::report::{Failure, Outcome};
use drystone_dialects::cdkd::DEFAULT_PREFIX;
use drystone_stores::cdkd::{CdkdOptions, CdkdStacks};
use drystone_stores::object::{AccountOptions, S3Account};
use url::Url;

/// What the URLs of such buckets begin with.
pub(crate) const SCHEME: &str = "cdkd+s3";

/// The store of a URL such as `cdkd+s3://BUCKET/PREFIX?region=eu-west-1`. Without a prefix it is the tool's own.
pub(crate) async fn open(
    url: &str,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Outcome<CdkdStacks> {
    let refused = |reason: &str| Failure::configuration(format!("{url}: {reason}"));
    let named = Url::parse(url).map_err(|error| refused(&error.to_string()))?;
    let bucket = named.host_str().ok_or_else(|| refused("there is no bucket in it"))?;
    let mut options = AccountOptions::default();
    for (name, value) in named.query_pairs() {
        let value = Some(value.into_owned());
        match name.as_ref() {
            "region" => options.region = value,
            "profile" => options.profile = value,
            "role" => options.role = value,
            other => {
                return Err(refused(&format!("`{other}` is no parameter of such a URL"))
                    .hint("there are region, profile and role"));
            }
        }
    }
    let prefix = match named.path().trim_matches('/') {
        "" => DEFAULT_PREFIX,
        prefix => prefix,
    };
    let layout = CdkdOptions::under(prefix).map_err(Failure::configuration)?;
    let account = S3Account::open(options, variables).await?;
    Ok(CdkdStacks::open(account, bucket, layout).await?)
}
