//! A moment some time after another one.

use super::moment::{self, Amount};
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use jiff::Timestamp;

/// `Offset`.
pub(crate) struct Offset;

const KEYS: [&str; 6] =
    ["offsetYears", "offsetMonths", "offsetDays", "offsetHours", "offsetMinutes", "offsetSeconds"];

fn amounts(inputs: &Fields) -> [i64; 6] {
    KEYS.map(|key| inputs.whole(key).unwrap_or_default())
}

/// The moment with each unit added in its turn, the greatest first: they may be of different signs.
fn offset(base: Timestamp, [years, months, days, hours, minutes, seconds]: [i64; 6]) -> Option<Timestamp> {
    let steps = [
        Amount { years, ..Amount::default() },
        Amount { months, ..Amount::default() },
        Amount { days, ..Amount::default() },
        Amount { hours, ..Amount::default() },
        Amount { minutes, ..Amount::default() },
        Amount { seconds, ..Amount::default() },
    ];
    steps.into_iter().try_fold(base, |moment, step| step.after(moment))
}

fn outputs(base: Timestamp, text: &str, amounts: [i64; 6]) -> Answer<PropertyMap> {
    let moment = offset(base, amounts)
        .ok_or_else(|| ProviderError::new("the offset leads out of the years that there are"))?;
    let mut outputs = moment::parts(moment);
    outputs.insert("baseRfc3339".to_owned(), Value::from(text));
    outputs.insert("rfc3339".to_owned(), Value::String(moment::written(moment)));
    Ok(outputs)
}

#[async_trait]
impl Kind for Offset {
    fn named_by(&self) -> &'static [&'static str] {
        &["baseRfc3339"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        moment::check(inputs, "baseRfc3339", failures);
        if !KEYS.iter().any(|key| inputs.is_given(key)) {
            failures.add("", format!("one of `{}` must be given", KEYS.join("`, `")));
        }
        for key in KEYS {
            let alone = KEYS.map(|other| inputs.whole(key).filter(|_| other == key).unwrap_or_default());
            if offset(Timestamp::UNIX_EPOCH, alone).is_none() {
                failures.add(key, format!("`{key}` leads out of the years that there are"));
            }
        }
    }

    fn kept_by_update(&self, _: &Change<'_>) -> &'static [&'static str] {
        &["baseRfc3339"]
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let (base, text) = moment::given_or(inputs, "baseRfc3339", world.now());
        let outputs = outputs(base, &text, amounts(inputs))?;
        Ok(Made { id: text, outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let (base, units) = subject.id.split_once(',').unwrap_or((&subject.id, ""));
        let units = moment::imported_units::<6>(units)?;
        let mut inputs = moment::unit_inputs(&KEYS, &units);
        inputs.insert("baseRfc3339".to_owned(), Value::from(base));
        let outputs = outputs(moment::read_imported(base)?, base, units)?;
        Ok(Some(Seen { id: base.to_owned(), inputs, outputs }))
    }

    async fn update(&self, _: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let base = moment::read_imported(&subject.id)?;
        let outputs = outputs(base, &subject.id, amounts(change.new_inputs))?;
        Ok(Made { id: subject.id.clone(), outputs })
    }
}
