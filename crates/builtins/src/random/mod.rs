//! Random values. They live in the state alone: made once, and again when a keeper changes.

mod bytes;
mod characters;
mod draw;
mod id;
mod integer;
mod pet;
mod shuffle;
mod uuid;
mod words;

pub(crate) use bytes::Bytes;
pub(crate) use characters::{Password, Text};
pub(crate) use id::Id;
pub(crate) use integer::Integer;
pub(crate) use pet::Pet;
pub(crate) use shuffle::Shuffle;
pub(crate) use uuid::Uuid;

use crate::fields::Fields;
use crate::schema::Failures;

/// The most bytes, characters or results that one value has.
const MOST: i64 = 65536;

/// Checks that a count is within reason.
fn check_count(inputs: &Fields, key: &str, least: i64, most: i64, failures: &mut Failures) {
    if inputs.whole(key).is_some_and(|count| !(least..=most).contains(&count)) {
        failures.add(key, format!("`{key}` must be {least} to {most}"));
    }
}

/// A count that was checked.
fn count(inputs: &Fields, key: &str) -> usize {
    inputs.whole(key).and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}
