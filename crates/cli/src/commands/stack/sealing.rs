//! What is to seal the secrets of a stack from now on, and sealing them so: the part that `stack change-secrets-provider`
//! and `stack migrate` have in common.

use crate::context::{Context, secrets_failure};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{secrets_provider, snapshot_secrets};
use drystone_model::{SecretsProvider, Snapshot};
use drystone_secrets::{Manager, Passphrase, ProviderChoice, recrypt};
use drystone_workspace::stack::{StackFile, StackSettings};
use serde::Deserialize;
use std::io::BufRead;

/// What is to seal the secrets.
pub(super) enum Wanted {
    /// What the settings name already.
    OfSettings,
    /// This passphrase.
    Passphrase(Passphrase),
    /// A data key that the service at this URL seals.
    KeyService(String),
}

impl Wanted {
    /// Finds out what is wanted and asks for the new passphrase where one is needed, as the stock CLI does.
    pub(super) fn of(context: &Context, choice: &ProviderChoice, settings: &StackSettings) -> Outcome<Self> {
        if let ProviderChoice::Cloud(url) = choice {
            return Ok(Self::KeyService(url.clone()));
        }
        let has_passphrase = secrets_provider::key_service(settings).is_none();
        let rotates = *choice == ProviderChoice::Passphrase && has_passphrase;
        if !rotates && has_passphrase && settings.encryption_salt.is_some() {
            return Ok(Self::OfSettings);
        }
        let passphrases = context.keyring().passphrases();
        let passphrase = if rotates && !context.is_interactive() {
            passphrase_of_input()?
        } else {
            passphrases.for_new(rotates).map_err(secrets_failure)?
        };
        Ok(Self::Passphrase(passphrase))
    }

    /// The first of several managers that is as wanted: an earlier command that was interrupted has made it.
    pub(super) fn among<'a>(
        &self,
        context: &Context,
        managers: impl IntoIterator<Item = &'a Manager>,
    ) -> Option<Manager> {
        managers.into_iter().find_map(|manager| match self {
            Self::OfSettings => None,
            Self::KeyService(url) => (manager.key_service().as_ref() == Some(url)).then(|| manager.clone()),
            Self::Passphrase(passphrase) => {
                let salt = salt_of(manager.provider())?;
                let crypter = context.keyring().open(&salt, passphrase).ok()?;
                Some(Manager::new(manager.provider().clone(), crypter))
            }
        })
    }

    /// A manager as wanted, with a salt or a data key of its own.
    pub(super) fn fresh(&self, context: &Context, of_settings: Option<&Manager>) -> Outcome<Manager> {
        match self {
            Self::OfSettings => Ok(of_settings.cloned().unwrap_or_else(Manager::absent)),
            Self::Passphrase(passphrase) => Manager::with_passphrase(context.keyring(), passphrase),
            Self::KeyService(url) => Manager::with_key_service(context.keyring(), url),
        }
        .map_err(secrets_failure)
    }
}

/// The first line of standard input without the white space around it.
fn passphrase_of_input() -> Outcome<Passphrase> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let read =
        read.map_err(|error| Failure::configuration(format!("reading the new passphrase: {error}")))?;
    if read == 0 {
        return Err(Failure::new(ExitCode::Authentication, "the new passphrase is missing: standard input is empty")
            .hint("pipe it in, as in `echo NEW | drystone stack change-secrets-provider passphrase`, or run the command in a terminal"));
    }
    Ok(Passphrase::new(line.trim()))
}

fn salt_of(provider: &SecretsProvider) -> Option<String> {
    #[derive(Deserialize)]
    struct State {
        salt: String,
    }
    provider.state.as_ref()?.decode::<State>().ok().map(|state| state.salt)
}

/// Seals the configuration anew and names the new provider, in memory.
pub(super) fn seal_settings(file: &mut StackFile, from: Option<&Manager>, to: &Manager) -> Outcome {
    if from.is_some_and(|from| from.opens_what_is_sealed_by(to)) {
        return Ok(());
    }
    let settings = &mut file.settings;
    let ciphertexts = settings.config.ciphertexts();
    if !ciphertexts.is_empty() {
        let absent = Manager::absent();
        let from = from.unwrap_or(&absent);
        let sealed: Vec<&str> = ciphertexts.iter().map(String::as_str).collect();
        let sealed = recrypt(&sealed, from.crypter().as_ref(), to.crypter().as_ref()).map_err(|error| {
            secrets_failure(error)
                .detail("the secrets of the settings file cannot be opened; nothing was changed")
        })?;
        settings.config = settings.config.with_ciphertexts(&sealed).map_err(Failure::general)?;
    }
    secrets_provider::record(settings, to)
}

/// Seals the secrets of a snapshot anew, and names the new provider in it.
pub(super) fn seal_snapshot(snapshot: &mut Snapshot, from: &Manager, to: &Manager) -> Outcome {
    snapshot_secrets::reseal(snapshot, from.crypter().as_ref(), to.crypter().as_ref())?;
    snapshot.secrets_provider = Some(to.provider().clone());
    Ok(())
}
