//! Messages in the JSON form of protobuf.

use crate::wire::{RawValue, Struct};
use base64::{Engine, prelude::BASE64_STANDARD};
use prost::Message;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, Value as Field,
};
use serde_json::{Value, json};

/// The JSON of an encoded message; null for bytes that are none.
pub(super) fn of(descriptor: &MessageDescriptor, bytes: &[u8]) -> Value {
    DynamicMessage::decode(descriptor.clone(), bytes).map_or(Value::Null, |decoded| message(&decoded))
}

fn message(decoded: &DynamicMessage) -> Value {
    match decoded.descriptor().full_name() {
        "google.protobuf.Struct" => Struct::decode(&*decoded.encode_to_vec())
            .ok()
            .and_then(|properties| properties.to_json().ok())
            .map_or(Value::Null, Value::Object),
        "google.protobuf.Value" => RawValue::decode(&*decoded.encode_to_vec())
            .ok()
            .and_then(|value| value.to_json().ok())
            .unwrap_or(Value::Null),
        _ => decoded
            .fields()
            .map(|(descriptor, field)| (descriptor.json_name().to_owned(), value(&descriptor, field)))
            .collect(),
    }
}

fn value(descriptor: &FieldDescriptor, field: &Field) -> Value {
    match field {
        Field::List(elements) => elements.iter().map(|element| single(&descriptor.kind(), element)).collect(),
        Field::Map(entries) => {
            let kind = match descriptor.kind() {
                Kind::Message(entry) => entry.map_entry_value_field().kind(),
                other => other,
            };
            entries.iter().map(|(name, entry)| (key(name), single(&kind, entry))).collect()
        }
        field => single(&descriptor.kind(), field),
    }
}

/// A value that is neither a list nor a map. Large integers are texts, because JSON's numbers may not hold them.
fn single(kind: &Kind, field: &Field) -> Value {
    match field {
        Field::Bool(value) => json!(value),
        Field::I32(value) => json!(value),
        Field::U32(value) => json!(value),
        Field::I64(value) => json!(value.to_string()),
        Field::U64(value) => json!(value.to_string()),
        Field::F32(value) => json!(value),
        Field::F64(value) => json!(value),
        Field::String(value) => json!(value),
        Field::Bytes(value) => json!(BASE64_STANDARD.encode(value)),
        Field::EnumNumber(number) => match kind {
            Kind::Enum(descriptor) => {
                descriptor.get_value(*number).map_or_else(|| json!(number), |value| json!(value.name()))
            }
            _ => json!(number),
        },
        Field::Message(inner) => message(inner),
        Field::List(_) | Field::Map(_) => Value::Null,
    }
}

fn key(key: &MapKey) -> String {
    match key {
        MapKey::Bool(value) => value.to_string(),
        MapKey::I32(value) => value.to_string(),
        MapKey::I64(value) => value.to_string(),
        MapKey::U32(value) => value.to_string(),
        MapKey::U64(value) => value.to_string(),
        MapKey::String(value) => value.clone(),
    }
}
