//! `config refresh`: brings the settings file back to what the last update ran with.

use super::Place;
use super::settings::{Opened, chain};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_dialects::pulumi::history::UpdateRecord;
use drystone_workspace::Value;
use drystone_workspace::config::{Config, Key};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Keep no copy of the file as it was
    #[arg(short, long)]
    force: bool,
}

pub(crate) async fn run(context: &Context, place: &Place, args: &RefreshArgs) -> Outcome {
    let mut opened = Opened::open(context, place, None).await?;
    let updates = opened.backend.store().updates(&opened.stack).await?;
    let Some(latest) = updates.first() else {
        return Err(Failure::general(format!(
            "{}: no previous deployment to take the configuration from",
            opened.stack
        ))
        .hint("the configuration of a stack is recorded by its first update"));
    };
    opened.file.settings.config = recorded_config(latest.text())?;
    if let Some(manager) = opened.state_manager(context) {
        opened.adopt(&manager)?;
    }
    if !opened.file.is_changed() {
        terminal::note(format!("{} is as the last update had it", opened.file.path().display()));
        return Ok(());
    }
    // What cannot be written must not leave a copy behind.
    opened.file.render().map_err(super::settings::file_failure)?;
    if opened.file.exists() && !args.force {
        let kept = keep_copy(opened.file.path()).map_err(|error| {
            Failure::new(
                ExitCode::Unavailable,
                format!("{}: keeping a copy of it: {error}", opened.file.path().display()),
            )
            .hint("nothing was changed; `--force` goes on without a copy")
        })?;
        terminal::line(format!("backed up existing configuration file to {}", kept.display()));
    }
    opened.save()?;
    terminal::line(format!("refreshed configuration for stack '{}'", opened.stack.name()));
    Ok(())
}

/// The configuration that an update's record tells, secrets sealed.
pub(in crate::commands) fn recorded_config(record: &str) -> Outcome<Config> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        Failure::new(
            ExitCode::Unsound,
            format!("the record of the last update holds no readable configuration: {reason}"),
        )
    };
    let record = UpdateRecord::read(record.as_bytes()).map_err(|error| unreadable(&error))?;
    let Some(config) = record.config else { return Ok(Config::default()) };
    let members: Option<BTreeMap<String, serde_json::Value>> =
        config.decode().map_err(|error| unreadable(&error))?;
    let values = members.unwrap_or_default().into_iter().map(|(name, value)| {
        let key: Key = name.parse().map_err(chain)?;
        Ok((key, Value::from_json(&value)))
    });
    values.collect()
}

/// Copies a file to a free name beside it.
fn keep_copy(path: &Path) -> std::io::Result<PathBuf> {
    let text = std::fs::read(path)?;
    let mut kept = path.to_owned();
    loop {
        kept.as_mut_os_string().push(".bak");
        match std::fs::File::create_new(&kept) {
            Ok(mut file) => {
                file.write_all(&text)?;
                file.sync_all()?;
                return Ok(kept);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
