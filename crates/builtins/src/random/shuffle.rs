//! A list in random order.

use super::{MOST, check_count, draw};
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;

/// `RandomShuffle`.
pub(crate) struct Shuffle;

const ID: &str = "-";

#[async_trait]
impl Kind for Shuffle {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check_count(inputs, "resultCount", 0, MOST, failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let list = inputs.list("inputs");
        let wanted = inputs.whole("resultCount").and_then(|count| usize::try_from(count).ok());
        let wanted = if list.is_empty() { 0 } else { wanted.unwrap_or(list.len()) };
        let mut randomness = inputs.text("seed").map_or_else(|| world.randomness(), draw::seeded);
        let mut results: Vec<Value> = Vec::with_capacity(wanted);
        while results.len() < wanted {
            let mut round = list.to_vec();
            draw::shuffle(&mut randomness, &mut round);
            round.truncate(wanted - results.len());
            results.append(&mut round);
        }
        let mut outputs = PropertyMap::from([("results".to_owned(), Value::Array(results))]);
        inputs.hide_with(&["inputs"], &mut outputs);
        Ok(Made { id: ID.to_owned(), outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let results: Vec<String> = serde_json::from_str(&subject.id).map_err(|_| {
            ProviderError::new("the import id is not a JSON list of strings, as in `[\"a\",\"b\"]`")
        })?;
        let results = Value::array(results);
        Ok(Some(Seen {
            id: ID.to_owned(),
            inputs: PropertyMap::from([("inputs".to_owned(), results.clone())]),
            outputs: PropertyMap::from([("results".to_owned(), results)]),
        }))
    }
}
