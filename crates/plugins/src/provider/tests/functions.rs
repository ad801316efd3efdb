use super::*;
use drystone_engine::{
    Alias, AliasParent, CallArguments, ConstructArguments, HookMoment, ProviderErrorKind, ResourceOptions,
    RunInfo, Timeouts,
};
use drystone_model::{Output, Value};
use serde_json::json;

fn output(value: &str) -> Value {
    Value::Output(Box::new(Output {
        value: Some(Value::from(value)),
        secret: false,
        dependencies: vec![urn()],
    }))
}

fn info() -> RunInfo {
    RunInfo {
        project: "shop".into(),
        stack: "dev".into(),
        organization: "org".into(),
        config: [("shop:a".to_owned(), "1".to_owned())].into(),
        secret_keys: vec!["shop:a".into()],
        dry_run: false,
        parallel: usize::MAX,
    }
}

#[tokio::test]
async fn functions_say_whether_it_is_a_preview() {
    let served = Served {
        invoke: Box::new(|request| {
            assert_eq!((request.tok.as_str(), request.preview), ("pkg:index:f", true));
            Ok(rpc::InvokeResponse {
                r#return: request.args,
                failures: vec![rpc::CheckFailure { property: "p".into(), reason: "r".into() }],
            })
        }),
        ..Served::default()
    };
    let invoked = served.ready().await.provider.invoke("pkg:index:f", map([("a", 1)]), true).await.unwrap();
    assert_eq!(invoked.properties, map([("a", 1)]));
    assert_eq!(invoked.failures[0].reason, "r");
}

#[tokio::test]
async fn results_of_secret_arguments_are_secret_where_the_provider_does_not_know() {
    let arguments = || map([("a", Value::secret(Value::from("s"))), ("b", Value::from(2))]);
    let old = Served::old(rpc::ConfigureResponse::default()).ready().await;
    let invoked = old.provider.invoke("pkg:index:f", arguments(), false).await.unwrap();
    assert!(invoked.properties.values().all(Value::is_secret));
    let new = Served::default().ready().await;
    let invoked = new.provider.invoke("pkg:index:f", arguments(), false).await.unwrap();
    assert_eq!(invoked.properties, arguments());
}

#[tokio::test]
async fn methods_carry_dependencies_both_ways() {
    let served = Served {
        call: Box::new(|request| {
            let args = json(request.args.as_ref());
            assert_eq!(args["a"]["4dabf18193072939515e22adb298388d"], "d0e6a833031e9bbcd3f4e8bde6ca49a4");
            assert_eq!(request.arg_dependencies["a"].urns, [urn().to_string()]);
            assert_eq!(request.monitor_endpoint, "127.0.0.1:1");
            assert_eq!((request.project.as_str(), request.parallel), ("shop", i32::MAX));
            assert!(request.accepts_output_values);
            assert_eq!(request.stack_trace_handle, "word");
            let deps = rpc::call_response::ReturnDependencies { urns: vec![urn().to_string()] };
            Ok(rpc::CallResponse {
                r#return: request.args,
                return_dependencies: [("a".to_owned(), deps)].into(),
                failures: Vec::new(),
            })
        }),
        ..Served::default()
    };
    let arguments = CallArguments {
        token: "pkg:index:C/m".into(),
        arguments: map([("a", output("x"))]),
        argument_dependencies: [("a".to_owned(), vec![urn()])].into(),
        info: info(),
        trace: "word".into(),
    };
    let answer = served.ready().await.provider.call(arguments).await.unwrap();
    assert_eq!(answer.properties, map([("a", output("x"))]));
    assert_eq!(answer.dependencies["a"], [urn()]);
}

#[tokio::test]
async fn construct_sends_every_option() {
    let served = Served {
        construct: Box::new(|request| {
            let request = rpc::ConstructRequest { inputs: None, ..request };
            assert_eq!(request.custom_timeouts.as_ref().unwrap().create, "300s");
            assert_eq!(request.custom_timeouts.as_ref().unwrap().update, "");
            assert_eq!(request.resource_hooks.as_ref().unwrap().on_error, ["h"]);
            assert_eq!(request.aliases.len(), 2);
            assert_eq!(request.protect, Some(false));
            assert_eq!(request.delete_before_replace, Some(true));
            assert_eq!(request.retain_on_delete, None);
            assert_eq!(request.ignore_changes, ["i"]);
            assert_eq!(request.replace_on_changes, ["r"]);
            assert_eq!(request.additional_secret_outputs, ["s"]);
            assert_eq!(request.deleted_with, urn().to_string());
            assert_eq!(request.replace_with, [urn().to_string()]);
            assert_eq!(request.replacement_trigger.as_ref().unwrap().to_json().unwrap(), json!(7));
            assert_eq!(request.providers["pkg"], "p::1");
            assert_eq!(request.config["shop:a"], "1");
            assert_eq!(request.config_secret_keys, ["shop:a"]);
            assert!(request.accepts_output_values);
            assert_eq!(request.stack_trace_handle, "word");
            let deps = rpc::construct_response::PropertyDependencies { urns: vec![urn().to_string()] };
            Ok(rpc::ConstructResponse {
                urn: "urn:pulumi:dev::shop::pkg:index:C::c".into(),
                state: raw(json!({"out": "x"})),
                state_dependencies: [("out".to_owned(), deps)].into(),
            })
        }),
        ..Served::default()
    };
    let arguments = ConstructArguments {
        type_token: "pkg:index:C".into(),
        name: "c".into(),
        inputs: map([("a", output("x"))]),
        providers: [("pkg".to_owned(), "p::1".to_owned())].into(),
        options: ResourceOptions {
            aliases: vec![
                Alias::Urn(urn()),
                Alias::Spec {
                    name: "old".into(),
                    type_token: String::new(),
                    stack: String::new(),
                    project: String::new(),
                    parent: AliasParent::Root,
                },
            ],
            protect: Some(false),
            delete_before_replace: Some(true),
            ignore_changes: vec!["i".into()],
            replace_on_changes: vec!["r".into()],
            additional_secret_outputs: vec!["s".into()],
            deleted_with: urn(),
            replace_with: vec![urn()],
            replacement_trigger: Some(Value::from(7)),
            hooks: [(HookMoment::OnError, vec!["h".to_owned()])].into(),
            ..Default::default()
        },
        timeouts: Timeouts { create: 300.0, ..Default::default() },
        info: info(),
        trace: "word".into(),
        ..Default::default()
    };
    let constructed = served.ready().await.provider.construct(arguments).await.unwrap();
    assert_eq!(constructed.urn.name(), "c");
    assert_eq!(constructed.outputs, map([("out", "x")]));
    assert_eq!(constructed.output_dependencies["out"], [urn()]);
}

#[tokio::test]
async fn what_a_provider_cannot_do_is_said() {
    let connected = Served::default().ready().await;
    let error = connected.provider.construct(ConstructArguments::default()).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unimplemented);
    connected.provider.cancel().await.unwrap();
}
