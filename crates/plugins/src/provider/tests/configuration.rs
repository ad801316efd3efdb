use super::*;
use drystone_engine::{CheckArguments, CreateArguments, Diff, DiffArguments, ReadArguments, UpdateArguments};
use drystone_engine::{ProviderErrorKind, RegisterRequest};
use drystone_model::Computed;
use serde_json::json;
use std::sync::mpsc;

#[tokio::test]
async fn the_handshake_says_what_the_engine_can_do() {
    let (sender, seen) = mpsc::channel();
    let served = Served {
        handshake: Box::new(move |request| {
            sender.send(request).unwrap();
            Ok(rpc::ProviderHandshakeResponse::default())
        }),
        ..Served::default()
    };
    let connected = served.connect().await;
    let request = seen.recv().unwrap();
    assert_eq!(request.engine_address, "127.0.0.1:1");
    assert_eq!(request.root_directory.as_deref(), Some("/plugins/pkg"));
    assert_eq!(request.program_directory.as_deref(), Some("/plugins/pkg"));
    assert!(request.configure_with_urn && request.supports_views && request.supports_refresh_before_update);
    assert!(request.invoke_with_preview && request.accepts_byte_string);
    assert_eq!(connected.provider.version().await.unwrap(), "1.2.3");
    assert!(!connected.provider.supports_autonaming());
}

#[tokio::test]
async fn configure_sends_both_the_old_and_the_new_form() {
    let (sender, seen) = mpsc::channel();
    let served = Served {
        configure: Box::new(move |request| {
            sender.send(request).unwrap();
            Ok(rpc::ConfigureResponse::default())
        }),
        ..Served::default()
    };
    let connected = served.connect().await;
    connected
        .configure(map([
            ("region", Value::from("here")),
            ("token", Value::secret(Value::from("hush"))),
            ("tags", Value::object([("n", Value::from(1))])),
            ("version", Value::from("1.0.0")),
        ]))
        .await;
    connected.provider.check(CheckArguments { urn: urn(), ..Default::default() }).await.unwrap();
    let request = seen.recv().unwrap();
    let mut variables: Vec<_> = request.variables.into_iter().collect();
    variables.sort();
    assert_eq!(
        variables,
        [
            ("pkg:config:region".to_owned(), "here".to_owned()),
            ("pkg:config:tags".to_owned(), r#"{"n":1}"#.to_owned()),
            ("pkg:config:token".to_owned(), "hush".to_owned()),
        ]
    );
    let args = json(request.args.as_ref());
    assert_eq!(args["version"], "1.0.0");
    assert_eq!(args["token"]["value"], "hush");
    assert_eq!(args["token"]["4dabf18193072939515e22adb298388d"], "1b47061264138c4ac30d75fd1eb44270");
    assert!(request.accept_secrets && request.accept_resources);
    assert!(request.sends_old_inputs && request.sends_old_inputs_to_delete);
    assert_eq!(request.id.as_deref(), Some("cfg"));
    assert_eq!(request.name.as_deref(), Some("default"));
    assert_eq!(request.r#type.as_deref(), Some("pulumi:providers:pkg"));
    assert_eq!(request.urn, Some(provider_urn().to_string()));
}

#[tokio::test]
async fn old_providers_understand_what_they_answer_to_configure() {
    let (sender, seen) = mpsc::channel();
    let answer =
        rpc::ConfigureResponse { accept_secrets: true, supports_preview: true, ..Default::default() };
    let served = Served {
        check: Box::new(move |request| {
            sender.send(json(request.news.as_ref())).unwrap();
            Ok(rpc::CheckResponse { inputs: request.news, failures: Vec::new() })
        }),
        ..Served::old(answer)
    };
    let connected = served.ready().await;
    let inputs = map([("s", Value::secret(Value::from("x")))]);
    connected
        .provider
        .check(CheckArguments { urn: urn(), new_inputs: inputs.clone(), ..Default::default() })
        .await
        .unwrap();
    assert_eq!(seen.recv().unwrap()["s"]["value"], "x");

    let refused = connected
        .provider
        .check(CheckArguments {
            urn: urn(),
            new_inputs: map([("b", Value::Bytes(vec![0xff]))]),
            ..Default::default()
        })
        .await
        .unwrap_err();
    assert!(refused.message.contains("property `b`"), "{refused}");
}

#[tokio::test]
async fn a_provider_without_check_config_is_content_and_never_replaced() {
    let connected = Served::old(rpc::ConfigureResponse::default()).connect().await;
    let inputs = map([("a", Value::secret(Value::from("b")))]);
    let checked = connected
        .provider
        .check_config(CheckArguments {
            urn: provider_urn(),
            new_inputs: inputs.clone(),
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(checked.properties, inputs);
    let diff = connected
        .provider
        .diff_config(DiffArguments { urn: provider_urn(), new_inputs: inputs, ..Default::default() })
        .await
        .unwrap();
    assert_eq!(diff, Diff::default());
}

#[tokio::test]
async fn check_config_gets_plain_values_and_gives_secrets_back() {
    let (sender, seen) = mpsc::channel();
    let served = Served {
        check_config: Box::new(move |request| {
            sender.send((json(request.olds.as_ref()), json(request.news.as_ref()))).unwrap();
            Ok(rpc::CheckResponse { inputs: request.news, failures: Vec::new() })
        }),
        ..Served::default()
    };
    let connected = served.connect().await;
    let inputs = map([("a", Value::secret(Value::from("b"))), ("u", Value::Computed(Computed::String))]);
    let checked = connected
        .provider
        .check_config(CheckArguments {
            urn: provider_urn(),
            new_inputs: inputs.clone(),
            dry_run: true,
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(checked.properties, inputs);
    assert_eq!(
        seen.recv().unwrap(),
        (json!(null), json!({"a": "b", "u": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}))
    );
}

#[tokio::test]
async fn quirks_of_older_providers_count_as_unimplemented() {
    for (package, status) in [
        ("pulumi-nodejs", Status::internal("empty")),
        ("kubernetes", Status::unknown("rpc error: Unimplemented")),
    ] {
        let (first, second) = (status.clone(), status.clone());
        let served = Served {
            check_config: Box::new(move |_| Err(first.clone())),
            diff_config: Box::new(move |_| Err(second.clone())),
            ..Served::default()
        };
        let connected = served.connect().await;
        let urn = Urn::build("dev", "shop", "", &format!("pulumi:providers:{package}"), "default");
        let check = CheckArguments { urn: urn.clone(), ..Default::default() };
        connected.provider.check_config(check).await.unwrap();
        let diff = DiffArguments { urn, ..Default::default() };
        assert_eq!(connected.provider.diff_config(diff).await.unwrap(), Diff::default());
        let other = CheckArguments { urn: provider_urn(), ..Default::default() };
        connected.provider.check_config(other).await.unwrap_err();
    }
}

#[tokio::test]
async fn unknown_configuration_is_never_sent_and_previews_say_so() {
    let connected = Served::default().connect().await;
    connected.configure(map([("a", Value::Computed(Computed::String))])).await;
    let provider = &connected.provider;
    let inputs = map([("x", 1)]);

    let check =
        CheckArguments { urn: urn(), new_inputs: inputs.clone(), dry_run: true, ..Default::default() };
    assert_eq!(provider.check(check).await.unwrap().properties, inputs);
    let diff = DiffArguments { urn: urn(), id: "i".into(), dry_run: true, ..Default::default() };
    assert_eq!(provider.diff(diff).await.unwrap_err().kind, ProviderErrorKind::DiffUnavailable);
    let create = CreateArguments { urn: urn(), inputs: inputs.clone(), dry_run: true, ..Default::default() };
    let created = provider.create(create.clone()).await.unwrap();
    assert!(created.id.is_empty() && created.outputs.is_empty());
    let update = UpdateArguments { urn: urn(), id: "i".into(), dry_run: true, ..Default::default() };
    assert!(provider.update(update).await.unwrap().outputs.is_empty());
    let read = ReadArguments { urn: urn(), id: "i".into(), ..Default::default() };
    let read = provider.read(read).await.unwrap();
    assert_eq!(
        (read.id.as_str(), read.outputs, read.inputs),
        ("", Some(map::<Value>([])), Some(map::<Value>([])))
    );
    assert!(provider.invoke("pkg:index:f", inputs, true).await.unwrap().properties.is_empty());
    let real = provider.create(CreateArguments { dry_run: false, ..create }).await.unwrap_err();
    assert!(real.message.contains("not known"), "{real}");
    assert_eq!(connected.calls(), ["handshake"]);
}

#[tokio::test]
async fn components_of_an_unconfigured_provider_are_registered_without_children() {
    let connected = Served::default().connect().await;
    connected.configure(map([("a", Value::Computed(Computed::String))])).await;
    let recorder = Arc::new(crate::monitor::tests::Recorder::default());
    connected.provider.options.endpoint.attach(recorder.clone());
    let arguments = drystone_engine::ConstructArguments {
        type_token: "pkg:index:Component".into(),
        name: "c".into(),
        ..Default::default()
    };
    let constructed = connected.provider.construct(arguments).await.unwrap();
    assert_eq!(constructed.urn.name(), "c");
    let requests: Vec<RegisterRequest> = recorder.registered.lock().unwrap().drain(..).collect();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].custom && !requests[0].remote);
}

#[tokio::test]
async fn a_refused_configuration_is_told_to_whoever_needs_the_provider() {
    let missing = rpc::ConfigureErrorMissingKeys {
        missing_keys: vec![rpc::configure_error_missing_keys::MissingKey {
            name: "pkg:region".into(),
            description: "Where".into(),
        }],
    };
    let status = failures::with_detail("configure", "pulumirpc.ConfigureErrorMissingKeys", &missing);
    let served = Served { configure: Box::new(move |_| Err(status.clone())), ..Served::default() };
    let connected = served.ready().await;
    let check = CheckArguments { urn: urn(), ..Default::default() };
    let error = connected.provider.check(check).await.unwrap_err();
    assert!(error.message.starts_with("missing required configuration key \"pkg:region\": Where"), "{error}");
}

#[tokio::test]
async fn a_provider_that_was_not_configured_is_not_waited_for() {
    let connected = Served::default().connect().await;
    let check = CheckArguments { urn: urn(), ..Default::default() };
    let error = connected.provider.check(check).await.unwrap_err();
    assert_eq!(error.message, "the provider has not been configured");
}
