//! Protobuf structs and values as the bytes they travel in.

use prost::bytes::{Buf, BufMut, Bytes};
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message};
use std::fmt;

/// The field of a struct that holds its members, each an entry of a map.
pub(super) const STRUCT_FIELDS: u32 = 1;

/// The fields of a value, one for each kind.
pub(super) mod kind {
    pub(crate) const NULL: u32 = 1;
    pub(crate) const NUMBER: u32 = 2;
    pub(crate) const STRING: u32 = 3;
    pub(crate) const BOOL: u32 = 4;
    pub(crate) const STRUCT: u32 = 5;
    pub(crate) const LIST: u32 = 6;
}

/// A `google.protobuf.Struct`, not looked into yet.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Struct {
    pub(super) bytes: Vec<u8>,
}

/// A `google.protobuf.Value`, not looked into yet.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RawValue {
    pub(super) bytes: Vec<u8>,
}

impl Struct {
    /// Whether it has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Shows the size only, because any struct may hold secrets (S17).
impl fmt::Debug for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Struct({} bytes)", self.bytes.len())
    }
}

/// Shows the size only, because any value may be a secret (S17).
impl fmt::Debug for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawValue({} bytes)", self.bytes.len())
    }
}

impl Message for Struct {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        buffer.put_slice(&self.bytes);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag == STRUCT_FIELDS {
            keep_delimited(&mut self.bytes, tag, wire_type, buffer, context)
        } else {
            encoding::skip_field(wire_type, tag, buffer, context)
        }
    }

    fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl Message for RawValue {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        buffer.put_slice(&self.bytes);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            kind::STRING | kind::STRUCT | kind::LIST => {
                keep_delimited(&mut self.bytes, tag, wire_type, buffer, context)
            }
            kind::NULL | kind::BOOL => {
                let mut value = 0;
                encoding::uint64::merge(wire_type, &mut value, buffer, context)?;
                encoding::uint64::encode(tag, &value, &mut self.bytes);
                Ok(())
            }
            kind::NUMBER => {
                let mut value = 0;
                encoding::fixed64::merge(wire_type, &mut value, buffer, context)?;
                encoding::fixed64::encode(tag, &value, &mut self.bytes);
                Ok(())
            }
            _ => encoding::skip_field(wire_type, tag, buffer, context),
        }
    }

    fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    fn clear(&mut self) {
        self.bytes.clear();
    }
}

fn keep_delimited(
    kept: &mut Vec<u8>,
    tag: u32,
    wire_type: WireType,
    buffer: &mut impl Buf,
    context: DecodeContext,
) -> Result<(), DecodeError> {
    let mut content = Bytes::new();
    encoding::bytes::merge(wire_type, &mut content, buffer, context)?;
    encoding::bytes::encode(tag, &content, kept);
    Ok(())
}
