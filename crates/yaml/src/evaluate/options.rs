//! The options of resources.

use super::marshal::{Outputs, marshal};
use super::promise::{Rejected, resolve};
use super::resource::Handle;
use super::run::Evaluator;
use super::value::{Stopped, Val};
use crate::syntax::{Span, Text};
use crate::template::{Expression, Form, Resource, Shared};
use drystone_engine::{Alias, AliasParent, Timeouts};
use drystone_model::{Urn, Value};
use drystone_plugins::monitor::duration_seconds;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An alias, with what of it has to be waited for.
#[derive(Debug)]
pub(super) enum AliasGoal {
    /// A whole URN.
    Urn(Val, Span),
    /// Parts of one.
    Spec(BTreeMap<&'static str, (Val, Span)>),
}

impl Evaluator {
    /// The resource that an option names.
    pub(super) fn resource_option(self: &Arc<Self>, value: &Shared) -> Result<Arc<Handle>, Stopped> {
        match self.evaluate(value)? {
            Val::Resource(handle) => Ok(handle),
            Val::Output(_) => Err(self.fail(value.span, "resource cannot be an output")),
            other => Err(self.fail(value.span, format!("expected resource, got {}", other.describe()))),
        }
    }

    /// The resources that an option lists.
    pub(super) fn resources_option(
        self: &Arc<Self>,
        value: &Shared,
        option: &str,
    ) -> Result<Vec<Arc<Handle>>, Stopped> {
        let evaluated = self.evaluate(value)?;
        if evaluated.has_outputs() {
            let summary = format!("resource option {option} value must be a list of resource, not an output");
            return Err(self.fail(value.span, summary));
        }
        let Val::List(items) = evaluated else {
            let summary = format!("resource option {option} value must be a list of resources");
            return Err(self.fail(value.span, summary));
        };
        let mut handles = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item {
                Val::Resource(handle) => handles.push(Arc::clone(handle)),
                other => {
                    return Err(self.fail(value.span, format!("expected resource, got {}", other.describe())));
                }
            }
        }
        Ok(handles)
    }

    /// The provider that an option names.
    pub(super) fn provider_option(self: &Arc<Self>, value: &Shared) -> Result<Arc<Handle>, Stopped> {
        let handle = self.resource_option(value)?;
        if handle.provider_of().is_none() {
            let summary =
                format!("resource passed as Provider was not a provider resource '{}'", handle.name);
            return Err(self.fail(value.span, summary));
        }
        Ok(handle)
    }

    /// The provider that a resource or function without one of its own uses.
    pub(super) fn default_provider(&self, token: &str) -> Option<&Shared> {
        let package = token.split(':').next().unwrap_or_default();
        self.default_providers.get(package).map(|(provider, _)| provider)
    }

    /// A reference to a provider, `<urn>::<id>`.
    pub(super) async fn provider_reference(&self, provider: &Handle) -> Result<String, Rejected> {
        let state = provider.wait().await?;
        let id = state.id.as_deref().unwrap_or(drystone_model::Computed::String.sentinel());
        Ok(format!("{}::{id}", state.urn.as_str()))
    }

    /// Whether deleting a resource is refused. Must be known at once.
    pub(super) fn protect(self: &Arc<Self>, value: &Shared) -> Result<bool, Stopped> {
        match self.evaluate(value)? {
            Val::Bool(protect) => Ok(protect),
            evaluated if evaluated.has_outputs() => {
                Err(self.fail(value.span, "protect must not be an output"))
            }
            _ => Err(self.fail(value.span, "protect must be a boolean value")),
        }
    }

    /// Time limits in seconds. Must be known at once.
    pub(super) fn timeouts(self: &Arc<Self>, resource: &Resource) -> Result<Timeouts, Stopped> {
        let Some(timeouts) = &resource.options.custom_timeouts else { return Ok(Timeouts::default()) };
        let read = |value: &Option<Shared>, field: &str| {
            let Some(value) = value else { return Ok(0.0) };
            match self.evaluate(value)? {
                Val::String(text) if text.is_empty() => Ok(0.0),
                Val::String(text) => duration_seconds(&text).ok_or_else(|| {
                    self.fail(
                        value.span,
                        format!("customTimeouts.{field}: `{text}` is not a duration such as 5m"),
                    )
                }),
                other => {
                    let what = other.describe();
                    Err(self.fail(value.span, format!("customTimeouts.{field} must be a string, got {what}")))
                }
            }
        };
        let (create, update) = (read(&timeouts.create, "create"), read(&timeouts.update, "update"));
        let delete = read(&timeouts.delete, "delete");
        Ok(Timeouts { create: create?, update: update?, delete: delete?, read: 0.0 })
    }

    /// Environment variables to rename. Must be known at once.
    pub(super) fn env_var_mappings(
        self: &Arc<Self>,
        resource: &Resource,
    ) -> Result<BTreeMap<String, String>, Stopped> {
        let Some(value) = &resource.options.env_var_mappings else { return Ok(BTreeMap::new()) };
        if !resource.type_token.as_ref().is_some_and(|token| drystone_model::is_provider_type(&token.value)) {
            return Err(self.fail(value.span, "envVarMappings can only be used with provider resources"));
        }
        let Val::Object(members) = self.evaluate(value)? else {
            return Err(self.fail(value.span, "envVarMappings must be an object with string values"));
        };
        let mut mappings = BTreeMap::new();
        for (name, member) in members.iter() {
            let Val::String(text) = member else {
                let summary = format!("envVarMappings value for key {name:?} must be a string");
                return Err(self.fail(value.span, summary));
            };
            mappings.insert(name.clone(), text.to_string());
        }
        Ok(mappings)
    }

    /// The aliases of a resource, before anything is waited for.
    pub(super) fn aliases(self: &Arc<Self>, value: &Shared) -> Result<Vec<AliasGoal>, Stopped> {
        let Form::List(items) = &value.form else { return Ok(Vec::new()) };
        let goals: Vec<Result<Option<AliasGoal>, Stopped>> =
            items.iter().map(|item| self.alias(item)).collect();
        Ok(goals.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn alias(self: &Arc<Self>, item: &Shared) -> Result<Option<AliasGoal>, Stopped> {
        const FIELDS: [&str; 7] = ["urn", "name", "type", "parent", "noParent", "stack", "project"];
        let Expression { form: Form::Object(entries), .. } = item.as_ref() else {
            let value = self.evaluate(item)?;
            return Ok(Some(AliasGoal::Urn(value, item.span)));
        };
        let mut fields = BTreeMap::new();
        for (key, value) in entries {
            let Some(field) = key.as_str().and_then(|key| FIELDS.into_iter().find(|f| *f == key.as_ref()))
            else {
                continue;
            };
            fields.insert(field, (self.evaluate(value)?, value.span));
        }
        if let Some((urn, span)) = fields.remove("urn") {
            return Ok(Some(AliasGoal::Urn(urn, span)));
        }
        Ok(Some(AliasGoal::Spec(fields)))
    }

    /// An alias, once everything in it is known.
    pub(super) async fn settle_alias(&self, goal: &AliasGoal) -> Result<Alias, Rejected> {
        let fields = match goal {
            AliasGoal::Urn(value, span) => {
                let text = self.known_text(value, *span, "alias urn").await?;
                return Ok(Alias::Urn(self.urn(&text, *span)?));
            }
            AliasGoal::Spec(fields) => fields,
        };
        let text = |name: &'static str| async move {
            match fields.get(name) {
                Some((value, span)) => self.known_text(value, *span, &format!("alias {name}")).await,
                None => Ok(String::new()),
            }
        };
        let parent = match fields.get("parent") {
            Some((Val::Resource(handle), _)) => AliasParent::Urn(handle.wait().await?.urn.clone()),
            Some((value, span)) => {
                let text = self.known_text(value, *span, "alias parent").await?;
                AliasParent::Urn(self.urn(&text, *span)?)
            }
            None => match fields.get("noParent") {
                Some((Val::Bool(true), _)) => AliasParent::Root,
                _ => AliasParent::Unchanged,
            },
        };
        Ok(Alias::Spec {
            name: text("name").await?,
            type_token: text("type").await?,
            stack: text("stack").await?,
            project: text("project").await?,
            parent,
        })
    }

    fn urn(&self, text: &str, span: Span) -> Result<Urn, Rejected> {
        Urn::parse(text).map_err(|error| self.fail(span, error.to_string()).into())
    }

    /// A text that must be known, and be no secret.
    async fn known_text(&self, value: &Val, span: Span, what: &str) -> Result<String, Rejected> {
        let known = resolve(value).await?;
        let problem = match (&known.value, known.secret) {
            (None, _) => "must be known",
            (_, true) => "must not be secret",
            (Some(Val::Null), _) => return Ok(String::new()),
            (Some(Val::String(text)), _) => return Ok(text.to_string()),
            _ => "must be a string",
        };
        Err(self.fail(span, format!("{what} could not be resolved: {problem}")).into())
    }

    /// The value whose change replaces a resource, with where it came from.
    pub(super) async fn trigger(
        &self,
        value: &Val,
        outputs: Outputs,
    ) -> Result<(Option<Value>, Vec<Urn>), Rejected> {
        let marshalled = marshal(value, outputs).await?;
        let dependencies = marshalled.dependencies.into_iter().collect();
        Ok((Some(marshalled.value).filter(|value| !value.is_null()), dependencies))
    }
}

/// Texts without their places.
pub(super) fn plain_texts(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.value.to_string()).collect()
}
