//! Checkpoints and exports: written by the Pulumi CLI, read and written back here.
#![allow(clippy::unwrap_used)]

mod fixtures;

use drystone_dialects::pulumi::{
    Checkpoint, Document, Escapes, Export, Form, Peek, PeekState, ReadError, WriteError, features, peek,
    properties::{SecretForm, decode_properties, encode_properties},
};
use drystone_model::{Feature, Json, Properties, Resource, Snapshot, Urn};
use fixtures::{fixture, text};

fn export_text(export: &Export, form: SecretForm) -> String {
    let mut out = Vec::new();
    export.write(&mut out, form).unwrap();
    String::from_utf8(out).unwrap()
}

fn checkpoint_text(checkpoint: &Checkpoint) -> String {
    String::from_utf8(checkpoint.to_vec().unwrap()).unwrap()
}

#[test]
fn s14_checkpoints_of_updates_are_written_back_byte_for_byte() {
    for name in ["fresh", "plain.renamed", "values.renamed", "features.renamed", "refreshed", "destroyed"] {
        let file = text(&format!("{name}.checkpoint.json"));
        assert_eq!(checkpoint_text(&Checkpoint::read(file.as_bytes()).unwrap()), file, "{name}");
    }
}

#[test]
fn s14_checkpoints_of_imports_are_written_back_byte_for_byte() {
    for name in ["plain", "values", "features"] {
        let file = text(&format!("{name}.imported.checkpoint.json"));
        let checkpoint = Checkpoint::read(file.as_bytes()).unwrap();
        let mut out = Vec::new();
        checkpoint.write_with(&mut out, Escapes::Html).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), file, "{name}");
    }
}

#[test]
fn s14_an_export_is_printed_as_the_cli_prints_it() {
    for name in ["plain", "values", "features"] {
        for written_by in ["imported", "renamed"] {
            let checkpoint =
                Checkpoint::read(&fixture(&format!("{name}.{written_by}.checkpoint.json"))).unwrap();
            let printed = if written_by == "imported" { name.to_owned() } else { format!("{name}.renamed") };
            let expected = text(&format!("{printed}.export.json"));
            assert_eq!(export_text(&checkpoint.into(), SecretForm::Sealed), expected, "{name} {written_by}");
        }
    }
    for name in ["fresh", "named"] {
        let checkpoint = Checkpoint::read(&fixture(&format!("{name}.checkpoint.json"))).unwrap();
        assert_eq!(export_text(&checkpoint.into(), SecretForm::Sealed), text(&format!("{name}.export.json")));
    }
}

#[test]
fn s14_exports_are_written_back_byte_for_byte() {
    for name in ["fresh", "named", "plain", "values", "features", "values.renamed", "v2"] {
        let file = text(&format!("{name}.export.json"));
        let export = Export::read(file.as_bytes()).unwrap();
        assert_eq!(export_text(&export, SecretForm::Sealed), file, "{name}");
    }
}

#[test]
fn an_export_becomes_the_checkpoint_that_an_update_would_write() {
    for name in ["plain", "values", "features"] {
        let export = Export::read(&fixture(&format!("{name}.renamed.export.json"))).unwrap();
        let expected = text(&format!("{name}.renamed.checkpoint.json"));
        assert_eq!(checkpoint_text(&export.into_checkpoint("organization/shop/dev")), expected, "{name}");
    }
}

#[test]
fn s17_secrets_in_clear_are_shown_only_when_asked() {
    for name in ["values", "features"] {
        let file = text(&format!("{name}.shown.export.json"));
        let export = Export::read(file.as_bytes()).unwrap();
        assert_eq!(export_text(&export, SecretForm::Plaintext), file, "{name}");
        let mut out = Vec::new();
        let refused = export.write(&mut out, SecretForm::Sealed).unwrap_err();
        assert!(matches!(refused, WriteError::OpenSecret { .. }) && out.is_empty(), "{name}: {refused}");
        let refused = export.into_checkpoint("organization/shop/dev").to_vec().unwrap_err();
        assert!(
            matches!(refused, WriteError::OpenSecret { urn } if urn.name() == "all" || urn.name() == "feat")
        );
    }
}

#[test]
fn s17_secrets_in_clear_are_found_in_triggers_and_pending_operations() {
    let open = r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"1"}"#;
    let mut resource = Resource { urn: Urn::new("urn:pulumi:a::b::c:d:E::f"), ..Resource::default() };
    resource.replacement_trigger = Some(Json::parse(open).unwrap());
    let mut snapshot = Snapshot::default();
    snapshot.pending_operations.push(drystone_model::Operation { resource, ..Default::default() });
    assert!(Checkpoint::new("s", Some(snapshot.clone())).to_vec().is_err());
    snapshot.pending_operations[0].resource.replacement_trigger =
        Some(Json::parse(r#"{"plaintext":"a word, not a secret"}"#).unwrap());
    assert!(Checkpoint::new("s", Some(snapshot)).to_vec().is_ok());
}

#[test]
fn old_versions_are_read_as_the_cli_reads_them() {
    for name in ["v0", "v0-no-manifest", "v1", "v2"] {
        let checkpoint = Checkpoint::read(&fixture(&format!("{name}.checkpoint.json"))).unwrap();
        let config = Json::parse(r#"{"shop:a":"1"}"#).unwrap();
        assert_eq!(checkpoint.config, Some(config), "{name}");
        let printed = export_text(&checkpoint.into(), SecretForm::Sealed);
        assert_eq!(printed, text(&format!("{name}.export.json")), "{name}");
    }
    let checkpoint = Checkpoint::read(&fixture("v0-no-manifest.checkpoint.json")).unwrap();
    assert_eq!(checkpoint.extra.0, [("target".to_owned(), Json::parse("\"dev\"").unwrap())]);
}

#[test]
fn old_exports_are_brought_up_to_date() {
    let version_two = r#"{"version":2,"deployment":{"manifest":{"time":"2018-05-06T07:08:09.5Z"},"resources":[
        {"urn":"urn:pulumi:dev::shop::a:b:C::one","custom":true,"type":"a:b:C","provider":"p","inputs":{"\u0061":1},
         "dependencies":["urn:pulumi:dev::shop::a:b:C::zero"]}]}}"#;
    let export = Export::read(version_two.as_bytes()).unwrap();
    let resource = &export.snapshot.as_ref().unwrap().resources[0];
    let dependencies = Some(vec![Urn::new("urn:pulumi:dev::shop::a:b:C::zero")]);
    assert_eq!(resource.property_dependencies, [("a".to_owned(), dependencies)].into());
    assert_eq!(resource.provider, "p");
    let older = Export::read(version_two.replacen('2', "1", 1).as_bytes()).unwrap();
    assert_eq!(older.snapshot.unwrap().resources[0].provider, "");
}

#[test]
fn s9_unknown_members_are_kept_at_every_level() {
    let file = concat!(
        r#"{"version":4,"features":["views"],"checkpoint":{"stack":"s","config":{"a":1},"latest":{"#,
        r#""manifest":{"time":"2024-01-01T00:00:00Z","magic":"","version":"","m":[1.10]},"#,
        r#""secrets_providers":{"type":"passphrase","state":{"x":1},"sp":1},"#,
        r#""resources":[{"urn":"u","custom":true,"type":"t","inputs":{"a":12345678901234567890},"#,
        r#""stackTrace":[{"sourcePosition":"x","frame":1}],"viewOf":"v","r":{"deep":[1e400]}}],"#,
        r#""pending_operations":[{"resource":{"urn":"u","custom":false,"type":"t","r":2},"type":"resting","o":null}],"#,
        r#""metadata":{"integrity_error":{"error":"e","ie":1},"md":1},"#,
        r#""snippets":[{"uuid":"i","name":"n","type":"t","code":"c","descriptor":{"d":1},"s":1}],"#,
        r#""extensions":{"e":{"name":"n","version":"v","value":null,"x":1}},"l":1},"c":1},"e":"é"}"#
    );
    let file = file.replace(r#"["views"]"#, r#"["snippets-prototype","views"]"#);
    let checkpoint = Checkpoint::read(file.as_bytes()).unwrap();
    assert_eq!(checkpoint_text(&checkpoint), file);
    let wide = export_text(&checkpoint.clone().into(), SecretForm::Sealed);
    let export = Export::read(wide.as_bytes()).unwrap();
    assert_eq!(export.snapshot, checkpoint.snapshot);
    assert_eq!(export_text(&export, SecretForm::Sealed), wide);
}

#[test]
fn s10_white_space_goes_and_every_digit_stays() {
    let wide = "{ \"version\": 3,\n\t\"checkpoint\": { \"stack\": \"s\", \"latest\": { \"resources\": [ { \"urn\": \"u\",
        \"inputs\": { \"big\": 123456789012345678901234567890, \"text\": \"a  b\\n\" } } ] } } }\r\n";
    let snapshot = Checkpoint::read(wide.as_bytes()).unwrap().snapshot.unwrap();
    assert_eq!(
        snapshot.resources[0].inputs.text(),
        "{\"big\":123456789012345678901234567890,\"text\":\"a  b\\n\"}"
    );
    assert_eq!(snapshot.manifest.time, "0001-01-01T00:00:00Z");
}

#[test]
fn a_snapshot_without_a_moment_is_written_with_one_that_the_cli_reads() {
    let written = checkpoint_text(&Checkpoint::new("s", Some(Snapshot::default())));
    assert!(written.contains(r#""manifest":{"time":"0001-01-01T00:00:00Z","#), "{written}");
}

#[test]
fn features_are_found_by_what_the_state_holds() {
    let all = Export::read(&fixture("features.export.json")).unwrap();
    assert_eq!(all.features(), Feature::ALL.into_iter().collect());
    let one = |change: &dyn Fn(&mut Resource)| {
        let mut snapshot = Snapshot { resources: vec![Resource::default()], ..Snapshot::default() };
        change(&mut snapshot.resources[0]);
        features(&snapshot).iter().map(Feature::name).collect::<Vec<_>>()
    };
    assert_eq!(one(&|_| ()), [""; 0]);
    assert_eq!(one(&|resource| resource.refresh_before_update = true), ["refreshBeforeUpdate"]);
    assert_eq!(one(&|resource| resource.view_of = Urn::new("u")), ["views"]);
    assert_eq!(one(&|resource| drop(resource.resource_hooks.insert("a".into(), vec![]))), ["hooks"]);
    assert_eq!(one(&|resource| resource.taint = true), ["taint"]);
    assert_eq!(one(&|resource| resource.replace_with = vec![Urn::new("u")]), ["replaceWith"]);
    assert_eq!(one(&|resource| resource.extension_ref = "e".into()), ["extensionParameterization"]);
    assert_eq!(one(&|resource| resource.snippet_id = "s".into()), ["snippets-prototype"]);
    let bytes =
        r#"{"a":{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"/w=="}}"#;
    assert_eq!(
        one(&|resource| resource.outputs = Properties::new(Json::parse(bytes).unwrap())),
        ["byteString"]
    );
}

#[test]
fn byte_strings_that_cannot_be_seen_are_remembered() {
    let file = r#"{"version":4,"features":["byteString"],"checkpoint":{"stack":"s","latest":{"manifest":{"time":"2024-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}}}"#;
    let checkpoint = Checkpoint::read(file.as_bytes()).unwrap();
    assert!(checkpoint.byte_strings);
    assert_eq!(checkpoint_text(&checkpoint), file);
    let export = Export::from(checkpoint);
    assert!(export_text(&export, SecretForm::Sealed).contains("byteString"));
    assert!(export.into_checkpoint("s").byte_strings);
    let older = file.replace("\"version\":4", "\"version\":3");
    assert!(!Checkpoint::read(older.as_bytes()).unwrap().byte_strings);
}

#[test]
fn every_property_of_the_cli_is_decoded_and_encoded_to_the_same_text() {
    for (name, form) in [
        ("values.renamed.checkpoint.json", SecretForm::Sealed),
        ("features.renamed.checkpoint.json", SecretForm::Sealed),
        ("values.shown.export.json", SecretForm::Plaintext),
        ("features.shown.export.json", SecretForm::Plaintext),
    ] {
        let document = Document::read(&fixture(name)).unwrap();
        for resource in &document.snapshot().unwrap().resources {
            for properties in [&resource.inputs, &resource.outputs] {
                let decoded = decode_properties(properties).unwrap();
                let encoded = encode_properties(&decoded, form).unwrap();
                assert_eq!(encoded.text(), properties.text(), "{name}");
            }
        }
    }
}

#[test]
fn a_peek_tells_what_a_listing_needs() {
    let seen = peek(&fixture("values.renamed.checkpoint.json")).unwrap();
    let state =
        PeekState { time: "2024-05-06T07:08:09.123456789Z".into(), resources: 6, pending_operations: 5 };
    let expected = Peek {
        form: Form::Checkpoint,
        version: 3,
        features: vec![],
        stack: "organization/shop/dev".into(),
        state: Some(state),
    };
    assert_eq!(seen, expected);
    let seen = peek(&fixture("features.export.json")).unwrap();
    assert_eq!((seen.form, seen.version, seen.features.len()), (Form::Export, 4, 8));
    assert_eq!(seen.state.unwrap().resources, 4);
    let seen = peek(&fixture("named.checkpoint.json")).unwrap();
    assert_eq!((seen.stack.as_str(), seen.state), ("organization/shop/dev", None));
    assert_eq!(peek(&fixture("v0-no-manifest.checkpoint.json")).unwrap().state.unwrap().resources, 3);
    assert_eq!(peek(&fixture("named.export.json")).unwrap().state, None);
    assert_eq!(peek(&fixture("v1.checkpoint.json")).unwrap().version, 1);
}

#[test]
fn each_form_is_refused_where_the_other_is_needed() {
    let (export, checkpoint) = (fixture("plain.export.json"), fixture("plain.imported.checkpoint.json"));
    assert_eq!(
        Checkpoint::read(&export),
        Err(ReadError::WrongForm { expected: Form::Checkpoint, found: Form::Export })
    );
    assert_eq!(Export::read(&checkpoint).unwrap_err().to_string(), "it is a checkpoint, not an export");
    assert!(matches!(Document::read(&export), Ok(Document::Export(_))));
    assert!(matches!(Document::read(&checkpoint), Ok(Document::Checkpoint(_))));
}
