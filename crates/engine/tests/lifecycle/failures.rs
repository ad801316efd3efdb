//! Things that go wrong: the state stays as true as it can be, and nothing begins that should not.

use crate::harness::{Call, P, Stack, TestProvider, program};
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CancelLevel, CheckFailure, Checked, Ending, Monitor, MonitorError, MonitorErrorKind, Op,
    Program, ProgramError, ProviderError, ReadRequest, ReadState, Severity,
};
use drystone_model::Urn;
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex};

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

fn provider(stack: &mut Stack) -> &mut TestProvider {
    stack.providers.get_mut("pkgA").unwrap()
}

fn with_a() -> Stack {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    stack
}

fn pending(stack: &Stack) -> Vec<String> {
    let operations = stack.snapshot.pending_operations.iter();
    operations.map(|found| format!("{} {}", found.kind.as_str(), found.resource.urn.name())).collect()
}

// Providers that answer that they failed.

#[test]
fn a_creation_that_fails_leaves_nothing() {
    let mut stack = Stack::new();
    provider(&mut stack).create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    let outcome = stack.up(one(1)).failed("no room");
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".to_owned()], 0));
    assert_eq!(outcome.count(Op::Create), 1, "only the stack itself");
}

#[test]
fn an_update_that_fails_leaves_the_old_state() {
    let mut stack = with_a();
    provider(&mut stack).update = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(one(2)).failed("stuck");
    assert_eq!((stack.resource("a").inputs.text(), pending(&stack).len()), (r#"{"size":1}"#, 0));
}

#[test]
fn a_deletion_that_fails_leaves_the_state() {
    let mut stack = with_a();
    provider(&mut stack).delete = Some(Arc::new(|_| Err(ProviderError::new("in use"))));
    stack.up(program(|_| async { Ok(()) })).failed("in use");
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 0));
}

#[test]
fn a_check_that_fails_is_told_with_the_property() {
    let mut stack = Stack::new();
    provider(&mut stack).check = Some(Arc::new(|arguments| {
        let failures = vec![
            CheckFailure { property: "size".to_owned(), reason: "too small".to_owned() },
            CheckFailure { property: String::new(), reason: "all wrong".to_owned() },
        ];
        Ok(Checked { properties: arguments.new_inputs, failures })
    }));
    let outcome = stack.up(one(1)).failed("pkgA:m:T resource 'a': property size value");
    let errors = outcome.diagnostics(Severity::Error);
    assert_eq!(errors[0], "pkgA:m:T resource 'a': property size value {1} has a problem: too small");
    assert_eq!(errors[1], "pkgA:m:T resource 'a' has a problem: all wrong");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_check_failure_does_not_show_a_secret() {
    let mut stack = Stack::new();
    provider(&mut stack).check = Some(Arc::new(|arguments| {
        let failures = vec![CheckFailure { property: "key".to_owned(), reason: "too short".to_owned() }];
        Ok(Checked { properties: arguments.new_inputs, failures })
    }));
    let outcome = stack.up(program(|p| async move {
        let key = drystone_model::Value::secret("hunter2".into());
        p.resource("pkgA:m:T", "a").input("key", key).register().await.map(|_| ())
    }));
    let outcome = outcome.failed("too short");
    assert!(!outcome.diagnostics(Severity::Debug).concat().contains("hunter2"));
}

#[test]
fn a_comparison_that_fails_changes_nothing() {
    let mut stack = with_a();
    provider(&mut stack).diff = Some(Arc::new(|_| Err(ProviderError::new("cannot tell"))));
    stack.up(one(2)).failed("cannot tell");
    assert_eq!((stack.effects("pkgA").len(), stack.resource("a").inputs.text()), (0, r#"{"size":1}"#));
}

#[test]
fn a_read_that_fails_is_told() {
    let mut stack = Stack::new();
    provider(&mut stack).read = Some(Arc::new(|_| Err(ProviderError::new("not yours"))));
    stack.up(reading("x")).failed("not yours");
    assert_eq!(stack.names(), ["shop-dev"]);
}

fn reading(id: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let read = ReadRequest {
            type_token: "pkgA:m:T".to_owned(),
            name: "seen".to_owned(),
            id: id.to_owned(),
            ..ReadRequest::default()
        };
        p.monitor.read(read).await.map(|_| ())
    })
}

#[test]
fn reading_what_is_not_there_is_told() {
    Stack::new().up(reading("gone")).failed("resource 'gone' does not exist");
}

#[test]
fn reading_without_an_id_is_told() {
    Stack::new().up(reading("")).failed("Expected an ID for urn:pulumi:dev::shop::pkgA:m:T::seen");
}

#[test]
fn a_creation_without_an_id_is_of_unknown_effect() {
    let mut stack = Stack::new();
    provider(&mut stack).create = Some(Arc::new(|_| Ok(AppliedState::default())));
    stack.up(one(1)).failed("provider did not return an ID from Create");
    assert_eq!(pending(&stack), ["creating a"]);
}

// Things that are there but not ready.

fn unready(message: &'static str) -> impl Fn(&str) -> AppliedState {
    move |id| AppliedState {
        id: id.to_owned(),
        outputs: [("state".to_owned(), "half".into())].into(),
        incomplete: vec![message.to_owned()],
        ..AppliedState::default()
    }
}

#[test]
fn a_resource_that_is_made_but_not_ready_is_kept_with_the_reason() {
    let mut stack = Stack::new();
    let answer = unready("waiting for an address");
    provider(&mut stack).create = Some(Arc::new(move |_| Ok(answer("i-1"))));
    stack.up(one(1)).failed("1 error occurred:\n    * waiting for an address");
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.init_errors.join(",")), ("i-1", "waiting for an address".to_owned()));
    assert_eq!(a.outputs.text(), r#"{"state":"half"}"#);
    assert!(pending(&stack).is_empty());
}

#[test]
fn a_resource_that_is_not_ready_is_updated_by_the_next_run_though_nothing_changed() {
    let mut stack = Stack::new();
    let answer = unready("waiting");
    provider(&mut stack).create = Some(Arc::new(move |_| Ok(answer("i-1"))));
    stack.up(one(1)).failed("waiting");
    stack.calls("pkgA");
    stack.up(one(1)).ok();
    assert_eq!(stack.effects("pkgA"), ["update a"]);
    assert!(stack.resource("a").init_errors.is_empty());
}

#[test]
fn an_update_that_is_not_ready_keeps_the_new_outputs_and_the_old_inputs() {
    let mut stack = with_a();
    let answer = unready("still rolling");
    provider(&mut stack).update = Some(Arc::new(move |arguments| Ok(answer(&arguments.id))));
    stack.up(one(2)).failed("still rolling");
    let a = stack.resource("a");
    assert_eq!((a.inputs.text(), a.outputs.text()), (r#"{"size":1}"#, r#"{"state":"half"}"#));
    assert_eq!(a.init_errors, ["still rolling"]);
}

#[test]
fn a_resource_that_is_not_ready_is_replaced_where_everything_replaces() {
    let mut stack = Stack::new();
    let answer = unready("waiting");
    provider(&mut stack).create = Some(Arc::new(move |_| Ok(answer("i-1"))));
    let run = || {
        program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1);
            a.options(|options| options.replace_on_changes = vec!["*".to_owned()]).register().await?;
            Ok(())
        })
    };
    stack.up(run()).failed("waiting");
    provider(&mut stack).create = None;
    stack.calls("pkgA");
    stack.up(run()).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn what_was_read_but_is_not_ready_is_not_taken() {
    let mut stack = Stack::new();
    provider(&mut stack).read = Some(Arc::new(|arguments| {
        Ok(ReadState {
            id: arguments.id,
            outputs: Some(Default::default()),
            incomplete: vec!["half there".to_owned()],
            ..ReadState::default()
        })
    }));
    stack.up(reading("x")).failed("half there");
}

// Calls of which nobody knows what they did.

#[test]
fn a_creation_of_unknown_effect_stays_pending() {
    let mut stack = Stack::new();
    provider(&mut stack).create = Some(Arc::new(|_| Err(ProviderError::unknown("the connection broke"))));
    stack.up(one(1)).failed("whether the creation took effect is not known");
    assert_eq!((stack.names().len(), pending(&stack)), (1, vec!["creating a".to_owned()]));
}

#[test]
fn an_update_of_unknown_effect_stays_pending_beside_the_old_state() {
    let mut stack = with_a();
    provider(&mut stack).update = Some(Arc::new(|_| Err(ProviderError::unknown("the connection broke"))));
    stack.up(one(2)).failed("the connection broke");
    assert_eq!(
        (stack.resource("a").inputs.text(), pending(&stack)),
        (r#"{"size":1}"#, vec!["updating a".to_owned()])
    );
}

#[test]
fn a_deletion_of_unknown_effect_stays_pending_beside_the_state() {
    let mut stack = with_a();
    provider(&mut stack).delete = Some(Arc::new(|_| Err(ProviderError::unknown("the connection broke"))));
    stack.destroy().failed("the connection broke");
    assert_eq!(pending(&stack), ["deleting a"]);
    assert!(stack.find("a").is_some());
}

// Programs that end badly.

/// A program that ends without a word after registering something.
struct Exits(ProgramError);

#[async_trait]
impl Program for Exits {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let p = P { monitor };
        let registered = p.resource("pkgA:m:T", "new").register().await;
        assert!(registered.is_ok());
        Err(self.0.clone())
    }
}

#[test]
fn a_program_that_fails_is_told_and_deletes_nothing() {
    let mut stack = with_a();
    stack.up(Arc::new(Exits(ProgramError::Failed("exit status 1".to_owned())))).failed("exit status 1");
    assert_eq!(stack.effects("pkgA"), ["create new"]);
    assert_eq!(stack.names(), ["new", "shop-dev", "a"]);
}

#[test]
fn a_program_that_has_said_why_is_not_told_again() {
    let mut stack = with_a();
    let outcome = stack.up(Arc::new(Exits(ProgramError::Bailed)));
    assert_eq!(outcome.report.ending, Ending::Failed);
    assert!(outcome.diagnostics(Severity::Error).is_empty());
    assert_eq!(stack.effects("pkgA"), ["create new"]);
}

#[test]
fn an_error_that_somebody_logs_is_told_and_fails_nothing() {
    let mut stack = with_a();
    let outcome = stack.up(program(|p| async move {
        p.monitor.log(drystone_engine::Diagnostic {
            urn: Urn::default(),
            message: "all is lost".to_owned(),
            severity: Severity::Error,
            stream: 0,
            ephemeral: false,
        });
        Ok(())
    }));
    let outcome = outcome.ok();
    assert_eq!(outcome.diagnostics(Severity::Error), ["all is lost"]);
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_program_that_registers_the_same_twice_is_refused() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").register().await?;
            p.resource("pkgA:m:T", "a").register().await.map(|_| ())
        }))
        .failed("Duplicate resource URN 'urn:pulumi:dev::shop::pkgA:m:T::a'; try giving it a unique name");
}

#[test]
fn a_type_that_is_none_is_refused() {
    Stack::new()
        .up(program(|p| async move { p.resource("very:bad", "a").register().await.map(|_| ()) }))
        .failed("Type 'very:bad' is not a valid type token (must have format '*:*:*')");
}

#[test]
fn a_program_that_goes_on_after_a_failure_is_not_listened_to() {
    let mut stack = Stack::new();
    provider(&mut stack).create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    stack
        .up(program(|p| async move {
            assert!(p.resource("pkgA:m:T", "a").register().await.is_err());
            let late = p.resource("pkgB:m:T", "late").register().await;
            assert_eq!(late.unwrap_err().kind, MonitorErrorKind::Closing);
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

#[test]
fn what_runs_when_something_fails_is_waited_for_and_recorded() {
    let slow = |name: &'static str| -> crate::harness::Pause {
        Some(Arc::new(move |_, urn| {
            let slow = urn.name() == name;
            Box::pin(async move {
                for _ in 0..if slow { 50 } else { 1 } {
                    tokio::task::yield_now().await;
                }
            }) as BoxFuture<'static, ()>
        }))
    };
    let failing = TestProvider {
        create: Some(Arc::new(|_| Err(ProviderError::new("no room")))),
        ..TestProvider::default()
    };
    let mut stack =
        Stack::with_provider("pkgA", TestProvider { pause: slow("slow"), ..TestProvider::default() })
            .and_provider("pkgB", failing);
    stack
        .up(program(|p| async move {
            let slow = p.resource("pkgA:m:T", "slow").register();
            let bad = p.resource("pkgB:m:T", "bad").register();
            let (slow, bad) = futures::join!(slow, bad);
            slow.and(bad).map(|_| ())
        }))
        .failed("no room");
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".to_owned(), "slow".to_owned()], 0));
}

#[test]
fn a_program_that_needs_none_is_told_when_there_is_none() {
    let outcome = Stack::new().operate(drystone_engine::Operation::Update, false, None);
    outcome.failed("there is no program to run");
}

#[test]
fn a_program_that_waits_for_the_end_is_let_go_after_the_deletions() {
    let mut stack = with_a();
    let gone: Arc<Mutex<Vec<String>>> = Arc::default();
    let (seen, cloud) = (Arc::clone(&gone), Arc::clone(&stack.providers["pkgA"].cloud));
    stack
        .up(program(move |p| {
            let (seen, cloud) = (Arc::clone(&seen), Arc::clone(&cloud));
            async move {
                p.resource("pkgA:m:T", "b").register().await?;
                p.monitor.finish().await;
                seen.lock().unwrap().extend(cloud.lock().unwrap().keys().cloned());
                Ok(())
            }
        }))
        .ok();
    assert_eq!(*gone.lock().unwrap(), ["b-2"]);
}

#[test]
fn a_program_that_waits_for_the_end_is_let_go_when_the_run_fails() {
    let mut stack = with_a();
    provider(&mut stack).delete = Some(Arc::new(|_| Err(ProviderError::new("in use"))));
    stack
        .up(program(|p| async move {
            p.monitor.finish().await;
            Ok(())
        }))
        .failed("in use");
}

#[test]
fn a_program_that_fails_after_the_end_fails_the_run() {
    let mut stack = with_a();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            p.monitor.finish().await;
            Err(MonitorError::new("too late"))
        }))
        .failed("too late");
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

// A journal that is lost.

fn chain() -> Arc<dyn Program> {
    program(|p| async move {
        let mut last: Option<Urn> = None;
        for name in ["a", "b", "c"] {
            let mut resource = p.resource("pkgA:m:T", name).input("size", 1);
            if let Some(last) = &last {
                resource = resource.depends_on(last);
            }
            last = Some(resource.register().await?.urn);
        }
        Ok(())
    })
}

#[test]
fn nothing_begins_after_the_journal_is_lost_at_whatever_entry() {
    let entries = {
        let mut stack = Stack::new();
        stack.up(chain()).ok().entries
    };
    for at in 0..entries {
        let mut stack = Stack::new();
        stack.journal_fails_at = Some(at);
        let outcome = stack.up(chain());
        assert_eq!(
            outcome.report.ending,
            Ending::Unrecorded("the lease was taken over".to_owned()),
            "at {at}"
        );
        // What exists is in the state or pending, and nothing was done without having been announced.
        let announced = outcome.journal.iter().filter(|entry| entry.contains(r#""type":"creating""#)).count();
        assert_eq!(stack.effects("pkgA").len(), announced, "at {at}");
        let known =
            stack.names().len() - usize::from(stack.find("shop-dev").is_some()) + pending(&stack).len();
        assert_eq!(stack.providers["pkgA"].ids().len(), known, "at {at}");
        assert_eq!(outcome.diagnostics(Severity::Error)[0], "the lease was taken over");
    }
}

#[test]
fn a_lost_journal_stops_deletions_too() {
    let entries = {
        let mut stack = Stack::new();
        stack.up(chain()).ok();
        stack.destroy().ok().entries
    };
    for at in 0..entries {
        let mut stack = Stack::new();
        stack.up(chain()).ok();
        stack.calls("pkgA");
        stack.journal_fails_at = Some(at);
        let outcome = stack.destroy();
        assert!(matches!(outcome.report.ending, Ending::Unrecorded(_)), "at {at}");
        for id in stack.providers["pkgA"].ids() {
            assert!(stack.snapshot.resources.iter().any(|resource| resource.id == id), "{id} at {at}");
        }
        // The next run finishes.
        stack.journal_fails_at = None;
        stack.destroy().ok();
        assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty(), "at {at}");
    }
}

// Being asked to stop.

/// A stack whose provider asks for cancellation in the middle of making `a`, then takes a while.
fn cancelled(level: CancelLevel, hangs: bool) -> Stack {
    let mut stack = Stack::new();
    let cancellation = stack.cancellation.clone();
    provider(&mut stack).pause = Some(Arc::new(move |_, urn| {
        let (cancellation, first) = (cancellation.clone(), urn.name() == "a");
        Box::pin(async move {
            if first {
                cancellation.request(level);
            }
            if hangs {
                std::future::pending::<()>().await;
            }
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }) as BoxFuture<'static, ()>
    }));
    stack
}

#[test]
fn what_runs_when_asked_to_stop_is_waited_for_and_recorded() {
    let mut stack = cancelled(CancelLevel::Graceful, false);
    let outcome = stack.up(chain());
    assert_eq!(outcome.report.ending, Ending::Cancelled);
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".to_owned(), "a".to_owned()], 0));
    assert_eq!(stack.effects("pkgA"), ["create a"]);
}

#[test]
fn providers_are_told_that_they_should_give_up() {
    let mut stack = cancelled(CancelLevel::Graceful, false);
    stack.up(chain());
    let told = stack.calls("pkgA").iter().position(|call: &Call| call.method == "cancel");
    assert!(told.is_some());
}

#[test]
fn stopping_at_once_leaves_what_runs_pending() {
    let mut stack = cancelled(CancelLevel::Terminate, true);
    let outcome = stack.up(chain());
    assert_eq!(outcome.report.ending, Ending::Cancelled);
    assert_eq!(
        (stack.names(), pending(&stack)),
        (vec!["shop-dev".to_owned()], vec!["creating a".to_owned()])
    );
}

#[test]
fn the_program_is_refused_once_asked_to_stop() {
    let mut stack = cancelled(CancelLevel::Graceful, false);
    let seen: Arc<Mutex<Option<MonitorError>>> = Arc::default();
    let told = Arc::clone(&seen);
    stack.up(program(move |p| {
        let told = Arc::clone(&told);
        async move {
            // The stack's cancellation is asked for while this is made.
            let _ = p.resource("pkgA:m:T", "a").register().await;
            *told.lock().unwrap() = p.resource("pkgA:m:T", "b").register().await.err();
            Ok(())
        }
    }));
    if let Some(error) = seen.lock().unwrap().clone() {
        assert_eq!(error.kind, MonitorErrorKind::Closing);
    }
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn a_run_that_is_asked_to_stop_before_it_begins_does_nothing() {
    let mut stack = Stack::new();
    stack.cancellation.request(CancelLevel::Graceful);
    let outcome = stack.up(chain());
    assert_eq!((outcome.report.ending, outcome.entries), (Ending::Cancelled, 0));
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}

#[test]
fn deletions_that_have_not_begun_do_not_when_asked_to_stop() {
    let mut stack = Stack::new();
    stack.up(chain()).ok();
    let cancellation = stack.cancellation.clone();
    provider(&mut stack).pause = Some(Arc::new(move |_, _| {
        let cancellation = cancellation.clone();
        Box::pin(async move {
            cancellation.request(CancelLevel::Graceful);
            tokio::task::yield_now().await;
        }) as BoxFuture<'static, ()>
    }));
    stack.calls("pkgA");
    let outcome = stack.destroy();
    assert_eq!(
        (outcome.report.ending, stack.effects("pkgA")),
        (Ending::Cancelled, vec!["delete c".to_owned()])
    );
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".into(), "a".into(), "b".into()], 0));
}

#[test]
fn what_was_cancelled_is_finished_by_the_next_run() {
    let mut stack = cancelled(CancelLevel::Graceful, false);
    stack.up(chain());
    stack.cancellation = drystone_engine::Cancellation::default();
    provider(&mut stack).pause = None;
    stack.calls("pkgA");
    stack.up(chain()).ok();
    assert_eq!(stack.effects("pkgA"), ["create b", "create c"]);
}

// States that cannot be read.

#[test]
fn a_state_that_cannot_be_opened_is_told_by_name() {
    let mut stack = Stack::new();
    let run = || {
        program(|p| async move {
            let key = drystone_model::Value::secret("hunter2".into());
            p.resource("pkgA:m:T", "a").input("key", key).register().await.map(|_| ())
        })
    };
    stack.up(run()).ok();
    let broken = serde_json::to_string(&stack.snapshot).unwrap();
    let sealed = broken.split("\"ciphertext\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    stack.snapshot = serde_json::from_str(&broken.replace(&sealed, "%%%")).unwrap();
    stack.calls("pkgA");
    stack.up(run()).failed("the state of urn:pulumi:dev::shop::pkgA:m:T::a cannot be read");
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}
