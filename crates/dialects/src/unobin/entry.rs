//! One record of a snapshot, in either of its two forms.

use super::error::Error;
use super::json::Value;
use super::json::bind::{Binder, Shape, same_but_for_case};
use super::json::syntax::Node;
use super::json::write::Members;
use std::collections::BTreeMap;

const SEED: Shape = Shape {
    go_type: "state.Entry",
    told_as: "Entry",
    fields: &[
        "address",
        "type",
        "kind",
        "schema-version",
        "sensitive-inputs",
        "sensitive-outputs",
        "library",
        "library-type",
        "configuration",
        "trigger-hash",
        "inputs",
        "outputs",
        "depends-on",
    ],
};

/// The newer form. unobin reads it by a second decoder, whose errors are told as those of the snapshot.
const NEWER: Shape = Shape {
    go_type: "state.entryJSON",
    told_as: "Snapshot",
    fields: &[
        "address",
        "entry-kind",
        "category",
        "binding",
        "schema-version",
        "sensitive-inputs",
        "sensitive-outputs",
        "trigger-hash",
        "inputs",
        "outputs",
        "depends-on",
    ],
};

const BINDING: Shape =
    Shape { go_type: "state.Binding", told_as: "Snapshot", fields: &["alias", "library-path", "kind"] };

/// One record of a snapshot: a resource, a call of a library, or an action.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Its name in the stack.
    pub address: String,
    /// What it is: `leaf`, `library-call`, `action`, and in the newer form `data-source`.
    pub entry_type: String,
    /// What implements it. This is where the two forms differ.
    pub identity: Identity,
    /// The version of its kind's schema; 0 is not written.
    pub schema_version: i64,
    /// The inputs whose values are sensitive.
    pub sensitive_inputs: Vec<String>,
    /// The outputs whose values are sensitive.
    pub sensitive_outputs: Vec<String>,
    /// What an action's last run was triggered by.
    pub trigger_hash: String,
    /// What it was given.
    pub inputs: BTreeMap<String, Value>,
    /// What it gave.
    pub outputs: BTreeMap<String, Value>,
    /// The addresses that it depends on, in the order of the program.
    pub depends_on: Vec<String>,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

/// What implements an entry, as its form says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The form with `type`, which new stacks have.
    Seed {
        /// The kind of a resource or action, as in `aws.vpc`.
        kind: String,
        /// The library of a call.
        library: String,
        /// The type in that library.
        library_type: String,
        /// The library configuration, as in `aws.east`, where it is not the default.
        configuration: String,
    },
    /// The form with `entry-kind`.
    Newer {
        /// `resource`, `data-source` or `action`.
        category: String,
        /// The implementation.
        binding: Option<Binding>,
    },
}

/// The implementation of an entry in the newer form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Binding {
    /// The name that the program imports the library by.
    pub alias: String,
    /// Where the library is.
    pub library_path: String,
    /// What it exports.
    pub kind: String,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

impl Default for Identity {
    fn default() -> Self {
        Self::Seed {
            kind: String::new(),
            library: String::new(),
            library_type: String::new(),
            configuration: String::new(),
        }
    }
}

impl Identity {
    /// The form of an entry: the one whose member it has. An entry with neither is told to miss `type`.
    fn of(node: &Node<'_>) -> Self {
        let has = |wanted: &str| match node {
            Node::Object(members) => members.iter().any(|(name, _)| same_but_for_case(wanted, name)),
            _ => false,
        };
        if !has("type") && has("entry-kind") {
            Self::Newer { category: String::new(), binding: None }
        } else {
            Self::default()
        }
    }

    fn shape(&self) -> &'static Shape {
        match self {
            Self::Seed { .. } => &SEED,
            Self::Newer { .. } => &NEWER,
        }
    }
}

impl Entry {
    pub(super) fn bind(
        binder: &mut Binder,
        node: &Node<'_>,
        target: &mut Option<Self>,
    ) -> Result<(), String> {
        let identity = Identity::of(node);
        let is_newer = matches!(identity, Identity::Newer { .. });
        // unobin reads the newer form by a decoder of its own: into nothing, and not on after an error.
        let entry = match target {
            Some(entry) if !is_newer => entry,
            target => target.insert(Self { identity, ..Self::default() }),
        };
        let mut own = is_newer.then(|| binder.at_the_same_place());
        let mut unknown = std::mem::take(&mut entry.unknown);
        let shape = entry.identity.shape();
        let bound =
            own.as_mut()
                .unwrap_or(binder)
                .fields(node, shape, &mut unknown, |binder, field, node| entry.set(binder, field, node));
        entry.unknown = unknown;
        bound.and_then(|()| own.map_or(Ok(()), Binder::finish))
    }

    fn set(&mut self, binder: &mut Binder, field: &str, node: &Node<'_>) -> Result<(), String> {
        match (field, &mut self.identity) {
            ("address", _) => binder.string(node, &mut self.address),
            ("type" | "entry-kind", _) => binder.string_as("state.EntryType", node, &mut self.entry_type),
            ("schema-version", _) => binder.integer(node, &mut self.schema_version),
            ("sensitive-inputs", _) => binder.strings(node, &mut self.sensitive_inputs),
            ("sensitive-outputs", _) => binder.strings(node, &mut self.sensitive_outputs),
            ("trigger-hash", _) => binder.string(node, &mut self.trigger_hash),
            ("inputs", _) => binder.map(node, &mut self.inputs),
            ("outputs", _) => binder.map(node, &mut self.outputs),
            ("depends-on", _) => binder.strings(node, &mut self.depends_on),
            ("kind", Identity::Seed { kind, .. }) => binder.string(node, kind),
            ("library", Identity::Seed { library, .. }) => binder.string(node, library),
            ("library-type", Identity::Seed { library_type, .. }) => binder.string(node, library_type),
            ("configuration", Identity::Seed { configuration, .. }) => binder.string(node, configuration),
            ("category", Identity::Newer { category, .. }) => binder.string(node, category),
            ("binding", Identity::Newer { binding, .. }) => return Binding::bind(binder, node, binding),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn write(&self, members: &mut Members<'_>) {
        members.string("address", &self.address);
        match &self.identity {
            Identity::Seed { kind, .. } => {
                members.string("type", &self.entry_type);
                members.some_string("kind", kind);
            }
            Identity::Newer { category, binding } => {
                members.string("entry-kind", &self.entry_type);
                members.some_string("category", category);
                if let Some(binding) = binding {
                    members.member("binding", |writer| writer.object(|members| binding.write(members)));
                }
            }
        }
        if self.schema_version != 0 {
            members.integer("schema-version", self.schema_version);
        }
        members.some_strings("sensitive-inputs", &self.sensitive_inputs);
        members.some_strings("sensitive-outputs", &self.sensitive_outputs);
        if let Identity::Seed { library, library_type, configuration, .. } = &self.identity {
            members.some_string("library", library);
            members.some_string("library-type", library_type);
            members.some_string("configuration", configuration);
        }
        members.some_string("trigger-hash", &self.trigger_hash);
        members.some_map("inputs", &self.inputs);
        members.some_map("outputs", &self.outputs);
        members.some_strings("depends-on", &self.depends_on);
        members.unknown(&self.unknown);
    }

    pub(super) fn forget_unknown(&mut self) {
        self.unknown.clear();
        if let Identity::Newer { binding: Some(binding), .. } = &mut self.identity {
            binding.unknown.clear();
        }
    }

    /// Whether it says what it is, and all that goes with it.
    pub(super) fn validate(&self) -> Result<(), Error> {
        match &self.identity {
            Identity::Seed { kind, library, library_type, .. } => {
                self.validate_seed(kind, library, library_type)
            }
            Identity::Newer { category, binding } => self.validate_newer(category, binding.as_ref()),
        }
    }

    fn validate_seed(&self, kind: &str, library: &str, library_type: &str) -> Result<(), Error> {
        let (entry, needed): (_, &[(&str, _)]) = match self.entry_type.as_str() {
            "leaf" => ("leaf entry", &[(kind, "missing kind")]),
            "action" => ("action entry", &[(kind, "missing kind")]),
            "library-call" => (
                "library-call entry",
                &[(library, "missing library"), (library_type, "missing library-type")],
            ),
            "" => return Err(self.incomplete("entry", "missing type")),
            _ => return Err(self.unknown_type("type")),
        };
        match needed.iter().find(|(text, _)| text.is_empty()) {
            Some((_, missing)) => Err(self.incomplete(entry, missing)),
            None => Ok(()),
        }
    }

    fn validate_newer(&self, category: &str, binding: Option<&Binding>) -> Result<(), Error> {
        let allowed: &[&str] = match self.entry_type.as_str() {
            "leaf" => &["resource"],
            "library-call" => &["resource", "data-source", "action"],
            "action" => &["action"],
            "data-source" => &["data-source"],
            "" => return Err(self.incomplete("entry", "missing entry-kind")),
            _ => return Err(self.unknown_type("entry-kind")),
        };
        if category.is_empty() {
            return Err(self.incomplete("entry", "missing category"));
        }
        if !allowed.contains(&category) {
            return Err(Error::Category { address: self.address.clone(), found: category.to_owned() });
        }
        match binding {
            None => Err(self.incomplete("entry", "binding missing")),
            Some(binding) if binding.alias.is_empty() => {
                Err(self.incomplete("entry", "binding missing alias"))
            }
            Some(binding) if binding.kind.is_empty() => Err(self.incomplete("entry", "binding missing kind")),
            Some(_) => Ok(()),
        }
    }

    fn incomplete(&self, entry: &'static str, missing: &'static str) -> Error {
        Error::Incomplete { entry, address: self.address.clone(), missing }
    }

    fn unknown_type(&self, member: &'static str) -> Error {
        Error::UnknownType { address: self.address.clone(), member, found: self.entry_type.clone() }
    }
}

impl Binding {
    fn bind(binder: &mut Binder, node: &Node<'_>, target: &mut Option<Self>) -> Result<(), String> {
        if matches!(node, Node::Null) {
            *target = None;
            return Ok(());
        }
        let binding = target.get_or_insert_default();
        let mut unknown = std::mem::take(&mut binding.unknown);
        let bound = binder.fields(node, &BINDING, &mut unknown, |binder, field, node| {
            match field {
                "alias" => binder.string(node, &mut binding.alias),
                "library-path" => binder.string(node, &mut binding.library_path),
                _ => binder.string(node, &mut binding.kind),
            }
            Ok(())
        });
        binding.unknown = unknown;
        bound
    }

    fn write(&self, members: &mut Members<'_>) {
        members.string("alias", &self.alias);
        members.some_string("library-path", &self.library_path);
        members.some_string("kind", &self.kind);
        members.unknown(&self.unknown);
    }
}
