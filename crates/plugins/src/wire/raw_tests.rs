use super::{Malformed, RawValue, Struct};
use crate::proto::pulumirpc as rpc;
use prost::Message;
use prost_types::value::Kind;
use serde_json::json;

fn object(value: serde_json::Value) -> Struct {
    let serde_json::Value::Object(members) = value else { panic!("not an object") };
    Struct::from_json(&members)
}

/// The same bytes read by the ordinary implementation of protobuf values.
fn well_known(bytes: &[u8]) -> prost_types::Struct {
    prost_types::Struct::decode(bytes).unwrap()
}

#[test]
fn requests_have_the_bytes_of_the_protocol() {
    let request = rpc::RegisterResourceRequest {
        r#type: "a:b:C".into(),
        name: "n".into(),
        custom: true,
        object: Some(object(json!({"k": "v"}))),
        protect: Some(false),
        accepts_byte_string: true,
        ..Default::default()
    };
    let expected: &[u8] = &[
        0x0a, 5, b'a', b':', b'b', b':', b'C', // type = 1
        0x12, 1, b'n', // name = 2
        0x20, 1, // custom = 4
        0x2a, 10, 0x0a, 8, 0x0a, 1, b'k', 0x12, 3, 0x1a, 1, b'v', // object = 5
        0x30, 0, // protect = 6, present though false
        0xd0, 0x02, 1, // accepts_byte_string = 42
    ];
    assert_eq!(request.encode_to_vec(), expected);
    assert_eq!(rpc::RegisterResourceRequest::decode(expected).unwrap(), request);
}

#[test]
fn answers_have_the_bytes_of_the_protocol() {
    let response = rpc::RegisterResourceResponse {
        urn: "u".into(),
        id: "i".into(),
        stable: true,
        result: rpc::Result::Skip.into(),
        ..Default::default()
    };
    assert_eq!(response.encode_to_vec(), [0x0a, 1, b'u', 0x12, 1, b'i', 0x20, 1, 0x38, 2]);

    let handshake = rpc::ProviderHandshakeRequest {
        engine_address: "e".into(),
        root_directory: Some(String::new()),
        invoke_with_preview: true,
        accepts_byte_string: true,
        ..Default::default()
    };
    assert_eq!(handshake.encode_to_vec(), [0x0a, 1, b'e', 0x12, 0, 0x38, 1, 0x58, 1]);

    let failed = rpc::ErrorResourceInitFailed {
        id: "x".into(),
        reasons: vec!["r".into()],
        refresh_before_update: true,
        ..Default::default()
    };
    assert_eq!(failed.encode_to_vec(), [0x0a, 1, b'x', 0x1a, 1, b'r', 0x28, 1]);

    let list = rpc::ListResponse {
        response: Some(rpc::list_response::Response::Continuation(rpc::list_response::Continuation {
            continuation_token: "t".into(),
        })),
    };
    assert_eq!(list.encode_to_vec(), [0x1a, 3, 0x0a, 1, b't']);
}

#[test]
fn structs_are_read_by_others_as_they_were_meant() {
    let written = object(json!({
        "null": null, "yes": true, "no": false, "number": 1.5, "text": "é", "empty": {}, "none": [],
        "list": [1, [2, {"deep": "x".repeat(300)}]],
    }));
    let read = well_known(&written.encode_to_vec());
    assert_eq!(read.fields.len(), 8);
    assert_eq!(read.fields["null"].kind, Some(Kind::NullValue(0)));
    assert_eq!(read.fields["no"].kind, Some(Kind::BoolValue(false)));
    assert_eq!(read.fields["number"].kind, Some(Kind::NumberValue(1.5)));
    assert_eq!(read.fields["text"].kind, Some(Kind::StringValue("é".into())));
    assert_eq!(Struct::decode(&*read.encode_to_vec()).unwrap().to_json(), written.to_json());
}

#[test]
fn values_keep_their_kind() {
    for value in [json!(null), json!(true), json!(-2), json!(0.25), json!("t"), json!([1]), json!({"a": {}})]
    {
        let raw = RawValue::from_json(&value);
        let again = RawValue::decode(&*raw.encode_to_vec()).unwrap();
        assert_eq!(again.to_json(), Ok(value.clone()), "{value}");
        let known = prost_types::Value::decode(&*raw.encode_to_vec()).unwrap();
        assert!(known.kind.is_some(), "{value}");
    }
}

#[test]
fn bytes_that_are_no_struct_are_refused() {
    let read = |bytes: &[u8]| Struct { bytes: bytes.to_vec() }.to_json();
    assert_eq!(read(&[0x0a, 5, 0]), Err(Malformed::Truncated));
    assert_eq!(read(&[0x0b]), Err(Malformed::InvalidField));
    assert_eq!(read(&[0xff; 12]), Err(Malformed::InvalidField));
    assert_eq!(read(&[0x0a, 3, 0x0a, 1, 0xff]), Err(Malformed::InvalidText));
    assert_eq!(read(&[0x0a, 0]).unwrap(), json!({"": null}).as_object().unwrap().clone());
    assert!(Struct::decode([0x0a, 9, 0].as_slice()).is_err());
}

#[test]
fn hostile_nesting_is_refused() {
    let delimited = |field: u8, content: &[u8]| {
        let mut bytes = vec![field << 3 | 2];
        prost::encoding::encode_varint(content.len() as u64, &mut bytes);
        bytes.extend_from_slice(content);
        bytes
    };
    let list = |levels| (0..levels).fold(Vec::new(), |inner, _| delimited(6, &delimited(1, &inner)));
    assert!(RawValue { bytes: list(200) }.to_json().is_ok());
    assert_eq!(RawValue { bytes: list(5000) }.to_json(), Err(Malformed::TooDeep));
}
