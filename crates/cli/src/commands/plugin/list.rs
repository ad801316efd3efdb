//! `plugin ls`: lists what is installed.

use super::cache;
use crate::commands::identity::Format;
use crate::commands::stack::milliseconds;
use crate::context::Context;
use crate::moments::ago;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_plugins::search::Installed;
use indicatif::HumanBytes;
use jiff::Timestamp;
use serde::Serialize;
use std::fs;
use std::path::Path;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    format: Format,
}

/// A plugin as the stock CLI lists it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    kind: &'static str,
    version: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_time: Option<String>,
}

pub(crate) fn run(context: &Context, args: &ListArgs) -> Outcome {
    let mut plugins: Vec<Installed> = cache(context)?.installed().collect();
    plugins.sort_by(|one, other| {
        (&one.name, one.kind, &one.version).cmp(&(&other.name, other.kind, &other.version))
    });
    if args.format.is_json() {
        let listed = plugins.iter().map(|plugin| Listed {
            name: plugin.name.clone(),
            kind: plugin.kind.as_str(),
            version: plugin.version.to_string(),
            size: size(&plugin.folder),
            install_time: installed(&plugin.folder).map(milliseconds),
            last_used_time: last_used(&plugin.folder).map(milliseconds),
        });
        terminal::json(&listed.collect::<Vec<_>>());
        return Ok(());
    }
    if plugins.is_empty() {
        terminal::note("No plugins are installed");
        return Ok(());
    }
    let now = Timestamp::now();
    let told = |moment: Option<Timestamp>| moment.map_or_else(|| "n/a".to_owned(), |moment| ago(moment, now));
    let mut rows =
        vec![["NAME", "KIND", "VERSION", "SIZE", "INSTALLED", "LAST USED"].map(str::to_owned).to_vec()];
    let mut total = 0;
    for plugin in &plugins {
        let size = size(&plugin.folder);
        total += size;
        rows.push(vec![
            plugin.name.clone(),
            plugin.kind.to_string(),
            plugin.version.to_string(),
            HumanBytes(size).to_string(),
            told(installed(&plugin.folder)),
            told(last_used(&plugin.folder)),
        ]);
    }
    terminal::data(&terminal::table(&rows));
    terminal::note(format!("{} in all", HumanBytes(total)));
    Ok(())
}

/// The bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => size(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// When it was put where it is.
fn installed(folder: &Path) -> Option<Timestamp> {
    let about = fs::metadata(folder).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Timestamp::new(about.ctime(), i32::try_from(about.ctime_nsec()).ok()?).ok()
    }
    #[cfg(not(unix))]
    about.modified().ok()?.try_into().ok()
}

/// When it was started last: the stock CLI leaves a mark beside it; else the folder's own time says it, roughly.
fn last_used(folder: &Path) -> Option<Timestamp> {
    let name = folder.file_name()?.to_str()?;
    let mark =
        fs::metadata(folder.with_file_name(format!("{name}.lastused"))).and_then(|about| about.modified());
    let moment = mark.or_else(|_| fs::metadata(folder)?.accessed()).ok()?;
    moment.try_into().ok()
}
