use super::*;
use crate::proto::codegen;
use drystone_engine::{CheckFailure, MonitorError};
use drystone_model::{Output, ResourceReference};
use serde_json::json;
use tonic::Code;

fn reference() -> Value {
    Value::ResourceReference(ResourceReference {
        urn: Urn::new(OTHER),
        id: Some("i".into()),
        package_version: String::new(),
    })
}

#[tokio::test]
async fn reading_gives_the_outputs_in_the_form_asked_for() {
    let recorder = Recorder {
        read: Box::new(|request| {
            assert_eq!((request.id.as_str(), request.name.as_str()), ("i", "n"));
            assert_eq!(request.parent.as_str(), DEPENDENCY);
            assert_eq!(request.additional_secret_outputs, ["s"]);
            assert_eq!(request.package.version, "1.0.0");
            let properties = map([("ref", reference()), ("s", Value::secret(Value::from("x")))]);
            Ok(Registered { urn: Urn::new(OTHER), id: request.id, properties, ..Default::default() })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let request = rpc::ReadResourceRequest {
        id: "i".into(),
        r#type: "a:b:C".into(),
        name: "n".into(),
        parent: DEPENDENCY.into(),
        version: "1.0.0".into(),
        additional_secret_outputs: vec!["s".into()],
        ..Default::default()
    };
    let plain = session.client().read_resource(request.clone()).await.unwrap().into_inner();
    assert_eq!((plain.urn.as_str(), json(plain.properties.as_ref())), (OTHER, json!({"ref": "i", "s": "x"})));
    let request = rpc::ReadResourceRequest { accept_secrets: true, accept_resources: true, ..request };
    let full = session.client().read_resource(request).await.unwrap().into_inner();
    let full = json(full.properties.as_ref());
    assert_eq!((&full["ref"]["urn"], &full["s"]["value"]), (&json!(OTHER), &json!("x")));
}

#[tokio::test]
async fn functions_keep_secrets_and_give_references_where_taken() {
    let recorder = Recorder {
        invoke: Box::new(|request| {
            assert_eq!(request.dependencies, [Urn::new(DEPENDENCY)]);
            assert_eq!(request.arguments, map([("a", 1)]));
            Ok(Invoked {
                properties: map([("ref", reference()), ("s", Value::secret(Value::from("x")))]),
                failures: vec![CheckFailure { property: "p".into(), reason: "r".into() }],
                ..Invoked::default()
            })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let request = rpc::ResourceInvokeRequest {
        tok: "a:b:f".into(),
        args: raw(json!({"a": 1})),
        depends_on: vec![DEPENDENCY.into()],
        ..Default::default()
    };
    let answer = session.client().invoke(request.clone()).await.unwrap().into_inner();
    let result = json(answer.r#return.as_ref());
    assert_eq!((&result["ref"], &result["s"]["value"]), (&json!("i"), &json!("x")));
    assert_eq!(answer.failures[0].property, "p");
    let found = rpc::ResourceInvokeRequest { tok: "pulumi:pulumi:getResource".into(), ..request };
    let answer = session.client().invoke(found).await.unwrap().into_inner();
    assert_eq!(json(answer.r#return.as_ref())["ref"]["urn"], OTHER);
}

#[tokio::test]
async fn methods_carry_dependencies_both_ways() {
    let recorder = Recorder {
        call: Box::new(|request| {
            assert_eq!(request.token, "a:b:C/m");
            assert_eq!(request.argument_dependencies["a"], [Urn::new(DEPENDENCY), Urn::new(OTHER)]);
            assert!(matches!(request.arguments["a"], Value::Output(_)));
            let output =
                Output { value: Some(Value::from(1)), secret: false, dependencies: vec![Urn::new(OTHER)] };
            Ok(CallAnswer {
                properties: map([("r", Value::Output(Box::new(output)))]),
                dependencies: [("r".to_owned(), vec![Urn::new(OTHER)])].into(),
                failures: Vec::new(),
            })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let deps = rpc::resource_call_request::ArgumentDependencies { urns: vec![DEPENDENCY.into()] };
    let request = rpc::ResourceCallRequest {
        tok: "a:b:C/m".into(),
        args: raw(json!({"a": {
            SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": 1, "dependencies": [OTHER],
        }})),
        arg_dependencies: [("a".to_owned(), deps)].into(),
        ..Default::default()
    };
    let answer = session.client().call(request).await.unwrap().into_inner();
    assert_eq!(json(answer.r#return.as_ref()), json!({"r": 1}));
    assert_eq!(answer.return_dependencies["r"].urns, [OTHER]);
}

#[tokio::test]
async fn a_failed_function_is_told_in_its_own_words() {
    let invoke = |_| Err(MonitorError::new("invocation of a:b:f returned an error: no"));
    let recorder = Recorder { invoke: Box::new(invoke), ..Recorder::default() };
    let session = Session::start(recorder).await;
    let request = rpc::ResourceInvokeRequest { tok: "a:b:f".into(), ..Default::default() };
    let status = session.client().invoke(request).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unknown, "invocation of a:b:f returned an error: no")
    );
}

#[tokio::test]
async fn packages_are_known_by_reference() {
    let session = Session::start(Recorder::default()).await;
    let parameterization =
        |name: &str| rpc::Parameterization { name: name.into(), version: "2.0.0".into(), value: vec![1, 2] };
    let request = rpc::RegisterPackageRequest {
        name: "base".into(),
        version: "1.0.0".into(),
        download_url: "https://plugins".into(),
        parameterization: Some(parameterization("made")),
        extension: Some(parameterization("more")),
        ..Default::default()
    };
    let answer = session.client().register_package(request).await.unwrap().into_inner();
    assert_eq!(answer.r#ref, "ref-1");
    let seen = session.recorder.packages.lock().unwrap().remove(0);
    assert_eq!((seen.package.name.as_str(), seen.package.package()), ("base", "made"));
    assert_eq!(seen.extension.unwrap().name, "more");
}

#[tokio::test]
async fn schemas_are_found_through_the_operation() {
    let session = Session::start(Recorder::default()).await;
    let mut loader = codegen::loader_client::LoaderClient::new(session.channel.clone());
    let request = codegen::GetSchemaRequest { package: "pkg".into(), ..Default::default() };
    let answer = loader.get_schema(request).await.unwrap().into_inner();
    assert_eq!(answer.schema, br#"{"name":"pkg"}"#);
    let mut mapper = codegen::mapper_client::MapperClient::new(session.channel.clone());
    let none = mapper.get_mapping(codegen::GetMappingRequest::default()).await.unwrap().into_inner();
    assert!(none.data.is_empty());
}
