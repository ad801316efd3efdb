//! Random edits of random files: what an edit does not touch stays byte for byte, and what it writes reads back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::Value;
use drystone_workspace::config::{Config, Key, Locator, NewValue};
use drystone_workspace::stack::StackFile;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::path::Path;

const PROJECT: Option<&str> = Some("proj");

/// Ways to write the value of a key, `@` standing for the indentation.
const SHAPES: &[&str] = &[
    " plain",
    "   \"quoted # text\"   # trailing",
    " 'it''s' # trailing",
    " 5",
    "",
    " ~ # nothing",
    " several plain\n@  words # trailing",
    " |\n@    literal\n@    # not a comment\n\n@    more",
    " |+ # header\n@  kept\n\n",
    " >-\n@  folded\n@  text",
    "\n@  # inside\n@  x: 1 # x\n\n@  y: two",
    " # on the line\n@    x:\n@        y: {z: [1, 'a']}\n@    w: |-\n@        l1\n@        l2",
    "\n@- p # first\n@# about q\n@- q\n@-\n@- x: 1\n@  y: 2",
    "\n@  - - n\n@    - m\n@  - {a: b}",
    " [a, \"b\", 'c'] # flow",
    " {a: b, 'c': [1, {d: e}]}",
    " [\n@  a, # first\n@  b\n@  ]",
    "\n@  secure: v1:abc:def # secret",
    " !!str 5 # tagged",
    " {}",
];

/// Texts to set.
const TEXTS: &[&str] = &[
    "",
    "x",
    "42",
    "true",
    "a: b",
    "# c",
    "- d",
    "l1\nl2",
    "l1\n\nl2\n\n",
    " lead",
    "trail ",
    "it's",
    "\"q\"",
    "é😀",
    "\t",
    "null",
    "[1]",
    "{a}",
    "v1:x=",
    "\nfirst",
    "a\\b",
    "no",
    "0123",
    "multi\n  indented\n",
];

const PATHS: &[&str] = &["", ".x", ".y", ".new.part", "[0]", "[1]", "[2]", ".x.y", ".a"];

#[derive(Debug, Clone)]
struct Written {
    comment: Option<&'static str>,
    shape: usize,
    blank: bool,
}

#[derive(Debug, Clone)]
enum Op {
    Set { key: usize, path: usize, text: usize },
    Secret { key: usize, path: usize },
    Remove { key: usize, path: usize },
}

fn file() -> impl Strategy<Value = String> {
    let entry = (
        prop::option::of(prop::sample::select(vec!["# about it", "# proj:gone: 1"])),
        0..SHAPES.len(),
        any::<bool>(),
    )
        .prop_map(|(comment, shape, blank)| Written { comment, shape, blank });
    let entries = prop::collection::btree_map(0..6_usize, entry, 0..6);
    (entries, prop::sample::select(vec![2, 4]), any::<[bool; 4]>()).prop_map(|(entries, indent, extras)| {
        let indent = " ".repeat(indent);
        let mut text = String::new();
        if extras[0] {
            text.push_str("# head\n\nencryptionsalt: v1:a:v1:b:c # salt\n");
        }
        if !entries.is_empty() {
            text.push_str("config: # config\n");
        }
        for (key, Written { comment, shape, blank }) in entries {
            if let Some(comment) = comment {
                text.push_str(&format!("{indent}{comment}\n"));
            }
            let spelled = if key % 2 == 0 { format!("proj:k{key}") } else { format!("k{key}") };
            text.push_str(&format!("{indent}{spelled}:{}\n", SHAPES[shape].replace('@', &indent)));
            if blank {
                text.push('\n');
            }
        }
        if extras[1] {
            text.push_str("# tail\nunknown: [kept, {as: it is}] # really\n");
        }
        if extras[2] && !text.is_empty() {
            text.push_str("environment:\n- base # import\n");
        }
        if extras[3] { text.replace('\n', "\r\n") } else { text }
    })
}

fn op() -> impl Strategy<Value = Op> {
    let at = (0..7_usize, 0..PATHS.len());
    prop_oneof![
        4 => (at.clone(), 0..TEXTS.len()).prop_map(|((key, path), text)| Op::Set { key, path, text }),
        1 => at.clone().prop_map(|(key, path)| Op::Secret { key, path }),
        2 => at.prop_map(|(key, path)| Op::Remove { key, path }),
    ]
}

fn open(text: &str) -> StackFile {
    StackFile::with_text(Path::new("Pulumi.dev.yaml"), Some(text.to_owned()), PROJECT).unwrap()
}

/// The texts of all values, which is all that a reader of the file can tell.
fn meaning(config: &Config) -> BTreeMap<Key, String> {
    config.iter().map(|(key, value)| (key.clone(), value.to_json())).collect()
}

/// Applies an edit to a configuration and says which key it was about, if it was possible.
fn apply(config: &mut Config, op: &Op) -> Option<Key> {
    let locate =
        |key: usize, path: usize| Locator::parse(PROJECT, &format!("k{key}{}", PATHS[path]), true).unwrap();
    let (locator, done) = match op {
        Op::Set { key, path, text } => {
            let locator = locate(*key, *path);
            let value = NewValue::Text(TEXTS[*text].to_owned());
            (locator.clone(), config.set(&locator, value))
        }
        Op::Secret { key, path } => {
            let locator = locate(*key, *path);
            (locator.clone(), config.set(&locator, NewValue::secure("v1:new:cipher")))
        }
        Op::Remove { key, path } => {
            let locator = locate(*key, *path);
            (locator.clone(), config.remove(&locator))
        }
    };
    done.ok().map(|()| locator.key)
}

/// The lines of a key: the comment right above it, and everything up to the next key or a line that is not indented.
fn block(lines: &[&str], key: &Key) -> Option<std::ops::Range<usize>> {
    let is_key = |line: &str| {
        let line = line.trim_start();
        let name = line.strip_prefix("proj:").unwrap_or(line);
        name.starts_with('k') && name[1..].starts_with(|digit: char| digit.is_ascii_digit())
    };
    let name = key.name();
    let at = lines.iter().position(|line| {
        let line = line.trim_start();
        line.strip_prefix("proj:").unwrap_or(line).starts_with(&format!("{name}:"))
    })?;
    let start = if at > 0 && lines[at - 1].trim_start().starts_with('#') { at - 1 } else { at };
    let indent = lines[at].len() - lines[at].trim_start().len();
    let more = lines[at + 1..].iter().take_while(|line| {
        line.trim().is_empty() || (line.len() - line.trim_start().len() >= indent && !is_key(line))
    });
    Some(start..at + 1 + more.count())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_touch_only_their_own_lines_and_read_back(
        text in file(),
        ops in prop::collection::vec(op(), 1..5),
    ) {
        let mut text = text;
        for op in &ops {
            let mut file = open(&text);
            let Some(key) = apply(&mut file.settings.config, op) else { continue };
            let after = file.render().unwrap();
            let again = open(&after);
            prop_assert_eq!(meaning(&again.settings.config), meaning(&file.settings.config));
            prop_assert_eq!(&again.settings.encryption_salt, &file.settings.encryption_salt);
            prop_assert_eq!(&again.settings.environment, &file.settings.environment);

            let (old, new): (Vec<&str>, Vec<&str>) =
                (text.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
            let touched = block(&old, &key).unwrap_or_else(|| {
                let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
                same..same
            });
            let (before, behind) = (&old[..touched.start], &old[touched.end..]);
            let section_went = file.settings.config.is_empty();
            if !section_went {
                prop_assert!(new.starts_with(before), "{:?}\n{}\n{}", op, text, after);
                prop_assert!(new.ends_with(behind), "{:?}\n{}\n{}", op, text, after);
            }
            text = if after.trim() == "{}" { String::new() } else { after };
        }
    }

    #[test]
    fn any_text_survives_as_a_value_a_part_and_a_name(text in any::<String>(), name in "[^\\x00]{1,20}") {
        let mut file = open("config:\n  proj:other: x # stays\n");
        let key = |name: &str| Locator::from(Key::new("proj", name).unwrap());
        file.settings.config.set(&key("whole"), NewValue::Text(text.clone())).unwrap();
        let object: BTreeMap<String, Value> =
            [(name, Value::String(text.clone())), ("list".into(), Value::Array(vec![Value::String(text)]))].into();
        file.settings.config.set(&key("parts"), NewValue::Typed(Value::object(object))).unwrap();
        let after = file.render().unwrap();
        prop_assert!(after.starts_with("config:\n  proj:other: x # stays\n"));
        prop_assert_eq!(meaning(&open(&after).settings.config), meaning(&file.settings.config));
    }

    #[test]
    fn no_text_makes_reading_fail_other_than_with_an_error(text in "[-a-z0-9:{}\\[\\]#&*!|>'\"%@` \n,.?~<]{0,60}") {
        if let Ok(mut file) = StackFile::with_text(Path::new("Pulumi.dev.yaml"), Some(text), PROJECT) {
            file.settings.config.set(&Locator::from(Key::new("proj", "k").unwrap()), NewValue::Text("v".into())).unwrap();
            if let Ok(after) = file.render() {
                prop_assert_eq!(meaning(&open(&after).settings.config), meaning(&file.settings.config));
            }
        }
    }
}
