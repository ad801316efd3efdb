//! Installing the plugins that a run lacks.

use super::{Language, LanguageError, PluginError, PluginHost, Program};
use crate::install::{Fresh, InstallError, Installer, Order, Release, Source, Stage};
use crate::search::{SearchError, Wanted};
use drystone_workspace::project::PluginProject;
use std::sync::Arc;

/// Where a plugin that is missing comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The source that its package names.
    pub source: Source,
    /// The SHA-256 that its archive must have on this machine.
    pub checksum: Option<String>,
}

impl Default for Offer {
    fn default() -> Self {
        Self { source: Source::Released, checksum: None }
    }
}

/// How installing a plugin goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installing {
    /// It has come that far.
    At(Stage),
    /// It is installed.
    Done,
    /// It is not.
    Failed,
}

/// Hears how installing goes.
pub type InstallSink = Arc<dyn Fn(&Release, Installing) + Send + Sync>;

/// Installs what is missing.
pub(super) struct Acquisition {
    pub(super) installer: Installer,
    pub(super) sink: InstallSink,
}

impl PluginHost {
    /// The same, where plugins that are missing are installed.
    #[must_use]
    pub fn with_installer(mut self, installer: Installer, sink: InstallSink) -> Self {
        self.acquisition = Some(Acquisition { installer, sink });
        self
    }

    /// Installs a plugin unless it is there. One that comes with the stock CLI cannot be; starting it says so.
    pub async fn provide(&self, wanted: &Wanted, offer: &Offer) -> Result<(), PluginError> {
        let Some(Acquisition { installer, sink }) = &self.acquisition else { return Ok(()) };
        let is_missing = matches!(self.search.find(wanted), Err(SearchError::Missing(_)));
        if !is_missing || wanted.is_bundled() {
            return Ok(());
        }
        let (installer, told) = (installer.clone(), Arc::clone(sink));
        let (wanted, offer) = (wanted.clone(), offer.clone());
        let installing = tokio::task::spawn_blocking(move || install(&installer, &wanted, offer, &told));
        let (release, fresh) = installing.await.map_err(PluginError::Interrupted)??;
        let provided = self.complete(fresh).await;
        sink(&release, if provided.is_ok() { Installing::Done } else { Installing::Failed });
        provided
    }

    /// Gives a plugin in source code what it depends on.
    async fn complete(&self, fresh: Fresh) -> Result<(), PluginError> {
        if let Some(folder) = fresh.source() {
            let project = PluginProject::load(&folder.join("PulumiPlugin.yaml"));
            let runtime = project.map_err(SearchError::Project)?.runtime;
            let language = Wanted::language(&runtime.name);
            let sink = (self.sink)(&language);
            let program = Program::of_plugin(folder, runtime);
            let address = &self.engine_address;
            let opened =
                Language::open(&program, None, &self.search, &self.environment, address, sink.clone())
                    .await?;
            let installed: Result<(), LanguageError> = opened.install_dependencies(&program, sink).await;
            opened.close().await;
            installed?;
        }
        fresh.finish()?;
        Ok(())
    }
}

/// Installs the wanted version of a plugin, or the newest.
fn install(
    installer: &Installer,
    wanted: &Wanted,
    offer: Offer,
    sink: &InstallSink,
) -> Result<(Release, Fresh), InstallError> {
    let (kind, name) = (wanted.kind, wanted.name.clone());
    let version = match &wanted.version {
        Some(version) => version.clone(),
        None => installer.latest(kind, &name, &offer.source)?,
    };
    let release = Release { kind, name, version };
    let Offer { source, checksum } = offer;
    let order = Order { release: release.clone(), source, checksum, reinstall: false };
    let installed = installer.install(&order, &|stage| sink(&release, Installing::At(stage)));
    if installed.is_err() {
        sink(&release, Installing::Failed);
    }
    Ok((release, installed?))
}
