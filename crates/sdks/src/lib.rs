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
    for path in modules.keys().cloned().collect::<Vec<_>>() {
        for length in 0..path.len() {
            modules.entry(path[..length].to_vec()).or_default();
        }
    }
    Ok(modules)
}

/// The names of the modules directly below one.
fn below<'a>(modules: &'a BTreeMap<Vec<String>, Module>, path: &[String]) -> Vec<&'a str> {
    let inner = modules.keys().filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
    inner.filter_map(|other| other.last()).map(String::as_str).collect()
}
