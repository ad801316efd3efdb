//! A moment that stays.

use super::moment;
use crate::fields::Fields;
use crate::kind::{Answer, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::PropertyMap;
use drystone_model::Value;

/// `Static`.
pub(crate) struct Static;

#[async_trait]
impl Kind for Static {
    fn named_by(&self) -> &'static [&'static str] {
        &["rfc3339"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        moment::check(inputs, "rfc3339", failures);
    }

    async fn create(&self, world: &World, _: &Subject, inputs: &Fields) -> Answer<Made> {
        let (moment, text) = moment::given_or(inputs, "rfc3339", world.now());
        let mut outputs = moment::parts(moment);
        outputs.insert("rfc3339".to_owned(), Value::from(text.as_str()));
        Ok(Made { id: text, outputs })
    }

    async fn read(&self, _: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let moment = moment::read_imported(&subject.id)?;
        let text = Value::from(subject.id.trim());
        let mut outputs = moment::parts(moment);
        outputs.insert("rfc3339".to_owned(), text.clone());
        let inputs = PropertyMap::from([("rfc3339".to_owned(), text)]);
        Ok(Some(Seen { id: subject.id.trim().to_owned(), inputs, outputs }))
    }
}
