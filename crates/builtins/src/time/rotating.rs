//! A moment that is replaced by the present when its time is over.

use super::moment::{self, Amount};
use crate::differences::Differences;
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{DiffKind, PropertyMap, ProviderError};
use drystone_model::Value;
use jiff::Timestamp;

/// `Rotating`.
pub(crate) struct Rotating;

const KEYS: [&str; 5] =
    ["rotationYears", "rotationMonths", "rotationDays", "rotationHours", "rotationMinutes"];
const END: &str = "rotationRfc3339";

/// When a moment's time is over, and how that is written.
fn end(base: Timestamp, inputs: &Fields) -> Answer<(Timestamp, String)> {
    if let Some((end, text)) = inputs.text(END).and_then(|text| Some((moment::read(text)?, text))) {
        return Ok((end, text.to_owned()));
    }
    let [years, months, days, hours, minutes] = KEYS.map(|key| inputs.whole(key).unwrap_or_default());
    let end = Amount { years, months, days, hours, minutes, seconds: 0 }.after(base);
    let end = end.ok_or_else(|| ProviderError::new("the rotation leads out of the years that there are"))?;
    Ok((end, moment::written(end)))
}

fn outputs(base: Timestamp, text: &str, inputs: &Fields) -> Answer<PropertyMap> {
    let mut outputs = moment::parts(base);
    outputs.insert("rfc3339".to_owned(), Value::from(text));
    outputs.insert(END.to_owned(), Value::String(end(base, inputs)?.1));
    Ok(outputs)
}

#[async_trait]
impl Kind for Rotating {
    fn named_by(&self) -> &'static [&'static str] {
        &["rfc3339"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        moment::check(inputs, "rfc3339", failures);
        moment::check(inputs, END, failures);
        if !KEYS.iter().chain([&END]).any(|key| inputs.is_given(key)) {
            failures.add("", format!("one of `{}`, `{END}` must be given", KEYS.join("`, `")));
        }
        for key in KEYS {
            if inputs.whole(key).is_some_and(|units| units < 1) {
                failures.add(key, format!("`{key}` must be at least 1"));
            }
        }
        if !inputs.is_given(END) && end(Timestamp::UNIX_EPOCH, inputs).is_err() {
            failures.add("", "the rotation leads out of the years that there are");
        }
    }

    /// Its time is over: the present takes its place. One whose beginning is given would begin at the same moment
    /// again, and one that began after a given end has been rotated already.
    async fn diff(&self, world: &World, change: &Change<'_>, differences: &mut Differences) -> Answer<()> {
        let Some(base) = change.old_outputs.text("rfc3339").and_then(moment::read) else { return Ok(()) };
        let unknown = KEYS.iter().chain([&END, &"rfc3339"]).any(|key| change.new_inputs.is_unknown(key));
        if unknown || change.new_inputs.is_given("rfc3339") {
            return Ok(());
        }
        let (end, _) = end(base, change.new_inputs)?;
        if world.now() >= end && base < end {
            differences.note(END, DiffKind::UpdateReplace);
        }
        Ok(())
    }

    fn kept_by_update(&self, _: &Change<'_>) -> &'static [&'static str] {
        &["rfc3339", "day", "hour", "minute", "month", "second", "unix", "year"]
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let (base, text) = moment::given_or(inputs, "rfc3339", world.now());
        let outputs = outputs(base, &text, inputs)?;
        Ok(Made { id: text, outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let (text, rest) = subject.id.split_once(',').unwrap_or((&subject.id, ""));
        let base = moment::read_imported(text)?;
        let mut inputs = match rest.contains(',') {
            true => moment::unit_inputs(&KEYS, &moment::imported_units::<5>(rest)?),
            false => {
                moment::read_imported(rest)?;
                PropertyMap::from([(END.to_owned(), Value::from(rest))])
            }
        };
        let outputs = outputs(base, text, &Fields::new(&inputs))?;
        inputs.insert("rfc3339".to_owned(), Value::from(text));
        Ok(Some(Seen { id: text.to_owned(), inputs, outputs }))
    }

    async fn update(&self, _: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let base = moment::read_imported(&subject.id)?;
        let outputs = outputs(base, &subject.id, change.new_inputs)?;
        Ok(Made { id: subject.id.clone(), outputs })
    }
}
