//! Which bucket is meant, and whose credentials open it.

use super::failures::{bucket_failure, no_bucket};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_dialects::cdkd::DEFAULT_PREFIX;
use drystone_stores::cdkd::{AccountBucket, CdkdOptions, CdkdStore, find_bucket, open_bucket};
use drystone_stores::object::{AccountOptions, S3Account};
use serde_json::Value;

/// Whose credentials are meant.
#[derive(Debug, Args)]
pub(super) struct AccountArgs {
    /// The AWS profile
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// A role that is taken on; `CDKD_ROLE_ARN` says it otherwise
    #[arg(long, value_name = "ARN")]
    role_arn: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// Which bucket is meant.
#[derive(Debug, Args)]
pub(super) struct PlaceArgs {
    #[command(flatten)]
    pub(super) account: AccountArgs,
    /// The bucket; otherwise `CDKD_STATE_BUCKET`, `context.cdkd.stateBucket` in cdk.json, or the account's
    #[arg(long, value_name = "BUCKET")]
    state_bucket: Option<String>,
    /// What all keys in it begin with
    #[arg(long, value_name = "PREFIX", default_value = DEFAULT_PREFIX)]
    state_prefix: String,
    /// The region to ask where nothing else is known; AWS_REGION or the profile say it better
    #[arg(long, value_name = "REGION", hide = true)]
    region: Option<String>,
}

/// Why a bucket is the one that is used, in the tool's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Flag,
    Variable,
    Settings,
    Account,
    LegacyAccount,
}

impl Source {
    /// The word for scripts.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Flag => "cli-flag",
            Self::Variable => "env",
            Self::Settings => "cdk.json",
            Self::Account => "default",
            Self::LegacyAccount => "default-legacy",
        }
    }

    /// The same for people.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Flag => "--state-bucket",
            Self::Variable => "CDKD_STATE_BUCKET",
            Self::Settings => "cdk.json (context.cdkd.stateBucket)",
            Self::Account => "default (account ID from STS)",
            Self::LegacyAccount => "default (the region's; `drystone cdk state migrate` moves on)",
        }
    }
}

/// The bucket that is used.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) account: S3Account,
    pub(super) bucket: String,
    pub(super) source: Source,
    pub(super) store: CdkdStore,
}

impl AccountArgs {
    /// The account that these lead to.
    pub(super) async fn open(&self, context: &Context, region: Option<&str>) -> Outcome<S3Account> {
        let variables = context.environment.clone();
        let role = self.role_arn.clone().or_else(|| variables.filled_variable("CDKD_ROLE_ARN"));
        let options = AccountOptions {
            profile: self.profile.clone(),
            role,
            region: region.map(str::to_ascii_lowercase),
            ..AccountOptions::default()
        };
        Ok(S3Account::open(options, move |name: &str| variables.variable(name)).await?)
    }
}

impl PlaceArgs {
    /// Opens the bucket that is meant. It must be there.
    pub(super) async fn open(&self, context: &Context) -> Outcome<Place> {
        let options = CdkdOptions::under(&self.state_prefix).map_err(Failure::configuration)?;
        let account = self.account.open(context, self.region.as_deref()).await?;
        let (bucket, source) = match named(context, self.state_bucket.as_deref()) {
            Some(named) => named,
            None => of_account(&account).await?,
        };
        let store = open_bucket(&account, &bucket, options).await.map_err(bucket_failure(&bucket))?;
        Ok(Place { account, bucket, source, store })
    }
}

/// The bucket that the user names, in one of the ways to do so.
pub(super) fn named(context: &Context, flag: Option<&str>) -> Option<(String, Source)> {
    let flag = flag.filter(|name| !name.is_empty()).map(|name| (name.to_owned(), Source::Flag));
    let variable = || Some((context.environment.filled_variable("CDKD_STATE_BUCKET")?, Source::Variable));
    flag.or_else(variable).or_else(|| Some((in_settings(context)?, Source::Settings)))
}

/// The bucket that the `cdk.json` of the working folder names. One that cannot be read is passed over, as the tool does.
fn in_settings(context: &Context) -> Option<String> {
    let path = context.environment.working_directory().join("cdk.json");
    let text = std::fs::read_to_string(&path).ok()?;
    match serde_json::from_str::<Value>(&text) {
        Ok(settings) => Some(settings["context"]["cdkd"]["stateBucket"].as_str()?.to_owned()),
        Err(error) => {
            terminal::warning(format!("{} is passed over: {error}", path.display()));
            None
        }
    }
}

/// The bucket that is named after the account.
async fn of_account(account: &S3Account) -> Outcome<(String, Source)> {
    let region = account.region();
    let migrate = format!("`drystone cdk state migrate --region {region}`");
    match find_bucket(account).await? {
        AccountBucket::Usual(bucket) => Ok((bucket, Source::Account)),
        AccountBucket::Legacy(bucket) => {
            terminal::warning(format!(
                "using {bucket}, whose name is that of older versions; {migrate} moves it to the account's bucket"
            ));
            Ok((bucket, Source::LegacyAccount))
        }
        AccountBucket::LegacyBesideEmpty { legacy, usual } => {
            terminal::warning(format!(
                "using {legacy}, since {usual} has nothing in it; {migrate} moves everything there"
            ));
            Ok((legacy, Source::LegacyAccount))
        }
        AccountBucket::Missing { usual, legacy } => {
            Err(no_bucket(&usual).detail(format!("nor is there {legacy}, as older versions named it")))
        }
    }
}
