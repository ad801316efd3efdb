//! unobin's stacks as snapshots.

use super::{Member, Projection};
use crate::pulumi::properties::{SecretForm, encode_properties};
use crate::unobin::{Entry, Identity, Snapshot as Record, Value as Own};
use drystone_model::{Number, Properties, Snapshot, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The package of what no Pulumi provider serves.
pub const PACKAGE: &str = "unobin";

/// The one kind that a provider of ours serves.
const FILE: &str = "std.fs-file";

impl Record {
    /// The record as a snapshot: an entry a resource, its address the name. Sensitive values are open secrets, which
    /// whoever writes the snapshot has to seal.
    #[must_use]
    pub fn project(&self) -> Snapshot {
        let mut members: Vec<Member> = self.entries.iter().flatten().flatten().map(member).collect();
        let addresses: BTreeSet<String> = members.iter().map(|member| member.name.clone()).collect();
        for member in &mut members {
            // What a record is written without, such as a value that is only computed, may be needed all the same.
            member.needs.retain(|need| addresses.contains(need));
        }
        Projection {
            project: &self.factory.name,
            stack: &self.stack,
            time: self.generated_at.written().unwrap_or_default(),
            outputs: stored(converted(&self.outputs), &[]),
            providers: BTreeMap::new(),
            members,
        }
        .snapshot()
    }
}

fn member(entry: &Entry) -> Member {
    let kind = kind(entry);
    let sealed = Sensitive { inputs: &entry.sensitive_inputs, outputs: &entry.sensitive_outputs };
    let common = Member { name: entry.address.clone(), needs: entry.depends_on.clone(), ..Member::default() };
    if let Some(file) = file(entry, &kind) {
        let inputs = stored(file.inputs, sealed.inputs);
        return Member {
            type_token: "drystone:local:File".to_owned(),
            id: file.name,
            outputs: inputs.clone(),
            inputs,
            ..common
        };
    }
    let id = entry.outputs.get("id").and_then(Own::as_str).unwrap_or(&entry.address);
    Member {
        type_token: own_type(&entry.entry_type, &kind),
        id: id.to_owned(),
        inputs: stored(converted(&entry.inputs), sealed.inputs),
        outputs: stored(converted(&entry.outputs), sealed.outputs),
        ..common
    }
}

/// The names of the members that are to be secret.
struct Sensitive<'a> {
    inputs: &'a [String],
    outputs: &'a [String],
}

/// A file as `drystone:local:File` has it.
struct File {
    name: String,
    inputs: BTreeMap<String, Value>,
}

/// What a file's entry says, in the words of the provider; `None` when it is no file, or says what those have no word
/// for. The content keeps its name, so that it stays as secret as it was.
fn file(entry: &Entry, kind: &str) -> Option<File> {
    let known = ["path", "content", "mode"];
    let is_known = entry.inputs.keys().all(|name| known.contains(&name.as_str()));
    let is_secret_elsewhere = entry.sensitive_inputs.iter().any(|name| name != "content");
    if kind != FILE || entry.entry_type != "leaf" || !is_known || is_secret_elsewhere {
        return None;
    }
    let name = entry.inputs.get("path")?.as_str()?.to_owned();
    let mut inputs = BTreeMap::from([("filename".to_owned(), Value::String(name.clone()))]);
    inputs.insert("content".to_owned(), convert(entry.inputs.get("content")?));
    if let Some(Own::Number(mode)) = entry.inputs.get("mode") {
        let mode: u32 = mode.as_str().parse().ok()?;
        inputs.insert("filePermission".to_owned(), Value::String(format!("{mode:04o}")));
    }
    Some(File { name, inputs })
}

/// `library.kind`, as programs write it.
fn kind(entry: &Entry) -> String {
    match &entry.identity {
        Identity::Seed { kind, .. } if !kind.is_empty() => kind.clone(),
        Identity::Seed { library, library_type, .. } => format!("{library}.{library_type}"),
        Identity::Newer { binding: Some(binding), .. } => format!("{}.{}", binding.alias, binding.kind),
        Identity::Newer { binding: None, .. } => String::new(),
    }
}

/// A type of our own: `unobin:leaf:aws.vpc`.
fn own_type(entry_type: &str, kind: &str) -> String {
    format!("{PACKAGE}:{entry_type}:{}", kind.replace(':', "."))
}

fn converted(members: &BTreeMap<String, Own>) -> BTreeMap<String, Value> {
    members.iter().map(|(name, value)| (name.clone(), convert(value))).collect()
}

/// Members as a snapshot stores them; those that are named are secret.
fn stored(mut members: BTreeMap<String, Value>, secret: &[String]) -> Properties {
    for (name, value) in &mut members {
        if secret.contains(name) {
            *value = Value::secret(std::mem::take(value));
        }
    }
    encode_properties(&members, SecretForm::Plaintext).unwrap_or_default()
}

fn convert(value: &Own) -> Value {
    match value {
        Own::Null => Value::Null,
        Own::Bool(value) => Value::Bool(*value),
        Own::Number(number) => Number::parse(number.as_str()).map_or(Value::Null, Value::Number),
        Own::String(text) => Value::String(text.clone()),
        Own::Array(elements) => Value::array(elements.iter().map(convert)),
        Own::Object(members) => {
            Value::object(members.iter().map(|(name, value)| (name.clone(), convert(value))))
        }
    }
}
