//! What was secret stays so (S17).

use crate::PropertyMap;
use drystone_model::Value;

/// Hides in what a provider found what was secret in what is known of it, in the same places.
pub(crate) fn keep_secret(found: &mut PropertyMap, known: &PropertyMap) {
    for (key, value) in found {
        if let Some(known) = known.get(key) {
            hide_as(value, known);
        }
    }
}

/// Hides a value.
pub(crate) fn hide(value: &mut Value) {
    if !value.is_secret() {
        *value = Value::secret(std::mem::take(value));
    }
}

fn hide_as(value: &mut Value, known: &Value) {
    match (value, known) {
        (value, Value::Secret(_)) => hide(value),
        (Value::Object(members), Value::Object(known)) => keep_secret(members, known),
        (Value::Array(elements), Value::Array(known)) if elements.len() == known.len() => {
            elements.iter_mut().zip(known).for_each(|(element, known)| hide_as(element, known));
        }
        // Where the secret was cannot be told any more.
        (value, known) if known.contains_secrets() && !value.contains_secrets() => hide(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[test]
    fn s17_a_value_is_hidden_where_it_was() {
        let secret = |text: &str| Value::secret(Value::from(text));
        let list = |values: Vec<Value>| Value::Array(values);
        for (found, known, hidden) in [
            (Value::from("a"), Value::from("b"), Value::from("a")),
            (Value::from("a"), secret("b"), secret("a")),
            (secret("a"), Value::from("b"), secret("a")),
            (
                object([("x", Value::from("a")), ("y", Value::from("b"))]),
                object([("x", secret("c"))]),
                object([("x", secret("a")), ("y", Value::from("b"))]),
            ),
            (
                list(vec![Value::from("a"), Value::from("b")]),
                list(vec![Value::from("a"), secret("c")]),
                list(vec![Value::from("a"), secret("b")]),
            ),
            (list(vec![Value::from("a")]), list(vec![secret("a"), secret("b")]), {
                Value::secret(list(vec![Value::from("a")]))
            }),
            (Value::from("a"), object([("x", secret("c"))]), secret("a")),
        ] {
            let mut value = found;
            hide_as(&mut value, &known);
            assert_eq!(value, hidden);
        }
    }
}
