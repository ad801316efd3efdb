//! The form in which properties are stored: members in the order of their names, texts without needless escapes. What
//! people edited by hand is brought into it, so that every tool prints it alike. Numbers keep their digits (S10).

use drystone_model::{Json, Properties, Snapshot};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Brings the properties of all resources into the stored form.
pub(crate) fn canonicalize(snapshot: &mut Snapshot) {
    for resource in &mut snapshot.resources {
        for properties in [&mut resource.inputs, &mut resource.outputs] {
            let text = canonical(properties.text());
            if text != properties.text()
                && let Ok(json) = Json::parse(text)
            {
                *properties = Properties::new(json);
            }
        }
    }
}

fn canonical(text: &str) -> Cow<'_, str> {
    match text.as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
            Ok(members) => {
                let member = |(name, value): (&String, &&RawValue)| {
                    format!("{}:{}", quoted(name), canonical(value.get()))
                };
                Cow::Owned(format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(",")))
            }
            Err(_) => Cow::Borrowed(text),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => {
                let items: Vec<_> = items.iter().map(|item| canonical(item.get())).collect();
                Cow::Owned(format!("[{}]", items.join(",")))
            }
            Err(_) => Cow::Borrowed(text),
        },
        Some(b'"') if text.contains('\\') => match serde_json::from_str::<String>(text) {
            Ok(string) => Cow::Owned(quoted(&string)),
            Err(_) => Cow::Borrowed(text),
        },
        _ => Cow::Borrowed(text),
    }
}

/// A text in quotes, as Go writes it: two line separators are escaped although JSON does not ask for it.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    if quoted.contains(['\u{2028}', '\u{2029}']) {
        return quoted.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn s10_members_are_sorted_and_numbers_keep_their_digits() {
        let text = r#"{"b":[{"z":1,"y":123456789012345678901}],"a":1.10,"c":"\u003c\u2028\/\u00e9"}"#;
        assert_eq!(canonical(text), r#"{"a":1.10,"b":[{"y":123456789012345678901,"z":1}],"c":"<\u2028/é"}"#);
    }
}
