//! Random bytes.

use super::{MOST, check_count, count, draw};
use crate::digests::hex;
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;

/// `RandomBytes`.
pub(crate) struct Bytes;

const ID: &str = "none";

fn outputs(bytes: &[u8]) -> PropertyMap {
    PropertyMap::from([
        ("base64".to_owned(), Value::String(STANDARD.encode(bytes))),
        ("hex".to_owned(), Value::String(hex(bytes))),
    ])
}

#[async_trait]
impl Kind for Bytes {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check_count(inputs, "length", 1, MOST, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let bytes = draw::bytes(&mut world.randomness(), count(inputs, "length"));
        Ok(Made { id: ID.to_owned(), outputs: outputs(&bytes) })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let bytes = STANDARD.decode(subject.id.trim());
        let bytes = bytes.ok().filter(|bytes| !bytes.is_empty());
        let bytes = bytes.ok_or_else(|| ProviderError::new("the import id is not base64"))?;
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let inputs = PropertyMap::from([("length".to_owned(), Value::from(length))]);
        Ok(Some(Seen { id: ID.to_owned(), inputs, outputs: outputs(&bytes) }))
    }
}
