//! The live tree and what it leaves behind.

use super::script::*;
use super::terminal::Terminal;
use crate::display::opening::Mode;
use crate::display::{Closing, Show};
use drystone_engine::{Ending, Event, Op, Operation, PropertyMap, Severity, StepEvent};
use drystone_model::Value;
use std::time::Duration;

/// The operation of the example in the design.
fn example() -> Script {
    let pet = urn("random:index/randomPet:RandomPet", "name");
    let bucket = urn("aws:s3/bucket:Bucket", "assets");
    let database = urn("aws:rds/instance:Instance", "db");
    let role = urn("aws:iam/role:Role", "ci");
    let team = |team: &str| properties([("tags", Value::object([("team", team)]))]);
    let made = create(&pet, PropertyMap::new());
    let changed = update(&bucket, team("a"), team("b"));
    let engine = |version: &str| properties([("engine", Value::from(version))]);
    let mut replacement = step(
        Op::CreateReplacement,
        Some(state(&database, engine("12"))),
        Some(state(&database, engine("13"))),
    );
    replacement.replace_keys = vec!["engine".to_owned()];
    replacement.logical = false;
    let logical = StepEvent { op: Op::Replace, logical: true, ..replacement.clone() };
    let cleared = StepEvent { op: Op::DeleteReplaced, new: None, ..replacement.clone() };
    let failed = create(&role, PropertyMap::new());
    let url = |url: &str| properties([("url", Value::from(url))]);
    let whole = step(
        Op::Same,
        Some(state(&stack(), url("https://old"))),
        Some(state(&stack(), url("https://shop.example"))),
    );
    Script::default()
        .begin(&whole)
        .run(&made, 120)
        .begin(&changed)
        .begin(&replacement)
        .begin(&failed)
        .wait(1000)
        .say(&role, Severity::Error, "AccessDenied: not authorized to perform iam:CreateRole\nstatus 403\n")
        .fail(&failed, 1000)
        .wait(2000)
        .end(&changed, 3000)
        .wait(237_000)
        .end(&replacement, 240_000)
        .run(&logical, 0)
        .run(&cleared, 12_000)
        .say(&stack(), Severity::Info, "hello from the program\n")
        .end(&whole, 250_000)
        .finish(false, [(Op::Create, 1), (Op::Update, 1), (Op::Replace, 1), (Op::Same, 211)])
}

fn example_stage() -> Stage {
    let mut stage = Stage::new(Mode::Live);
    stage.opening.details =
        ["lease 7", "journal on s3://acme-state", "214 resources"].map(str::to_owned).to_vec();
    stage.closing = Closing {
        ending: Ending::Failed,
        revision: Some((Some(88), 89)),
        undo: Some("drystone stack undo".to_owned()),
        hints: vec!["fix the policy and run `drystone up` again".to_owned()],
        ..Closing::default()
    };
    stage
}

/// What stands on the terminal when the script is played as far as that moment.
fn screen_at(stage: Stage, script: &Script, millis: u64) -> String {
    let (columns, rows) = (stage.size.columns, stage.size.rows);
    let written = Written::default();
    let (mut renderer, _) = stage.renderer(&written);
    renderer.open(0);
    for (at, event) in script.events.iter().filter(|(at, _)| *at <= millis) {
        renderer.event(event.clone(), 0, Duration::from_millis(*at));
        renderer.tick(Duration::from_millis(*at));
    }
    renderer.tick(Duration::from_millis(millis));
    let mut terminal = Terminal::new(columns, rows);
    terminal.write(&written.text());
    terminal.text()
}

/// What is left on the terminal when everything is over.
fn screen_after(stage: Stage, script: Script) -> String {
    let mut terminal = Terminal::new(stage.size.columns, stage.size.rows);
    terminal.write(&stage.play(script));
    terminal.text()
}

#[test]
fn an_update_while_it_runs() {
    insta::assert_snapshot!(screen_at(example_stage(), &example(), 3_200));
}

#[test]
fn an_update_when_it_is_over() {
    insta::assert_snapshot!(screen_after(example_stage(), example()));
}

#[test]
fn something_is_said_before_anything_happens() {
    insta::assert_snapshot!(screen_at(example_stage(), &Script::default(), 0));
}

#[test]
fn a_narrow_terminal_breaks_no_line() {
    insta::assert_snapshot!(screen_at(example_stage().size(48, 30), &example(), 3_200));
    for columns in [1, 2, 10, 20, 30, 79] {
        screen_at(example_stage().size(columns, 30), &example(), 3_200);
    }
}

#[test]
fn a_name_is_whole_where_there_is_room_and_goes_before_its_type_where_there_is_not() {
    let name = "a-rather-long-name-for-a-bucket";
    let long = create(&urn("aws:s3/bucket:Bucket", name), PropertyMap::new());
    let script = Script::default().begin(&long).end(&long, 1_000);
    let at = |columns| screen_at(example_stage().size(columns, 30), &script, 2_000);
    assert!(at(80).contains(&format!("aws:s3:Bucket {name}")), "{}", at(80));
    assert!(at(70).contains(&format!("…:Bucket {name}")), "{}", at(70));
    assert!(at(48).contains("…:Bucket a-rather"), "{}", at(48));
}

#[test]
fn a_low_terminal_keeps_what_runs_and_what_failed() {
    let mut script = Script::default();
    let steps: Vec<StepEvent> =
        (0..40).map(|number| create(&urn("a:b:C", &format!("c{number}")), PropertyMap::new())).collect();
    for (number, step) in steps.iter().enumerate() {
        script = script.begin(step);
        if number == 3 {
            script = script.say(&step.urn, Severity::Error, "no room").fail(step, 100);
        } else if number != 11 {
            script = script.wait(100).end(step, 100);
        }
    }
    let screen = screen_at(Stage::new(Mode::Live).size(60, 14), &script, 5_000);
    assert!(screen.lines().count() <= 14, "{screen}");
    insta::assert_snapshot!(screen);
    let rest = screen_after(Stage::new(Mode::Live).size(60, 14), script);
    assert_eq!(rest.matches("created").count(), 38 + 1, "{rest}");
    for rows in 1..14 {
        screen_at(Stage::new(Mode::Live).size(60, rows), &Script::default().begin(&steps[0]), 100);
    }
}

#[test]
fn components_hold_their_children() {
    let network = urn("my:net:Network", "main");
    let vpc = urn("aws:ec2/vpc:Vpc", "vpc");
    let zone = urn("my:net:Zone", "zone");
    let subnet = urn("aws:ec2/subnet:Subnet", "subnet");
    let lone = urn("a:b:C", "lone");
    let inside = |parent, urn: &drystone_model::Urn| {
        step(Op::Create, None, Some(under(parent, state(urn, PropertyMap::new()))))
    };
    let script = Script::default()
        .run(&create(&network, PropertyMap::new()), 10)
        .run(&inside(&network, &vpc), 20)
        .run(&same(&zone), 0)
        .run(
            &step(
                Op::Same,
                Some(under(&network, state(&zone, PropertyMap::new()))),
                Some(under(&network, state(&zone, PropertyMap::new()))),
            ),
            0,
        )
        .run(&inside(&zone, &subnet), 30)
        .say(&subnet, Severity::Warning, "deprecated:\nuse Subnet2")
        .say(&vpc, Severity::Warning, "large")
        .say(&network, Severity::Info, "a component speaks")
        .run(&create(&lone, PropertyMap::new()), 40)
        .finish(true, [(Op::Create, 4), (Op::Same, 2)]);
    insta::assert_snapshot!(screen_after(Stage::new(Mode::Live), script));
}

/// Every kind of step once.
pub(super) fn every_kind() -> Script {
    let thing = |name: &str| urn("a:b:Thing", name);
    let value = |number: i64| properties([("value", Value::from(number))]);
    let changed =
        |op, name: &str| step(op, Some(state(&thing(name), value(1))), Some(state(&thing(name), value(2))));
    let refreshed = |name: &str, found| StepEvent { result: Some(found), ..changed(Op::Refresh, name) };
    let refreshing = |name: &str| StepEvent { result: None, ..changed(Op::Refresh, name) };
    let mut retained = delete(&thing("retained"));
    let mut kept = state(&thing("retained"), value(1));
    kept.record.retain_on_delete = true;
    retained.old = Some(kept.into());
    let mut protected = same(&thing("protected"));
    let mut now = state(&thing("protected"), PropertyMap::new());
    now.record.protect = true;
    protected.new = Some(now.into());
    let default_provider = create(&urn("pulumi:providers:a", "default_1_0_0"), PropertyMap::new());
    Script::default()
        .run(&create(&stack(), PropertyMap::new()), 0)
        .run(&default_provider, 100)
        .run(&create(&thing("created"), value(1)), 100)
        .run(&changed(Op::Update, "updated"), 200)
        .run(&changed(Op::CreateReplacement, "replaced"), 300)
        .run(&changed(Op::Replace, "replaced"), 0)
        .run(&StepEvent { new: None, ..changed(Op::DeleteReplaced, "replaced") }, 400)
        .run(&delete(&thing("deleted")), 500)
        .run(&retained, 10)
        .run(&same(&thing("same")), 0)
        .run(&protected, 0)
        .run(&step(Op::Read, None, Some(state(&thing("read"), value(1)))), 600)
        .run(&changed(Op::Import, "imported"), 700)
        .run(&StepEvent { new: None, ..changed(Op::Discard, "discarded") }, 10)
        .run(&StepEvent { new: None, ..changed(Op::DeleteReplaced, "left over") }, 20)
        .run(&StepEvent { new: None, ..changed(Op::RemovePendingReplace, "never made again") }, 0)
        .begin(&refreshing("refreshed, the same"))
        .end(&refreshed("refreshed, the same", Op::Same), 10)
        .begin(&refreshing("refreshed, changed"))
        .end(&refreshed("refreshed, changed", Op::Update), 20)
        .begin(&refreshing("refreshed, gone"))
        .end(&StepEvent { new: None, ..refreshed("refreshed, gone", Op::Delete) }, 30)
        .begin(&create(&thing("failed"), value(1)))
        .say(&thing("failed"), Severity::Error, "no")
        .fail(&create(&thing("failed"), value(1)), 800)
        .finish(
            false,
            [
                (Op::Create, 2),
                (Op::Update, 2),
                (Op::Replace, 1),
                (Op::Delete, 3),
                (Op::Import, 1),
                (Op::Discard, 1),
                (Op::Same, 3),
                (Op::Read, 1),
            ],
        )
}

#[test]
fn every_kind_of_step_has_its_sign_and_word() {
    insta::assert_snapshot!(screen_after(Stage::new(Mode::Live), every_kind()));
}

#[test]
fn every_kind_of_step_in_a_preview() {
    insta::assert_snapshot!(screen_after(Stage::new(Mode::Live).preview(), every_kind().planned()));
}

#[test]
fn what_stays_and_what_is_read_is_shown_when_asked() {
    let mut stage = Stage::new(Mode::Live);
    stage.options.show = Show { sames: true, reads: true, replacement_steps: true, urns: false };
    insta::assert_snapshot!(screen_after(stage, every_kind()));
    let mut stage = Stage::new(Mode::Live).size(140, 40);
    stage.options.show.urns = true;
    let screen = screen_after(stage, every_kind());
    assert!(screen.contains("urn:pulumi:prod::shop::a:b:Thing::created  "), "{screen}");
}

#[test]
fn a_destroy_puts_children_back_under_their_parents() {
    let parent = urn("my:net:Network", "main");
    let child =
        step(Op::Delete, Some(under(&parent, state(&urn("a:b:C", "child"), PropertyMap::new()))), None);
    let script = Script::default()
        .run(&child, 100)
        .run(&delete(&parent), 100)
        .run(&step(Op::Delete, Some(state(&stack(), properties([("url", Value::from("x"))]))), None), 0)
        .finish(true, [(Op::Delete, 3)]);
    insta::assert_snapshot!(screen_after(Stage::new(Mode::Live).operation(Operation::Destroy), script));
}

#[test]
fn names_of_other_scripts_and_of_bad_will_stay_in_their_columns() {
    let names = ["データベース", "ünïcödé", "a\nb", "\u{1b}[2Jgone", "\u{202e}txt", "👩‍👩‍👧 family"];
    let mut script = Script::default();
    for name in names {
        let one = update(
            &urn("a:b:C", name),
            properties([("k", Value::from("旧"))]),
            properties([("k", Value::from("新\u{1b}[1A"))]),
        );
        script = script.run(&one, 100);
    }
    let screen = screen_after(Stage::new(Mode::Live), script.finish(true, [(Op::Update, names.len())]));
    assert!(!screen.contains('\u{1b}'));
    insta::assert_snapshot!(screen);
}

#[test]
fn a_status_shows_until_the_step_ends() {
    let thing = create(&urn("a:b:C", "c"), PropertyMap::new());
    let status = |text: &str| {
        let Event::Diagnostic(diagnostic) = message(&thing.urn, Severity::Info, text) else { unreachable!() };
        Event::Diagnostic(drystone_engine::Diagnostic { ephemeral: true, ..diagnostic })
    };
    let script = Script::default()
        .begin(&thing)
        .event(status("waiting for DNS\n"))
        .wait(1000)
        .event(status("waiting for the load balancer"));
    let screen = screen_at(Stage::new(Mode::Live), &script, 1000);
    assert!(screen.contains("creating  1s    waiting for the load balancer"), "{screen}");
    let screen =
        screen_after(Stage::new(Mode::Live), script.end(&thing, 1000).finish(true, [(Op::Create, 1)]));
    assert!(!screen.contains("waiting"), "{screen}");
}

#[test]
fn what_the_command_says_stays_above_the_tree() {
    let thing = create(&urn("a:b:C", "c"), PropertyMap::new());
    let written = Written::default();
    let (mut renderer, closing) = Stage::new(Mode::Live).renderer(&written);
    renderer.open(0);
    renderer.event(Event::StepStarted(thing), 0, Duration::ZERO);
    renderer.tick(Duration::ZERO);
    renderer.say("cancelling: waiting for what runs", Duration::from_secs(1));
    let mut terminal = Terminal::new(100, 30);
    terminal.write(&written.text());
    assert_eq!(
        terminal.text(),
        "cancelling: waiting for what runs\nUpdating shop/prod\n\n  +  └─ a:b:C c  creating  1s\n\n  1 running   1s\n"
    );
    renderer.close(&closing, 0, Duration::from_secs(2));
}

#[test]
fn a_plugin_that_is_fetched_has_a_line_until_it_is_there() {
    let script = super::plain::fetched();
    let begun = screen_at(example_stage(), &script, 15);
    assert!(begun.contains("Downloading plugin shop-1.2.0   1.00 MiB of 2.00 MiB"), "{begun}");
    let unpacking = screen_at(example_stage(), &script, 25_015);
    assert!(unpacking.contains("Installing plugin shop-1.2.0"), "{unpacking}");
    let after = screen_after(example_stage(), script);
    assert!(!after.contains("shop-1.2.0"), "{after}");
}
