//! The package's schema, and what follows from it.
//!
//! Each module has a file of its own in Pulumi's form for package schemas, with `types`, `resources` and `functions`.

mod check;
mod suggest;

pub(crate) use check::{Failures, check};
pub(crate) use suggest::suggestion;

use drystone_model::{Number, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files, by module.
const MODULES: [(&str, &str); 6] = [
    ("archive", include_str!("archive.json")),
    ("command", include_str!("command.json")),
    ("http", include_str!("http.json")),
    ("local", include_str!("local.json")),
    ("random", include_str!("random.json")),
    ("time", include_str!("time.json")),
];

/// A second name of a resource.
const ALIASES: [(&str, &str); 1] = [("drystone:random:Pet", "drystone:random:RandomPet")];

/// The package.
pub(crate) static PACKAGE: LazyLock<Package> = LazyLock::new(Package::assemble);

/// Everything that the package has.
#[derive(Debug)]
pub(crate) struct Package {
    /// The whole schema as JSON.
    pub(crate) json: Json,
    pub(crate) resources: BTreeMap<String, Shape>,
    pub(crate) functions: BTreeMap<String, Shape>,
}

/// What goes into a resource or a function, and what comes out.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) inputs: BTreeMap<String, Property>,
    pub(crate) required: Vec<String>,
    pub(crate) outputs: BTreeMap<String, Property>,
    /// The outputs that are always there.
    pub(crate) always: Vec<String>,
}

impl Shape {
    /// Whether an input that is left out is completed by the resource: it is always an output.
    pub(crate) fn is_completed(&self, name: &str) -> bool {
        let left_out = self.inputs.get(name).is_some_and(|property| property.default.is_none());
        left_out && self.always.iter().any(|always| always == name)
    }
}

/// A property.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) form: Form,
    /// Whether it must not be shown.
    pub(crate) secret: bool,
    /// Whether a change of it replaces the resource.
    pub(crate) replaces: bool,
    pub(crate) default: Option<Value>,
}

/// The type of a value.
#[derive(Debug)]
pub(crate) enum Form {
    Any,
    Text,
    Whole,
    Number,
    Flag,
    Choice(Vec<String>),
    List(Box<Form>),
    Map(Box<Form>),
    Object { members: BTreeMap<String, Property>, required: Vec<String> },
}

impl Package {
    fn assemble() -> Self {
        let mut json = json!({
            "name": crate::PACKAGE,
            "displayName": "Drystone",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What Drystone itself provides: random values, files, commands, time, HTTP reads, archives",
            "keywords": ["category/utility"],
            "license": env!("CARGO_PKG_LICENSE"),
            "meta": { "moduleFormat": "(.*)" },
            "config": {},
            "provider": { "description": "The provider takes no configuration.", "type": "object" },
            "types": {},
            "resources": {},
            "functions": {},
        });
        for (_, text) in MODULES {
            let module: Json = serde_json::from_str(text).unwrap_or_default();
            for part in ["types", "resources", "functions"] {
                if let (Some(all), Some(more)) = (json[part].as_object_mut(), module[part].as_object()) {
                    all.extend(more.clone());
                }
            }
        }
        for (alias, name) in ALIASES {
            let mut same = json["resources"][name].clone();
            same["aliases"] = json!([{ "type": name }]);
            json["resources"][name]["aliases"] = json!([{ "type": alias }]);
            json["resources"][alias] = same;
        }
        for part in ["types", "resources", "functions"] {
            if let Some(all) = json[part].as_object_mut() {
                all.sort_keys();
            }
        }
        let types = json["types"].clone();
        let shapes = |part: &str, read: &dyn Fn(&Json) -> Shape| {
            members(&json[part]).map(|(token, entry)| (token.clone(), read(entry))).collect()
        };
        let resources = shapes("resources", &|entry| Shape {
            inputs: properties(&entry["inputProperties"], &types),
            required: texts(&entry["requiredInputs"]),
            outputs: properties(&entry["properties"], &types),
            always: texts(&entry["required"]),
        });
        let functions = shapes("functions", &|entry| Shape {
            inputs: properties(&entry["inputs"]["properties"], &types),
            required: texts(&entry["inputs"]["required"]),
            outputs: properties(&entry["outputs"]["properties"], &types),
            always: texts(&entry["outputs"]["required"]),
        });
        Self { json, resources, functions }
    }
}

fn members(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    json.as_object().into_iter().flat_map(Map::iter)
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

fn properties(json: &Json, types: &Json) -> BTreeMap<String, Property> {
    let read = |entry: &Json| Property {
        form: form(entry, types),
        secret: entry["secret"] == true,
        replaces: entry["replaceOnChanges"] == true,
        default: entry.get("default").map(value),
    };
    members(json).map(|(name, entry)| (name.clone(), read(entry))).collect()
}

fn form(json: &Json, types: &Json) -> Form {
    if let Some(reference) = json["$ref"].as_str() {
        return match reference.strip_prefix("#/types/") {
            Some(name) => form(&types[name], types),
            None => Form::Any,
        };
    }
    if let Some(choices) = json["enum"].as_array() {
        return Form::Choice(
            choices.iter().filter_map(|choice| choice["value"].as_str()).map(str::to_owned).collect(),
        );
    }
    match json["type"].as_str() {
        Some("string") => Form::Text,
        Some("integer") => Form::Whole,
        Some("number") => Form::Number,
        Some("boolean") => Form::Flag,
        Some("array") => Form::List(Box::new(form(&json["items"], types))),
        Some("object") if json.get("properties").is_some() => Form::Object {
            members: properties(&json["properties"], types),
            required: texts(&json["required"]),
        },
        Some("object") => Form::Map(Box::new(form(&json["additionalProperties"], types))),
        _ => Form::Any,
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Number::parse(&number.to_string()).map_or(Value::Null, Value::Number),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(elements) => Value::array(elements.iter().map(value)),
        Json::Object(members) => Value::object(members.iter().map(|(key, member)| (key, value(member)))),
    }
}
