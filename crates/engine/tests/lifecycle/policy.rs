//! Policy packs: what they are asked, what they may change, and what comes of breaking a policy.

use crate::harness::{P, Stack, TestAnalyzer, TestProvider, broken, changed, program, unknown, violation};
use drystone_engine::{
    Analyzed, AnalyzedResource, Analyzer, AppliedState, CheckFailure, Checked, Ending, EnforcementLevel,
    Event, EventSink, Failed, Options, PolicyEvent, PolicyQuestion, PolicyScope, PolicySeverity, Program,
    PropertyMap, Remediated, Remediation, Severity, Summary, Violation, analyze_snapshot,
};
use drystone_model::{Secret, Urn, Value};
use drystone_secrets::{Base64, Manager, Reuse, Sealer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use EnforcementLevel::{Advisory, Disabled, Mandatory, Remediate};

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

fn several(names: &'static [&'static str]) -> Arc<dyn Program> {
    program(move |p: P| async move {
        for name in names {
            p.resource("pkgA:m:T", name).register().await?;
        }
        Ok(())
    })
}

fn with(stack: &mut Stack, pack: TestAnalyzer) -> TestAnalyzer {
    stack.analyzers.push(Arc::new(pack.clone()) as Arc<dyn Analyzer>);
    pack
}

/// A pack that finds one policy broken by every `pkgA:m:T`.
fn always(level: EnforcementLevel) -> TestAnalyzer {
    TestAnalyzer::new("pack").analyzing(move |resource| {
        let own = resource.urn.type_token() == "pkgA:m:T";
        Ok(if own { broken([violation("rule", level)]) } else { Analyzed::default() })
    })
}

fn set(key: &'static str, value: i64) -> impl Fn(AnalyzedResource) -> Result<Remediated, Failed> {
    move |resource| {
        if resource.urn.type_token() != "pkgA:m:T" {
            return Ok(Remediated::default());
        }
        let mut properties = resource.properties;
        properties.insert(key.to_owned(), Value::from(value));
        Ok(changed("rule", properties))
    }
}

fn summary(events: &[Event]) -> Summary {
    let found = events.iter().find_map(|event| match event {
        Event::Summary(summary) => Some(summary.clone()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_pack_that_finds_nothing_changes_nothing() {
    let mut stack = Stack::new();
    let pack = with(&mut stack, TestAnalyzer::new("pack"));
    let outcome = stack.up(one(1)).ok();
    assert_eq!((outcome.steps(), outcome.violations()), (vec!["create a".to_owned()], vec![]));
    assert_eq!(pack.take_asked(), ["remediate a", "analyze a", "analyze the stack", "cancel"]);
    assert_eq!(outcome.report.mandatory_violations, 0);
}

#[test]
fn every_registration_is_looked_at_the_stack_components_and_providers_too() {
    let mut stack = Stack::new();
    let pack = with(&mut stack, TestAnalyzer::new("pack"));
    stack
        .up(program(|p| async move {
            let parent = p.component("my:c:C", "c").register().await?;
            p.resource("pkgA:m:T", "a").parent(&parent.urn).register().await?;
            Ok(())
        }))
        .ok();
    let asked = pack.asked.lock().unwrap().clone();
    for name in ["shop-dev", "c", "default", "a"] {
        assert!(asked.contains(&format!("analyze {name}")), "{name} is not in {asked:?}");
    }
}

#[test]
fn what_is_only_read_is_not_looked_at() {
    let mut stack = Stack::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let pack = TestAnalyzer::new("pack").analyzing_stack(move |resources| {
        names.lock().unwrap().extend(resources.iter().map(|resource| resource.urn.name().to_owned()));
        Ok(Analyzed::default())
    });
    let pack = with(&mut stack, pack);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("id-1".to_owned(), PropertyMap::new());
    stack
        .up(program(|p| async move {
            p.read("pkgA:m:T", "r", "id-1").await?;
            p.resource("pkgA:m:T", "a").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(pack.take_asked(), ["remediate a", "analyze a", "analyze the stack", "cancel"]);
    let seen = seen.lock().unwrap().clone();
    assert!(seen.contains(&"a".to_owned()) && !seen.contains(&"r".to_owned()), "{seen:?}");
}

#[test]
fn advice_is_told_and_nothing_else_comes_of_it() {
    let mut stack = Stack::new();
    with(&mut stack, always(Advisory));
    let outcome = stack.up(one(1)).ok();
    assert_eq!(outcome.violations(), ["advisory rule: a"]);
    assert_eq!((outcome.report.mandatory_violations, stack.names().contains(&"a".to_owned())), (0, true));
}

#[test]
fn a_mandatory_policy_stops_an_update_before_the_resource_is_made() {
    let mut stack = Stack::new();
    let pack = with(&mut stack, always(Mandatory));
    let outcome = stack.up(one(1));
    assert_eq!((&outcome.report.ending, outcome.report.mandatory_violations), (&Ending::Failed, 1));
    assert_eq!((outcome.violations(), outcome.steps()), (vec!["mandatory rule: a".to_owned()], vec![]));
    assert!(stack.effects("pkgA").is_empty() && stack.find("a").is_none());
    assert!(!pack.take_asked().contains(&"analyze the stack".to_owned()));
    assert!(!summary(&outcome.events).succeeded);
}

#[test]
fn a_mandatory_policy_keeps_what_there_is_as_it_is() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on([]));
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    with(&mut stack, always(Mandatory));
    let outcome = stack.up(one(2));
    assert_eq!(outcome.report.ending, Ending::Failed);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
    assert!(stack.calls("pkgA").iter().all(|call| call.urn.name() != "a" || call.method == "check"));
}

#[test]
fn an_update_ends_at_the_first_violation_also_when_it_goes_on_after_errors() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    with(&mut stack, always(Mandatory));
    let outcome = stack.up(several(&["a", "b"]));
    assert_eq!(outcome.violations(), ["mandatory rule: a"]);
    assert_eq!((outcome.report.ending, stack.find("b").is_none()), (Ending::Failed, true));
}

#[test]
fn a_preview_tells_all_violations_shows_the_whole_plan_and_fails() {
    let mut stack = Stack::new();
    stack.up(several(&["gone"])).ok();
    let pack = with(&mut stack, always(Mandatory));
    let outcome = stack.preview(several(&["a", "b"]));
    assert_eq!(outcome.violations(), ["mandatory rule: a", "mandatory rule: b"]);
    assert_eq!((&outcome.report.ending, outcome.report.mandatory_violations), (&Ending::Failed, 2));
    assert_eq!(outcome.steps(), ["create a", "create b", "delete gone"]);
    assert!(pack.take_asked().contains(&"analyze the stack".to_owned()));
}

#[test]
fn a_stack_policy_fails_an_update_after_everything_was_made() {
    let mut stack = Stack::new();
    let judge = |_| Ok(broken([violation("whole", Mandatory)]));
    with(&mut stack, TestAnalyzer::new("pack").analyzing_stack(judge));
    let outcome = stack.up(one(1));
    assert_eq!(outcome.violations(), ["mandatory whole: shop-dev"]);
    assert_eq!((outcome.report.ending, outcome.report.mandatory_violations), (Ending::Failed, 1));
    assert!(stack.find("a").is_some() && outcome.report.recorded);
}

#[test]
fn advice_about_the_stack_is_told_of_the_resource_that_it_names() {
    let mut stack = Stack::new();
    with(
        &mut stack,
        TestAnalyzer::new("pack").analyzing_stack(|resources| {
            let urn = resources.iter().find(|resource| resource.urn.name() == "a").unwrap().urn.clone();
            let named = Violation { urn, ..violation("named", Advisory) };
            let elsewhere = Violation { urn: Urn::new("urn:elsewhere"), ..violation("lost", Advisory) };
            Ok(broken([named, elsewhere]))
        }),
    );
    let outcome = stack.up(one(1)).ok();
    assert_eq!(outcome.violations(), ["advisory named: a", "advisory lost: shop-dev"]);
}

#[test]
fn stack_policies_see_outputs_options_providers_and_dependencies() {
    let mut stack = Stack::new();
    let seen: Arc<Mutex<BTreeMap<String, AnalyzedResource>>> = Arc::default();
    let into = Arc::clone(&seen);
    let pack = TestAnalyzer::new("pack").analyzing_stack(move |resources| {
        let named = resources.into_iter().map(|resource| (resource.urn.name().to_owned(), resource));
        into.lock().unwrap().extend(named);
        Ok(Analyzed::default())
    });
    with(&mut stack, pack);
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let mut b = p.resource("pkgA:m:T", "b").input_from("of", &a, "size");
            b.request.options.protect = Some(true);
            b.request.options.delete_before_replace = Some(true);
            b.request.options.timeouts.create = 7.5;
            b.register().await?;
            p.stack_outputs(PropertyMap::from([("url".to_owned(), Value::from("x"))])).await
        }))
        .ok();
    let seen = seen.lock().unwrap();
    let (a, b) = (&seen["a"], &seen["b"]);
    assert_eq!(a.properties["size"], Value::from(1));
    assert_eq!(b.dependencies, std::slice::from_ref(&a.urn));
    assert_eq!(b.property_dependencies["of"], std::slice::from_ref(&a.urn));
    assert!(b.options.protect && b.options.delete_before_replace == Some(true));
    assert!((b.options.timeouts.create - 7.5).abs() < f64::EPSILON);
    assert_eq!(b.provider.as_ref().unwrap().urn.type_token(), "pulumi:providers:pkgA");
    assert_eq!(seen["shop-dev"].properties["url"], Value::from("x"));
}

#[test]
fn the_stack_is_not_looked_at_when_something_failed() {
    let failing = TestProvider {
        create: Some(Arc::new(|_| Err(drystone_engine::ProviderError::new("no")))),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", failing);
    let pack = with(&mut stack, TestAnalyzer::new("pack"));
    stack.up(one(1)).failed("no");
    assert!(!pack.take_asked().contains(&"analyze the stack".to_owned()));
}

#[test]
fn a_resource_that_goes_is_no_part_of_the_stack_that_is_looked_at() {
    let mut stack = Stack::new();
    stack.up(several(&["a", "b"])).ok();
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = Arc::clone(&names);
    let pack = TestAnalyzer::new("pack").analyzing_stack(move |resources| {
        *into.lock().unwrap() = resources.iter().map(|resource| resource.urn.name().to_owned()).collect();
        Ok(Analyzed::default())
    });
    with(&mut stack, pack);
    stack.up(several(&["a"])).ok();
    let names = names.lock().unwrap();
    assert!(names.contains(&"a".to_owned()) && !names.contains(&"b".to_owned()), "{names:?}");
}

#[test]
fn a_remediation_changes_what_is_made_and_is_told_with_before_and_after() {
    let mut stack = Stack::new();
    with(&mut stack, TestAnalyzer::new("pack").remediating(set("size", 9)));
    let outcome = stack.up(one(1)).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":9}"#);
    let told = outcome.events.iter().find_map(|event| match event {
        Event::Policy(PolicyEvent::Remediated { name, urn, before, after }) => {
            Some((name.policy.clone(), urn.name().to_owned(), before["size"].clone(), after["size"].clone()))
        }
        _ => None,
    });
    assert_eq!(told.unwrap(), ("rule".to_owned(), "a".to_owned(), Value::from(1), Value::from(9)));
}

#[test]
fn packs_change_a_resource_in_their_order_before_any_of_them_judges_it() {
    let mut stack = Stack::new();
    let order: Arc<Mutex<Vec<String>>> = Arc::default();
    for (name, factor) in [("first", 10), ("second", 3)] {
        let (changes, judges) = (Arc::clone(&order), Arc::clone(&order));
        let pack = TestAnalyzer::new(name)
            .remediating(move |resource| {
                let Some(Value::Number(size)) = resource.properties.get("size") else {
                    return Ok(Remediated::default());
                };
                changes.lock().unwrap().push(format!("{name} changes {}", size.as_f64()));
                let size = Value::from(size.as_f64() as i64 * factor + 1);
                Ok(changed("rule", PropertyMap::from([("size".to_owned(), size)])))
            })
            .analyzing(move |resource| {
                if let Some(Value::Number(size)) = resource.properties.get("size") {
                    judges.lock().unwrap().push(format!("judges {}", size.as_f64()));
                }
                Ok(Analyzed::default())
            });
        with(&mut stack, pack);
    }
    stack.up(one(1)).ok();
    let order = order.lock().unwrap().clone();
    assert_eq!(order, ["first changes 1", "second changes 11", "judges 34", "judges 34"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":34}"#);
}

#[test]
fn a_remediation_that_could_not_change_anything_is_advice() {
    let mut stack = Stack::new();
    with(
        &mut stack,
        TestAnalyzer::new("pack").remediating(|resource| {
            let diagnostic = match resource.urn.name() {
                "a" => "no idea how".to_owned(),
                _ => return Ok(Remediated::default()),
            };
            let remediation = Remediation { diagnostic, ..Remediation::default() };
            Ok(Remediated { remediations: vec![remediation], not_applicable: Vec::new() })
        }),
    );
    let outcome = stack.up(one(1)).ok();
    assert_eq!(outcome.violations(), ["advisory : a"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn a_remediation_that_fails_fails_the_operation_and_the_resource_is_not_made() {
    for dry_run in [true, false] {
        let mut stack = Stack::new();
        let fails = |resource: AnalyzedResource| match resource.urn.name() {
            "a" => Err(Failed("it broke".to_owned())),
            _ => Ok(Remediated::default()),
        };
        with(&mut stack, TestAnalyzer::new("pack").remediating(fails));
        let outcome = if dry_run { stack.preview(one(1)) } else { stack.up(one(1)) };
        let outcome = outcome.failed("failed to run remediation: it broke");
        assert!(outcome.steps().is_empty() && stack.effects("pkgA").is_empty());
    }
}

#[test]
fn a_policy_that_fails_fails_the_operation_and_no_violation_is_counted() {
    for dry_run in [true, false] {
        let mut stack = Stack::new();
        let fails = |resource: AnalyzedResource| match resource.urn.name() {
            "a" => Err(Failed("it broke".to_owned())),
            _ => Ok(Analyzed::default()),
        };
        with(&mut stack, TestAnalyzer::new("pack").analyzing(fails));
        let outcome = if dry_run { stack.preview(one(1)) } else { stack.up(one(1)) };
        let outcome = outcome.failed("failed to run policy: it broke");
        assert!(outcome.steps().is_empty() && stack.effects("pkgA").is_empty());
        assert_eq!(outcome.report.mandatory_violations, 0);
    }
}

#[test]
fn a_stack_policy_that_fails_fails_the_operation() {
    let mut stack = Stack::new();
    let fails = |_| Err(Failed("it broke".to_owned()));
    with(&mut stack, TestAnalyzer::new("pack").analyzing_stack(fails));
    stack.up(one(1)).failed("it broke");
    assert!(stack.find("a").is_some());
}

#[test]
fn a_policy_that_should_have_changed_something_and_is_still_broken_is_mandatory() {
    let mut stack = Stack::new();
    with(&mut stack, always(Remediate));
    let outcome = stack.up(one(1));
    assert_eq!(outcome.violations(), ["mandatory rule: a"]);
    assert_eq!((outcome.report.ending, stack.find("a").is_none()), (Ending::Failed, true));
}

#[test]
fn a_stack_policy_at_the_level_of_remediation_is_mandatory() {
    let mut stack = Stack::new();
    let judge = |_| Ok(broken([violation("whole", Remediate)]));
    with(&mut stack, TestAnalyzer::new("pack").analyzing_stack(judge));
    let outcome = stack.up(one(1));
    assert_eq!(
        (outcome.violations(), outcome.report.ending),
        (vec!["mandatory whole: shop-dev".to_owned()], Ending::Failed)
    );
}

#[test]
fn a_disabled_policy_is_never_broken() {
    let mut stack = Stack::new();
    with(&mut stack, always(Disabled));
    assert!(stack.up(one(1)).ok().violations().is_empty());
}

#[test]
fn several_violations_of_a_resource_are_all_told_with_their_severity() {
    let mut stack = Stack::new();
    with(
        &mut stack,
        TestAnalyzer::new("pack").analyzing(|resource| {
            let severe = Violation { severity: PolicySeverity::High, ..violation("severe", Mandatory) };
            let own = resource.urn.name() == "a";
            Ok(if own { broken([violation("mild", Advisory), severe]) } else { Analyzed::default() })
        }),
    );
    let outcome = stack.up(one(1));
    assert_eq!(outcome.violations(), ["advisory mild: a", "mandatory severe: a"]);
    let severities = outcome.events.iter().filter_map(|event| match event {
        Event::Policy(PolicyEvent::Violation(violation)) => Some(violation.severity.as_str()),
        _ => None,
    });
    assert_eq!(severities.collect::<Vec<_>>(), ["", "high"]);
}

#[test]
fn what_is_kept_and_what_is_broken_is_summed_up_for_each_question() {
    let mut stack = Stack::new();
    let pack = TestAnalyzer::new("pack")
        .with_policy("kept", Advisory, PolicyScope::Resource)
        .with_policy("broken", Advisory, PolicyScope::Resource)
        .with_policy("off", Disabled, PolicyScope::Resource)
        .with_policy("elsewhere", Mandatory, PolicyScope::Resource)
        .with_policy("old", Advisory, PolicyScope::Unknown)
        .with_policy("whole", Mandatory, PolicyScope::Stack)
        .analyzing(|resource| {
            let own = resource.urn.name() == "a";
            Ok(Analyzed {
                violations: if own { vec![violation("broken", Advisory)] } else { Vec::new() },
                not_applicable: vec!["elsewhere".to_owned()],
            })
        });
    with(&mut stack, pack);
    let outcome = stack.up(one(1)).ok();
    let of_a = outcome.policy_summaries("a");
    let questions: Vec<_> = of_a.iter().map(|summary| summary.question).collect();
    assert_eq!(questions, [PolicyQuestion::Remediate, PolicyQuestion::Analyze]);
    assert_eq!(of_a[0].passed, ["broken", "elsewhere", "kept", "old"]);
    assert_eq!(
        (of_a[1].passed.clone(), of_a[1].failed.clone()),
        (vec!["kept".into(), "old".into()], vec!["broken".into()])
    );
    let of_stack = outcome.policy_summaries("");
    assert_eq!((of_stack.len(), of_stack[0].question), (1, PolicyQuestion::AnalyzeStack));
    assert_eq!(of_stack[0].passed, ["old", "whole"]);
    let packs = summary(&outcome.events).policy_packs;
    assert_eq!(packs, BTreeMap::from([("pack|local|pack".to_owned(), "1.0.0".to_owned())]));
}

#[test]
fn policies_see_checked_inputs_secrets_and_unknown_values() {
    let completing = TestProvider {
        check: Some(Arc::new(|arguments| {
            let mut properties = arguments.new_inputs;
            properties.insert("made".to_owned(), Value::from("up"));
            Ok(Checked { properties, failures: Vec::new() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", completing);
    let seen: Arc<Mutex<PropertyMap>> = Arc::default();
    let into = Arc::clone(&seen);
    let pack = TestAnalyzer::new("pack").analyzing(move |resource| {
        if resource.urn.name() == "a" {
            *into.lock().unwrap() = resource.properties;
        }
        Ok(Analyzed::default())
    });
    with(&mut stack, pack);
    stack
        .preview(program(|p| async move {
            let secret = Value::Secret(Secret::Open(Box::new(Value::from("hush"))));
            p.resource("pkgA:m:T", "a").input("key", secret).input("later", unknown()).register().await?;
            Ok(())
        }))
        .ok();
    let seen = seen.lock().unwrap();
    assert_eq!(seen["made"], Value::from("up"));
    assert!(matches!(&seen["key"], Value::Secret(Secret::Open(inner)) if **inner == Value::from("hush")));
    assert!(matches!(seen["later"], Value::Computed(_)));
}

#[test]
fn policies_judge_inputs_that_the_provider_refuses_too() {
    let refusing = TestProvider {
        check: Some(Arc::new(|arguments| {
            let failures = vec![CheckFailure { property: "size".to_owned(), reason: "too small".to_owned() }];
            Ok(Checked { properties: arguments.new_inputs, failures })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", refusing);
    with(&mut stack, always(Advisory));
    let outcome = stack.up(one(1)).failed("too small");
    assert_eq!(outcome.violations(), ["advisory rule: a"]);
}

#[test]
fn a_remediated_resource_stays_as_it_is_when_the_program_does() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on([]));
    with(&mut stack, TestAnalyzer::new("pack").remediating(set("size", 9)));
    stack.up(one(1)).ok();
    let outcome = stack.up(one(2)).ok();
    assert!(outcome.steps().is_empty(), "{:?}", outcome.steps());
}

/// The stock engine makes up the inputs of a replacement anew and forgets what policies made of them.
#[test]
fn a_replacement_is_made_as_policies_would_have_it() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let kind = |kind: &'static str| {
        program(move |p: P| async move {
            p.resource("pkgA:m:T", "a").input("kind", kind).input("size", 1).register().await?;
            Ok(())
        })
    };
    with(&mut stack, TestAnalyzer::new("pack").remediating(set("size", 9)));
    stack.up(kind("x")).ok();
    let outcome = stack.up(kind("y")).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"kind":"y","size":9}"#);
    let told = |event: &&Event| matches!(event, Event::Policy(PolicyEvent::Remediated { .. }));
    assert_eq!(outcome.events.iter().filter(told).count(), 1);
}

#[test]
fn resources_that_the_operation_is_not_about_are_judged_as_they_are() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on([]));
    stack.up(one(1)).ok();
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let into = Arc::clone(&seen);
    let pack = TestAnalyzer::new("pack").analyzing(move |resource| {
        if resource.urn.name() == "a" {
            into.lock().unwrap().push(resource.properties["size"].clone());
        }
        Ok(Analyzed::default())
    });
    with(&mut stack, pack);
    stack.options = Options { excludes: crate::harness::targets([&stack.urn("a")]), ..stack.options.clone() };
    stack.up(one(2)).ok();
    assert_eq!(*seen.lock().unwrap(), [Value::from(1)]);
}

#[test]
fn different_packs_judge_side_by_side_and_one_pack_one_resource_at_a_time() {
    let mut stack = Stack::new();
    let (most, most_of_one) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let now = Arc::new(AtomicUsize::new(0));
    for name in ["first", "second"] {
        let own = Arc::new(AtomicUsize::new(0));
        let (now, most, most_of_one) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&most_of_one));
        let pause = move || {
            let (now, own) = (Arc::clone(&now), Arc::clone(&own));
            let (most, most_of_one) = (Arc::clone(&most), Arc::clone(&most_of_one));
            Box::pin(async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                most_of_one.fetch_max(own.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                own.fetch_sub(1, Ordering::SeqCst);
            }) as futures::future::BoxFuture<'static, ()>
        };
        let pack = TestAnalyzer { pause: Some(Arc::new(pause)), ..TestAnalyzer::new(name) };
        with(&mut stack, pack);
    }
    stack
        .up(program(|p: P| async move {
            let one = |name| p.resource("pkgA:m:T", name).register();
            let (a, b, c) = tokio::join!(one("a"), one("b"), one("c"));
            a.and(b).and(c).map(|_| ())
        }))
        .ok();
    assert_eq!((most.load(Ordering::SeqCst), most_of_one.load(Ordering::SeqCst)), (2, 1));
}

#[test]
fn a_pack_hears_that_the_operation_is_asked_to_stop() {
    let mut stack = Stack::new();
    let cancellation = stack.cancellation.clone();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let pause = move || {
        let (cancellation, heard) = (cancellation.clone(), Arc::clone(&heard));
        Box::pin(async move {
            cancellation.request(drystone_engine::CancelLevel::Graceful);
            while !heard.lock().unwrap().contains(&"cancel".to_owned()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }) as futures::future::BoxFuture<'static, ()>
    };
    let pack = TestAnalyzer { asked, pause: Some(Arc::new(pause)), ..TestAnalyzer::new("pack") };
    let pack = with(&mut stack, pack);
    let outcome = stack.up(one(1));
    assert_eq!(outcome.report.ending, Ending::Cancelled);
    let cancels = pack.asked.lock().unwrap().iter().filter(|asked| *asked == "cancel").count();
    assert_eq!(cancels, 1);
}

#[test]
fn a_stack_that_breaks_a_policy_keeps_its_new_outputs() {
    let mut stack = Stack::new();
    let judge = |_| Ok(broken([violation("whole", Mandatory)]));
    with(&mut stack, TestAnalyzer::new("pack").analyzing_stack(judge));
    let outcome = stack.up(program(|p: P| async move {
        p.stack_outputs(PropertyMap::from([("url".to_owned(), Value::from("x"))])).await
    }));
    assert_eq!(outcome.report.ending, Ending::Failed);
    assert_eq!(stack.resource("shop-dev").outputs.text(), r#"{"url":"x"}"#);
    assert!(outcome.diagnostics(Severity::Error).is_empty());
}

/// Has a pack judge a snapshot: how often mandatory policies are broken, and what was told.
fn judge(stack: &Stack, sealed: bool, pack: TestAnalyzer) -> (usize, Vec<Event>) {
    #[derive(Default)]
    struct Told(Mutex<Vec<Event>>);
    impl EventSink for Told {
        fn send(&self, event: Event) {
            self.0.lock().unwrap().push(event);
        }
    }
    let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
    let sealer = (!sealed).then(|| Arc::new(Sealer::new(&manager, Reuse::On).unwrap()));
    let told = Told::default();
    let judged = analyze_snapshot(&stack.snapshot, sealer, vec![Arc::new(pack)], &told);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let broken = runtime.block_on(judged).unwrap();
    (broken, told.0.into_inner().unwrap())
}

#[test]
fn a_snapshot_is_judged_by_its_inputs_and_the_stack_by_its_outputs_and_nothing_changes() {
    let outputs = TestProvider {
        create: Some(Arc::new(|arguments| {
            let mut outputs = arguments.inputs;
            outputs.insert("made".to_owned(), Value::from(true));
            Ok(AppliedState { id: "id".to_owned(), outputs, ..AppliedState::default() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", outputs);
    stack.up(one(1)).ok();
    let mut gone = stack.resource("a").clone();
    (gone.urn, gone.delete) = (Urn::new("urn:pulumi:dev::shop::pkgA:m:T::gone"), true);
    stack.snapshot.resources.push(gone);
    let before = stack.snapshot.clone();
    let seen: Arc<Mutex<Vec<(bool, bool)>>> = Arc::default();
    let (of_one, of_all) = (Arc::clone(&seen), Arc::clone(&seen));
    let note =
        |resource: &AnalyzedResource| (resource.properties.contains_key("made"), resource.provider.is_some());
    let pack = always(Mandatory);
    let judge_one = pack.analyze.clone().unwrap();
    let pack = pack
        .remediating(set("size", 9))
        .analyzing(move |resource| {
            if resource.urn.name() == "a" {
                of_one.lock().unwrap().push(note(&resource));
            }
            judge_one(resource)
        })
        .analyzing_stack(move |resources| {
            let all = resources.iter().filter(|resource| resource.urn.type_token() == "pkgA:m:T");
            of_all.lock().unwrap().extend(all.map(note));
            Ok(broken([violation("whole", Remediate)]))
        });
    let asked = pack.clone();
    let (broken, told) = judge(&stack, false, pack);
    assert_eq!(broken, 2);
    assert_eq!(*seen.lock().unwrap(), [(false, true), (true, true)]);
    assert_eq!(asked.take_asked(), ["remediate a", "analyze a", "analyze the stack", "cancel"]);
    let remediated = told.iter().any(|event| {
        matches!(event, Event::Policy(PolicyEvent::Remediated { after, .. }) if after["size"] == Value::from(9))
    });
    assert!(remediated && stack.snapshot == before);
}

#[test]
fn secrets_that_cannot_be_opened_are_masked_when_a_snapshot_is_judged() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("key", Value::secret(Value::from(7))).register().await?;
            Ok(())
        }))
        .ok();
    for (sealed, expected) in [(false, Value::from(7)), (true, Value::from("[secret]"))] {
        let seen: Arc<Mutex<Option<Value>>> = Arc::default();
        let into = Arc::clone(&seen);
        let pack = TestAnalyzer::new("pack").analyzing(move |resource| {
            if let Some(Value::Secret(Secret::Open(inner))) = resource.properties.get("key") {
                *into.lock().unwrap() = Some((**inner).clone());
            }
            Ok(Analyzed::default())
        });
        assert_eq!(judge(&stack, sealed, pack).0, 0);
        assert_eq!(seen.lock().unwrap().clone(), Some(expected));
    }
}
