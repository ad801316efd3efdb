//! What every command starts from: where it runs, which backend, project and stack it means, who may be asked.

use crate::app::Globals;
use crate::backend::{Backend, StackAt, is_true};
use crate::moments::ago;
use crate::report::{ExitCode, Failure, Outcome, chain};
pub(crate) use crate::secrets_provider::secrets_failure;
use crate::terminal;
use drystone_model::Operation;
use drystone_secrets::{Ask, Keyring, Manager, Passphrase, Passphrases, Settings};
use drystone_stores::{At, Claim, Error as StoreError, HeldLease, Recorded, Recovery, StackId};
use drystone_workspace::Environment;
use drystone_workspace::home::{SelectionsFile, current_backend};
use drystone_workspace::project::{Project, ProjectError, ProjectFile};
use drystone_workspace::stack::{StackFile, StackSettings};
use jiff::Timestamp;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) globals: Globals,
    keyring: Keyring,
    /// The project file as it was read last.
    project: Mutex<Option<ProjectFile>>,
}

impl Context {
    /// The surroundings of this process.
    pub(crate) fn of_process(globals: Globals) -> Outcome<Self> {
        terminal::set_color(globals.color);
        if let Some(folder) = &globals.cwd {
            std::env::set_current_dir(folder)
                .map_err(|error| Failure::configuration(format!("{}: {error}", folder.display())))?;
        }
        let environment = Environment::of_process()
            .map_err(|error| Failure::configuration(format!("the working folder cannot be told: {error}")))?;
        let interactive = !globals.non_interactive && terminal::is_interactive();
        let passphrases = Passphrases::new(|name: &str| std::env::var_os(name));
        let passphrases = if interactive { passphrases.with_prompt(ask_passphrase) } else { passphrases };
        Ok(Self { environment, globals, keyring: Keyring::new(passphrases), project: Mutex::default() })
    }

    /// Whether somebody can answer questions.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.globals.non_interactive && terminal::is_interactive()
    }

    /// The keys of this command; each is derived or opened once (S18).
    pub(crate) fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Keys for what may be left closed: nobody is asked for a passphrase that no variable has.
    pub(crate) fn keyring_that_asks_nobody(&self) -> Keyring {
        Keyring::new(Passphrases::new(|name: &str| std::env::var_os(name)))
    }

    /// The project that the command runs in, if any.
    pub(crate) fn project(&self) -> Outcome<Option<Project>> {
        let mut last = self.project.lock().unwrap_or_else(PoisonError::into_inner);
        match ProjectFile::discover(&self.environment, last.take()) {
            Ok(read) => Ok(Some(last.insert(read).project.clone())),
            Err(ProjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(chain(error)),
        }
    }

    /// The project that the command runs in.
    pub(crate) fn require_project(&self) -> Outcome<Project> {
        self.project()?.ok_or_else(|| {
            Failure::configuration(format!(
                "no Pulumi.yaml project file found in {} or above",
                self.environment.working_directory().display()
            ))
            .hint("go to the project's folder, or name it with `--cwd`")
        })
    }

    /// The backend that is logged in to.
    pub(crate) async fn backend(&self) -> Outcome<Backend> {
        Backend::open(&self.environment, &self.backend_url()?).await
    }

    /// The URL of the backend that is logged in to.
    pub(crate) fn backend_url(&self) -> Outcome<String> {
        let project = self.project()?;
        let chosen = current_backend(&self.environment, project.as_ref()).map_err(Failure::configuration)?;
        let Some(chosen) = chosen else {
            return Err(Failure::new(ExitCode::Authentication, "not logged in to any backend")
                .hint("keep state on this machine with `drystone login --local`, or in a directory with `drystone login file://PATH`"));
        };
        Ok(chosen.url)
    }

    /// The stack that the command means: the one named, or the selected one. It need not exist.
    pub(crate) fn stack_id(&self, backend: &Backend, named: Option<&str>) -> Outcome<StackId> {
        let project = self.project()?;
        let project_name = project.as_ref().map(|project| project.name.as_str());
        if let Some(named) = named.or(self.globals.stack.as_deref()) {
            return backend.stack_id(named, project_name);
        }
        let nothing = || {
            Failure::configuration("no stack is selected")
                .hint("select one with `drystone stack select NAME`, or name it with `--stack NAME`")
        };
        let project = project.as_ref().ok_or_else(nothing)?;
        let selections = SelectionsFile::open(&self.environment, project).map_err(Failure::configuration)?;
        let selected = selections.current(&self.environment, &backend.url).ok_or_else(nothing)?;
        backend.stack_id(&selected.stack, project_name)
    }

    /// The stack that a text names: `URL#STACK`, `URL#PROJECT/STACK`, or a stack of the backend that is logged in to. A URL alone stands for
    /// the stack of the name given.
    pub(crate) async fn stack_at(&self, text: &str, same: Option<&StackId>) -> Outcome<StackAt> {
        let Some((scheme, _)) = text.split_once("://") else {
            let backend = self.backend().await?;
            let stack = self.stack_id(&backend, Some(text))?;
            return Ok(StackAt { backend, stack });
        };
        let (url, name) = match text.rsplit_once('#') {
            Some((url, name)) => (url, Some(name)),
            None => (text, None),
        };
        let backend = Backend::open(&self.environment, url).await?;
        let stack = match (name, same) {
            (Some(name), _) => self.stack_id(&backend, Some(&in_full(name)))?,
            (None, Some(same)) if backend.has_projects() == same.project().is_some() => {
                backend.stack_id(&same.qualified(), None)?
            }
            (None, Some(same)) => self.stack_id(&backend, Some(same.name()))?,
            (None, None) => {
                return Err(Failure::configuration(format!("which stack of {text}?"))
                    .hint(format!("name it after the URL, as in `{scheme}://…#NAME`")));
            }
        };
        Ok(StackAt { backend, stack })
    }

    /// The stack's name that the user gave, as an argument or as `--stack`, but not as both.
    pub(crate) fn named_once<'a>(&'a self, argument: Option<&'a str>) -> Outcome<Option<&'a str>> {
        match (argument, self.globals.stack.as_deref()) {
            (Some(_), Some(_)) => Err(Failure::configuration(
                "only one of --stack or argument stack name may be specified, not both",
            )),
            (argument, option) => Ok(argument.or(option)),
        }
    }

    /// The stack that the command means and its current snapshot.
    pub(crate) async fn current(
        &self,
        backend: &Backend,
        named: Option<&str>,
    ) -> Outcome<(StackId, Recorded)> {
        let stack = self.stack_id(backend, named)?;
        let recorded = backend.store().snapshot(&stack, At::Current).await?;
        Ok((stack, recorded))
    }

    /// Says that what is read is not all there is: an update died, and what it did is still in its journal.
    pub(crate) async fn warn_of_unrecovered(&self, backend: &Backend, stack: &StackId) -> Outcome {
        if backend.store().describe(stack).await?.unrecovered {
            terminal::warning(format!(
                "an update of {stack} died, and what it did is not shown here: the next command that changes the stack \
                 brings it in, `drystone cancel` does at once"
            ));
        }
        Ok(())
    }

    /// Takes the lease of a stack, waiting for it where the user asked to, and says what was recovered.
    pub(crate) async fn lease(
        &self,
        backend: &Backend,
        stack: &StackId,
        purpose: &str,
    ) -> Outcome<Box<dyn HeldLease>> {
        let started = Instant::now();
        let mut told = false;
        // A preview before this listened for signals, so that they no longer end the process by themselves.
        let interrupted = stopped_by_signal();
        tokio::pin!(interrupted);
        loop {
            match backend.store().acquire(stack, Claim::new(purpose)).await {
                Ok(lease) => {
                    tell_recovery(backend, stack, lease.recovery()).await;
                    return Ok(lease);
                }
                Err(StoreError::Held { lease, stack }) => {
                    let Some(limit) = self.globals.wait else {
                        return Err(StoreError::Held { lease, stack }.into());
                    };
                    if started.elapsed() >= limit {
                        let failure: Failure = StoreError::Held { lease, stack }.into();
                        return Err(Failure { code: ExitCode::Timeout, ..failure });
                    }
                    if !std::mem::replace(&mut told, true) {
                        terminal::note(format!("Waiting for {stack}: held by {}", lease.describe()));
                    }
                    let left = limit.saturating_sub(started.elapsed());
                    tokio::select! {
                        waited = backend.store().wait_for_release(&stack, left) => waited?,
                        name = &mut interrupted => {
                            return Err(Failure::new(
                                ExitCode::Cancelled,
                                format!("{name} received while waiting for {stack}"),
                            )
                            .hint("nothing was changed"));
                        }
                    }
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// The settings file of a stack.
    pub(crate) fn stack_file(&self, project: &Project, stack: &StackId) -> Outcome<StackFile> {
        let path = project.stack_settings_path(stack.name());
        StackFile::open(&path, Some(&project.name)).map_err(|error| Failure::configuration_error(&error))
    }

    /// What opens the secrets of a snapshot. Fails only on use.
    pub(crate) fn snapshot_secrets(&self, stack: &StackId, recorded: &Recorded) -> Manager {
        match &recorded.snapshot.secrets_provider {
            Some(provider) => Manager::of_snapshot(&self.keyring, provider, Some(&stack.to_string())),
            None => Manager::absent(),
        }
    }

    /// What opens and seals the secrets of a stack's settings; `None` when they name no provider yet.
    pub(crate) fn settings_secrets(
        &self,
        stack: &StackId,
        settings: &StackSettings,
    ) -> Outcome<Option<Manager>> {
        let settings = Settings {
            secrets_provider: settings.secrets_provider.clone().unwrap_or_default(),
            encrypted_key: settings.encrypted_key.clone().unwrap_or_default(),
            encryption_salt: settings.encryption_salt.clone().unwrap_or_default(),
        };
        Manager::of_settings(&self.keyring, &settings, Some(&stack.to_string())).map_err(secrets_failure)
    }

    /// Asks whether to go on; `--yes` and the like are the caller's.
    pub(crate) fn confirm(&self, question: &str) -> Outcome<bool> {
        if !self.is_interactive() {
            return Err(Failure::configuration(format!("cannot ask \"{question}\" without a terminal"))
                .hint("pass `--yes` to answer yes"));
        }
        inquire::Confirm::new(question)
            .with_default(false)
            .prompt()
            .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled"))
    }

    /// Whether the stock CLI's variable for skipping confirmations is set.
    pub(crate) fn skips_confirmations(&self) -> bool {
        is_true(&self.environment, "PULUMI_SKIP_CONFIRMATIONS")
    }
}

/// Says what the last holder left behind and what became of it.
pub(crate) async fn tell_recovery(backend: &Backend, stack: &StackId, recovery: &Recovery) {
    match recovery {
        Recovery::Nothing => {}
        Recovery::Replayed { holder, steps, pending, revision, .. } => {
            let heard = holder.heartbeat.as_deref().and_then(|heartbeat| heartbeat.parse().ok());
            let heard = heard.map(|moment| match ago(moment, Timestamp::now()) {
                now if now == "now" => ", last heard of just now".to_owned(),
                ago => format!(", last heard of {ago}"),
            });
            terminal::note(format!(
                "Recovered the update of {}@{} on {stack}{}: {} replayed into revision {revision}, nothing lost.",
                holder.user,
                holder.host,
                heard.unwrap_or_default(),
                counted(*steps, "step")
            ));
            if *pending > 0 {
                // One that cannot be read is told of by whoever needs it.
                let recorded = backend.store().snapshot(stack, At::Current).await;
                let operations = recorded.map(|recorded| recorded.snapshot.pending_operations);
                tell_under_way(*pending, &operations.unwrap_or_default());
            }
        }
        Recovery::Finished { holder, revision } => terminal::note(format!(
            "Finished the commit of revision {revision} that {}@{} had begun on {stack}.",
            holder.user, holder.host
        )),
        Recovery::Orphaned { holder, entries, journal } => terminal::warning(format!(
            "an update of {}@{} on {stack} died, and another tool has changed the stack since: its {entries} journal entries are kept as {journal}; \
             `drystone state doctor` shows what they know",
            holder.user, holder.host
        )),
    }
}

/// A name after a URL, where people write the project and the stack alone.
fn in_full(name: &str) -> String {
    match name.split_once('/') {
        Some((project, stack)) if project != "organization" && !stack.contains('/') => {
            format!("organization/{name}")
        }
        _ => name.to_owned(),
    }
}

/// Lists what was under way. What became of it is told when its provider was asked.
fn tell_under_way(count: usize, operations: &[Operation]) {
    let (were, are) = if count == 1 { ("was", "is") } else { ("were", "are") };
    let count = counted(count, "operation");
    terminal::note(format!("{count} {were} under way and {are} now pending:"));
    let wide = operations.iter().map(|operation| operation.kind.as_str().len()).max().unwrap_or(0);
    for Operation { kind, resource, .. } in operations {
        let (kind, urn) = (kind.as_str(), &resource.urn);
        terminal::note(format!("  {kind:wide$}  {} {}", urn.type_token(), urn.name()));
    }
    terminal::note(
        "  `up`, `refresh` and `destroy` ask providers what became of them; `drystone state ops` settles them by hand",
    );
}

/// `1 step`, `2 steps`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Asks for a passphrase on the terminal.
fn ask_passphrase(ask: Ask<'_>) -> std::io::Result<Option<Passphrase>> {
    let (question, confirm) = match ask {
        Ask::Unlock { stack, wrong } => {
            if wrong > 0 {
                terminal::note("incorrect passphrase");
            }
            (
                format!(
                    "Enter your passphrase to unlock config/secrets for {}",
                    stack.unwrap_or("this stack")
                ),
                false,
            )
        }
        Ask::Create => ("Enter your passphrase to protect config/secrets".to_owned(), true),
        Ask::Rotate => ("Enter your new passphrase to protect config/secrets".to_owned(), true),
    };
    loop {
        let first = rpassword::prompt_password(format!("{question}: "))?;
        if !confirm || first == rpassword::prompt_password("Re-enter your passphrase to confirm: ")? {
            return Ok(Some(Passphrase::new(first)));
        }
        terminal::note("passphrases do not match");
    }
}

/// The name of the first signal that asks us to stop. Never ends where none can be listened for.
async fn stopped_by_signal() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    async fn heard(kind: SignalKind) {
        match signal(kind) {
            Ok(mut signals) => _ = signals.recv().await,
            Err(_) => std::future::pending().await,
        }
    }
    tokio::select! {
        () = heard(SignalKind::interrupt()) => "^C",
        () = heard(SignalKind::terminate()) => "SIGTERM",
        () = heard(SignalKind::hangup()) => "SIGHUP",
    }
}
