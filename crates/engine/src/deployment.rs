//! One operation while it runs: what everything in the engine shares.

use crate::builtin::Builtin;
use crate::execute::hooks::Hooks;
use crate::execute::views::Views;
use crate::generate::Rules;
use crate::known::Known;
use crate::monitor::MonitorState;
use crate::plan::Ledger;
use crate::policies::Policies;
use crate::recorder::Recorder;
use crate::registry::{ProviderResources, Registry, reference_urn};
use crate::vault::Vault;
use crate::world::World;
use crate::{
    CancelLevel, Cancellation, Diagnostic, Event, EventSink, JournalError, Op, Options, Provider,
    ProviderError, Run, RunInfo, Severity, StepEvent, Surroundings,
};
use drystone_model::{Extension, Snapshot, Urn, Value, is_default_provider, is_provider_type};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, Semaphore};

/// One operation while it runs.
pub(crate) struct Deployment {
    pub(crate) organization: String,
    pub(crate) project: String,
    pub(crate) stack: String,
    pub(crate) config: BTreeMap<String, crate::ConfigValue>,
    pub(crate) options: Options,
    pub(crate) vault: Vault,
    pub(crate) recorder: Recorder,
    pub(crate) registry: Arc<Registry>,
    pub(crate) surroundings: Arc<dyn Surroundings>,
    pub(crate) cancellation: Cancellation,
    pub(crate) hooks: Hooks,
    pub(crate) monitor: MonitorState,
    pub(crate) views: Arc<Views>,
    pub(crate) ledger: Ledger,
    pub(crate) policies: Policies,
    /// What the snapshot says of extensions, by reference.
    pub(crate) extensions: BTreeMap<String, Extension>,
    /// The rules of generated names, where there are any.
    pub(crate) naming: OnceLock<Rules>,
    events: Arc<dyn EventSink>,
    world: Mutex<World>,
    /// The snapshot that positions refer to, without its resources.
    base: Mutex<Snapshot>,
    /// Held while something is decided, so that decisions are made one after the other.
    pub(crate) deciding: tokio::sync::Mutex<()>,
    /// One permit for each step that may run.
    pub(crate) slots: Semaphore,
    changes: Mutex<BTreeMap<Op, usize>>,
    failed: AtomicBool,
    doubtful: AtomicBool,
    stopping: AtomicBool,
    unrecorded: Mutex<Option<String>>,
    in_flight: AtomicUsize,
    /// Told when something stops, ends or drains.
    pub(crate) stirred: Notify,
}

impl std::fmt::Debug for Deployment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deployment").field("stack", &self.stack).finish_non_exhaustive()
    }
}

/// Something that cannot go on. People have been told why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

impl Deployment {
    pub(crate) fn new(run: Run) -> Arc<Self> {
        Arc::new_cyclic(|deployment: &std::sync::Weak<Self>| {
            let mut world = World {
                targets: run.options.targets.clone(),
                excludes: run.options.excludes.clone(),
                ..World::default()
            };
            let mut base = run.base;
            let olds = std::mem::take(&mut base.resources).into_iter().enumerate();
            let states: Vec<Arc<Known>> =
                olds.map(|(index, resource)| Known::of_base(index, resource)).collect();
            world.set_olds(states.clone());
            let events = Arc::clone(&run.events);
            let warn = Box::new(move |urn: &Urn, message: &str| {
                events.send(Event::Diagnostic(diagnostic(urn, message, Severity::Warning)));
            });
            let builtin = Arc::new(Builtin::new(deployment.clone(), run.stacks));
            let views = Arc::new(Views::default());
            run.plugins.attach(Arc::clone(&views) as Arc<dyn crate::ViewPublisher>);
            let parallel = match run.options.parallel {
                0 => Semaphore::MAX_PERMITS,
                some => some,
            };
            Self {
                organization: run.organization,
                project: run.project,
                stack: run.stack,
                config: run.config,
                vault: Vault::new(run.sealer),
                recorder: Recorder::new((!run.options.dry_run).then_some(run.journal), states),
                registry: Arc::new(Registry::new(run.plugins, Arc::clone(&run.surroundings), builtin, warn)),
                surroundings: run.surroundings,
                cancellation: run.cancellation,
                hooks: Hooks::default(),
                monitor: MonitorState::default(),
                views,
                ledger: Ledger::new(&run.options),
                policies: Policies::new(run.analyzers),
                extensions: base.extensions.clone(),
                naming: OnceLock::new(),
                events: run.events,
                world: Mutex::new(world),
                base: Mutex::new(base),
                deciding: tokio::sync::Mutex::default(),
                slots: Semaphore::new(parallel),
                changes: Mutex::default(),
                failed: AtomicBool::new(false),
                doubtful: AtomicBool::new(false),
                stopping: AtomicBool::new(false),
                unrecorded: Mutex::default(),
                in_flight: AtomicUsize::new(0),
                stirred: Notify::new(),
                options: run.options,
            }
        })
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The snapshot that positions refer to, without its resources.
    pub(crate) fn base(&self) -> MutexGuard<'_, Snapshot> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // What people are told.

    pub(crate) fn diagnose(&self, urn: &Urn, severity: Severity, message: impl Into<String>) {
        self.send(Event::Diagnostic(diagnostic(urn, message, severity)));
    }

    pub(crate) fn warn(&self, urn: &Urn, message: impl Into<String>) {
        self.diagnose(urn, Severity::Warning, message);
    }

    pub(crate) fn events(&self) -> &dyn EventSink {
        self.events.as_ref()
    }

    pub(crate) fn send(&self, event: Event) {
        self.events.send(event);
    }

    /// Counts a step for the summary, as the stock CLI does: default providers are the engine's own business, the parts
    /// of a replacement are one, and a refresh or a read counts by what it found.
    pub(crate) fn count(&self, event: &StepEvent) {
        if is_default_provider(&event.urn) {
            return;
        }
        let refreshing = self.options.operation == crate::Operation::Refresh;
        let (op, counted) = match event.op {
            Op::Refresh => (event.result.unwrap_or(Op::Same), refreshing),
            Op::Read => (Op::Read, reads_anew(event)),
            op => (op, event.logical),
        };
        if !counted {
            return;
        }
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner).entry(op).or_default() += 1;
    }

    pub(crate) fn changes(&self) -> BTreeMap<Op, usize> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    // Stopping.

    /// Says that something is wrong with the whole operation; it fails, and nothing new begins.
    pub(crate) fn fail(&self, urn: &Urn, message: impl Into<String>) -> Stopped {
        self.diagnose(urn, Severity::Error, message);
        self.fail_silently()
    }

    /// The same, for what people were told of already.
    pub(crate) fn fail_silently(&self) -> Stopped {
        self.note_failure();
        self.stop();
        Stopped
    }

    /// The operation fails, but goes on.
    pub(crate) fn note_failure(&self) {
        self.failed.store(true, Ordering::SeqCst);
    }

    /// What a provider did is in doubt.
    pub(crate) fn note_doubt(&self) {
        self.doubtful.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::SeqCst)
    }

    /// Nothing new begins.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.stirred.notify_waiters();
    }

    /// What was done could not be written down: nothing new begins (S4).
    pub(crate) fn lose_journal(&self, error: &JournalError) -> Stopped {
        let first = {
            let mut unrecorded = self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner);
            let first = unrecorded.is_none();
            unrecorded.get_or_insert_with(|| error.to_string());
            first
        };
        if first { self.fail(&Urn::default(), error.to_string()) } else { self.fail_silently() }
    }

    pub(crate) fn unrecorded(&self) -> Option<String> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst) || self.cancellation.level() > CancelLevel::None
    }

    /// Waits until nothing new begins any more.
    pub(crate) async fn stopped(&self) {
        loop {
            let stirred = self.stirred.notified();
            if self.is_stopping() {
                return;
            }
            tokio::select! {
                biased;
                () = stirred => {}
                () = self.cancellation.requested(CancelLevel::Graceful) => {}
            }
        }
    }

    /// Counts work that must be waited for.
    pub(crate) fn enter(self: &Arc<Self>) -> Entered {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        Entered(Arc::clone(self))
    }

    /// Waits until no work is under way.
    pub(crate) async fn drained(&self) {
        loop {
            let stirred = self.stirred.notified();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            stirred.await;
        }
    }

    // Providers.

    /// What manages a resource: its provider, the registry for providers themselves, or nothing for a component.
    pub(crate) async fn manager(
        self: &Arc<Self>,
        urn: &Urn,
        custom: bool,
        provider: &str,
    ) -> Result<Option<Arc<dyn Provider>>, ProviderError> {
        if !custom {
            return Ok(None);
        }
        if is_provider_type(urn.type_token()) {
            return Ok(Some(Arc::new(ProviderResources(Arc::clone(&self.registry)))));
        }
        self.provider(urn, provider).await.map(Some)
    }

    /// The provider of a reference, started from the old state if it was not registered.
    pub(crate) async fn provider(
        &self,
        urn: &Urn,
        reference: &str,
    ) -> Result<Arc<dyn Provider>, ProviderError> {
        if let Some(provider) = self.registry.get(reference) {
            return Ok(provider);
        }
        if reference_urn(reference).is_none() {
            return Err(ProviderError::new(format!(
                "bad provider reference '{reference}' for resource '{urn}'"
            )));
        }
        let old = self.world().old_provider(reference).cloned();
        let unknown = || ProviderError::new(format!("unknown provider '{reference}' for resource '{urn}'"));
        let old = old.ok_or_else(unknown)?;
        let state = old.state(&self.vault).map_err(ProviderError::new)?;
        self.registry.ensure(reference, &state).await
    }

    pub(crate) fn info(&self) -> RunInfo {
        RunInfo {
            project: self.project.clone(),
            stack: self.stack.clone(),
            organization: self.organization.clone(),
            config: self.config.iter().map(|(key, value)| (key.clone(), value.text.clone())).collect(),
            secret_keys: self
                .config
                .iter()
                .filter(|(_, value)| value.secret)
                .map(|(key, _)| key.clone())
                .collect(),
            dry_run: self.options.dry_run,
            parallel: self.options.parallel,
        }
    }

    /// Remembers what a step left.
    pub(crate) fn remember(&self, known: &Arc<Known>) {
        self.world().news.insert(known.urn().clone(), Arc::clone(known));
    }
}

/// Work that must be waited for; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Entered(Arc<Deployment>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
        self.0.stirred.notify_waiters();
    }
}

pub(crate) fn diagnostic(urn: &Urn, message: impl Into<String>, severity: Severity) -> Diagnostic {
    Diagnostic { urn: urn.clone(), message: message.into(), severity, stream: 0, ephemeral: false }
}

/// Whether a read found something else than before.
fn reads_anew(event: &StepEvent) -> bool {
    match (&event.old, &event.new) {
        (Some(old), Some(new)) => {
            !Value::Object(old.outputs.clone()).same_as(&Value::Object(new.outputs.clone()))
        }
        _ => false,
    }
}
