//! Hidden commands for tests and support.

mod unobin;

use super::manual::reference;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, Subcommand};
use std::io::BufRead;

#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(subcommand)]
    command: DebugCommand,
}

#[derive(Debug, Subcommand)]
enum DebugCommand {
    /// Replay journals: lines `{"base":…,"entries":[…]}` in, the resulting deployment or error out
    Replay,
    /// Print the reference of all commands, as Markdown
    Reference,
    /// Read and write unobin's documents and trees, beside unobin's own packages
    Unobin(unobin::UnobinArgs),
}

pub(crate) async fn run(args: &DebugArgs) -> Outcome {
    match &args.command {
        DebugCommand::Unobin(args) => unobin::run(args).await,
        DebugCommand::Replay => replay(),
        DebugCommand::Reference => {
            terminal::data(&reference());
            Ok(())
        }
    }
}

fn replay() -> Outcome {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::general(format!("reading standard input: {error}")))?;
        if !line.trim().is_empty() {
            terminal::line(drystone_journal::replay_line(&line));
        }
    }
    Ok(())
}
