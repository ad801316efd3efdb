//! What an operation is about: the project, the stack, its configuration and its secrets.

use super::request::{Kind, Request};
use crate::backend::Backend;
use crate::commands::config::Place;
use crate::commands::config::refresh::recorded_config;
use crate::commands::config::settings::{Opened, chain};
use crate::commands::identity::PULUMI_VERSION;
use crate::commands::stack::init::{NewStack, create};
use crate::commands::stack::selection;
use crate::context::{Context, secrets_failure};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{secrets_provider, terminal};
use drystone_engine::ConfigValue;
use drystone_plugins::monitor::check_version;
use drystone_secrets::{FILE_VARIABLE, Manager, PASSPHRASE_VARIABLE};
use drystone_stores::{At, Error as StoreError, Recorded, StackId};
use drystone_workspace::config::{
    Config, ConfigProblem, NewValue, Secrets, apply_project, check, parse_assignment,
};
use drystone_workspace::project::Project;
use std::collections::BTreeMap;

/// A stack that exists, with what its operations need.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) project: Project,
    pub(super) backend: Backend,
    pub(super) stack: StackId,
    /// The configuration with the project's values where the stack has none, secrets sealed.
    pub(super) config: Config,
    /// The same, opened, by `namespace:name`.
    pub(super) values: BTreeMap<String, ConfigValue>,
    /// The snapshot that was found with it, for whoever comes first and holds no lease.
    recorded: Option<Recorded>,
    /// The settings that the configuration came from; `None` for a stack whose project is not here.
    opened: Option<Opened>,
}

impl Subject {
    /// Finds it all, and refuses a configuration that is not what the project declares. Only then are the values of
    /// `--config` kept.
    pub(super) async fn open(context: &Context, request: &Request) -> Outcome<Self> {
        let backend = context.backend().await?;
        let Some(project) = context.project()? else {
            return Self::without_project(context, request, backend).await;
        };
        let range = project.required_pulumi_version.as_deref().unwrap_or_default();
        check_version(range, PULUMI_VERSION).map_err(|reason| {
            Failure::configuration(reason)
                .hint(format!("{} asks for that range as `requiredPulumiVersion`", project.path.display()))
        })?;
        let (stack, recorded) = find_stack(context, request, &backend, &project).await?;
        let place = Place { config_file: request.config.config_file.clone() };
        let sealed_by = recorded.snapshot.secrets_provider.clone();
        let mut opened =
            Opened::of(context, &place, project.clone(), backend.clone(), stack.clone(), sealed_by)?;
        if request.kind == Kind::Destroy && context.globals.stack.is_some() && !opened.file.exists() {
            opened.file.settings.config = latest_config(&backend, &stack).await?;
        }
        for text in &request.config.config {
            let (locator, value) = parse_assignment(Some(&project.name), text, request.config.config_path)
                .map_err(|error| {
                    chain(error).hint("a value is set with `--config KEY=VALUE`; nothing was changed")
                })?;
            opened.file.settings.config.set(&locator, NewValue::Text(value)).map_err(chain)?;
        }
        let config = opened.effective()?;
        let texts = opened.reveal(context, &config)?;
        if request.runs_program() && !request.config.skip_config_validation {
            validate(&project, &stack, &config, &texts)?;
        }
        if !request.config.config.is_empty() {
            opened.save()?;
        }
        let values = values(&config, &texts)?;
        Ok(Self { project, backend, stack, config, values, recorded: Some(recorded), opened: Some(opened) })
    }

    /// A stack that is named in full can be destroyed from anywhere, with the configuration of its last update.
    async fn without_project(context: &Context, request: &Request, backend: Backend) -> Outcome<Self> {
        if request.kind != Kind::Destroy || context.globals.stack.is_none() || request.runs_program() {
            context.require_project()?;
        }
        if !request.config.config.is_empty() || request.config.config_file.is_some() {
            return Err(Failure::configuration("there is no project here whose configuration could be set")
                .hint("go to the project's folder, or leave out `--config` and `--config-file`"));
        }
        let (stack, recorded) = context.current(&backend, None).await?;
        let project = Project { name: stack.project().unwrap_or_default().to_owned(), ..Project::default() };
        let config = apply_project(&project, &latest_config(&backend, &stack).await?).map_err(chain)?;
        let ciphertexts = config.ciphertexts();
        let mut texts = Vec::new();
        if !ciphertexts.is_empty() {
            let manager = context.snapshot_secrets(&stack, &recorded);
            let batch: Vec<&str> = ciphertexts.iter().map(String::as_str).collect();
            for plaintext in manager.crypter().decrypt(&batch).map_err(secrets_failure)? {
                texts.push(plaintext.as_text().map_err(secrets_failure)?.to_owned());
            }
        }
        let values = values(&config, &texts)?;
        Ok(Self { project, backend, stack, config, values, recorded: Some(recorded), opened: None })
    }

    /// A snapshot for a preview: the last committed one, with what a dead update journaled (S8).
    pub(super) async fn committed(&mut self) -> Outcome<Recorded> {
        let store = self.backend.store();
        if store.describe(&self.stack).await?.unrecovered {
            return Ok(store.snapshot(&self.stack, At::Running).await?);
        }
        match self.recorded.take() {
            Some(recorded) => Ok(recorded),
            None => Ok(store.snapshot(&self.stack, At::Current).await?),
        }
    }

    /// What seals the secrets of the stack's state: what does already, or what the settings say, or a passphrase.
    pub(super) fn secrets(&mut self, context: &Context, base: &Recorded, dry_run: bool) -> Outcome<Manager> {
        let manager = match self.known_secrets(context, base)? {
            Some(manager) => manager,
            None if dry_run => return Ok(Manager::absent()),
            None => {
                let settings = self.opened.as_ref().map(|opened| opened.file.settings.clone());
                let manager = secrets_provider::fresh(context, &settings.unwrap_or_default())?;
                if let Some(opened) = &mut self.opened {
                    opened.adopt(&manager)?;
                    opened.save()?;
                }
                manager
            }
        };
        // Whoever has to be asked is asked before anything is shown and anything happens. So is a key service: one that
        // is away must not be noticed when a resource is made already and its secrets have to be sealed.
        let told = [PASSPHRASE_VARIABLE, FILE_VARIABLE].iter().any(|name| std::env::var_os(name).is_some());
        if !dry_run && (!told || manager.key_service().is_some()) {
            manager.unlock().map_err(secrets_failure)?;
        }
        Ok(manager)
    }

    fn known_secrets(&self, context: &Context, base: &Recorded) -> Outcome<Option<Manager>> {
        if base.snapshot.secrets_provider.is_some() {
            return Ok(Some(context.snapshot_secrets(&self.stack, base)));
        }
        match &self.opened {
            Some(opened) => context.settings_secrets(&self.stack, &opened.file.settings),
            None => Ok(None),
        }
    }

    /// The stack as people of its project know it.
    pub(super) fn shown(&self) -> String {
        match self.stack.project() {
            Some(project) => format!("{project}/{}", self.stack.name()),
            None => self.stack.name().to_owned(),
        }
    }

    /// A value of the configuration that is JSON, such as those of `pulumi:`.
    pub(super) fn json(&self, key: &str) -> Outcome<Option<serde_json::Value>> {
        let Some(value) = self.values.get(key).filter(|value| !value.text.is_empty()) else {
            return Ok(None);
        };
        serde_json::from_str(&value.text).map(Some).map_err(|error| {
            Failure::configuration(format!(
                "the configuration value `{key}` is not what it should be: {error}"
            ))
        })
    }
}

/// The stack that the command means. Where there is none, whoever can be asked may make one.
async fn find_stack(
    context: &Context,
    request: &Request,
    backend: &Backend,
    project: &Project,
) -> Outcome<(StackId, Recorded)> {
    let named = context.globals.stack.is_some();
    let stack = match context.stack_id(backend, None) {
        Ok(stack) => stack,
        Err(_) if !named && context.is_interactive() => {
            let stack = choose(context, request, backend, project).await?;
            let recorded = backend.store().snapshot(&stack, At::Current).await?;
            return Ok((stack, recorded));
        }
        Err(failure) => return Err(failure),
    };
    if let Some(named) = stack.project().filter(|named| *named != project.name) {
        return Err(Failure::general(format!(
            "provided project name {named:?} doesn't match Pulumi.yaml, which says {:?}",
            project.name
        ))
        .hint("go to that project's folder, or leave the project out of the name"));
    }
    match backend.store().snapshot(&stack, At::Current).await {
        Ok(recorded) => return Ok((stack, recorded)),
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let Some(provider) = request.new_stack.as_deref().filter(|_| context.is_interactive()) else {
        return Err(StoreError::NotFound { stack }.into());
    };
    terminal::note(format!("The stack '{}' does not exist.", stack.name()));
    if !context.confirm("Create it now?")? {
        return Err(StoreError::NotFound { stack }.into());
    }
    let new = NewStack { secrets_provider: provider, copy_config_from: None };
    create(context, backend, project, &stack, new).await?;
    let recorded = backend.store().snapshot(&stack, At::Current).await?;
    Ok((stack, recorded))
}

/// Asks for a stack, and makes it where a new one is chosen.
async fn choose(
    context: &Context,
    request: &Request,
    backend: &Backend,
    project: &Project,
) -> Outcome<StackId> {
    const NEW: &str = "<create a new stack>";
    let cancelled = |_| Failure::new(ExitCode::Cancelled, "cancelled: no stack was chosen");
    let here = backend.has_projects().then_some(project.name.as_str());
    let mut names: Vec<String> = backend
        .store()
        .stacks(here)
        .await?
        .iter()
        .filter(|summary| summary.trashed.is_none())
        .map(|summary| summary.stack.name().to_owned())
        .collect();
    let question = match &request.new_stack {
        Some(_) => {
            names.push(NEW.to_owned());
            "Please choose a stack, or create a new one:"
        }
        None => "Please choose a stack:",
    };
    if names.is_empty() {
        return Err(Failure::new(
            ExitCode::StackNotFound,
            "this command requires a stack, but there are none",
        )
        .hint("make one with `drystone stack init NAME`"));
    }
    let chosen = inquire::Select::new(question, names).prompt().map_err(cancelled)?;
    let (name, provider) = match &request.new_stack {
        Some(provider) if chosen == NEW => (
            inquire::Text::new("Name of the stack:").with_default("dev").prompt().map_err(cancelled)?,
            Some(provider),
        ),
        _ => (chosen, None),
    };
    let stack = backend.stack_id(&name, Some(&project.name))?;
    if let Some(provider) = provider {
        let new = NewStack { secrets_provider: provider, copy_config_from: None };
        create(context, backend, project, &stack, new).await?;
    }
    selection::select(context, backend, project, &stack)?;
    Ok(stack)
}

/// The configuration that the last update ran with; empty when there was none.
async fn latest_config(backend: &Backend, stack: &StackId) -> Outcome<Config> {
    // A stack that is not there has no updates either, and is told apart here.
    backend.store().snapshot(stack, At::Current).await?;
    match backend.store().updates(stack).await?.first() {
        Some(latest) => recorded_config(latest.text()),
        None => Ok(Config::default()),
    }
}

/// Refuses a configuration that is not what the project declares, in the stock CLI's words.
fn validate(project: &Project, stack: &StackId, config: &Config, texts: &[String]) -> Outcome {
    let problems = check(project, config, texts).map_err(|error| Failure::new(ExitCode::Internal, error))?;
    let name = stack.name();
    let missing: Vec<String> = problems
        .iter()
        .filter_map(|problem| match problem {
            ConfigProblem::Missing { key } => Some(format!("'{key}'")),
            _ => None,
        })
        .collect();
    if let [first, ..] = &missing[..] {
        let noun = if missing.len() == 1 { "value" } else { "values" };
        let key = first.trim_matches('\'');
        return Err(Failure::configuration(format!(
            "Stack '{name}' is missing configuration {noun} {}",
            listed(&missing)
        ))
        .hint(format!("set it with `drystone config set {key} VALUE`, or with `--config {key}=VALUE`")));
    }
    match problems.first() {
        None => Ok(()),
        Some(ConfigProblem::NotSecret { key }) => Err(Failure::configuration(format!(
            "Stack '{name}' with configuration key '{key}' must be encrypted as it's secret"
        ))
        .hint(format!("set it again with `drystone config set --secret {key}`"))),
        Some(ConfigProblem::Type { key, kind }) => Err(Failure::configuration(format!(
            "Stack '{name}' with configuration key '{key}' must be of type '{kind}'"
        ))
        .hint(format!("set it again with `drystone config set {key} VALUE`"))),
        Some(other) => Err(Failure::configuration(other)),
    }
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The configuration as the engine takes it.
fn values(config: &Config, texts: &[String]) -> Outcome<BTreeMap<String, ConfigValue>> {
    let shown =
        config.shown(Secrets::Open(texts)).map_err(|error| Failure::new(ExitCode::Internal, error))?;
    let value = |shown: drystone_workspace::config::Shown| ConfigValue {
        text: shown.text,
        object: shown.is_object,
        secret: shown.is_secret,
    };
    Ok(shown.into_iter().map(|(key, shown)| (key.to_string(), value(shown))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_the_stock_cli_lists_them() {
        let names = |count| (0..count).map(|nth| format!("'{nth}'")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1)), "'0'");
        assert_eq!(listed(&names(2)), "'0' and '1'");
        assert_eq!(listed(&names(3)), "'0', '1' and '2'");
    }
}
