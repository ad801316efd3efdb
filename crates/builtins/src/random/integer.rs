//! A random whole number.

use super::draw;
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use rand::Rng;

/// `RandomInteger`.
pub(crate) struct Integer;

fn outputs(result: i64) -> PropertyMap {
    PropertyMap::from([("result".to_owned(), Value::from(result))])
}

#[async_trait]
impl Kind for Integer {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        if inputs.whole("min").zip(inputs.whole("max")).is_some_and(|(min, max)| min > max) {
            failures.add("max", "`max` is less than `min`");
        }
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let (min, max) = inputs
            .whole("min")
            .zip(inputs.whole("max"))
            .ok_or_else(|| ProviderError::new("`min` and `max` are not known"))?;
        let mut randomness = inputs.text("seed").map_or_else(|| world.randomness(), draw::seeded);
        // The range has at most 2^64 numbers, all of them only when it is that of i64 itself.
        let drawn = match max.abs_diff(min).checked_add(1) {
            Some(numbers) => draw::below(&mut randomness, numbers),
            None => randomness.next_u64(),
        };
        let result = min.wrapping_add_unsigned(drawn);
        Ok(Made { id: result.to_string(), outputs: outputs(result) })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let mut parts = subject.id.splitn(4, ',');
        let mut number = || parts.next().and_then(|part| part.trim().parse::<i64>().ok());
        let (Some(result), Some(min), Some(max)) = (number(), number(), number()) else {
            return Err(ProviderError::new(format!(
                "`{}` is not a number and its range, as in `15390,1,50000`",
                subject.id
            )));
        };
        if !(min..=max).contains(&result) {
            return Err(ProviderError::new(format!("{result} is not within {min} to {max}")));
        }
        let mut inputs =
            PropertyMap::from([("min".to_owned(), Value::from(min)), ("max".to_owned(), Value::from(max))]);
        if let Some(seed) = parts.next() {
            inputs.insert("seed".to_owned(), Value::from(seed));
        }
        Ok(Some(Seen { id: result.to_string(), inputs, outputs: outputs(result) }))
    }
}
