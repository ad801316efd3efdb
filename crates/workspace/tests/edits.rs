//! Edits of a file that a person wrote, shown as the lines that they change.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::Value;
use drystone_workspace::config::{Config, Locator, NewValue};
use drystone_workspace::stack::StackFile;
use similar::{ChangeTag, TextDiff};
use std::path::Path;

const PROJECT: Option<&str> = Some("proj");
const HAND_WRITTEN: &str = include_str!("fixtures/yaml/hand-written.yaml");

fn locate(text: &str) -> Locator {
    Locator::parse(PROJECT, text, true).unwrap()
}

fn set(config: &mut Config, at: &str, text: &str) {
    config.set(&locate(at), NewValue::Text(text.to_owned())).unwrap();
}

fn remove(config: &mut Config, at: &str) {
    config.remove(&locate(at)).unwrap();
}

/// What a change of the configuration does to a text.
fn changed(text: &str, change: impl FnOnce(&mut Config)) -> String {
    let mut file =
        StackFile::with_text(Path::new("Pulumi.prod.yaml"), Some(text.to_owned()), PROJECT).unwrap();
    change(&mut file.settings.config);
    file.render().unwrap()
}

/// The lines that a change of the hand-written file removes and adds, with their numbers.
fn lines(change: &fn(&mut Config)) -> String {
    let after = changed(HAND_WRITTEN, change);
    let diff = TextDiff::from_lines(HAND_WRITTEN, &after);
    let mut out = String::new();
    for change in diff.iter_all_changes() {
        let (sign, number) = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => ('-', change.old_index()),
            ChangeTag::Insert => ('+', change.new_index()),
        };
        out.push_str(&format!("{:>3} {sign}{}", number.unwrap() + 1, change.value()));
    }
    out
}

type Edit = (&'static str, fn(&mut Config));

const EDITS: &[Edit] = &[
    ("a text keeps its quotes its spacing and its comment", |c| set(c, "cidr", "10.1.0.0/16")),
    ("a number becomes a text", |c| set(c, "zones", "4")),
    ("a key without a namespace is changed where it stands", |c| set(c, "bare", "no")),
    ("a key of the old form is changed where it stands", |c| set(c, "old", "newer")),
    ("a new key goes behind the last", |c| set(c, "fresh", "x")),
    ("new keys are sorted", |c| {
        set(c, "b10", "x");
        set(c, "b9", "x");
        set(c, "aws:region", "us");
    }),
    ("a removed key takes the comment above it along", |c| remove(c, "zones")),
    ("the first key goes", |c| remove(c, "cidr")),
    ("the last key goes", |c| remove(c, "last")),
    ("a part is changed in place", |c| set(c, "nested.x", "2")),
    ("a part is added", |c| set(c, "nested.new.part", "true")),
    ("a part is removed", |c| remove(c, "nested.x")),
    ("an item is changed", |c| set(c, "nested.y[1]", "Q")),
    ("an item goes with its own comments", |c| remove(c, "nested.y[1]")),
    ("the first item goes", |c| remove(c, "nested.y[0]")),
    ("an item is appended", |c| set(c, "nested.y[3]", "s")),
    ("an item becomes named values", |c| {
        set(c, "nested.y[3].a", "1");
        set(c, "nested.y[3].b", "2");
    }),
    ("a flow member is changed in place", |c| set(c, "nested.z.k", "w")),
    ("a flow member is added", |c| set(c, "nested.z.m", "7")),
    ("a flow item is added", |c| set(c, "nested.z.l[2]", "x, y")),
    ("a flow member is removed", |c| remove(c, "nested.z.k")),
    ("an empty flow mapping is filled", |c| set(c, "nested.deep.deeper.x", "1")),
    ("a secret is rotated in place", |c| {
        c.set(&locate("nested.deep.password"), NewValue::secure("v1:three:four")).unwrap();
    }),
    ("a secret becomes a text", |c| set(c, "nested.deep.password", "open")),
    ("a text becomes a secret", |c| c.set(&locate("cidr"), NewValue::secure("v1:a:b")).unwrap()),
    ("named values become a text and keep the comment on their line", |c| set(c, "nested", "flat")),
    ("a text becomes lines and keeps its comment", |c| set(c, "last", "one\ntwo\n")),
    ("lines become a line and keep their comment", |c| set(c, "motd", "short")),
    ("lines become what no block can hold", |c| set(c, "motd", " \n")),
    ("lines go and the comments behind them stay", |c| remove(c, "motd")),
    ("a folded text stays folded", |c| set(c, "folded", "other text")),
    ("nothing becomes a text", |c| {
        set(c, "empty", "full");
        set(c, "tilde", "x");
    }),
    ("nothing becomes an empty text", |c| set(c, "empty", "")),
    ("a key with an odd name is changed", |c| set(c, "odd key", "w")),
    ("an explicit key is changed", |c| set(c, "explicit", "other")),
    ("an explicit key goes", |c| remove(c, "explicit")),
    ("an alias becomes a value of its own", |c| set(c, "alias", "mine")),
    ("a part of an alias becomes its own", |c| set(c, "alias.a", "2")),
    ("what aliases name is changed for itself only", |c| set(c, "anchored.a", "2")),
    ("what aliases name goes", |c| remove(c, "anchored")),
    ("a merged member is overridden", |c| set(c, "merged.a", "9")),
    ("a merged member is removed", |c| remove(c, "merged.a")),
    ("a member beside a merge is changed", |c| set(c, "merged.c", "4")),
    ("a tag goes with its value", |c| set(c, "tagged", "6")),
    ("quotes are kept", |c| set(c, "quoted", "that's")),
    ("a type is kept or given", |c| {
        c.set(&locate("zones"), NewValue::Typed(Value::Integer(5))).unwrap();
        c.set(&locate("typed"), NewValue::Typed(Value::Float(1e6))).unwrap();
    }),
    ("everything goes", |c| *c = Config::default()),
];

#[test]
fn only_the_lines_of_what_changes_change() {
    let report = EDITS.iter().fold(String::new(), |mut report, (name, change)| {
        report.push_str(&format!("{name}\n{}\n", lines(change)));
        report
    });
    insta::assert_snapshot!(report);
}

#[test]
fn windows_line_breaks_and_a_byte_order_mark_stay() {
    let text =
        "\u{feff}# head\r\nconfig:\r\n  proj:a: 1 # one\r\n  proj:b: |\r\n    x\r\n    y\r\n  proj:c: 3\r\n";
    assert_eq!(
        changed(text, |c| {
            set(c, "a", "l1\nl2");
            set(c, "b", "z");
            set(c, "o.p", "1");
            remove(c, "c");
        }),
        "\u{feff}# head\r\nconfig:\r\n  proj:a: |- # one\r\n    l1\r\n    l2\r\n  proj:b: |-\r\n    z\r\n  proj:o:\r\n    p: 1\r\n"
    );
}

#[test]
fn a_file_of_comments_keeps_them() {
    assert_eq!(changed("# just this", |c| set(c, "a", "1")), "# just this\nconfig:\n  proj:a: \"1\"\n");
    assert_eq!(
        changed("---\n# just this\n", |c| set(c, "a", "b")),
        "---\n# just this\nconfig:\n  proj:a: b\n"
    );
}

#[test]
fn a_file_without_a_last_line_break_gets_one() {
    assert_eq!(changed("config:\n  proj:a: b", |c| set(c, "c", "d")), "config:\n  proj:a: b\n  proj:c: d\n");
    assert_eq!(changed("config:\n  proj:a: b", |c| set(c, "a", "d\n")), "config:\n  proj:a: |\n    d\n");
}

#[test]
fn later_documents_stay() {
    let text = "config:\n  proj:a: b\n---\nother: 1\n";
    assert_eq!(changed(text, |c| set(c, "c", "d")), "config:\n  proj:a: b\n  proj:c: d\n---\nother: 1\n");
    let text = "config:\n  proj:a: b\n...\n";
    assert_eq!(changed(text, |c| set(c, "c", "d")), "config:\n  proj:a: b\n  proj:c: d\n...\n");
}

#[test]
fn an_edit_that_would_break_an_alias_elsewhere_is_refused() {
    let text = "config:\n  proj:a: &x 1\nenvironment: [*x]\n";
    let mut file =
        StackFile::with_text(Path::new("Pulumi.prod.yaml"), Some(text.to_owned()), PROJECT).unwrap();
    remove(&mut file.settings.config, "a");
    assert_eq!(
        file.render().unwrap_err().to_string(),
        "cannot change `Pulumi.prod.yaml` without disturbing the rest of it"
    );
}

#[test]
fn a_flow_document_is_edited_as_one() {
    assert_eq!(
        changed("{config: {proj:a: b, 'proj:c': \"d\"}}\n", |c| set(c, "e", "f: g")),
        "{config: {proj:a: b, 'proj:c': \"d\", 'proj:e': 'f: g'}}\n"
    );
    assert_eq!(
        changed("config: {proj:a: b, 'proj:c': \"d\"} # x\n", |c| set(c, "c", "e")),
        "config: {proj:a: b, 'proj:c': \"e\"} # x\n"
    );
}
