//! `plugin rm`: removes what is installed.

use super::{cache, kind};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_plugins::search::{Installed, Kind, VersionRange};

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// What it is for: resource, language, analyzer, converter or tool
    #[arg(value_parser = kind, required_unless_present = "all")]
    kind: Option<Kind>,
    /// Its name; all names by default
    name: Option<String>,
    /// Its version, or a range such as `>=1.0.0 <2.0.0`; all versions by default
    #[arg(id = "range", value_name = "VERSION")]
    version: Option<String>,
    /// Every plugin
    #[arg(short, long)]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(context: &Context, args: &RemoveArgs) -> Outcome {
    let range = args.version.as_deref().map(|text| {
        VersionRange::parse(text).ok_or_else(|| {
            Failure::configuration(format!("`{text}` is neither a version nor a range of them"))
        })
    });
    let range = range.transpose()?;
    let cache = cache(context)?;
    let is_meant = |plugin: &Installed| {
        args.kind.is_none_or(|kind| kind == plugin.kind)
            && args.name.as_ref().is_none_or(|name| *name == plugin.name)
            && range.as_ref().is_none_or(|range| range.contains(&plugin.version))
    };
    let mut plugins: Vec<Installed> = cache.installed().filter(is_meant).collect();
    if plugins.is_empty() {
        terminal::note("No such plugin is installed; nothing was removed");
        return Ok(());
    }
    plugins.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    if !args.yes && !context.skips_confirmations() {
        for Installed { kind, name, version, .. } in &plugins {
            terminal::note(format!("  {kind} {name}-{version}"));
        }
        if !context.is_interactive() {
            return Err(Failure::configuration("removing plugins asks first, and nobody can answer")
                .hint("pass `--yes`"));
        }
        let plural = if plugins.len() == 1 { "" } else { "s" };
        if !context.confirm(&format!("This removes {} plugin{plural}. Go on?", plugins.len()))? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was removed"));
        }
    }
    for plugin in &plugins {
        let Installed { kind, name, version, folder } = plugin;
        cache.remove(plugin).map_err(|error| {
            Failure::new(ExitCode::Unavailable, format!("{} cannot be removed: {error}", folder.display()))
        })?;
        terminal::line(format!("removed: {kind} {name}-{version}"));
    }
    Ok(())
}
