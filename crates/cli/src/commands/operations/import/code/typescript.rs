//! Declarations in TypeScript.

use super::{Declaration, block, identifier, packages, quoted, secret_inside};
use drystone_model::{ArchiveSource, AssetSource, Value};
use std::fmt::Write;

const RESERVED: [&str; 40] = [
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "typeof",
];

pub(super) fn write(declared: &[Declaration]) -> String {
    let mut text = "import * as pulumi from \"@pulumi/pulumi\";\n".to_owned();
    for package in packages(declared) {
        let _ = writeln!(text, "import * as {} from \"@pulumi/{package}\";", identifier(&package, &RESERVED));
    }
    for declaration in declared {
        let (package, modules, kind) = declaration.path();
        let mut path = vec![identifier(&package, &RESERVED)];
        path.extend(modules.iter().map(|module| identifier(module, &[])));
        path.push(kind);
        let variable = identifier(&declaration.variable, &RESERVED);
        let inputs = value(&Value::Object(declaration.inputs.clone()), 0);
        let name = quoted(&declaration.name);
        let _ = write!(text, "\nconst {variable} = new {}({name}, {inputs}", path.join("."));
        text.push_str(&options(declaration));
        text.push_str(");\n");
    }
    text
}

fn options(declaration: &Declaration) -> String {
    let mut options = Vec::new();
    if let Some(parent) = &declaration.parent {
        options.push(format!("parent: {}", identifier(parent, &RESERVED)));
    }
    if let Some(provider) = &declaration.provider {
        options.push(format!("provider: {}", identifier(provider, &RESERVED)));
    }
    if declaration.protect {
        options.push("protect: true".to_owned());
    }
    if options.is_empty() {
        return String::new();
    }
    let lines: String = options.iter().map(|option| format!("    {option},\n")).collect();
    format!(", {{\n{lines}}}")
}

fn value(value: &Value, depth: usize) -> String {
    match value {
        Value::Null | Value::Computed(_) => "undefined".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Bytes(bytes) => quoted(&String::from_utf8_lossy(bytes)),
        Value::Array(items) => {
            let items = items.iter().map(|item| self::value(item, depth + 1));
            block(items, depth, ['[', ']'])
        }
        Value::Object(members) => {
            let member = |(key, member): (&String, &Value)| {
                let plain = identifier(key, &[]) == *key;
                let key = if plain { key.clone() } else { quoted(key) };
                format!("{key}: {}", self::value(member, depth + 1))
            };
            block(members.iter().map(member), depth, ['{', '}'])
        }
        Value::Secret(secret) => format!("pulumi.secret({})", self::value(&secret_inside(secret), depth)),
        Value::Output(output) => self::value(output.value.as_ref().unwrap_or(&Value::Null), depth),
        Value::ResourceReference(reference) => quoted(reference.urn.as_str()),
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(text) => format!("new pulumi.asset.StringAsset({})", quoted(text)),
            AssetSource::Path(path) => format!("new pulumi.asset.FileAsset({})", quoted(path)),
            AssetSource::Uri(uri) => format!("new pulumi.asset.RemoteAsset({})", quoted(uri)),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Path(path) => format!("new pulumi.asset.FileArchive({})", quoted(path)),
            ArchiveSource::Uri(uri) => format!("new pulumi.asset.RemoteArchive({})", quoted(uri)),
            ArchiveSource::Assets(assets) => {
                let assets = self::value(&Value::Object(assets.clone()), depth);
                format!("new pulumi.asset.AssetArchive({assets})")
            }
        },
    }
}
