//! `config get`: prints one value.

use super::Place;
use super::settings::{Opened, internal};
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_workspace::Value;
use drystone_workspace::config::{Config, Secrets, Shown};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone config get aws:region
  drystone config get --path 'subnets[0].cidr'")]
pub(crate) struct GetArgs {
    /// The key, as `name` or `namespace:name`
    key: String,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// Read the key as a path into a list or into named values
    #[arg(long)]
    path: bool,
    /// Accepted for the stock CLI's sake: there are no environments to open
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    open: Option<bool>,
}

pub(crate) async fn run(context: &Context, place: &Place, args: &GetArgs) -> Outcome {
    let opened = Opened::open(context, place, None).await?;
    let locator = opened.locate(&args.key, args.path)?;
    let config = opened.effective()?;
    let Some(value) = config.get(&locator) else {
        return Err(opened.missing(&locator));
    };
    let shown = show(context, &opened, locator.key, value.into_owned())?;
    if args.json {
        terminal::line(escaped(&serde_json::to_string_pretty(&shown.to_json()).map_err(internal)?));
    } else {
        terminal::line(shown.text);
    }
    Ok(())
}

/// A value with its secrets opened.
fn show(
    context: &Context,
    opened: &Opened,
    key: drystone_workspace::config::Key,
    value: Value,
) -> Outcome<Shown> {
    if value == Value::Null {
        // A part of a value that is nothing, which a whole value never is.
        return Ok(Shown { text: "null".to_owned(), is_secret: false, is_object: true, is_masked: false });
    }
    let only = Config::from_iter([(key, value)]);
    let texts = opened.reveal(context, &only)?;
    let shown = only.shown(Secrets::Open(&texts)).map_err(internal)?;
    shown.into_values().next().ok_or_else(|| internal("a value was lost"))
}

/// JSON with the characters escaped that the stock CLI escapes here. They stand in texts only.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => text.push(other),
        }
    }
    text
}
