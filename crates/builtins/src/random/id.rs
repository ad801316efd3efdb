//! Random bytes as an identifier.

use super::{MOST, check_count, count, draw};
use crate::digests::hex;
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;

/// `RandomId`.
pub(crate) struct Id;

fn outputs(prefix: &str, bytes: &[u8]) -> PropertyMap {
    let writings = [
        ("b64Std", STANDARD.encode(bytes)),
        ("b64Url", URL_SAFE_NO_PAD.encode(bytes)),
        ("dec", decimal(bytes)),
        ("hex", hex(bytes)),
    ];
    let written = |(key, text): (&str, String)| (key.to_owned(), Value::String(format!("{prefix}{text}")));
    writings.into_iter().map(written).collect()
}

/// Bytes as one decimal number, the first byte being the highest.
fn decimal(bytes: &[u8]) -> String {
    const GROUP: u64 = 1_000_000_000;
    // Groups of nine digits, the lowest first.
    let mut groups: Vec<u64> = Vec::new();
    for byte in bytes {
        let mut carry = u64::from(*byte);
        for group in &mut groups {
            let value = *group * 256 + carry;
            *group = value % GROUP;
            carry = value / GROUP;
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    let Some((highest, lower)) = groups.split_last() else { return "0".to_owned() };
    lower.iter().rev().fold(highest.to_string(), |text, group| format!("{text}{group:09}"))
}

#[async_trait]
impl Kind for Id {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check_count(inputs, "byteLength", 1, MOST, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let bytes = draw::bytes(&mut world.randomness(), count(inputs, "byteLength"));
        let mut outputs = outputs(inputs.text("prefix").unwrap_or_default(), &bytes);
        inputs.hide_with(&["prefix"], &mut outputs);
        Ok(Made { id: URL_SAFE_NO_PAD.encode(bytes), outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let (prefix, text) = match subject.id.rsplit_once(',') {
            Some((prefix, text)) => (Some(prefix), text),
            None => (None, subject.id.as_str()),
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| !bytes.is_empty());
        let bytes = bytes.ok_or_else(|| {
            ProviderError::new(format!(
                "`{text}` is not base64 with the URL-safe alphabet and without padding"
            ))
        })?;
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let mut inputs = PropertyMap::from([("byteLength".to_owned(), Value::from(length))]);
        if let Some(prefix) = prefix {
            inputs.insert("prefix".to_owned(), Value::from(prefix));
        }
        let outputs = outputs(prefix.unwrap_or_default(), &bytes);
        Ok(Some(Seen { id: text.to_owned(), inputs, outputs }))
    }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn bytes_are_one_decimal_number() {
        for (bytes, text) in [
            (&[0][..], "0"),
            (&[0, 0, 7], "7"),
            (&[1, 0], "256"),
            (&[255; 8], "18446744073709551615"),
            (&[255; 16], "340282366920938463463374607431768211455"),
        ] {
            assert_eq!(decimal(bytes), text);
        }
        let mut ten = 10_u128.pow(18).to_be_bytes();
        assert_eq!(decimal(&ten), "1000000000000000000");
        ten[15] = 1;
        assert_eq!(decimal(&ten), (u128::from_be_bytes(ten)).to_string());
    }
}
