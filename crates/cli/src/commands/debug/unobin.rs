//! `debug unobin`: unobin's documents and trees, verb by verb, so that our bytes can be compared with those of its own
//! packages. Ends with 3 when there is no current snapshot, with 1 on any other error.

use crate::report::{ExitCode, Failure, Outcome};
use crate::{terminal, trees};
use clap::{Args, Subcommand};
use drystone_dialects::unobin::{Envelope, Ref, Snapshot};
use drystone_secrets::envelope::{self, Form};
use drystone_stores::unobin::{Error as TreeError, HeldLock, Holder, Tree};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct UnobinArgs {
    #[command(subcommand)]
    command: UnobinCommand,
}

#[derive(Debug, Subcommand)]
enum UnobinCommand {
    /// Read a snapshot and write it again
    Encode { file: PathBuf },
    /// Put a file's bytes as ciphertext into an envelope
    Wrap {
        file: PathBuf,
        /// What the envelope says of its encrypter, as JSON, or `null`
        reference: String,
    },
    /// Seal a file
    Seal {
        file: PathBuf,
        /// What the envelope says of its encrypter, as JSON, or `null`
        reference: String,
        /// `noop`, `env-key:VARIABLE`, `kms:KEY`, `gcp-kms:KEY`, or a reference as JSON
        encrypter: String,
    },
    /// Open an envelope
    Open {
        file: PathBuf,
        /// `noop`, `env-key:VARIABLE`, `kms:KEY`, `gcp-kms:KEY`, or a reference as JSON
        encrypter: String,
    },
    /// Use the tree of a stack
    Store(StoreArgs),
}

#[derive(Debug, Args)]
struct StoreArgs {
    /// A folder, or the URL of a bucket
    root: String,
    factory: String,
    stack: String,
    /// `noop`, `env-key:VARIABLE`, `kms:KEY`, `gcp-kms:KEY`, or a reference as JSON
    encrypter: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the current snapshot
    Current,
    /// Print the name of the current revision
    CurrentRev,
    /// Print the names of the revisions, oldest first
    List,
    /// Print the snapshot of a revision
    Get { revision: String },
    /// Write a snapshot and print the name of its revision
    Write { file: PathBuf },
    /// Make a revision current
    SetCurrent { revision: String },
    /// Delete a revision
    Delete { revision: String },
    /// Take the lock, waiting for it, and hold it for some seconds
    LockHold { seconds: f64 },
    /// Try to take the lock for some seconds, and give it back
    LockTry { seconds: f64 },
    /// Break the lock
    ForceUnlock,
}

pub(super) async fn run(args: &UnobinArgs) -> Outcome {
    match &args.command {
        // Members that unobin does not know would stay in a store; here its own bytes are wanted.
        UnobinCommand::Encode { file } => print(&decoded(file)?.without_unknown()),
        UnobinCommand::Wrap { file, reference } => {
            let envelope = Envelope {
                version: 1,
                encrypter: said(reference)?,
                ciphertext: read(file)?,
                ..Envelope::default()
            };
            bytes(&envelope.encode());
            Ok(())
        }
        UnobinCommand::Seal { file, reference, encrypter } => {
            let form = Form::Shared(said(reference)?);
            bytes(
                &envelope::seal(&read(file)?, form, &*trees::encrypter(encrypter)?)
                    .map_err(Failure::general)?,
            );
            Ok(())
        }
        UnobinCommand::Open { file, encrypter } => {
            let encrypter = trees::encrypter(encrypter)?;
            let opened = envelope::open(&read(file)?, None, |_| Ok(encrypter)).map_err(sealed)?;
            bytes(opened.body.as_bytes());
            Ok(())
        }
        UnobinCommand::Store(args) => store(args).await,
    }
}

async fn store(args: &StoreArgs) -> Outcome {
    let encrypter = trees::encrypter(&args.encrypter)?;
    let tree = trees::root(&args.root, |name| std::env::var(name).ok())
        .await?
        .tree(&args.factory, &args.stack, encrypter)
        .map_err(refused)?;
    match &args.verb {
        Verb::Current => print(&tree.current().await.map_err(refused)?),
        Verb::CurrentRev => {
            terminal::line(tree.current_revision().await.map_err(refused)?);
            Ok(())
        }
        Verb::List => {
            tree.list().await.map_err(refused)?.iter().for_each(terminal::line);
            Ok(())
        }
        Verb::Get { revision } => print(&tree.get(revision).await.map_err(refused)?),
        Verb::Write { file } => {
            terminal::line(tree.write(&decoded(file)?).await.map_err(refused)?);
            Ok(())
        }
        Verb::SetCurrent { revision } => tree.set_current(revision).await.map_err(refused),
        Verb::Delete { revision } => tree.delete(revision).await.map_err(refused),
        Verb::LockHold { seconds } => {
            let seconds = duration(*seconds)?;
            let held = lock(&tree, None).await?;
            tokio::time::sleep(seconds).await;
            held.unlock().await.map_err(refused)
        }
        Verb::LockTry { seconds } => {
            let held = lock(&tree, Some(duration(*seconds)?)).await?;
            held.unlock().await.map_err(refused)
        }
        Verb::ForceUnlock => {
            if let Some(holder) = tree.force_unlock().await.map_err(refused)? {
                terminal::note(format!("The lock of {holder} is broken."));
            }
            Ok(())
        }
    }
}

/// Takes the lock and says so, so that a script knows when to go on.
async fn lock(tree: &Tree, at_most: Option<Duration>) -> Outcome<HeldLock> {
    let waiting = |holder: &Holder| terminal::note(format!("Waiting for the lock of {holder}."));
    let held = tree.lock(at_most, waiting).await.map_err(refused)?;
    terminal::line("locked");
    Ok(held)
}

fn duration(seconds: f64) -> Outcome<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| Failure::general(format!("{seconds}: {error}")))
}

fn read(file: &Path) -> Outcome<Vec<u8>> {
    std::fs::read(file).map_err(|error| Failure::general(format!("reading {}: {error}", file.display())))
}

fn decoded(file: &Path) -> Outcome<Snapshot> {
    Snapshot::decode(&read(file)?).map_err(Failure::general)
}

fn print(snapshot: &Snapshot) -> Outcome {
    bytes(&snapshot.encode().map_err(Failure::general)?);
    Ok(())
}

fn bytes(bytes: &[u8]) {
    terminal::data_with(|out| out.write_all(bytes));
}

fn said(reference: &str) -> Outcome<Option<Ref>> {
    Ref::decode(reference.as_bytes()).map_err(Failure::general)
}

fn sealed(error: envelope::Error) -> Failure {
    let failure = Failure::general(&error);
    match error {
        envelope::Error::Open { sealed_with: Some(reference), .. } => failure.hint(sealed_with(&reference)),
        _ => failure,
    }
}

fn sealed_with(reference: &Ref) -> String {
    let key = ["key-id", "env-var"]
        .iter()
        .find_map(|name| Some(format!(" {name} {}", reference.body.get(*name)?.as_str()?)));
    format!("the envelope says that it was sealed with {}{}", reference.name, key.unwrap_or_default())
}

fn refused(error: TreeError) -> Failure {
    let message = error.to_string();
    // The code of these verbs for a stack without a snapshot; elsewhere the number has another meaning.
    let code = match error {
        TreeError::NoCurrent => ExitCode::Authentication,
        _ => ExitCode::General,
    };
    let mut failure = Failure::new(code, message);
    if let Some(path) = error.path() {
        failure = failure.detail(path.display());
    }
    match error {
        TreeError::Open { reason, .. } => match *reason {
            envelope::Error::Open { sealed_with: Some(reference), .. } => {
                failure.hint(sealed_with(&reference))
            }
            _ => failure,
        },
        TreeError::Locked { .. } => failure
            .hint("if the holder is gone, free the stack with `drystone debug unobin store … force-unlock`"),
        _ => failure,
    }
}
