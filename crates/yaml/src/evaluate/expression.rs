//! Evaluating expressions.

use super::format;
use super::promise::{Known, Promise, Rejected, Settled, resolve};
use super::run::Evaluator;
use super::value::{Evaluated, Stopped, Val};
use crate::syntax::Span;
use crate::template::{Expression, Form, Part, Shared};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

impl From<Stopped> for Rejected {
    fn from(_: Stopped) -> Self {
        Self
    }
}

/// Breaks a promise that nobody kept, so that nobody waits forever.
struct Keeper(Promise);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.settle(Err(Rejected));
    }
}

impl Evaluator {
    /// A promise that is kept by what is done meanwhile.
    pub(super) fn promise(&self, work: impl Future<Output = Settled> + Send + 'static) -> Promise {
        let promise = Promise::open();
        let keeper = Keeper(promise.clone());
        self.tasks.spawn(async move {
            let settled = work.await;
            keeper.0.settle(settled);
        });
        promise
    }

    /// Does something with values: at once when none of them has to be waited for.
    pub(super) fn apply(
        self: &Arc<Self>,
        arguments: Vec<Val>,
        then: impl FnOnce(&Arc<Self>, Vec<Val>) -> Evaluated + Send + 'static,
    ) -> Evaluated {
        if !arguments.iter().any(Val::has_outputs) {
            return then(self, arguments);
        }
        let this = Arc::clone(self);
        Ok(Val::Output(self.promise(async move {
            let mut whole = Known::plain(Val::Null);
            let mut values = Some(Vec::with_capacity(arguments.len()));
            for argument in &arguments {
                let known = resolve(argument).await?;
                whole.absorb(&known);
                values = values.zip(known.value).map(|(mut values, value)| {
                    values.push(value);
                    values
                });
            }
            let Some(values) = values else { return Ok(Known { value: None, ..whole }) };
            match then(&this, values)? {
                Val::Output(promise) => {
                    let inner = promise.wait().await?;
                    whole.absorb(&inner);
                    Ok(Known { value: inner.value, ..whole })
                }
                value => Ok(Known { value: Some(value), ..whole }),
            }
        })))
    }

    /// The value of an expression.
    pub(super) fn evaluate(self: &Arc<Self>, value: &Shared) -> Evaluated {
        match &value.form {
            Form::Null => Ok(Val::Null),
            Form::Bool(value) => Ok(Val::Bool(*value)),
            Form::Number(number) => Ok(Val::Number(*number)),
            Form::String(text) => Ok(Val::String(Arc::clone(text))),
            Form::Symbol(access) => self.look_up(access, value.span),
            Form::Interpolate(_) => self.interpolate(value, 0, String::new()),
            Form::List(items) => {
                let items: Vec<Evaluated> = items.iter().map(|item| self.evaluate(item)).collect();
                Ok(Val::list(items.into_iter().collect::<Result<_, _>>()?))
            }
            Form::Object(entries) => self.object(entries),
            Form::Call(_) => self.call(value),
        }
    }

    /// Every member is evaluated, so that all that is wrong is told.
    fn object(self: &Arc<Self>, entries: &[(Shared, Shared)]) -> Evaluated {
        let evaluated: Vec<(Evaluated, Evaluated)> =
            entries.iter().map(|(key, value)| (self.evaluate(key), self.evaluate(value))).collect();
        let mut keys = Vec::with_capacity(entries.len());
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in evaluated {
            keys.push(key?);
            values.push(value?);
        }
        let spans: Vec<Span> = entries.iter().map(|(key, _)| key.span).collect();
        self.apply(keys, move |this, keys| {
            let mut members = BTreeMap::new();
            let mut wrong = None;
            for ((key, value), span) in keys.into_iter().zip(values).zip(spans) {
                if let Val::String(name) = &key {
                    members.insert(name.to_string(), value);
                } else {
                    let what = key.describe();
                    wrong =
                        Some(this.fail(span, format!("object key must evaluate to a string, not {what}")));
                }
            }
            wrong.map_or_else(|| Ok(Val::object(members)), Err)
        })
    }

    /// A text from the part at `from` on, with what stands before it.
    fn interpolate(self: &Arc<Self>, value: &Shared, from: usize, mut text: String) -> Evaluated {
        let Expression { form: Form::Interpolate(parts), span } = value.as_ref() else { return Err(Stopped) };
        for (at, Part { text: characters, access }) in parts.iter().enumerate().skip(from) {
            text.push_str(characters);
            let Some(access) = access else { continue };
            let part = self.look_up(access, *span)?;
            if part.has_outputs() {
                // What stands behind is looked at when this is known.
                let (value, span, access) = (Arc::clone(value), *span, access.to_string());
                return self.apply(vec![part], move |this, known| {
                    let Some(part) = known.first() else { return Err(Stopped) };
                    text.push_str(&this.as_text(part, &access, span)?);
                    this.interpolate(&value, at + 1, text)
                });
            }
            text.push_str(&self.as_text(&part, &access.to_string(), *span)?);
        }
        Ok(Val::text(text))
    }

    fn as_text(&self, part: &Val, name: &str, span: Span) -> Result<String, Stopped> {
        format::text(part).ok_or_else(|| {
            let what = part.describe();
            let hint = match part {
                Val::Resource(_) => format!("; use `${{{name}.id}}`, `${{{name}.urn}}` or another property"),
                _ => String::new(),
            };
            self.fail(span, format!("`{name}` is {what}, which cannot be part of a text{hint}"))
        })
    }
}
