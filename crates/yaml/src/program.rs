//! Programs in YAML, as the engine runs them.

use crate::check::{self, Checked};
use crate::diagnostics::{Diagnostic, Diagnostics, Source};
use crate::evaluate::{Ending, Evaluator, Given, Parts, Scope, Surroundings, tell};
use crate::graph::{self, Names};
use crate::load::{self, Loaded};
use crate::packages::{Packages, declarations};
use crate::syntax::Span;
use crate::template::Template;
use async_trait::async_trait;
use drystone_engine::{ConfigValue, Monitor, Program, ProgramError, RegisterRequest};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A program in YAML, and everything that it is told.
#[derive(Debug, Clone, Default)]
pub struct YamlProgram {
    /// The folder that the program is in.
    pub directory: PathBuf,
    /// The folder of the project.
    pub root: PathBuf,
    /// The organization of the stack.
    pub organization: String,
    /// The project.
    pub project: String,
    /// The stack's short name.
    pub stack: String,
    /// The configuration by `namespace:name`, opened.
    pub config: BTreeMap<String, ConfigValue>,
    /// A command that prints the program, where the project has one.
    pub compiler: Option<String>,
    /// The version that programs may ask for a range of.
    pub version: String,
    /// Whether this is a preview.
    pub dry_run: bool,
}

#[async_trait]
impl Program for YamlProgram {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let Loaded { source, template, diagnostics } = load::program(self).await;
        say(&monitor, &source, &diagnostics);
        if diagnostics.has_errors() {
            return Err(ProgramError::Bailed);
        }
        let stack = self.register_stack(&monitor).await?;
        let (source, template) = (Arc::new(source), Arc::new(template));
        let prepared = self.prepare(&monitor, &source, &template, &stack).await;
        let (evaluator, order) = match prepared {
            Ok(prepared) => prepared,
            Err(diagnostics) => {
                say(&monitor, &source, &diagnostics);
                // A program that gives nothing gives no outputs either.
                let _ = monitor.register_outputs(&stack, BTreeMap::new()).await;
                return Err(ProgramError::Bailed);
            }
        };
        let _guard = evaluator.tasks().guard();
        let outputs = evaluator.evaluate_all(&order).await;
        evaluator.register_outputs(&stack, &outputs).await;
        match evaluator.finish().await {
            Ending::Done => Ok(()),
            Ending::Failed => Err(ProgramError::Bailed),
        }
    }
}

impl YamlProgram {
    async fn register_stack(&self, monitor: &Monitor) -> Result<Urn, ProgramError> {
        let request = RegisterRequest {
            type_token: ROOT_STACK_TYPE.to_owned(),
            name: format!("{}-{}", self.project, self.stack),
            ..RegisterRequest::default()
        };
        let registered = monitor.register(request).await;
        registered.map(|registered| registered.urn).map_err(|error| ProgramError::Failed(error.message))
    }

    /// Looks at a program before anything of it runs.
    async fn prepare(
        &self,
        monitor: &Monitor,
        source: &Arc<Source>,
        template: &Arc<Template>,
        stack: &Urn,
    ) -> Result<(Arc<Evaluator>, Vec<graph::Step>), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        if let Some(component) = template.components.first() {
            diagnostics
                .error(component.key.span, "components are only supported in plugins, not in programs");
        }
        if let Some(namespace) = &template.namespace {
            diagnostics.error(namespace.span, "namespace is only supported in component plugins");
        }
        let declared = declarations(&self.directory).unwrap_or_else(|error| {
            diagnostics.error(Span::default(), error.to_string());
            Vec::new()
        });
        let prepared = Preparation {
            monitor,
            source,
            template,
            given: Given::config(&self.project, &self.config),
            surroundings: self.surroundings(),
            scope: Scope { root: stack.clone(), component: None, led_by: String::new() },
        };
        prepared.finish(Packages::new(declared), diagnostics).await
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            directory: self.directory.clone(),
            root: self.root.clone(),
            organization: self.organization.clone(),
            project: self.project.clone(),
            stack: self.stack.clone(),
            version: self.version.clone(),
            dry_run: self.dry_run,
        }
    }
}

/// A program, or the inside of a component, that is to be looked at before it runs.
pub(crate) struct Preparation<'a> {
    pub(crate) monitor: &'a Monitor,
    pub(crate) source: &'a Arc<Source>,
    pub(crate) template: &'a Arc<Template>,
    pub(crate) given: Given,
    pub(crate) surroundings: Surroundings,
    pub(crate) scope: Scope,
}

impl Preparation<'_> {
    /// Finds the order of everything, loads what packages say, and holds the program to it. All that is wrong is
    /// given back; what is only to be looked at is told.
    pub(crate) async fn finish(
        self,
        mut packages: Packages,
        mut diagnostics: Diagnostics,
    ) -> Result<(Arc<Evaluator>, Vec<graph::Step>), Diagnostics> {
        let template = self.template;
        let project = &self.surroundings.project;
        let names = Names::of(template, project, &self.given.names(), &mut diagnostics);
        let order = graph::order(template, &names, &mut diagnostics);
        // What a component is made of is served by what serves the program.
        if self.scope.component.is_none()
            && let Err(error) = self.monitor.require_packages(packages.required(template, &order))
        {
            diagnostics.error(Span::default(), error.message);
        }
        packages.load(template, self.monitor).await;
        let Checked { resources, diagnostics: found } =
            check::check(template, &names, &order, &packages, &self.given.types());
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        say(self.monitor, self.source, &diagnostics);
        if let Err(problem) = packages.register(self.monitor).await {
            return Err([Diagnostic::error(Span::default(), problem)].into_iter().collect());
        }
        let evaluator = Evaluator::new(Parts {
            monitor: Arc::clone(self.monitor),
            source: Arc::clone(self.source),
            template: Arc::clone(template),
            names,
            packages: Arc::new(packages),
            resolved: resources,
            surroundings: self.surroundings,
            given: self.given,
            scope: self.scope,
        });
        Ok((evaluator, order))
    }
}

/// Nobody reads more errors than this at a time.
const MOST_TOLD: usize = 100;

/// Tells people what was found.
pub(crate) fn say(monitor: &Monitor, source: &Source, diagnostics: &Diagnostics) {
    for diagnostic in diagnostics.iter().take(MOST_TOLD) {
        tell(monitor, source, diagnostic);
    }
    let more = diagnostics.iter().len().saturating_sub(MOST_TOLD);
    if more > 0 {
        tell(monitor, source, &Diagnostic::error(Span::default(), format!("and {more} more errors")));
    }
}
