//! `stack history`: lists the past updates of a stack.

use crate::context::Context;
use crate::moments::ago;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, ValueEnum};
use drystone_dialects::pulumi::history::UpdateRecord;
use drystone_model::Json;
use drystone_secrets::Crypter;
use drystone_stores::At;
use drystone_workspace::Value;
use jiff::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// List the past updates of a stack, newest first.
///
/// These are the records of updates, as the stock CLI keeps them. `drystone stack revisions` lists every state that
/// the stack has had and can be brought back to.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Print JSON
    #[arg(short, long, conflicts_with = "output")]
    json: bool,
    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", hide = true)]
    output: Option<Output>,
    /// Print the secrets of the configuration in clear
    #[arg(long)]
    show_secrets: bool,
    /// Print full dates instead of relative ones
    #[arg(long)]
    full_dates: bool,
    /// How many updates make a page; 0 for all on one
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    page_size: usize,
    /// Which page to print
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    page: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Default,
    Json,
}

pub(crate) async fn run(context: &Context, args: HistoryArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let records = backend.store().updates(&stack).await?;
    if records.is_empty() {
        backend.store().snapshot(&stack, At::Current).await?;
    }
    let page = page(&records, args.page_size, args.page);
    let updates = page.iter().map(read).collect::<Outcome<Vec<UpdateRecord>>>()?;
    if args.json || args.output == Some(Output::Json) {
        let manager = if args.show_secrets {
            let project = context.require_project()?;
            let settings = context.stack_file(&project, &stack)?.settings;
            context.settings_secrets(&stack, &settings)?
        } else {
            None
        };
        let crypter = manager.as_ref().map(|manager| manager.crypter().as_ref());
        let secrets = if args.show_secrets { Secrets::Shown(crypter) } else { Secrets::Masked };
        terminal::json(&updates.iter().map(|update| Shown::of(update, secrets)).collect::<Vec<_>>());
    } else if updates.is_empty() {
        terminal::line(if records.is_empty() {
            "Stack has never been updated".to_owned()
        } else {
            format!("No stack updates found on page '{}'", args.page)
        });
    } else {
        let now = Timestamp::now();
        for update in &updates {
            terminal::data(&render(update, args.full_dates, now));
        }
    }
    Ok(())
}

/// The records of a page, counted from 1; a size of 0 is everything.
fn page(records: &[Json], size: usize, page: usize) -> &[Json] {
    if size == 0 {
        return records;
    }
    let start = page.saturating_sub(1).saturating_mul(size).min(records.len());
    &records[start..start.saturating_add(size).min(records.len())]
}

fn read(record: &Json) -> Outcome<UpdateRecord> {
    UpdateRecord::read(record.text().as_bytes())
        .map_err(|error| Failure::general(format!("reading an update's record: {error}")))
}

/// An update as the stock CLI prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    version: i64,
    kind: &'a str,
    start_time: String,
    message: &'a str,
    environment: Option<&'a BTreeMap<String, String>>,
    config: BTreeMap<String, ShownValue>,
    #[serde(skip_serializing_if = "str::is_empty")]
    result: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_changes: Option<&'a BTreeMap<String, i64>>,
}

/// A configuration value as the stock CLI prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownValue {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_value: Option<serde_json::Value>,
    secret: bool,
}

/// What is printed in the place of a secret.
#[derive(Clone, Copy)]
enum Secrets<'a> {
    /// Nothing.
    Masked,
    /// What it hides, where there is something that opens it.
    Shown(Option<&'a dyn Crypter>),
}

/// The text that the stock CLI prints for a secret that does not open.
const UNREADABLE: &str = "ERROR_UNABLE_TO_DECRYPT";
const IN_PROGRESS: &str = "in-progress";

impl<'a> Shown<'a> {
    fn of(update: &'a UpdateRecord, secrets: Secrets<'_>) -> Self {
        let config = update.config.as_ref().and_then(|config| config.decode().ok());
        let config: BTreeMap<String, serde_json::Value> = config.unwrap_or_default();
        let ended = update.result != IN_PROGRESS;
        Self {
            version: update.version,
            kind: &update.kind,
            start_time: moment(update.start_time),
            message: &update.message,
            environment: update.environment.as_ref(),
            config: config.iter().map(|(key, value)| (key.clone(), ShownValue::of(value, secrets))).collect(),
            result: &update.result,
            end_time: ended.then(|| moment(update.end_time)),
            resource_changes: ended.then_some(&update.resource_changes),
        }
    }
}

impl ShownValue {
    fn of(json: &serde_json::Value, secrets: Secrets<'_>) -> Self {
        let value = Value::from_json(json);
        let secret = value.is_secure();
        let crypter = match secrets {
            Secrets::Masked if secret => return Self { value: None, object_value: None, secret },
            Secrets::Masked => None,
            Secrets::Shown(crypter) => crypter,
        };
        let mut failed = false;
        let text = value.text(&mut |ciphertext| {
            let opened = crypter.and_then(|crypter| crypter.decrypt_one(ciphertext).ok());
            match opened.as_ref().and_then(|plaintext| plaintext.as_text().ok()) {
                Some(text) => Cow::Owned::<str>(text.to_owned()),
                None => {
                    failed = true;
                    Cow::Borrowed("")
                }
            }
        });
        if failed {
            return Self { value: Some(UNREADABLE.to_owned()), object_value: None, secret };
        }
        let object = value.is_object().then(|| serde_json::from_str(&text).ok()).flatten();
        Self {
            value: Some(text),
            object_value: object.filter(|value: &serde_json::Value| !value.is_null()),
            secret,
        }
    }
}

/// A moment in seconds since 1970, in the form of the stock CLI.
fn moment(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(moment) => moment.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string(),
        Err(_) => seconds.to_string(),
    }
}

fn render(update: &UpdateRecord, full_dates: bool, now: Timestamp) -> String {
    let mut text = String::new();
    let count = |kind: &str| update.resource_changes.get(kind).copied().unwrap_or(0);
    let started = Timestamp::from_second(update.start_time).unwrap_or_default();
    let when = if full_dates { started.to_string() } else { ago(started, now) };
    let _ = writeln!(text, "Version: {}", update.version);
    let _ = writeln!(text, "UpdateKind: {}", update.kind);
    let _ = writeln!(text, "Status: {}", update.result);
    let _ = writeln!(text, "Message: {}", update.message);
    let _ = writeln!(
        text,
        "+{} -{} ~{} {} unchanged",
        count("create"),
        count("delete"),
        count("update"),
        count("same")
    );
    let _ = writeln!(text, "Updated {when} took {}s", update.end_time.saturating_sub(update.start_time));
    let environment = update.environment.iter().flatten().filter(|(_, value)| !value.trim().is_empty());
    for (name, value) in environment {
        let _ = writeln!(text, "    {name}: {value}");
    }
    text.push('\n');
    text
}
