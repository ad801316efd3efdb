//! What expressions give.

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::packages::Asked;
use crate::suggest;
use crate::syntax::Span;
use crate::template::{Expression, Form, Function, Invoke, Unary};
use drystone_plugins::schema::{ObjectType, Property, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an expression gives, and what is known of it from the way it is written.
#[derive(Debug, Clone)]
pub(super) struct Inferred {
    /// Its type.
    pub(super) kind: Type,
    /// Its place.
    pub(super) span: Span,
    /// How it is written, where that says more than its type.
    pub(super) written: Written,
}

/// How a value is written.
#[derive(Debug, Clone)]
pub(super) enum Written {
    /// In a way that says nothing more.
    Otherwise,
    /// As a text.
    String(Arc<str>),
    /// As a number.
    Number(f64),
    /// As an object: names with their places and values.
    Object(Vec<(Arc<str>, Span, Inferred)>),
    /// As a list.
    List(Vec<Inferred>),
}

impl Inferred {
    pub(super) fn of(kind: Type, span: Span) -> Self {
        Self { kind, span, written: Written::Otherwise }
    }

    /// Members that are only to be held to what there can be, so that they need no type of their own.
    pub(super) fn members(members: Vec<(Arc<str>, Span, Inferred)>, span: Span) -> Self {
        static NONE: std::sync::LazyLock<Arc<ObjectType>> =
            std::sync::LazyLock::new(|| Arc::new(ObjectType::of("", BTreeMap::new())));
        Self { kind: Type::Object(Arc::clone(&NONE)), span, written: Written::Object(members) }
    }

    /// An object of the given members.
    pub(super) fn object(members: Vec<(Arc<str>, Span, Inferred)>, span: Span) -> Self {
        let properties = members.iter().map(|(name, _, value)| {
            (name.to_string(), Property { required: true, ..Property::optional(value.kind.clone()) })
        });
        let kind = Type::Object(Arc::new(ObjectType::of("", properties.collect::<BTreeMap<_, _>>())));
        Self { kind, span, written: Written::Object(members) }
    }
}

impl Checker<'_> {
    /// What an expression gives. Tells what is wrong inside of it.
    pub(super) fn infer(&mut self, value: &Expression) -> Inferred {
        let of = |kind| Inferred::of(kind, value.span);
        match &value.form {
            Form::Null => of(Type::Unknown),
            Form::Bool(_) => of(Type::Bool),
            Form::Number(number) => Inferred { written: Written::Number(*number), ..of(Type::Number) },
            Form::String(text) => Inferred { written: Written::String(text.clone()), ..of(Type::String) },
            Form::Interpolate(parts) => {
                for access in parts.iter().filter_map(|part| part.access.as_ref()) {
                    self.warn_of_access(access, value.span);
                }
                of(Type::String)
            }
            Form::Symbol(access) => of(self.access(access, value.span)),
            Form::List(items) => {
                let items: Vec<Inferred> = items.iter().map(|item| self.infer(item)).collect();
                Inferred { kind: list_type(&items), span: value.span, written: Written::List(items) }
            }
            Form::Object(entries) => self.infer_object(entries, value.span),
            Form::Call(function) => self.infer_call(function, value.span),
        }
    }

    fn infer_object(&mut self, entries: &[(Arc<Expression>, Arc<Expression>)], span: Span) -> Inferred {
        let mut members = Some(Vec::with_capacity(entries.len()));
        for (key, value) in entries {
            let inferred = self.infer(value);
            match (key.as_str(), &mut members) {
                (Some(name), Some(members)) => members.push((name.clone(), key.span, inferred)),
                // Names that are looked up make an object of which nothing is known.
                (None, _) => {
                    self.infer(key);
                    members = None;
                }
                (Some(_), None) => {}
            }
        }
        members.map_or_else(|| Inferred::of(Type::Unknown, span), |members| Inferred::object(members, span))
    }

    fn infer_call(&mut self, function: &Function, span: Span) -> Inferred {
        let of = |kind| Inferred::of(kind, span);
        match function {
            Function::Invoke(invoke) => of(self.invoke(invoke)),
            Function::Join { delimiter, values } => {
                self.expect(delimiter, &Type::String);
                self.infer(values);
                of(Type::String)
            }
            Function::Split { delimiter, source } => {
                self.expect(delimiter, &Type::String);
                self.expect(source, &Type::String);
                of(Type::Array(Arc::new(Type::String)))
            }
            Function::Select { index, values } => {
                self.expect(index, &Type::Integer);
                let values = self.expect(values, &Type::Array(Arc::new(Type::Any)));
                of(match values.kind {
                    Type::Array(element) => element.as_ref().clone(),
                    _ => Type::Unknown,
                })
            }
            Function::Unary(Unary::Secret | Unary::Unsecret, value) => self.infer(value),
            Function::Unary(Unary::ToJson, value) => {
                self.infer(value);
                of(Type::String)
            }
            Function::Unary(_, value) => {
                self.infer(value);
                of(Type::Unknown)
            }
            Function::Asset(_, value) => {
                self.infer(value);
                of(Type::Asset)
            }
            Function::Archive(_, value) => {
                self.infer(value);
                of(Type::Archive)
            }
            Function::AssetArchive(members) => {
                members.iter().for_each(|(_, value)| {
                    self.infer(value);
                });
                of(Type::Archive)
            }
            Function::StackReference { property, .. } => {
                self.infer(property);
                of(Type::Unknown)
            }
        }
    }

    fn invoke(&mut self, invoke: &Invoke) -> Type {
        let options = &invoke.options;
        for value in [&options.parent, &options.provider, &options.depends_on].into_iter().flatten() {
            self.infer(value);
        }
        let arguments = invoke.arguments.as_ref().map(|value| self.infer(value));
        let resolved = self.packages.function(Asked {
            token: invoke.token.as_str(),
            version: options.version.as_ref(),
            download_url: options.plugin_download_url.as_ref(),
        });
        let function = match resolved {
            Ok(resolved) => resolved.schema,
            Err(problem) => {
                self.diagnostics.error(invoke.token.span, problem);
                return Type::Unknown;
            }
        };
        let Some(function) = function else { return Type::Unknown };
        if let Some(Inferred { written: Written::Object(members), .. }) = &arguments {
            for (name, span, _) in members {
                if !function.inputs.contains_key(name.as_ref()) {
                    let summary = format!("{name} does not exist on Invoke {}", function.token);
                    let names: Vec<&str> = function.inputs.keys().map(String::as_str).collect();
                    let detail = suggest::hint(name, "arguments", names.iter().copied());
                    self.diagnostics.push(Diagnostic::warning(*span, summary).detail(detail));
                }
            }
        }
        if let Some(single) = &function.single {
            if let Some(returns) = &invoke.returns {
                let detail =
                    format!("cannot specify property '{}' for function {}", returns.value, function.token);
                let summary = "fn::invoke has a non-object return value";
                self.diagnostics.push(Diagnostic::error(returns.span, summary).detail(detail));
            }
            return single.clone();
        }
        let Some(returns) = &invoke.returns else {
            return function.outputs.clone().map_or(Type::Unknown, Type::Object);
        };
        let outputs = function.outputs.as_ref().map(|outputs| outputs.properties()).unwrap_or_default();
        let found = outputs.iter().find(|(name, _)| name.eq_ignore_ascii_case(returns.as_str()));
        match found {
            Some((_, property)) => property.kind.clone(),
            None => {
                let summary = format!("{} does not exist on {}", returns.value, invoke.token.value);
                let names: Vec<&str> = outputs.keys().map(String::as_str).collect();
                let detail = suggest::hint(returns.as_str(), "properties", names.iter().copied());
                self.diagnostics.push(Diagnostic::error(returns.span, summary).detail(detail));
                Type::Unknown
            }
        }
    }
}

/// The type of a list: that of its elements, where they have the same.
fn list_type(items: &[Inferred]) -> Type {
    let mut kinds: Vec<Type> = Vec::new();
    for item in items {
        if !kinds.iter().any(|known| same_simple(known, &item.kind)) {
            kinds.push(item.kind.clone());
        }
    }
    Type::Array(Arc::new(match kinds.len() {
        0 => Type::Unknown,
        1 => kinds.remove(0),
        _ => Type::union(kinds),
    }))
}

/// Whether two types are the same one of those that have no parts.
fn same_simple(a: &Type, b: &Type) -> bool {
    matches!(
        (a, b),
        (Type::Any, Type::Any)
            | (Type::Unknown, Type::Unknown)
            | (Type::Bool, Type::Bool)
            | (Type::Integer, Type::Integer)
            | (Type::Number, Type::Number)
            | (Type::String, Type::String)
            | (Type::Asset, Type::Asset)
            | (Type::Archive, Type::Archive)
    )
}
