//! The code of an SDK for Node.js.

use super::{TYPES, exported_enums, function_name, pretty, quoted, root_from};
use crate::parts::below;
use crate::{Answer, Kind, Method, Parts};
use drystone_plugins::schema::{Property, Resource, Type};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A module.
pub(super) fn module(parts: &Parts, path: &[String]) -> String {
    let module = &parts.modules[path];
    let root = root_from(path);
    let mut text = format!(
        "\"use strict\";\nconst pulumi = require(\"@pulumi/pulumi\");\nconst sdk = require(\"{root}package.js\");\n"
    );
    for kind in &module.kinds {
        resource(&mut text, kind);
    }
    if let Some(kind) = &module.provider {
        class(&mut text, kind, "pulumi.ProviderResource", "provider", "");
        text.push_str("sdk.registerProvider(Provider);\n");
    }
    for (class, function) in &module.functions {
        let name = function_name(class);
        let names: Vec<&str> = function.inputs.keys().map(String::as_str).collect();
        let (token, names) = (quoted(&function.token), json!(names));
        let form = if function.single.is_some() { "Single" } else { "" };
        let _ = write!(
            text,
            "
exports.{name} = (args, opts) => sdk.invoke{form}({token}, {names}, args, opts);
exports.{name}Output = (args, opts) => sdk.invoke{form}Output({token}, {names}, args, opts);
"
        );
    }
    if !module.config.is_empty() {
        let _ =
            writeln!(text, "sdk.configuration(exports, {});", pretty(&configured(&module.config)).trim_end());
    }
    for name in exported_enums(parts, path) {
        let place: String = path.iter().map(|part| format!("[{}]", quoted(part))).collect();
        let _ = writeln!(text, "exports.{name} = require(\"{root}{TYPES}/enums.js\"){place}.{name};");
    }
    if path == [TYPES] {
        for part in ["input", "output", "enums"] {
            let _ = writeln!(text, "exports.{part} = require(\"./{part}.js\");");
        }
    }
    for inner in below(&parts.modules, path) {
        let _ = writeln!(text, "exports.{inner} = require(\"./{inner}\");");
    }
    text
}

fn resource(text: &mut String, kind: &Kind) {
    let name = &kind.class.name;
    if kind.resource.is_component {
        class(text, kind, "pulumi.ComponentResource", "component", "");
    } else {
        let get = format!(
            "    static get(name, id, state, opts) {{
        return new {name}(name, state, {{ ...opts, id }});
    }}
"
        );
        class(text, kind, "pulumi.CustomResource", "custom", &get);
    }
    let _ = writeln!(text, "sdk.register({name});");
}

fn class(text: &mut String, kind: &Kind, base: &str, build: &str, more: &str) {
    let Kind { class, resource, methods } = kind;
    let name = &class.name;
    let methods: String = methods.iter().map(method).collect();
    let (token, shape) = (quoted(&resource.token), pretty(&shape(resource)));
    let _ = write!(
        text,
        "
class {name} extends {base} {{
    constructor(name, args, opts) {{
        super(...sdk.{build}({name}, name, args, opts));
    }}
    static isInstance(value) {{
        return sdk.isInstance(value, {name});
    }}
{more}{methods}}}
{name}.__pulumiType = {token};
{name}.__shape = {shape};
exports.{name} = {name};
",
        shape = shape.trim_end()
    );
}

fn method(method: &Method) -> String {
    let Method { name, function, answer } = method;
    let names: Vec<String> = method.inputs().into_keys().collect();
    let token = quoted(&function.token);
    let given = format!("this, {token}, {}, args", json!(names));
    let called = match answer {
        Answer::Nothing | Answer::Object(_) => format!("sdk.call({given})"),
        Answer::Property(property, _) => {
            format!("sdk.call({given}).apply((answer) => answer[{}])", quoted(property))
        }
        Answer::Single(_) => format!("sdk.callSingle({given})"),
    };
    let called = if function.plain { format!("sdk.plain({token}, {called})") } else { called };
    format!("    [{}](args) {{\n        return {called};\n    }}\n", quoted(name))
}

/// What the code needs to know of a resource.
fn shape(resource: &Resource) -> Value {
    let names = |properties: &BTreeMap<String, Property>, of: fn(&Property) -> bool| -> Vec<String> {
        properties.iter().filter(|(_, property)| of(property)).map(|(name, _)| name.clone()).collect()
    };
    let values = |of: fn(&Property) -> Option<Value>| -> BTreeMap<String, Value> {
        let given = resource.inputs.iter().filter_map(|(name, property)| Some((name, of(property)?)));
        given.map(|(name, value)| (name.clone(), value)).collect()
    };
    let texts = |of: fn(&Property) -> bool| names(&resource.inputs, of);
    json!({
        "inputs": texts(|_| true),
        "outputs": names(&resource.outputs, |_| true),
        "required": texts(|property| property.required && property.constant.is_none()),
        "secrets": texts(|property| property.secret),
        "secretOutputs": names(&resource.outputs, |property| property.secret),
        "constants": values(|property| property.constant.clone()),
        "defaults": values(left_out),
        "aliases": resource.aliases,
        "replaceOnChanges": resource.replace_on_changes(),
        "texts": texts(|property| is_text(&property.kind)),
    })
}

/// What a property is when it is left out.
fn left_out(property: &Property) -> Option<Value> {
    if property.default.is_none() && property.environment.is_empty() {
        return None;
    }
    let mut found = Map::new();
    if let Some(value) = &property.default {
        found.insert("value".to_owned(), value.clone());
    }
    if !property.environment.is_empty() {
        found.insert("environment".to_owned(), json!(property.environment));
        found.insert("type".to_owned(), Value::from(plain_type(&property.kind)));
    }
    Some(Value::Object(found))
}

/// What can be configured, and how it is read.
fn configured(config: &BTreeMap<String, Property>) -> Value {
    let variable = |(name, property): (&String, &Property)| {
        let mut variable = left_out(property).unwrap_or_else(|| json!({}));
        variable["type"] = Value::from(plain_type(&property.kind));
        (name.clone(), variable)
    };
    Value::Object(config.iter().map(variable).collect())
}

/// What a value is read as where it is written as a text.
fn plain_type(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "boolean",
        Type::Integer | Type::Number => "number",
        kind if is_text(kind) => "string",
        _ => "object",
    }
}

fn is_text(kind: &Type) -> bool {
    match kind {
        Type::String => true,
        Type::Enum { element, .. } => is_text(element),
        _ => false,
    }
}

/// The values of enumerations, each in its module.
pub(super) fn enums(parts: &Parts) -> String {
    let mut text = "\"use strict\";\n".to_owned();
    let mut made: Vec<&[String]> = Vec::new();
    for found in &parts.enums {
        let modules = &found.class.modules;
        let mut place = "exports".to_owned();
        for (at, module) in modules.iter().enumerate() {
            let _ = write!(place, "[{}]", quoted(module));
            if !made.contains(&&modules[..=at]) {
                made.push(&modules[..=at]);
                let _ = writeln!(text, "{place} = {{}};");
            }
        }
        let members: Map<String, Value> = found.members.iter().cloned().collect();
        let members = pretty(&Value::Object(members));
        let _ = writeln!(text, "{place}.{} = {};", found.class.name, members.trim_end());
    }
    text
}
