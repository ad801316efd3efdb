//! Declarations in Python.

use super::{Declaration, block, identifier, packages, quoted, secret_inside};
use drystone_model::{ArchiveSource, AssetSource, Value};
use std::fmt::Write;

const RESERVED: [&str; 36] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "exec", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "print", "raise", "return", "try", "while", "with",
];

pub(super) fn write(declared: &[Declaration]) -> String {
    let mut text = "import pulumi\n".to_owned();
    for package in packages(declared) {
        let module = package.replace('-', "_");
        let _ = writeln!(text, "import pulumi_{module} as {}", identifier(&package, &RESERVED));
    }
    for declaration in declared {
        let (package, modules, kind) = declaration.path();
        let mut path = vec![identifier(&package, &RESERVED)];
        path.extend(modules.iter().map(|module| snake_case(module)));
        path.push(kind);
        let variable = snake_case(&declaration.variable);
        let mut arguments = vec![quoted(&declaration.name)];
        for (key, input) in declaration.inputs.iter().filter(|(_, input)| !input.is_null()) {
            arguments.push(format!("{}={}", snake_case(key), value(input, 1)));
        }
        arguments.extend(options(declaration));
        let _ = write!(text, "\n{variable} = {}({})\n", path.join("."), arguments.join(",\n    "));
    }
    text
}

fn options(declaration: &Declaration) -> Option<String> {
    let mut options = Vec::new();
    if let Some(parent) = &declaration.parent {
        options.push(format!("parent={}", snake_case(parent)));
    }
    if let Some(provider) = &declaration.provider {
        options.push(format!("provider={}", snake_case(provider)));
    }
    if declaration.protect {
        options.push("protect=True".to_owned());
    }
    (!options.is_empty()).then(|| format!("opts=pulumi.ResourceOptions({})", options.join(", ")))
}

/// `cidrBlock` as Python has it: `cidr_block`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::new();
    for (index, &letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1).copied();
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(|after| after.is_ascii_lowercase()))
            });
        if starts_word {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    identifier(&text, &RESERVED)
}

fn value(value: &Value, depth: usize) -> String {
    match value {
        Value::Null | Value::Computed(_) => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Bytes(bytes) => quoted(&String::from_utf8_lossy(bytes)),
        Value::Array(items) => {
            let items = items.iter().map(|item| self::value(item, depth + 1));
            block(items, depth, ['[', ']'])
        }
        // What is inside keeps its names: the SDK sends those that it does not know as they are.
        Value::Object(members) => {
            let member = |(key, member): (&String, &Value)| {
                format!("{}: {}", quoted(key), self::value(member, depth + 1))
            };
            block(members.iter().map(member), depth, ['{', '}'])
        }
        Value::Secret(secret) => {
            format!("pulumi.Output.secret({})", self::value(&secret_inside(secret), depth))
        }
        Value::Output(output) => self::value(output.value.as_ref().unwrap_or(&Value::Null), depth),
        Value::ResourceReference(reference) => quoted(reference.urn.as_str()),
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(text) => format!("pulumi.StringAsset({})", quoted(text)),
            AssetSource::Path(path) => format!("pulumi.FileAsset({})", quoted(path)),
            AssetSource::Uri(uri) => format!("pulumi.RemoteAsset({})", quoted(uri)),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Path(path) => format!("pulumi.FileArchive({})", quoted(path)),
            ArchiveSource::Uri(uri) => format!("pulumi.RemoteArchive({})", quoted(uri)),
            ArchiveSource::Assets(assets) => {
                format!("pulumi.AssetArchive({})", self::value(&Value::Object(assets.clone()), depth))
            }
        },
    }
}
