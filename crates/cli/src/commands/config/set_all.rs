//! `config set-all`: sets several values as one change.

use super::Place;
use super::settings::{Opened, chain};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;
use drystone_secrets::Plaintext;
use drystone_workspace::config::{
    AssignmentError, Locator, NewValue, parse_assignment, parse_json_assignments,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone config set-all --plaintext region=eu --secret dbPassword=… --secret token=…
  drystone config set-all --path --plaintext 'names[0]=a' --plaintext 'names[1]=b'
  drystone config set-all --json \"$(drystone config --json --show-secrets --stack other)\"")]
pub(crate) struct SetAllArgs {
    /// A value to keep in plain text, as KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    plaintext: Vec<String>,
    /// A value to encrypt, as KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    secret: Vec<String>,
    /// Read the keys as paths into lists or into named values
    #[arg(long)]
    path: bool,
    /// Values in the form that `config --json --show-secrets` prints
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, conflicts_with_all = ["plaintext", "secret", "path"])]
    json: Option<String>,
}

/// What to set, and whether its text is to be sealed first.
enum Change {
    Plain(Locator, NewValue),
    Secret(Locator, Plaintext),
}

pub(crate) async fn run(context: &Context, place: &Place, args: &SetAllArgs) -> Outcome {
    let mut opened = Opened::open(context, place, None).await?;
    let changes = changes(&opened.project.name, args).map_err(refused)?;
    let secrets: Vec<Plaintext> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Secret(_, plaintext) => Some(plaintext.clone()),
            Change::Plain(..) => None,
        })
        .collect();
    let mut sealed = opened.seal(context, &secrets)?.into_iter();
    for change in changes {
        let (locator, value) = match change {
            Change::Plain(locator, value) => (locator, value),
            Change::Secret(locator, _) => (locator, NewValue::secure(sealed.next().unwrap_or_default())),
        };
        opened.file.settings.config.set(&locator, value).map_err(chain)?;
    }
    opened.save().map(drop)
}

/// The changes in the order of the stock CLI: plain texts, secrets, JSON.
fn changes(project: &str, args: &SetAllArgs) -> Result<Vec<Change>, AssignmentError> {
    let mut changes = Vec::new();
    for text in &args.plaintext {
        let (locator, value) = parse_assignment(Some(project), text, args.path)?;
        changes.push(Change::Plain(locator, NewValue::Text(value)));
    }
    for text in &args.secret {
        let (locator, value) = parse_assignment(Some(project), text, args.path)?;
        changes.push(Change::Secret(locator, Plaintext::from(value)));
    }
    for assignment in args.json.iter().map(|text| parse_json_assignments(Some(project), text)) {
        for assignment in assignment? {
            changes.push(if assignment.secret {
                Change::Secret(assignment.locator, Plaintext::from(assignment.text))
            } else {
                Change::Plain(assignment.locator.clone(), assignment.value(None))
            });
        }
    }
    Ok(changes)
}

fn refused(error: AssignmentError) -> Failure {
    let hint = match &error {
        // The argument may be a secret: it is not repeated.
        AssignmentError::Form { .. } => {
            return Failure::configuration("config value must be in the form KEY=VALUE")
                .hint("put a key that has `=` in it between quotes, as in `--plaintext '\"a=b\"=value'`");
        }
        AssignmentError::Key(_) => "a key is `name`, or `namespace:name` for a provider or another project",
        AssignmentError::Json(_) => "print one with `drystone config --json --show-secrets`",
        AssignmentError::NoValue { .. } => "secrets have a value only with `config --json --show-secrets`",
    };
    chain(error).hint(hint)
}
