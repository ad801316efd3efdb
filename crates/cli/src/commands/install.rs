//! `install`: installs what the project depends on: packages of its language, and plugins.

use super::identity::PULUMI_VERSION;
use super::plugin::{Wish, install_all, read_version};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_engine::{Event, EventSink, PackageDescriptor, RunInfo};
use drystone_plugins::install::{Order, Release, Source, checksum_here};
use drystone_plugins::languages::{Language, LanguageError, Program};
use drystone_plugins::monitor::{MonitorServer, MonitorSettings};
use drystone_plugins::process::{Line, LineSink};
use drystone_plugins::proto::pulumirpc::PackageDependency;
use drystone_plugins::search::{Kind, Search, Wanted};
use drystone_workspace::Environment;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Packages are installed with the project's own package manager; plugins go to the cache that every \
                  project of this user shares."
)]
pub(crate) struct InstallArgs {
    /// Leave the plugins
    #[arg(long)]
    no_plugins: bool,
    /// Leave the packages of the language
    #[arg(long)]
    no_dependencies: bool,
    /// Install plugins even if they are installed
    #[arg(long)]
    reinstall: bool,
    /// Accepted for the stock CLI's sake
    #[arg(long, hide = true)]
    use_language_version_tools: bool,
    /// How many plugins are installed at the same time; all of them if it is less than 1
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true)]
    parallel: i64,
}

pub(crate) async fn run(context: &Context, args: &InstallArgs) -> Outcome {
    let project = context.require_project()?;
    let program = Program::of(&project).map_err(|error| told(&error))?;
    if !args.no_dependencies {
        install_dependencies(context, &program).await?;
    }
    if !args.no_plugins {
        install_all(context, project_plugins(context, true, args.reinstall).await?, args.parallel).await?;
    }
    terminal::note("Everything that the project depends on is installed");
    Ok(())
}

/// Installs what a program depends on, with the package manager of its language.
pub(super) async fn install_dependencies(context: &Context, program: &Program) -> Outcome {
    if runs_here(context, program)? {
        return Ok(());
    }
    let opened = Opened::new(context, program).await?;
    let installed = opened.language.install_dependencies(program, lines()).await;
    opened.close().await;
    installed.map_err(|error| told(&error))
}

/// The plugins that the project's language says it needs.
pub(super) async fn project_plugins(context: &Context, exact: bool, reinstall: bool) -> Outcome<Vec<Wish>> {
    let project = context.require_project()?;
    let program = Program::of(&project).map_err(|error| told(&error))?;
    let mut wishes = Vec::new();
    for Needed { kind, package } in needed(context, &program).await? {
        let PackageDescriptor { name, version, download_url, checksums, .. } = package;
        // What names no version takes any that is installed.
        let Some(kind) = Kind::of(&kind).filter(|_| !version.is_empty()) else { continue };
        if name == drystone_builtins::PACKAGE && download_url.is_empty() {
            continue;
        }
        let order = Order {
            release: Release { kind, name, version: read_version(&version)? },
            source: Source::named(&download_url),
            checksum: checksum_here(&checksums),
            reinstall,
        };
        wishes.push(Wish { order, exact });
    }
    Ok(wishes)
}

/// A plugin that a program needs.
struct Needed {
    kind: String,
    package: PackageDescriptor,
}

async fn needed(context: &Context, program: &Program) -> Outcome<Vec<Needed>> {
    if runs_here(context, program)? {
        let packages = drystone_yaml::required_packages(&program.directory).map_err(Failure::general)?;
        let needed = |package| Needed { kind: Kind::Resource.to_string(), package };
        return Ok(packages.into_iter().map(needed).collect());
    }
    let opened = Opened::new(context, program).await?;
    let required = opened.language.required_packages(program).await;
    opened.close().await;
    let needed = |package: PackageDependency| Needed {
        kind: package.kind,
        package: PackageDescriptor {
            name: package.name,
            version: package.version,
            download_url: package.server,
            checksums: package.checksums.into_iter().collect(),
            ..PackageDescriptor::default()
        },
    };
    Ok(required.map_err(|error| told(&error))?.packages.into_iter().map(needed).collect())
}

/// Whether a program is one in YAML that no plugin is asked to run.
fn runs_here(context: &Context, program: &Program) -> Outcome<bool> {
    let project = context.require_project()?;
    let search = Search::new(&context.environment, Some(&project)).map_err(Failure::configuration)?;
    Ok(program.runtime.name == "yaml"
        && !program.runtime.options.contains_key("compiler")
        && !search.is_asked_for(&Wanted::language("yaml")))
}

/// A language outside of any operation, and the port that its plugin may call.
pub(super) struct Opened {
    pub(super) language: Language,
    server: MonitorServer,
}

impl Opened {
    pub(super) async fn new(context: &Context, program: &Program) -> Outcome<Self> {
        let settings = MonitorSettings {
            info: RunInfo::default(),
            root: program.root.clone(),
            directory: program.directory.clone(),
            version: PULUMI_VERSION.trim_start_matches('v').to_owned(),
            resource_references: true,
            output_values: true,
            events: Arc::new(Nobody),
        };
        let server = MonitorServer::start(settings).await.map_err(|error| {
            Failure::new(ExitCode::Unavailable, format!("no port of this machine can be opened: {error}"))
        })?;
        let search = Search::new(&context.environment, None).map_err(Failure::configuration)?;
        let environment = Environment::of_process()
            .map_err(|error| Failure::configuration(format!("the working folder cannot be told: {error}")))?;
        let environment = Arc::new(environment);
        let address = server.endpoint().address().to_owned();
        let language = Language::open(program, None, &search, &environment, &address, lines()).await;
        let language = language.map_err(|error| told(&error))?;
        Ok(Self { language, server })
    }

    pub(super) async fn close(self) {
        self.language.close().await;
        self.server.stop().await;
    }
}

/// What package managers print is for people.
pub(super) fn lines() -> LineSink {
    Arc::new(|line: Line| terminal::note(line.text))
}

pub(super) fn told(error: &LanguageError) -> Failure {
    let failure = Failure::general(error);
    error.hint().into_iter().fold(failure, Failure::hint)
}

/// No operation runs, so nobody hears of one.
struct Nobody;

impl EventSink for Nobody {
    fn send(&self, _: Event) {}
}
