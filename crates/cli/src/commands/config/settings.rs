//! A stack's settings, opened for a command: its configuration and what seals its secrets.

use super::{Place, environments_unavailable};
use crate::backend::Backend;
use crate::context::{Context, secrets_failure};
pub(in crate::commands) use crate::report::chain;
use crate::report::{ExitCode, Failure, Outcome};
use crate::secrets_provider;
use drystone_model::SecretsProvider;
use drystone_secrets::{Error as SecretsError, Manager, Plaintext};
use drystone_stores::{At, Error as StoreError, StackId};
use drystone_workspace::config::{Config, Locator, apply_project};
use drystone_workspace::project::Project;
use drystone_workspace::stack::{StackFile, StackFileError};
use drystone_workspace::{FileError, Value};

/// The settings of a stack that exists.
#[derive(Debug)]
pub(in crate::commands) struct Opened {
    pub(in crate::commands) project: Project,
    pub(in crate::commands) backend: Backend,
    pub(in crate::commands) stack: StackId,
    pub(in crate::commands) file: StackFile,
    /// What seals the secrets of the stack's state.
    state_provider: Option<SecretsProvider>,
}

impl Opened {
    /// The settings of the stack named, or of the selected one.
    pub(in crate::commands) async fn open(
        context: &Context,
        place: &Place,
        named: Option<&str>,
    ) -> Outcome<Self> {
        let project = context.require_project()?;
        let backend = context.backend().await?;
        let stack = context.stack_id(&backend, named)?;
        let state_provider = match backend.store().snapshot(&stack, At::Current).await {
            Ok(recorded) => recorded.snapshot.secrets_provider,
            // Configuration can be read and mended while the state cannot.
            Err(StoreError::Corrupt { .. } | StoreError::Unsupported { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Self::of(context, place, project, backend, stack, state_provider)
    }

    /// The settings of a stack whose state was read.
    pub(in crate::commands) fn of(
        context: &Context,
        place: &Place,
        project: Project,
        backend: Backend,
        stack: StackId,
        state_provider: Option<SecretsProvider>,
    ) -> Outcome<Self> {
        let path = match &place.config_file {
            Some(path) => context.environment.resolve(path),
            None => project.stack_settings_path(stack.name()),
        };
        let file = StackFile::open(&path, Some(&project.name)).map_err(file_failure)?;
        Ok(Self { project, backend, stack, file, state_provider })
    }

    /// The configuration as programs see it: with the project's values where the stack has none.
    pub(in crate::commands) fn effective(&self) -> Outcome<Config> {
        if has_imports(self.file.settings.environment.as_ref()) {
            return Err(environments_unavailable(format!(
                "{} imports environments, which this backend does not support",
                self.file.path().display()
            )));
        }
        apply_project(&self.project, &self.file.settings.config).map_err(chain)
    }

    /// Reads a key, or a path that starts with one.
    pub(in crate::commands) fn locate(&self, key: &str, is_path: bool) -> Outcome<Locator> {
        Locator::parse(Some(&self.project.name), key, is_path).map_err(|error| {
            Failure::configuration(format!("invalid configuration key: {error}"))
                .hint("a key is `name`, or `namespace:name` for a provider or another project")
        })
    }

    /// The failure of somebody who asked for a value that is not there.
    pub(in crate::commands) fn missing(&self, locator: &Locator) -> Failure {
        let name = locator.pretty(Some(&self.project.name));
        let stack = self.stack.name();
        Failure::general(format!("configuration key '{name}' not found for stack '{stack}'"))
            .hint(format!("list what there is with `drystone config --stack {stack}`"))
    }

    /// The texts behind all ciphertexts of a configuration. Nothing is unlocked when there are none.
    pub(in crate::commands) fn reveal(&self, context: &Context, config: &Config) -> Outcome<Vec<String>> {
        let ciphertexts = config.ciphertexts();
        if ciphertexts.is_empty() {
            return Ok(Vec::new());
        }
        let plaintexts = self.unseal(context, config, &ciphertexts)?;
        plaintexts
            .iter()
            .map(|plaintext| plaintext.as_text().map(str::to_owned).map_err(secrets_failure))
            .collect()
    }

    /// The ciphertexts of a configuration, sealed anew for another stack.
    pub(in crate::commands) fn reseal_for(
        &self,
        context: &Context,
        config: &Config,
        destination: &mut Self,
    ) -> Outcome<Config> {
        let ciphertexts = config.ciphertexts();
        if ciphertexts.is_empty() {
            return Ok(config.clone());
        }
        let plaintexts = self.unseal(context, config, &ciphertexts)?;
        let resealed = destination.seal(context, &plaintexts)?;
        config.with_ciphertexts(&resealed).map_err(internal)
    }

    /// Seals texts for this stack, all at once. The first secret of a stack gives it a secrets provider: that of its
    /// state, so that settings and state agree, or a new one.
    pub(in crate::commands) fn seal(
        &mut self,
        context: &Context,
        plaintexts: &[Plaintext],
    ) -> Outcome<Vec<String>> {
        if plaintexts.is_empty() {
            return Ok(Vec::new());
        }
        let manager = match self.known_manager(context)? {
            Some(manager) => manager,
            None => secrets_provider::fresh(context, &self.file.settings)?,
        };
        let sealed = manager
            .crypter()
            .encrypt(&plaintexts.iter().collect::<Vec<_>>())
            .map_err(|error| unwrapped(&error))?;
        self.adopt(&manager)?;
        Ok(sealed)
    }

    /// Writes the settings into the file's secrets section, where they are not those of the manager already.
    pub(in crate::commands) fn adopt(&mut self, manager: &Manager) -> Outcome {
        let kept = manager.settings().map_err(secrets_failure)?;
        let settings = &mut self.file.settings;
        if settings.encryption_salt.as_deref().unwrap_or_default() == kept.encryption_salt
            && settings.encrypted_key.as_deref().unwrap_or_default() == kept.encrypted_key
        {
            return Ok(());
        }
        secrets_provider::record(settings, manager)
    }

    /// What seals the secrets of the stack's state, without a key.
    pub(in crate::commands) fn state_manager(&self, context: &Context) -> Option<Manager> {
        let provider = self.state_provider.as_ref()?;
        let name = self.stack.to_string();
        matches!(provider.kind.as_str(), "passphrase" | "cloud")
            .then(|| Manager::of_snapshot(context.keyring(), provider, Some(&name)))
    }

    /// Writes what changed.
    pub(in crate::commands) fn save(&mut self) -> Outcome<bool> {
        self.file.save().map_err(file_failure)
    }

    /// The manager that the settings name, or else the state.
    fn known_manager(&self, context: &Context) -> Outcome<Option<Manager>> {
        let named = context.settings_secrets(&self.stack, &self.file.settings)?;
        Ok(named.or_else(|| self.state_manager(context)))
    }

    fn unseal(&self, context: &Context, config: &Config, ciphertexts: &[String]) -> Outcome<Vec<Plaintext>> {
        let Some(manager) = self.known_manager(context)? else {
            return Err(Failure::new(
                ExitCode::Authentication,
                format!(
                    "{} holds secrets and no `encryptionsalt` or `encryptedkey` to open them with",
                    self.file.path().display()
                ),
            )
            .hint("bring it back from an older version of the file, or set the secrets again"));
        };
        let batch: Vec<&str> = ciphertexts.iter().map(String::as_str).collect();
        manager.crypter().decrypt(&batch).map_err(|error| self.unsealing_failure(config, &batch, &error))
    }

    /// A failure to open, with the key of the value that does not open.
    fn unsealing_failure(&self, config: &Config, batch: &[&str], error: &SecretsError) -> Failure {
        let index = match error.cause() {
            SecretsError::Unauthentic { index } | SecretsError::MalformedCiphertext { index, .. } => *index,
            _ => return unwrapped(error),
        };
        let holds = |value: &Value| {
            let mut found = false;
            value.text(&mut |ciphertext| {
                found |= batch.get(index) == Some(&ciphertext);
                "".into()
            });
            found
        };
        let key = config
            .iter()
            .find(|(_, value)| holds(value))
            .map(|(key, _)| key.pretty(Some(&self.project.name)));
        let key = key.unwrap_or_default();
        Failure::new(
            ExitCode::Authentication,
            format!("the secret `{key}` cannot be opened: {}", error.cause()),
        )
        .hint(format!("set it again with `drystone config set --secret {key}`"))
    }
}

/// A failure of the secrets without the words of the crypter around it.
fn unwrapped(error: &SecretsError) -> Failure {
    match error.cause() {
        cause @ (SecretsError::Unsupported { .. } | SecretsError::UnknownKind { .. }) => {
            Failure::new(ExitCode::Authentication, cause)
                .hint("move the stack to a passphrase with the stock CLI: `pulumi stack change-secrets-provider passphrase`")
        }
        cause => secrets_failure(cause.clone()),
    }
}

pub(in crate::commands) fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Internal, error)
}

pub(in crate::commands) fn file_failure(error: StackFileError) -> Failure {
    match &error {
        StackFileError::Changed { .. } => chain(error).hint("run the command again"),
        StackFileError::Entangled { .. } => chain(error).hint("nothing was changed; edit the file by hand"),
        StackFileError::File(FileError::Format { .. }) => chain(error),
        StackFileError::File(_) => Failure { code: ExitCode::Unavailable, ..chain(error) }
            .hint("nothing was changed; check the file's path and mode"),
        StackFileError::Invalid { .. } => chain(error),
    }
}

/// Whether the settings import an environment.
fn has_imports(environment: Option<&Value>) -> bool {
    match environment {
        None | Some(Value::Null) => false,
        Some(Value::Array(imports)) => !imports.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(_) => true,
    }
}
