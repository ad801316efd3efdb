//! The file around a sealed snapshot or plan.

use super::error::Error;
use super::json::Value;
use super::json::bind::{Binder, Shape};
use super::json::syntax::{self, Node};
use super::json::write::{Members, Writer};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::collections::BTreeMap;

/// The version of envelopes that unobin reads and writes.
pub const ENVELOPE_VERSION: i64 = 1;

const ENVELOPE: Shape = Shape {
    go_type: "state.Envelope",
    told_as: "Envelope",
    fields: &["envelope-version", "payload-type", "stack", "revision", "encrypter", "ciphertext"],
};

const REF: Shape = Shape { go_type: "state.Ref", told_as: "Ref", fields: &["alias", "name", "body"] };

/// The file around a sealed snapshot or plan. It is readable by all and vouches for nothing: a reader that knows its
/// encrypter does not ask the envelope for another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The version of its form. Which versions can be opened is for the opener to say.
    pub version: i64,
    /// What is in it, `state` or `plan`; empty where nobody said.
    pub payload_type: String,
    /// The stack that it was sealed for; empty in version 1, which is sealed for none.
    pub stack: String,
    /// The revision that it was sealed as; empty in version 1.
    pub revision: String,
    /// What sealed it, where that is not known otherwise.
    pub encrypter: Option<Ref>,
    /// What was sealed.
    pub ciphertext: Vec<u8>,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

/// A backend or an encrypter by its name, with the configuration that a user gave it. Holds no key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ref {
    /// The library that it comes of; empty for what is built in.
    pub alias: String,
    /// Its name, such as `env-key`.
    pub name: String,
    /// Its configuration, such as the name of a variable.
    pub body: BTreeMap<String, Value>,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

impl Envelope {
    /// Reads an envelope of any version.
    pub fn decode(text: &[u8]) -> Result<Self, Error> {
        let mut envelope = Self::default();
        envelope.bind(text).map_err(Error::envelope)?;
        Ok(envelope)
    }

    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        Writer::document(|members| {
            members.integer("envelope-version", self.version);
            members.some_string("payload-type", &self.payload_type);
            members.some_string("stack", &self.stack);
            members.some_string("revision", &self.revision);
            if let Some(encrypter) = &self.encrypter {
                members.member("encrypter", |writer| writer.object(|members| encrypter.write(members)));
            }
            members.string("ciphertext", &STANDARD.encode(&self.ciphertext));
            members.unknown(&self.unknown);
        })
    }

    fn bind(&mut self, text: &[u8]) -> Result<(), String> {
        let node = syntax::parse(text)?;
        let mut binder = Binder::default();
        let mut unknown = Vec::new();
        binder.fields(&node, &ENVELOPE, &mut unknown, |binder, field, node| {
            match field {
                "envelope-version" => binder.integer(node, &mut self.version),
                "payload-type" => binder.string_as("state.PayloadType", node, &mut self.payload_type),
                "stack" => binder.string(node, &mut self.stack),
                "revision" => binder.string(node, &mut self.revision),
                "encrypter" => return Ref::bind(binder, node, &mut self.encrypter),
                _ => binder.bytes(node, &mut self.ciphertext),
            }
            Ok(())
        })?;
        self.unknown = unknown;
        binder.finish()
    }
}

impl Ref {
    /// Something built in, with its configuration.
    #[must_use]
    pub fn built_in(name: &str, body: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let body = body.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect();
        Self { name: name.to_owned(), body, ..Self::default() }
    }

    /// Reads a reference on its own; `null` is none.
    pub fn decode(text: &[u8]) -> Result<Option<Self>, Error> {
        let mut reference = None;
        let mut binder = Binder::default();
        syntax::parse(text)
            .and_then(|node| Self::bind(&mut binder, &node, &mut reference))
            .and_then(|()| binder.finish())
            .map_err(|reason| Error::Malformed { document: "ref", reason })?;
        Ok(reference)
    }

    fn bind(binder: &mut Binder, node: &Node<'_>, target: &mut Option<Self>) -> Result<(), String> {
        if matches!(node, Node::Null) {
            *target = None;
            return Ok(());
        }
        let reference = target.get_or_insert_default();
        let mut unknown = std::mem::take(&mut reference.unknown);
        let bound = binder.fields(node, &REF, &mut unknown, |binder, field, node| {
            match field {
                "alias" => binder.string(node, &mut reference.alias),
                "name" => binder.string(node, &mut reference.name),
                _ => binder.map(node, &mut reference.body),
            }
            Ok(())
        });
        reference.unknown = unknown;
        bound
    }

    fn write(&self, members: &mut Members<'_>) {
        members.some_string("alias", &self.alias);
        members.string("name", &self.name);
        members.some_map("body", &self.body);
        members.unknown(&self.unknown);
    }
}
