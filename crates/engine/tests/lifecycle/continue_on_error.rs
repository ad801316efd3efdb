//! Going on with what does not depend on a failure.

use crate::harness::{P, Stack, TestProvider, program};
use drystone_engine::{
    Diff, Ending, MonitorError, Op, Operation, Program, ProviderError, ReadRequest, Registration,
};
use std::sync::Arc;

/// A stack that goes on, whose provider `pkgB` fails to make anything.
fn stack() -> Stack {
    let failing = TestProvider {
        create: Some(Arc::new(|_| Err(ProviderError::new("no room")))),
        ..TestProvider::default()
    };
    let mut stack = Stack::new().and_provider("pkgB", failing);
    stack.options.continue_on_error = true;
    stack
}

/// The result of a registration by name.
async fn result(registering: crate::harness::Registering) -> Result<Registration, MonitorError> {
    registering.register().await.map(|registered| registered.result)
}

#[test]
fn what_depends_on_a_failure_is_skipped_and_the_rest_is_made() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").register().await?;
            assert_eq!(bad.result, Registration::Failed);
            let after = p.resource("pkgA:m:T", "after").depends_on(&bad.urn).register().await?;
            assert_eq!(after.result, Registration::Skipped);
            let later = p.resource("pkgA:m:T", "later").depends_on(&after.urn);
            assert_eq!(result(later).await?, Registration::Skipped);
            assert_eq!(result(p.resource("pkgA:m:T", "other")).await?, Registration::Done);
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.names(), ["shop-dev", "other"]);
}

#[test]
fn children_of_a_failure_are_skipped() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").register().await?;
            assert_eq!(
                result(p.resource("pkgA:m:T", "child").parent(&bad.urn)).await?,
                Registration::Skipped
            );
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn what_goes_with_a_failure_or_takes_an_input_from_it_is_skipped() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").register().await?;
            let with =
                p.resource("pkgA:m:T", "with").options(|options| options.deleted_with = bad.urn.clone());
            assert_eq!(result(with).await?, Registration::Skipped);
            let input = p.resource("pkgA:m:T", "input").input("x", 1);
            let input = input.with(|request| {
                request.property_dependencies.insert("x".to_owned(), vec![bad.urn.clone()]);
            });
            assert_eq!(result(input).await?, Registration::Skipped);
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn without_the_option_a_failure_ends_the_program() {
    let mut stack = stack();
    stack.options.continue_on_error = false;
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").register().await;
            assert_eq!(bad.unwrap_err().kind, drystone_engine::MonitorErrorKind::Closing);
            p.resource("pkgA:m:T", "other").register().await?;
            Ok(())
        }))
        .failed("no room");
    assert_eq!((stack.names().len(), stack.effects("pkgA").len()), (1, 0));
}

/// Two resources of their own, and `bad` with `after` behind it; `size` changes all.
fn four(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        let bad = p.resource("pkgB:m:T", "bad").input("size", size).register().await?;
        p.resource("pkgA:m:T", "after").input("size", size).depends_on(&bad.urn).register().await?;
        p.resource("pkgA:m:T", "other").input("size", size).register().await?;
        Ok(())
    })
}

#[test]
fn a_failed_update_skips_the_updates_behind_it() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack.up(four(1)).ok();
    stack.calls("pkgA");
    stack.providers.get_mut("pkgB").unwrap().update = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(four(2)).failed("stuck");
    assert_eq!(stack.effects("pkgA"), ["update other"]);
    for (name, size) in [("bad", 1), ("after", 1), ("other", 2)] {
        assert_eq!(stack.resource(name).inputs.text(), format!(r#"{{"size":{size}}}"#), "{name}");
    }
}

#[test]
fn the_next_run_does_what_was_skipped() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack.up(four(1)).ok();
    stack.providers.get_mut("pkgB").unwrap().update = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(four(2)).failed("stuck");
    stack.providers.get_mut("pkgB").unwrap().update = None;
    let outcome = stack.up(four(2)).ok();
    assert_eq!(outcome.steps(), ["update bad", "update after"]);
}

#[test]
fn a_failed_deletion_keeps_what_it_depends_on_and_the_rest_goes() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack
        .up(program(|p| async move {
            let one = p.resource("pkgA:m:T", "one").register().await?;
            p.resource("pkgA:m:T", "two").depends_on(&one.urn).register().await?;
            let base = p.resource("pkgA:m:T", "base").register().await?;
            p.resource("pkgB:m:T", "stuck").depends_on(&base.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.providers.get_mut("pkgB").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("in use"))));
    stack.up(program(|_| async move { Ok(()) })).failed("in use");
    assert_eq!(stack.names(), ["shop-dev", "base", "stuck"]);
    assert_eq!(stack.snapshot.resources.iter().filter(|r| r.urn.name() == "default").count(), 2);
}

#[test]
fn a_destroy_goes_on_too() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack.up(four(1)).ok();
    stack.providers.get_mut("pkgB").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("in use"))));
    stack.calls("pkgA");
    stack.destroy().failed("in use");
    let mut effects = stack.effects("pkgA");
    effects.sort();
    assert_eq!(effects, ["delete after", "delete other"]);
    assert_eq!(stack.names(), ["bad"]);
}

/// `c` needs `b`, which needs `a`; `other` needs nothing.
fn chain(parent: bool) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        let mut b = p.resource("pkgA:m:T", "b").depends_on(&a.urn);
        if parent {
            let parent = p.component("my:index:Group", "group").register().await?;
            b = b.depends_on(&parent.urn);
        }
        let b = b.register().await?;
        p.resource("pkgA:m:T", "c").depends_on(&b.urn).register().await?;
        p.resource("pkgA:m:T", "other").register().await?;
        Ok(())
    })
}

fn cannot_read_c() -> TestProvider {
    TestProvider {
        read: Some(Arc::new(|arguments| match arguments.urn.name() {
            "c" => Err(ProviderError::new("out of reach")),
            _ => Ok(drystone_engine::ReadState {
                id: arguments.id,
                inputs: Some(arguments.inputs),
                outputs: Some(arguments.outputs),
                ..Default::default()
            }),
        })),
        ..TestProvider::default()
    }
}

#[test]
fn a_destroy_that_runs_the_program_keeps_what_a_failure_needs() {
    let mut stack = Stack::with_provider("pkgA", cannot_read_c());
    stack.up(chain(false)).ok();
    stack.options.continue_on_error = true;
    stack.options.refresh = drystone_engine::RefreshMode::First;
    stack.destroy_with(chain(false)).failed("out of reach");
    assert_eq!(stack.names(), ["a", "b", "c"]);
}

#[test]
fn what_the_program_lets_a_failure_need_since_is_kept_too() {
    let mut stack = Stack::with_provider("pkgA", cannot_read_c());
    stack.up(chain(false)).ok();
    stack.options.continue_on_error = true;
    stack.options.refresh = drystone_engine::RefreshMode::First;
    stack.destroy_with(chain(true)).failed("out of reach");
    assert!(["a", "b", "c"].iter().all(|name| stack.find(name).is_some()));
    assert!(stack.find("other").is_none());
    assert_eq!(drystone_model::verify(&stack.snapshot), []);
}

#[test]
fn what_depends_on_a_failure_under_its_new_name_is_skipped() {
    let run = |name: &'static str, size: i64| {
        program(move |p| async move {
            let former = "urn:pulumi:dev::shop::pkgA:m:T::c";
            let c = p.resource("pkgA:m:T", name).input("size", size).alias(former).register().await?;
            let d = p.resource("pkgA:m:T", "d").depends_on(&c.urn).input("size", size);
            if name == "renamed" {
                assert_eq!(result(d).await?, Registration::Skipped);
            } else {
                result(d).await?;
            }
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", cannot_read_c());
    stack.up(run("c", 1)).ok();
    stack.options.continue_on_error = true;
    stack.options.run_program = true;
    stack.options.refresh = drystone_engine::RefreshMode::First;
    stack.calls("pkgA");
    stack.up(run("renamed", 2)).failed("out of reach");
    assert!(!stack.effects("pkgA").iter().any(|effect| effect.starts_with("update")));
}

#[test]
fn what_left_the_program_is_deleted_although_something_failed() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "old").register().await?;
            Ok(())
        }))
        .ok();
    stack
        .up(program(|p| async move {
            p.resource("pkgB:m:T", "bad").register().await?;
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.effects("pkgA"), ["create old", "delete old"]);
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn what_was_skipped_is_not_deleted() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack.up(four(1)).ok();
    stack.providers.get_mut("pkgB").unwrap().update = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(four(2)).failed("stuck");
    assert_eq!(stack.names(), ["shop-dev", "other", "bad", "after"]);
}

#[test]
fn a_failed_read_is_told_and_the_rest_goes_on() {
    let mut stack = stack();
    stack.providers.get_mut("pkgB").unwrap().read = Some(Arc::new(|_| Err(ProviderError::new("not yours"))));
    stack
        .up(program(|p| async move {
            let read = ReadRequest {
                type_token: "pkgB:m:T".to_owned(),
                name: "seen".to_owned(),
                id: "x".to_owned(),
                ..ReadRequest::default()
            };
            assert_eq!(p.monitor.read(read).await?.result, Registration::Failed);
            p.resource("pkgA:m:T", "other").register().await?;
            Ok(())
        }))
        .failed("not yours");
    assert_eq!(stack.names(), ["shop-dev", "other"]);
}

#[test]
fn a_failed_import_is_told_and_the_rest_goes_on() {
    let mut stack = stack();
    stack.providers.get_mut("pkgB").unwrap().read = Some(Arc::new(|_| Err(ProviderError::new("not yours"))));
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").options(|options| options.import_id = "x".to_owned());
            assert_eq!(result(bad).await?, Registration::Failed);
            p.resource("pkgA:m:T", "other").register().await?;
            Ok(())
        }))
        .failed("not yours");
    assert_eq!(stack.names(), ["shop-dev", "other"]);
}

#[test]
fn a_failed_replacement_under_a_new_provider_keeps_the_old_resource_and_provider() {
    let replacing = TestProvider {
        diff_config: Some(Arc::new(|_| Ok(Diff::replace("version")))),
        ..TestProvider::default()
    };
    let run = |name: &'static str| {
        program(move |p| async move {
            let own = p.resource("pulumi:providers:pkgA", name).register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", replacing);
    stack.options.continue_on_error = true;
    stack.up(run("first")).ok();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    stack.up(run("second")).failed("no room");
    assert_eq!(stack.names(), ["shop-dev", "second", "first", "a"]);
    assert!(stack.resource("a").provider.contains("::first::"));
}

#[test]
fn inputs_that_the_provider_refuses_end_the_run() {
    let mut stack = stack();
    stack.providers.get_mut("pkgB").unwrap().check = Some(Arc::new(|_| Err(ProviderError::new("nonsense"))));
    stack
        .up(program(|p| async move {
            p.resource("pkgB:m:T", "bad").register().await?;
            p.resource("pkgA:m:T", "other").register().await?;
            Ok(())
        }))
        .failed("nonsense");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_program_that_fails_deletes_nothing() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "old").register().await?;
            Ok(())
        }))
        .ok();
    stack.up(program(|_| async move { Err(MonitorError::new("bang")) })).failed("bang");
    assert_eq!(stack.names(), ["shop-dev", "old"]);
}

#[test]
fn a_failed_refresh_is_told_and_the_others_are_refreshed() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    stack.up(four(1)).ok();
    stack.providers.get_mut("pkgB").unwrap().read = Some(Arc::new(|_| Err(ProviderError::new("not now"))));
    stack.providers["pkgA"].cloud.lock().unwrap().values_mut().for_each(|outputs| {
        outputs.insert("size".to_owned(), 9.into());
    });
    let outcome = stack.operate(Operation::Refresh, false, None).failed("not now");
    assert_eq!(outcome.report.ending, Ending::Failed);
    assert_eq!(stack.resource("other").outputs.text(), r#"{"size":9}"#);
    assert_eq!(outcome.count(Op::Update), 2);
}
