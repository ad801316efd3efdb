//! The order in which the parts of a program are evaluated, and what stands in its way.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::suggest;
use crate::syntax::{Span, Text};
use crate::template::{Access, Resource, Template};
use std::collections::{BTreeSet, HashMap};

/// The name of what a program knows of its surroundings.
pub(crate) const PULUMI: &str = "pulumi";

/// A part of a program that is evaluated on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The range of versions that may run it.
    RequiredVersion,
    /// A declared value from outside, by its position.
    Config(usize),
    /// A resource, by its position.
    Resource(usize),
    /// A variable, by its position.
    Variable(usize),
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// What a program knows of its surroundings.
    Surroundings,
    /// A declared value from outside.
    Config(usize),
    /// A value from outside that the program does not declare.
    Given,
    /// A resource.
    Resource(usize),
    /// A variable.
    Variable(usize),
}

impl Meaning {
    fn word(self) -> &'static str {
        match self {
            Self::Surroundings => "the program's surroundings",
            Self::Config(_) | Self::Given => "config",
            Self::Resource(_) => "resource",
            Self::Variable(_) => "variable",
        }
    }

    fn step(self) -> Option<Step> {
        match self {
            Self::Surroundings | Self::Given => None,
            Self::Config(at) => Some(Step::Config(at)),
            Self::Resource(at) => Some(Step::Resource(at)),
            Self::Variable(at) => Some(Step::Variable(at)),
        }
    }
}

/// Every name of a program.
#[derive(Debug, Default)]
pub(crate) struct Names {
    meanings: HashMap<std::sync::Arc<str>, Meaning>,
    /// What names may have before them: the project's name and a colon.
    prefix: String,
}

impl Names {
    /// The names of a program. `given` are the values from outside, the project's own without its name before them.
    pub(crate) fn of(
        template: &Template,
        project: &str,
        given: &BTreeSet<String>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut names = Self { meanings: HashMap::new(), prefix: format!("{project}:") };
        names.meanings.insert(PULUMI.into(), Meaning::Surroundings);
        for (at, entry) in template.config.iter().enumerate() {
            names.add(&entry.key, Meaning::Config(at), diagnostics);
        }
        for key in given {
            names.meanings.entry(key.as_str().into()).or_insert(Meaning::Given);
        }
        for (at, resource) in template.resources.iter().enumerate() {
            names.add(&resource.key, Meaning::Resource(at), diagnostics);
        }
        for (at, (key, _)) in template.variables.iter().enumerate() {
            names.add(key, Meaning::Variable(at), diagnostics);
        }
        names
    }

    fn add(&mut self, key: &Text, meaning: Meaning, diagnostics: &mut Diagnostics) {
        let (name, word) = (&key.value, meaning.word());
        match self.meanings.get(name) {
            None => {
                self.meanings.insert(name.clone(), meaning);
            }
            Some(Meaning::Surroundings) => {
                diagnostics.error(key.span, format!("{word} {name} uses the reserved name pulumi"));
            }
            Some(other) if other.word() == word => {
                diagnostics.error(key.span, format!("found duplicate {word} {name}"));
            }
            Some(other) => {
                let other = other.word();
                let summary = format!("{word} {name} cannot have the same name as {other} {name}");
                diagnostics.error(key.span, summary);
            }
        }
    }

    /// What a name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<Meaning> {
        let own = || name.strip_prefix(&self.prefix).and_then(|name| self.meanings.get(name));
        self.meanings.get(name).or_else(own).copied()
    }

    /// Says that there is no such name. Who has made many mistakes is not told what all of them were meant for.
    fn missing(&self, access: &Access, span: Span, diagnostics: &Diagnostics) -> Diagnostic {
        let root = &access.root;
        let summary = format!("resource, variable, or config value {root:?} not found");
        if diagnostics.iter().len() >= 20 {
            return Diagnostic::error(span, summary);
        }
        let names: Vec<&str> = self.meanings.keys().map(AsRef::as_ref).collect();
        let detail = match suggest::meant(root, names) {
            Some(best) => format!("did you mean `{best}`?"),
            None => "a value of the configuration has to be declared under `config`".to_owned(),
        };
        Diagnostic::error(span, summary).detail(detail)
    }
}

/// The order in which everything is evaluated: what others need first, and else as it is written.
pub(crate) fn order(template: &Template, names: &Names, diagnostics: &mut Diagnostics) -> Vec<Step> {
    let mut order = Order {
        template,
        names,
        default_providers: default_providers(template),
        states: HashMap::new(),
        sorted: Vec::new(),
    };
    let config = (0..template.config.len()).map(Step::Config);
    let required = template.required_version.iter().map(|_| Step::RequiredVersion);
    let resources = (0..template.resources.len()).map(Step::Resource);
    let variables = (0..template.variables.len()).map(Step::Variable);
    for step in config.chain(required).chain(resources).chain(variables) {
        order.visit(step, diagnostics);
    }
    for (_, value) in &template.outputs {
        value.accesses(&mut |access, span| {
            if names.get(&access.root).is_none() {
                diagnostics.push(names.missing(access, span, diagnostics));
            }
        });
    }
    order.sorted
}

/// The default provider of each package that has one.
pub(crate) fn default_providers(template: &Template) -> HashMap<&str, usize> {
    let is_default = |resource: &Resource| matches!(resource.default_provider, Some((true, _)));
    let package = |(at, resource): (usize, &'_ Resource)| {
        is_default(resource).then_some(())?;
        let package =
            template.resources[at].type_token.as_ref()?.as_str().strip_prefix("pulumi:providers:")?;
        Some((package, at))
    };
    template.resources.iter().enumerate().filter_map(package).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
}

struct Order<'a> {
    template: &'a Template,
    names: &'a Names,
    default_providers: HashMap<&'a str, usize>,
    states: HashMap<Step, State>,
    sorted: Vec<Step>,
}

impl<'a> Order<'a> {
    /// Sorts in a part behind what it needs. Not recursive: a program may be a chain of any length.
    fn visit(&mut self, start: Step, diagnostics: &mut Diagnostics) {
        let mut path: Vec<(Step, std::vec::IntoIter<(Step, Span)>)> = Vec::new();
        let open = |order: &mut Self, step, diagnostics: &mut Diagnostics| {
            order.states.insert(step, State::Open);
            let needs = order.needs(step, diagnostics);
            (step, needs.into_iter())
        };
        if !self.states.contains_key(&start) {
            path.push(open(self, start, diagnostics));
        }
        while let Some((step, needs)) = path.last_mut() {
            let Some((need, span)) = needs.next() else {
                self.states.insert(*step, State::Done);
                self.sorted.push(*step);
                path.pop();
                continue;
            };
            match self.states.get(&need) {
                Some(State::Done) => {}
                Some(State::Open) => {
                    let steps: Vec<Step> = path.iter().map(|(step, _)| *step).collect();
                    let from = steps.iter().position(|step| *step == need).unwrap_or(0);
                    diagnostics.push(self.cycle(&steps[from..], span));
                }
                None => {
                    let next = open(self, need, diagnostics);
                    path.push(next);
                }
            }
        }
    }

    fn cycle(&self, steps: &[Step], span: Span) -> Diagnostic {
        let first = steps.first().copied().unwrap_or(Step::RequiredVersion);
        let (word, name) = self.label(first);
        let path: Vec<&str> = steps.iter().chain([&first]).map(|step| self.label(*step).1).collect();
        let summary = format!("circular dependency of {word} '{name}' transitively on itself");
        Diagnostic::error(span, summary).detail(path.join(" -> "))
    }

    fn label(&self, step: Step) -> (&'static str, &'a str) {
        match step {
            Step::RequiredVersion => ("setting", "requiredVersion"),
            Step::Config(at) => ("config", self.template.config[at].key.as_str()),
            Step::Resource(at) => ("resource", self.template.resources[at].key.as_str()),
            Step::Variable(at) => ("variable", self.template.variables[at].0.as_str()),
        }
    }

    /// What a part needs, with where it says so.
    fn needs(&self, step: Step, diagnostics: &mut Diagnostics) -> Vec<(Step, Span)> {
        let mut needs = Vec::new();
        let mut note = |access: &'a Access, span: Span| match self.names.get(&access.root) {
            Some(meaning) => needs.extend(meaning.step().map(|step| (step, span))),
            None => diagnostics.push(self.names.missing(access, span, diagnostics)),
        };
        match step {
            Step::RequiredVersion => {
                self.template.required_version.iter().for_each(|value| value.accesses(&mut note));
            }
            Step::Config(at) => {
                self.template.config[at].default.iter().for_each(|value| value.accesses(&mut note));
            }
            Step::Variable(at) => self.template.variables[at].1.accesses(&mut note),
            Step::Resource(at) => {
                let resource = &self.template.resources[at];
                resource.expressions().into_iter().for_each(|value| value.accesses(&mut note));
                needs.extend(self.default_provider(resource).map(|at| (Step::Resource(at), resource.span)));
            }
        }
        needs
    }

    /// The default provider that a resource without a provider of its own uses.
    fn default_provider(&self, resource: &Resource) -> Option<usize> {
        if resource.options.provider.is_some() || resource.default_provider.is_some() {
            return None;
        }
        let type_token = resource.type_token.as_ref()?.as_str();
        self.default_providers.get(type_token.split(':').next()?).copied()
    }
}
