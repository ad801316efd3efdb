//! `cdk state info`: which bucket is used, and what is in it.

use super::place::PlaceArgs;
use super::values::{print_json, print_lines};
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What there is to know, in the tool's shape.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    bucket: String,
    region: Option<String>,
    region_source: &'static str,
    bucket_source: &'static str,
    schema_version: SchemaVersion,
    stack_count: usize,
    asset_storage: Vec<Assets>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SchemaVersion {
    Known(i64),
    Unknown(&'static str),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Assets {
    region: String,
    asset_bucket: String,
    container_repo: String,
    created_at: String,
}

pub(super) async fn run(context: &Context, args: &InfoArgs) -> Outcome {
    let place = args.place.open(context).await?;
    let region = place.account.region_of(&place.bucket).await?;
    let stacks = place.store.stacks().await?;
    let version = match stacks.first() {
        Some(first) => place.store.schema_version(first).await?,
        None => None,
    };
    let mut asset_storage = Vec::new();
    for (region, storage) in place.store.asset_storages().await? {
        match storage {
            Ok(storage) => asset_storage.push(Assets {
                region: region.to_string(),
                asset_bucket: storage.asset_bucket,
                container_repo: storage.container_repo,
                created_at: storage.created_at,
            }),
            Err(error) => terminal::warning(error),
        }
    }
    let info = Info {
        region_source: if region.is_some() { "auto-detected" } else { "unknown" },
        bucket: place.bucket,
        region,
        bucket_source: place.source.word(),
        schema_version: version.map_or(SchemaVersion::Unknown("unknown"), SchemaVersion::Known),
        stack_count: stacks.len(),
        asset_storage,
    };
    if args.json {
        print_json(&info);
    } else {
        print_lines(&lines(&info, place.source.description()));
    }
    Ok(())
}

fn lines(info: &Info, source: &str) -> Vec<String> {
    let region = match &info.region {
        Some(region) => format!("{region} (auto-detected via GetBucketLocation)"),
        None => "unknown (GetBucketLocation is not allowed)".to_owned(),
    };
    let version = match info.schema_version {
        SchemaVersion::Known(version) => version.to_string(),
        SchemaVersion::Unknown(word) => word.to_owned(),
    };
    let assets = match info.asset_storage.len() {
        0 => "that of the CDK's own bootstrap".to_owned(),
        count => format!("cdkd-assets mode in {count} region(s)"),
    };
    let mut lines = vec![
        format!("State bucket:    {}", info.bucket),
        format!("Region:          {region}"),
        format!("Source:          {source}"),
        format!("Schema version:  {version}"),
        format!("Stacks:          {}", info.stack_count),
        format!("Asset storage:   {assets}"),
    ];
    let storages = info.asset_storage.iter();
    lines.extend(storages.map(|at| format!("  {}: {} / {}", at.region, at.asset_bucket, at.container_repo)));
    lines
}
