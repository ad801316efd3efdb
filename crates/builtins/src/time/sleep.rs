//! Pauses.

use super::moment;
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use jiff::SignedDuration;
use std::time::Duration;

/// `Sleep`.
pub(crate) struct Sleep;

const KEYS: [&str; 2] = ["createDuration", "destroyDuration"];

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(366 * 86400);

/// A duration such as `1h30m`.
fn duration(text: &str) -> Option<Duration> {
    let duration: SignedDuration = text.parse().ok()?;
    Duration::try_from(duration).ok().filter(|duration| *duration <= LONGEST)
}

async fn pause(world: &World, subject: &Subject, text: Option<&str>) -> Answer<()> {
    let Some(duration) = text.and_then(duration) else { return Ok(()) };
    let within = subject.limit.map_or(duration, |limit| limit.min(duration));
    tokio::select! {
        () = tokio::time::sleep(within) => {}
        () = world.cancelled() => return Err(ProviderError::new("the pause was cancelled")),
    }
    match subject.limit {
        Some(limit) if limit < duration => Err(ProviderError::new("the pause is longer than its time limit")),
        _ => Ok(()),
    }
}

#[async_trait]
impl Kind for Sleep {
    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        if !KEYS.iter().any(|key| inputs.is_given(key)) {
            failures.add("", format!("one of `{}` must be given", KEYS.join("`, `")));
        }
        for key in KEYS {
            if inputs.text(key).is_some_and(|text| duration(text).is_none()) {
                failures.add(
                    key,
                    format!("`{key}` must be a duration of at most a year, as in `1h30m` or `500ms`"),
                );
            }
        }
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        pause(world, subject, inputs.text("createDuration")).await?;
        Ok(Made { id: moment::written(world.now()), ..Made::default() })
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        if !known.is_import() {
            return Ok(Some(known.unchanged(&subject.id)));
        }
        let (create, destroy) = subject.id.split_once(',').unwrap_or((&subject.id, ""));
        let mut inputs = PropertyMap::new();
        for (key, text) in KEYS.into_iter().zip([create, destroy]).filter(|(_, text)| !text.is_empty()) {
            if duration(text).is_none() {
                return Err(ProviderError::new(format!("`{text}` is not a duration, as in `1h30m`")));
            }
            inputs.insert(key.to_owned(), Value::from(text));
        }
        Ok(Some(Seen { id: moment::written(world.now()), inputs, outputs: PropertyMap::new() }))
    }

    /// Durations count when it is made and deleted: a change of them takes no time.
    async fn update(&self, _: &World, subject: &Subject, _: &Change<'_>) -> Answer<Made> {
        Ok(Made { id: subject.id.clone(), ..Made::default() })
    }

    async fn delete(&self, world: &World, subject: &Subject, inputs: &Fields, _: &Fields) -> Answer<()> {
        pause(world, subject, inputs.text("destroyDuration")).await
    }
}
