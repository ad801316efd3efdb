//! One run of a program.

use super::config::Given;
use super::marshal::{Outputs, marshal_properties};
use super::promise::{Promise, Rejected};
use super::resource::Handle;
use super::tasks::Tasks;
use super::value::{Evaluated, Stopped, Val};
use crate::diagnostics::{Diagnostic, Severity, Source};
use crate::graph::{Names, Step};
use crate::packages::{Packages, ResolvedResource};
use crate::syntax::{Span, Text};
use crate::template::{Access, Expression, Form, Resource, Shared, Template};
use drystone_engine::{Monitor, MonitorError, MonitorErrorKind, PropertyMap};
use drystone_model::Urn;
use drystone_plugins::monitor::{check_version, source_position};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What programs know of their surroundings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// The folder that the program runs in.
    pub(crate) directory: PathBuf,
    /// The folder of the project.
    pub(crate) root: PathBuf,
    /// The organization.
    pub(crate) organization: String,
    /// The project.
    pub(crate) project: String,
    /// The stack.
    pub(crate) stack: String,
    /// The version that a program may ask for a range of.
    pub(crate) version: String,
    /// Whether this is a preview.
    pub(crate) dry_run: bool,
}

impl Surroundings {
    pub(super) fn value(&self) -> Val {
        let path = |path: &PathBuf| Val::text(path.to_string_lossy().as_ref());
        let text = |text: &String| Val::text(text.as_str());
        Val::object(BTreeMap::from([
            ("cwd".to_owned(), path(&self.directory)),
            ("organization".to_owned(), text(&self.organization)),
            ("project".to_owned(), text(&self.project)),
            ("rootDirectory".to_owned(), path(&self.root)),
            ("stack".to_owned(), text(&self.stack)),
        ]))
    }
}

/// What resources without a parent have as theirs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// The stack or the component.
    pub(crate) root: Urn,
    /// The component, inside of one.
    pub(crate) component: Option<Arc<Handle>>,
    /// What stands for the trace that led to the component; empty outside of one.
    pub(crate) led_by: String,
}

impl Scope {
    pub(super) fn component(&self) -> Option<&Arc<Handle>> {
        self.component.as_ref()
    }
}

/// A run of a program that was found to be sound.
pub(crate) struct Evaluator {
    pub(super) monitor: Monitor,
    source: Arc<Source>,
    pub(super) template: Arc<Template>,
    pub(super) names: Names,
    pub(super) packages: Arc<Packages>,
    pub(super) resolved: Vec<Option<ResolvedResource>>,
    /// The default provider of each package that has one, as a way to it, with the version that it asks for.
    pub(super) default_providers: HashMap<String, (Shared, Option<Text>)>,
    pub(super) surroundings: Surroundings,
    pub(super) given: Given,
    pub(super) scope: Scope,
    pub(super) results: Results,
    pub(super) stacks: Mutex<HashMap<String, Arc<Handle>>>,
    /// Calls of the part that is being evaluated which wait for no resource.
    pub(super) noted: Mutex<Vec<Promise>>,
    pub(super) tasks: Tasks,
    failed: AtomicBool,
}

/// What every part of a program came to.
#[derive(Debug, Default)]
pub(super) struct Results {
    config: Vec<OnceLock<Evaluated>>,
    variables: Vec<OnceLock<Evaluated>>,
    resources: Vec<OnceLock<Result<Arc<Handle>, Stopped>>>,
}

impl Results {
    fn of(template: &Template) -> Self {
        let cells = |count| std::iter::repeat_with(OnceLock::new).take(count).collect();
        Self {
            config: cells(template.config.len()),
            variables: cells(template.variables.len()),
            resources: std::iter::repeat_with(OnceLock::new).take(template.resources.len()).collect(),
        }
    }

    pub(super) fn config(&self, at: usize) -> Evaluated {
        self.config[at].get().cloned().unwrap_or(Err(Stopped))
    }

    pub(super) fn variable(&self, at: usize) -> Evaluated {
        self.variables[at].get().cloned().unwrap_or(Err(Stopped))
    }

    pub(super) fn resource(&self, at: usize) -> Result<Arc<Handle>, Stopped> {
        self.resources[at].get().cloned().unwrap_or(Err(Stopped))
    }
}

/// What a run needs.
pub(crate) struct Parts {
    pub(crate) monitor: Monitor,
    pub(crate) source: Arc<Source>,
    pub(crate) template: Arc<Template>,
    pub(crate) names: Names,
    pub(crate) packages: Arc<Packages>,
    pub(crate) resolved: Vec<Option<ResolvedResource>>,
    pub(crate) surroundings: Surroundings,
    pub(crate) given: Given,
    pub(crate) scope: Scope,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Done,
    /// Something failed, and people have been told.
    Failed,
}

impl Evaluator {
    /// A run that has not begun.
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let providers = crate::graph::default_providers(&parts.template).into_iter().map(|(package, at)| {
            let resource: &Resource = &parts.template.resources[at];
            let access = Access { root: resource.key.value.clone(), path: Vec::new() };
            let way = Expression::new(resource.span, Form::Symbol(access));
            (package.to_owned(), (way, resource.options.version.clone()))
        });
        let default_providers = providers.collect();
        let results = Results::of(&parts.template);
        Arc::new(Self {
            monitor: parts.monitor,
            source: parts.source,
            template: parts.template,
            names: parts.names,
            packages: parts.packages,
            resolved: parts.resolved,
            default_providers,
            surroundings: parts.surroundings,
            given: parts.given,
            scope: parts.scope,
            results,
            stacks: Mutex::default(),
            noted: Mutex::default(),
            tasks: Tasks::default(),
            failed: AtomicBool::new(false),
        })
    }

    /// What runs while the program is evaluated.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// The version of the default provider that a resource uses.
    pub(super) fn default_provider_version(&self, resource: &Resource) -> Option<&Text> {
        let token = resource.type_token.as_ref()?.as_str();
        let package = token.split(':').next().unwrap_or_default();
        self.default_providers.get(package)?.1.as_ref()
    }

    /// A place of the program as the state keeps it, or empty.
    pub(super) fn position(&self, span: Span) -> String {
        let file = self.surroundings.directory.join(&self.source.name);
        let known = span.is_known() && self.source.is_file;
        known
            .then(|| source_position(&self.surroundings.root, &file, span.line, span.column))
            .flatten()
            .unwrap_or_default()
    }

    /// Tells people that something is wrong. Nothing comes of what asked for it.
    pub(super) fn fail(&self, span: Span, summary: impl Into<String>) -> Stopped {
        self.tell(&Diagnostic::error(span, summary));
        Stopped
    }

    /// Tells people something.
    fn tell(&self, diagnostic: &Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.failed.store(true, Ordering::SeqCst);
        }
        tell(&self.monitor, &self.source, diagnostic);
    }

    /// The engine refused something. It tells people itself when it has done its part.
    pub(super) fn refused(&self, error: &MonitorError, span: Span) -> Rejected {
        self.failed.store(true, Ordering::SeqCst);
        match error.kind {
            MonitorErrorKind::Reported | MonitorErrorKind::Closing => {}
            MonitorErrorKind::Invalid | MonitorErrorKind::Unimplemented => {
                self.fail(span, error.message.clone());
            }
        }
        Rejected
    }

    /// Runs everything in its order. The outputs are what the program gives; they are to be waited for.
    ///
    /// Everything is evaluated before anything is registered. What comes behind a part that failed is not
    /// registered, as with the stock host: a program that is wrong does not go on half.
    pub(crate) async fn evaluate_all(self: &Arc<Self>, order: &[Step]) -> BTreeMap<String, Val> {
        let mut failed = false;
        let mut goals = Vec::with_capacity(order.len());
        for step in order {
            let evaluated = self.evaluate_step(*step);
            let noted = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
            goals.push((evaluated, noted));
        }
        let mut outputs = BTreeMap::new();
        for (key, value) in &self.template.outputs {
            if let Ok(value) = self.evaluate(value) {
                outputs.insert(key.value.to_string(), self.whole(value));
            }
        }
        for (evaluated, noted) in goals {
            match evaluated {
                Ok(Some(goal)) if !failed => self.start(goal),
                Ok(Some(goal)) => goal.handle.settle(Err(Rejected)),
                Ok(None) => {}
                Err(Stopped) => failed = true,
            }
            for call in noted {
                failed |= call.wait().await.is_err();
            }
        }
        outputs
    }

    /// A value that is known and shown as a whole or not at all.
    pub(super) fn whole(self: &Arc<Self>, value: Val) -> Val {
        match value {
            Val::Output(_) => value,
            value if value.has_outputs() => {
                Val::Output(self.promise(async move { super::promise::resolve(&value).await }))
            }
            value => value,
        }
    }

    fn evaluate_step(self: &Arc<Self>, step: Step) -> Result<Option<super::register::Goal>, Stopped> {
        match step {
            Step::RequiredVersion => self.required_version()?,
            Step::Config(at) => {
                let value = self.configured(&self.template.config[at]);
                let failed = value.is_err();
                let _ = self.results.config[at].set(value);
                if failed {
                    return Err(Stopped);
                }
            }
            Step::Variable(at) => {
                let value = self.evaluate(&self.template.variables[at].1);
                let failed = value.is_err();
                let _ = self.results.variables[at].set(value);
                if failed {
                    return Err(Stopped);
                }
            }
            Step::Resource(at) => {
                let goal = self.goal(at);
                let handle = goal.as_ref().map(|goal| Arc::clone(&goal.handle)).map_err(|stopped| *stopped);
                let _ = self.results.resources[at].set(handle);
                return goal.map(Some);
            }
        }
        Ok(None)
    }

    fn required_version(self: &Arc<Self>) -> Result<(), Stopped> {
        let Some(value) = &self.template.required_version else { return Ok(()) };
        let range = match self.evaluate(value)? {
            Val::String(range) => range,
            _ => return Err(self.fail(value.span, "version range must evaluate to a string")),
        };
        check_version(&range, &self.surroundings.version).map_err(|problem| self.fail(value.span, problem))
    }

    /// Gives the outputs to the engine.
    pub(crate) async fn register_outputs(self: &Arc<Self>, urn: &Urn, outputs: &BTreeMap<String, Val>) {
        let Ok(marshalled) = marshal_properties(outputs, Outputs::State).await else {
            self.failed.store(true, Ordering::SeqCst);
            return;
        };
        let Ok(properties) = self.hashed(marshalled.properties, Span::default()).await else { return };
        if let Err(error) = self.monitor.register_outputs(urn, properties).await {
            self.refused(&error, Span::default());
        }
    }

    /// What a component gives, with what each of it came from; none when something went wrong.
    pub(crate) async fn given_outputs(
        self: &Arc<Self>,
        outputs: &BTreeMap<String, Val>,
    ) -> Option<(PropertyMap, BTreeMap<String, Vec<Urn>>)> {
        let marshalled = marshal_properties(outputs, Outputs::Whole).await.ok()?;
        let properties = self.hashed(marshalled.properties, Span::default()).await.ok()?;
        Some((properties, marshalled.dependencies))
    }

    /// Waits until everything that was started has ended.
    pub(crate) async fn finish(&self) -> Ending {
        if let Err(error) = self.tasks.finish().await {
            self.fail(Span::default(), format!("evaluation broke off: {error}"));
        }
        if self.failed.load(Ordering::SeqCst) { Ending::Failed } else { Ending::Done }
    }
}

/// Tells people something of a program.
pub(crate) fn tell(monitor: &Monitor, source: &Source, diagnostic: &Diagnostic) {
    let severity = match diagnostic.severity {
        Severity::Error => drystone_engine::Severity::Error,
        Severity::Warning => drystone_engine::Severity::Warning,
    };
    monitor.log(drystone_engine::Diagnostic {
        urn: monitor.root(),
        message: source.render(diagnostic),
        severity,
        stream: 0,
        ephemeral: false,
    });
}
