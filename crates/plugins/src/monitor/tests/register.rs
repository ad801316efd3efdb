use super::*;
use drystone_engine::{Alias, AliasParent, HookMoment, MonitorErrorKind, Registration};
use drystone_model::{Asset, AssetSource, Computed, Output};
use rpc::alias::{Alias as Form, Spec, spec::Parent};
use rpc::register_resource_request::{CustomTimeouts, PropertyDependencies, ResourceHooksBinding};
use serde_json::json;
use tonic::{Code, Request};

fn custom() -> rpc::RegisterResourceRequest {
    rpc::RegisterResourceRequest {
        r#type: "a:b:C".into(),
        name: "n".into(),
        custom: true,
        accept_secrets: true,
        accept_resources: true,
        accepts_byte_string: true,
        supports_partial_values: true,
        supports_result_reporting: true,
        ..Default::default()
    }
}

fn output(value: impl Into<serde_json::Value>, dependencies: &[&str]) -> serde_json::Value {
    let value = value.into();
    json!({SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": value, "dependencies": dependencies})
}

#[tokio::test]
async fn every_option_reaches_the_operation() {
    let session = Session::start(Recorder::default()).await;
    let request = rpc::RegisterResourceRequest {
        parent: OTHER.into(),
        object: raw(json!({"a": 1})),
        protect: Some(false),
        dependencies: vec![DEPENDENCY.into()],
        provider: "p::1".into(),
        property_dependencies: [("a".to_owned(), PropertyDependencies { urns: vec![OTHER.into()] })].into(),
        version: "1.0.0".into(),
        plugin_download_url: "https://plugins".into(),
        plugin_checksums: [("linux".to_owned(), vec![1])].into(),
        package_ref: "ref".into(),
        ignore_changes: vec!["i".into()],
        replace_on_changes: vec!["r".into()],
        replacement_trigger: Some(crate::wire::RawValue::from_json(&json!("t"))),
        replace_with: vec![OTHER.into()],
        deleted_with: OTHER.into(),
        delete_before_replace_defined: true,
        retain_on_delete: Some(true),
        additional_secret_outputs: vec!["s".into()],
        import_id: "imp".into(),
        custom_timeouts: Some(CustomTimeouts {
            create: "5m".into(),
            read: "1.5s".into(),
            ..Default::default()
        }),
        hide_diffs: vec!["h".into()],
        hooks: Some(ResourceHooksBinding { before_create: vec!["hook".into()], ..Default::default() }),
        providers: [("a".to_owned(), "p::1".to_owned())].into(),
        source_position: Some(rpc::SourcePosition {
            uri: "file:///work/shop/index.ts".into(),
            line: 3,
            column: 7,
        }),
        stack_trace: Some(rpc::StackTrace { frames: vec![rpc::StackFrame { pc: None }] }),
        parent_stack_trace_handle: "word".into(),
        ..custom()
    };
    session.client().register_resource(request).await.unwrap();
    let seen = session.registered();
    assert_eq!((seen.type_token.as_str(), seen.name.as_str(), seen.parent.as_str()), ("a:b:C", "n", OTHER));
    assert!(seen.custom && !seen.remote);
    assert_eq!(seen.properties, map([("a", 1)]));
    assert_eq!(seen.dependencies, [Urn::new(DEPENDENCY)]);
    assert_eq!(seen.property_dependencies["a"], [Urn::new(OTHER)]);
    assert_eq!(seen.provider, "p::1");
    assert_eq!(seen.providers["a"], "p::1");
    assert_eq!((seen.package.version.as_str(), seen.package.reference.as_str()), ("1.0.0", "ref"));
    assert_eq!(seen.package.download_url, "https://plugins");
    assert_eq!(seen.package.checksums["linux"], [1]);
    let options = seen.options;
    assert_eq!((options.protect, options.retain_on_delete), (Some(false), Some(true)));
    assert_eq!(options.delete_before_replace, Some(false));
    assert_eq!(
        (options.ignore_changes, options.replace_on_changes),
        (vec!["i".to_owned()], vec!["r".to_owned()])
    );
    assert_eq!(options.replacement_trigger, Some(Value::from("t")));
    assert_eq!((options.replace_with, options.deleted_with), (vec![Urn::new(OTHER)], Urn::new(OTHER)));
    assert_eq!(options.additional_secret_outputs, ["s"]);
    assert_eq!(options.import_id, "imp");
    assert_eq!((options.timeouts.create, options.timeouts.read), (300.0, 1.5));
    assert_eq!(options.hide_diffs, ["h"]);
    assert_eq!(options.hooks[&HookMoment::BeforeCreate], ["hook"]);
    assert_eq!(seen.source_position, "project:///index.ts#3,7");
    assert_eq!(seen.stack_trace.len(), 1);
    assert_eq!(seen.led_by, "word");
    assert_eq!(seen.stack_trace[0].source_position, "");
}

#[tokio::test]
async fn what_an_old_program_does_not_say_is_left_open() {
    let session = Session::start(Recorder::default()).await;
    let request = rpc::RegisterResourceRequest {
        object: raw(json!({"a": 1})),
        dependencies: vec![DEPENDENCY.into()],
        ..custom()
    };
    session.client().register_resource(request).await.unwrap();
    let seen = session.registered();
    assert!(seen.property_dependencies.is_empty());
    assert_eq!(seen.options.delete_before_replace, None);
    assert_eq!(seen.options.timeouts, drystone_engine::Timeouts::default());
    let set = rpc::RegisterResourceRequest { delete_before_replace: true, ..custom() };
    session.client().register_resource(set).await.unwrap();
    assert_eq!(session.registered().options.delete_before_replace, Some(true));
}

#[tokio::test]
async fn values_keep_where_they_came_from() {
    let session = Session::start(Recorder::default()).await;
    let object = raw(json!({
        "known": output("x", &[OTHER]),
        "secret": {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "s"},
        "unknown": Computed::String.sentinel(),
    }));
    session.client().register_resource(rpc::RegisterResourceRequest { object, ..custom() }).await.unwrap();
    let seen = session.registered();
    let expected = |value, secret, dependencies: &[&str]| {
        Value::Output(Box::new(Output {
            value,
            secret,
            dependencies: dependencies.iter().map(|urn| Urn::new(*urn)).collect(),
        }))
    };
    assert_eq!(seen.properties["known"], expected(Some(Value::from("x")), false, &[OTHER]));
    assert_eq!(seen.properties["secret"], expected(Some(Value::from("s")), true, &[]));
    assert_eq!(seen.properties["unknown"], expected(None, false, &[]));
}

#[tokio::test]
async fn assets_get_their_hashes() {
    let session = Session::start(Recorder::default()).await;
    let object = raw(json!({"f": {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "hello"}}));
    session.client().register_resource(rpc::RegisterResourceRequest { object, ..custom() }).await.unwrap();
    let expected = Asset {
        hash: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".into(),
        source: AssetSource::Text("hello".into()),
    };
    assert_eq!(session.registered().properties["f"], Value::Asset(expected));
    let gone = raw(json!({"f": {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "path": "/no/such/file"}}));
    let refused = session
        .client()
        .register_resource(rpc::RegisterResourceRequest { object: gone, ..custom() })
        .await
        .unwrap_err();
    assert!(refused.message().contains("property `f`"), "{refused}");
}

#[tokio::test]
async fn aliases_of_older_nodes_are_turned_round() {
    let session = Session::start(Recorder::default()).await;
    let spec = |parent| rpc::Alias {
        alias: Some(Form::Spec(Spec { name: "old".into(), parent, ..Default::default() })),
    };
    let request = |alias_specs| rpc::RegisterResourceRequest {
        alias_ur_ns: vec![OTHER.into()],
        aliases: vec![
            spec(None),
            spec(Some(Parent::ParentUrn(String::new()))),
            spec(Some(Parent::NoParent(true))),
            spec(Some(Parent::ParentUrn(OTHER.into()))),
        ],
        alias_specs,
        ..custom()
    };
    let parents = |aliases: &[Alias]| -> Vec<AliasParent> {
        assert_eq!(aliases[0], Alias::Urn(Urn::new(OTHER)));
        aliases[1..]
            .iter()
            .map(|alias| match alias {
                Alias::Spec { parent, .. } => parent.clone(),
                Alias::Urn(urn) => panic!("{urn}"),
            })
            .collect()
    };
    let other = AliasParent::Urn(Urn::new(OTHER));
    session.client().register_resource(request(true)).await.unwrap();
    let specified = [AliasParent::Unchanged, AliasParent::Unchanged, AliasParent::Root, other.clone()];
    assert_eq!(parents(&session.registered().options.aliases), specified);

    let mut from_node = Request::new(request(false));
    from_node.metadata_mut().insert("pulumi-runtime", "nodejs".parse().unwrap());
    session.client().register_resource(from_node).await.unwrap();
    let turned = [AliasParent::Root, AliasParent::Root, AliasParent::Unchanged, other];
    assert_eq!(parents(&session.registered().options.aliases), turned);

    let mut from_python = Request::new(request(false));
    from_python.metadata_mut().insert("pulumi-runtime", "python".parse().unwrap());
    session.client().register_resource(from_python).await.unwrap();
    assert_eq!(parents(&session.registered().options.aliases), specified);
}

#[tokio::test]
async fn answers_have_the_shape_that_was_asked_for() {
    let properties = || {
        map([
            ("secret", Value::secret(Value::from("s"))),
            ("partly", Value::array([Value::from(1), Value::Computed(Computed::String)])),
        ])
    };
    let recorder = Recorder {
        register: Box::new(move |request| {
            Ok(Registered {
                urn: Urn::new(OTHER),
                id: request.name,
                properties: properties(),
                ..Default::default()
            })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let full = session.client().register_resource(custom()).await.unwrap().into_inner();
    assert_eq!((full.urn.as_str(), full.id.as_str()), (OTHER, "n"));
    let object = json(full.object.as_ref());
    assert_eq!(object["secret"]["value"], "s");
    assert_eq!(object["partly"][0], 1);

    let old =
        rpc::RegisterResourceRequest { accept_secrets: false, supports_partial_values: false, ..custom() };
    let old = session.client().register_resource(old).await.unwrap().into_inner();
    assert_eq!(json(old.object.as_ref()), json!({"secret": "s"}));

    let component = rpc::RegisterResourceRequest { custom: false, ..custom() };
    let component = session.client().register_resource(component).await.unwrap().into_inner();
    assert_eq!(json(component.object.as_ref()), json!({}));
}

#[tokio::test]
async fn failures_are_results_or_errors_as_the_sdk_can_take_them() {
    let recorder = Recorder {
        register: Box::new(|request| {
            let result = if request.name == "skip" { Registration::Skipped } else { Registration::Failed };
            Ok(Registered { urn: Urn::new(OTHER), result, unknown: true, ..Default::default() })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let failed = session.client().register_resource(custom()).await.unwrap().into_inner();
    assert_eq!((failed.result(), failed.unknown), (rpc::Result::Fail, true));
    let skip = rpc::RegisterResourceRequest { name: "skip".into(), ..custom() };
    assert_eq!(
        session.client().register_resource(skip).await.unwrap().into_inner().result(),
        rpc::Result::Skip
    );
    let old = rpc::RegisterResourceRequest { supports_result_reporting: false, ..custom() };
    let status = session.client().register_resource(old).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Internal, "resource registration failed"));
}

#[tokio::test]
async fn remote_components_answer_with_dependencies() {
    let recorder = Recorder {
        register: Box::new(|_| {
            let out =
                Output { value: Some(Value::from("x")), secret: true, dependencies: vec![Urn::new(OTHER)] };
            Ok(Registered {
                urn: Urn::new(DEPENDENCY),
                properties: map([("out", Value::Output(Box::new(out)))]),
                property_dependencies: [("out".to_owned(), vec![Urn::new(DEPENDENCY)])].into(),
                ..Default::default()
            })
        }),
        ..Recorder::default()
    };
    let session = Session::start(recorder).await;
    let remote = rpc::RegisterResourceRequest { remote: true, custom: false, ..custom() };
    let answer = session.client().register_resource(remote).await.unwrap().into_inner();
    assert_eq!(
        json(answer.object.as_ref())["out"],
        json!({SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "x"})
    );
    assert_eq!(answer.property_dependencies["out"].urns, [DEPENDENCY]);
}

#[tokio::test]
async fn wrong_requests_are_refused() {
    let session = Session::start(Recorder::default()).await;
    let cases = [
        (
            rpc::RegisterResourceRequest { r#type: "two:parts".into(), ..custom() },
            Code::InvalidArgument,
            "type token",
        ),
        (
            rpc::RegisterResourceRequest { parent: "no".into(), ..custom() },
            Code::InvalidArgument,
            "parent URN",
        ),
        (
            rpc::RegisterResourceRequest { dependencies: vec!["no".into()], ..custom() },
            Code::InvalidArgument,
            "dependency URN",
        ),
        (
            rpc::RegisterResourceRequest {
                env_var_mappings: [("A".to_owned(), "B".to_owned())].into(),
                ..custom()
            },
            Code::InvalidArgument,
            "envVarMappings",
        ),
        (
            rpc::RegisterResourceRequest {
                custom_timeouts: Some(CustomTimeouts { create: "soon".into(), ..Default::default() }),
                ..custom()
            },
            Code::InvalidArgument,
            "unable to parse customTimeout Value soon",
        ),
        (
            rpc::RegisterResourceRequest { state_migrations: vec![rpc::Callback::default()], ..custom() },
            Code::FailedPrecondition,
            "state migrations",
        ),
        (
            rpc::RegisterResourceRequest { transforms: vec![rpc::Callback::default()], ..custom() },
            Code::InvalidArgument,
            "target must be specified",
        ),
        (
            rpc::RegisterResourceRequest { object: raw(json!({"v": {SIGNATURE: "x"}})), ..custom() },
            Code::Unknown,
            "property `v`",
        ),
    ];
    for (request, code, part) in cases {
        let status = session.client().register_resource(request).await.unwrap_err();
        assert_eq!(status.code(), code, "{part}");
        assert!(status.message().contains(part), "{status}");
    }
    // Components may have any type.
    let component = rpc::RegisterResourceRequest { r#type: "any".into(), custom: false, ..custom() };
    session.client().register_resource(component).await.unwrap();
}

#[tokio::test]
async fn sdks_end_quietly_when_the_operation_is_ending() {
    let session = Session::without_operation(Recorder::default()).await;
    let nobody = session.client().register_resource(custom()).await.unwrap_err();
    assert_eq!(nobody.code(), Code::Unavailable);
    for (kind, code) in [
        (MonitorErrorKind::Closing, Code::Unavailable),
        (MonitorErrorKind::Invalid, Code::Unknown),
        (MonitorErrorKind::Reported, Code::Unknown),
        (MonitorErrorKind::Unimplemented, Code::Unimplemented),
    ] {
        let register = move |_| Err(MonitorError { kind, message: "why".into() });
        let recorder = Recorder { register: Box::new(register), ..Recorder::default() };
        let session = Session::start(recorder).await;
        let status = session.client().register_resource(custom()).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (code, "why"));
    }
}

#[tokio::test]
async fn outputs_of_components_are_recorded() {
    let session = Session::start(Recorder::default()).await;
    let request = rpc::RegisterResourceOutputsRequest {
        urn: OTHER.into(),
        outputs: raw(json!({"o": output(json!("x"), &[DEPENDENCY])})),
    };
    session.client().register_resource_outputs(request).await.unwrap();
    let seen = session.recorder.outputs.lock().unwrap().remove(0);
    assert_eq!(seen, (Urn::new(OTHER), map([("o", "x")])));
}

#[tokio::test]
async fn large_properties_pass() {
    let session = Session::start(Recorder::default()).await;
    let object = raw(json!({"big": "x".repeat(50_000_000)}));
    let request = rpc::RegisterResourceRequest { object, ..custom() };
    let answer = session.client().register_resource(request).await.unwrap().into_inner();
    assert_eq!(json(answer.object.as_ref())["big"].as_str().unwrap().len(), 50_000_000);
}
