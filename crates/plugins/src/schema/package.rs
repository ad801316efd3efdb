//! A package's schema, read as far as it is needed.

use super::types::{Discriminator, EnumValue, ObjectType, ResourceType, Type, Union};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub String);

/// How deep the types of a schema may be written inside of each other.
const MAX_DEPTH: usize = 64;

/// A package.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version, or empty.
    pub version: String,
    /// Who publishes it, where that is not Pulumi; or empty.
    pub namespace: String,
    pub(super) module_format: Option<String>,
    pub(super) languages: HashMap<String, Box<RawValue>>,
    provider: Option<Box<RawValue>>,
    config: Option<Box<RawValue>>,
    resources: HashMap<String, Box<RawValue>>,
    functions: HashMap<String, Box<RawValue>>,
    types: HashMap<String, Box<RawValue>>,
    /// Tokens in lower case with how they are written.
    folded_resources: HashMap<String, String>,
    folded_functions: HashMap<String, String>,
    bound: Bound,
}

/// What has been read.
#[derive(Debug, Default)]
struct Bound {
    resources: Mutex<HashMap<String, Arc<Resource>>>,
    objects: Mutex<HashMap<String, Arc<BTreeMap<String, Property>>>>,
}

/// A kind of resource.
#[derive(Debug)]
pub struct Resource {
    /// Its type token.
    pub token: String,
    /// Whether the provider makes it of others.
    pub is_component: bool,
    /// What it takes.
    pub inputs: Arc<BTreeMap<String, Property>>,
    /// What it gives.
    pub outputs: Arc<BTreeMap<String, Property>>,
    /// Types that it had before.
    pub aliases: Vec<String>,
    /// The tokens of functions that it has as methods, by the methods' names.
    pub methods: BTreeMap<String, String>,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its token.
    pub token: String,
    /// What it takes.
    pub inputs: BTreeMap<String, Property>,
    /// What it gives, when that is an object.
    pub outputs: Option<Arc<ObjectType>>,
    /// What it gives, when that is a single value.
    pub single: Option<Type>,
    /// Whether what it gives has to be known at once.
    pub plain: bool,
}

/// A property.
#[derive(Debug, Clone)]
pub struct Property {
    /// What it may be.
    pub kind: Type,
    /// Whether it must be given.
    pub required: bool,
    /// Whether it is a secret.
    pub secret: bool,
    /// The only value that it can have.
    pub constant: Option<Value>,
    /// What it is when it is left out.
    pub default: Option<Value>,
    /// Environment variables that say what it is when it is left out, the first that is set before the default.
    pub environment: Vec<String>,
    /// Whether it has to be known before anything is made.
    pub plain: bool,
    /// Whether a change of it replaces the resource.
    pub replace_on_changes: bool,
}

impl Property {
    /// A property that may be left out.
    pub fn optional(kind: Type) -> Self {
        Self {
            kind,
            required: false,
            secret: false,
            constant: None,
            default: None,
            environment: Vec::new(),
            plain: false,
            replace_on_changes: false,
        }
    }
}

#[derive(Deserialize)]
struct RawPackage {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    namespace: Option<String>,
    meta: Option<Box<RawValue>>,
    language: Option<Box<RawValue>>,
    provider: Option<Box<RawValue>>,
    config: Option<Box<RawValue>>,
    #[serde(default)]
    resources: HashMap<String, Box<RawValue>>,
    #[serde(default)]
    functions: HashMap<String, Box<RawValue>>,
    #[serde(default)]
    types: HashMap<String, Box<RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawMeta {
    module_format: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawResource {
    is_component: bool,
    properties: BTreeMap<String, RawProperty>,
    required: Vec<String>,
    input_properties: BTreeMap<String, RawProperty>,
    required_inputs: Vec<String>,
    aliases: Vec<RawAlias>,
    methods: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RawAlias {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawConfig {
    variables: BTreeMap<String, RawProperty>,
    #[serde(rename = "defaults")]
    required: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawObject {
    #[serde(rename = "type")]
    kind: Option<Value>,
    properties: Option<BTreeMap<String, RawProperty>>,
    required: Vec<String>,
    #[serde(rename = "enum")]
    values: Option<Vec<RawEnumValue>>,
}

#[derive(Deserialize)]
struct RawEnumValue {
    #[serde(default)]
    name: Option<String>,
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawFunction {
    inputs: Option<RawObject>,
    outputs: Option<RawObject>,
    return_type: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawProperty {
    secret: bool,
    replace_on_changes: bool,
    #[serde(rename = "const")]
    constant: Option<Value>,
    default: Option<Value>,
    default_info: RawDefault,
    #[serde(flatten)]
    spec: RawType,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawDefault {
    environment: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawType {
    #[serde(rename = "type")]
    kind: Option<Value>,
    #[serde(rename = "$ref")]
    reference: Option<String>,
    items: Option<Box<RawType>>,
    additional_properties: Option<Box<RawType>>,
    one_of: Option<Vec<RawType>>,
    discriminator: Option<Value>,
    plain: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawDiscriminator {
    property_name: String,
    mapping: BTreeMap<String, String>,
}

impl Package {
    /// Reads a schema. Parts that make no sense are told of when they are used.
    pub fn read(text: &str) -> Result<Arc<Self>, SchemaError> {
        let raw: RawPackage = serde_json::from_str(text)
            .map_err(|error| SchemaError(format!("the schema makes no sense: {error}")))?;
        let fold = |tokens: &HashMap<String, Box<RawValue>>| {
            tokens.keys().map(|token| (token.to_lowercase(), token.clone())).collect()
        };
        let lenient = |raw: Option<Box<RawValue>>| raw.map(|raw| raw.get().to_owned()).unwrap_or_default();
        let meta: RawMeta = serde_json::from_str(&lenient(raw.meta)).unwrap_or_default();
        Ok(Arc::new(Self {
            namespace: raw.namespace.unwrap_or_default(),
            module_format: meta.module_format.filter(|format| !format.is_empty()),
            languages: serde_json::from_str(&lenient(raw.language)).unwrap_or_default(),
            folded_resources: fold(&raw.resources),
            folded_functions: fold(&raw.functions),
            name: raw.name,
            version: raw.version,
            provider: raw.provider,
            config: raw.config,
            resources: raw.resources,
            functions: raw.functions,
            types: raw.types,
            bound: Bound::default(),
        }))
    }

    /// The token that a type stands for, however short: `aws:s3:Bucket` for `aws:s3/bucket:Bucket`.
    pub fn resolve_resource(&self, token: &str) -> Option<String> {
        if token.strip_prefix("pulumi:providers:").is_some_and(|name| name == self.name) {
            return Some(token.to_owned());
        }
        resolve(token, &self.folded_resources, |token| self.resources.contains_key(token))
    }

    /// The same for functions.
    pub fn resolve_function(&self, token: &str) -> Option<String> {
        resolve(token, &self.folded_functions, |token| self.functions.contains_key(token))
    }

    /// The types of resources that the package has.
    pub fn resource_tokens(&self) -> impl Iterator<Item = &str> + Clone {
        self.resources.keys().map(String::as_str)
    }

    /// The functions that the package has.
    pub fn function_tokens(&self) -> impl Iterator<Item = &str> + Clone {
        self.functions.keys().map(String::as_str)
    }

    /// A kind of resource by its whole token.
    pub fn resource(self: &Arc<Self>, token: &str) -> Result<Arc<Resource>, SchemaError> {
        let known = self.bound.resources.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let raw = if token.starts_with("pulumi:providers:") {
            self.raw_provider()?
        } else {
            let raw = self.resources.get(token);
            let raw = raw.ok_or_else(|| SchemaError(format!("the package has no resource `{token}`")))?;
            read(raw, token)?
        };
        let resource = Arc::new(Resource {
            token: token.to_owned(),
            is_component: raw.is_component,
            inputs: Arc::new(self.properties(raw.input_properties, &raw.required_inputs)),
            outputs: Arc::new(self.properties(raw.properties, &raw.required)),
            aliases: raw.aliases.into_iter().filter_map(|alias| alias.kind).collect(),
            methods: raw.methods,
        });
        let mut bound = self.bound.resources.lock().unwrap_or_else(PoisonError::into_inner);
        bound.insert(token.to_owned(), Arc::clone(&resource));
        Ok(resource)
    }

    /// What can be configured for the package.
    pub fn config(self: &Arc<Self>) -> Result<BTreeMap<String, Property>, SchemaError> {
        let Some(raw) = &self.config else { return Ok(BTreeMap::new()) };
        let raw: RawConfig = read(raw, "config")?;
        Ok(self.properties(raw.variables, &raw.required))
    }

    /// The provider itself. Schemas that do not describe it give what can be configured.
    fn raw_provider(&self) -> Result<RawResource, SchemaError> {
        let token = format!("pulumi:providers:{}", self.name);
        let mut raw: RawResource =
            self.provider.as_deref().map(|raw| read(raw, &token)).transpose()?.unwrap_or_default();
        if self.provider.is_none()
            && let Some(config) = &self.config
        {
            raw.input_properties = read::<RawConfig>(config, &token)?.variables;
        }
        Ok(raw)
    }

    /// A function by its whole token.
    pub fn function(self: &Arc<Self>, token: &str) -> Result<Function, SchemaError> {
        let raw = self.functions.get(token);
        let raw = raw.ok_or_else(|| SchemaError(format!("the package has no function `{token}`")))?;
        let raw: RawFunction = read(raw, token)?;
        let object = |object: RawObject| {
            let members = self.properties(object.properties.unwrap_or_default(), &object.required);
            Arc::new(ObjectType::of("", members))
        };
        let mut function = Function {
            token: token.to_owned(),
            inputs: BTreeMap::new(),
            outputs: None,
            single: None,
            plain: false,
        };
        if let Some(inputs) = raw.inputs {
            function.inputs = self.properties(inputs.properties.unwrap_or_default(), &inputs.required);
        }
        if let Some(returned) = &raw.return_type {
            function.plain = returned.get("plain").and_then(Value::as_bool).unwrap_or_default();
        }
        match (raw.outputs, raw.return_type) {
            (Some(outputs), _) => function.outputs = Some(object(outputs)),
            (None, Some(returned)) if returned.get("properties").is_some() => {
                let outputs = serde_json::from_value(returned).map_err(|error| nonsense(token, &error))?;
                function.outputs = Some(object(outputs));
            }
            (None, Some(returned)) => {
                let spec: RawType =
                    serde_json::from_value(returned).map_err(|error| nonsense(token, &error))?;
                match self.bind(&spec, 0) {
                    Type::Object(object) => function.outputs = Some(object),
                    other => function.single = Some(other),
                }
            }
            (None, None) => {}
        }
        Ok(function)
    }

    pub(super) fn object_properties(self: &Arc<Self>, token: &str) -> Arc<BTreeMap<String, Property>> {
        let known = self.bound.objects.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned();
        if let Some(known) = known {
            return known;
        }
        let raw =
            self.types.get(token).and_then(|raw| read::<RawObject>(raw, token).ok()).unwrap_or_default();
        let properties = Arc::new(self.properties(raw.properties.unwrap_or_default(), &raw.required));
        let mut bound = self.bound.objects.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bound.entry(token.to_owned()).or_insert(properties))
    }

    fn properties(
        self: &Arc<Self>,
        raw: BTreeMap<String, RawProperty>,
        required: &[String],
    ) -> BTreeMap<String, Property> {
        raw.into_iter()
            .map(|(name, raw)| {
                let property = Property {
                    kind: self.bind(&raw.spec, 0),
                    required: required.contains(&name),
                    secret: raw.secret,
                    constant: raw.constant,
                    default: raw.default,
                    environment: raw.default_info.environment,
                    plain: raw.spec.plain,
                    replace_on_changes: raw.replace_on_changes,
                };
                (name, property)
            })
            .collect()
    }

    fn bind(self: &Arc<Self>, spec: &RawType, depth: usize) -> Type {
        if depth > MAX_DEPTH {
            return Type::Unknown;
        }
        let inner = |spec: &RawType| self.bind(spec, depth + 1);
        if let Some(reference) = &spec.reference {
            return self.bind_reference(reference, spec, depth);
        }
        if let Some(types) = &spec.one_of {
            let discriminator = spec.discriminator.as_ref().and_then(discriminator);
            return Type::Union(Arc::new(Union { types: types.iter().map(inner).collect(), discriminator }));
        }
        match spec.kind.as_ref().and_then(Value::as_str) {
            Some("boolean") => Type::Bool,
            Some("integer") => Type::Integer,
            Some("number") => Type::Number,
            Some("string") => Type::String,
            Some("array") => Type::Array(Arc::new(spec.items.as_deref().map_or(Type::Unknown, inner))),
            Some("object") => {
                Type::Map(Arc::new(spec.additional_properties.as_deref().map_or(Type::String, inner)))
            }
            _ => Type::Unknown,
        }
    }

    fn bind_reference(self: &Arc<Self>, reference: &str, spec: &RawType, depth: usize) -> Type {
        match reference {
            "pulumi.json#/Any" | "pulumi.json#/Json" => return Type::Any,
            "pulumi.json#/Asset" => return Type::Asset,
            "pulumi.json#/Archive" => return Type::Archive,
            _ => {}
        }
        if let Some(token) = reference.strip_prefix("#/types/") {
            return self.bind_type(&unescape(token), spec, depth);
        }
        if let Some(token) = reference.strip_prefix("#/resources/") {
            let token = unescape(token);
            return match self.resources.contains_key(&token) {
                true => Type::Resource(Arc::new(ResourceType::new(&token, self))),
                false => Type::AnyResource,
            };
        }
        match reference {
            "#/provider" => Type::AnyResource,
            _ if reference.contains("#/resources/") || reference.ends_with("#/provider") => Type::AnyResource,
            // A type of another package.
            _ => Type::Unknown,
        }
    }

    fn bind_type(self: &Arc<Self>, token: &str, spec: &RawType, depth: usize) -> Type {
        let Some(raw) = self.types.get(token).and_then(|raw| read::<RawObject>(raw, token).ok()) else {
            // A name for another type.
            let underlying = RawType { kind: spec.kind.clone(), ..RawType::default() };
            return if underlying.kind.is_some() { self.bind(&underlying, depth + 1) } else { Type::Unknown };
        };
        if let Some(values) = raw.values {
            let element = RawType { kind: raw.kind, ..RawType::default() };
            let value =
                |raw: RawEnumValue| EnumValue { name: raw.name.unwrap_or_default(), value: raw.value };
            return Type::Enum {
                token: token.to_owned(),
                element: Arc::new(self.bind(&element, depth + 1)),
                values: values.into_iter().map(value).collect(),
            };
        }
        Type::Object(Arc::new(ObjectType::named(token, self)))
    }
}

impl Resource {
    /// The paths of outputs whose changes replace the resource, as the schema has them.
    pub fn replace_on_changes(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, property) in self.outputs.iter() {
            if property.replace_on_changes {
                found.push(path_of(name, &property.kind));
            } else {
                let mut stack = vec![property.kind.describe()];
                for rest in replacing(&property.kind, &mut stack) {
                    found.push(format!("{}.{rest}", path_of(name, &property.kind)));
                }
            }
        }
        found
    }
}

fn replacing(kind: &Type, stack: &mut Vec<String>) -> Vec<String> {
    match kind {
        Type::Array(element) | Type::Map(element) => replacing(element, stack),
        Type::Object(object) => {
            let mut found = Vec::new();
            for (name, property) in object.properties().iter() {
                let described = property.kind.describe();
                if property.replace_on_changes {
                    found.push(path_of(name, &property.kind));
                } else if !stack.contains(&described) && stack.len() < MAX_DEPTH {
                    stack.push(described);
                    for rest in replacing(&property.kind, stack) {
                        found.push(format!("{}.{rest}", path_of(name, &property.kind)));
                    }
                    stack.pop();
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn path_of(name: &str, kind: &Type) -> String {
    match kind {
        Type::Array(_) => format!("{name}[*]"),
        Type::Map(_) => format!("{name}.*"),
        _ => name.to_owned(),
    }
}

/// What tells the types of a union apart, where that makes sense.
fn discriminator(raw: &Value) -> Option<Discriminator> {
    let raw = RawDiscriminator::deserialize(raw).ok().filter(|raw| !raw.property_name.is_empty())?;
    let token = |reference: String| match reference.rsplit_once("#/types/") {
        Some((_, token)) => unescape(token),
        None => reference,
    };
    let types = raw.mapping.into_iter().map(|(value, reference)| (value, token(reference))).collect();
    Some(Discriminator { property: raw.property_name, types })
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue, token: &str) -> Result<T, SchemaError> {
    serde_json::from_str(raw.get()).map_err(|error| nonsense(token, &error))
}

fn nonsense(token: &str, error: &serde_json::Error) -> SchemaError {
    SchemaError(format!("the schema of `{token}` makes no sense: {error}"))
}

/// Tries a token as it is, with `index` in the middle, and with its name repeated in the module, in any case.
fn resolve(token: &str, folded: &HashMap<String, String>, has: impl Fn(&str) -> bool) -> Option<String> {
    let parts: Vec<&str> = token.split(':').collect();
    let find = |token: &str| {
        if has(token) { Some(token.to_owned()) } else { folded.get(&token.to_lowercase()).cloned() }
    };
    let (package, module, name) = match parts[..] {
        [package, name] => (package, "index", name),
        [package, module, name] => (package, module, name),
        _ => return None,
    };
    find(token)
        .or_else(|| (parts.len() == 2).then(|| find(&format!("{package}:index:{name}"))).flatten())
        .or_else(|| find(&format!("{package}:{module}/{}:{name}", name.to_lowercase())))
}

/// A reference with its percent escapes resolved.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push(hex(*high).unwrap_or_default() << 4 | hex(*low).unwrap_or_default());
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
