//! `config set`: sets a value or a part of one.

use super::settings::{Opened, chain};
use super::{Place, suspicion};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::Args;
use drystone_secrets::Plaintext;
use drystone_workspace::config::{NewValue, Type};
use std::io::{IsTerminal, Read};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone config set aws:region eu-central-1
  drystone config set --secret dbPassword < password.txt
  drystone config set --path 'tags.team' payments
  drystone config set offset -- -5")]
pub(crate) struct SetArgs {
    /// The key, as `name` or `namespace:name`
    key: String,
    /// The value
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,
    /// Read the key as a path into a list or into named values
    #[arg(long)]
    path: bool,
    /// Encrypt the value
    #[arg(long, conflicts_with_all = ["plaintext", "type_name"])]
    secret: bool,
    /// Keep the value in plain text, even if it looks like a secret
    #[arg(long, conflicts_with = "type_name")]
    plaintext: bool,
    /// The type of the value: string, int, bool or float
    #[arg(id = "type_name", long = "type", value_name = "TYPE")]
    type_name: Option<String>,
    /// Keep the line break at the end of standard input
    #[arg(long)]
    raw: bool,
}

pub(crate) async fn run(context: &Context, place: &Place, args: SetArgs) -> Outcome {
    let mut opened = Opened::open(context, place, None).await?;
    let locator = opened.locate(&args.key, args.path)?;
    let of_type = match &args.type_name {
        Some(name) => Some(name.parse::<Type>().map_err(Failure::configuration)?),
        None => None,
    };
    let text = match args.value {
        Some(text) => text,
        None => ask(context, args.secret, args.raw)?,
    };
    let value = if args.secret {
        let sealed = opened.seal(context, &[Plaintext::from(text)])?;
        NewValue::secure(sealed.into_iter().next().unwrap_or_default())
    } else {
        if !args.plaintext && suspicion::looks_like_secret(locator.key.name(), &text) {
            return Err(Failure::general(format!("config value for '{}' looks like a secret", locator.key))
                .hint("encrypt it with `--secret`, or keep it in plain text with `--plaintext`"));
        }
        match of_type {
            Some(of_type) => NewValue::typed(&text, of_type).map_err(Failure::configuration)?,
            None => NewValue::Text(text),
        }
    };
    opened.file.settings.config.set(&locator, value).map_err(chain)?;
    opened.save().map(drop)
}

/// The value from standard input, or from whoever sits at the terminal.
fn ask(context: &Context, secret: bool, raw: bool) -> Outcome<String> {
    let mut input = std::io::stdin();
    if !input.is_terminal() {
        let mut text = String::new();
        input.read_to_string(&mut text).map_err(|error| {
            Failure::configuration(format!("reading the value from standard input: {error}"))
        })?;
        let trimmed = if raw { None } else { text.strip_suffix('\n').map(str::to_owned) };
        return Ok(trimmed.unwrap_or(text));
    }
    if !context.is_interactive() {
        return Err(Failure::configuration("the value is missing, and nobody can be asked for it")
            .hint("give the value after the key, or pipe it to standard input"));
    }
    let answer = if secret {
        rpassword::prompt_password("value: ").ok()
    } else {
        inquire::Text::new("value:").prompt().ok()
    };
    answer.ok_or_else(|| Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"))
}
