//! `watch`: updates the stack again and again, whenever the program changes.
//!
//! Each run is an `up` without questions. What fails is told and waited out: the next change may mend it. `changes` tells
//! what changed below which paths, `ignored` what nobody cares about.

mod changes;
mod ignored;

use super::flags::{CommonFlags, FailureFlags, RefreshFlags};
use super::flow;
use super::policies::PolicyFlags;
use super::request::{Kind, Mode, Request};
use super::signals::Signals;
use super::subject::Subject;
use crate::context::Context;
use crate::display::time_of_day;
use crate::report::{ExitCode, Outcome};
use crate::terminal;
use changes::Changes;
use clap::Args;
use std::path::PathBuf;

/// Update the stack whenever the program changes.
///
/// Runs an update without asking, then another one each time that a file of the project changes, until ^C. A run that
/// fails does not end it. What changes while an update runs is picked up by one more. Files of version control, installed
/// packages, virtual environments, caches, the state and editors' temporary files are not looked at. What a run itself
/// writes below the project is a change, too: a program that writes there each time needs `--path`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  drystone watch                            the whole project
  drystone watch --path src --path lib      only these folders
  drystone watch -s dev -c size=3           set a configuration value first")]
pub(crate) struct WatchArgs {
    /// Watch only this file or folder, from the project's folder on; may be given again
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
    #[command(flatten)]
    refresh: RefreshFlags,
    #[command(flatten)]
    failures: FailureFlags,
    /// What seals the secrets of a stack that is made for this: `default`, `passphrase`, or the URL of a key
    #[arg(long, value_name = "PROVIDER", default_value = "default")]
    secrets_provider: String,
    #[command(flatten)]
    policy: PolicyFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl WatchArgs {
    /// One of the updates, or why it cannot be had.
    fn request(&self, context: &Context) -> Outcome<Request> {
        let mut options = self.common.options(context)?;
        options.continue_on_error = self.failures.goes_on(context)?;
        Ok(Request {
            mode: Mode::AtOnce,
            refresh: self.refresh.first()?,
            policy_packs: self.policy.clone().packs()?,
            new_stack: Some(self.secrets_provider.clone()),
            stamped: true,
            ..Request::new(Kind::Update, options, self.common.clone())
        })
    }
}

/// Runs until somebody ends it.
pub(super) async fn run(context: &Context, mut args: WatchArgs) -> Outcome {
    let folder = context.require_project()?.directory().to_owned();
    // What cannot work at all ends it here. Values of `--config` are kept once, before anybody looks for changes.
    let stack = Subject::open(context, &args.request(context)?).await?.shown();
    args.common.config.config.clear();
    let mut changes = Changes::watch(&folder, &args.path)?;
    let mut signals = Signals::listen()?;
    say(format!("Watching {} for changes of {stack}; ^C ends it", folder.display()));
    loop {
        match flow::run(context, args.request(context)?).await {
            Ok(()) => {}
            Err(failure) if failure.code == ExitCode::Cancelled => return Err(failure),
            Err(failure) => terminal::failure(&failure),
        }
        say("Waiting for changes");
        let changed = tokio::select! {
            biased;
            name = signals.first() => {
                say(format!("{name} received; no longer watching"));
                return Ok(());
            }
            changed = changes.next() => changed?,
        };
        say(format!("Changed: {}", listed(&changed)));
    }
}

/// Tells something of the watching itself, with the time.
fn say(text: impl std::fmt::Display) {
    terminal::note(format!("{}  {text}", time_of_day()));
}

/// The first few names; the rest is counted.
fn listed(names: &[String]) -> String {
    const NAMED: usize = 3;
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
