//! What an SDK is made of: the types and functions of a package, each in its module.

use crate::names::unique;
use crate::types::{Enumeration, Types};
use crate::{Class, Sdk};
use drystone_plugins::schema::{EnumValue, Function, Package, Property, Resource, SchemaError, Type};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The module that has what can be configured.
const CONFIG: &str = "config";

/// What an SDK is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The modules by their names, those above others among them.
    pub(crate) modules: BTreeMap<Vec<String>, Module>,
    /// The types of what is given.
    pub(crate) inputs: Types,
    /// The types of what comes back.
    pub(crate) outputs: Types,
    /// The types of several values among both, in the order of their tokens.
    pub(crate) enums: Vec<Enum>,
}

/// A type of several values.
#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) class: Class,
    pub(crate) element: Arc<Type>,
    /// The values by the names that the language gives them.
    pub(crate) members: Vec<(String, Value)>,
}

/// A module of a package, each part in the order of its tokens.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) functions: Vec<(Class, Function)>,
    /// The provider, which the package itself has.
    pub(crate) provider: Option<Kind>,
    /// What can be configured.
    pub(crate) config: BTreeMap<String, Property>,
}

/// A kind of resource.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) class: Class,
    pub(crate) resource: Arc<Resource>,
    pub(crate) methods: Vec<Method>,
}

/// A function that belongs to a resource.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) function: Function,
    pub(crate) answer: Answer,
}

/// What a method gives; where the function is plain, known at once.
#[derive(Debug)]
pub(crate) enum Answer {
    Nothing,
    Object(Arc<BTreeMap<String, Property>>),
    /// One property of the object that comes back.
    Property(String, Property),
    /// The one value of the object that comes back, whatever it is called there.
    Single(Type),
}

impl Method {
    /// What the caller gives, apart from the resource.
    pub(crate) fn inputs(&self) -> BTreeMap<String, Property> {
        let given = self.function.inputs.iter().filter(|(name, _)| *name != "__self__");
        given.map(|(name, property)| (name.clone(), property.clone())).collect()
    }
}

impl Answer {
    fn of(function: &Function, lifts: bool) -> Self {
        if let Some(single) = &function.single {
            return Self::Single(single.clone());
        }
        let Some(object) = &function.outputs else { return Self::Nothing };
        let properties = object.properties();
        match properties.first_key_value() {
            Some((name, only)) if lifts && properties.len() == 1 && !function.plain => {
                Self::Property(name.clone(), only.clone())
            }
            _ => Self::Object(properties),
        }
    }
}

/// Takes a package apart.
pub(crate) fn parts(package: &Arc<Package>, sdk: Sdk) -> Result<Parts, SchemaError> {
    let mut modules: BTreeMap<Vec<String>, Module> = BTreeMap::new();
    for token in sorted(package.resource_tokens()) {
        let kind = kind(package, token, sdk)?;
        modules.entry(kind.class.modules.clone()).or_default().kinds.push(kind);
    }
    for token in sorted(package.function_tokens()) {
        let function = package.function(token)?;
        // A method belongs to its resource.
        if !function.inputs.contains_key("__self__") {
            let class = sdk.class(token, Some(package));
            modules.entry(class.modules.clone()).or_default().functions.push((class, function));
        }
    }
    let provider = kind(package, &format!("pulumi:providers:{}", package.name), sdk)?;
    modules.entry(Vec::new()).or_default().provider = Some(provider);
    let config = package.config()?;
    if !config.is_empty() {
        modules.entry(vec![CONFIG.to_owned()]).or_default().config = config;
    }
    with_those_above(&mut modules);
    let (inputs, outputs) = types(&modules);
    let found: BTreeMap<&String, &Enumeration> = inputs.enums.iter().chain(&outputs.enums).collect();
    let enums = found.into_iter().map(|(token, found)| {
        let class = sdk.class(token, Some(package));
        let members = members(found, &class.name, sdk);
        Enum { class, element: Arc::clone(&found.element), members }
    });
    let enums = enums.collect();
    Ok(Parts { modules, inputs, outputs, enums })
}

/// The values of an enumeration by their names. A value without a name is called what it is.
fn members(found: &Enumeration, class: &str, sdk: Sdk) -> Vec<(String, Value)> {
    let mut taken = HashSet::new();
    let member = |EnumValue { name, value }: &EnumValue| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let name = if name.is_empty() { &text } else { name };
        (unique(&sdk.member(name, class), &mut taken), value.clone())
    };
    found.values.iter().map(member).collect()
}

fn sorted<'a>(tokens: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut tokens: Vec<&str> = tokens.collect();
    tokens.sort_unstable();
    tokens
}

fn kind(package: &Arc<Package>, token: &str, sdk: Sdk) -> Result<Kind, SchemaError> {
    let resource = package.resource(token)?;
    let lifts = sdk.language(package).lift_single_value_method_returns;
    let methods = resource.methods.iter().map(|(name, token)| {
        let function = package.function(token)?;
        Ok(Method { name: name.clone(), answer: Answer::of(&function, lifts), function })
    });
    let methods = methods.collect::<Result<_, SchemaError>>()?;
    Ok(Kind { class: sdk.class(token, Some(package)), resource, methods })
}

/// Adds the modules above others that have nothing themselves.
pub(crate) fn with_those_above<T: Default>(modules: &mut BTreeMap<Vec<String>, T>) {
    for path in modules.keys().cloned().collect::<Vec<_>>() {
        for length in 0..path.len() {
            modules.entry(path[..length].to_vec()).or_default();
        }
    }
}

/// The types with names that are given, and those that come back.
fn types(modules: &BTreeMap<Vec<String>, Module>) -> (Types, Types) {
    let (mut inputs, mut outputs) = (Types::default(), Types::default());
    for module in modules.values() {
        for Kind { resource, methods, .. } in module.kinds.iter().chain(&module.provider) {
            inputs.add(resource.inputs.values());
            // What is known of a resource is given when it is looked up.
            inputs.add(resource.outputs.values());
            outputs.add(resource.outputs.values());
            for method in methods {
                inputs.add(method.inputs().values());
                match &method.answer {
                    Answer::Nothing => {}
                    Answer::Object(properties) => outputs.add(properties.values()),
                    Answer::Property(_, property) => outputs.add([property]),
                    Answer::Single(kind) => outputs.visit(kind),
                }
            }
        }
        for (_, function) in &module.functions {
            inputs.add(function.inputs.values());
            // What is asked for at once is not promised either.
            outputs.add(function.inputs.values());
            if let Some(object) = &function.outputs {
                outputs.add(object.properties().values());
            }
        }
        outputs.add(module.config.values());
    }
    (inputs, outputs)
}

/// The names of the modules directly below one.
pub(crate) fn below<'a, T>(modules: &'a BTreeMap<Vec<String>, T>, path: &[String]) -> Vec<&'a str> {
    let inner = modules.keys().filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
    inner.filter_map(|other| other.last()).map(String::as_str).collect()
}
