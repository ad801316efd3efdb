//! SDKs for Python.

mod classes;

use crate::names::{identifier, snake_case};
use crate::parts::{Enum, below, with_those_above};
use crate::{Class, Files, Module, Origin, Sdk, parts};
use classes::Writer;
use drystone_plugins::schema::{ObjectType, Package, SchemaError, Type};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// What every SDK has beside its own classes.
const HELPERS: &str = include_str!("package.py");
/// What builds an SDK.
const BUILD: &str = include_str!("build.py");

/// The files of a package's SDK.
pub fn python(package: &Arc<Package>, origin: &Origin) -> Result<Files, SchemaError> {
    let root = Sdk::Python.import_path(&package.name, Some(package));
    // It is a folder, and stands in code as it is.
    if identifier(&root) != root {
        return Err(SchemaError(format!("`{root}` cannot be the name of a package in Python")));
    }
    let parts = parts(package, Sdk::Python)?;
    let class = |token: &str| Sdk::Python.class(token, Some(package));
    let mut folders: BTreeMap<Vec<String>, Folder<'_>> = BTreeMap::new();
    for (path, module) in &parts.modules {
        folders.entry(path.clone()).or_default().module = Some(module);
    }
    for (token, object) in &parts.inputs.objects {
        let class = class(token);
        folders.entry(class.modules.clone()).or_default().inputs.push((class, object));
    }
    for (token, object) in &parts.outputs.objects {
        let class = class(token);
        folders.entry(class.modules.clone()).or_default().outputs.push((class, object));
    }
    for found in &parts.enums {
        folders.entry(found.class.modules.clone()).or_default().enums.push(found);
    }
    with_those_above(&mut folders);
    let mut files = Files::new();
    files.insert("pyproject.toml".to_owned(), PROJECT.to_owned());
    files.insert("_build.py".to_owned(), build(package, &root));
    let note = serde_json::to_string_pretty(&origin.note(package)).unwrap_or_default() + "\n";
    files.insert(format!("{root}/pulumi-plugin.json"), note);
    files.insert(format!("{root}/py.typed"), String::new());
    files.insert(format!("{root}/_package.py"), helpers(package, origin));
    let writer = Writer { package, root: &root };
    for (path, folder) in &folders {
        let place: String = path.iter().map(|name| format!("{name}/")).collect();
        let place = format!("{root}/{place}");
        let inner = below(&folders, path);
        files.insert(format!("{place}__init__.py"), writer.module(folder.module, &inner));
        files.insert(format!("{place}_inputs.py"), writer.inputs(&folder.inputs));
        files.insert(format!("{place}outputs.py"), writer.outputs(&folder.outputs));
        files.insert(format!("{place}_enums.py"), enums(&folder.enums));
    }
    Ok(files)
}

/// A module with the types that are in it.
#[derive(Default)]
struct Folder<'a> {
    module: Option<&'a Module>,
    inputs: Vec<(Class, &'a Arc<ObjectType>)>,
    outputs: Vec<(Class, &'a Arc<ObjectType>)>,
    enums: Vec<&'a Enum>,
}

/// What the installer reads: the package builds itself.
const PROJECT: &str = "[build-system]\nrequires = []\nbuild-backend = \"_build\"\nbackend-path = [\".\"]\n";

/// What builds the package.
fn build(package: &Package, root: &str) -> String {
    let about = format!(
        "NAME = {}\nVERSION = {}\nREQUIRES = [\"pulumi>=3.142.0,<4.0.0\"]\n",
        quoted(root),
        quoted(&release(&package.version)),
    );
    BUILD.replace("# about\n", &about)
}

/// A version as Python writes it: `1.2.3a4` for `1.2.3-alpha.4`. One that Python cannot write is that of development.
fn release(version: &str) -> String {
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let numbers = if numbers.is_empty() { "0.0.0" } else { numbers };
    let before = rest.strip_prefix('-').and_then(|rest| rest.split('+').next()).unwrap_or_default();
    if before.is_empty() {
        return numbers.to_owned();
    }
    let marks = [("alpha", "a"), ("beta", "b"), ("rc", "rc")];
    let mark = marks.iter().find_map(|(name, mark)| {
        let number = before.strip_prefix(name)?.trim_start_matches('.');
        let number = if number.is_empty() { "0" } else { number };
        number.bytes().all(|digit| digit.is_ascii_digit()).then(|| format!("{numbers}{mark}{number}"))
    });
    mark.unwrap_or_else(|| format!("{numbers}.dev0"))
}

fn helpers(package: &Package, origin: &Origin) -> String {
    let parameter = origin.parameter.as_deref().map_or_else(|| "None".to_owned(), quoted);
    let about = format!(
        "NAME = {}\nVERSION = {}\nPLUGIN = {}\nPLUGIN_VERSION = {}\nSERVER = {}\nPARAMETER = {parameter}\n",
        quoted(&package.name),
        quoted(&package.version),
        quoted(&origin.plugin),
        quoted(&origin.version),
        quoted(&origin.server),
    );
    HELPERS.replace("# about\n", &about)
}

/// The enumerations of a module.
fn enums(enums: &[&Enum]) -> String {
    let names = list(enums.iter().map(|found| found.class.name.clone()));
    let mut text = format!("from enum import Enum\n\n__all__ = {names}\n");
    for found in enums {
        let base = match *found.element {
            Type::String => "str, ",
            Type::Integer => "int, ",
            Type::Number => "float, ",
            _ => "",
        };
        let _ = writeln!(text, "\n\nclass {}({base}Enum):", found.class.name);
        for (member, value) in &found.members {
            let _ = writeln!(text, "    {member} = {}", literal(value));
        }
        if found.members.is_empty() {
            text.push_str("    pass\n");
        }
    }
    text
}

/// A list of texts.
fn list(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| quoted(&text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Names as Python has them.
fn python_names<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    list(names.into_iter().map(|name| snake_case(name)))
}

/// A plain value.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => quoted(text),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}: {}", quoted(name), literal(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// A text, quoted; JSON's escapes are Python's, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn versions_are_written_as_python_writes_them() {
        for (version, python) in [
            ("1.2.3", "1.2.3"),
            ("1.2.3+build", "1.2.3"),
            ("1.2.3-alpha.4", "1.2.3a4"),
            ("1.2.3-beta", "1.2.3b0"),
            ("1.2.3-rc.1+x", "1.2.3rc1"),
            ("1.2.3-x0123", "1.2.3.dev0"),
            ("", "0.0.0"),
        ] {
            assert_eq!(release(version), python, "{version}");
        }
    }
}
