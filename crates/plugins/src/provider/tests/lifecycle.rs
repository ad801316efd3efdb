use super::*;
use drystone_engine::{
    Autonaming, CheckArguments, CreateArguments, DeleteArguments, DiffArguments, DiffChanges, DiffKind,
    ReadArguments, State, UpdateArguments,
};
use drystone_model::{Asset, AssetSource, Computed, ResourceReference};
use serde_json::json;
use std::sync::mpsc;

const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";

#[tokio::test]
async fn check_sends_seed_names_and_autonaming() {
    let (sender, seen) = mpsc::channel();
    let served = Served {
        check: Box::new(move |request| {
            sender.send(request.clone()).unwrap();
            Ok(rpc::CheckResponse {
                inputs: request.news,
                failures: vec![rpc::CheckFailure { property: "p".into(), reason: "bad".into() }],
            })
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let arguments = CheckArguments {
        urn: urn(),
        new_inputs: map([("a", 1)]),
        seed: vec![7; 32],
        autonaming: Some(Autonaming::Enforce("named".into())),
        ..Default::default()
    };
    let checked = connected.provider.check(arguments).await.unwrap();
    assert_eq!(checked.failures[0].property, "p");
    let request = seen.recv().unwrap();
    assert_eq!(json(request.olds.as_ref()), json!({}), "olds are there even for a new resource");
    assert_eq!((request.name.as_str(), request.r#type.as_str()), ("one", "pkg:index:Thing"));
    assert_eq!(request.random_seed, [7; 32]);
    let naming = request.autonaming.unwrap();
    assert_eq!((naming.proposed_name.as_str(), naming.mode), ("named", 1));
}

#[tokio::test]
async fn secrets_come_back_from_providers_that_do_not_know_them() {
    let served = Served {
        check: Box::new(|request| {
            assert_eq!(
                json(request.news.as_ref()),
                json!({"plain": 1, "top": "s", "in": {"a": "s", "b": "x"}, "list": ["s", "x"], "ref": "i"})
            );
            Ok(rpc::CheckResponse { inputs: request.news, failures: Vec::new() })
        }),
        ..Served::old(rpc::ConfigureResponse::default())
    };
    let connected = served.ready().await;
    let secret = || Value::secret(Value::from("s"));
    let inputs = map([
        ("plain", Value::from(1)),
        ("top", secret()),
        ("in", Value::object([("a", secret()), ("b", Value::from("x"))])),
        ("list", Value::array([secret(), Value::from("x")])),
        (
            "ref",
            Value::ResourceReference(ResourceReference {
                urn: urn(),
                id: Some("i".into()),
                package_version: String::new(),
            }),
        ),
    ]);
    let arguments = CheckArguments { urn: urn(), new_inputs: inputs, ..Default::default() };
    let checked = connected.provider.check(arguments).await.unwrap().properties;
    assert_eq!(checked["plain"], Value::from(1));
    assert_eq!(checked["top"], secret());
    assert_eq!(checked["in"], Value::object([("a", secret()), ("b", Value::from("x"))]));
    assert_eq!(checked["list"], Value::secret(Value::array([Value::from("s"), Value::from("x")])));
}

#[tokio::test]
async fn diff_elides_contents_and_reads_every_kind_of_change() {
    let served = Served {
        diff: Box::new(|request| {
            assert_eq!(
                json(request.news.as_ref()),
                json!({"file": {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "hash": "h"}})
            );
            assert_eq!(request.id, "i");
            assert_eq!(request.ignore_changes, ["x"]);
            let change = |kind: i32| rpc::PropertyDiff { kind, input_diff: true };
            Ok(rpc::DiffResponse {
                replaces: vec!["a".into()],
                stables: vec!["s".into()],
                delete_before_replace: true,
                changes: 2,
                diffs: vec!["a".into()],
                detailed_diff: [("a".to_owned(), change(5)), ("b".to_owned(), change(99))].into(),
                has_detailed_diff: true,
            })
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let asset = Asset { hash: "h".into(), source: AssetSource::Text("long".into()) };
    let arguments = DiffArguments {
        urn: urn(),
        id: "i".into(),
        new_inputs: map([("file", Value::Asset(asset))]),
        ignore_changes: vec!["x".into()],
        ..Default::default()
    };
    let diff = connected.provider.diff(arguments).await.unwrap();
    assert_eq!(diff.changes, DiffChanges::Some);
    assert!(diff.is_replace() && diff.delete_before_replace);
    let detailed = diff.detailed.unwrap();
    assert_eq!(detailed["a"].kind, DiffKind::UpdateReplace);
    assert_eq!(detailed["b"].kind, DiffKind::Update);
}

#[tokio::test]
async fn create_gives_id_outputs_and_where_to_publish_views() {
    let served = Served {
        create: Box::new(|request| {
            assert_eq!(request.resource_status_address, "127.0.0.1:1");
            assert_eq!(request.resource_status_token, "tok");
            assert!((request.timeout - 2.5).abs() < f64::EPSILON && !request.preview);
            Ok(rpc::CreateResponse {
                id: "new".into(),
                properties: request.properties,
                refresh_before_update: true,
            })
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let arguments = CreateArguments {
        urn: urn(),
        inputs: map([("big", Value::from("x".repeat(8_000_000))), ("bytes", Value::Bytes(vec![0xff, 0]))]),
        timeout: 2.5,
        status_token: "tok".into(),
        ..Default::default()
    };
    let created = connected.provider.create(arguments.clone()).await.unwrap();
    assert_eq!(created.id, "new");
    assert_eq!(created.outputs, arguments.inputs);
    assert!(created.refresh_before_update && created.incomplete.is_empty());
}

#[tokio::test]
async fn previews_of_providers_that_cannot_preview_show_the_inputs() {
    let connected = Served::old(rpc::ConfigureResponse::default()).ready().await;
    let inputs = map([("a", Value::Computed(Computed::Number))]);
    let create = CreateArguments { urn: urn(), inputs: inputs.clone(), dry_run: true, ..Default::default() };
    assert_eq!(connected.provider.create(create).await.unwrap().outputs, inputs);
    let update = UpdateArguments {
        urn: urn(),
        id: "i".into(),
        new_inputs: inputs.clone(),
        dry_run: true,
        ..Default::default()
    };
    let updated = connected.provider.update(update).await.unwrap();
    assert_eq!((updated.id.as_str(), updated.outputs), ("i", inputs));
    assert_eq!(connected.calls(), ["handshake", "configure"]);
}

#[tokio::test]
async fn unknown_values_travel_in_previews_only() {
    let served = Served {
        create: Box::new(|request| {
            let properties = if request.preview {
                raw(json!({"out": "3eeb2bf0-c639-47a8-9e75-3b44932eb421"}))
            } else {
                assert_eq!(json(request.properties.as_ref()), json!({}), "unknown inputs are left out");
                raw(json!({"out": "3eeb2bf0-c639-47a8-9e75-3b44932eb421"}))
            };
            Ok(rpc::CreateResponse { id: "x".into(), properties, ..Default::default() })
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let inputs = map([("a", Value::Computed(Computed::Number))]);
    let create = CreateArguments { urn: urn(), inputs, dry_run: true, ..Default::default() };
    let preview = connected.provider.create(create.clone()).await.unwrap();
    assert_eq!(preview.outputs["out"], Value::Computed(Computed::Number));
    let real = connected.provider.create(CreateArguments { dry_run: false, ..create }).await.unwrap_err();
    assert_eq!(real.kind, drystone_engine::ProviderErrorKind::Unknown);
    assert!(real.message.contains("property `out`: unexpected unknown value"), "{real}");
}

#[tokio::test]
async fn read_gives_contents_back_that_travelled_as_hashes() {
    let connected = Served::default().ready().await;
    let asset = Asset { hash: "h".into(), source: AssetSource::Path("./file".into()) };
    let inputs = map([("file", Value::secret(Value::Asset(asset)))]);
    let arguments = ReadArguments {
        urn: urn(),
        id: "i".into(),
        inputs: inputs.clone(),
        outputs: inputs.clone(),
        ..Default::default()
    };
    let read = connected.provider.read(arguments).await.unwrap();
    assert_eq!(read.id, "i");
    assert_eq!(read.inputs, Some(inputs.clone()));
    assert_eq!(read.outputs, Some(inputs));
}

#[tokio::test]
async fn read_tells_gone_from_empty() {
    let served = Served {
        read: Box::new(|request| {
            assert!(request.inputs.is_none(), "nothing is known of the inputs");
            assert!(request.properties.is_some());
            Ok(rpc::ReadResponse::default())
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let read = connected
        .provider
        .read(ReadArguments { urn: urn(), id: "i".into(), ..Default::default() })
        .await
        .unwrap();
    assert_eq!((read.id.as_str(), read.inputs, read.outputs), ("", None, None));
}

#[tokio::test]
async fn update_and_delete_send_what_was_there() {
    let served = Served {
        update: Box::new(|request| {
            assert_eq!(json(request.olds.as_ref()), json!({"o": 1}));
            assert_eq!(json(request.old_inputs.as_ref()), json!({"i": 1}));
            assert_eq!(request.old_views.len(), 1);
            assert_eq!(request.old_views[0].name, "view");
            assert_eq!(request.old_views[0].parent_type, "");
            Ok(rpc::UpdateResponse { properties: request.news, refresh_before_update: false })
        }),
        delete: Box::new(|request| {
            assert_eq!(json(request.properties.as_ref()), json!({"o": 1}));
            assert_eq!(json(request.old_inputs.as_ref()), json!({"i": 1}));
            Ok(())
        }),
        ..Served::default()
    };
    let connected = served.ready().await;
    let mut view = State::default();
    view.record.urn = Urn::build("dev", "shop", "pkg:index:Thing", "pkg:index:View", "view");
    view.record.type_token = "pkg:index:View".into();
    view.record.parent = urn();
    view.record.view_of = urn();
    let update = UpdateArguments {
        urn: urn(),
        id: "i".into(),
        old_inputs: map([("i", 1)]),
        old_outputs: map([("o", 1)]),
        new_inputs: map([("i", 2)]),
        old_views: vec![view],
        ..Default::default()
    };
    let updated = connected.provider.update(update).await.unwrap();
    assert_eq!((updated.id.as_str(), updated.outputs), ("i", map([("i", 2)])));
    let delete = DeleteArguments {
        urn: urn(),
        id: "i".into(),
        inputs: map([("i", 1)]),
        outputs: map([("o", 1)]),
        ..Default::default()
    };
    connected.provider.delete(delete).await.unwrap();
}
