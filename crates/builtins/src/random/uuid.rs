//! A random UUID.

use super::draw;
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;

/// `RandomUuid`.
pub(crate) struct Uuid;

#[async_trait]
impl Kind for Uuid {
    async fn create(&self, world: &World, _: &Subject, _: &Fields) -> Answer<Made> {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&draw::bytes(&mut world.randomness(), 16));
        let text = uuid::Builder::from_random_bytes(bytes).into_uuid().to_string();
        let outputs = PropertyMap::from([("result".to_owned(), Value::from(text.as_str()))]);
        Ok(Made { id: text, outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let text = uuid::Uuid::try_parse(&subject.id)
            .map_err(|_| ProviderError::new(format!("`{}` is not a UUID", subject.id)))?
            .to_string();
        let outputs = PropertyMap::from([("result".to_owned(), Value::from(text.as_str()))]);
        Ok(Some(Seen { id: text, inputs: PropertyMap::new(), outputs }))
    }
}
