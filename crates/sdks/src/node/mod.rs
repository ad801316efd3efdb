//! SDKs for Node.js: JavaScript that runs as it is, and its types for TypeScript.

mod declarations;
mod script;

use crate::names::typescript_name;
use crate::{Class, Files, Kind, Origin, Parts, Sdk, parts};
use drystone_plugins::schema::{Package, SchemaError};
use serde_json::{Value, json};
use std::sync::Arc;

/// What every SDK has beside its own classes.
const HELPERS: &str = include_str!("package.js");
/// Where types are that are not resources, beside what a schema has in a module of that name.
const TYPES: &str = "types";

/// The files of a package's SDK.
pub fn node(package: &Arc<Package>, origin: &Origin) -> Result<Files, SchemaError> {
    let mut parts = parts(package, Sdk::Node)?;
    parts.modules.entry(vec![TYPES.to_owned()]).or_default();
    let mut files = Files::new();
    files.insert("package.json".to_owned(), manifest(package, origin));
    files.insert("package.js".to_owned(), helpers(package, origin));
    for path in parts.modules.keys() {
        let folder: String = path.iter().map(|part| format!("{part}/")).collect();
        files.insert(format!("{folder}index.js"), script::module(&parts, path));
        files.insert(format!("{folder}index.d.ts"), declarations::module(package, &parts, path));
    }
    for (side, objects) in
        [(declarations::Side::Input, &parts.inputs), (declarations::Side::Output, &parts.outputs)]
    {
        let (name, text) = declarations::objects(package, objects, side);
        files.insert(format!("{TYPES}/{name}.d.ts"), text);
        // There is nothing to it when it runs, but programs may ask for it.
        files.insert(format!("{TYPES}/{name}.js"), "\"use strict\";\n".to_owned());
    }
    files.insert(format!("{TYPES}/enums.js"), script::enums(&parts));
    files.insert(format!("{TYPES}/enums.d.ts"), declarations::enums(&parts));
    Ok(files)
}

/// What package managers and the engine read.
fn manifest(package: &Package, origin: &Origin) -> String {
    let version = if package.version.is_empty() { "0.0.0" } else { &package.version };
    let manifest = json!({
        "name": Sdk::Node.import_path(&package.name, Some(package)),
        "version": version,
        "main": "index.js",
        "types": "index.d.ts",
        "peerDependencies": { "@pulumi/pulumi": "^3.142.0" },
        "pulumi": origin.note(package),
    });
    pretty(&manifest)
}

fn helpers(package: &Package, origin: &Origin) -> String {
    let about = json!({
        "name": package.name,
        "version": package.version,
        "plugin": origin.plugin,
        "pluginVersion": origin.version,
        "server": origin.server,
        "parameter": origin.parameter,
    });
    HELPERS.replace("{/* about */}", pretty(&about).trim_end())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// The way from a module to the folder of the package.
fn root_from(path: &[String]) -> String {
    if path.is_empty() { "./".to_owned() } else { "../".repeat(path.len()) }
}

/// `getThing` for the function `Thing` or `getThing`: as the token has it, with a small letter in front.
fn function_name(class: &Class) -> String {
    let mut letters = class.name.chars();
    let first = letters.next().map(char::to_lowercase).into_iter().flatten();
    typescript_name(&first.chain(letters).collect::<String>())
}

/// Enumerations of a module that it exports itself: a class of the same name goes first.
fn exported_enums<'a>(parts: &'a Parts, path: &'a [String]) -> impl Iterator<Item = &'a str> {
    let module = &parts.modules[path];
    let is_class =
        |name: &str| module.kinds.iter().chain(&module.provider).any(|Kind { class, .. }| class.name == name);
    let own = parts.enums.iter().filter(move |found| found.class.modules == path);
    own.map(|found| found.class.name.as_str()).filter(move |name| !is_class(name))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
