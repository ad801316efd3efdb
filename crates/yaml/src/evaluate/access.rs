//! Looking values up.

use super::promise::{Known, Promise, Settled};
use super::resource::{Handle, State};
use super::run::Evaluator;
use super::value::{Evaluated, Stopped, Val, from_model};
use crate::graph::Meaning;
use crate::syntax::Span;
use crate::template::{Access, Accessor};
use drystone_engine::{InvokeRequest, PropertyMap};
use drystone_model::{ResourceReference, Secret, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is found inside of a value of the engine's.
struct Found {
    /// The value; none when it is not known.
    value: Option<Val>,
    /// Whether there was a secret on the way.
    secret: bool,
}

const UNKNOWN: Found = Found { value: None, secret: false };

impl Found {
    fn plain(value: Val) -> Self {
        Self { value: Some(value), secret: false }
    }
}

impl Evaluator {
    /// What a way leads to.
    pub(super) fn look_up(self: &Arc<Self>, access: &Access, span: Span) -> Evaluated {
        let name = access.root.as_ref();
        let receiver = match self.names.get(name) {
            Some(Meaning::Surroundings) => self.surroundings.value(),
            Some(Meaning::Config(at)) => self.results.config(at)?,
            Some(Meaning::Given) => match self.given.value(name) {
                Some(value) => value,
                None => return Err(self.missing(name, span)),
            },
            Some(Meaning::Resource(at)) => Val::Resource(self.results.resource(at)?),
            Some(Meaning::Variable(at)) => self.results.variable(at)?,
            None => return Err(self.missing(name, span)),
        };
        self.walk(receiver, &access.path, span)
    }

    fn missing(&self, name: &str, span: Span) -> Stopped {
        self.fail(span, format!("resource or variable named {name:?} could not be found"))
    }

    /// Follows a way into a value. Where outputs are inside, what is found is one too.
    pub(super) fn walk(self: &Arc<Self>, receiver: Val, path: &[Accessor], span: Span) -> Evaluated {
        if path.is_empty() && matches!(receiver, Val::Output(_)) {
            return Ok(receiver);
        }
        let path: Vec<Accessor> = path.to_vec();
        self.apply(vec![receiver], move |this, arguments| match <[Val; 1]>::try_from(arguments) {
            Ok([receiver]) => this.walk_plain(receiver, &path, span),
            Err(_) => Err(Stopped),
        })
    }

    fn walk_plain(self: &Arc<Self>, mut receiver: Val, path: &[Accessor], span: Span) -> Evaluated {
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            receiver = match (&receiver, first) {
                (Val::Output(_), _) => return self.walk(receiver, rest, span),
                (Val::Resource(handle), _) => return Ok(Val::Output(self.property(handle, rest, span))),
                (Val::List(items), Accessor::Index(index)) => {
                    let found = usize::try_from(*index).ok().and_then(|index| items.get(index));
                    found.cloned().ok_or_else(|| self.out_of_bounds(*index, items.len(), span))?
                }
                (Val::List(_), _) => return Err(self.fail(span, NO_NAME)),
                (Val::Object(members), Accessor::Name(name) | Accessor::Key(name)) => {
                    members.get(name.as_ref()).cloned().unwrap_or(Val::Null)
                }
                (Val::Object(_), Accessor::Index(_)) => return Err(self.fail(span, NO_INDEX)),
                (other, _) => return Err(self.no_receiver(other.describe(), span)),
            };
            rest = after;
        }
        Ok(receiver)
    }

    fn out_of_bounds(&self, index: i64, length: usize, span: Span) -> Stopped {
        self.fail(span, format!("list index {index} out-of-bounds for list of length {length}"))
    }

    fn no_receiver(&self, what: &str, span: Span) -> Stopped {
        self.fail(span, format!("receiver must be a list or object, not {what}"))
    }

    /// A property of a resource, once there is one.
    fn property(self: &Arc<Self>, handle: &Arc<Handle>, path: &[Accessor], span: Span) -> Promise {
        let (this, handle, path) = (Arc::clone(self), Arc::clone(handle), path.to_vec());
        self.promise(async move { this.settle_property(&handle, &path, span).await })
    }

    async fn settle_property(
        self: &Arc<Self>,
        handle: &Arc<Handle>,
        path: &[Accessor],
        span: Span,
    ) -> Settled {
        let mut state = handle.wait().await?;
        let dependencies: BTreeSet<_> =
            Some(state.urn.clone()).filter(|urn| !urn.is_empty()).into_iter().collect();
        let of = |value: Option<Val>, secret| Known {
            value,
            secret,
            dependencies: Arc::new(dependencies.clone()),
        };
        match path.first() {
            Some(Accessor::Name(name)) if name.as_ref() == "id" => {
                return Ok(of(state.id.as_deref().map(Val::text), false));
            }
            Some(Accessor::Name(name)) if name.as_ref() == "urn" => {
                return Ok(of(Some(Val::text(state.urn.as_str())), false));
            }
            _ => {}
        }
        if handle.reference {
            state = Arc::new(self.fetch(&state, span).await?);
        }
        let found = self.walk_state(handle, &state, path, span)?;
        let mut known = of(found.value, found.secret);
        if let Some(Val::Output(inner)) = &known.value {
            let inner = inner.wait().await?;
            known.absorb(&inner);
            known.value = inner.value;
        }
        Ok(known)
    }

    /// The state of a resource that is only known by its name.
    async fn fetch(&self, state: &State, span: Span) -> Result<State, Stopped> {
        let request = InvokeRequest {
            token: "pulumi:pulumi:getResource".to_owned(),
            arguments: PropertyMap::from([("urn".to_owned(), Value::from(state.urn.as_str()))]),
            ..InvokeRequest::default()
        };
        let found = self.monitor.invoke(request).await.map_err(|error| {
            self.fail(span, format!("Failed to get resource {:?}: {error}", state.urn.as_str()))
        })?;
        let outputs = match found.properties.get("state") {
            Some(Value::Object(outputs)) => outputs.clone(),
            _ => PropertyMap::new(),
        };
        let id = found.properties.get("id").and_then(Value::as_str).map(str::to_owned);
        Ok(State { urn: state.urn.clone(), id: id.or_else(|| state.id.clone()), outputs })
    }

    /// Looks into what a resource gives. In a preview, what its package says that it will give and what it does not
    /// give yet is not known.
    fn walk_state(
        self: &Arc<Self>,
        handle: &Handle,
        state: &State,
        path: &[Accessor],
        span: Span,
    ) -> Result<Found, Stopped> {
        let Some((first, rest)) = path.split_first() else { return Ok(UNKNOWN) };
        let name = match first {
            Accessor::Name(name) | Accessor::Key(name) => name.as_ref(),
            Accessor::Index(_) => return Err(self.fail(span, NO_INDEX)),
        };
        match (name, state.outputs.get(name)) {
            ("urn", _) => self.walk_model(&state.urn.as_str().into(), rest, span),
            ("id", _) => match &state.id {
                Some(id) => self.walk_model(&id.as_str().into(), rest, span),
                None => Ok(UNKNOWN),
            },
            (_, None) => {
                let promised = self.surroundings.dry_run
                    && handle.schema.as_ref().is_some_and(|schema| schema.outputs.contains_key(name));
                let unsure =
                    state.id.is_none() && self.surroundings.dry_run || contains_unknowns(&state.outputs);
                if promised || unsure { Ok(UNKNOWN) } else { self.nothing(rest, span) }
            }
            (_, Some(Value::Null)) => self.nothing(rest, span),
            (_, Some(value)) => self.walk_model(value, rest, span),
        }
    }

    fn nothing(&self, rest: &[Accessor], span: Span) -> Result<Found, Stopped> {
        if rest.is_empty() { Ok(Found::plain(Val::Null)) } else { Err(self.no_receiver("nil", span)) }
    }

    fn walk_model(self: &Arc<Self>, value: &Value, path: &[Accessor], span: Span) -> Result<Found, Stopped> {
        let refer = |reference: &ResourceReference| self.refer(reference);
        match value {
            Value::Null => Ok(Found::plain(Val::Null)),
            Value::Computed(_) | Value::Secret(Secret::Sealed(_)) => Ok(UNKNOWN),
            Value::Output(output) => match &output.value {
                None => Ok(Found { value: None, secret: output.secret }),
                Some(inner) => {
                    let found = self.walk_model(inner, path, span)?;
                    Ok(Found { secret: found.secret || output.secret, ..found })
                }
            },
            Value::Secret(Secret::Open(inner)) => {
                Ok(Found { secret: true, ..self.walk_model(inner, path, span)? })
            }
            Value::ResourceReference(reference) => {
                let resource = self.refer(reference);
                self.walk_plain(resource, path, span).map(Found::plain)
            }
            _ => {
                let Some((first, rest)) = path.split_first() else {
                    if value.contains_unknowns() {
                        return Ok(UNKNOWN);
                    }
                    return Ok(Found::plain(from_model(value, &refer)));
                };
                match (value, first) {
                    (Value::Array(items), Accessor::Index(index)) => {
                        match usize::try_from(*index).ok().and_then(|index| items.get(index)) {
                            Some(item) => self.walk_model(item, rest, span),
                            None => Err(self.out_of_bounds(*index, items.len(), span)),
                        }
                    }
                    (Value::Array(_), _) => Err(self.fail(span, NO_NAME)),
                    (Value::Object(members), Accessor::Name(name) | Accessor::Key(name)) => {
                        match members.get(name.as_ref()) {
                            None if contains_unknowns(members) => Ok(UNKNOWN),
                            None | Some(Value::Null) => self.nothing(rest, span),
                            Some(member) => self.walk_model(member, rest, span),
                        }
                    }
                    (Value::Object(_), Accessor::Index(_)) => Err(self.fail(span, NO_INDEX)),
                    (other, _) => Err(self.no_receiver(describe(other), span)),
                }
            }
        }
    }

    /// A resource that a value refers to.
    pub(super) fn refer(&self, reference: &ResourceReference) -> Val {
        let id = reference.id.clone().filter(|id| !id.is_empty() || !self.surroundings.dry_run);
        let state = State { urn: reference.urn.clone(), id, outputs: PropertyMap::new() };
        Val::Resource(Arc::new(Handle::reference(state)))
    }
}

const NO_NAME: &str = "cannot access a list element using a property name";
const NO_INDEX: &str = "cannot access an object property using an integer index";

fn contains_unknowns(members: &BTreeMap<String, Value>) -> bool {
    members.values().any(Value::contains_unknowns)
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        other => other.kind(),
    }
}
