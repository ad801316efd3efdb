//! Plain JSON in structs, for options and schemas that are no property values.

use super::raw::{RawValue, Struct};
use super::reader::{LEVELS, Malformed, Members, Node, read_value};
use super::writer::Writer;
use serde_json::{Map, Value};
use std::convert::Infallible;

impl Struct {
    /// The struct of a JSON object.
    #[must_use]
    pub fn from_json(members: &Map<String, Value>) -> Self {
        let mut writer = Writer::default();
        let Ok(()) = write_members(&mut writer, members);
        writer.into_struct()
    }

    /// The JSON object of the struct, signatures and sentinels as they are.
    pub fn to_json(&self) -> Result<Map<String, Value>, Malformed> {
        read_members(Members::new(&self.bytes), 0)
    }
}

impl RawValue {
    /// The value of a JSON value.
    #[must_use]
    pub fn from_json(value: &Value) -> Self {
        let mut writer = Writer::default();
        let Ok(()) = write(&mut writer, value);
        writer.into_value()
    }

    /// The JSON of the value, signatures and sentinels as they are.
    pub fn to_json(&self) -> Result<Value, Malformed> {
        read(read_value(&self.bytes)?, 0)
    }
}

fn write_members(writer: &mut Writer, members: &Map<String, Value>) -> Result<(), Infallible> {
    members.iter().rev().try_for_each(|(key, value)| writer.member(key, |inner| write(inner, value)))
}

fn write(writer: &mut Writer, value: &Value) -> Result<(), Infallible> {
    match value {
        Value::Null => writer.null(),
        Value::Bool(value) => writer.bool(*value),
        Value::Number(number) => writer.number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => writer.string(text),
        Value::Array(elements) => {
            return writer.list(|list| {
                elements.iter().rev().try_for_each(|element| list.element(|inner| write(inner, element)))
            });
        }
        Value::Object(members) => return writer.object(|object| write_members(object, members)),
    }
    Ok(())
}

fn read_members(members: Members<'_>, level: usize) -> Result<Map<String, Value>, Malformed> {
    members
        .map(|member| {
            let (key, value) = member?;
            Ok((key.to_owned(), read(value, level + 1)?))
        })
        .collect()
}

fn read(node: Node<'_>, level: usize) -> Result<Value, Malformed> {
    if level > LEVELS {
        return Err(Malformed::TooDeep);
    }
    Ok(match node {
        Node::Null => Value::Null,
        Node::Bool(value) => Value::Bool(value),
        Node::Number(number) => json_number(number),
        Node::String(text) => Value::String(text.to_owned()),
        Node::List(elements) => Value::Array(
            elements
                .map(|element| element.and_then(|node| read(node, level + 1)))
                .collect::<Result<_, _>>()?,
        ),
        Node::Struct(members) => Value::Object(read_members(members, level)?),
    })
}

/// Whole numbers without a fraction, as everybody writes them; what JSON cannot say as its name.
fn json_number(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range of a double")]
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Value::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}
