//! What a program asks for besides values, and how far an operation goes.

use super::*;

#[test]
fn options_of_resources_are_held() {
    type Change = fn(&mut ResourceOptions);
    let cases: [(Change, &str); 14] = [
        (|options| options.protect = Some(true), "protect changed (expected false)"),
        (
            |options| options.delete_before_replace = Some(true),
            "deleteBeforeReplace changed (expected no value)",
        ),
        (|options| options.timeouts.create = 5.0, "create timeout changed (expected 0)"),
        (|options| options.timeouts.update = 5.0, "update timeout changed (expected 0)"),
        (|options| options.timeouts.delete = 5.0, "delete timeout changed (expected 0)"),
        (|options| options.timeouts.read = 5.0, "read timeout changed (expected 0)"),
        (|options| options.ignore_changes = vec!["x".into()], "ignoreChanges changed: added x"),
        (
            |options| options.additional_secret_outputs = vec!["x".into()],
            "additionalSecretOutputs changed: added x",
        ),
        (
            |options| options.aliases = vec![Alias::Urn(urn("b"))],
            "aliases changed: added {urn:pulumi:dev::shop::pkgA:m:T::b ",
        ),
        (|options| options.retain_on_delete = Some(true), "retainOnDelete changed (expected false)"),
        (|options| options.replace_on_changes = vec!["x".into()], "replaceOnChanges changed: added x"),
        (|options| options.replacement_trigger = Some(1.into()), "replacementTrigger changed"),
        (
            |options| options.deleted_with = Urn::build("dev", "shop", "", "pulumi:pulumi:Stack", "shop-dev"),
            "deletedWith changed (expected )",
        ),
        (|options| options.import_id = "x-1".into(), "importID changed (expected )"),
    ];
    for (change, expected) in cases {
        let mut stack = Stack::new();
        let plan = stack.plan(optioned(|_| {}));
        let expected = format!("resource {} violates plan: {expected}", urn("a"));
        stack.up_held(&plan, optioned(change)).failed(&expected);
        assert_eq!(stack.names(), ["shop-dev"]);
        if !expected.contains("importID") {
            let plan = stack.plan(optioned(change));
            stack.up_held(&plan, optioned(change)).ok();
        }
    }
}

#[test]
fn an_option_that_goes_is_told_as_deleted() {
    let mut stack = Stack::new();
    let ignoring = |paths: &'static [&'static str]| {
        optioned(move |options| options.ignore_changes = paths.iter().map(|&path| path.to_owned()).collect())
    };
    let plan = stack.plan(ignoring(&["a", "b"]));
    stack.up_held(&plan, ignoring(&["c", "b"])).failed("ignoreChanges changed: added c; deleted a");
}

#[test]
fn hooks_are_held() {
    let hooked = |name: Option<&'static str>| {
        program(move |p| async move {
            let log = crate::harness::Log::default();
            p.monitor.add_hook("h1".into(), logging_hook(&log))?;
            p.monitor.add_hook("h2".into(), logging_hook(&log))?;
            let bound = name.map(|name| (drystone_engine::HookMoment::BeforeCreate, vec![name.to_owned()]));
            let resource = p.resource("pkgA:m:T", "a");
            resource.options(|options| options.hooks = bound.into_iter().collect()).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(hooked(Some("h1")));
    stack
        .up_held(&plan, hooked(Some("h2")))
        .failed("hooks changed: added BeforeCreate h2; deleted BeforeCreate h1");
    stack.up_held(&plan, hooked(Some("h1"))).ok();
}

#[test]
fn ignored_changes_stay_ignored() {
    let ignoring = |x: i64| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("x", x);
            a.options(|options| options.ignore_changes = vec!["x".into()]).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(ignoring(1)).ok();
    let plan = stack.plan(ignoring(2));
    assert_eq!(ops(&plan, "a"), [Op::Same]);
    stack.up_held(&plan, ignoring(3)).ok();
    assert!(stack.resource("a").inputs.text().contains('1'));
}

#[test]
fn dependencies_are_held_for_the_resource_and_for_each_input() {
    let depending = |input: bool, whole: bool| {
        program(move |p| async move {
            let a: Registered = p.resource("pkgA:m:T", "a").input("x", 1).register().await?;
            let mut b = p.resource("pkgA:m:T", "b");
            b = if input { b.input_from("x", &a, "x") } else { b.input("x", 1) };
            if whole {
                b.request.dependencies = vec![a.urn.clone()];
            }
            b.request.property_dependencies.entry("x".to_owned()).or_default();
            b.register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(depending(true, true));
    let expected = format!("dependencies changed: deleted {}", urn("a"));
    stack.up_held(&plan, depending(false, false)).failed(&expected);
    let expected = format!("dependencies for x changed: deleted {}", urn("a"));
    stack.up_held(&plan, depending(false, true)).failed(&expected);
    let plan = stack.plan(depending(true, true));
    stack.up_held(&plan, depending(true, true)).ok();
}

#[test]
fn parents_and_providers_are_held() {
    let placed = |provider: &'static str| {
        program(move |p| async move {
            let one = p.resource("pulumi:providers:pkgA", "one").register().await?;
            let two = p.resource("pulumi:providers:pkgA", "two").register().await?;
            let provider = if provider == "one" { &one } else { &two };
            p.resource("pkgA:m:T", "a").provider(provider).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(placed("one"));
    stack.up_held(&plan, placed("two")).failed(
        "violates plan: provider changed (expected urn:pulumi:dev::shop::pulumi:providers:pkgA::one::",
    );
    // The id of a provider that was not there yet may be any.
    stack.up_held(&plan, placed("one")).ok();
}

#[test]
fn a_component_does_not_become_a_resource() {
    let either = |custom: bool| {
        program(move |p| async move {
            let resource = if custom { p.resource("pkgA:m:T", "a") } else { p.component("pkgA:m:T", "a") };
            resource.register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(either(true));
    stack.up_held(&plan, either(false)).failed("violates plan: resource kind changed (expected custom)");
}

/// A stack whose package has something to take over.
fn with_something_real() -> Stack {
    let stack = Stack::new();
    let real = PropertyMap::from([("x".to_owned(), 1.into())]);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("real".to_owned(), real);
    stack
}

#[test]
fn an_import_is_planned_and_one_that_is_not_takes_nothing_over() {
    let importing = |id: &'static str| optioned(move |options| options.import_id = id.to_owned());
    let mut stack = with_something_real();
    let plan = stack.plan(importing("real"));
    assert_eq!(stack.up_held(&plan, importing("real")).ok().steps(), ["import a"]);
    let mut stack = with_something_real();
    let plan = stack.plan(with(vec![("b", vec![])]));
    stack.calls("pkgA");
    stack
        .up_held(&plan, importing("real"))
        .failed("import is not allowed by the plan: no steps were expected for this resource");
    assert_eq!((stack.names(), stack.effects("pkgA")), (vec!["shop-dev".to_owned()], vec![]));
}

#[test]
fn reads_are_not_held_but_what_they_push_out_is() {
    let reading = |read: bool| {
        program(move |p| async move {
            match read {
                true => p.read("pkgA:m:T", "a", "real").await?,
                false => p.resource("pkgA:m:T", "a").register().await?,
            };
            Ok(())
        })
    };
    let mut stack = with_something_real();
    stack.up(reading(false)).ok();
    let plan = stack.plan(reading(true));
    assert_eq!(ops(&plan, "a"), [Op::DeleteReplaced]);
    stack.up_held(&plan, reading(true)).ok();
    let mut stack = with_something_real();
    stack.up(reading(false)).ok();
    let plan = stack.plan(reading(false));
    let expected = "delete-replaced is not allowed by the plan: this resource is constrained to same";
    stack.calls("pkgA");
    stack.up_held(&plan, reading(true)).failed(expected);
    assert!(!stack.effects("pkgA").iter().any(|effect| effect.starts_with("delete")));
}

#[test]
fn a_plan_for_targets_is_for_no_more_than_them() {
    let both = || with(vec![("a", vec![text("foo", "bar")]), ("b", vec![text("foo", "bar")])]);
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("b")]);
    let plan = stack.plan(both());
    assert_eq!((ops(&plan, "a"), ops(&plan, "b")), (vec![Op::Same], vec![Op::Create]));
    stack.up_held(&plan, both()).ok();
    assert_eq!(stack.names(), ["shop-dev", "b"]);
    stack.options = Options { parallel: 8, ..Options::default() };
    stack.up_held(&plan, both()).failed("violates plan: properties changed: =+foo[{bar}]");
    let bare = || with(vec![("a", vec![]), ("b", vec![text("foo", "bar")])]);
    stack
        .up_held(&plan, bare())
        .failed("create is not allowed by the plan: this resource is constrained to same");
    assert_eq!(stack.names(), ["shop-dev", "b"]);
}

#[test]
fn what_a_targeted_update_leaves_is_planned_to_stay() {
    let mut stack = Stack::new();
    stack.up(with(vec![("a", some("1")), ("b", some("1"))])).ok();
    stack.options.targets = targets([&urn("a")]);
    let plan = stack.plan(one(some("2")));
    assert_eq!((ops(&plan, "a"), ops(&plan, "b")), (vec![Op::Update], vec![Op::Same]));
    stack.up_held(&plan, one(some("2"))).ok();
    assert_eq!(stack.names().len(), 3);
}

#[test]
fn a_plan_over_refreshed_state_holds_for_a_refreshed_update() {
    let mut stack = Stack::new();
    stack.up(one(some("bar"))).ok();
    let drift = PropertyMap::from([("foo".to_owned(), "drift".into()), ("zed".to_owned(), "24".into())]);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a-1".to_owned(), drift);
    stack.options.refresh = RefreshMode::First;
    let plan = stack.plan(one(some("bar")));
    assert_eq!(ops(&plan, "a"), [Op::Update]);
    assert_eq!(stack.up_held(&plan, one(some("bar"))).ok().steps(), ["refresh a", "update a"]);
}

#[test]
fn a_failure_that_is_not_about_the_plan_does_not_make_the_plan_complain() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| match arguments.dry_run {
            true => Ok(drystone_engine::AppliedState::default()),
            false => Err(drystone_engine::ProviderError::new("no room")),
        })),
        ..TestProvider::default()
    };
    for goes_on in [false, true] {
        let mut stack = Stack::with_provider("pkgA", provider.clone());
        stack.options.continue_on_error = goes_on;
        let two = || chained("bar", vec![]);
        let plan = stack.plan(two());
        let errors = stack.up_held(&plan, two()).failed("no room").diagnostics(Severity::Error);
        assert!(!errors.iter().any(|error| error.contains("plan")), "{errors:?}");
    }
}

#[test]
fn many_resources_at_once_are_each_held_to_their_own_plan() {
    const NAMES: [&str; 20] = [
        "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11", "n12", "n13", "n14", "n15",
        "n16", "n17", "n18", "n19",
    ];
    let many = |odd: &'static str| {
        program(move |p| async move {
            let all = NAMES.map(|name| {
                let x = if name == odd { "odd" } else { name };
                p.resource("pkgA:m:T", name).input("x", x).register()
            });
            let registered: Result<Vec<_>, _> = futures::future::join_all(all).await.into_iter().collect();
            registered.map(drop) as ProgramResult
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(many(""));
    stack.up_held(&plan, many("n13")).failed("++x[{n13}!={odd}]");
    assert!(stack.find("n13").is_none());
    let mut stack = Stack::new();
    stack.up_held(&plan, many("")).ok();
    assert_eq!(stack.names().len(), NAMES.len() + 1);
}
