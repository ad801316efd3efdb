//! What is shown of policies.

use super::script::*;
use crate::display::Secrets;
use crate::display::opening::Mode;
use drystone_engine::{
    ConfigValue, Ending, EnforcementLevel, Event, Op, PolicyEvent, PolicyName, PolicyQuestion,
    PolicySeverity, PolicySummary, PropertyMap, Summary, Violation,
};
use drystone_model::{Urn, Value};
use std::collections::BTreeMap;

fn name(policy: &str) -> PolicyName {
    PolicyName { policy: policy.to_owned(), pack: "guard".to_owned(), version: "1.2.0".to_owned() }
}

fn violation(urn: &Urn, policy: &str, level: EnforcementLevel, message: &str) -> Event {
    Event::Policy(PolicyEvent::Violation(Violation {
        name: name(policy),
        description: "A rule of the house.".to_owned(),
        message: format!("A rule of the house.\n{message}"),
        level,
        urn: urn.clone(),
        ..Violation::default()
    }))
}

fn remediated(urn: &Urn) -> Event {
    let hidden = |text: &str| Value::secret(Value::from(text));
    Event::Policy(PolicyEvent::Remediated {
        name: name("sized"),
        urn: urn.clone(),
        before: properties([("size", Value::from(1)), ("key", hidden("hush"))]),
        after: properties([("size", Value::from(9)), ("key", hidden("other"))]),
    })
}

fn summed_up(question: PolicyQuestion, urn: Urn) -> Event {
    Event::Policy(PolicyEvent::Summary(PolicySummary {
        question,
        urn,
        pack: "guard".to_owned(),
        version: "1.2.0".to_owned(),
        passed: vec!["kept".to_owned()],
        failed: Vec::new(),
    }))
}

/// An update in which one resource gets advice, one is changed, and one is refused.
fn guarded() -> Script {
    let (open, small, refused) = (urn("a:b:C", "open"), urn("a:b:C", "small"), urn("a:b:C", "refused"));
    let packs = [("guard|local|packs/guard", "1.2.0"), ("quiet|local|packs/quiet", "")];
    let summary = Summary {
        changes: BTreeMap::from([(Op::Create, 2)]),
        policy_packs: packs.map(|(name, version)| (name.to_owned(), version.to_owned())).into(),
        ..Summary::default()
    };
    Script::default()
        .event(Event::Policy(PolicyEvent::Loading))
        .event(violation(&open, "closed", EnforcementLevel::Advisory, "it is open to all\nclose it"))
        .event(summed_up(PolicyQuestion::Analyze, open.clone()))
        .run(&create(&open, PropertyMap::new()), 100)
        .event(remediated(&small))
        .run(&create(&small, PropertyMap::new()), 100)
        .event(violation(&refused, "named", EnforcementLevel::Mandatory, "it needs a name"))
        .event(violation(&stack(), "few", EnforcementLevel::Mandatory, "there are too many"))
        .event(Event::Summary(summary))
}

fn stage(mode: Mode) -> Stage {
    let mut stage = Stage::new(mode);
    stage.closing.ending = Ending::Failed;
    stage
}

#[test]
fn policies_in_lines() {
    insta::assert_snapshot!(stage(Mode::Plain).play(guarded()));
}

#[test]
fn policies_in_the_tree() {
    let text = stage(Mode::Live).play(guarded());
    let end = text.rfind("Updating shop/prod").unwrap();
    insta::assert_snapshot!(&text[end..]);
}

#[test]
fn each_change_of_a_policy_is_told_to_who_asks_and_secrets_are_masked() {
    let mut asked = stage(Mode::Plain);
    asked.options.show_policy_remediations = true;
    let text = asked.play(guarded());
    assert!(
        text.contains("policy sized of guard@v1.2.0 changed key: [secret] → [secret], size: 1 → 9"),
        "{text}"
    );
    let mut shown = stage(Mode::Plain);
    (shown.options.show_policy_remediations, shown.options.secrets) = (true, Secrets::Shown);
    assert!(shown.play(guarded()).contains(r#"key: "hush" → "other""#));
    assert!(!stage(Mode::Plain).play(guarded()).contains("size: 1"));
}

#[test]
fn a_change_that_changes_nothing_is_not_told() {
    let same = properties([("size", Value::from(1))]);
    let event = Event::Policy(PolicyEvent::Remediated {
        name: name("sized"),
        urn: urn("a:b:C", "c"),
        before: same.clone(),
        after: same,
    });
    let packs = BTreeMap::from([("guard|local|p".to_owned(), "1.2.0".to_owned())]);
    let summary = Summary { policy_packs: packs, succeeded: true, ..Summary::default() };
    let text = Stage::new(Mode::Plain).play(Script::default().event(event).event(Event::Summary(summary)));
    assert!(text.contains("guard@v1.2.0  (p)  no violations\n"), "{text}");
}

#[test]
fn s17_secrets_of_the_configuration_are_masked_in_the_words_of_packs() {
    let mut stage = stage(Mode::Plain);
    let secret = ConfigValue { text: "hunter2".to_owned(), object: false, secret: true };
    stage.opening.config.insert("shop:password".to_owned(), secret);
    let said = violation(&urn("a:b:C", "c"), "strong", EnforcementLevel::Advisory, "hunter2 is weak");
    let text = stage.play(Script::default().event(said));
    assert!(text.contains("[secret] is weak") && !text.contains("hunter2"), "{text}");
}

#[test]
fn events_of_policies_have_the_stock_shapes() {
    let text = stage(Mode::Events).play(
        guarded()
            .event(summed_up(PolicyQuestion::Remediate, urn("a:b:C", "open")))
            .event(summed_up(PolicyQuestion::AnalyzeStack, Urn::default()))
            .event(Event::Policy(PolicyEvent::Violation(Violation {
                name: name("severe"),
                severity: PolicySeverity::High,
                ..Violation::default()
            }))),
    );
    let of_policies: Vec<&str> =
        text.lines().filter(|line| line.contains("\"policy") || line.contains("summaryEvent")).collect();
    insta::assert_snapshot!(of_policies.join("\n"));
}

#[test]
fn the_one_object_of_a_preview_has_violations_among_its_messages() {
    let text = stage(Mode::Digest).preview().play(guarded().planned());
    let digest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let said: Vec<_> = digest["diagnostics"].as_array().unwrap().iter().collect();
    assert_eq!(said[0]["message"], "advisory: closed: A rule of the house.\nit is open to all\nclose it\n");
    assert_eq!((&said[0]["severity"], &said[1]["severity"]), (&"warning".into(), &"error".into()));
}
