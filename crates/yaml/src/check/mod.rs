//! Holding a program to what packages say of their resources and functions, before anything of it runs.
//!
//! [`infer`](Checker::infer) says what an expression gives; `assign` whether that fits where it is put; `resources`
//! looks at everything that a resource is declared with.

mod access;
mod assign;
mod infer;
mod resources;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::graph::{self, Meaning, Names, Step};
use crate::packages::{Packages, ResolvedResource};
use crate::template::Template;
use drystone_plugins::schema::{ObjectType, Property, ResourceType, Type};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What checking a program found out.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// What each resource is, in their order; none where that could not be told.
    pub(crate) resources: Vec<Option<ResolvedResource>>,
    /// What is wrong.
    pub(crate) diagnostics: Diagnostics,
}

/// Checks a program whose packages are loaded. `given` says what the values from outside are.
pub(crate) fn check(
    template: &Template,
    names: &Names,
    order: &[Step],
    packages: &Packages,
    given: &HashMap<String, Type>,
) -> Checked {
    let mut checker = Checker {
        template,
        names,
        packages,
        given,
        config: vec![Type::Unknown; template.config.len()],
        variables: vec![Type::Unknown; template.variables.len()],
        resource_types: vec![Type::Unknown; template.resources.len()],
        resources: vec![None; template.resources.len()],
        surroundings: surroundings(),
        diagnostics: Diagnostics::default(),
    };
    checker.default_providers();
    for step in order {
        checker.step(*step);
    }
    for (_, value) in &template.outputs {
        checker.infer(value);
    }
    Checked { resources: checker.resources, diagnostics: checker.diagnostics }
}

/// What programs know of their surroundings.
pub(crate) const SURROUNDINGS: [&str; 5] = ["cwd", "organization", "project", "rootDirectory", "stack"];

fn surroundings() -> Type {
    let members = SURROUNDINGS.map(|name| (name.to_owned(), Property::optional(Type::String)));
    Type::Object(Arc::new(ObjectType::of("pulumi:builtin:pulumi", BTreeMap::from(members))))
}

struct Checker<'a> {
    template: &'a Template,
    names: &'a Names,
    packages: &'a Packages,
    given: &'a HashMap<String, Type>,
    config: Vec<Type>,
    variables: Vec<Type>,
    resource_types: Vec<Type>,
    resources: Vec<Option<ResolvedResource>>,
    surroundings: Type,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    fn step(&mut self, step: Step) {
        match step {
            Step::RequiredVersion => {
                if let Some(value) = &self.template.required_version {
                    self.infer(value);
                }
            }
            Step::Config(at) => self.config(at),
            Step::Variable(at) => {
                self.variables[at] = self.infer(&self.template.variables[at].1).kind;
            }
            Step::Resource(at) => {
                self.resources[at] = self.resource(at);
                if let Some(ResolvedResource { token, package: Some(package), .. }) = &self.resources[at] {
                    self.resource_types[at] = Type::Resource(Arc::new(ResourceType::new(token, package)));
                }
            }
        }
    }

    fn config(&mut self, at: usize) {
        let entry = &self.template.config[at];
        self.config[at] = if let Some(given) = self.given.get(entry.key.as_str()) {
            given.clone()
        } else if let Some(default) = &entry.default {
            self.infer(default).kind
        } else {
            entry.kind.as_ref().and_then(|kind| config_type(kind.as_str())).unwrap_or(Type::Unknown)
        };
    }

    /// Says what is wrong with default providers.
    fn default_providers(&mut self) {
        let providers = graph::default_providers(self.template);
        for resource in &self.template.resources {
            let Some(token) = &resource.type_token else { continue };
            if token.as_str().starts_with("pulumi:providers:") {
                continue;
            }
            if let Some((_, span)) = resource.default_provider {
                self.diagnostics.error(span, "cannot set defaultProvider on non-provider resource");
            }
            let package = token.as_str().split(':').next().unwrap_or_default();
            let Some(provider) = providers.get(package) else { continue };
            let (own, theirs) = (&resource.options, &self.template.resources[*provider].options);
            if own.provider.is_some() {
                continue;
            }
            let conflicts = |own: &Option<crate::syntax::Text>, theirs: &Option<crate::syntax::Text>| {
                own.as_ref().is_some_and(|own| theirs.as_ref().is_none_or(|theirs| theirs.value != own.value))
            };
            let detail = format!("remove this option of resource \"{}\"", resource.key.value);
            if conflicts(&own.version, &theirs.version) {
                self.diagnostics.push(
                    Diagnostic::error(resource.span, "Version conflicts with the default provider version")
                        .detail(&detail),
                );
            }
            if conflicts(&own.plugin_download_url, &theirs.plugin_download_url) {
                self.diagnostics.push(
                    Diagnostic::error(
                        resource.span,
                        "PluginDownloadURL conflicts with the default provider URL",
                    )
                    .detail(&detail),
                );
            }
        }
    }

    /// What a name stands for.
    fn root_type(&self, name: &str) -> Type {
        match self.names.get(name) {
            Some(Meaning::Surroundings) => self.surroundings.clone(),
            Some(Meaning::Config(at)) => self.config[at].clone(),
            Some(Meaning::Given) => self.given.get(name).cloned().unwrap_or(Type::Unknown),
            Some(Meaning::Resource(at)) => self.resource_types[at].clone(),
            Some(Meaning::Variable(at)) => self.variables[at].clone(),
            None => Type::Unknown,
        }
    }
}

/// The type that a declaration of a config value names.
pub(crate) fn config_type(text: &str) -> Option<Type> {
    let text = text.to_lowercase();
    if let Some(inner) = text.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>')) {
        return config_type(inner.trim()).map(|inner| Type::Array(Arc::new(inner)));
    }
    match text.as_str() {
        "string" => Some(Type::String),
        "bool" | "boolean" => Some(Type::Bool),
        "number" => Some(Type::Number),
        "int" | "integer" => Some(Type::Integer),
        "object" => Some(Type::Map(Arc::new(Type::Any))),
        _ => None,
    }
}
