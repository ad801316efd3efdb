//! How commands print: for people or as JSON.

use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::{Args, ValueEnum};
use drystone_model::text::indent;
use jiff::Timestamp;
use serde::Serialize;

/// The first second of the year 1, which stands for no moment at all.
const ZERO_SECOND: i64 = -62_135_596_800;

/// The choice between text and JSON, in both of the stock CLI's spellings.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct FormatArgs {
    /// How to print
    #[arg(long = "output", value_enum, default_value_t = Format::Default, value_name = "FORMAT")]
    format: Format,
    /// The same as `--output json`
    #[arg(short, long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Default,
    /// For programs
    Json,
}

impl FormatArgs {
    /// Whether programs read it.
    pub(super) fn is_json(self) -> bool {
        self.json || self.format == Format::Json
    }
}

/// Prints a value as JSON with an indent of two, texts that are JSON already included.
pub(super) fn print_json<T: Serialize + ?Sized>(value: &T) -> Outcome {
    let failed =
        |error: &dyn std::fmt::Display| Failure::new(ExitCode::Internal, format!("writing JSON: {error}"));
    let compact = serde_json::to_vec(value).map_err(|error| failed(&error))?;
    let mut text = Vec::with_capacity(compact.len() * 2);
    indent(&compact, "  ", &mut text).map_err(|error| failed(&error))?;
    text.push(b'\n');
    terminal::data_with(|out| out.write_all(&text));
    Ok(())
}

/// The moment that a text of the state names; `None` when it names none or the zero of Go's clock.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|moment: &Timestamp| moment.as_second() > ZERO_SECOND)
}

/// A moment as the stock CLI prints it in JSON: in UTC, to the millisecond.
pub(in crate::commands) fn milliseconds(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_moments_to_the_millisecond() {
        let told = |text| moment(text).map(milliseconds);
        assert_eq!(told("2026-11-15T21:29:41.644628098Z").as_deref(), Some("2026-11-15T21:29:41.644Z"));
        assert_eq!(told("2026-01-02T04:04:05+01:00").as_deref(), Some("2026-01-02T03:04:05.000Z"));
        assert_eq!(told("0001-01-01T00:00:00Z"), None);
        assert_eq!(told("yesterday"), None);
    }
}
