//! `stack export`: prints the state of a stack.

use super::revision_name::Revisions;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::{snapshot_secrets, terminal};
use clap::Args;
use drystone_dialects::pulumi::properties::SecretForm;
use drystone_dialects::pulumi::{Export, WriteError};
use drystone_stores::At;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Print the state of a stack.
///
/// The document can be edited and brought back with `drystone stack import`. Secrets are printed sealed unless
/// `--show-secrets` is given.
#[derive(Debug, Args)]
#[command(
    disable_version_flag = true,
    after_help = "Examples:\n  drystone stack export --file state.json\n  drystone stack export --version 12"
)]
pub(crate) struct ExportArgs {
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print secrets in clear
    #[arg(long)]
    show_secrets: bool,
    /// Print an earlier revision: its number, or `@-` for the one before the current
    #[arg(long, value_name = "REVISION")]
    version: Option<String>,
}

pub(crate) async fn run(context: &Context, args: ExportArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let at = match &args.version {
        None => At::Current,
        Some(word) => Revisions::load(&backend, &stack).await?.find(word)?,
    };
    let mut recorded = backend.store().snapshot(&stack, at).await?;
    if args.version.is_none() {
        context.warn_of_unrecovered(&backend, &stack).await?;
    }
    let mut form = SecretForm::Sealed;
    if args.show_secrets {
        let manager = context.snapshot_secrets(&stack, &recorded);
        snapshot_secrets::reveal(&mut recorded.snapshot, manager.crypter().as_ref())?;
        form = SecretForm::Plaintext;
    }
    let export = Export {
        snapshot: recorded.ever_written.then_some(recorded.snapshot),
        byte_strings: recorded.byte_strings,
        ..Export::default()
    };
    match &args.file {
        Some(path) => {
            let failed = |error: &dyn std::fmt::Display| {
                Failure::new(ExitCode::Unavailable, format!("writing {}: {error}", path.display()))
                    .hint("the state itself is untouched; choose another file, or print to standard output")
            };
            let file = std::fs::File::create(path).map_err(|error| failed(&error))?;
            let mut out = BufWriter::with_capacity(1 << 20, file);
            export.write(&mut out, form).map_err(|error| failed(&error))?;
            out.flush().map_err(|error| failed(&error))
        }
        None => {
            let mut refused = None;
            terminal::plain_data_with(|out| match export.write(out, form) {
                Ok(()) => Ok(()),
                Err(WriteError::Io(error)) => Err(error),
                Err(error) => {
                    refused = Some(error);
                    Ok(())
                }
            });
            refused.map_or(Ok(()), |error| Err(Failure::new(ExitCode::Unsound, error)))
        }
    }
}
