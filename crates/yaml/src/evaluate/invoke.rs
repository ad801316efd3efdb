//! Functions of providers.

use super::marshal::marshal_plain;
use super::promise::{Known, Promise, Rejected, Settled, resolve};
use super::resource::Handle;
use super::run::Evaluator;
use super::value::{Evaluated, Stopped, Val};
use crate::packages::{Asked, ResolvedFunction};
use crate::template::{Expression, Form, Function, Invoke, Shared};
use drystone_engine::{InvokeRequest, PackageSource, PropertyMap};
use drystone_model::{Secret, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The resources that a call is about.
struct Related {
    parent: Option<Arc<Handle>>,
    provider: Option<Arc<Handle>>,
    depends_on: Vec<Arc<Handle>>,
}

/// What a function gave, without secrets in it.
struct Opened {
    members: BTreeMap<String, Val>,
    secret: bool,
}

impl Evaluator {
    /// Calls a function of a provider. What it gives comes later.
    pub(super) fn invoke(self: &Arc<Self>, value: &Shared) -> Evaluated {
        let invoke = invoke_of(value).ok_or(Stopped)?;
        let arguments = match &invoke.arguments {
            Some(arguments) => self.evaluate(arguments)?,
            None => Val::object(BTreeMap::new()),
        };
        let related = self.related(invoke)?;
        let options = &invoke.options;
        let resolved = self.packages.function(Asked {
            token: invoke.token.as_str(),
            version: options.version.as_ref(),
            download_url: options.plugin_download_url.as_ref(),
        });
        let resolved = resolved.map_err(|problem| self.fail(invoke.token.span, problem))?;
        let plain = !arguments.has_outputs();
        let (this, value) = (Arc::clone(self), Arc::clone(value));
        let promise = self.promise(async move { this.run(&value, &arguments, &related, &resolved).await });
        if plain {
            self.note_invoke(promise.clone());
        }
        Ok(Val::Output(promise))
    }

    fn related(self: &Arc<Self>, invoke: &Invoke) -> Result<Related, Stopped> {
        let options = &invoke.options;
        let parent = match &options.parent {
            Some(parent) => Some(self.resource_option(parent)?),
            None => self.scope.component().cloned(),
        };
        let provider = options.provider.as_ref().or_else(|| self.default_provider(invoke.token.as_str()));
        let provider = provider.map(|provider| self.provider_option(provider)).transpose()?;
        let depends_on = match &options.depends_on {
            Some(list) => self.resources_option(list, "dependsOn")?,
            None => Vec::new(),
        };
        Ok(Related { parent, provider, depends_on })
    }

    async fn run(
        self: &Arc<Self>,
        value: &Shared,
        arguments: &Val,
        related: &Related,
        resolved: &ResolvedFunction,
    ) -> Settled {
        let invoke = invoke_of(value).ok_or(Rejected)?;
        let mut known = resolve(arguments).await?;
        let mut dependencies = BTreeSet::new();
        for handle in &related.depends_on {
            let state = handle.wait().await?;
            if state.id.is_none() {
                known.value = None;
            }
            dependencies.extend(Some(state.urn.clone()).filter(|urn| !urn.is_empty()));
        }
        known.absorb(&Known { value: None, secret: false, dependencies: Arc::new(dependencies) });
        let Some(arguments) = known.value.take() else { return Ok(known) };
        let arguments = match marshal_plain(&arguments).await? {
            Value::Object(arguments) => arguments,
            _ => PropertyMap::new(),
        };
        let provider = self.invoke_provider(related, &resolved.token).await?;
        let options = &invoke.options;
        let text = |text: &Option<crate::syntax::Text>| {
            text.as_ref().map(|text| text.value.to_string()).unwrap_or_default()
        };
        let package = PackageSource {
            version: text(&options.version),
            download_url: text(&options.plugin_download_url),
            reference: self.packages.reference(&resolved.token),
            ..PackageSource::default()
        };
        let token = resolved.token.clone();
        let request = InvokeRequest { token, arguments, provider, package, ..InvokeRequest::default() };
        let span = invoke.span;
        let answer = self.monitor.invoke(request).await.map_err(|error| self.refused(&error, span))?;
        if !answer.failures.is_empty() {
            for failure in &answer.failures {
                let (token, reason, property) = (&resolved.token, &failure.reason, &failure.property);
                self.fail(span, format!("{token} invoke failed: {reason} ({property})"));
            }
            return Err(Rejected);
        }
        if answer.unknown {
            return Ok(known);
        }
        let opened = self.opened(&answer.properties);
        known.secret |= opened.secret;
        known.value = Some(self.returned(invoke, resolved, opened.members)?);
        Ok(known)
    }

    /// The provider that a call is to be served by, as a reference.
    async fn invoke_provider(&self, related: &Related, token: &str) -> Result<String, Rejected> {
        let package = token.split(':').next().unwrap_or_default();
        let given = related.provider.as_ref().filter(|provider| provider.provider_of() == Some(package));
        let inherited = || related.parent.as_ref().and_then(|parent| parent.providers.get(package));
        match given.or_else(inherited) {
            Some(provider) => self.provider_reference(provider).await,
            None => Ok(String::new()),
        }
    }

    /// What a function gave, as the program sees it. One secret in it makes all of it secret.
    fn opened(&self, properties: &PropertyMap) -> Opened {
        let mut secret = false;
        let members =
            properties.iter().map(|(name, value)| (name.clone(), self.open(value, &mut secret))).collect();
        Opened { members, secret }
    }

    fn open(&self, value: &Value, secret: &mut bool) -> Val {
        match value {
            Value::Secret(Secret::Open(inner)) => {
                *secret = true;
                self.open(inner, secret)
            }
            Value::Output(output) => {
                *secret |= output.secret;
                output.value.as_ref().map_or(Val::Null, |inner| self.open(inner, secret))
            }
            Value::Computed(_) | Value::Secret(Secret::Sealed(_)) => Val::Null,
            Value::Array(items) => Val::list(items.iter().map(|item| self.open(item, secret)).collect()),
            Value::Object(members) => Val::object(
                members.iter().map(|(name, member)| (name.clone(), self.open(member, secret))).collect(),
            ),
            other => super::value::from_model(other, &|reference| self.refer(reference)),
        }
    }

    /// The part of what a function gave that is asked for.
    fn returned(
        &self,
        invoke: &Invoke,
        resolved: &ResolvedFunction,
        members: BTreeMap<String, Val>,
    ) -> Result<Val, Rejected> {
        let single = resolved.schema.as_ref().is_some_and(|schema| schema.single.is_some());
        let wanted = invoke.returns.as_ref().filter(|returns| !returns.value.is_empty());
        match wanted {
            None if single => Ok(members.into_values().next().unwrap_or(Val::Null)),
            None => Ok(Val::object(members)),
            Some(name) => members.get(name.as_str()).cloned().ok_or_else(|| {
                let (token, name_text) = (&invoke.token.value, &name.value);
                let summary = format!(
                    "fn::invoke of {token} did not contain a property '{name_text}' in the returned value"
                );
                self.fail(name.span, summary).into()
            }),
        }
    }

    /// Remembers a call that does not wait for resources, for the part that is being evaluated.
    fn note_invoke(&self, promise: Promise) {
        self.noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(promise);
    }
}

fn invoke_of(value: &Expression) -> Option<&Invoke> {
    match &value.form {
        Form::Call(function) => match function.as_ref() {
            Function::Invoke(invoke) => Some(invoke),
            _ => None,
        },
        _ => None,
    }
}
