//! Declarations in YAML.

use super::{Declaration, quoted, secret_inside};
use drystone_model::{ArchiveSource, AssetSource, Value};
use std::fmt::Write;

pub(super) fn write(declared: &[Declaration]) -> String {
    let mut text = "resources:\n".to_owned();
    for declaration in declared {
        let _ = writeln!(text, "  {}:\n    type: {}", key(&declaration.variable), declaration.type_token);
        if declaration.variable != declaration.name {
            let _ = writeln!(text, "    name: {}", literal(&declaration.name));
        }
        let inputs: Vec<_> = declaration.inputs.iter().filter(|(_, input)| !input.is_null()).collect();
        if !inputs.is_empty() {
            text.push_str("    properties:\n");
        }
        for (name, input) in inputs {
            let _ = writeln!(text, "      {}:{}", key(name), value(input, 4));
        }
        let parent = declaration.parent.iter().map(|name| format!("      parent: ${{{name}}}\n"));
        let provider = declaration.provider.iter().map(|name| format!("      provider: ${{{name}}}\n"));
        let protect = declaration.protect.then(|| "      protect: true\n".to_owned());
        let options: String = parent.chain(provider).chain(protect).collect();
        if !options.is_empty() {
            let _ = write!(text, "    options:\n{options}");
        }
    }
    text
}

fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !matches!(name, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if plain { name.to_owned() } else { quoted(name) }
}

/// A text that is no expression.
fn literal(text: &str) -> String {
    quoted(&text.replace("${", "$${"))
}

/// A value after its key: on the same line, or on lines of its own with so many spaces and four more.
fn value(value: &Value, depth: usize) -> String {
    let call = |name: &str, argument: &str| format!("\n{}fn::{name}: {argument}", " ".repeat(depth + 4));
    match value {
        Value::Null | Value::Computed(_) => " null".to_owned(),
        Value::Bool(flag) => format!(" {flag}"),
        Value::Number(number) => format!(" {number}"),
        Value::String(text) => format!(" {}", literal(text)),
        Value::Bytes(bytes) => format!(" {}", literal(&String::from_utf8_lossy(bytes))),
        Value::Array(items) if items.is_empty() => " []".to_owned(),
        Value::Object(members) if members.is_empty() => " {}".to_owned(),
        Value::Array(items) => {
            let line = |item: &Value| format!("\n{}-{}", " ".repeat(depth + 4), self::value(item, depth + 2));
            items.iter().map(line).collect()
        }
        Value::Object(members) => {
            let pad = " ".repeat(depth + 4);
            let line = |(name, member): (&String, &Value)| {
                format!("\n{pad}{}:{}", key(name), self::value(member, depth + 2))
            };
            members.iter().map(line).collect()
        }
        Value::Secret(secret) => {
            let inside = self::value(&secret_inside(secret), depth + 2);
            format!("\n{}fn::secret:{inside}", " ".repeat(depth + 4))
        }
        Value::Output(output) => self::value(output.value.as_ref().unwrap_or(&Value::Null), depth),
        Value::ResourceReference(reference) => format!(" {}", literal(reference.urn.as_str())),
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(text) => call("stringAsset", &literal(text)),
            AssetSource::Path(path) => call("fileAsset", &literal(path)),
            AssetSource::Uri(uri) => call("remoteAsset", &literal(uri)),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Path(path) => call("fileArchive", &literal(path)),
            ArchiveSource::Uri(uri) => call("remoteArchive", &literal(uri)),
            ArchiveSource::Assets(assets) => {
                let assets = self::value(&Value::Object(assets.clone()), depth + 2);
                format!("\n{}fn::assetArchive:{assets}", " ".repeat(depth + 4))
            }
        },
    }
}
