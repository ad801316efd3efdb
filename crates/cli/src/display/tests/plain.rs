//! Plain lines.

use super::live::every_kind;
use super::script::*;
use crate::display::Closing;
use crate::display::opening::Mode;
use drystone_engine::{
    ConfigValue, Diagnostic, Ending, Event, Op, Operation, PropertyMap, Severity, StepEvent, Summary,
};
use drystone_model::Value;

fn plain() -> Stage {
    Stage::new(Mode::Plain)
}

#[test]
fn a_line_for_each_change_when_it_ends() {
    let text = plain().play(every_kind());
    assert!(!text.contains('\u{1b}'), "a log gets no cursor movement and no colours");
    insta::assert_snapshot!(text);
}

#[test]
fn a_preview_in_lines() {
    insta::assert_snapshot!(plain().preview().play(every_kind().planned()));
}

#[test]
fn the_steps_of_a_replacement_have_lines_of_their_own_when_asked_for() {
    let mut stage = plain();
    stage.options.show.replacement_steps = true;
    insta::assert_snapshot!(stage.play(every_kind()));
    let mut stage = plain().preview();
    stage.options.show.replacement_steps = true;
    insta::assert_snapshot!(stage.play(every_kind().planned()));
}

#[test]
fn a_resource_that_is_refreshed_and_then_changed_has_a_line_for_each() {
    let thing = |name: &str| urn("a:b:Thing", name);
    let value = |number: i64| properties([("value", Value::from(number))]);
    let changed = |op, name: &str, from, to| {
        step(op, Some(state(&thing(name), value(from))), Some(state(&thing(name), value(to))))
    };
    let refreshed = |name: &str, found| StepEvent { result: Some(found), ..changed(Op::Refresh, name, 1, 7) };
    let script = Script::default()
        .run(&refreshed("drifted", Op::Update), 10)
        .run(&StepEvent { new: None, ..refreshed("gone", Op::Delete) }, 10)
        .run(&changed(Op::Import, "imported", 2, 2), 10)
        .run(&changed(Op::Update, "drifted", 7, 1), 10)
        .run(&create(&thing("gone"), value(1)), 10)
        .run(&changed(Op::Update, "imported", 2, 3), 10)
        .finish(true, [(Op::Update, 2), (Op::Create, 1), (Op::Import, 1)]);
    let text = plain().play(script);
    for line in [
        "~   a:b:Thing drifted  refreshed  0.0s  value: 1 → 7",
        "~   a:b:Thing drifted  updated  0.0s  value: 7 → 1",
        "-   a:b:Thing gone  gone",
        "+   a:b:Thing gone  created",
        "=   a:b:Thing imported  imported",
        "~   a:b:Thing imported  updated  0.0s  value: 2 → 3",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn a_program_that_does_nothing_for_long_is_waited_for_aloud() {
    let late = create(&urn("a:b:C", "late"), PropertyMap::new());
    let script = Script::default().wait(65_000).run(&late, 100).finish(true, [(Op::Create, 1)]);
    let text = plain().play(script);
    assert_eq!(text.matches("still waiting for the program").count(), 3, "{text}");
}

#[test]
fn what_runs_for_long_says_so_now_and_then() {
    let slow = create(&urn("a:b:C", "slow"), PropertyMap::new());
    let script =
        Script::default().begin(&slow).wait(65_000).end(&slow, 65_000).finish(true, [(Op::Create, 1)]);
    insta::assert_snapshot!(plain().play(script.clone()));
    let mut stage = plain();
    stage.options.suppress_progress = true;
    assert!(!stage.play(script).contains("still"));
}

#[test]
fn messages_come_with_their_resource_when_they_come() {
    let thing = create(&urn("a:b:C", "c"), PropertyMap::new());
    let part = |text: &str| {
        Event::Diagnostic(Diagnostic {
            urn: stack(),
            message: text.to_owned(),
            severity: Severity::Info,
            stream: 7,
            ephemeral: false,
        })
    };
    let script = Script::default()
        .event(part("line one\n"))
        .event(part("line two\nline "))
        .event(part("three\nno end"))
        .begin(&thing)
        .say(&thing.urn, Severity::Warning, "old API")
        .say(&thing.urn, Severity::Warning, "old API")
        .say(&thing.urn, Severity::Debug, "not shown")
        .say(&thing.urn, Severity::Error, "AccessDenied:\n\tnot authorized\n")
        .fail(&thing, 1000)
        .say(&stack(), Severity::Error, "the program exited with code 1")
        .finish(false, []);
    let mut stage = plain();
    stage.closing.ending = Ending::Failed;
    insta::assert_snapshot!(stage.play(script));
}

#[test]
fn the_end_says_what_to_do() {
    let end = |closing: Closing, summary: Summary| {
        let stage = Stage { closing, ..plain() };
        stage
            .play(Script::default().event(Event::Summary(summary)))
            .lines()
            .skip(2)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let summary = |changes: &[(Op, usize)], succeeded| Summary {
        changes: changes.iter().copied().collect(),
        duration: std::time::Duration::from_secs(259),
        dry_run: false,
        succeeded,
        ..Summary::default()
    };
    assert_eq!(
        end(Closing { revision: Some((None, 1)), ..Closing::default() }, summary(&[(Op::Create, 2)], true)),
        "2 changed (+ 2 created) in 4m19s   revision 1"
    );
    assert_eq!(
        end(
            Closing {
                revision: Some((Some(88), 89)),
                undo: Some("drystone stack undo".to_owned()),
                ..Closing::default()
            },
            summary(&[(Op::Create, 1), (Op::Update, 1), (Op::Same, 9), (Op::Read, 4)], true)
        ),
        "2 changed (+ 1 created, ~ 1 updated), 9 unchanged in 4m19s   revision 88 → 89   undo: drystone stack undo"
    );
    assert_eq!(
        end(Closing { revision: Some((Some(3), 3)), ..Closing::default() }, summary(&[(Op::Same, 9)], true)),
        "nothing changed, 9 unchanged in 4m19s   revision 3"
    );
    assert_eq!(
        end(
            Closing {
                ending: Ending::Cancelled,
                hints: vec!["go on with `drystone up`".to_owned()],
                ..Closing::default()
            },
            summary(&[(Op::Delete, 1)], false)
        ),
        "cancelled: 1 changed (- 1 deleted) in 4m19s\nhint: go on with `drystone up`"
    );
    assert_eq!(
        end(Closing { ending: Ending::Failed, ..Closing::default() }, summary(&[(Op::Same, 1)], false)),
        "failed: nothing changed, 1 unchanged in 4m19s"
    );
    let planned =
        Summary { dry_run: true, ..summary(&[(Op::Create, 2), (Op::Update, 1), (Op::Same, 4)], true) };
    assert_eq!(end(Closing::default(), planned), "3 to change (+ 2 to create, ~ 1 to update), 4 unchanged");
    let planned = Summary { dry_run: true, ..summary(&[(Op::Same, 4)], true) };
    assert_eq!(end(Closing::default(), planned), "no changes, 4 unchanged");
}

#[test]
fn a_run_that_ended_without_a_word_is_counted_as_far_as_it_was_seen() {
    let made = create(&urn("a:b:C", "c"), PropertyMap::new());
    let text = plain().play(Script::default().run(&made, 1000).begin(&delete(&urn("a:b:C", "d"))));
    assert!(text.ends_with("\n1 changed (+ 1 created) in 1s\n"), "{text}");
}

#[test]
fn each_operation_says_what_it_is_about_to_do() {
    for (operation, dry_run, heading) in [
        (Operation::Update, false, "Updating shop/prod"),
        (Operation::Update, true, "Previewing update of shop/prod"),
        (Operation::Refresh, false, "Refreshing shop/prod"),
        (Operation::Refresh, true, "Previewing refresh of shop/prod"),
        (Operation::Destroy, false, "Destroying shop/prod"),
        (Operation::Destroy, true, "Previewing destroy of shop/prod"),
    ] {
        let mut stage = plain().operation(operation);
        stage.opening.dry_run = dry_run;
        let written = Written::default();
        let (mut renderer, _) = stage.renderer(&written);
        renderer.open(0);
        assert_eq!(written.text(), format!("{heading}\n\n"));
    }
}

#[test]
fn links_and_configuration_are_shown_when_wanted() {
    let stage = || {
        let mut stage = plain();
        stage.opening.permalink = Some("https://example.test/u/1".to_owned());
        stage.closing.permalink = Some("https://example.test/u/1".to_owned());
        let plain = ConfigValue { text: "eu".to_owned(), object: false, secret: false };
        let secret = ConfigValue { text: "hunter2".to_owned(), object: false, secret: true };
        stage.opening.config = [("aws:region".to_owned(), plain), ("shop:key".to_owned(), secret)].into();
        stage.options.show_config = true;
        stage
    };
    insta::assert_snapshot!(stage().play(Script::default()));
    let mut quiet = stage();
    quiet.options.suppress_permalink = true;
    assert!(!quiet.play(Script::default()).contains("example.test"));
}

#[test]
fn outputs_are_shown_with_what_changed_unless_they_are_suppressed() {
    let old = properties([
        ("gone", Value::from("x")),
        ("stays", Value::array([1_i64, 2])),
        ("url", Value::from("https://old")),
    ]);
    let new = properties([
        ("key", Value::secret(Value::from("hunter2"))),
        ("stays", Value::array([1_i64, 2])),
        ("url", Value::from("https://new")),
    ]);
    let whole = step(Op::Same, Some(state(&stack(), old)), Some(state(&stack(), new)));
    let script = Script::default().begin(&whole).end(&whole, 10).finish(true, [(Op::Same, 1)]);
    insta::assert_snapshot!(plain().play(script.clone()));
    let mut stage = plain();
    stage.options.suppress_outputs = true;
    assert!(!stage.play(script).contains("Outputs"));
}

#[test]
fn only_the_outputs_of_a_new_stack_are_new_without_saying() {
    let new = || properties([("url", Value::from("https://new"))]);
    let shown = |step: &StepEvent| plain().play(Script::default().begin(step).end(step, 10));
    let made = shown(&create(&stack(), new()));
    assert!(made.contains("Outputs:\n    url: \"https://new\"\n"), "{made}");
    let had_none = step(Op::Same, Some(state(&stack(), properties([]))), Some(state(&stack(), new())));
    let first = shown(&had_none);
    assert!(first.contains("Outputs:\n  + url: \"https://new\"\n"), "{first}");
}

/// A plugin that is fetched in two steps and unpacked.
pub(super) fn fetched() -> Script {
    use drystone_engine::{Progress, ProgressKind};
    let progress = |kind: ProgressKind, message: &str, received, total, done| {
        let id = format!("{}:shop-1.2.0", kind.as_str());
        Event::Progress(Progress { kind, id, message: message.to_owned(), received, total, done })
    };
    let fetching = |received, done| {
        let total = Some(2 << 20);
        progress(ProgressKind::PluginDownload, "Downloading plugin shop-1.2.0", received, total, done)
    };
    let unpacking =
        |done| progress(ProgressKind::PluginInstall, "Installing plugin shop-1.2.0", 0, None, done);
    Script::default()
        .event(fetching(0, false))
        .wait(10)
        .event(fetching(1 << 20, false))
        .wait(25_000)
        .event(fetching(3 << 19, false))
        .event(fetching(2 << 20, true))
        .event(unpacking(false))
        .wait(10)
        .event(unpacking(true))
        .run(&create(&urn("a:b:Thing", "one"), PropertyMap::new()), 10)
        .finish(true, [(Op::Create, 1)])
}

#[test]
fn a_plugin_that_is_fetched_is_told_of_when_it_begins_and_now_and_then() {
    let text = plain().play(fetched());
    let told: Vec<&str> = text.lines().filter(|line| line.contains("shop-1.2.0")).collect();
    assert_eq!(
        told,
        [
            "    Downloading plugin shop-1.2.0  0 B of 2.00 MiB",
            "    Downloading plugin shop-1.2.0  1.00 MiB of 2.00 MiB",
            "    Installing plugin shop-1.2.0",
        ]
    );
}
