//! The secrets of a stack that is copied, where they are to be sealed anew, and the settings file that goes with it.
//!
//! Every revision that can be opened here is sealed by the new provider. An earlier one whose own provider refuses, such
//! as one from before a change of the passphrase, is copied as it is and stays readable with what sealed it (S18). The
//! current state has to open, or nothing is copied.

use super::super::sealing::{Wanted, seal_settings, seal_snapshot};
use crate::backend::StackAt;
use crate::context::{Context, secrets_failure};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{snapshot_secrets, terminal};
use drystone_model::Snapshot;
use drystone_secrets::{Keyring, Manager};
use drystone_stores::{Recorded, StackId};
use drystone_workspace::stack::StackFile;

/// The settings of the copy.
pub(super) struct Settings {
    file: StackFile,
    /// What seals them now.
    manager: Option<Manager>,
}

impl Settings {
    /// The settings of the copy, if this is the folder of its project. A copy of another name starts with those of the
    /// source.
    pub(super) fn open(context: &Context, from: &StackId, to: &StackId) -> Outcome<Option<Self>> {
        let Some(project) = context.project()? else { return Ok(None) };
        let is_here = |stack: &StackId| stack.project().is_none_or(|own| own == project.name);
        if !is_here(to) {
            return Ok(None);
        }
        let mut file = context.stack_file(&project, to)?;
        if !file.exists() && is_here(from) && from.name() != to.name() {
            file.settings = context.stack_file(&project, from)?.settings;
        }
        let manager = context.settings_secrets(to, &file.settings)?;
        Ok(Some(Self { file, manager }))
    }

    /// What the settings are to be sealed with.
    pub(super) fn wanted(
        &self,
        context: &Context,
        choice: &drystone_secrets::ProviderChoice,
    ) -> Outcome<Wanted> {
        Wanted::of(context, choice, &self.file.settings)
    }

    /// Seals them anew, in memory; whether they can be written is known then.
    pub(super) fn seal(&mut self, sealing: &Sealing<'_>) -> Outcome {
        seal_settings(&mut self.file, self.manager.as_ref(), &sealing.to)?;
        self.file.render().map(drop).map_err(|error| Failure::configuration_error(&error))
    }

    /// Writes what changed, in one step.
    pub(super) fn save(&mut self) -> Outcome {
        let saved = self.file.save().map_err(|error| {
            Failure::new(ExitCode::Unavailable, error)
                .detail("the state is copied; the settings are not written")
        })?;
        if saved {
            terminal::note(format!("{} goes with the copy now.", self.file.path().display()));
        }
        Ok(())
    }
}

/// Which revision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Current,
    Earlier,
}

/// How the secrets of the copies are sealed anew.
pub(super) struct Sealing<'a> {
    from: &'a StackAt,
    /// What seals the current state of the source.
    current: Manager,
    to: Manager,
    /// The keys of earlier revisions. Nobody is asked for their passphrases, which may be forgotten.
    unasked: Keyring,
}

impl<'a> Sealing<'a> {
    /// The provider that is wanted: as an interrupted migration has made it, as the source has it, or a new one.
    pub(super) fn new(
        context: &Context,
        from: &'a StackAt,
        wanted: &Wanted,
        current: &Recorded,
        there: Option<&Recorded>,
        settings: Option<&Settings>,
    ) -> Outcome<Self> {
        let settings = settings.and_then(|settings| settings.manager.as_ref());
        let of_source = context.snapshot_secrets(&from.stack, current);
        let there = there.map(|there| context.snapshot_secrets(&from.stack, there));
        let known = there.iter().chain([&of_source]).chain(settings);
        let to = match wanted.among(context, known) {
            Some(known) => known,
            None => wanted.fresh(context, settings)?,
        };
        to.unlock().map_err(secrets_failure)?;
        // Nothing is copied for nothing.
        snapshot_secrets::check(&current.snapshot, of_source.crypter().as_ref())
            .map_err(|failure| failure.detail("the state's secrets cannot be opened; nothing was changed"))?;
        Ok(Self { from, current: of_source, to, unasked: context.keyring_that_asks_nobody() })
    }

    /// Whether a snapshot is sealed as it is to be.
    pub(super) fn is_done(&self, snapshot: &Snapshot) -> bool {
        let manager = self.manager_of(snapshot);
        snapshot.secrets_provider.is_some() && manager.opens_what_is_sealed_by(&self.to)
    }

    /// A revision as it goes to the target.
    pub(super) fn sealed(&self, snapshot: &Snapshot, age: Age, number: i64) -> Outcome<Snapshot> {
        let mut sealed = snapshot.clone();
        if self.is_done(snapshot) {
            return Ok(sealed);
        }
        match seal_snapshot(&mut sealed, &self.manager_of(snapshot), &self.to) {
            Ok(()) => {
                // What another system keeps in clear within its own seal.
                snapshot_secrets::conceal(&mut sealed, self.to.crypter().as_ref())?;
                Ok(sealed)
            }
            Err(failure) if age == Age::Earlier && is_refusal(&failure) => {
                terminal::warning(format!(
                    "revision {number} is copied as it is, sealed by its own secrets provider: {}",
                    failure.message
                ));
                Ok(snapshot.clone())
            }
            Err(failure) => Err(failure.detail("the state's secrets cannot be opened; nothing was changed")),
        }
    }

    /// Whether the secrets of what was read back are those of the source.
    pub(super) fn opens_alike(&self, source: &Snapshot, there: &Snapshot) -> Outcome<bool> {
        if !self.is_done(there) {
            return Ok(true);
        }
        let opened = |snapshot: &Snapshot, manager: &Manager| -> Outcome<Snapshot> {
            let mut opened = Snapshot { secrets_provider: None, ..super::copying::content(snapshot.clone()) };
            snapshot_secrets::reveal(&mut opened, manager.crypter().as_ref())?;
            Ok(opened)
        };
        Ok(opened(source, &self.manager_of(source))? == opened(there, &self.to)?)
    }

    fn manager_of(&self, snapshot: &Snapshot) -> Manager {
        let stack = self.from.stack.to_string();
        let Some(provider) = &snapshot.secrets_provider else { return Manager::absent() };
        let own = Manager::of_snapshot(&self.unasked, provider, Some(&stack));
        let known = [&self.to, &self.current].into_iter().find(|known| known.opens_what_is_sealed_by(&own));
        known.cloned().unwrap_or(own)
    }
}

/// Whether it will not get better by trying again.
fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.code, ExitCode::Authentication | ExitCode::Configuration)
}
