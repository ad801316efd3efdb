//! The code that a program needs for what was taken over, in its language.
//!
//! It is made from the state alone. What a package's schema would tell besides, such as the modules that it renames, is
//! taken to be as packages usually have it.

mod python;
mod typescript;
mod yaml;

use crate::context::secrets_failure;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_dialects::pulumi::properties::decode_properties;
use drystone_engine::{PropertyMap, SecretText};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, ProviderReference, Resource, SECRET_MASK, Secret, Snapshot,
    Urn, Value,
};
use drystone_secrets::{Manager, Reuse, Sealer};
use std::collections::BTreeMap;

/// One resource of the program.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Declaration {
    /// What the program calls it.
    variable: String,
    type_token: String,
    name: String,
    inputs: PropertyMap,
    /// What the program calls its parent and its provider, where they are not the usual ones.
    parent: Option<String>,
    provider: Option<String>,
    protect: bool,
}

impl Declaration {
    /// Whether a secret of it cannot be read.
    pub(super) fn hides_secrets(&self) -> bool {
        self.inputs.values().any(hides)
    }

    /// The package, the modules and the type, as languages nest them: `aws:ec2/vpc:Vpc` is `aws`, `ec2`, `Vpc`.
    fn path(&self) -> (String, Vec<String>, String) {
        let mut parts = self.type_token.splitn(3, ':');
        let (package, module, kind) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        if (package, module) == ("pulumi", "providers") {
            return (kind.to_owned(), Vec::new(), "Provider".to_owned());
        }
        let mut modules: Vec<String> = module.split('/').map(str::to_owned).collect();
        // Many packages have a module for each type, which programs do not see.
        if modules.len() > 1 && modules.last().is_some_and(|last| last.eq_ignore_ascii_case(kind)) {
            modules.pop();
        }
        modules.retain(|module| !module.is_empty() && module != "index");
        (package.to_owned(), modules, kind.to_owned())
    }
}

fn hides(value: &Value) -> bool {
    match value {
        Value::Secret(Secret::Sealed(_)) => true,
        Value::Secret(Secret::Open(inner)) => hides(inner),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(members) => members.values().any(hides),
        _ => false,
    }
}

/// A secret as code has it: its value where it is open.
fn secret_inside(secret: &Secret) -> Value {
    match secret {
        Secret::Open(value) => (**value).clone(),
        Secret::Sealed(_) => Value::String(SECRET_MASK.to_owned()),
    }
}

/// What the program has to declare for these resources. Components are code already. Secrets are opened by `secrets`.
pub(super) fn declarations(
    snapshot: &Snapshot,
    urns: &[Urn],
    names: &BTreeMap<Urn, String>,
    secrets: Option<&Manager>,
) -> Outcome<Vec<Declaration>> {
    let sealer = secrets.map(|manager| Sealer::new(manager, Reuse::On));
    let sealer = sealer.transpose().map_err(|error| Failure::new(ExitCode::Internal, error))?;
    let mut declared = Vec::new();
    for urn in urns {
        let live = |resource: &&Resource| !resource.delete && resource.urn == *urn && resource.custom;
        let Some(resource) = snapshot.resources.iter().find(live) else { continue };
        let mut inputs = decode_properties(&resource.inputs)
            .map_err(|error| Failure::new(ExitCode::Internal, format!("the state of {urn}: {error}")))?;
        inputs.retain(|key, _| !key.starts_with("__") && key != "version");
        if let Some(sealer) = &sealer {
            let mut places: Vec<(&str, &mut Value)> =
                inputs.iter_mut().map(|(key, value)| (key.as_str(), value)).collect();
            sealer.open_values(&SecretText, &mut places).map_err(secrets_failure)?;
        }
        let provider = ProviderReference::parse(&resource.provider).map(|reference| reference.urn);
        declared.push(Declaration {
            variable: names.get(urn).cloned().unwrap_or_else(|| urn.name().to_owned()),
            type_token: resource.type_token.clone(),
            name: urn.name().to_owned(),
            inputs,
            parent: names.get(&resource.parent).cloned(),
            provider: provider.and_then(|urn| names.get(&urn).cloned()),
            protect: resource.protect,
        });
    }
    Ok(declared)
}

/// The code in the language of a runtime; nothing where it is not known how that is written.
pub(super) fn write(runtime: Option<&str>, declared: &[Declaration]) -> Option<String> {
    match runtime? {
        "nodejs" => Some(typescript::write(declared)),
        "python" => Some(python::write(declared)),
        "yaml" => Some(yaml::write(declared)),
        _ => None,
    }
}

/// A name with everything that identifiers cannot have made an underscore.
fn identifier(name: &str, reserved: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut text: String = name.chars().map(plain).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() {
        text.insert(0, '_');
    }
    if reserved.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// A text in double quotes, as all these languages read it.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// How a language writes values.
struct Grammar {
    nothing: &'static str,
    truths: [&'static str; 2],
    /// Whether the keys of named values may stand without quotes.
    bare_keys: bool,
    /// What makes a secret, and what stands before the name of an asset's class.
    secret: &'static str,
    asset: &'static str,
}

impl Grammar {
    /// A value, its lines indented so often.
    fn value(&self, value: &Value, depth: usize) -> String {
        let asset = |class: &str, argument: String| format!("{}{class}({argument})", self.asset);
        match value {
            Value::Null | Value::Computed(_) => self.nothing.to_owned(),
            Value::Bool(flag) => self.truths[usize::from(*flag)].to_owned(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => quoted(text),
            Value::Bytes(bytes) => quoted(&String::from_utf8_lossy(bytes)),
            Value::Array(items) => {
                block(items.iter().map(|item| self.value(item, depth + 1)), depth, ['[', ']'])
            }
            Value::Object(members) => {
                let member = |(key, member): (&String, &Value)| {
                    let bare = self.bare_keys && identifier(key, &[]) == *key;
                    let key = if bare { key.clone() } else { quoted(key) };
                    format!("{key}: {}", self.value(member, depth + 1))
                };
                block(members.iter().map(member), depth, ['{', '}'])
            }
            Value::Secret(secret) => {
                format!("{}({})", self.secret, self.value(&secret_inside(secret), depth))
            }
            Value::Output(output) => self.value(output.value.as_ref().unwrap_or(&Value::Null), depth),
            Value::ResourceReference(reference) => quoted(reference.urn.as_str()),
            Value::Asset(Asset { source, .. }) => match source {
                AssetSource::Text(text) => asset("StringAsset", quoted(text)),
                AssetSource::Path(path) => asset("FileAsset", quoted(path)),
                AssetSource::Uri(uri) => asset("RemoteAsset", quoted(uri)),
            },
            Value::Archive(Archive { source, .. }) => match source {
                ArchiveSource::Path(path) => asset("FileArchive", quoted(path)),
                ArchiveSource::Uri(uri) => asset("RemoteArchive", quoted(uri)),
                ArchiveSource::Assets(assets) => {
                    asset("AssetArchive", self.value(&Value::Object(assets.clone()), depth))
                }
            },
        }
    }
}

/// Items on lines of their own.
fn block(items: impl ExactSizeIterator<Item = String>, depth: usize, [open, close]: [char; 2]) -> String {
    if items.len() == 0 {
        return format!("{open}{close}");
    }
    let pad = "    ".repeat(depth);
    let lines: String = items.map(|item| format!("{pad}    {item},\n")).collect();
    format!("{open}\n{lines}{pad}{close}")
}

/// The packages that are used, each once, in order.
fn packages(declared: &[Declaration]) -> Vec<String> {
    let mut packages: Vec<String> = declared.iter().map(|declaration| declaration.path().0).collect();
    packages.sort();
    packages.dedup();
    packages
}

#[cfg(test)]
mod tests;
