//! The inputs of a resource as its schema has them.

use super::expression::{Archive, Expression, Object, ObjectForm};
use drystone_engine::PropertyMap;
use drystone_model::{ArchiveSource, AssetSource, Number, Secret, Value};
use drystone_plugins::schema::{ObjectType, Property, Resource, Type, Union};

/// How deep the types of a schema are followed.
const MAX_DEPTH: usize = 24;

/// How deep unions inside of unions are looked into to tell types apart: each has as many ways on as it has types.
const MAX_CHOICES: usize = 8;

/// What the program gives a resource, and what there is to say of it.
#[derive(Debug, Default)]
pub(super) struct Shaped {
    pub(super) inputs: Vec<(String, Expression)>,
    /// What the provider returned and the schema does not have.
    pub(super) left_out: Vec<String>,
    /// What must be given and the provider did not return.
    pub(super) missing: Vec<String>,
    /// What is no text and cannot be said in code: bytes.
    pub(super) unsayable: Vec<String>,
}

/// What is known of a resource besides its schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) inputs: &'a PropertyMap,
    pub(super) outputs: &'a PropertyMap,
    /// Whether it is a provider, whose inputs are texts in the state.
    pub(super) is_provider: bool,
    /// How objects are written that can be nothing else.
    pub(super) form: ObjectForm,
}

/// The inputs of a resource by its schema.
pub(super) fn shape(schema: &Resource, known: Known<'_>) -> Shaped {
    let mut shaping = Shaping { form: known.form, shaped: Shaped::default() };
    for (name, property) in schema.inputs.iter() {
        let given = known.inputs.get(name).filter(|value| is_given(value));
        let returned = || known.outputs.get(name).filter(|value| property.required && is_given(value));
        let read = given.or_else(returned).map(|value| typed(&property.kind, value, known.is_provider));
        let input = match read {
            Some(value) => shaping.property(property, &value, name, 0),
            None if property.required => shaping.missing(property, name),
            None => continue,
        };
        shaping.shaped.inputs.push((name.clone(), input));
    }
    let surplus = known.inputs.iter().filter(|(name, value)| {
        is_given(value) && !name.starts_with("__") && !schema.inputs.contains_key(*name)
    });
    shaping.shaped.left_out.extend(surplus.map(|(name, _)| name.clone()));
    shaping.shaped
}

/// The inputs of a resource that no schema tells of.
pub(super) fn plain(inputs: &PropertyMap) -> Shaped {
    let mut shaping = Shaping { form: ObjectForm::Dictionary, shaped: Shaped::default() };
    for (name, value) in inputs.iter().filter(|(name, value)| is_given(value) && !name.starts_with("__")) {
        let input = shaping.value(&Type::Unknown, value, name, 0);
        shaping.shaped.inputs.push((name.clone(), input));
    }
    shaping.shaped
}

fn is_given(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Computed(_))
}

/// A value of the type that it has in the program: what is no text is a text in the state of a provider.
fn typed(kind: &Type, value: &Value, is_provider: bool) -> Value {
    let is_text =
        matches!(kind, Type::String | Type::Any | Type::Unknown | Type::Enum { .. } | Type::Union(_));
    match value {
        Value::String(text) if is_provider && !is_text => {
            let parsed = serde_json::from_str(text).ok().map(|json| from_json(&json));
            parsed.filter(|parsed| fits(kind, parsed, 0)).unwrap_or_else(|| value.clone())
        }
        Value::Secret(Secret::Open(inner)) => Value::secret(typed(kind, inner, is_provider)),
        _ => value.clone(),
    }
}

fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => {
            Number::parse(&number.to_string()).map_or(Value::Null, Value::Number)
        }
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        serde_json::Value::Object(members) => {
            Value::Object(members.iter().map(|(name, member)| (name.clone(), from_json(member))).collect())
        }
    }
}

struct Shaping {
    form: ObjectForm,
    shaped: Shaped,
}

impl Shaping {
    fn property(&mut self, property: &Property, value: &Value, path: &str, depth: usize) -> Expression {
        let mut expression = self.value(&property.kind, value, path, depth);
        if property.plain || property.constant.is_some() {
            fix(&mut expression);
        }
        expression
    }

    /// Something that must be given and is not known: the one value or the usual value that the schema has for it, or
    /// else an empty one.
    fn missing(&mut self, property: &Property, path: &str) -> Expression {
        match property.constant.as_ref().or(property.default.as_ref()) {
            Some(json) => self.property(property, &from_json(json), path, 0),
            None => {
                self.shaped.missing.push(path.to_owned());
                empty(&property.kind, self.form, 0)
            }
        }
    }

    fn value(&mut self, kind: &Type, value: &Value, path: &str, depth: usize) -> Expression {
        let unknown = Type::Unknown;
        let kind = if depth > MAX_DEPTH { &unknown } else { kind };
        if let Type::Union(union) = kind {
            return self.one_of(union, value, path, depth);
        }
        match value {
            Value::Null | Value::Computed(_) => Expression::Nothing,
            Value::Bool(flag) => Expression::Bool(*flag),
            Value::Number(number) => Expression::Number(number.clone()),
            Value::String(text) => match kind {
                Type::Asset => Expression::Asset(AssetSource::Path(text.clone())),
                Type::Archive => Expression::Archive(Archive::Path(text.clone())),
                Type::Enum { .. } => Expression::Word(text.clone()),
                _ => Expression::Text(text.clone()),
            },
            Value::Bytes(bytes) => {
                self.shaped.unsayable.push(path.to_owned());
                Expression::Word(String::from_utf8_lossy(bytes).into_owned())
            }
            Value::Array(items) => {
                let element = if let Type::Array(element) = kind { element.as_ref() } else { &unknown };
                let item = |(at, item): (usize, &Value)| {
                    self.value(element, item, &format!("{path}[{at}]"), depth + 1)
                };
                Expression::List(items.iter().enumerate().map(item).collect())
            }
            Value::Object(members) => match kind {
                Type::Object(object) => self.object(object, members, path, depth),
                _ => {
                    let element = if let Type::Map(element) = kind { element.as_ref() } else { &unknown };
                    self.map(element, members, path, depth)
                }
            },
            Value::Asset(asset) => Expression::Asset(asset.source.clone()),
            Value::Archive(archive) => Expression::Archive(match &archive.source {
                ArchiveSource::Path(file) => Archive::Path(file.clone()),
                ArchiveSource::Uri(uri) => Archive::Uri(uri.clone()),
                ArchiveSource::Assets(assets) => {
                    let asset = |(name, asset): (&String, &Value)| {
                        (name.clone(), self.value(&unknown, asset, path, depth + 1))
                    };
                    Archive::Assets(assets.iter().map(asset).collect())
                }
            }),
            Value::Secret(Secret::Sealed(_)) => Expression::Hidden,
            Value::Secret(Secret::Open(inner)) => {
                Expression::Secret(Box::new(self.value(kind, inner, path, depth)))
            }
            Value::Output(output) => match (&output.value, output.secret) {
                (None, _) => Expression::Nothing,
                (Some(inner), false) => self.value(kind, inner, path, depth),
                (Some(inner), true) => Expression::Secret(Box::new(self.value(kind, inner, path, depth))),
            },
            Value::ResourceReference(reference) => Expression::Resource(reference.urn.clone()),
        }
    }

    fn map(&mut self, element: &Type, members: &PropertyMap, path: &str, depth: usize) -> Expression {
        let member = |(name, member): (&String, &Value)| {
            (name.clone(), self.value(element, member, &format!("{path}.{name}"), depth + 1))
        };
        Expression::Map(members.iter().map(member).collect())
    }

    fn object(&mut self, object: &ObjectType, members: &PropertyMap, path: &str, depth: usize) -> Expression {
        let known = object.properties();
        let mut written = Vec::new();
        for (name, property) in known.iter() {
            let path = format!("{path}.{name}");
            let member = match members.get(name).filter(|member| is_given(member)) {
                Some(member) => self.property(property, member, &path, depth + 1),
                None if property.required => self.missing(property, &path),
                None => continue,
            };
            written.push((name.clone(), member));
        }
        let surplus = members.iter().filter(|(name, member)| {
            is_given(member) && !name.starts_with("__") && !known.contains_key(*name)
        });
        self.shaped.left_out.extend(surplus.map(|(name, _)| format!("{path}.{name}")));
        Expression::Object(Object { token: object.token.clone(), form: self.form, members: written })
    }

    /// A value that may be one of several types.
    fn one_of(&mut self, union: &Union, value: &Value, path: &str, depth: usize) -> Expression {
        if let Value::Secret(Secret::Open(inner)) = value {
            return Expression::Secret(Box::new(self.one_of(union, inner, path, depth)));
        }
        let chosen = choose(union, value).unwrap_or(Type::Unknown);
        let mut expression = self.value(&chosen, value, path, depth + 1);
        let objects = union.types.iter().filter(|kind| matches!(kind, Type::Object(_))).count();
        if let Expression::Object(object) = &mut expression
            && objects > 1
        {
            object.form = ObjectForm::Class;
        }
        expression
    }
}

/// Makes texts stay texts.
fn fix(expression: &mut Expression) {
    expression.link(&mut |text| {
        if let Expression::Text(word) = text {
            *text = Expression::Word(std::mem::take(word));
        }
    });
}

/// Which of several types a value is: the one that its discriminator says, or the first that it fits.
fn choose(union: &Union, value: &Value) -> Option<Type> {
    let said = union.discriminator.as_ref().and_then(|discriminator| {
        let word = value.as_object()?.get(&discriminator.property)?.revealed();
        discriminator.types.get(word.as_str()?)
    });
    let named = said.and_then(|token| {
        union.types.iter().find(|kind| matches!(kind, Type::Object(object) if object.token == *token))
    });
    named.or_else(|| union.types.iter().find(|kind| fits(kind, value, 0))).cloned()
}

/// Whether a value is of a type as far as its form goes.
fn fits(kind: &Type, value: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    let fits = |kind: &Type, value: &Value| fits(kind, value, depth + 1);
    match (kind, value) {
        (_, Value::Secret(Secret::Open(inner))) => fits(kind, inner),
        (Type::Any | Type::Unknown, _) | (_, Value::Secret(_) | Value::Output(_) | Value::Computed(_)) => {
            true
        }
        (Type::Enum { values, element, .. }, Value::String(text)) => {
            fits(element, value) && values.iter().any(|known| known.value.as_str() == Some(text))
        }
        (Type::Enum { element, .. }, _) => fits(element, value),
        (Type::Union(union), _) => depth > MAX_CHOICES || union.types.iter().any(|kind| fits(kind, value)),
        (Type::Bool, Value::Bool(_))
        | (Type::Integer | Type::Number, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Asset, Value::Asset(_) | Value::Archive(_))
        | (Type::Archive, Value::Archive(_))
        | (Type::AnyResource | Type::Resource(_), Value::ResourceReference(_)) => true,
        (Type::Array(element), Value::Array(items)) => items.iter().all(|item| fits(element, item)),
        (Type::Map(element), Value::Object(members)) => members.values().all(|member| fits(element, member)),
        (Type::Object(object), Value::Object(members)) => {
            let known = object.properties();
            let is_of_it = |(name, member): (&String, &Value)| {
                name.starts_with("__")
                    || !is_given(member)
                    || known.get(name).is_some_and(|property| {
                        let constant = property.constant.as_ref().map(from_json);
                        constant.is_none_or(|constant| constant == member.revealed())
                            && fits(&property.kind, member)
                    })
            };
            let has = |name: &String| members.get(name).is_some_and(is_given);
            members.iter().all(is_of_it)
                && known.iter().all(|(name, property)| !property.required || has(name))
        }
        _ => false,
    }
}

/// An empty value of a type.
fn empty(kind: &Type, form: ObjectForm, depth: usize) -> Expression {
    if depth > MAX_DEPTH {
        return Expression::Map(Vec::new());
    }
    match kind {
        Type::Bool => Expression::Bool(false),
        Type::Integer | Type::Number => Expression::Number(Number::Integer(0)),
        Type::String => Expression::Word(String::new()),
        Type::Array(_) => Expression::List(Vec::new()),
        Type::Map(_) | Type::Any => Expression::Map(Vec::new()),
        Type::Enum { values, element, .. } => match values.first().map(|value| &value.value) {
            Some(serde_json::Value::String(word)) => Expression::Word(word.clone()),
            _ => empty(element, form, depth + 1),
        },
        Type::Union(union) => {
            let simplest = union.types.iter().min_by_key(|kind| simplicity(kind));
            simplest.map_or(Expression::Nothing, |kind| empty(kind, form, depth + 1))
        }
        Type::Object(object) => {
            let known = object.properties();
            let required = known.iter().filter(|(_, property)| property.required);
            let members = required
                .map(|(name, property)| (name.clone(), empty(&property.kind, form, depth + 1)))
                .collect();
            Expression::Object(Object { token: object.token.clone(), form, members })
        }
        Type::Asset | Type::Archive | Type::AnyResource | Type::Resource(_) | Type::Unknown => {
            Expression::Nothing
        }
    }
}

/// How far a type is from the simplest.
fn simplicity(kind: &Type) -> u8 {
    match kind {
        Type::Bool => 0,
        Type::Integer => 1,
        Type::Number => 2,
        Type::String | Type::Enum { .. } => 3,
        Type::Array(_) => 4,
        Type::Map(_) => 5,
        Type::Object(_) => 6,
        _ => 7,
    }
}
