//! Providers that run, and provider resources as something that can be made and changed itself.

use crate::{
    AppliedState, CheckArguments, CheckFailure, Checked, ConfigureArguments, CreateArguments,
    DeleteArguments, Diff, DiffArguments, DiffChanges, PackageDescriptor, Parameterization,
    ParameterizeArguments, Plugins, PropertyMap, Provider, ProviderError, ReadArguments, ReadState, State,
    Surroundings, UpdateArguments,
};
use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_model::{Computed, ProviderReference, Urn, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// The member of a provider's inputs that the engine keeps for itself.
const INTERNAL: &str = "__internal";

/// Warns about a resource.
type Warn = Box<dyn Fn(&Urn, &str) + Send + Sync>;

type Slot = Arc<OnceCell<Arc<dyn Provider>>>;

/// Providers that run.
pub(crate) struct Registry {
    plugins: Arc<dyn Plugins>,
    surroundings: Arc<dyn Surroundings>,
    builtin: Arc<dyn Provider>,
    /// Configured ones, by reference.
    configured: Mutex<HashMap<String, Slot>>,
    /// Loaded by a check and waiting for what is decided.
    checked: Mutex<HashMap<Urn, Arc<dyn Provider>>>,
    /// Everything that was ever loaded, to be told of a cancellation.
    loaded: Mutex<Vec<Arc<dyn Provider>>>,
    warn: Warn,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub(crate) fn new(
        plugins: Arc<dyn Plugins>,
        surroundings: Arc<dyn Surroundings>,
        builtin: Arc<dyn Provider>,
        warn: Warn,
    ) -> Self {
        Self {
            plugins,
            surroundings,
            builtin,
            configured: Mutex::default(),
            checked: Mutex::default(),
            loaded: Mutex::default(),
            warn,
        }
    }

    /// A configured provider by its reference.
    pub(crate) fn get(&self, reference: &str) -> Option<Arc<dyn Provider>> {
        lock(&self.configured).get(reference).and_then(|slot| slot.get().cloned())
    }

    /// A configured provider, started from its old state if need be.
    pub(crate) async fn ensure(
        &self,
        reference: &str,
        old: &State,
    ) -> Result<Arc<dyn Provider>, ProviderError> {
        let slot = Arc::clone(lock(&self.configured).entry(reference.to_owned()).or_default());
        let provider =
            slot.get_or_try_init(|| self.start(&old.record.urn, &old.record.id, &old.inputs)).await?;
        Ok(Arc::clone(provider))
    }

    /// Makes a provider that has not changed usable under its present name, with the inputs that it had.
    pub(crate) async fn same(
        &self,
        urn: &Urn,
        id: &str,
        old_inputs: &PropertyMap,
    ) -> Result<(), ProviderError> {
        let slot = Arc::clone(lock(&self.configured).entry(reference(urn, id)).or_default());
        slot.get_or_try_init(|| async {
            let checked = lock(&self.checked).remove(urn);
            match checked {
                Some(provider) => {
                    self.configure(provider.as_ref(), urn, id, old_inputs).await?;
                    Ok(provider)
                }
                None => self.start(urn, id, old_inputs).await,
            }
        })
        .await?;
        Ok(())
    }

    /// Makes a provider known under another of its names.
    pub(crate) fn alias(&self, urn: &Urn, id: &str, old_urn: &Urn) {
        let mut configured = lock(&self.configured);
        if let Some(slot) = configured.get(&reference(urn, id)).cloned() {
            configured.entry(reference(old_urn, id)).or_insert(slot);
        }
    }

    /// An unconfigured instance, for asking about the package itself.
    pub(crate) async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        if package.name == "pulumi" {
            return Ok(Arc::clone(&self.builtin));
        }
        let provider = self.plugins.load(package).await?;
        lock(&self.loaded).push(Arc::clone(&provider));
        if let Some(parameterization) = &package.parameterization {
            let (name, _) =
                provider.parameterize(ParameterizeArguments::Value(parameterization.clone())).await?;
            if name != parameterization.name {
                return Err(ProviderError::new(format!(
                    "the plugin {} answered with the package {name} where {} was asked for",
                    package.name, parameterization.name
                )));
            }
        }
        Ok(provider)
    }

    /// Tells every provider to give up.
    pub(crate) async fn cancel(&self) {
        let loaded = lock(&self.loaded).clone();
        // A provider that cannot be cancelled is stopped with its process.
        futures::future::join_all(loaded.iter().map(|provider| provider.cancel())).await;
    }

    async fn start(
        &self,
        urn: &Urn,
        id: &str,
        inputs: &PropertyMap,
    ) -> Result<Arc<dyn Provider>, ProviderError> {
        let package = package_of(urn, inputs).map_err(|failure| ProviderError::new(failure.reason))?;
        let provider = self.load(&package).await?;
        self.configure(provider.as_ref(), urn, id, inputs).await?;
        Ok(provider)
    }

    async fn configure(
        &self,
        provider: &dyn Provider,
        urn: &Urn,
        id: &str,
        inputs: &PropertyMap,
    ) -> Result<(), ProviderError> {
        let arguments =
            ConfigureArguments { urn: urn.clone(), id: id.to_owned(), inputs: without_internal(inputs) };
        provider.configure(arguments).await
    }

    fn put(&self, reference: String, provider: Arc<dyn Provider>) {
        lock(&self.configured).insert(reference, Arc::new(OnceCell::from(provider)));
    }
}

/// Provider resources, as the generator and the executor see them: something that can be checked, made and changed.
#[derive(Debug, Clone)]
pub(crate) struct ProviderResources(pub(crate) Arc<Registry>);

#[async_trait]
impl Provider for ProviderResources {
    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        let package = match package_of(&arguments.urn, &arguments.new_inputs) {
            Ok(package) => package,
            Err(failure) => return Ok(Checked { failures: vec![failure], ..Checked::default() }),
        };
        let provider = self.0.load(&package).await?;
        let asked = CheckArguments {
            old_inputs: without_internal(&arguments.old_inputs),
            new_inputs: without_internal(&arguments.new_inputs),
            dry_run: true,
            ..arguments.clone()
        };
        let mut checked = match provider.check_config(asked).await {
            Err(error) if error.kind == crate::ProviderErrorKind::Unimplemented => {
                Checked { properties: without_internal(&arguments.new_inputs), failures: Vec::new() }
            }
            answered => answered?,
        };
        if !checked.failures.is_empty() {
            return Ok(checked);
        }
        match (arguments.new_inputs.get("version"), checked.properties.get("version")) {
            (Some(version), None) => {
                checked.properties.insert("version".to_owned(), version.clone());
            }
            (Some(asked), Some(answered)) if !asked.same_as(answered) => {
                return Err(ProviderError::new(format!(
                    "provider {:?} attempted to change version from {:?} to {:?}",
                    arguments.urn.as_str(),
                    asked.as_str().unwrap_or_default(),
                    answered.as_str().unwrap_or_default()
                )));
            }
            _ => {}
        }
        if let Some(internal) = arguments.new_inputs.get(INTERNAL) {
            if checked.properties.contains_key(INTERNAL) {
                (self.0.warn)(
                    &arguments.urn,
                    "provider attempted to use __internal key that is reserved by the engine",
                );
            }
            checked.properties.insert(INTERNAL.to_owned(), internal.clone());
        }
        lock(&self.0.checked).insert(arguments.urn.clone(), provider);
        Ok(checked)
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let checked = lock(&self.0.checked).get(&arguments.urn).cloned();
        let Some(provider) = checked.or_else(|| self.0.get(&reference(&arguments.urn, &arguments.id))) else {
            return Err(ProviderError::new(format!("the provider {} was never started", arguments.urn)));
        };
        let new_inputs = without_internal(&arguments.new_inputs);
        let old_outputs = arguments.old_outputs.clone();
        let asked = DiffArguments {
            old_inputs: without_internal(&arguments.old_inputs),
            new_inputs: new_inputs.clone(),
            ..arguments
        };
        let mut diff = provider.diff_config(asked).await?;
        if diff.changes == DiffChanges::Unknown {
            let same = Value::Object(old_outputs).same_as(&Value::Object(new_inputs));
            diff.changes = if same { DiffChanges::None } else { DiffChanges::Some };
        }
        Ok(diff)
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        let checked = lock(&self.0.checked).remove(&arguments.urn);
        let id = if arguments.dry_run {
            Computed::String.sentinel().to_owned()
        } else {
            self.0.surroundings.uuid().to_string()
        };
        let provider = match checked {
            Some(provider) => {
                self.0.configure(provider.as_ref(), &arguments.urn, &id, &arguments.inputs).await?;
                provider
            }
            None => self.0.start(&arguments.urn, &id, &arguments.inputs).await?,
        };
        self.0.put(reference(&arguments.urn, &id), provider);
        Ok(AppliedState { id, outputs: without_internal(&arguments.inputs), ..AppliedState::default() })
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        let checked = lock(&self.0.checked).remove(&arguments.urn);
        let provider = match checked {
            Some(provider) => {
                self.0
                    .configure(provider.as_ref(), &arguments.urn, &arguments.id, &arguments.new_inputs)
                    .await?;
                provider
            }
            None => self.0.start(&arguments.urn, &arguments.id, &arguments.new_inputs).await?,
        };
        self.0.put(reference(&arguments.urn, &arguments.id), provider);
        Ok(AppliedState {
            id: arguments.id,
            outputs: without_internal(&arguments.new_inputs),
            ..AppliedState::default()
        })
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        Err(ProviderError::new(format!("provider resources may not be read: {}", arguments.urn)))
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        lock(&self.0.configured).remove(&reference(&arguments.urn, &arguments.id));
        Ok(())
    }
}

/// The text of a provider reference.
pub(crate) fn reference(urn: &Urn, id: &str) -> String {
    format!("{urn}::{id}")
}

/// The URN in a provider reference.
pub(crate) fn reference_urn(reference: &str) -> Option<Urn> {
    ProviderReference::parse(reference).map(|reference| reference.urn)
}

/// A provider's inputs as the provider sees them.
pub(crate) fn without_internal(inputs: &PropertyMap) -> PropertyMap {
    inputs
        .iter()
        .filter(|(key, _)| *key != INTERNAL)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The type of a package's providers.
pub(crate) fn provider_type(package: &str) -> String {
    format!("pulumi:providers:{package}")
}

/// The package of a type token, or the one that a provider type provides.
pub(crate) fn package_of_type(type_token: &str) -> &str {
    match type_token.strip_prefix("pulumi:providers:") {
        Some(package) => package,
        None => type_token.split(':').next().unwrap_or_default(),
    }
}

/// Which plugin a provider's inputs ask for.
pub fn package_of(urn: &Urn, inputs: &PropertyMap) -> Result<PackageDescriptor, CheckFailure> {
    let failure = |property: &str, reason: &str| CheckFailure {
        property: property.to_owned(),
        reason: reason.to_owned(),
    };
    let text = |map: &PropertyMap, key: &str| -> Result<String, CheckFailure> {
        match map.get(key) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(value) => match value.revealed() {
                Value::String(text) => Ok(text),
                _ => Err(failure(key, &format!("'{key}' must be a string"))),
            },
        }
    };
    let empty = PropertyMap::new();
    let internal = inputs.get(INTERNAL).and_then(Value::as_object).unwrap_or(&empty);
    let package = package_of_type(urn.type_token()).to_owned();
    // Older states keep these beside the configuration rather than inside `__internal`.
    let either = |key: &str| match text(internal, key) {
        Ok(found) if found.is_empty() => text(inputs, key),
        found => found,
    };
    let version = text(inputs, "version")?;
    let download_url = either("pluginDownloadURL")?;
    let mut descriptor =
        PackageDescriptor { name: package.clone(), version, download_url, ..PackageDescriptor::default() };
    if let Some(checksums) = internal.get("pluginChecksums").and_then(Value::as_object) {
        for (platform, sum) in checksums {
            let bytes = sum
                .as_str()
                .and_then(unhex)
                .ok_or_else(|| failure("pluginChecksums", "a checksum is not hex"))?;
            descriptor.checksums.insert(platform.clone(), bytes);
        }
    }
    if let Some(mappings) = internal.get("envVarMappings").and_then(Value::as_object) {
        for (from, to) in mappings {
            let to = to.as_str().ok_or_else(|| failure("envVarMappings", "names must be strings"))?;
            descriptor.env_var_mappings.insert(from.clone(), to.to_owned());
        }
    }
    if internal.contains_key("parameterization") {
        let value = text(internal, "parameterization")?;
        let value = STANDARD.decode(value).map_err(|_| failure("parameter", "the value is not base64"))?;
        // `version` beside the configuration is the package's; the plugin's own stands in `__internal`.
        let package_version = std::mem::replace(&mut descriptor.version, text(internal, "version")?);
        descriptor.name = text(internal, "name")?;
        descriptor.parameterization =
            Some(Parameterization { name: package, version: package_version, value });
    }
    Ok(descriptor)
}

/// Writes into a provider's inputs which plugin serves it.
pub(crate) fn set_package(inputs: &mut PropertyMap, package: &PackageDescriptor) {
    let mut internal = match inputs.remove(INTERNAL) {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    };
    let mut keep = |key: &str, value: Value| {
        internal.get_or_insert_default().insert(key.to_owned(), value);
    };
    if !package.download_url.is_empty() {
        keep("pluginDownloadURL", package.download_url.as_str().into());
    }
    if !package.checksums.is_empty() {
        let sums =
            package.checksums.iter().map(|(platform, sum)| (platform.clone(), Value::String(hex(sum))));
        keep("pluginChecksums", Value::object(sums));
    }
    if !package.env_var_mappings.is_empty() {
        let mappings =
            package.env_var_mappings.iter().map(|(from, to)| (from.clone(), Value::String(to.clone())));
        keep("envVarMappings", Value::object(mappings));
    }
    if let Some(parameterization) = &package.parameterization {
        keep("name", package.name.as_str().into());
        keep("version", package.version.as_str().into());
        keep("parameterization", STANDARD.encode(&parameterization.value).into());
    }
    let version = package.package_version();
    if !version.is_empty() {
        inputs.insert("version".to_owned(), version.into());
        // Its presence says that `version` is the engine's and not a setting of the provider's own.
        internal.get_or_insert_default();
    }
    if let Some(members) = internal {
        inputs.insert(INTERNAL.to_owned(), Value::Object(members));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
