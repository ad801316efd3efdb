//! `cdk bootstrap`: makes the bucket that states are kept in.

use super::failures::bucket_failure;
use super::place::AccountArgs;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::cdkd::{bucket_name, protect_bucket};
use drystone_stores::object::Presence;

#[derive(Debug, Args)]
#[command(
    after_help = "The bucket keeps every version of what is in it, encrypts it, and lets nobody in who is not of the \
                  account. A bucket that is there already is left as it is, unless `--force` is given. Storage for \
                  assets is not made; `cdkd bootstrap` does that."
)]
pub(super) struct BootstrapArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// The bucket; `cdkd-state-` and the account's number by default
    #[arg(long, value_name = "BUCKET")]
    state_bucket: Option<String>,
    /// The region of the bucket
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// Set up a bucket that is there already
    #[arg(short, long)]
    force: bool,
    /// Accepted for cdkd's sake: no storage for assets is made.
    #[arg(long, hide = true)]
    no_assets: bool,
}

pub(super) async fn run(context: &Context, args: &BootstrapArgs) -> Outcome {
    let account = args.account.open(context, args.region.as_deref()).await?;
    let bucket = match args.state_bucket.clone().filter(|name| !name.is_empty()) {
        Some(bucket) => bucket,
        None => bucket_name(&account.id().await?),
    };
    match account.look_for(&bucket).await? {
        Presence::Denied => {
            return Err(Failure::new(
                ExitCode::Unavailable,
                format!("{bucket} is there, and is not yours to use"),
            )
            .hint("another account may have it: choose another name with `--state-bucket`"));
        }
        Presence::Here if !args.force => {
            terminal::line(format!("{bucket} is there already"));
            terminal::note(
                "It was left as it is; `--force` sets it up anew, without touching what is in it.",
            );
            return Ok(());
        }
        Presence::Here => {}
        Presence::Missing => {
            terminal::note(format!("Making {bucket} in {}", account.region()));
            account.create(&bucket, account.region()).await?;
        }
    }
    protect_bucket(&account, &bucket).await.map_err(bucket_failure(&bucket))?;
    terminal::note("It keeps versions, is encrypted (AES-256), and is closed to other accounts.");
    terminal::line(format!("{bucket} is ready"));
    Ok(())
}
