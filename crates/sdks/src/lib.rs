//! SDKs of packages: what languages call their types, and the files that let a program use a package.

pub mod names;
mod node;
mod parts;
mod place;
mod python;
mod types;

pub use node::node;
pub use place::{Class, ENGINE, Sdk, package_of};
pub use python::python;

use drystone_plugins::schema::Package;
use parts::{Answer, Kind, Method, Module, Parts, parts};
use serde_json::{Value, json};
use std::collections::BTreeMap;

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

impl Origin {
    /// What the engine reads of an installed package.
    fn note(&self, package: &Package) -> Value {
        let mut note = json!({ "resource": true, "name": self.plugin });
        for (member, text) in [("version", &self.version), ("server", &self.server)] {
            if !text.is_empty() {
                note[member] = Value::from(text.as_str());
            }
        }
        if let Some(value) = &self.parameter {
            note["parameterization"] =
                json!({ "name": package.name, "version": package.version, "value": value });
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Component, Path};
    use std::sync::Arc;

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

    /// The package that the programs of the CLI's tests use.
    fn shelves() -> Arc<Package> {
        let schema = include_str!("../../testbed/src/parameterised.json").replace("NAME", "shelves");
        Package::read(&schema).unwrap()
    }

    /// All files but those that are the same for every package.
    fn written(files: Files) -> String {
        let same = ["package.js", "_package.py", "_build.py", "py.typed"];
        let own = files.into_iter().filter(|(path, _)| !same.iter().any(|name| path.ends_with(name)));
        own.map(|(path, text)| format!("==> {path}\n{text}\n")).collect()
    }

    #[test]
    fn a_package_in_node() {
        let origin = Origin { plugin: "bench".to_owned(), version: "1.0.0".to_owned(), ..Origin::default() };
        insta::assert_snapshot!(written(node(&shelves(), &origin).unwrap()));
    }

    #[test]
    fn a_package_in_python() {
        let origin =
            Origin { plugin: "bench".to_owned(), parameter: Some("aGk=".to_owned()), ..Origin::default() };
        insta::assert_snapshot!(written(python(&shelves(), &origin).unwrap()));
    }

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
