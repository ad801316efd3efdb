use super::{CallLog, Trace};
use crate::proto::pulumirpc as rpc;
use crate::wire::{RawValue, Struct};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tonic::Status;

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_call_is_two_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.json");
    let log = CallLog::open(&path).unwrap();
    let trace = Trace::client(Some(&log), "resource", "pkg");
    let news = json!({"a": [1, {"b": null}]});
    let request = rpc::CheckRequest {
        urn: "u".into(),
        news: Some(Struct::from_json(news.as_object().unwrap())),
        random_seed: vec![1, 2, 3],
        autonaming: Some(rpc::check_request::AutonamingOptions { proposed_name: "n".into(), mode: 1 }),
        ..Default::default()
    };
    let call = trace.begin("/pulumirpc.ResourceProvider/Check", &request);
    call.end(Ok(&rpc::CheckResponse {
        failures: vec![rpc::CheckFailure { property: "p".into(), reason: String::new() }],
        ..Default::default()
    }));
    let lines = lines(&path);
    assert_eq!(lines.len(), 2);
    let asked = json!({
        "urn": "u", "news": news, "randomSeed": "AQID",
        "autonaming": {"proposedName": "n", "mode": "ENFORCE"},
    });
    for line in &lines {
        assert_eq!(line["method"], "/pulumirpc.ResourceProvider/Check");
        assert_eq!(line["request"], asked);
        assert_eq!(line["metadata"], json!({"kind": "resource", "mode": "client", "name": "pkg"}));
    }
    assert_eq!(lines[0]["progress"], "request_started");
    assert!(lines[0].get("response").is_none());
    assert_eq!(lines[1]["progress"], "response_completed");
    assert_eq!(lines[1]["response"], json!({"failures": [{"property": "p"}]}));
    assert!(lines[1]["duration"].is_u64() && lines[1]["timestamp"].is_string());
}

#[test]
fn errors_maps_large_numbers_and_values_have_their_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.json");
    let log = CallLog::open(&path).unwrap();
    let trace = Trace::server(Some(&log));
    let list = rpc::ListRequest { limit: 1 << 60, ..Default::default() };
    let call = trace.begin("/pulumirpc.ResourceProvider/List", &list);
    call.end(Err::<&rpc::ListResponse, _>(&Status::not_found("gone")));
    let register = rpc::RegisterResourceRequest {
        providers: [("a".to_owned(), "b".to_owned())].into(),
        replacement_trigger: Some(RawValue::from_json(&json!("t"))),
        protect: Some(false),
        ..Default::default()
    };
    trace.begin("/pulumirpc.ResourceMonitor/RegisterResource", &register).end(Ok(&()));
    let lines = lines(&path);
    assert_eq!(lines[0]["request"], json!({"limit": "1152921504606846976"}));
    assert_eq!(lines[1]["errors"], json!(["rpc error: code = NotFound desc = gone"]));
    assert_eq!(
        lines[2]["request"],
        json!({"providers": {"a": "b"}, "replacementTrigger": "t", "protect": false})
    );
    assert_eq!(lines[3]["response"], json!({}));
    assert_eq!(lines[3]["metadata"], json!({"mode": "server"}));
}

#[test]
fn every_method_that_is_served_or_called_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let log = CallLog::open(&folder.path().join("calls.json")).unwrap();
    for method in [
        "/pulumirpc.ResourceMonitor/RegisterResource",
        "/pulumirpc.Engine/Log",
        "/pulumirpc.ResourceStatus/PublishViewSteps",
        "/pulumirpc.ResourceProvider/Configure",
        "/pulumirpc.Callbacks/Invoke",
        "/codegen.Loader/GetSchema",
    ] {
        assert!(log.method(method).is_some(), "{method}");
    }
    assert!(log.method("/pulumirpc.Engine/Nothing").is_none());
    assert!(log.method("nonsense").is_none());
}

#[test]
fn without_a_log_nothing_happens() {
    Trace::default().begin("/pulumirpc.Engine/Log", &rpc::LogRequest::default()).end(Ok(&()));
}
