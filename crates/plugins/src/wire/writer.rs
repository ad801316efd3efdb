//! Writes protobuf values from the back to the front.
//!
//! A length stands before what it measures; written backwards, it is known when its turn comes. So one pass and one
//! buffer are enough, at any depth.

use super::raw::{RawValue, STRUCT_FIELDS, Struct, kind};

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const DELIMITED: u32 = 2;

/// A buffer that grows towards the front. What is written later comes earlier in the message.
#[derive(Debug, Default)]
pub(super) struct Writer {
    buffer: Vec<u8>,
    /// Where the written part begins.
    start: usize,
}

impl Writer {
    /// What has been written, as a struct.
    pub(super) fn into_struct(self) -> Struct {
        Struct { bytes: self.into_bytes() }
    }

    /// What has been written, as a value.
    pub(super) fn into_value(self) -> RawValue {
        RawValue { bytes: self.into_bytes() }
    }

    fn into_bytes(mut self) -> Vec<u8> {
        self.buffer.drain(..self.start);
        self.buffer
    }

    fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.start < bytes.len() {
            let used = self.len();
            let size = (used + bytes.len()).next_power_of_two().max(256);
            let mut larger = vec![0; size];
            larger[size - used..].copy_from_slice(&self.buffer[self.start..]);
            self.start = size - used;
            self.buffer = larger;
        }
        self.start -= bytes.len();
        self.buffer[self.start..self.start + bytes.len()].copy_from_slice(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        let mut digits = [0; 10];
        let mut count = 0;
        loop {
            let more = value >= 0x80;
            let low = (value & 0x7f) as u8;
            digits[count] = low | if more { 0x80 } else { 0 };
            count += 1;
            value >>= 7;
            if !more {
                break;
            }
        }
        self.put(&digits[..count]);
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn text(&mut self, field: u32, text: &str) {
        self.put(text.as_bytes());
        self.varint(text.len() as u64);
        self.key(field, DELIMITED);
    }

    fn nested<E>(&mut self, field: u32, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let before = self.len();
        write(self)?;
        self.varint((self.len() - before) as u64);
        self.key(field, DELIMITED);
        Ok(())
    }

    /// The value nothing.
    pub(super) fn null(&mut self) {
        self.varint(0);
        self.key(kind::NULL, VARINT);
    }

    /// A truth value.
    pub(super) fn bool(&mut self, value: bool) {
        self.varint(u64::from(value));
        self.key(kind::BOOL, VARINT);
    }

    /// A number.
    pub(super) fn number(&mut self, value: f64) {
        self.put(&value.to_le_bytes());
        self.key(kind::NUMBER, FIXED64);
    }

    /// A text.
    pub(super) fn string(&mut self, text: &str) {
        self.text(kind::STRING, text);
    }

    /// A struct as a value; `write` calls [`Writer::member`] from the last member to the first.
    pub(super) fn object<E>(&mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.nested(kind::STRUCT, write)
    }

    /// A member of the struct that is being written.
    pub(super) fn member<E>(
        &mut self,
        key: &str,
        write: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.nested(STRUCT_FIELDS, |entry| {
            entry.nested(2, write)?;
            entry.text(1, key);
            Ok(())
        })
    }

    /// A list; `write` calls [`Writer::element`] from the last element to the first.
    pub(super) fn list<E>(&mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.nested(kind::LIST, write)
    }

    /// An element of the list that is being written.
    pub(super) fn element<E>(&mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.nested(1, write)
    }
}
