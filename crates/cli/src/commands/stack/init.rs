//! `stack init`: makes a stack.

use super::selection;
use crate::backend::Backend;
use crate::context::{Context, secrets_failure};
use crate::edit::new_manifest;
use crate::report::{ExitCode, Failure, Outcome};
use crate::{secrets_provider, terminal};
use clap::Args;
use drystone_model::Snapshot;
use drystone_secrets::{Manager, ProviderChoice, recrypt};
use drystone_stores::{At, Commit, Error as StoreError, Relocation, StackId};
use drystone_workspace::project::Project;
use drystone_workspace::stack::{StackFile, StackSettings};

#[derive(Debug, Args)]
#[command(after_help = "The stack's secrets are sealed with a passphrase, which is asked for or taken from \
                  PULUMI_CONFIG_PASSPHRASE or the file that PULUMI_CONFIG_PASSPHRASE_FILE names, or by a key service.\n\n\
                  Examples:\n  drystone stack init prod --copy-config-from dev\n  \
                  drystone stack init prod --secrets-provider 'awskms://alias/pulumi?region=eu-central-1'")]
pub(crate) struct InitArgs {
    /// The new stack: `NAME`, or in full `organization/PROJECT/NAME`
    name: Option<String>,
    /// What seals its secrets: `default`, `passphrase`, or the URL of a key at `awskms://`, `gcpkms://`,
    /// `azurekeyvault://` or `hashivault://`
    #[arg(long, value_name = "PROVIDER", default_value = "default")]
    secrets_provider: String,
    /// Copy the configuration of this stack, its secrets sealed anew
    #[arg(long, value_name = "NAME")]
    copy_config_from: Option<String>,
    /// Do not select it
    #[arg(long)]
    no_select: bool,
    /// Do not ask for what is missing
    #[arg(short, long)]
    yes: bool,
    /// Teams, which this backend does not have
    #[arg(long, hide = true)]
    teams: Vec<String>,
}

/// What a new stack starts with.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct NewStack<'a> {
    /// What seals its secrets, as the user named it.
    pub(in crate::commands) secrets_provider: &'a str,
    /// The stack whose configuration it takes over.
    pub(in crate::commands) copy_config_from: Option<&'a str>,
}

pub(crate) async fn run(context: &Context, args: InitArgs) -> Outcome {
    let backend = context.backend().await?;
    let name = match context.named_once(args.name.as_deref())? {
        Some(name) => name.to_owned(),
        None if context.is_interactive() && !args.yes => inquire::Text::new("Name of the stack:")
            .with_default("dev")
            .prompt()
            .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled"))?,
        None => {
            return Err(Failure::configuration("missing stack name").hint("run `drystone stack init NAME`"));
        }
    };
    if args.teams.iter().any(|team| !team.trim().is_empty()) {
        return Err(Failure::configuration("this backend has no teams").hint("leave out `--teams`"));
    }
    let project = context.require_project()?;
    let stack = backend.stack_id(&name, Some(&project.name))?;
    let new = NewStack {
        secrets_provider: &args.secrets_provider,
        copy_config_from: args.copy_config_from.as_deref(),
    };
    create(context, &backend, &project, &stack, new).await?;
    if !args.no_select {
        selection::select(context, &backend, &project, &stack)?;
    }
    Ok(())
}

/// Makes a stack with its settings file. Both are made or neither.
pub(in crate::commands) async fn create(
    context: &Context,
    backend: &Backend,
    project: &Project,
    stack: &StackId,
    new: NewStack<'_>,
) -> Outcome {
    if let Some(named) = stack.project().filter(|named| *named != project.name) {
        return Err(Failure::general(format!(
            "provided project name {named:?} doesn't match Pulumi.yaml, which says {:?}",
            project.name
        ))
        .hint("go to that project's folder, or leave the project out of the name"));
    }
    let provider: ProviderChoice = new.secrets_provider.parse().map_err(Failure::configuration)?;
    if exists(backend, stack).await? {
        return Err(StoreError::AlreadyExists { stack: stack.clone() }.into());
    }
    let mut file = context.stack_file(project, stack)?;
    let manager = secrets_of(context, stack, &file.settings, &provider)?;
    secrets_provider::record(&mut file.settings, &manager)?;
    if let Some(source) = new.copy_config_from {
        let source = backend.stack_id(source, Some(&project.name))?;
        copy_config(context, backend, project, &source, &manager, &mut file).await?;
    }
    file.render().map_err(|error| Failure::configuration_error(&error))?;

    let lease = context.lease(backend, stack, "stack init").await?;
    let made = async {
        if exists(backend, stack).await? {
            return Err(StoreError::AlreadyExists { stack: stack.clone() }.into());
        }
        let snapshot = Snapshot {
            manifest: new_manifest(),
            secrets_provider: Some(manager.provider().clone()),
            ..Snapshot::default()
        };
        let commit = Commit { title: "stack init".to_owned(), snapshot: Some(snapshot), ..Commit::default() };
        lease.commit(commit).await?;
        if let Err(error) = file.save() {
            lease.relocate(Relocation::Nowhere).await?;
            return Err(Failure::configuration_error(&error).hint("the stack was not made"));
        }
        Ok::<_, Failure>(())
    };
    let made = made.await;
    let released = lease.release().await;
    made?;
    released?;
    let name = backend.shown(stack, Some(&project.name), context.globals.fully_qualify_stack_names);
    terminal::note(format!("Created stack '{name}'"));
    Ok(())
}

/// Whether there is a stack of that name, readable or not.
pub(in crate::commands) async fn exists(backend: &Backend, stack: &StackId) -> Outcome<bool> {
    match backend.store().snapshot(stack, At::Current).await {
        Ok(_) | Err(StoreError::Corrupt { .. } | StoreError::Unsupported { .. }) => Ok(true),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

/// Fails when there is no stack of that name.
pub(in crate::commands) async fn require(backend: &Backend, stack: &StackId) -> Outcome {
    if exists(backend, stack).await? {
        Ok(())
    } else {
        Err(StoreError::NotFound { stack: stack.clone() }.into())
    }
}

/// What seals the new stack's secrets: what its settings name already, or what the user chose.
fn secrets_of(
    context: &Context,
    stack: &StackId,
    settings: &StackSettings,
    choice: &ProviderChoice,
) -> Outcome<Manager> {
    let named = secrets_provider::key_service(settings);
    let known = context.settings_secrets(stack, settings)?.filter(|_| match choice {
        ProviderChoice::Default => true,
        ProviderChoice::Passphrase => named.is_none(),
        ProviderChoice::Cloud(url) => named == Some(url),
    });
    if let Some(manager) = known {
        manager.unlock().map_err(secrets_failure)?;
        return Ok(manager);
    }
    // What another provider has sealed there would never be opened again.
    if settings.config.is_secure() {
        return Err(Failure::configuration(format!(
            "the settings of {stack} hold secrets that {} has sealed",
            named.unwrap_or("a passphrase")
        ))
        .hint("make the stack without `--secrets-provider`, then change it with `drystone stack change-secrets-provider`"));
    }
    let keyring = context.keyring();
    match choice {
        ProviderChoice::Cloud(url) => Manager::with_key_service(keyring, url).map_err(secrets_failure),
        ProviderChoice::Default => secrets_provider::fresh(context, settings),
        ProviderChoice::Passphrase => {
            let passphrase = keyring.passphrases().for_new(false).map_err(secrets_failure)?;
            Manager::with_passphrase(keyring, &passphrase).map_err(secrets_failure)
        }
    }
}

/// Takes over the configuration of another stack; its secrets are opened and sealed for the new one.
async fn copy_config(
    context: &Context,
    backend: &Backend,
    project: &Project,
    source: &StackId,
    manager: &Manager,
    file: &mut StackFile,
) -> Outcome {
    require(backend, source).await?;
    let settings = context.stack_file(project, source)?.settings;
    let mut config = settings.config.clone();
    if config.is_secure() {
        let from = context.settings_secrets(source, &settings)?.unwrap_or_else(Manager::absent);
        let ciphertexts = config.ciphertexts();
        let ciphertexts: Vec<&str> = ciphertexts.iter().map(String::as_str).collect();
        let sealed = recrypt(&ciphertexts, from.crypter().as_ref(), manager.crypter().as_ref())
            .map_err(secrets_failure)?;
        config = config.with_ciphertexts(&sealed).map_err(Failure::general)?;
    }
    file.settings.config.copy_from(&config);
    if settings.environment.is_some() {
        file.settings.environment = settings.environment;
    }
    Ok(())
}
