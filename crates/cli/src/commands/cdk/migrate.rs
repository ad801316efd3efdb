//! `cdk state migrate`: from the bucket of a region to the one of the account.

use super::failures::bucket_failure;
use super::place::AccountArgs;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::cdkd::{
    BucketListing, bucket_name, copy_bucket, delete_bucket, legacy_bucket_name, protect_bucket,
};
use drystone_stores::object::{Presence, S3Account};

/// How many locks are named.
const NAMED: usize = 3;

#[derive(Debug, Args)]
#[command(
    after_help = "Once for each region that has such a bucket. The old bucket is kept unless `--remove-legacy` is given; \
                  removed, its history is gone. What has been changed in the new bucket since is left as it is there."
)]
pub(super) struct MigrateArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// The region of the old bucket; AWS_REGION or the profile's by default
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// The old bucket, instead of the region's
    #[arg(long, value_name = "BUCKET")]
    legacy_bucket: Option<String>,
    /// The new bucket, instead of the account's
    #[arg(long, value_name = "BUCKET")]
    new_bucket: Option<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete the old bucket once everything has been copied
    #[arg(long)]
    remove_legacy: bool,
}

pub(super) async fn run(context: &Context, args: &MigrateArgs) -> Outcome {
    let account = args.account.open(context, args.region.as_deref()).await?;
    let id = account.id().await?;
    let from = args.legacy_bucket.clone().unwrap_or_else(|| legacy_bucket_name(&id, account.region()));
    let to = args.new_bucket.clone().unwrap_or_else(|| bucket_name(&id));
    if from == to {
        return Err(Failure::configuration(format!("{from} is both the old bucket and the new one")));
    }
    if account.look_for(&from).await? == Presence::Missing {
        return Err(Failure::new(ExitCode::Unavailable, format!("there is no bucket {from} to move from"))
            .hint("`drystone cdk state info` shows which bucket is used"));
    }
    let before = BucketListing::read(&account, &from).await.map_err(bucket_failure(&from))?;
    refuse_locks(&from, &before)?;
    let what = format!("{} object(s) from {from} to {to}", before.len());
    if args.dry_run {
        terminal::line(format!("Would copy {what}"));
        if args.remove_legacy {
            terminal::line(format!("Would delete {from}"));
        }
        return Ok(());
    }
    if !(args.account.yes || context.skips_confirmations()) {
        let then = if args.remove_legacy { ", and delete that bucket" } else { "; that bucket is kept" };
        if !context.confirm(&format!("Copy {what}{then}?"))? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    make(&account, &from, &to).await?;
    let copied = copy_bucket(&account, &before, &to).await.map_err(bucket_failure(&to))?;
    for key in &copied.newer {
        terminal::warning(format!("{key} has been changed in {to} since, and was left as it is there"));
    }
    terminal::line(format!("Copied {} object(s) to {to}; {} were there already", copied.copied, copied.same));
    if !args.remove_legacy {
        terminal::note(format!("{from} is kept; `--remove-legacy` deletes it."));
        return Ok(());
    }
    let after = BucketListing::read(&account, &from).await?;
    refuse_locks(&from, &after)?;
    if !after.is_same(&before) {
        return Err(Failure::new(
            ExitCode::Held,
            format!("{from} was changed while it was copied; it is kept"),
        )
        .hint("run the command again"));
    }
    delete_bucket(&account, &from).await?;
    terminal::line(format!("Deleted {from}"));
    Ok(())
}

/// Somebody who works in the old bucket would go on writing there.
fn refuse_locks(bucket: &str, listing: &BucketListing) -> Outcome {
    let locks: Vec<&str> = listing.locks().collect();
    if locks.is_empty() {
        return Ok(());
    }
    let more = if locks.len() > NAMED { format!(" and {} more", locks.len() - NAMED) } else { String::new() };
    let named = locks[..locks.len().min(NAMED)].join(", ");
    Err(Failure::new(ExitCode::Held, format!("somebody works in {bucket}: there is {named}{more}")).hint(
        format!(
            "wait for it, or break the lock with `drystone cdk force-unlock STACK --state-bucket {bucket}`"
        ),
    ))
}

/// Makes the new bucket where the old one is.
async fn make(account: &S3Account, from: &str, to: &str) -> Outcome {
    match account.look_for(to).await? {
        Presence::Here => Ok(()),
        Presence::Denied => {
            Err(Failure::new(ExitCode::Unavailable, format!("{to} is there, and is not yours to use")))
        }
        Presence::Missing => {
            let region = account.region_of(from).await?;
            let region = region.as_deref().unwrap_or_else(|| account.region());
            terminal::note(format!("Making {to} in {region}"));
            account.create(to, region).await?;
            Ok(protect_bucket(account, to).await?)
        }
    }
}
