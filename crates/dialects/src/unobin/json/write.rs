//! Laying a document out as `json.MarshalIndent` does with two spaces.

use super::Value;
use crate::pulumi::text::{Escapes, write_string};
use std::collections::BTreeMap;

/// A document that is being written.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    out: Vec<u8>,
    depth: usize,
}

impl Writer {
    /// A whole document: an object and a line break.
    pub(crate) fn document(write: impl FnOnce(&mut Members<'_>)) -> Vec<u8> {
        let mut writer = Self::default();
        writer.object(write);
        writer.out.push(b'\n');
        writer.out
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn string(&mut self, text: &str) {
        // Writing to memory cannot fail.
        let _ = write_string(&mut self.out, text, Escapes::Html);
    }

    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Members<'_>)) {
        self.out.push(b'{');
        self.depth += 1;
        let mut members = Members { writer: self, any: false };
        write(&mut members);
        let any = members.any;
        self.close(any, b'}');
    }

    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.out.push(b'[');
        self.depth += 1;
        let mut any = false;
        for item in items {
            self.next(any);
            any = true;
            write(self, item);
        }
        self.close(any, b']');
    }

    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(true) => self.raw("true"),
            Value::Bool(false) => self.raw("false"),
            Value::Number(number) => self.raw(number.as_str()),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.array(items, Self::value),
            Value::Object(members) => self.map(members),
        }
    }

    fn map(&mut self, map: &BTreeMap<String, Value>) {
        self.object(|members| {
            for (name, value) in map {
                members.member(name, |writer| writer.value(value));
            }
        });
    }

    fn next(&mut self, any: bool) {
        if any {
            self.out.push(b',');
        }
        self.line();
    }

    fn close(&mut self, any: bool, bracket: u8) {
        self.depth -= 1;
        if any {
            self.line();
        }
        self.out.push(bracket);
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        self.out.extend(std::iter::repeat_n(b' ', 2 * self.depth));
    }
}

/// The members of an object that is being written.
#[derive(Debug)]
pub(crate) struct Members<'w> {
    writer: &'w mut Writer,
    any: bool,
}

impl Members<'_> {
    pub(crate) fn member(&mut self, name: &str, write: impl FnOnce(&mut Writer)) {
        self.writer.next(self.any);
        self.any = true;
        self.writer.string(name);
        self.writer.raw(": ");
        write(self.writer);
    }

    pub(crate) fn string(&mut self, name: &str, text: &str) {
        self.member(name, |writer| writer.string(text));
    }

    pub(crate) fn integer(&mut self, name: &str, number: i64) {
        self.member(name, |writer| writer.raw(&number.to_string()));
    }

    /// A text, unless it is empty.
    pub(crate) fn some_string(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.string(name, text);
        }
    }

    /// Texts, unless there are none.
    pub(crate) fn some_strings(&mut self, name: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.member(name, |writer| writer.array(texts, |writer, text| writer.string(text)));
        }
    }

    /// Members, unless there are none.
    pub(crate) fn some_map(&mut self, name: &str, map: &BTreeMap<String, Value>) {
        if !map.is_empty() {
            self.member(name, |writer| writer.map(map));
        }
    }

    /// What somebody newer wrote, after what we know (S9).
    pub(crate) fn unknown(&mut self, unknown: &[(String, Value)]) {
        for (name, value) in unknown {
            self.member(name, |writer| writer.value(value));
        }
    }
}
