//! SDKs of packages: what languages call their types, and the files that let a program use a package.

pub mod names;
mod node;
mod place;
mod python;
mod types;

pub use node::node;
pub use place::{Class, ENGINE, Sdk, package_of};
pub use python::python;

use drystone_plugins::schema::{Function, Package, Resource, SchemaError};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Objects;

/// The files of an SDK by their paths in its folder.
pub type Files = BTreeMap<String, String>;

/// The plugin that serves a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its name.
    pub plugin: String,
    /// Its version, or empty.
    pub version: String,
    /// Where it is downloaded from, or empty for the usual place.
    pub server: String,
    /// What makes the package of it, in base64; none for a package that is the plugin's own.
    pub parameter: Option<String>,
}

/// A module of a package: its resources and functions.
#[derive(Debug, Default)]
struct Module {
    resources: Vec<(Class, Arc<Resource>)>,
    functions: Vec<(Class, Function)>,
}

/// The modules of a package by their names, those above others among them, each part in the order of its tokens.
fn modules(package: &Arc<Package>, sdk: Sdk) -> Result<BTreeMap<Vec<String>, Module>, SchemaError> {
    let mut modules: BTreeMap<Vec<String>, Module> = BTreeMap::from([(Vec::new(), Module::default())]);
    let mut tokens: Vec<&str> = package.resource_tokens().collect();
    tokens.sort_unstable();
    for token in tokens {
        let class = sdk.class(token, Some(package));
        let resource = package.resource(token)?;
        modules.entry(class.modules.clone()).or_default().resources.push((class, resource));
    }
    let mut tokens: Vec<&str> = package.function_tokens().collect();
    tokens.sort_unstable();
    for token in tokens {
        let function = package.function(token)?;
        // A method belongs to its resource.
        if !function.inputs.contains_key("__self__") {
            let class = sdk.class(token, Some(package));
            modules.entry(class.modules.clone()).or_default().functions.push((class, function));
        }
    }
    with_those_above(&mut modules);
    Ok(modules)
}

/// Adds the modules above others that have nothing themselves.
fn with_those_above<T: Default>(modules: &mut BTreeMap<Vec<String>, T>) {
    for path in modules.keys().cloned().collect::<Vec<_>>() {
        for length in 0..path.len() {
            modules.entry(path[..length].to_vec()).or_default();
        }
    }
}

/// The objects with names that are given, and those that come back.
fn objects(modules: &BTreeMap<Vec<String>, Module>, provider: &Resource) -> (Objects, Objects) {
    let (mut inputs, mut outputs) = (Objects::default(), Objects::default());
    for module in modules.values() {
        for (_, resource) in &module.resources {
            inputs.add(resource.inputs.values());
            // What is known of a resource is given when it is looked up.
            inputs.add(resource.outputs.values());
            outputs.add(resource.outputs.values());
        }
        for (_, function) in &module.functions {
            inputs.add(function.inputs.values());
            if let Some(object) = &function.outputs {
                outputs.add(object.properties().values());
            }
        }
    }
    inputs.add(provider.inputs.values());
    (inputs, outputs)
}

/// The names of the modules directly below one.
fn below<'a, T>(modules: &'a BTreeMap<Vec<String>, T>, path: &[String]) -> Vec<&'a str> {
    let inner = modules.keys().filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
    inner.filter_map(|other| other.last()).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Component, Path};

    /// A schema that lies: its names are paths and code.
    const HOSTILE: &str = r#"{
        "name": "shop", "version": "1.0.0",
        "language": {
            "python": { "packageName": "../../evil", "moduleNameOverrides": { "a": "../../b" } },
            "nodejs": { "packageName": "x\"; evil()", "moduleToPackage": { "a": "../../b" } }
        },
        "resources": {
            "shop:a:Item\"; evil()": { "inputProperties": { "x\"): evil()": { "type": "string" } } },
            "shop:../..:Item": {}
        },
        "functions": { "shop:/etc:get\nevil": {} }
    }"#;

    #[test]
    fn a_schema_that_lies_writes_nothing_outside_of_its_folder() {
        let package = Package::read(HOSTILE).unwrap();
        for made in [node(&package, &Origin::default()), python(&package, &Origin::default())] {
            // It may as well be refused.
            for path in made.unwrap_or_default().keys() {
                let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
                assert!(is_inside, "{path}");
            }
        }
        let error = python(&package, &Origin::default()).unwrap_err();
        assert!(error.to_string().contains("`../../evil`"), "{error}");
    }
}
