//! Whether a value fits where it is put.

use super::Checker;
use super::infer::{Inferred, Written};
use crate::diagnostics::Diagnostic;
use crate::suggest;
use crate::syntax::Span;
use crate::template::Expression;
use drystone_plugins::schema::{EnumValue, ObjectType, Property, Type};
use std::collections::BTreeMap;

/// Something that does not fit.
#[derive(Debug, Clone)]
pub(super) struct Misfit {
    pub(super) span: Span,
    pub(super) summary: String,
    pub(super) detail: String,
}

impl Checker<'_> {
    /// What an expression gives; tells when it does not fit.
    pub(super) fn expect(&mut self, value: &Expression, kind: &Type) -> Inferred {
        let inferred = self.infer(value);
        self.assert_fits(&inferred, kind);
        inferred
    }

    /// Tells everything of a value that does not fit.
    pub(super) fn assert_fits(&mut self, value: &Inferred, kind: &Type) {
        let misfits = fits(value, kind, "", 0);
        let told = misfits
            .into_iter()
            .map(|misfit| Diagnostic::error(misfit.span, misfit.summary).detail(misfit.detail));
        self.diagnostics.extend(told);
    }
}

/// Types may hold themselves; what nests deeper than this is let through.
const MAX_DEPTH: usize = 40;

/// Everything of a value that does not fit a type. `path` is where in the whole the value stands.
pub(super) fn fits(from: &Inferred, to: &Type, path: &str, depth: usize) -> Vec<Misfit> {
    let ok = Vec::new;
    if depth > MAX_DEPTH {
        return ok();
    }
    let fail = || vec![misfit(from, to, path)];
    let only_if = |condition: bool| if condition { ok() } else { fail() };
    match (&from.kind, to) {
        (Type::Unknown | Type::Any, _) | (_, Type::Unknown | Type::Any) => return ok(),
        (Type::Enum { element, .. }, _) => {
            return fits(&Inferred { kind: element.as_ref().clone(), ..from.clone() }, to, path, depth + 1);
        }
        (Type::Union(union), _) if !matches!(from.written, Written::List(_)) => {
            return union
                .types
                .iter()
                .flat_map(|kind| fits(&Inferred::of(kind.clone(), from.span), to, path, depth + 1))
                .take(1)
                .collect();
        }
        _ => {}
    }
    match to {
        Type::Unknown | Type::Any => ok(),
        Type::Number | Type::Integer => only_if(matches!(from.kind, Type::Number | Type::Integer)),
        Type::AnyResource => only_if(matches!(from.kind, Type::Resource(_) | Type::AnyResource)),
        // A resource stands for its URN, and numbers and truth values for their texts.
        Type::String => only_if(matches!(
            from.kind,
            Type::Resource(_) | Type::String | Type::Number | Type::Integer | Type::Bool
        )),
        Type::Bool => only_if(matches!(from.kind, Type::Bool)),
        // Some properties are said to be assets and take archives too.
        Type::Asset => only_if(matches!(from.kind, Type::Asset | Type::Archive)),
        Type::Archive => only_if(matches!(from.kind, Type::Archive)),
        Type::Resource(wanted) => {
            only_if(matches!(&from.kind, Type::Resource(given) if given.token == wanted.token))
        }
        Type::Enum { element, values, .. } => {
            let misfits = fits(from, element, path, depth + 1);
            if misfits.is_empty() { enum_value(from, values, path) } else { misfits }
        }
        Type::Union(union) => {
            let mut reasons = Vec::new();
            for option in &union.types {
                let misfits = fits(from, option, path, depth + 1);
                if misfits.is_empty() {
                    return ok();
                }
                reasons.push(format!("{}: {}", option.describe(), misfits[0].summary));
            }
            vec![Misfit { detail: reasons.join("\n"), ..misfit(from, to, path) }]
        }
        Type::Array(element) => match (&from.kind, &from.written) {
            (_, Written::List(items)) => items
                .iter()
                .enumerate()
                .flat_map(|(at, item)| {
                    // Texts and numbers of lists are not held to enumerations.
                    let item = Inferred { written: without_literal(&item.written), ..item.clone() };
                    fits(&item, element, &format!("{path}[{at}]"), depth + 1)
                })
                .collect(),
            (Type::Array(given), _) => fits(
                &Inferred::of(given.as_ref().clone(), from.span),
                element,
                &format!("{path}[]"),
                depth + 1,
            ),
            _ => fail(),
        },
        Type::Map(element) => match (&from.kind, &from.written) {
            (_, Written::Object(members)) => members
                .iter()
                .flat_map(|(name, _, value)| fits(value, element, &joined(path, name), depth + 1))
                .collect(),
            (Type::Map(given), _) => {
                fits(&Inferred::of(given.as_ref().clone(), from.span), element, path, depth + 1)
            }
            (Type::Object(object), _) => object
                .properties()
                .iter()
                .flat_map(|(name, property)| {
                    let value = Inferred::of(property.kind.clone(), from.span);
                    fits(&value, element, &joined(path, name), depth + 1)
                })
                .take(1)
                .collect(),
            _ => fail(),
        },
        Type::Object(object) => fits_object(from, object, to, path, depth),
    }
}

fn fits_object(from: &Inferred, object: &ObjectType, to: &Type, path: &str, depth: usize) -> Vec<Misfit> {
    let wanted = object.properties();
    match (&from.kind, &from.written) {
        (_, Written::Object(members)) => {
            let mut misfits = Vec::new();
            for (name, span, value) in members {
                match wanted.get(name.as_ref()) {
                    Some(property) => {
                        misfits.extend(fits(value, &property.kind, &joined(path, name), depth + 1));
                    }
                    None => misfits.push(unknown_property(name, *span, &to.describe(), &wanted)),
                }
            }
            misfits.extend(missing(&wanted, from, &to.describe(), |name| {
                members.iter().any(|(given, _, _)| given.as_ref() == name)
            }));
            misfits
        }
        (Type::Map(element), _) => wanted
            .iter()
            .flat_map(|(name, property)| {
                let value = Inferred::of(element.as_ref().clone(), from.span);
                fits(&value, &property.kind, &joined(path, name), depth + 1)
            })
            .take(1)
            .collect(),
        (Type::Object(given), _) if !given.token.is_empty() && given.token == object.token => Vec::new(),
        (Type::Object(given), _) => {
            let given = given.properties();
            let mut misfits = Vec::new();
            for (name, property) in given.iter() {
                match wanted.get(name) {
                    Some(wanted) => {
                        let value = Inferred::of(property.kind.clone(), from.span);
                        misfits.extend(fits(&value, &wanted.kind, &joined(path, name), depth + 1));
                    }
                    None => misfits.push(unknown_property(name, from.span, &to.describe(), &wanted)),
                }
            }
            misfits.extend(missing(&wanted, from, &to.describe(), |name| given.contains_key(name)));
            misfits
        }
        _ => vec![misfit(from, to, path)],
    }
}

fn missing(
    wanted: &BTreeMap<String, Property>,
    from: &Inferred,
    owner: &str,
    has: impl Fn(&str) -> bool,
) -> Vec<Misfit> {
    let required = wanted.iter().filter(|(name, property)| property.required && !has(name));
    required
        .map(|(name, property)| Misfit {
            span: from.span,
            summary: format!("Missing required property '{name}' of {owner}"),
            detail: format!("it takes {}", property.kind.describe()),
        })
        .collect()
}

fn unknown_property(name: &str, span: Span, owner: &str, known: &BTreeMap<String, Property>) -> Misfit {
    Misfit {
        span,
        summary: format!("Property {name} does not exist on {owner}"),
        detail: suggest::hint(name, "properties", known.keys().map(String::as_str)),
    }
}

fn enum_value(from: &Inferred, values: &[EnumValue], path: &str) -> Vec<Misfit> {
    let allowed = match &from.written {
        Written::String(text) => values.iter().any(|value| value.value.as_str() == Some(text.as_ref())),
        Written::Number(number) => values.iter().any(|value| value.value.as_f64() == Some(*number)),
        _ => true,
    };
    if allowed || values.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = values
        .iter()
        .map(|value| match value.name.as_str() {
            "" => value.value.to_string(),
            name if Some(name) == value.value.as_str() => value.value.to_string(),
            name => format!("{name} ({})", value.value),
        })
        .collect();
    let what = if path.is_empty() { "the value".to_owned() } else { format!("'{path}'") };
    vec![Misfit {
        span: from.span,
        summary: format!("{what} is none of the values that are allowed"),
        detail: format!("Allowed values are {}", listed.join(", ")),
    }]
}

fn misfit(from: &Inferred, to: &Type, path: &str) -> Misfit {
    let (given, wanted) = (from.kind.describe(), to.describe());
    let summary = match path {
        "" => format!("{wanted} is not assignable from {given}"),
        path => format!("'{path}' takes {wanted}, not {given}"),
    };
    Misfit { span: from.span, summary, detail: String::new() }
}

fn without_literal(written: &Written) -> Written {
    match written {
        Written::String(_) | Written::Number(_) => Written::Otherwise,
        other => other.clone(),
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
