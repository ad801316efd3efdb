//! What is found on the way into a value.

use super::Checker;
use crate::diagnostics::{Diagnostic, Severity};
use crate::suggest;
use crate::syntax::Span;
use crate::template::{Access, Accessor};
use drystone_plugins::schema::Type;
use std::collections::BTreeMap;

/// Why there is no way into a value.
struct Dead {
    summary: String,
    detail: String,
}

impl Checker<'_> {
    /// What a way leads to. Tells when it leads nowhere.
    pub(super) fn access(&mut self, access: &Access, span: Span) -> Type {
        let root = self.root_type(&access.root);
        follow(&root, &access.root, &access.path).unwrap_or_else(|dead| {
            self.diagnostics.push(Diagnostic::error(span, dead.summary).detail(dead.detail));
            Type::Unknown
        })
    }

    /// The same for a value in a text, where what is not there is written as nothing.
    pub(super) fn warn_of_access(&mut self, access: &Access, span: Span) {
        let root = self.root_type(&access.root);
        if let Err(dead) = follow(&root, &access.root, &access.path) {
            let diagnostic = Diagnostic::error(span, dead.summary).detail(dead.detail);
            self.diagnostics.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
        }
    }
}

fn follow(kind: &Type, name: &str, path: &[Accessor]) -> Result<Type, Dead> {
    let Some((first, rest)) = path.split_first() else { return Ok(kind.clone()) };
    match kind {
        Type::Any => return Ok(Type::Any),
        Type::Unknown => return Ok(Type::Unknown),
        Type::Union(union) => return follow_union(kind, &union.types, name, path),
        _ => {}
    }
    match first {
        Accessor::Name(property) => {
            let properties = match kind {
                Type::Map(element) if rest.is_empty() => return Ok(element.as_ref().clone()),
                Type::Map(_) => return Ok(Type::Unknown),
                Type::Object(object) => {
                    object.properties().iter().map(|(name, p)| (name.clone(), p.kind.clone())).collect()
                }
                Type::Resource(resource) => match resource.definition() {
                    None => return Ok(Type::Unknown),
                    Some(resource) => {
                        let outputs = resource.outputs.iter();
                        let mut properties: BTreeMap<String, Type> =
                            outputs.map(|(name, p)| (name.clone(), p.kind.clone())).collect();
                        if !resource.is_component {
                            properties.insert("id".to_owned(), Type::String);
                        }
                        properties.insert("urn".to_owned(), Type::String);
                        properties
                    }
                },
                Type::AnyResource => return Ok(Type::Unknown),
                other => {
                    return Err(Dead {
                        summary: format!("cannot access a property on '{name}' (type {})", other.describe()),
                        detail: "property access is only allowed on resources and objects".to_owned(),
                    });
                }
            };
            match properties.get(property.as_ref()) {
                Some(kind) => follow(kind, &format!("{name}.{property}"), rest),
                None => Err(Dead {
                    summary: format!("{property} does not exist on {name}"),
                    detail: suggest::hint(property, "properties", properties.keys().map(String::as_str)),
                }),
            }
        }
        Accessor::Key(key) => match kind {
            Type::Map(element) => follow(element, &format!("{name}[{key:?}]"), rest),
            Type::Array(_) => Err(index(kind, " via string", name, "a list takes a number")),
            _ => Err(index(kind, "", name, "only maps and lists can be indexed; use a dot and the name")),
        },
        Accessor::Index(number) => match kind {
            Type::Array(element) => follow(element, &format!("{name}[{number}]"), rest),
            Type::Map(_) => Err(index(kind, " via number", name, "a map takes a name in quotes")),
            _ => Err(index(kind, "", name, "only maps and lists can be indexed")),
        },
    }
}

fn index(kind: &Type, how: &str, name: &str, detail: &str) -> Dead {
    let summary = format!("Cannot index{how} into '{name}' (type {})", kind.describe());
    Dead { summary, detail: detail.to_owned() }
}

/// A way must lead somewhere whatever the value turns out to be.
fn follow_union(kind: &Type, types: &[Type], name: &str, path: &[Accessor]) -> Result<Type, Dead> {
    let mut found = Vec::new();
    for option in types {
        match follow(option, name, path) {
            Ok(kind) => found.push(kind),
            Err(dead) => {
                return Err(Dead {
                    summary: format!("Cannot access into {name} of type {}", kind.describe()),
                    detail: format!("{}: {}", option.describe(), dead.summary),
                });
            }
        }
    }
    Ok(match found.len() {
        1 => found.remove(0),
        _ => Type::union(found),
    })
}
