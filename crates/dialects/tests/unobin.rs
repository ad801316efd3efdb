//! unobin's documents, beside what unobin itself makes of them.
#![allow(clippy::unwrap_used)]

use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_dialects::unobin::{Entry, Envelope, Error, Factory, Identity, Ref, Snapshot, Time, Value};
use serde_json::Value as Json;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/unobin");

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FIXTURES}/{name}")).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn reencoded(document: &[u8]) -> Result<Vec<u8>, Error> {
    Snapshot::decode(document)?.encode()
}

fn error(document: &str) -> String {
    Snapshot::decode(document.as_bytes()).unwrap_err().to_string()
}

/// What ours writes for the vectors where unobin's would lose digits (S10).
const KEPT: [&str; 3] = ["123456789012345678", "1234567890123456789012", "9007199254740993"];

/// Runs one vector; the error is what is not as it should be.
fn run(vector: &Json) -> Result<(), String> {
    let member = |name: &str| vector[name].as_str().unwrap_or_default();
    let outcome = match vector["envelope"].as_str() {
        Some(envelope) => Envelope::decode(envelope.as_bytes()).map(|envelope| envelope.ciphertext),
        None => reencoded(&STANDARD.decode(member("in_b64")).unwrap()),
    };
    let mut expected = match vector["out"].as_str() {
        Some(out) => out.as_bytes().to_vec(),
        None => STANDARD.decode(member("out_b64")).unwrap(),
    };
    if KEPT.contains(&member("value")) {
        let rounded = member("rendered").lines().next().unwrap();
        expected = text(&expected).replace(rounded, member("value")).into_bytes();
    }
    match outcome {
        Ok(bytes) if vector["rc"] == 0 && bytes == expected => Ok(()),
        Ok(bytes) => Err(format!("wrote {}", String::from_utf8_lossy(&bytes))),
        Err(told) if vector["rc"] == 1 && format!("error: {told}") == member("error") => Ok(()),
        Err(told) => Err(format!("told {told}")),
    }
}

#[test]
fn documents_that_are_hard_to_read_are_read_as_go_reads_them() {
    let vectors: Vec<Json> = serde_json::from_slice(&fixture("json-vectors.json")).unwrap();
    assert_eq!(vectors.len(), 70);
    for vector in &vectors {
        run(vector).unwrap_or_else(|failure| panic!("{vector}: {failure}"));
    }
}

#[test]
fn what_unobin_wrote_is_written_back_byte_for_byte() {
    let mut names = vec!["snapshot.encoded.json".to_owned(), "snapshot.empty.json".to_owned()];
    for file in std::fs::read_dir(format!("{FIXTURES}/decoded")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if !name.starts_with("plan-") {
            names.push(format!("decoded/{name}"));
        }
    }
    assert_eq!(names.len(), 7);
    for name in names {
        let whole = fixture(&name);
        assert_eq!(text(&reencoded(&whole).unwrap()), text(&whole), "{name}");
    }
}

#[test]
fn s10_a_snapshot_of_the_user_is_written_as_unobin_writes_it_but_for_its_integers() {
    let read = Snapshot::decode(&fixture("snapshot.in.json")).unwrap();
    assert!(text(&read.encode().unwrap()).contains("\"Unknown\": 1"), "unobin forgets it (S9)");
    let ours = text(&read.without_unknown().encode().unwrap());
    let mut theirs = text(&fixture("snapshot.encoded.json"));
    for (rounded, whole) in [
        ("12345678901234567000", "12345678901234567890"),
        ("9007199254740992", "9007199254740993"),
        ("123456789012345680000", "123456789012345678901"),
    ] {
        theirs = theirs.replace(&format!(": {rounded},"), &format!(": {whole},"));
    }
    assert_eq!(ours, theirs);
}

#[test]
fn envelopes_are_written_back_byte_for_byte() {
    let mut count = 0;
    for file in std::fs::read_dir(FIXTURES).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name.starts_with("envelope.") || name.starts_with("plan-") {
            let whole = fixture(&name);
            assert_eq!(text(&Envelope::decode(&whole).unwrap().encode()), text(&whole), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

#[test]
fn an_envelope_says_what_sealed_it() {
    let with_ref = Envelope::decode(&fixture("envelope.env-key.with-ref.json")).unwrap();
    assert_eq!(with_ref.encrypter, Some(Ref::built_in("env-key", [("env-var", "UB_STATE_KEY".to_owned())])));
    assert_eq!(Envelope::decode(&fixture("envelope.env-key.no-ref.json")).unwrap().encrypter, None);
    let aliased = Envelope::decode(&fixture("envelope.noop.alias-ref.json")).unwrap().encrypter.unwrap();
    assert_eq!((aliased.alias.as_str(), aliased.name.as_str()), ("aws", "kms"));
    assert_eq!(aliased.body["region"].as_str(), Some("us-east-1"));
}

#[test]
fn a_new_entry_has_the_form_with_type_and_others_keep_theirs() {
    let mut snapshot = Snapshot::decode(&fixture("decoded/2026-11-15T18_17_19.881698628Z.json")).unwrap();
    let identity = Identity::Seed {
        kind: "aws.vpc".to_owned(),
        library: String::new(),
        library_type: String::new(),
        configuration: String::new(),
    };
    snapshot.entries.as_mut().unwrap().push(Some(Entry {
        address: "resource.vpc".to_owned(),
        entry_type: "leaf".to_owned(),
        identity,
        ..Entry::default()
    }));
    let written = text(&snapshot.encode().unwrap());
    assert!(written.contains(r#""entry-kind": "leaf","#), "{written}");
    let new = "    {\n      \"address\": \"resource.vpc\",\n      \"type\": \"leaf\",\n      \"kind\": \"aws.vpc\"\n    }\n";
    assert!(written.contains(new), "{written}");
    assert_eq!(Snapshot::decode(written.as_bytes()).unwrap(), snapshot);
}

#[test]
fn a_new_snapshot_has_no_entries() {
    let factory = Factory {
        name: "demo".to_owned(),
        version: "v1.0.0".to_owned(),
        content_revision: "1f62d54e7524".to_owned(),
        ..Factory::default()
    };
    let snapshot = Snapshot::new(factory, "dev", Time::parse("2026-04-30T12:00:00Z").unwrap());
    assert_eq!(text(&snapshot.encode().unwrap()), text(&fixture("snapshot.empty.json")));
}

#[test]
fn s9_members_that_are_not_known_stay() {
    let document = r#"{"format-version":1,"stack":"s","entries":[{"address":"a","type":"leaf","kind":"k",
        "category":"resource","later":{"z":1.50,"a":12345678901234567890}}],
        "factory":{"name":"f","built-by":"x"},"outputs":{"o":1},"newer":[1e400,null]}"#;
    let written = text(&reencoded(document.as_bytes()).unwrap());
    for kept in [
        "\"category\": \"resource\"",
        "\"z\": 1.50",
        "\"a\": 12345678901234567890",
        "\"built-by\": \"x\"",
        "\"newer\": [\n    1e400,\n    null\n  ]",
    ] {
        assert!(written.contains(kept), "{kept} is not in {written}");
    }
    assert_eq!(text(&reencoded(written.as_bytes()).unwrap()), written);

    let envelope =
        r#"{"envelope-version":1,"ciphertext":"","encrypter":{"name":"kms","keys":2},"signed":true}"#;
    let written = text(&Envelope::decode(envelope.as_bytes()).unwrap().encode());
    assert!(written.contains("\"keys\": 2") && written.contains("\"signed\": true"), "{written}");
}

#[test]
fn a_member_that_comes_twice_is_read_twice_into_the_same_field() {
    let document = r#"{"format-version":1,"factory":{"name":"a"},"FACTORY":{"version":"b"},
        "outputs":{"x":1,"y":1},"outputs":{"y":2},"ſtacK":"s"}"#;
    let snapshot = Snapshot::decode(document.as_bytes()).unwrap();
    assert_eq!((snapshot.factory.name.as_str(), snapshot.factory.version.as_str()), ("a", "b"));
    assert_eq!(snapshot.outputs.len(), 2);
    assert_eq!(snapshot.stack, "s");
}

#[test]
fn what_is_wrong_with_a_snapshot_is_told_in_the_words_of_unobin() {
    let entries = |entries: &str| format!(r#"{{"format-version":1,"entries":[{entries}]}}"#);
    for (document, expected) in [
        ("{}".to_owned(), "snapshot: unsupported format-version 0 (this build expects 1)"),
        (
            r#"{"format-version":2}"#.to_owned(),
            "snapshot: unsupported format-version 2 (this build expects 1)",
        ),
        (entries("null"), "snapshot: entries[0] is nil"),
        (entries("{}"), "snapshot: entries[0] missing address"),
        (
            entries(r#"{"address":"a","type":"leaf","kind":"k"},{"address":"a","type":"leaf","kind":"k"}"#),
            r#"snapshot: duplicate address "a""#,
        ),
        (entries(r#"{"address":"a"}"#), r#"snapshot: entry "a" missing type"#),
        (entries(r#"{"address":"a","type":"zz"}"#), r#"snapshot: entry "a" has unknown type "zz""#),
        (entries(r#"{"address":"a","type":"leaf"}"#), r#"snapshot: leaf entry "a" missing kind"#),
        (entries(r#"{"address":"a","type":"action"}"#), r#"snapshot: action entry "a" missing kind"#),
        (
            entries(r#"{"address":"a","type":"library-call"}"#),
            r#"snapshot: library-call entry "a" missing library"#,
        ),
        (
            entries(r#"{"address":"a","type":"library-call","library":"l"}"#),
            r#"snapshot: library-call entry "a" missing library-type"#,
        ),
        (entries(r#"{"address":"a","entry-kind":""}"#), r#"snapshot: entry "a" missing entry-kind"#),
        (
            entries(r#"{"address":"a","entry-kind":"zz"}"#),
            r#"snapshot: entry "a" has unknown entry-kind "zz""#,
        ),
        (entries(r#"{"address":"a","entry-kind":"leaf"}"#), r#"snapshot: entry "a" missing category"#),
        (
            entries(r#"{"address":"a","entry-kind":"leaf","category":"action"}"#),
            r#"snapshot: entry "a" has category "action""#,
        ),
        (
            entries(r#"{"address":"a","entry-kind":"leaf","category":"resource"}"#),
            r#"snapshot: entry "a" binding missing"#,
        ),
        (
            entries(r#"{"address":"a","entry-kind":"leaf","category":"resource","binding":{}}"#),
            r#"snapshot: entry "a" binding missing alias"#,
        ),
        (
            entries(r#"{"address":"a","entry-kind":"action","category":"action","binding":{"alias":"s"}}"#),
            r#"snapshot: entry "a" binding missing kind"#,
        ),
    ] {
        assert_eq!(error(&document), expected, "{document}");
    }
    let other = Snapshot { format_version: 3, ..Snapshot::default() };
    assert_eq!(other.encode().unwrap_err().to_string(), "snapshot: format-version is 3, expected 1");
}

#[test]
fn what_does_not_fit_is_told_by_its_field() {
    for (document, expected) in [
        (r#"{"format-version":"1"}"#, "string into Go struct field Snapshot.format-version of type int"),
        (r#"{"format-version":1.0}"#, "number 1.0 into Go struct field Snapshot.format-version of type int"),
        (r#"{"stack":7}"#, "number into Go struct field Snapshot.stack of type string"),
        (r#"{"factory":[]}"#, "array into Go struct field Snapshot.factory of type state.FactoryInfo"),
        (r#"{"factory":{"name":{}}}"#, "object into Go struct field FactoryInfo.factory.name of type string"),
        (r#"{"entries":["x"]}"#, "string into Go struct field Snapshot.entries of type state.Entry"),
        (
            r#"{"entries":[{"address":true}]}"#,
            "bool into Go struct field Entry.entries.address of type string",
        ),
        (
            r#"{"entries":[{"entry-kind":"leaf","address":1}]}"#,
            "number into Go struct field Snapshot.entries.address of type string",
        ),
        (
            r#"{"entries":[{"inputs":[]}]}"#,
            "array into Go struct field Entry.entries.inputs of type map[string]interface {}",
        ),
        (
            r#"{"entries":[{"depends-on":["a",1]}]}"#,
            "number into Go struct field Entry.entries.depends-on of type string",
        ),
        ("[]", "array into Go value of type state.Snapshot"),
    ] {
        assert_eq!(error(document), format!("snapshot: json: cannot unmarshal {expected}"), "{document}");
    }
    assert_eq!(error(r#"{"generated-at":7}"#), "snapshot: Time.UnmarshalJSON: input is not a JSON string");
    let envelope = |document: &str| Envelope::decode(document.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        envelope(r#"{"ciphertext":[300]}"#),
        "envelope: json: cannot unmarshal number 300 into Go struct field Envelope.ciphertext of type uint8"
    );
    assert_eq!(
        envelope(r#"{"encrypter":{"name":7}}"#),
        "envelope: json: cannot unmarshal number into Go struct field Ref.encrypter.name of type string"
    );
}

#[test]
fn a_document_cut_anywhere_is_never_half_of_one() {
    let whole = fixture("decoded/2026-11-15T18_17_19.881698628Z.json");
    let end = whole.trim_ascii_end().len();
    for length in 0..end {
        let told = Snapshot::decode(&whole[..length]).unwrap_err().to_string();
        let ends = ["snapshot: unexpected end of JSON input", "snapshot: invalid character ' ' in "];
        assert!(ends.iter().any(|end| told.starts_with(end)), "cut at {length}: {told}");
    }
}

#[test]
fn values_of_any_shape_are_found_by_name() {
    let snapshot = Snapshot::decode(&fixture("snapshot.encoded.json")).unwrap();
    let vpc = snapshot.find("resource.aws.vpc.main").unwrap();
    assert_eq!(vpc.inputs["password"], Value::from("hunter2"));
    assert_eq!(vpc.sensitive_inputs, ["password"]);
    assert!(snapshot.find("nowhere").is_none());
}
