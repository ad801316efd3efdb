//! Functions of a program, served over loopback as an SDK serves them and called as the operation calls them.

use super::*;
use drystone_engine::{Alias, AliasParent, HookCall, HookMoment, PackageSource, ResourceOptions, Timeouts};
use drystone_model::{Json, Output, Resource};
use prost::Message;
use rpc::callbacks_server::{Callbacks, CallbacksServer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

type Body = Box<dyn Fn(&str, &[u8]) -> Result<Vec<u8>, Status> + Send + Sync>;

struct Program(Body);

#[tonic::async_trait]
impl Callbacks for Program {
    async fn invoke(
        &self,
        request: Request<rpc::CallbackInvokeRequest>,
    ) -> Result<Response<rpc::CallbackInvokeResponse>, Status> {
        let request = request.into_inner();
        let response = (self.0)(&request.token, &request.request)?;
        Ok(Response::new(rpc::CallbackInvokeResponse { response }))
    }
}

/// Serves one function under the token `tok`.
async fn serve<Q: Message + Default, A: Message>(
    body: impl Fn(Q) -> Result<A, Status> + Send + Sync + 'static,
) -> rpc::Callback {
    let program = Program(Box::new(move |token, bytes| {
        assert_eq!(token, "tok");
        body(Q::decode(bytes).unwrap()).map(|answer| answer.encode_to_vec())
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let incoming = TcpListenerStream::new(listener);
        Server::builder().add_service(CallbacksServer::new(program)).serve_with_incoming(incoming).await
    });
    rpc::Callback { target, token: "tok".into(), accepts_byte_string: true }
}

/// The transform that a program registered for the stack.
async fn registered_transform(callback: rpc::Callback) -> Arc<dyn Transform> {
    let session = Session::start(Recorder::default()).await;
    session.client().register_stack_transform(callback).await.unwrap();
    session.recorder.transforms.lock().unwrap().remove(0)
}

fn output(value: Option<&str>, secret: bool) -> Value {
    let dependencies = vec![Urn::new(OTHER)];
    Value::Output(Box::new(Output { value: value.map(Value::from), secret, dependencies }))
}

fn request() -> RegisterRequest {
    RegisterRequest {
        type_token: "a:b:C".into(),
        name: "n".into(),
        custom: true,
        properties: map([
            ("plain", Value::from(1)),
            ("dep", output(Some("d"), false)),
            ("secret", output(Some("s"), true)),
            ("unknown", output(None, false)),
        ]),
        dependencies: vec![Urn::new(DEPENDENCY)],
        parent: Urn::new(OTHER),
        provider: "p::1".into(),
        providers: [("a".to_owned(), "p::1".to_owned())].into(),
        package: PackageSource {
            version: "1.0.0".into(),
            download_url: "https://plugins".into(),
            checksums: [("linux".to_owned(), vec![1])].into(),
            reference: "ref".into(),
        },
        options: ResourceOptions {
            aliases: vec![
                Alias::Urn(Urn::new(OTHER)),
                Alias::Spec {
                    name: "old".into(),
                    type_token: String::new(),
                    stack: String::new(),
                    project: String::new(),
                    parent: AliasParent::Root,
                },
            ],
            protect: Some(true),
            ignore_changes: vec!["i".into()],
            replace_on_changes: vec!["r".into()],
            replacement_trigger: Some(Value::from("t")),
            replace_with: vec![Urn::new(OTHER)],
            deleted_with: Urn::new(OTHER),
            delete_before_replace: Some(false),
            retain_on_delete: Some(true),
            additional_secret_outputs: vec!["s".into()],
            import_id: "imp".into(),
            timeouts: Timeouts { create: 300.0, ..Timeouts::default() },
            hide_diffs: vec!["h".into()],
            hooks: [(HookMoment::AfterDelete, vec!["hook".to_owned()])].into(),
            env_var_mappings: [("A".to_owned(), "B".to_owned())].into(),
        },
        ..RegisterRequest::default()
    }
}

#[tokio::test]
async fn a_transform_sees_dependencies_in_the_values_and_every_option() {
    let callback = serve(|asked: rpc::TransformRequest| {
        let properties = json(asked.properties.as_ref());
        assert_eq!(properties["plain"], 1);
        let output = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
        assert_eq!(properties["dep"], json!({SIGNATURE: output, "value": "d", "dependencies": [OTHER]}));
        assert_eq!(
            properties["secret"],
            json!({SIGNATURE: output, "value": "s", "secret": true, "dependencies": [OTHER]})
        );
        assert_eq!(properties["unknown"], json!({SIGNATURE: output, "dependencies": [OTHER]}));
        assert_eq!((asked.r#type.as_str(), asked.name.as_str(), asked.custom), ("a:b:C", "n", true));
        assert_eq!(asked.parent, OTHER);
        // Everything comes back as it was.
        Ok(rpc::TransformResponse { properties: asked.properties, options: asked.options })
    })
    .await;
    let before = request();
    let after = registered_transform(callback).await.transform(request()).await.unwrap();
    assert_eq!(after.properties, before.properties);
    assert_eq!(after.dependencies, before.dependencies);
    assert_eq!(format!("{:?}", after.options), format!("{:?}", before.options));
    assert_eq!(format!("{:?}", after.package), format!("{:?}", before.package));
    assert_eq!((after.provider, after.providers), (before.provider, before.providers));
}

#[tokio::test]
async fn a_transform_changes_properties_and_options() {
    let callback = serve(|asked: rpc::TransformRequest| {
        let options = rpc::TransformResourceOptions {
            protect: None,
            depends_on: vec![],
            provider: "q::2".into(),
            ..asked.options.unwrap()
        };
        let properties = raw(json!({
            "new": {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": [1], "dependencies": [DEPENDENCY]},
            "file": {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "hello"},
        }));
        Ok(rpc::TransformResponse { properties, options: Some(options) })
    })
    .await;
    let after = registered_transform(callback).await.transform(request()).await.unwrap();
    let made =
        Output { value: Some(Value::array([1])), secret: false, dependencies: vec![Urn::new(DEPENDENCY)] };
    assert_eq!(after.properties["new"], Value::Output(Box::new(made)));
    assert!(after.dependencies.is_empty());
    assert_eq!((after.options.protect, after.provider.as_str()), (None, "q::2"));
    let Value::Asset(asset) = &after.properties["file"] else { panic!("{:?}", after.properties) };
    assert_eq!(asset.hash.len(), 64);
}

#[tokio::test]
async fn a_transform_that_answers_nothing_changes_nothing() {
    let callback = serve(|_: rpc::TransformRequest| Ok(rpc::TransformResponse::default())).await;
    let transform = registered_transform(callback).await;
    let after = transform.transform(request()).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{:?}", request()));
}

#[tokio::test]
async fn a_transform_that_throws_fails_with_its_message() {
    let callback =
        serve(|_: rpc::TransformRequest| Err::<rpc::TransformResponse, _>(Status::unknown("TypeError: no")))
            .await;
    let failed = registered_transform(callback).await.transform(request()).await.unwrap_err();
    assert_eq!(failed.0, "TypeError: no");
}

#[tokio::test]
async fn transforms_travel_with_a_registration() {
    let callback = serve(|_: rpc::TransformRequest| Ok(rpc::TransformResponse::default())).await;
    let session = Session::start(Recorder::default()).await;
    let registration = rpc::RegisterResourceRequest {
        r#type: "a:b:C".into(),
        name: "n".into(),
        custom: true,
        transforms: vec![callback],
        ..Default::default()
    };
    session.client().register_resource(registration).await.unwrap();
    let seen = session.registered();
    assert_eq!(seen.transforms.len(), 1);
    seen.transforms[0].transform(request()).await.unwrap();
}

#[tokio::test]
async fn invokes_are_transformed_with_their_options() {
    let callback = serve(|asked: rpc::TransformInvokeRequest| {
        assert_eq!(asked.token, "a:b:f");
        let options = asked.options.unwrap();
        assert_eq!((options.provider.as_str(), options.version.as_str()), ("p::1", "1.0.0"));
        Ok(rpc::TransformInvokeResponse {
            args: raw(json!({"a": 2})),
            options: Some(rpc::TransformInvokeOptions { version: "2.0.0".into(), ..options }),
        })
    })
    .await;
    let session = Session::start(Recorder::default()).await;
    session.client().register_stack_invoke_transform(callback).await.unwrap();
    let transform = session.recorder.invoke_transforms.lock().unwrap().remove(0);
    let invoke = InvokeRequest {
        token: "a:b:f".into(),
        arguments: map([("a", 1)]),
        provider: "p::1".into(),
        package: PackageSource { version: "1.0.0".into(), ..Default::default() },
        ..Default::default()
    };
    let after = transform.transform(invoke).await.unwrap();
    assert_eq!((after.arguments, after.version.as_str()), (map([("a", 2)]), "2.0.0"));
    assert_eq!(after.provider, "p::1");
}

#[tokio::test]
async fn hooks_are_told_of_the_operation() {
    let callback = serve(|asked: rpc::ResourceHookRequest| {
        assert_eq!((asked.urn.as_str(), asked.id.as_str(), asked.name.as_str()), (OTHER, "i", "other"));
        assert_eq!(json(asked.new_inputs.as_ref()), json!({"i": 1}));
        assert!(asked.old_inputs.is_none() && asked.old_options.is_none());
        let options = asked.new_options.unwrap();
        assert_eq!((options.protect, options.retain_on_delete), (Some(true), Some(false)));
        assert_eq!(options.custom_timeouts.unwrap().create, "300s");
        assert_eq!(options.hooks.unwrap().before_create, ["hook"]);
        assert_eq!((options.parent.as_str(), options.aliases.len()), (DEPENDENCY, 1));
        assert_eq!(options.hide_diff, ["a.b[0]", "c.d"]);
        let error = if asked.r#type == "a:b:Bad" { "refused" } else { "" };
        Ok(rpc::ResourceHookResponse { error: error.into() })
    })
    .await;
    let session = Session::start(Recorder::default()).await;
    let registration = rpc::RegisterResourceHookRequest {
        name: "hook".into(),
        callback: Some(callback),
        on_dry_run: true,
        ignore_errors: false,
    };
    session.client().register_resource_hook(registration).await.unwrap();
    let (name, hook) = session.recorder.hooks.lock().unwrap().remove(0);
    assert_eq!((name.as_str(), hook.on_dry_run, hook.ignore_errors), ("hook", true, false));
    let call = HookCall {
        urn: Urn::new(OTHER),
        id: "i".into(),
        name: "other".into(),
        type_token: "a:b:C".into(),
        new_inputs: Some(map([("i", 1)])),
        new_record: Some(Resource {
            protect: true,
            custom_timeouts: Some(Json::parse(r#"{"create":300}"#).unwrap()),
            resource_hooks: [("BeforeCreate".to_owned(), vec!["hook".to_owned()])].into(),
            parent: Urn::new(DEPENDENCY),
            aliases: vec![Urn::new(DEPENDENCY)],
            hide_diff: vec![Json::parse(r#"["a","b",0]"#).unwrap(), Json::parse(r#""c.d""#).unwrap()],
            ..Resource::default()
        }),
        ..HookCall::default()
    };
    hook.hook.run(call.clone()).await.unwrap();
    let failed = hook.hook.run(HookCall { type_token: "a:b:Bad".into(), ..call }).await.unwrap_err();
    assert_eq!(failed.0, "refused");
}

#[tokio::test]
async fn error_hooks_decide_about_another_try() {
    let callback = serve(|asked: rpc::ErrorHookRequest| {
        assert_eq!(asked.failed_operation, "create");
        Ok(rpc::ErrorHookResponse { error: String::new(), retry: asked.errors.len() < 2 })
    })
    .await;
    let session = Session::start(Recorder::default()).await;
    let registration = rpc::RegisterErrorHookRequest { name: "again".into(), callback: Some(callback) };
    session.client().register_error_hook(registration).await.unwrap();
    let (name, hook) = session.recorder.error_hooks.lock().unwrap().remove(0);
    assert_eq!(name, "again");
    let call = |errors: &[&str]| HookCall {
        urn: Urn::new(OTHER),
        operation: "create".into(),
        errors: errors.iter().map(|error| (*error).to_owned()).collect(),
        ..HookCall::default()
    };
    assert!(hook.retry(call(&["a"])).await.unwrap());
    assert!(!hook.retry(call(&["b", "a"])).await.unwrap());
}
