//! Installing the plugins that an operation lacks.

use super::hosting::{hinted, tell};
use crate::backend::is_true;
use crate::report::{Failure, Outcome};
use drystone_engine::{Event, EventSink, PackageDescriptor, Progress, ProgressKind, Severity};
use drystone_model::Urn;
use drystone_plugins::install::{InstallError, Installer, Release, Source, Stage, checksum_here};
use drystone_plugins::languages::{InstallSink, Installing, Offer};
use drystone_workspace::Environment;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What installs plugins that are missing, unless nothing is to: `PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION`.
pub(super) fn installer(environment: &Environment) -> Outcome<Option<Installer>> {
    if is_true(environment, "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") {
        return Ok(None);
    }
    match Installer::new(environment) {
        Ok(installer) => Ok(Some(installer)),
        // What is found without a folder of plugins does.
        Err(InstallError::Home { .. }) => Ok(None),
        Err(error) => {
            let hint = error.hint();
            Err(hinted(Failure::configuration(error), hint))
        }
    }
}

/// How often it is told how far a download is.
const PULSE: Duration = Duration::from_millis(100);

/// Tells how installing plugins goes.
pub(super) fn install_sink(events: &Arc<dyn EventSink>) -> InstallSink {
    let events = Arc::clone(events);
    let last = Mutex::new(HashMap::<Release, Instant>::new());
    Arc::new(move |release: &Release, installing: Installing| {
        let name = format!("{}-{}", release.name, release.version);
        let tell_all = |severity, message| tell(&events, Urn::default(), severity, message);
        let progress = |kind: ProgressKind, verb: &str, (received, total), done| {
            events.send(Event::Progress(Progress {
                kind,
                id: format!("{}:{name}", kind.as_str()),
                message: format!("{verb} plugin {name}"),
                received,
                total,
                done,
            }));
        };
        let downloading = |so_far, done| progress(ProgressKind::PluginDownload, "Downloading", so_far, done);
        let unpacking = |done| progress(ProgressKind::PluginInstall, "Installing", (0, None), done);
        match installing {
            Installing::At(Stage::Waiting) => {
                let message = format!("Waiting for another command that is installing plugin {name}");
                tell_all(Severity::Info, message);
            }
            Installing::At(Stage::Downloading { bytes, total }) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                let due = last.get(release).is_none_or(|last| last.elapsed() >= PULSE);
                if due {
                    last.insert(release.clone(), Instant::now());
                    downloading((bytes, total), false);
                }
            }
            Installing::At(Stage::Again { cause }) => {
                let message = format!("downloading plugin {name} broke off and is tried again: {cause}");
                tell_all(Severity::Warning, message);
            }
            Installing::At(Stage::Unpacking) => {
                downloading((0, None), true);
                unpacking(false);
            }
            Installing::Done | Installing::Failed => {
                downloading((0, None), true);
                unpacking(true);
            }
        }
    })
}

/// Where the plugin of a package comes from if it is missing.
pub(super) fn offer(package: &PackageDescriptor) -> Offer {
    Offer { source: Source::named(&package.download_url), checksum: checksum_here(&package.checksums) }
}
