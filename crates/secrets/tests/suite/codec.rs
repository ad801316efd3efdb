//! A codec for the kinds of values that these tests use, with a spelling of its own.

use drystone_model::{Number, Secret, Value};
use drystone_secrets::{CodecError, ValueText};
use serde_json::{Value as Tree, json};

pub(crate) const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
pub(crate) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

/// Writes values as compact JSON. A secret inside a secret is marked, and must be open.
pub(crate) struct Codec;

impl ValueText for Codec {
    fn write(&self, value: &Value) -> Result<String, CodecError> {
        Ok(tree(value)?.to_string())
    }

    fn read(&self, text: &str) -> Result<Value, CodecError> {
        value(&serde_json::from_str(text)?)
    }
}

fn tree(value: &Value) -> Result<Tree, CodecError> {
    Ok(match value {
        Value::Null => Tree::Null,
        Value::Bool(it) => json!(it),
        Value::Number(Number::Integer(it)) => json!(i64::try_from(*it)?),
        Value::String(it) => json!(it),
        Value::Array(items) => Tree::Array(items.iter().map(tree).collect::<Result<_, _>>()?),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| Ok((name.clone(), tree(value)?));
            Tree::Object(members.iter().map(member).collect::<Result<_, CodecError>>()?)
        }
        Value::Secret(Secret::Open(inside)) => json!({SIGNATURE: SECRET, "ciphertext": Codec.write(inside)?}),
        Value::Computed(_) => json!("04da6b54-80e4-46f7-96ec-b56ff0331ba9"),
        other => return Err(format!("cannot write {other:?}").into()),
    })
}

fn value(tree: &Tree) -> Result<Value, CodecError> {
    Ok(match tree {
        Tree::Null => Value::Null,
        Tree::Bool(it) => Value::Bool(*it),
        Tree::Number(it) => Value::Number(Number::Integer(it.as_i64().ok_or("not an integer")?.into())),
        Tree::String(it) => Value::String(it.clone()),
        Tree::Array(items) => Value::Array(items.iter().map(value).collect::<Result<_, _>>()?),
        Tree::Object(members) if members.get(SIGNATURE).is_some_and(|mark| mark == SECRET) => {
            let text = members["ciphertext"].as_str().ok_or("a secret without its text")?;
            Value::Secret(Secret::Open(Box::new(Codec.read(text)?)))
        }
        Tree::Object(members) => {
            let member = |(name, tree): (&String, &Tree)| Ok((name.clone(), value(tree)?));
            Value::Object(members.iter().map(member).collect::<Result<_, CodecError>>()?)
        }
    })
}
