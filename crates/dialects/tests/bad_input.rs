//! Documents that are broken, foreign or hostile: always an error with its place, never a panic.
#![allow(clippy::unwrap_used)]

mod fixtures;

use drystone_dialects::pulumi::{
    Checkpoint, Document, Export, ReadError,
    history::{StackTags, UpdateRecord},
    peek,
};
use drystone_model::Features;
use fixtures::{fixture, text};

fn error(document: &str) -> ReadError {
    Document::read(document.as_bytes()).unwrap_err()
}

#[test]
fn a_document_cut_anywhere_is_truncated() {
    for name in ["features.renamed.checkpoint.json", "plain.export.json", "v1.checkpoint.json"] {
        let whole = fixture(name);
        let end = whole.trim_ascii_end().len();
        for length in 0..end {
            let cut = &whole[..length];
            let expected_empty = cut.trim_ascii().is_empty();
            for result in [Document::read(cut).map(drop), peek(cut).map(drop)] {
                match result.unwrap_err() {
                    ReadError::Empty => assert!(expected_empty, "{name} at {length}"),
                    ReadError::Truncated { length: told, .. } => assert_eq!(told, length, "{name}"),
                    other => panic!("{name} cut at {length}: {other}"),
                }
            }
        }
        assert!(Document::read(&whole[..end]).is_ok());
    }
}

#[test]
fn a_cut_inside_a_character_is_a_cut() {
    let whole = fixture("values.renamed.checkpoint.json");
    let inside = whole.iter().position(|&byte| byte >= 0x80).unwrap() + 1;
    let error = Document::read(&whole[..inside]).unwrap_err();
    assert!(matches!(error, ReadError::Truncated { length, .. } if length == inside), "{error}");
}

#[test]
fn flipped_bits_are_errors_or_documents() {
    let mut outcomes = [0, 0];
    let mut flip = |whole: &[u8], at: usize, bit: usize| {
        let mut flipped = whole.to_vec();
        flipped[at] ^= 1 << bit;
        let _ = peek(&flipped);
        let document = Checkpoint::read(&flipped);
        outcomes[usize::from(document.is_ok())] += 1;
        if let Ok(written) = document.map(|checkpoint| checkpoint.to_vec()).unwrap_or_else(|_| Ok(Vec::new()))
            && !written.is_empty()
        {
            let again = Checkpoint::read(&written).unwrap().to_vec().unwrap();
            assert!(written == again, "bit {bit} of byte {at}");
        }
    };
    let (small, large) =
        (fixture("plain.renamed.checkpoint.json"), fixture("features.imported.checkpoint.json"));
    (0..small.len() * 8).for_each(|bit| flip(&small, bit / 8, bit % 8));
    (0..large.len()).for_each(|at| flip(&large, at, at % 8));
    assert!(outcomes.iter().all(|&count| count > 1000), "{outcomes:?} errors and documents");
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (document, message) in [
        ("", "it is empty"),
        (" \n\t", "it is empty"),
        (r#"{"version":3,"checkpoint":{"#, "it is cut off after 27 bytes, in `checkpoint`"),
        (r#"{"version":3,}"#, "line 1, column 14: trailing comma"),
        (
            "{\n  \"version\": 3,\n  \"deployment\": {\n    \"resources\": [{}, {\"urn\": 5}]\n  }\n}",
            "line 4, column 31, in `deployment.resources[1].urn`: invalid type: integer `5`, expected a string",
        ),
        (
            r#"{"version":3,"checkpoint":{"latest":{"resources":[{"inputs":[1]}]}}}"#,
            "line 1, column 64, in `checkpoint.latest.resources[0].inputs`: properties must be an object",
        ),
        (
            r#"{"version":3,"checkpoint":{"latest":{"resources":{}}}}"#,
            "line 1, column 49, in `checkpoint.latest.resources`: invalid type: map, expected a sequence",
        ),
        ("{\"version\":3,\"deployment\":{}} x", "line 1, column 31: trailing characters"),
        (
            r#"{"version":"three","deployment":{}}"#,
            "line 1, column 18, in `version`: invalid type: string \"three\", expected i64",
        ),
        (
            "{ \"version\": 3, \"deployment\": {\"resources\": [1 2]}}",
            "line 1, column 48, in `deployment.resources[0]`: expected `,` or `]`",
        ),
        (r#"{"version":5,"checkpoint":{}}"#, "its version 5 is newer than the newest one known, 4"),
        (
            r#"{"version":5,"checkpoint":{"latest":[]}}"#,
            "its version 5 is newer than the newest one known, 4",
        ),
        (
            r#"{"checkpoint":{"latest":[]},"version":9}"#,
            "its version 9 is newer than the newest one known, 4",
        ),
        (r#"{"version":-1,"checkpoint":{}}"#, "its version -1 is older than the oldest one known, 1"),
        (r#"{"version":0,"deployment":{}}"#, "its version 0 is older than the oldest one known, 1"),
        (r#"{"deployment":{}}"#, "its version 0 is older than the oldest one known, 1"),
        (
            r#"{"version":4,"features":["zeta","views","alpha"],"deployment":{}}"#,
            "it uses features that this version does not know: zeta, alpha",
        ),
        (
            r#"{"version":4,"features":["zeta"],"deployment":{"resources":{"zeta":[]}}}"#,
            "it uses features that this version does not know: zeta",
        ),
        ("[1]", "it is not a Pulumi document"),
        ("12", "it is not a Pulumi document"),
        ("null", "it is not a Pulumi document"),
        ("{}", "it is not a Pulumi document"),
        (
            r#"{"version":4,"terraform_version":"1.9","serial":1,"lineage":"x","outputs":{},"resources":[]}"#,
            "it is not a Pulumi document: it has the members version, terraform_version, serial, lineage, outputs",
        ),
        (
            r#"{"version":"3.8","services":{}}"#,
            "it is not a Pulumi document: it has the members services, version",
        ),
        ("\u{feff}{}", "line 1, column 1: expected value"),
        ("\0\0\0\0", "line 1, column 1: expected value"),
        ("<html>", "line 1, column 1: expected value"),
    ] {
        assert_eq!(error(document).to_string(), message, "{document}");
    }
    let not_text = Document::read(b"{\"version\":3,\n\"checkpoint\":{\"stack\":\"\xff\"}}").unwrap_err();
    assert_eq!(not_text.to_string(), "line 2, column 24, in `checkpoint.stack`: not valid UTF-8");
    let compressed = Document::read(b"\x1f\x8b\x08\0\0\0\0\0").unwrap_err();
    assert!(matches!(compressed, ReadError::Malformed { .. }), "{compressed}");
}

#[test]
fn a_peek_refuses_what_a_reading_refuses() {
    for document in [
        "",
        "[1]",
        "{}",
        r#"{"version":5,"checkpoint":{}}"#,
        r#"{"version":5,"checkpoint":[]}"#,
        r#"{"version":0,"deployment":{}}"#,
        r#"{"version":4,"features":["zeta"],"deployment":{}}"#,
        r#"{"version":4,"terraform_version":"1.9"}"#,
        r#"{"version":3,"deployment":{"resources":7}}"#,
    ] {
        let (seen, read) = (peek(document.as_bytes()).unwrap_err(), error(document));
        assert_eq!(
            std::mem::discriminant(&seen),
            std::mem::discriminant(&read),
            "{document}: {seen} / {read}"
        );
    }
}

#[test]
fn s9_features_of_older_versions_are_ignored() {
    let document = r#"{"version":3,"features":["zeta"],"deployment":{}}"#;
    assert_eq!(Export::read(document.as_bytes()).unwrap().features(), Features::default());
}

#[test]
fn hostile_depth_is_an_error_or_kept_as_text() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let inside = format!(
        r#"{{"version":3,"deployment":{{"resources":[{{"urn":"u","inputs":{{"a":{}}}}}]}}}}"#,
        deep(1_000_000)
    );
    assert!(Document::read(inside.as_bytes()).is_ok());
    assert!(Document::read(deep(1_000_000).as_bytes()).is_err());
    assert!(Document::read("[".repeat(1_000_000).as_bytes()).is_err());
    assert!(Document::read("{\"a\":".repeat(1_000_000).as_bytes()).is_err());
    let wide = format!("{{ \"version\": 3, \"deployment\": {} }}", deep(1_000_000));
    assert!(Document::read(wide.as_bytes()).is_err());
}

#[test]
fn broken_records_are_refused() {
    let record = text("refresh.history.json");
    for length in 0..record.len() {
        assert!(UpdateRecord::read(&record.as_bytes()[..length]).is_err(), "{length}");
    }
    let foreign = UpdateRecord::read(b"{\"a\":1}").unwrap_err();
    assert_eq!(foreign.to_string(), "it is not a Pulumi document: it has the members a");
    assert_eq!(
        StackTags::read(b"{\"version\":2,\"tags\":{}}"),
        Err(ReadError::TooNew { version: 2, newest: 1 })
    );
    assert_eq!(StackTags::read(b"{}"), Err(ReadError::TooOld { version: 0, oldest: 1 }));
    let wrong = StackTags::read(b"{\"version\":1,\"tags\":{\"a\":1}}").unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "line 1, column 26, in `tags.a`: invalid type: integer `1`, expected a string"
    );
}
