use super::*;
use drystone_engine::{DiffKind, Op, Severity};
use rpc::engine_client::EngineClient;
use rpc::resource_status_client::ResourceStatusClient;
use serde_json::json;
use tonic::Code;

#[tokio::test]
async fn programs_learn_of_the_run_and_its_features() {
    let session = Session::start(Recorder::default()).await;
    let info = session.client().get_deployment_info(()).await.unwrap().into_inner();
    assert_eq!(
        (info.project.as_str(), info.stack.as_str(), info.organization.as_str()),
        ("shop", "dev", "org")
    );
    assert_eq!(info.config["shop:key"], "value");
    assert_eq!(info.config_secret_keys, ["shop:key"]);
    assert_eq!((info.dry_run, info.parallel), (true, i32::MAX));
    assert!(info.supported_features.contains(&0) && info.supported_features.contains(&15));
    assert!(!info.supported_features.contains(&16), "state migrations are not supported");
    for (id, expected) in [("secrets", true), ("errorHooks", true), ("byteString", false), ("", false)] {
        let request = rpc::SupportsFeatureRequest { id: id.into() };
        let answer = session.client().supports_feature(request).await.unwrap().into_inner();
        assert_eq!(answer.has_support, expected, "{id}");
    }
}

#[tokio::test]
async fn messages_reach_people_with_and_without_an_operation() {
    let session = Session::without_operation(Recorder::default()).await;
    let mut engine = EngineClient::new(session.channel.clone());
    let mut request = rpc::LogRequest {
        message: "hello".into(),
        urn: OTHER.into(),
        stream_id: 7,
        ephemeral: true,
        ..Default::default()
    };
    request.set_severity(rpc::LogSeverity::Warning);
    engine.log(request.clone()).await.unwrap();
    assert_eq!(session.heard.0.lock().unwrap()[0].severity, Severity::Warning);
    session.server.endpoint().attach(session.recorder.clone());
    engine.log(request).await.unwrap();
    let message = session.recorder.messages.lock().unwrap().remove(0);
    assert_eq!((message.message.as_str(), message.urn.as_str()), ("hello", OTHER));
    assert_eq!((message.stream, message.ephemeral), (7, true));
}

#[tokio::test]
async fn the_root_resource_is_what_was_set_or_what_there_is() {
    let session = Session::start(Recorder::default()).await;
    let mut engine = EngineClient::new(session.channel.clone());
    let get = rpc::GetRootResourceRequest {};
    let root = engine.get_root_resource(get).await.unwrap().into_inner().urn;
    assert_eq!(root, "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev");
    engine.set_root_resource(rpc::SetRootResourceRequest { urn: OTHER.into() }).await.unwrap();
    assert_eq!(engine.get_root_resource(get).await.unwrap().into_inner().urn, OTHER);
}

#[tokio::test]
async fn programs_may_require_a_version() {
    let session = Session::start(Recorder::default()).await;
    let mut engine = EngineClient::new(session.channel.clone());
    let mut require = async |range: &str| {
        let request = rpc::RequirePulumiVersionRequest { pulumi_version_range: range.into() };
        engine.require_pulumi_version(request).await
    };
    require(">=3.0.0").await.unwrap();
    let refused = require(">=4.0.0").await.unwrap_err();
    assert_eq!(
        refused.message(),
        "Pulumi CLI version 3.260.0 does not satisfy the version range \">=4.0.0\""
    );
}

#[tokio::test]
async fn the_program_is_released_when_callbacks_are_no_longer_needed() {
    let session = Session::start(Recorder::default()).await;
    let mut client = session.client();
    let waiting = tokio::spawn(async move { client.signal_and_wait_for_shutdown(()).await });
    let second = loop {
        // The first call has to have arrived.
        if session.recorder.waiting.load(std::sync::atomic::Ordering::SeqCst) {
            break session.client().signal_and_wait_for_shutdown(()).await;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(second.unwrap_err().code(), Code::Unknown);
    session.recorder.finished.notify_one();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn views_are_published_with_their_token() {
    let session = Session::start(Recorder::default()).await;
    let mut status = ResourceStatusClient::new(session.channel.clone());
    let mut step = rpc::ViewStep {
        r#type: "a:b:View".into(),
        name: "v".into(),
        new: Some(rpc::ViewStepState {
            r#type: "a:b:View".into(),
            name: "v".into(),
            inputs: raw(json!({"i": 1})),
            outputs: raw(json!({"o": 1})),
            ..Default::default()
        }),
        has_detailed_diff: true,
        detailed_diff: [("i".to_owned(), rpc::PropertyDiff { kind: 1, input_diff: false })].into(),
        ..Default::default()
    };
    step.set_op(rpc::view_step::Op::CreateReplacement);
    step.set_status(rpc::view_step::Status::PartialFailure);
    let request = rpc::PublishViewStepsRequest { token: "tok".into(), steps: vec![step] };
    status.publish_view_steps(request).await.unwrap();
    let (token, steps) = session.recorder.views.lock().unwrap().remove(0);
    assert_eq!((token.as_str(), steps.len()), ("tok", 1));
    assert_eq!((steps[0].op, steps[0].partial), (Op::CreateReplacement, true));
    assert_eq!(steps[0].new.as_ref().unwrap().inputs, map([("i", 1)]));
    assert_eq!(steps[0].detailed.as_ref().unwrap()["i"].kind, DiffKind::AddReplace);
    let unspecified =
        rpc::PublishViewStepsRequest { token: "tok".into(), steps: vec![rpc::ViewStep::default()] };
    assert_eq!(status.publish_view_steps(unspecified).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn stopping_closes_the_port_and_releases_the_operation() {
    let session = Session::start(Recorder::default()).await;
    let endpoint = session.server.endpoint().clone();
    assert!(endpoint.monitor().is_some());
    session.server.stop().await;
    assert!(endpoint.monitor().is_none());
    tokio::net::TcpStream::connect(endpoint.address()).await.unwrap_err();
}

#[tokio::test]
async fn calls_both_ways_are_logged_where_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.json");
    let log = crate::trace::CallLog::open(&path).unwrap();
    let session = Session::logged(Recorder::default(), Some(log)).await;
    session.server.endpoint().attach(session.recorder.clone());
    session.client().get_deployment_info(()).await.unwrap();
    let request =
        rpc::RegisterResourceRequest { name: "n".into(), parent: "no".into(), ..Default::default() };
    session.client().register_resource(request).await.unwrap_err();
    let lines: Vec<serde_json::Value> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let methods: Vec<&str> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
    let (info, register) =
        ("/pulumirpc.ResourceMonitor/GetDeploymentInfo", "/pulumirpc.ResourceMonitor/RegisterResource");
    assert_eq!(methods, [info, info, register, register]);
    assert_eq!(lines[1]["response"]["configSecretKeys"], json!(["shop:key"]));
    assert_eq!(lines[3]["request"], json!({"name": "n", "parent": "no"}));
    assert!(lines[3]["errors"][0].as_str().unwrap().starts_with("rpc error: code = InvalidArgument desc = "));
}
