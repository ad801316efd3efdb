//! Reads protobuf values from their bytes.

use super::raw::{STRUCT_FIELDS, kind};

/// Bytes that are not a protobuf struct or value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The message ends in the middle of a field.
    #[error("the message is cut short")]
    Truncated,
    /// A number of more than 64 bits, or a field of a kind that does not exist.
    #[error("the message has an invalid field")]
    InvalidField,
    /// A text that is not UTF-8.
    #[error("a text is not valid UTF-8")]
    InvalidText,
    /// More levels than a value may have.
    #[error("the value is nested more than {LEVELS} levels deep")]
    TooDeep,
}

/// How deep a value may be nested. Every level costs stack, and the input may be hostile.
pub(super) const LEVELS: usize = 256;

/// One value, its parts not read yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node<'a> {
    Null,
    Bool(bool),
    Number(f64),
    String(&'a str),
    Struct(Members<'a>),
    List(Elements<'a>),
}

/// The members of a struct, in the order of the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Members<'a>(&'a [u8]);

/// The elements of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Members<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<(&'a str, Node<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        next_delimited(&mut self.0, STRUCT_FIELDS).map(|entry| entry.and_then(read_entry))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Node<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        next_delimited(&mut self.0, 1).map(|element| element.and_then(read_value))
    }
}

/// The content of the next field of that number, leaving out all others.
fn next_delimited<'a>(rest: &mut &'a [u8], wanted: u32) -> Option<Result<&'a [u8], Malformed>> {
    while !rest.is_empty() {
        match read_field(rest) {
            Ok((field, Content::Delimited(content))) if field == wanted => return Some(Ok(content)),
            Ok(_) => {}
            Err(error) => {
                *rest = &[];
                return Some(Err(error));
            }
        }
    }
    None
}

fn read_entry(mut bytes: &[u8]) -> Result<(&str, Node<'_>), Malformed> {
    let mut key = "";
    let mut value = Node::Null;
    while !bytes.is_empty() {
        match read_field(&mut bytes)? {
            (1, Content::Delimited(content)) => key = text(content)?,
            (2, Content::Delimited(content)) => value = read_value(content)?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// A value; one with no kind at all is nothing. The last kind counts, as in any oneof.
pub(super) fn read_value(mut bytes: &[u8]) -> Result<Node<'_>, Malformed> {
    let mut value = Node::Null;
    while !bytes.is_empty() {
        value = match read_field(&mut bytes)? {
            (kind::NULL, Content::Varint(_)) => Node::Null,
            (kind::BOOL, Content::Varint(number)) => Node::Bool(number != 0),
            (kind::NUMBER, Content::Fixed64(bits)) => Node::Number(f64::from_bits(bits)),
            (kind::STRING, Content::Delimited(content)) => Node::String(text(content)?),
            (kind::STRUCT, Content::Delimited(content)) => Node::Struct(Members(content)),
            (kind::LIST, Content::Delimited(content)) => Node::List(Elements(content)),
            _ => value,
        };
    }
    Ok(value)
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::InvalidText)
}

enum Content<'a> {
    Varint(u64),
    Fixed64(u64),
    Delimited(&'a [u8]),
    Fixed32,
}

fn read_field<'a>(rest: &mut &'a [u8]) -> Result<(u32, Content<'a>), Malformed> {
    let key = varint(rest)?;
    let field = u32::try_from(key >> 3).map_err(|_| Malformed::InvalidField)?;
    let content = match key & 7 {
        0 => Content::Varint(varint(rest)?),
        1 => Content::Fixed64(u64::from_le_bytes(fixed(rest)?)),
        2 => {
            let length = usize::try_from(varint(rest)?).map_err(|_| Malformed::Truncated)?;
            let (content, after) = rest.split_at_checked(length).ok_or(Malformed::Truncated)?;
            *rest = after;
            Content::Delimited(content)
        }
        5 => {
            fixed::<4>(rest)?;
            Content::Fixed32
        }
        _ => return Err(Malformed::InvalidField),
    };
    Ok((field, content))
}

fn fixed<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (bytes, after) = rest.split_first_chunk::<N>().ok_or(Malformed::Truncated)?;
    *rest = after;
    Ok(*bytes)
}

fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(Malformed::Truncated)?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Malformed::InvalidField)
}
