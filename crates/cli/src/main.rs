//! The `drystone` command.

mod app;
mod backend;
mod canonical_properties;
mod cdkd_buckets;
mod commands;
mod context;
mod display;
#[cfg(test)]
mod documents;
mod edit;
mod moments;
mod report;
mod secrets_provider;
mod snapshot_diff;
mod snapshot_secrets;
mod terminal;
mod trees;
mod words;

use clap::{CommandFactory, Parser};
use context::Context;
use report::{ExitCode, Failure};
use std::process::ExitCode as ProcessExitCode;

/// Thousands of small values are made and dropped for each command: this one takes a quarter of an update's time less
/// than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ProcessExitCode {
    std::panic::set_hook(Box::new(|panic| {
        terminal::error_line(&format!("error: this is a bug in drystone: {panic}"));
        terminal::error_line(
            "hint: the state is safe: whatever was acknowledged is in the journal and the next command",
        );
        terminal::error_line("      brings it in. Please report the line above with what you ran.");
    }));
    // A reader that goes away, as in `drystone stack export | head`, ends us quietly; see `terminal::data`.
    match std::panic::catch_unwind(run) {
        Ok(Ok(())) => ProcessExitCode::SUCCESS,
        Ok(Err(failure)) => {
            terminal::failure(&failure);
            ProcessExitCode::from(failure.code as u8)
        }
        Err(_) => ProcessExitCode::from(ExitCode::Internal as u8),
    }
}

fn run() -> Result<(), Failure> {
    let words = words::of_process(&app::App::command());
    let app = match app::App::try_parse_from(words) {
        Ok(app) => app,
        Err(error) => return app::explain(&error),
    };
    let context = Context::of_process(app.globals)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(ExitCode::Internal, format!("starting the runtime: {error}")))?;
    let outcome = runtime.block_on(commands::run(&context, app.command));
    // A download that nobody waits for any more does not hold up the end.
    runtime.shutdown_background();
    outcome
}
