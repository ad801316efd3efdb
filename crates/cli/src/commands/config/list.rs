//! `config`: lists all values.

use super::Place;
use super::settings::{Opened, internal};
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_workspace::config::Secrets;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// Show secrets in plain text
    #[arg(long)]
    show_secrets: bool,
    /// Accepted for the stock CLI's sake: there are no environments to open
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    open: Option<bool>,
}

pub(crate) async fn run(context: &Context, place: &Place, args: &ListArgs) -> Outcome {
    let opened = Opened::open(context, place, None).await?;
    let config = opened.effective()?;
    let shown = if args.show_secrets {
        config.shown(Secrets::Open(&opened.reveal(context, &config)?))
    } else {
        config.shown(Secrets::Masked)
    };
    let shown = shown.map_err(internal)?;
    if args.json {
        let by_name: BTreeMap<String, serde_json::Value> =
            shown.iter().map(|(key, shown)| (key.to_string(), shown.to_json())).collect();
        terminal::json(&by_name);
        return Ok(());
    }
    let rows: Vec<(String, String)> =
        shown.into_iter().map(|(key, shown)| (key.pretty(Some(&opened.project.name)), shown.text)).collect();
    let width = rows.iter().map(|(key, _)| key.chars().count()).fold("KEY".len(), usize::max);
    let indent = format!("\n{:width$}  ", "");
    let mut table = vec![vec!["KEY".to_owned(), "VALUE".to_owned()]];
    table.extend(rows.into_iter().map(|(key, value)| vec![key, value.replace('\n', &indent)]));
    terminal::data(&terminal::table(&table));
    Ok(())
}
