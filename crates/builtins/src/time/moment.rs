//! Moments as inputs, outputs and import ids write them.

use crate::fields::Fields;
use crate::kind::Answer;
use crate::schema::Failures;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// `2026-02-12T06:36:13Z`.
pub(super) fn written(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(super) fn read(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// The same for a text that comes from an import id.
pub(super) fn read_imported(text: &str) -> Answer<Timestamp> {
    read(text.trim()).ok_or_else(|| {
        ProviderError::new(format!(
            "`{text}` is not a moment as RFC 3339 writes it, as in `2026-02-12T06:36:13Z`"
        ))
    })
}

pub(super) fn check(inputs: &Fields, key: &str, failures: &mut Failures) {
    if inputs.text(key).is_some_and(|text| read(text).is_none()) {
        let message = format!("`{key}` must be a moment as RFC 3339 writes it, as in `2026-02-12T06:36:13Z`");
        failures.add(key, message);
    }
}

/// The moment that an input gives, or the present, and how it is written.
pub(super) fn given_or(inputs: &Fields, key: &str, now: Timestamp) -> (Timestamp, String) {
    let given = inputs.text(key).and_then(|text| Some((read(text)?, text.to_owned())));
    given.unwrap_or_else(|| {
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        (now, written(now))
    })
}

/// The parts of a moment, as outputs.
pub(super) fn parts(moment: Timestamp) -> PropertyMap {
    let date = moment.to_zoned(TimeZone::UTC).datetime();
    let part = |key: &str, value: i64| (key.to_owned(), Value::from(value));
    PropertyMap::from([
        part("year", date.year().into()),
        part("month", date.month().into()),
        part("day", date.day().into()),
        part("hour", date.hour().into()),
        part("minute", date.minute().into()),
        part("second", date.second().into()),
        part("unix", moment.as_second()),
    ])
}

/// An amount of time, by unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
}

impl Amount {
    /// The moment that much after another one, where all units have the same sign. A day that a month does not have
    /// is its last one.
    pub(super) fn after(self, moment: Timestamp) -> Option<Timestamp> {
        let span = Span::new()
            .try_years(self.years)
            .and_then(|span| span.try_months(self.months))
            .and_then(|span| span.try_days(self.days))
            .and_then(|span| span.try_hours(self.hours))
            .and_then(|span| span.try_minutes(self.minutes))
            .and_then(|span| span.try_seconds(self.seconds))
            .ok()?;
        let zoned = moment.to_zoned(TimeZone::UTC);
        zoned.checked_add(span).ok().map(|zoned| zoned.timestamp())
    }
}

/// The units of an import id, which follow the moment.
pub(super) fn imported_units<const N: usize>(text: &str) -> Answer<[i64; N]> {
    let units: Option<Vec<i64>> = text.split(',').map(|unit| unit.trim().parse().ok()).collect();
    units
        .and_then(|units| <[i64; N]>::try_from(units).ok())
        .ok_or_else(|| ProviderError::new(format!("`{text}` is not {N} whole numbers with commas between")))
}

/// Inputs of those units that are not zero.
pub(super) fn unit_inputs(keys: &[&str], units: &[i64]) -> PropertyMap {
    let given = keys.iter().zip(units).filter(|(_, unit)| **unit != 0);
    given.map(|(key, unit)| ((*key).to_owned(), Value::from(*unit))).collect()
}
