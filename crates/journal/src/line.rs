//! Replay of one line of text, for tests and support.

use crate::{Entry, replay};
use drystone_model::{Features, Json, Snapshot, Urn};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Deserialize)]
struct Input {
    base: Option<Snapshot>,
    entries: Option<Vec<Json>>,
}

#[derive(Serialize)]
struct Output {
    version: u32,
    #[serde(skip_serializing_if = "is_empty")]
    features: Features,
    deployment: Snapshot,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_empty(features: &Features) -> bool {
    features.is_empty()
}

/// Replays `{"base":…,"entries":[…]}` and answers `{"version":…,"features":[…],"deployment":{…}}` or
/// `{"error":"…"}`, which names the entry that is wrong. No base, or `null`, is an empty one; other members are
/// ignored.
#[must_use]
pub fn replay_line(line: &str) -> String {
    let answer = replay_text(line)
        .and_then(|output| serde_json::to_string(&output).map_err(|error| error.to_string()));
    answer.unwrap_or_else(|error| serde_json::json!({ "error": error }).to_string())
}

fn replay_text(line: &str) -> Result<Output, String> {
    let input: Input =
        serde_json::from_str(line).map_err(|error| format!("the line is not readable: {error}"))?;
    let texts = input.entries.unwrap_or_default();
    let entries = texts.iter().map(|text| Entry::from_json(text.text().as_bytes()));
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let aliases = aliases_in(&entries);
    let replayed = replay(input.base.unwrap_or_default(), entries).map_err(|error| error.to_string())?;
    if let Some(duplicate) = replayed.duplicate_alias {
        return Err(match aliases.get(&duplicate.alias) {
            Some(sequence) => format!("journal entry {sequence}: {duplicate}"),
            None => duplicate.to_string(),
        });
    }
    let version = replayed.features.schema_version();
    Ok(Output { version, features: replayed.features, deployment: replayed.snapshot })
}

/// Each alias in the states of the entries, with the last entry that has it.
fn aliases_in(entries: &[Entry]) -> HashMap<Urn, i64> {
    let mut last = HashMap::<Urn, i64>::new();
    for entry in entries {
        for alias in entry.state.iter().flat_map(|state| &state.aliases) {
            let sequence = last.entry(alias.clone()).or_insert(entry.sequence);
            *sequence = entry.sequence.max(*sequence);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::replay_line;
    use serde_json::{Value, json};

    fn answer(line: &str) -> Value {
        let answer = replay_line(line);
        assert!(!answer.contains('\n'), "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    #[test]
    fn an_empty_journal_over_no_base_is_an_empty_snapshot() {
        let empty = json!({"version": 3, "deployment": {
            "manifest": {"time": "", "magic": "", "version": ""}, "metadata": {}}});
        assert_eq!(answer(r#"{"base":null,"entries":[]}"#), empty);
        assert_eq!(answer(r#"{"src":"x"}"#), empty);
    }

    #[test]
    fn features_are_named_only_when_there_are_any() {
        let line = r#"{"base":{"resources":[{"urn":"a","type":"t","taint":true,"inputs":{"n":9007199254740993}}]},"entries":[]}"#;
        let text = replay_line(line);
        assert!(text.starts_with(r#"{"version":4,"features":["taint"],"deployment":{"#), "{text}");
        assert!(text.contains("9007199254740993"), "{text}");
    }

    #[test]
    fn errors_name_the_sequence() {
        let cases = [
            (
                r#"{"entries":[{"version":1,"kind":42,"sequenceID":1}]}"#,
                "journal entry 1: kind 42 is not known",
            ),
            (
                r#"{"entries":[{"version":1,"kind":0,"sequenceID":1},{"sequenceID":2,"kind":[]}]}"#,
                "journal entry 2 is not readable: ",
            ),
            (
                r#"{"entries":[{"version":1,"kind":0,"sequenceID":1,"operationID":1},
                 {"version":1,"kind":1,"sequenceID":2,"operationID":1,"state":{"urn":"b","aliases":["x"]}}],
                 "base":{"resources":[{"urn":"a","aliases":["x"]}]}}"#,
                "journal entry 2: `b` and `a` have the same alias `x`",
            ),
            (
                r#"{"base":{"resources":[{"urn":"a","aliases":["x"]},{"urn":"b","aliases":["x"]}]}}"#,
                "`a` and `b` have the same alias `x`",
            ),
            ("", "the line is not readable: "),
            ("[]", "the line is not readable: "),
        ];
        for (line, error) in cases {
            let answer = answer(line);
            assert!(answer["error"].as_str().unwrap().starts_with(error), "{line}: {answer}");
            assert_eq!(answer.as_object().unwrap().len(), 1);
        }
    }
}
