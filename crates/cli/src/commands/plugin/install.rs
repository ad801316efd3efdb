//! `plugin install`: installs a plugin, or those that the project needs.

use super::kind;
use super::progress::Downloads;
use crate::commands::install::{install_dependencies, project_plugins};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_plugins::install::{InstallError, Installer, Order, Release, Source};
use drystone_plugins::languages::Program;
use drystone_plugins::search::{Installed, Kind, tolerant_version};
use drystone_workspace::project::PluginProject;
use futures::StreamExt;
use semver::Version;
use std::cmp::Ordering;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// What it is for: resource, language, analyzer, converter or tool
    #[arg(value_parser = kind, requires = "name")]
    kind: Option<Kind>,
    /// Its name
    name: Option<String>,
    /// Its version; the newest by default
    #[arg(id = "release", value_name = "VERSION")]
    version: Option<String>,
    /// The address of the folder to download it from, `github://HOST/OWNER/REPOSITORY` or `gitlab://HOST/PROJECT`
    #[arg(long, value_name = "URL", conflicts_with = "file")]
    server: Option<String>,
    /// A program, a folder or an archive to install, instead of downloading it
    #[arg(short, long, value_name = "PATH", requires = "release")]
    file: Option<PathBuf>,
    /// The SHA-256 that the archive must have
    #[arg(long, value_name = "HEX", requires = "name")]
    checksum: Option<String>,
    /// Only this version will do; otherwise a newer one that is installed does too
    #[arg(long)]
    exact: bool,
    /// Install it even if it is installed
    #[arg(long)]
    reinstall: bool,
    /// How many are installed at the same time; all of them if it is less than 1
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true)]
    parallel: i64,
}

/// A plugin that is to be installed.
#[derive(Debug)]
pub(in crate::commands) struct Wish {
    pub(in crate::commands) order: Order,
    /// Whether one of another, newer version will not do.
    pub(in crate::commands) exact: bool,
}

pub(crate) async fn run(context: &Context, args: InstallArgs) -> Outcome {
    let parallel = args.parallel;
    let wishes = match args.kind.zip(args.name.clone()) {
        Some((kind, name)) => vec![wish(context, args, kind, name).await?],
        None => project_plugins(context, args.exact, args.reinstall).await?,
    };
    install_all(context, wishes, parallel).await
}

async fn wish(context: &Context, args: InstallArgs, kind: Kind, name: String) -> Outcome<Wish> {
    let (name, version) = match (name.split_once('@'), args.version) {
        (Some((name, version)), None) => (name.to_owned(), Some(version.to_owned())),
        (Some((_, one)), Some(other)) => {
            return Err(Failure::configuration(format!("is it version `{one}` or `{other}`?")));
        }
        (None, version) => (name, version),
    };
    let source = match (args.file, args.server) {
        (Some(path), _) => Source::Path(context.environment.resolve(&path)),
        (None, Some(server)) => Source::Server(server),
        (None, None) => Source::Released,
    };
    let checksum = args.checksum.map(|text| checksum(&text)).transpose()?;
    let version = match version {
        Some(version) => read_version(&version)?,
        None => latest(context, kind, &name, &source).await?,
    };
    let release = Release { kind, name, version };
    let order = Order { release, source, checksum, reinstall: args.reinstall };
    Ok(Wish { order, exact: args.exact })
}

/// The newest version of a plugin.
async fn latest(context: &Context, kind: Kind, name: &str, source: &Source) -> Outcome<Version> {
    let installer = Installer::new(&context.environment).map_err(|error| refused(&error))?;
    let (name, source) = (name.to_owned(), source.clone());
    let working = terminal::working("looking for the newest version");
    let asked = blocking(move || installer.latest(kind, &name, &source)).await?;
    drop(working);
    asked.map_err(|error| refused(&error))
}

/// A SHA-256, as it is written.
fn checksum(text: &str) -> Outcome<String> {
    let is_one = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_one.then(|| text.to_ascii_lowercase()).ok_or_else(|| {
        Failure::configuration(format!("`{text}` is no SHA-256, which has 64 digits from 0 to f"))
    })
}

pub(in crate::commands) fn read_version(text: &str) -> Outcome<Version> {
    tolerant_version(text).ok_or_else(|| Failure::configuration(format!("`{text}` is no version")))
}

/// Installs plugins, several at once, unless ones that will do are installed, and says so.
pub(in crate::commands) async fn install_all(context: &Context, wishes: Vec<Wish>, parallel: i64) -> Outcome {
    let installer = Installer::new(&context.environment).map_err(|error| refused(&error))?;
    let at_once = usize::try_from(parallel).ok().filter(|&count| count > 0);
    let downloads = Downloads::default();
    let (installer, downloads) = (&installer, &downloads);
    // One that fails does not keep others from being installed.
    let outcomes: Vec<Outcome> = futures::stream::iter(wishes)
        .map(|wish| installed_or_fresh(context, installer, downloads, wish))
        .buffered(at_once.unwrap_or(usize::MAX))
        .collect()
        .await;
    outcomes.into_iter().collect()
}

async fn installed_or_fresh(
    context: &Context,
    installer: &Installer,
    downloads: &Downloads,
    Wish { order, exact }: Wish,
) -> Outcome {
    let release = order.release.clone();
    let will_do = |plugin: &Installed| {
        let order = plugin.version.cmp_precedence(&release.version);
        let is_version = if exact { order == Ordering::Equal } else { order != Ordering::Less };
        plugin.kind == release.kind && plugin.name == release.name && is_version
    };
    if !order.reinstall
        && let Some(plugin) = installer.cache().installed().find(will_do)
    {
        downloads.note(&format!("{} {}-{} is installed", plugin.kind, plugin.name, plugin.version));
        return Ok(());
    }
    downloads.note(&format!("Installing {release}"));
    let watched = downloads.watch(&release);
    let (installer, watch) = (installer.clone(), watched.clone());
    let fresh = blocking(move || installer.install(&order, &|stage| watch.take(stage))).await;
    drop(watched);
    let fresh = fresh?.map_err(|error| refused(&error))?;
    // A plugin in source code comes without what it depends on.
    if let Some(folder) = fresh.source() {
        let project = PluginProject::load(&folder.join("PulumiPlugin.yaml"));
        let runtime = project.map_err(Failure::configuration)?.runtime;
        install_dependencies(context, &Program::of_plugin(folder, runtime)).await?;
    }
    fresh.finish().map_err(|error| refused(&error))?;
    downloads.note(&format!("Installed {release}"));
    Ok(())
}

/// Does what blocks where it holds up nobody.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::new(ExitCode::Internal, format!("installing a plugin: {error}")))
}

fn refused(error: &InstallError) -> Failure {
    let code = match error {
        InstallError::Home { .. }
        | InstallError::Name { .. }
        | InstallError::Overrides { .. }
        | InstallError::Address { .. } => ExitCode::Configuration,
        InstallError::Download { .. } | InstallError::Latest { .. } | InstallError::Disk { .. } => {
            ExitCode::Unavailable
        }
        InstallError::Checksum { .. } | InstallError::Content { .. } => ExitCode::General,
    };
    let failure = error.details().iter().fold(Failure::new(code, error), Failure::detail);
    error.hint().into_iter().fold(failure, Failure::hint)
}
