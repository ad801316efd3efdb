use super::*;
use drystone_engine::{CreateArguments, DeleteArguments, ProviderErrorKind, ReadArguments, UpdateArguments};
use prost::Message;
use serde_json::json;
use tonic::Code;

/// An error with a detail, as servers in any language send it.
pub(super) fn with_detail(message: &str, name: &str, detail: &impl Message) -> Status {
    let details = crate::proto::rpc::Status {
        code: Code::Unknown.into(),
        message: message.to_owned(),
        details: vec![prost_types::Any {
            type_url: format!("type.googleapis.com/{name}"),
            value: detail.encode_to_vec(),
        }],
    };
    Status::with_details(Code::Unknown, message, details.encode_to_vec().into())
}

fn init_failed(reasons: &[&str]) -> Status {
    let failed = rpc::ErrorResourceInitFailed {
        id: "half".into(),
        properties: raw(json!({"o": 1})),
        reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        inputs: raw(json!({"i": 1})),
        refresh_before_update: true,
    };
    with_detail("init", "pulumirpc.ErrorResourceInitFailed", &failed)
}

#[tokio::test]
async fn a_resource_that_is_there_but_not_ready_keeps_its_state() {
    let served = Served {
        create: Box::new(|_| Err(init_failed(&["too slow"]))),
        update: Box::new(|_| Err(init_failed(&[]))),
        read: Box::new(|_| Err(init_failed(&["still"]))),
        ..Served::default()
    };
    let connected = served.ready().await;
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let created = connected.provider.create(create).await.unwrap();
    assert_eq!((created.id.as_str(), created.outputs), ("half", map([("o", 1)])));
    assert_eq!(created.incomplete, ["too slow"]);
    assert!(created.refresh_before_update);
    let update = UpdateArguments { urn: urn(), id: "i".into(), ..Default::default() };
    let updated = connected.provider.update(update).await.unwrap();
    assert_eq!(updated.incomplete, ["resource init failed"]);
    let read = ReadArguments { urn: urn(), id: "i".into(), ..Default::default() };
    let read = connected.provider.read(read).await.unwrap();
    assert_eq!(read.incomplete, ["still"]);
    assert_eq!((read.inputs, read.outputs), (Some(map([("i", 1)])), Some(map([("o", 1)]))));
}

#[tokio::test]
async fn a_refusal_is_told_in_the_providers_words() {
    let cause = rpc::ErrorCause { message: "quota".into(), stack_trace: String::new() };
    let status = with_detail("cannot make it", "pulumirpc.ErrorCause", &cause);
    let served = Served {
        create: Box::new(move |_| Err(status.clone())),
        delete: Box::new(|_| Err(Status::failed_precondition("not empty"))),
        ..Served::default()
    };
    let connected = served.ready().await;
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let error = connected.provider.create(create).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ProviderErrorKind::Broken, "cannot make it: quota"));
    let delete = DeleteArguments { urn: urn(), id: "i".into(), ..Default::default() };
    let error = connected.provider.delete(delete).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ProviderErrorKind::Refused, "not empty"));
}

#[tokio::test]
async fn refused_inputs_are_named() {
    let refused = rpc::InputPropertiesError {
        errors: vec![rpc::input_properties_error::PropertyError {
            property_path: "a.b".into(),
            reason: "too long".into(),
        }],
    };
    let status = with_detail("bad inputs", "pulumirpc.InputPropertiesError", &refused);
    let served = Served { create: Box::new(move |_| Err(status.clone())), ..Served::default() };
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let error = served.ready().await.provider.create(create).await.unwrap_err();
    assert_eq!(error.message, "bad inputs\n  a.b: too long");
}

#[tokio::test]
async fn a_resource_without_an_id_may_or_may_not_exist() {
    let served = Served { create: Box::new(|_| Ok(rpc::CreateResponse::default())), ..Served::default() };
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let error = served.ready().await.provider.create(create).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unknown);
}

#[tokio::test]
async fn a_provider_that_dies_during_a_call_leaves_the_outcome_unknown() {
    let (begun, waiting) = tokio::sync::oneshot::channel();
    let begun = Mutex::new(Some(begun));
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let served = Served {
        create: Box::new(move |_| {
            begun.lock().unwrap().take().unwrap().send(()).unwrap();
            let _ = held.lock().unwrap().recv();
            Err(Status::aborted("too late"))
        }),
        ..Served::default()
    };
    let mut connected = served.ready().await;
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let process = connected.process.take();
    let (answer, ()) = tokio::join!(connected.provider.create(create), async {
        waiting.await.unwrap();
        process.unwrap().shutdown_background();
    });
    drop(release);
    let error = answer.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unknown);
    assert!(error.message.starts_with("the provider 'pkg' ended or stopped answering"), "{error}");
}

#[tokio::test]
async fn a_provider_that_is_gone_is_named() {
    let mut connected = Served::default().ready().await;
    let create = CreateArguments { urn: urn(), ..Default::default() };
    connected.provider.create(create.clone()).await.unwrap();
    connected.kill();
    let error = connected.provider.create(create).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unknown);
    assert!(error.message.starts_with("the provider 'pkg' ended or stopped answering"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_no_struct_makes_no_sense() {
    let served = Served {
        create: Box::new(|_| {
            let properties = raw(json!({"v": {"4dabf18193072939515e22adb298388d": "what"}}));
            Ok(rpc::CreateResponse { id: "x".into(), properties, ..Default::default() })
        }),
        ..Served::default()
    };
    let create = CreateArguments { urn: urn(), ..Default::default() };
    let error = served.ready().await.provider.create(create).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unknown);
    assert_eq!(
        error.message,
        "the provider's answer makes no sense: property `v`: unrecognized signature 'what'"
    );
}
