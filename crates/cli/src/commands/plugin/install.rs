//! `plugin install`: installs a plugin, or those that the project needs.

use super::{cache, kind};
use crate::commands::install::{install_dependencies, project_plugins};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_plugins::install::{InstallError, Overrides, Release, Source};
use drystone_plugins::languages::Program;
use drystone_plugins::search::{Installed, Kind, tolerant_version};
use drystone_workspace::project::PluginProject;
use semver::Version;
use std::cmp::Ordering;
use std::path::PathBuf;

/// Names other places to fetch plugins from.
const OVERRIDES: &str = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES";

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// What it is for: resource, language, analyzer, converter or tool
    #[arg(value_parser = kind, requires = "name")]
    kind: Option<Kind>,
    /// Its name
    name: Option<String>,
    /// Its version
    #[arg(id = "release", value_name = "VERSION")]
    version: Option<String>,
    /// The address of the folder to download it from
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
    /// Accepted for the stock CLI's sake
    #[arg(long, value_name = "N", hide = true)]
    parallel: Option<i64>,
}

/// A plugin that is to be installed.
#[derive(Debug)]
pub(in crate::commands) struct Wish {
    pub(in crate::commands) release: Release,
    pub(in crate::commands) source: Source,
    pub(in crate::commands) checksum: Option<String>,
    /// Whether one of another, newer version will not do.
    pub(in crate::commands) exact: bool,
    pub(in crate::commands) reinstall: bool,
}

pub(crate) async fn run(context: &Context, args: InstallArgs) -> Outcome {
    let wishes = match args.kind.zip(args.name.clone()) {
        Some((kind, name)) => vec![wish(context, args, kind, name)?],
        None => project_plugins(context, args.exact, args.reinstall).await?,
    };
    for wish in wishes {
        installed_or_fresh(context, wish).await?;
    }
    Ok(())
}

fn wish(context: &Context, args: InstallArgs, kind: Kind, name: String) -> Outcome<Wish> {
    let (name, version) = match (name.split_once('@'), args.version) {
        (Some((name, version)), None) => (name.to_owned(), Some(version.to_owned())),
        (Some((_, one)), Some(other)) => {
            return Err(Failure::configuration(format!("is it version `{one}` or `{other}`?")));
        }
        (None, version) => (name, version),
    };
    let Some(version) = version else {
        return Err(Failure::configuration(format!("which version of {name}?"))
            .hint(format!("name it: `drystone plugin install {kind} {name} VERSION`")));
    };
    let version = read_version(&version)?;
    let source = match (args.file, args.server) {
        (Some(path), _) => Source::Path(context.environment.resolve(&path)),
        (None, Some(server)) => Source::Server(server),
        (None, None) => Source::Released,
    };
    let release = Release { kind, name, version };
    Ok(Wish { release, source, checksum: args.checksum, exact: args.exact, reinstall: args.reinstall })
}

pub(in crate::commands) fn read_version(text: &str) -> Outcome<Version> {
    tolerant_version(text).ok_or_else(|| Failure::configuration(format!("`{text}` is no version")))
}

/// Installs a plugin unless one that will do is installed, and says so.
pub(in crate::commands) async fn installed_or_fresh(context: &Context, wish: Wish) -> Outcome {
    let cache = cache(context)?;
    let release = wish.release.clone();
    let will_do = |plugin: &Installed| {
        let order = plugin.version.cmp_precedence(&release.version);
        let is_version = if wish.exact { order == Ordering::Equal } else { order != Ordering::Less };
        plugin.kind == release.kind && plugin.name == release.name && is_version
    };
    if !wish.reinstall
        && let Some(plugin) = cache.installed().find(will_do)
    {
        terminal::note(format!("{} {}-{} is installed", plugin.kind, plugin.name, plugin.version));
        return Ok(());
    }
    let overrides = context.environment.variable(OVERRIDES).unwrap_or_default();
    let source = Overrides::parse(&overrides).map_err(refused)?.of(wish.source, &release);
    terminal::note(format!("Installing {release}"));
    let working = terminal::working("downloading and unpacking");
    let installing =
        tokio::task::spawn_blocking(move || cache.install(&wish.release, &source, wish.checksum.as_deref()));
    let installed = installing
        .await
        .map_err(|error| Failure::new(ExitCode::Internal, format!("installing {release}: {error}")))?;
    drop(working);
    let installed = installed.map_err(refused)?;
    // A plugin in source code comes without what it depends on.
    if let Ok(project) = PluginProject::load(&installed.folder.join("PulumiPlugin.yaml")) {
        let program = Program::of_plugin(&installed.folder, project.runtime);
        install_dependencies(context, &program).await?;
    }
    terminal::note(format!("Installed {release}"));
    Ok(())
}

fn refused(error: InstallError) -> Failure {
    let message = error.to_string();
    match error {
        InstallError::Name { .. } => Failure::configuration(message),
        InstallError::Overrides { .. } => Failure::configuration(message)
            .hint(format!("{OVERRIDES} is `REGEXP=ADDRESS`, several separated by commas")),
        InstallError::Address { .. } => Failure::configuration(message).hint(
            "name a folder at an `http://` or `https://` address with `--server`, or a file with `--file`",
        ),
        InstallError::Download { causes, .. } => causes
            .into_iter()
            .fold(Failure::new(ExitCode::Unavailable, message), Failure::detail)
            .hint("look at its name and version, or name where it is with `--server` or `--file`"),
        InstallError::Checksum { .. } => Failure::general(message)
            .hint("nothing was installed; it is not the file that was meant, or somebody changed it"),
        InstallError::Content { .. } => Failure::general(message).hint("nothing was installed"),
        InstallError::Disk { .. } => Failure::new(ExitCode::Unavailable, message),
    }
}
