//! Providers: default and explicit ones, their versions, configuration and changes.

use crate::harness::{P, Stack, TestProvider, program};
use drystone_engine::{
    CheckFailure, Checked, ConfigValue, Diff, DiffChanges, MonitorError, Op, PackageDescriptor, Program,
    ProviderError, ReadRequest, RegisterRequest, Severity,
};
use drystone_model::{Resource, Urn, Value, is_provider_type};
use std::sync::Arc;

const PROVIDER: &str = "pulumi:providers:pkgA";

fn one(version: &'static str) -> Arc<dyn Program> {
    program(move |p: P| async move {
        p.resource("pkgA:m:T", "a").version(version).register().await?;
        Ok(())
    })
}

/// An explicit provider and a resource of its.
fn explicit(region: &'static str) -> Arc<dyn Program> {
    program(move |p: P| async move {
        let own = p.resource(PROVIDER, "own").input("region", region).register().await?;
        p.resource("pkgA:m:T", "a").provider(&own).register().await?;
        Ok(())
    })
}

fn config(stack: &mut Stack, key: &str, text: &str) {
    let value = ConfigValue { text: text.to_owned(), object: false, secret: false };
    stack.config.insert(key.to_owned(), value);
}

/// A provider that has to be replaced when its region changes.
fn regional() -> TestProvider {
    TestProvider {
        diff_config: Some(Arc::new(|arguments| {
            let same = arguments.old_inputs.get("region") == arguments.new_inputs.get("region");
            Ok(if same { Diff::none() } else { Diff::replace("region") })
        })),
        ..TestProvider::default()
    }
}

/// The names of the providers in the state, in order.
fn providers(stack: &Stack) -> Vec<&str> {
    let providers =
        stack.snapshot.resources.iter().filter(|found| found.type_token.starts_with("pulumi:providers:"));
    providers.map(|found| found.urn.name()).collect()
}

fn loaded(stack: &Stack) -> Vec<PackageDescriptor> {
    stack.providers["pkgA"].loaded.lock().unwrap().clone()
}

// Default providers.

#[test]
fn a_default_provider_is_made_once_and_shared() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let make = |name| p.resource("pkgA:m:T", name).register();
            let (a, b, c) = futures::join!(make("a"), make("b"), make("c"));
            a.and(b).and(c).map(|_| ())
        }))
        .ok();
    assert_eq!((providers(&stack), loaded(&stack).len()), (vec!["default"], 1));
    assert_eq!(stack.resource("a").provider, stack.resource("c").provider);
}

#[test]
fn a_default_provider_has_no_parent_and_is_no_change_that_people_see() {
    let mut stack = Stack::new();
    let outcome = stack.up(one("")).ok();
    assert_eq!(outcome.count(Op::Create), 2);
    assert!(stack.resource("default").parent.is_empty());
}

#[test]
fn each_version_has_its_own_default_provider() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            for (name, version) in [("a", "1.2.3"), ("b", "2.0.0-beta.1+build"), ("c", "")] {
                p.resource("pkgA:m:T", name).version(version).register().await?;
            }
            Ok(())
        }))
        .ok();
    assert_eq!(providers(&stack), ["default_1_2_3", "default_2_0_0_beta_1_build", "default"]);
    let versions: Vec<String> = loaded(&stack).into_iter().map(|package| package.version).collect();
    assert_eq!(versions, ["1.2.3", "2.0.0-beta.1+build", ""]);
    assert!(stack.resource("default_1_2_3").inputs.text().contains(r#""version":"1.2.3""#));
}

#[test]
fn a_version_that_is_none_is_refused() {
    Stack::new().up(one("one")).failed("\"one\" is no version");
}

#[test]
fn where_a_plugin_comes_from_is_part_of_its_default_provider() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").version("1.0.0");
            a.with(|request| request.package.download_url = "http://example.com/".to_owned())
                .register()
                .await?;
            Ok(())
        }))
        .ok();
    assert_eq!(providers(&stack), ["default_1_0_0_http_/example.com"]);
    assert_eq!(loaded(&stack)[0].download_url, "http://example.com");
    let inputs = stack.snapshot.resources[1].inputs.text();
    assert!(inputs.contains(r#""__internal":{"pluginDownloadURL":"http://example.com"}"#), "{inputs}");
}

#[test]
fn checksums_reach_the_loader_and_the_state() {
    let run = || {
        program(|p| async move {
            let a = p.resource("pkgA:m:T", "a");
            let sums = [("linux-amd64".to_owned(), vec![0xab, 0x01])].into();
            a.with(|request| request.package.checksums = sums).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run()).ok();
    assert_eq!(loaded(&stack)[0].checksums["linux-amd64"], [0xab, 0x01]);
    assert!(stack.resource("default").inputs.text().contains(r#""linux-amd64":"ab01""#));
    stack.destroy().ok();
    assert_eq!(loaded(&stack)[1].checksums["linux-amd64"], [0xab, 0x01]);
}

#[test]
fn a_default_provider_is_configured_by_its_part_of_the_configuration() {
    let mut stack = Stack::new();
    config(&mut stack, "pkgA:region", "eu");
    config(&mut stack, "pkgB:region", "us");
    config(&mut stack, "shop:region", "mars");
    stack.up(one("")).ok();
    let calls = stack.calls("pkgA");
    let create = calls.iter().find(|call| call.method == "create").unwrap();
    assert_eq!(create.config, [("region".to_owned(), Value::from("eu"))].into());
}

#[test]
fn changed_configuration_updates_a_default_provider_and_nothing_else() {
    let mut stack = Stack::new();
    config(&mut stack, "pkgA:region", "eu");
    stack.up(one("")).ok();
    let before = stack.resource("a").provider.clone();
    config(&mut stack, "pkgA:region", "us");
    stack.calls("pkgA");
    let outcome = stack.up(one("")).ok();
    assert_eq!((outcome.steps().len(), stack.resource("a").provider.clone()), (0, before));
    assert_eq!(stack.resource("default").inputs.text(), r#"{"region":"us"}"#);
    let configured = stack.calls("pkgA").into_iter().find(|call| call.method == "configure").unwrap();
    assert_eq!(configured.inputs["region"], "us".into());
}

#[test]
fn configuration_that_needs_a_new_provider_replaces_its_resources() {
    let mut stack = Stack::with_provider("pkgA", regional());
    config(&mut stack, "pkgA:region", "eu");
    stack.up(one("")).ok();
    config(&mut stack, "pkgA:region", "us");
    stack.calls("pkgA");
    let outcome = stack.up(one("")).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    let calls = stack.calls("pkgA");
    let by = |method: &str| calls.iter().find(|call| call.method == method).unwrap().config["region"].clone();
    assert_eq!((by("create"), by("delete")), ("us".into(), "eu".into()));
    assert_eq!(providers(&stack), ["default"]);
}

#[test]
fn a_newer_default_provider_takes_resources_over() {
    let mut stack = Stack::new();
    stack.up(one("")).ok();
    let outcome = stack.up(one("0.17.10")).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(providers(&stack), ["default_0_17_10"]);
    assert!(stack.resource("a").provider.contains("::default_0_17_10::"));
    stack.up(one("0.17.11")).ok();
    assert_eq!(providers(&stack), ["default_0_17_11"]);
    assert_eq!(stack.effects("pkgA"), ["create a"]);
}

#[test]
fn a_newer_default_provider_that_cannot_go_on_replaces_resources() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            diff_config: Some(Arc::new(|_| Ok(Diff::replace("version")))),
            ..TestProvider::default()
        },
    );
    stack.up(one("1.0.0")).ok();
    stack.calls("pkgA");
    let outcome = stack.up(one("2.0.0")).ok();
    assert_eq!(outcome.steps_of("a")[0].replace_keys, ["provider"]);
    let calls = stack.calls("pkgA");
    let by = |method: &str| calls.iter().find(|call| call.method == method).unwrap().version.clone();
    assert_eq!((by("create"), by("delete")), ("2.0.0".to_owned(), "1.0.0".to_owned()));
}

#[test]
fn default_providers_can_be_forbidden_by_name_and_altogether() {
    for (forbidden, allowed) in [("pkgA", true), ("*", false)] {
        let mut stack = Stack::new();
        stack.options.disable_default_providers = vec![forbidden.to_owned()];
        stack
            .up(one(""))
            .failed("Default provider for 'pkgA' disabled. 'pkgA:m:T' must use an explicit provider.");
        let outcome =
            stack.up(program(|p| async move { p.resource("pkgB:m:T", "b").register().await.map(|_| ()) }));
        assert_eq!(outcome.report.ending == drystone_engine::Ending::Succeeded, allowed, "{forbidden}");
    }
}

#[test]
fn explicit_providers_and_the_engines_own_are_never_forbidden() {
    let mut stack = Stack::new();
    stack.options.disable_default_providers = vec!["*".to_owned()];
    stack.other_stacks.insert("base".to_owned(), Default::default());
    stack.up(explicit("eu")).ok();
    stack
        .up(program(|p| async move {
            p.resource("pulumi:pulumi:StackReference", "ref").input("name", "base").register().await?;
            Ok(())
        }))
        .ok();
}

#[test]
fn a_package_without_a_plugin_is_told() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move { p.resource("pkgZ:m:T", "z").register().await.map(|_| ()) }))
        .failed("no plugin pkgZ");
    assert_eq!(stack.names(), ["shop-dev"]);
}

// Explicit providers.

#[test]
fn an_explicit_provider_is_named_in_the_state_of_its_resources() {
    let mut stack = Stack::new();
    let outcome = stack.up(explicit("eu")).ok();
    assert_eq!(outcome.steps(), ["create own", "create a"]);
    let own = stack.resource("own");
    assert_eq!(stack.resource("a").provider, format!("{}::{}", own.urn, own.id));
    assert_eq!((own.inputs.text(), own.outputs.text()), (r#"{"region":"eu"}"#, r#"{"region":"eu"}"#));
    assert!(uuid::Uuid::parse_str(&own.id).is_ok());
}

#[test]
fn an_explicit_provider_goes_after_its_resources() {
    let mut stack = Stack::new();
    stack.up(explicit("eu")).ok();
    let outcome = stack.destroy().ok();
    assert_eq!(outcome.steps(), ["delete a", "delete own"]);
}

#[test]
fn an_unchanged_explicit_provider_writes_nothing() {
    let mut stack = Stack::new();
    stack.up(explicit("eu")).ok();
    assert_eq!(stack.up(explicit("eu")).ok().entries, 0);
}

#[test]
fn an_explicit_provider_is_updated_in_place() {
    let mut stack = Stack::new();
    stack.up(explicit("eu")).ok();
    let id = stack.resource("own").id.clone();
    stack.calls("pkgA");
    let outcome = stack.up(explicit("us")).ok();
    assert_eq!((outcome.steps(), &stack.resource("own").id), (vec!["update own".to_owned()], &id));
    let diff = stack.calls("pkgA").into_iter().find(|call| call.method == "diff_config").unwrap();
    assert_eq!(
        (diff.old_inputs["region"].clone(), diff.inputs["region"].clone()),
        ("eu".into(), "us".into())
    );
}

#[test]
fn a_replaced_explicit_provider_replaces_its_resources_through_both() {
    let mut stack = Stack::with_provider("pkgA", regional());
    stack.up(explicit("eu")).ok();
    stack.calls("pkgA");
    let outcome = stack.up(explicit("us")).ok();
    assert_eq!((outcome.count(Op::Replace), stack.names().len()), (2, 3));
    let calls = stack.calls("pkgA");
    let by = |method: &str| calls.iter().find(|call| call.method == method).unwrap().config["region"].clone();
    assert_eq!((by("create"), by("delete")), ("us".into(), "eu".into()));
}

#[test]
fn a_change_that_the_provider_calls_none_is_kept_but_not_used() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider { diff_config: Some(Arc::new(|_| Ok(Diff::none()))), ..TestProvider::default() },
    );
    stack.up(explicit("100")).ok();
    stack.calls("pkgA");
    stack.up(explicit("200")).ok();
    let own = stack.resource("own");
    assert_eq!((own.inputs.text(), own.outputs.text()), (r#"{"region":"200"}"#, r#"{"region":"100"}"#));
    let configured = stack.calls("pkgA").into_iter().find(|call| call.method == "configure").unwrap();
    assert_eq!(configured.inputs["region"], "100".into());
}

#[test]
fn a_provider_that_does_not_say_is_compared_by_its_configuration() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            diff_config: Some(Arc::new(|_| Ok(Diff { changes: DiffChanges::Unknown, ..Diff::default() }))),
            ..TestProvider::default()
        },
    );
    stack.up(explicit("eu")).ok();
    assert_eq!(stack.up(explicit("eu")).ok().steps(), [] as [&str; 0]);
    assert_eq!(stack.up(explicit("us")).ok().steps(), ["update own"]);
}

#[test]
fn a_resource_moves_to_another_provider_that_can_go_on() {
    let run = |name: &'static str| {
        program(move |p| async move {
            let own = p.resource(PROVIDER, name).register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider { diff_config: Some(Arc::new(|_| Ok(Diff::none()))), ..TestProvider::default() },
    );
    stack.up(run("first")).ok();
    let outcome = stack.up(run("second")).ok();
    assert_eq!(outcome.steps(), ["create second", "delete first"]);
    assert!(stack.resource("a").provider.contains("::second::"));
}

#[test]
fn a_renamed_provider_keeps_its_resources() {
    let run = |name: &'static str, region: &'static str, alias: Option<&'static str>| {
        program(move |p| async move {
            let mut own = p.resource(PROVIDER, name).input("region", region);
            if let Some(alias) = alias {
                own = own.alias(alias);
            }
            let own = own.register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", regional());
    let old = "urn:pulumi:dev::shop::pulumi:providers:pkgA::first";
    stack.up(run("first", "eu", None)).ok();
    let outcome = stack.up(run("second", "eu", Some(old))).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert!(stack.resource("a").provider.contains("::second::"));
    // Replaced under its new name, both do their part.
    stack.calls("pkgA");
    stack.up(run("second", "us", Some(old))).ok();
    let calls = stack.calls("pkgA");
    let by = |method: &str| calls.iter().find(|call| call.method == method).unwrap().config["region"].clone();
    assert_eq!((by("create"), by("delete")), ("us".into(), "eu".into()));
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_provider_that_is_renamed_in_the_run_that_drops_its_resource_deletes_it() {
    let mut stack = Stack::new();
    stack.up(explicit("eu")).ok();
    stack.calls("pkgA");
    stack
        .up(program(|p| async move {
            let own = p.resource(PROVIDER, "new").input("region", "eu");
            own.alias("urn:pulumi:dev::shop::pulumi:providers:pkgA::own").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert_eq!(stack.names(), ["shop-dev", "new"]);
}

#[test]
fn the_version_option_counts_more_than_the_version_input() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own =
                p.resource(PROVIDER, "own").input("version", "1.5.0").version("1.0.0").register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(loaded(&stack)[0].version, "1.0.0");
}

#[test]
fn a_version_input_chooses_the_plugin() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.resource(PROVIDER, "own").input("version", "1.5.0").register().await.map(|_| ())
        }))
        .ok();
    assert_eq!(loaded(&stack)[0].version, "1.5.0");
}

#[test]
fn a_version_that_the_provider_drops_is_put_back() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            check_config: Some(Arc::new(|arguments| {
                let mut properties = arguments.new_inputs;
                properties.remove("version");
                Ok(Checked { properties, failures: Vec::new() })
            })),
            ..TestProvider::default()
        },
    );
    stack.up(one("1.0.0")).ok();
    assert!(stack.resource("default_1_0_0").inputs.text().contains(r#""version":"1.0.0""#));
}

#[test]
fn a_version_that_the_provider_changes_is_refused() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            check_config: Some(Arc::new(|arguments| {
                let mut properties = arguments.new_inputs;
                properties.insert("version".to_owned(), "2.0.0".into());
                Ok(Checked { properties, failures: Vec::new() })
            })),
            ..TestProvider::default()
        },
    );
    stack.up(one("1.0.0")).failed(
        "provider \"urn:pulumi:dev::shop::pulumi:providers:pkgA::default_1_0_0\" attempted to change version from \"1.0.0\" to \"2.0.0\"",
    );
}

#[test]
fn what_the_engine_keeps_for_itself_is_not_the_providers() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            check_config: Some(Arc::new(|arguments| {
                let mut properties = arguments.new_inputs;
                properties.insert("__internal".to_owned(), Value::object([("some", "data")]));
                Ok(Checked { properties, failures: Vec::new() })
            })),
            ..TestProvider::default()
        },
    );
    let outcome = stack.up(one("1.0.0")).ok();
    let warnings = outcome.diagnostics(Severity::Warning);
    assert_eq!(warnings, ["provider attempted to use __internal key that is reserved by the engine"]);
    assert!(stack.resource("default_1_0_0").inputs.text().contains(r#""__internal":{}"#));
    let calls = stack.calls("pkgA");
    assert!(calls.iter().all(|call| !call.inputs.contains_key("__internal")), "{calls:#?}");
}

#[test]
fn configuration_that_the_provider_refuses_is_told() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            check_config: Some(Arc::new(|_| {
                let failure =
                    CheckFailure { property: "region".to_owned(), reason: "there is none".to_owned() };
                Ok(Checked { failures: vec![failure], ..Checked::default() })
            })),
            ..TestProvider::default()
        },
    );
    stack.up(explicit("mars")).failed("pulumi:providers:pkgA resource 'own': property region value");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_provider_that_cannot_be_configured_is_told() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            configure: Some(Arc::new(|_| Err(ProviderError::new("no credentials")))),
            ..TestProvider::default()
        },
    );
    stack.up(explicit("eu")).failed("no credentials");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_reference_that_is_none_is_refused() {
    for reference in ["hello world", "urn:pulumi:dev::shop::pulumi:providers:pkgA"] {
        let outcome = Stack::new().up(program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a");
            a.with(|request| request.provider = reference.to_owned()).register().await.map(|_| ())
        }));
        outcome.failed("could not parse provider reference");
    }
}

#[test]
fn a_provider_that_nobody_knows_is_refused() {
    let reference = "urn:pulumi:dev::shop::pulumi:providers:pkgA::gone::00000000-0000-0000-0000-000000000001";
    let outcome = Stack::new().up(program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a");
        a.with(|request| request.provider = reference.to_owned()).register().await.map(|_| ())
    }));
    outcome.failed("unknown provider");
}

#[test]
fn environment_variables_are_renamed_for_providers_only() {
    let mut stack = Stack::new();
    let mapped = |request: &mut RegisterRequest| {
        request.options.env_var_mappings.insert("MY_TOKEN".to_owned(), "TOKEN".to_owned());
    };
    stack
        .up(program(
            move |p| async move { p.resource(PROVIDER, "own").with(mapped).register().await.map(|_| ()) },
        ))
        .ok();
    assert_eq!(loaded(&stack)[0].env_var_mappings["MY_TOKEN"], "TOKEN");
    stack
        .up(program(
            move |p| async move { p.resource("pkgA:m:T", "a").with(mapped).register().await.map(|_| ()) },
        ))
        .failed("envVarMappings can only be used with provider resources");
}

// Providers that are passed on.

/// A provider for children, and something that shows which provider a resource got.
fn provider_of<'a>(stack: &'a Stack, name: &str) -> &'a str {
    let reference = stack.resource(name).provider.as_str();
    reference.rsplit("::").nth(1).unwrap_or_default()
}

#[test]
fn children_inherit_the_provider_of_their_parent_for_its_package() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource(PROVIDER, "own").register().await?;
            let top = p.resource("pkgA:m:T", "top").provider(&own).register().await?;
            let mid = p.component("my:index:Mid", "mid").parent(&top.urn).register().await?;
            p.resource("pkgA:m:T", "a").parent(&mid.urn).register().await?;
            p.resource("pkgB:m:T", "b").parent(&mid.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!((provider_of(&stack, "a"), provider_of(&stack, "b")), ("own", "default"));
}

#[test]
fn a_default_provider_is_not_inherited_by_another_package() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let b = p.resource("pkgB:m:T", "b").register().await?;
            p.resource("pkgA:m:T", "a").parent(&b.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").provider.contains("pulumi:providers:pkgA::default"));
}

/// Gives a component a provider for its children.
fn providers_map(provider: &drystone_engine::Registered) -> impl FnOnce(&mut RegisterRequest) + use<> {
    let reference = format!("{}::{}", provider.urn, provider.id);
    move |request| {
        request.providers.insert("pkgA".to_owned(), reference);
    }
}

#[test]
fn components_pass_the_providers_of_their_map_on() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource(PROVIDER, "own").register().await?;
            let other = p.resource(PROVIDER, "other").register().await?;
            let top = p.component("my:index:Top", "top").with(providers_map(&own)).register().await?;
            let mid = p.component("my:index:Mid", "mid").parent(&top.urn).register().await?;
            p.resource("pkgA:m:T", "a").parent(&mid.urn).register().await?;
            p.resource("pkgA:m:T", "b").parent(&mid.urn).provider(&other).register().await?;
            p.resource("pkgB:m:T", "c").parent(&mid.urn).register().await?;
            let inner = p.component("my:index:Mid", "inner").parent(&top.urn).with(providers_map(&other));
            let inner = inner.register().await?;
            p.resource("pkgA:m:T", "d").parent(&inner.urn).register().await?;
            Ok(())
        }))
        .ok();
    let of = |name| provider_of(&stack, name);
    assert_eq!((of("a"), of("b"), of("c"), of("d")), ("own", "other", "default", "other"));
}

#[test]
fn a_constructed_component_gets_the_providers_of_its_parent() {
    let asked: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgB").unwrap().construct = Some(Arc::new(move |arguments| {
        noted.lock().unwrap().extend(arguments.providers.values().cloned());
        Box::pin(async move {
            let urn = Urn::new(format!("urn:pulumi:dev::shop::pkgB:m:Comp::{}", arguments.name));
            Ok(drystone_engine::Constructed { urn, ..Default::default() })
        }) as futures::future::BoxFuture<'static, _>
    }));
    stack
        .up(program(|p| async move {
            let own = p.resource(PROVIDER, "own").register().await?;
            let top = p.component("my:index:Top", "top").with(providers_map(&own)).register().await?;
            let comp = p.component("pkgB:m:Comp", "comp").parent(&top.urn);
            comp.with(|request| request.remote = true).register().await?;
            Ok(())
        }))
        .ok();
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1, "its own provider is not among them");
    assert!(asked[0].contains("providers:pkgA::own"), "{asked:?}");
}

#[test]
fn what_is_read_uses_the_providers_of_its_parent() {
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("x".to_owned(), Default::default());
    stack
        .up(program(|p| async move {
            let own = p.resource(PROVIDER, "own").register().await?;
            let top = p.component("my:index:Top", "top").with(providers_map(&own)).register().await?;
            let read = ReadRequest {
                type_token: "pkgA:m:T".to_owned(),
                name: "seen".to_owned(),
                id: "x".to_owned(),
                parent: top.urn,
                ..ReadRequest::default()
            };
            p.monitor.read(read).await.map(|_| ())
        }))
        .ok();
    assert_eq!(provider_of(&stack, "seen"), "own");
}

#[test]
fn a_program_that_fails_keeps_the_providers_of_what_it_did_not_come_to() {
    let mut stack = Stack::new();
    stack.up(explicit("eu")).ok();
    stack.up(program(|_| async { Err(MonitorError::new("bang")) })).failed("bang");
    assert_eq!(stack.names(), ["shop-dev", "own", "a"]);
}

#[test]
fn a_preview_of_a_new_provider_asks_through_it() {
    let mut stack = Stack::new();
    let outcome = stack.preview(explicit("eu")).ok();
    assert_eq!(outcome.steps(), ["create own", "create a"]);
    let calls = stack.calls("pkgA");
    assert_eq!(calls.iter().find(|call| call.method == "create").unwrap().config["region"], "eu".into());
}

#[test]
fn a_newer_provider_compares_its_checked_configuration() {
    let seen: Arc<std::sync::Mutex<Vec<Value>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            check_config: Some(Arc::new(|arguments| {
                let mut properties = arguments.new_inputs;
                properties.insert("region".to_owned(), "by default".into());
                Ok(Checked { properties, failures: Vec::new() })
            })),
            diff_config: Some(Arc::new(move |arguments| {
                noted.lock().unwrap().extend(arguments.new_inputs.get("region").cloned());
                Ok(Diff::none())
            })),
            ..TestProvider::default()
        },
    );
    stack.up(one("1.0.0")).ok();
    stack.up(one("2.0.0")).ok();
    assert_eq!(*seen.lock().unwrap(), ["by default".into()]);
}

/// A stack as tools left it from before providers were resources.
fn without_providers() -> Stack {
    let mut stack = Stack::new();
    stack
        .config
        .insert("pkgA:region".to_owned(), ConfigValue { text: "west".to_owned(), ..ConfigValue::default() });
    stack.up(a_and_b()).ok();
    stack.calls("pkgA");
    stack.snapshot.resources.retain(|resource| !is_provider_type(&resource.type_token));
    for resource in &mut stack.snapshot.resources {
        resource.provider.clear();
    }
    stack
}

fn a_and_b() -> Arc<dyn Program> {
    program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        p.resource("pkgA:m:T", "b").input_from("size", &a, "size").register().await?;
        Ok(())
    })
}

#[test]
fn resources_from_before_there_were_providers_get_the_default_one() {
    let mut stack = without_providers();
    let outcome = stack.up(a_and_b()).ok();
    assert_eq!((outcome.steps(), stack.effects("pkgA")), (Vec::new(), Vec::new()));
    let provider =
        stack.snapshot.resources.iter().find(|resource| is_provider_type(&resource.type_token)).unwrap();
    assert_eq!(provider.urn.name(), "default");
    assert!(provider.inputs.text().contains("west") && provider.outputs.text().contains("west"));
    let reference = format!("{}::{}", provider.urn, provider.id);
    assert_eq!(stack.resource("a").provider, reference);
    assert_eq!(stack.resource("b").provider, reference);
    assert_eq!(stack.up(a_and_b()).ok().entries, 0);
}

#[test]
fn resources_from_before_there_were_providers_are_refreshed_and_destroyed() {
    let mut stack = without_providers();
    stack.refresh().ok();
    assert!(!stack.resource("a").provider.is_empty());
    let mut stack = without_providers();
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_preview_of_such_a_stack_writes_nothing() {
    let mut stack = without_providers();
    let before = stack.snapshot.clone();
    let outcome = stack.preview(a_and_b()).ok();
    assert_eq!((outcome.steps(), outcome.entries), (Vec::new(), 0));
    assert_eq!(stack.snapshot.resources, before.resources);
}

#[test]
fn a_provider_without_outputs_has_its_inputs_for_them() {
    let mut stack = Stack::new();
    stack
        .config
        .insert("pkgA:region".to_owned(), ConfigValue { text: "west".to_owned(), ..ConfigValue::default() });
    stack.up(a_and_b()).ok();
    let of_provider = |resource: &&mut Resource| is_provider_type(&resource.type_token);
    let provider = stack.snapshot.resources.iter_mut().find(of_provider).unwrap();
    let whole = std::mem::take(&mut provider.outputs);
    stack.up(a_and_b()).ok();
    let mut providers =
        stack.snapshot.resources.iter().filter(|resource| is_provider_type(&resource.type_token));
    assert_eq!(providers.next().unwrap().outputs.text(), whole.text());
}
