use super::{Accepts, Contents, Decoding, Encoding, Nulls, Outputs, Problem, Properties, Struct, Unknowns};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Number, Output, ResourceReference, Urn, Value,
};
use proptest::prelude::*;
use serde_json::json;

const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const URN: &str = "urn:pulumi:s::p::a:b:C::n";

fn keep_all() -> Decoding {
    Decoding { outputs: Outputs::Keep, ..Decoding::default() }
}

fn one(value: Value) -> Properties {
    Properties::from([("v".to_owned(), value)])
}

/// What the receiver sees, as plain JSON.
fn sent(value: Value, encoding: Encoding) -> serde_json::Value {
    encoding.properties(&one(value)).unwrap().to_json().unwrap().remove("v").unwrap_or(json!("absent"))
}

fn received(value: serde_json::Value, decoding: Decoding) -> Result<Option<Value>, String> {
    let members = serde_json::Map::from_iter([("v".to_owned(), value)]);
    let read = decoding.properties(&Struct::from_json(&members)).map_err(|error| error.to_string());
    read.map(|mut properties| properties.remove("v"))
}

fn output(value: Option<Value>, secret: bool, dependencies: &[&str]) -> Value {
    Value::Output(Box::new(Output {
        value,
        secret,
        dependencies: dependencies.iter().map(|urn| Urn::new(*urn)).collect(),
    }))
}

fn reference(id: Option<&str>) -> Value {
    Value::ResourceReference(ResourceReference {
        urn: Urn::new(URN),
        id: id.map(str::to_owned),
        package_version: "1.2.3".into(),
    })
}

#[test]
fn values_travel_with_their_signatures() {
    let all = Encoding::to(Accepts::ALL);
    let secret = Value::secret(Value::from("s"));
    assert_eq!(sent(secret, all), json!({SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "s"}));
    assert_eq!(
        sent(Value::bytes(vec![0xff, 0]), all),
        json!({SIGNATURE: "803fd3297a5875dc03ca845dda5d2a98", "value": "/wA="})
    );
    assert_eq!(
        sent(reference(Some("i")), all),
        json!({
            SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e",
            "urn": URN, "id": "i", "packageVersion": "1.2.3", "name": "n", "type": "a:b:C",
        })
    );
    assert_eq!(
        sent(output(Some(Value::from(true)), true, &[URN]), all),
        json!({
            SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
            "value": true, "secret": true, "dependencies": [URN],
        })
    );
    assert_eq!(sent(output(None, false, &[]), all), json!({SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"}));
    let asset = Value::Asset(Asset { hash: "h".into(), source: AssetSource::Path("./f".into()) });
    assert_eq!(
        sent(asset.clone(), all),
        json!({SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "hash": "h", "path": "./f"})
    );
    let archive = Value::Archive(Archive {
        hash: String::new(),
        source: ArchiveSource::Assets(Properties::from([("a".into(), asset)])),
    });
    assert_eq!(sent(archive.clone(), all)["assets"]["a"]["path"], json!("./f"),);
    assert_eq!(
        sent(archive, Encoding { contents: Contents::Elide, ..all }),
        json!({SIGNATURE: "0def7320c3a5731c473e5ecbe6d01bc7"})
    );
    assert_eq!(sent(Value::Computed(Computed::Array), all), json!("6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"));
}

#[test]
fn receivers_get_the_nearest_that_they_understand() {
    let plain = Encoding::to(Accepts::default());
    let secrets = Encoding::to(Accepts { secrets: true, ..Accepts::default() });
    let unknown = json!("04da6b54-80e4-46f7-96ec-b56ff0331ba9");
    assert_eq!(sent(Value::secret(Value::from("s")), plain), json!("s"));
    assert_eq!(sent(reference(Some("i")), plain), json!("i"));
    assert_eq!(sent(reference(None), plain), json!(URN));
    assert_eq!(sent(reference(Some("")), plain), unknown);
    assert_eq!(sent(output(Some(Value::from("x")), true, &[URN]), plain), json!("x"));
    assert_eq!(sent(output(None, true, &[]), plain), unknown);
    assert_eq!(
        sent(output(None, true, &[]), secrets),
        json!({SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": unknown})
    );
    let nested = Value::array([Value::object([("deep", Value::Bytes(vec![0x80]))])]);
    let refused = plain.properties(&one(nested)).unwrap_err();
    assert_eq!(refused.problem, Problem::Bytes);
    assert!(refused.to_string().starts_with("property `v[0].deep`: "), "{refused}");
}

#[test]
fn unknown_values_are_kept_dropped_or_refused() {
    let drop = Encoding { unknowns: Unknowns::Drop, ..Encoding::default() };
    let list = Value::array([Value::from("a"), Value::Computed(Computed::Bool), Value::from("b")]);
    assert_eq!(sent(list.clone(), drop), json!(["a", "b"]));
    assert_eq!(sent(Value::secret(Value::Computed(Computed::String)), drop), json!("absent"));
    assert_eq!(sent(output(None, false, &[]), drop), json!("absent"));
    let reject = Encoding { unknowns: Unknowns::Reject, ..Encoding::default() };
    let refused = reject.properties(&one(list)).unwrap_err().to_string();
    assert_eq!(refused, "property `v[1]`: unexpected unknown value");

    let sentinel = json!(["x", "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"]);
    let read = |unknowns| received(sentinel.clone(), Decoding { unknowns, ..Decoding::default() });
    let first = Value::from("x");
    assert_eq!(
        read(Unknowns::Keep),
        Ok(Some(Value::Array(vec![first.clone(), Value::Computed(Computed::Bool)])))
    );
    assert_eq!(read(Unknowns::Drop), Ok(Some(Value::Array(vec![first, Value::Null]))));
    assert_eq!(read(Unknowns::Reject), Err("property `v[1]`: unexpected unknown value".into()));
}

#[test]
fn nulls_are_dropped_from_objects_and_not_from_lists() {
    let value = Value::object([("n", Value::Null), ("l", Value::Array(vec![Value::Null]))]);
    let encoding = Encoding { nulls: Nulls::Drop, ..Encoding::default() };
    assert_eq!(sent(value, encoding), json!({"l": [null]}));
    let decoding = Decoding { nulls: Nulls::Drop, ..Decoding::default() };
    let read = received(json!({"n": null, "l": [null]}), decoding).unwrap().unwrap();
    assert_eq!(read, Value::object([("l", Value::Array(vec![Value::Null]))]));
}

#[test]
fn outputs_are_lowered_kept_or_made() {
    let wire = json!({
        SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": 1, "secret": true, "dependencies": [URN],
    });
    let unknown = json!({SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"});
    let secret = json!({SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": 1});
    let read = |wire: &serde_json::Value, outputs| {
        received(wire.clone(), Decoding { outputs, ..Decoding::default() }).unwrap().unwrap()
    };
    let number = Value::from(1);
    assert_eq!(read(&wire, Outputs::Lower), Value::secret(number.clone()));
    assert_eq!(read(&wire, Outputs::Keep), output(Some(number.clone()), true, &[URN]));
    assert_eq!(read(&unknown, Outputs::Lower), Value::Computed(Computed::String));
    assert_eq!(read(&secret, Outputs::Keep), Value::secret(number.clone()));
    assert_eq!(read(&secret, Outputs::Upgrade), output(Some(number), true, &[]));
    assert_eq!(read(&json!(Computed::Number.sentinel()), Outputs::Upgrade), output(None, false, &[]));
    let bare = Decoding { secrets: false, ..Decoding::default() };
    assert_eq!(received(wire, bare).unwrap(), Some(Value::from(1)));
}

#[test]
fn references_without_support_are_ids_or_urns() {
    let plain = Decoding { resources: false, ..Decoding::default() };
    let wire =
        |id: serde_json::Value| json!({SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": URN, "id": id});
    assert_eq!(received(wire(json!("i")), plain), Ok(Some(Value::from("i"))));
    assert_eq!(received(wire(json!("")), plain), Ok(Some(Value::Computed(Computed::String))));
    let component = json!({SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": URN});
    assert_eq!(received(component, plain), Ok(Some(Value::from(URN))));
    let unknown = received(wire(json!(Computed::String.sentinel())), keep_all()).unwrap().unwrap();
    let Value::ResourceReference(unknown) = unknown else { panic!("{unknown:?}") };
    assert_eq!(unknown.id.as_deref(), Some(""));
}

#[test]
fn malformed_signatures_name_their_place() {
    let cases = [
        (json!({SIGNATURE: "who"}), "unrecognized signature 'who'"),
        (json!({SIGNATURE: 1}), "unrecognized signature 'of kind number'"),
        (json!({SIGNATURE: "1b47061264138c4ac30d75fd1eb44270"}), "malformed secret: value is missing"),
        (
            json!({SIGNATURE: "803fd3297a5875dc03ca845dda5d2a98", "value": "%"}),
            "malformed byte string: value is not valid base64",
        ),
        (
            json!({SIGNATURE: "803fd3297a5875dc03ca845dda5d2a98", "value": 1}),
            "malformed byte string: value is not a string",
        ),
        (
            json!({SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e"}),
            "malformed resource reference: urn is missing",
        ),
        (
            json!({SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": URN, "id": []}),
            "malformed resource reference: id is not a string",
        ),
        (
            json!({SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "secret": "yes"}),
            "malformed output value: secret is not a bool",
        ),
        (
            json!({SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "dependencies": [1]}),
            "malformed output value: dependencies has an element that is not a string",
        ),
        (
            json!({SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": {}}),
            "malformed asset: text is not a string",
        ),
        (
            json!({SIGNATURE: "0def7320c3a5731c473e5ecbe6d01bc7", "assets": []}),
            "malformed archive: assets is not an object",
        ),
    ];
    for (wire, problem) in cases {
        assert_eq!(
            received(json!([{"in": wire}]), keep_all()),
            Err(format!("property `v[0].in`: {problem}"))
        );
    }
    let stranger = json!({SIGNATURE: "0def7320c3a5731c473e5ecbe6d01bc7", "assets": {"a": 1}});
    assert_eq!(
        received(stranger, keep_all()),
        Err("property `v.assets.a`: an archive member is neither an asset nor an archive".into())
    );
}

#[test]
fn sealed_secrets_are_not_sent() {
    let refused = Encoding::to(Accepts::ALL).properties(&one(Value::sealed("v1:x"))).unwrap_err();
    assert_eq!(refused.to_string(), "property `v`: the secret is still sealed");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,6}", "\\PC{0,12}"]
}

fn urn() -> impl Strategy<Value = Urn> {
    "[a-z]{1,5}".prop_map(|name| Urn::build("s", "p", "", "a:b:C", &name))
}

fn asset() -> impl Strategy<Value = Value> {
    let source = prop_oneof![
        text().prop_map(AssetSource::Text),
        "[a-z/]{1,9}".prop_map(AssetSource::Path),
        "[a-z:]{1,9}".prop_map(AssetSource::Uri),
    ];
    ("[0-9a-f]{0,8}", source).prop_map(|(hash, source)| Value::Asset(Asset { hash, source }))
}

fn archive() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "[a-z/]{1,9}".prop_map(ArchiveSource::Path),
        "[a-z:]{1,9}".prop_map(ArchiveSource::Uri),
        prop::collection::btree_map(text(), asset(), 0..3).prop_map(ArchiveSource::Assets),
    ];
    ("[0-9a-f]{0,8}", leaf).prop_map(|(hash, source)| Value::Archive(Archive { hash, source }))
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::Number(Number::Integer(number.into()))),
        text().prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::bytes),
        prop::sample::select(vec![Computed::Bool, Computed::String, Computed::Object, Computed::Archive])
            .prop_map(Value::Computed),
        asset(),
        archive(),
        (urn(), prop::option::of("[a-z]{0,3}"), "[0-9.]{0,5}").prop_map(|(urn, id, package_version)| {
            Value::ResourceReference(ResourceReference { urn, id, package_version })
        }),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner.clone(), 0..5).prop_map(Value::Object),
            inner.clone().prop_map(Value::secret),
            (prop::option::of(inner), any::<bool>(), prop::collection::vec(urn(), 0..3)).prop_map(
                |(value, secret, dependencies)| {
                    Value::Output(Box::new(Output { value, secret, dependencies }))
                }
            ),
        ]
    })
}

proptest! {
    #[test]
    fn all_values_come_back(properties in prop::collection::btree_map(text(), any_value(), 0..6)) {
        let wire = Encoding::to(Accepts::ALL).properties(&properties).unwrap();
        // Through the ordinary implementation of protobuf, which must read the same.
        let known = <prost_types::Struct as prost::Message>::decode(&*wire.bytes);
        if let Ok(known) = known {
            prop_assert_eq!(known.fields.len(), properties.len());
        }
        let read = keep_all().properties(&wire).unwrap();
        prop_assert_eq!(read, properties);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = keep_all().properties(&Struct { bytes: bytes.clone() });
        let _ = Decoding::default().value(&super::RawValue { bytes });
    }

    #[test]
    fn damaged_messages_never_panic(
        properties in prop::collection::btree_map(text(), any_value(), 1..4),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut wire = Encoding::to(Accepts::ALL).properties(&properties).unwrap();
        let at = at.index(wire.bytes.len());
        wire.bytes[at] = byte;
        let _ = keep_all().properties(&wire);
    }

    #[test]
    fn nothing_is_sent_that_the_receiver_does_not_understand(value in any_value()) {
        let plain = Encoding::to(Accepts { bytes: true, ..Accepts::default() });
        let text = serde_json::to_string(&plain.properties(&one(value)).unwrap().to_json().unwrap()).unwrap();
        for signature in
            ["1b47061264138c4ac30d75fd1eb44270", "5cf8f73096256a8f31e491e813e4eb8e", "d0e6a833031e9bbcd3f4e8bde6ca49a4"]
        {
            prop_assert!(!text.contains(signature));
        }
    }
}
