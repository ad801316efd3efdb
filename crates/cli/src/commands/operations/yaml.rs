//! Programs in YAML, which are evaluated in this process.
//!
//! The plugin `pulumi-language-yaml` runs them when it is asked for: a project that names one under
//! `plugins.languages`, or `PULUMI_DEBUG_LANGUAGES=yaml:<port>` for one that already runs. A plugin that only happens
//! to be on the PATH is not started.

use super::flow::ORGANIZATION;
use super::hosting::Hosting;
use super::subject::Subject;
use crate::commands::identity::PULUMI_VERSION;
use async_trait::async_trait;
use drystone_engine::{
    CancelLevel, Cancellation, Monitor, Options, PackageDescriptor, Program, ProgramError, ProviderError,
};
use drystone_plugins::languages::Program as ProgramPlace;
use drystone_plugins::monitor::Endpoint;
use drystone_plugins::search::{Found, Kind, Place, Search, Wanted, tolerant_version};
use drystone_workspace::Value;
use drystone_yaml::{YamlComponents, YamlProgram};
use std::path::Path;
use std::sync::Arc;

/// The program of a project in YAML, unless a plugin is to run it.
pub(super) fn program(
    place: &ProgramPlace,
    subject: &Subject,
    options: &Options,
    hosting: &Hosting,
    cancellation: &Cancellation,
) -> Option<Arc<dyn Program>> {
    let runtime = &place.runtime;
    if runtime.name != "yaml" || hosting.search().is_asked_for(&Wanted::language(&runtime.name)) {
        return None;
    }
    let compiler = match runtime.options.get("compiler") {
        Some(Value::String(command)) => Some(command.clone()),
        _ => None,
    };
    let program = YamlProgram {
        directory: place.directory.clone(),
        root: place.root.clone(),
        organization: ORGANIZATION.to_owned(),
        project: subject.project.name.clone(),
        stack: subject.stack.name().to_owned(),
        config: subject.values.clone(),
        compiler,
        version: PULUMI_VERSION.trim_start_matches('v').to_owned(),
        dry_run: options.dry_run,
    };
    Some(Arc::new(Evaluated {
        program,
        endpoint: hosting.endpoint().clone(),
        cancellation: cancellation.clone(),
    }))
}

/// The components of a package that is a folder of YAML files, unless a plugin is to run them.
pub(super) fn components(
    package: &PackageDescriptor,
    search: &Search,
    directory: &Path,
    endpoint: &Endpoint,
) -> Result<Option<YamlComponents>, ProviderError> {
    let version = tolerant_version(&package.version);
    let wanted = Wanted { kind: Kind::Resource, name: package.name.clone(), version };
    let Ok(Found { place: Place::Source(source), .. }) = search.find(&wanted) else { return Ok(None) };
    if source.runtime.name != "yaml" || search.is_asked_for(&Wanted::language("yaml")) {
        return Ok(None);
    }
    let endpoint = endpoint.clone();
    let monitor = Arc::new(move || endpoint.monitor());
    YamlComponents::load(&source.folder, directory, monitor).map(Some)
}

/// A program in YAML within an operation.
struct Evaluated {
    program: YamlProgram,
    endpoint: Endpoint,
    cancellation: Cancellation,
}

#[async_trait]
impl Program for Evaluated {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        // Plugins that construct components register what is in them there.
        self.endpoint.attach(Arc::clone(&monitor));
        tokio::select! {
            biased;
            ended = self.program.run(monitor) => ended,
            () = self.cancellation.requested(CancelLevel::Graceful) => Err(ProgramError::Bailed),
        }
    }
}
