//! Sequences of `config` commands whose outcome, file by file, was recorded from the stock CLI 3.259.0.
//!
//! Each recorded file is also the start of the next step, so both tools have taken turns on it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::config::{Key, Locator, NewValue, parse_assignment};
use drystone_workspace::stack::StackFile;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Sequence {
    name: String,
    start: Option<String>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    op: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    value: String,
    #[serde(default)]
    pairs: Vec<String>,
    #[serde(default)]
    path: bool,
    #[serde(rename = "type")]
    of: Option<String>,
    ciphertext: Option<String>,
    ok: bool,
    file: String,
}

const PROJECT: Option<&str> = Some("proj");

fn sequences() -> Vec<Sequence> {
    serde_json::from_str(include_str!("fixtures/stock/sequences.json")).unwrap()
}

#[test]
fn s14_files_are_written_as_the_stock_cli_writes_them() {
    let mut steps = 0;
    for Sequence { name, start, steps: recorded } in sequences() {
        let mut text = start;
        for (index, step) in recorded.iter().enumerate() {
            match take(text.clone(), step) {
                Ok(after) => {
                    assert!(step.ok, "{name}, step {index}");
                    let created_for_nothing = text.is_none() && after.is_empty() && step.file == "{}\n";
                    assert!(created_for_nothing || after == step.file, "{name}, step {index}: {after}");
                }
                Err(error) => assert!(!step.ok, "{name}, step {index}: {error}"),
            }
            text = Some(step.file.clone()).filter(|text| text != "{}\n");
            steps += 1;
        }
    }
    assert_eq!(steps, 422);
}

fn take(text: Option<String>, step: &Step) -> Result<String, Box<dyn std::error::Error>> {
    let mut file = StackFile::with_text(Path::new("Pulumi.dev.yaml"), text, PROJECT)?;
    let config = &mut file.settings.config;
    match step.op.as_str() {
        "set" => {
            let locator = Locator::parse(PROJECT, &step.key, step.path)?;
            let value = match (&step.ciphertext, &step.of) {
                (Some(ciphertext), _) => NewValue::secure(ciphertext.clone()),
                (None, Some(of)) => NewValue::typed(&step.value, of.parse()?)?,
                (None, None) => NewValue::Text(step.value.clone()),
            };
            config.set(&locator, value)?;
        }
        "set-all" => {
            for pair in &step.pairs {
                let (locator, value) = parse_assignment(PROJECT, pair, step.path)?;
                config.set(&locator, NewValue::Text(value))?;
            }
        }
        "rm" => config.remove(&Locator::parse(PROJECT, &step.key, step.path)?)?,
        "rm-all" => {
            for key in &step.keys {
                config.remove(&Locator::parse(PROJECT, key, step.path)?)?;
            }
        }
        other => panic!("{other}"),
    }
    if let Some(salt) = step.file.lines().find_map(|line| line.strip_prefix("encryptionsalt: ")) {
        file.settings.encryption_salt = Some(salt.to_owned());
    }
    Ok(file.render()?)
}

/// What the stock CLI wrote is read, and a change is undone to the very bytes.
#[test]
fn s14_files_of_the_stock_cli_survive_a_change_and_its_reversal() {
    let key = Locator::from(Key::new("proj", "drystone-was-here").unwrap());
    let open = |text: &str| {
        StackFile::with_text(Path::new("Pulumi.dev.yaml"), Some(text.to_owned()), PROJECT).unwrap()
    };
    for step in sequences().iter().flat_map(|sequence| &sequence.steps).filter(|step| !step.file.is_empty()) {
        let mut file = open(&step.file);
        file.settings.config.set(&key, NewValue::Text("a\nb".into())).unwrap();
        let mut file = open(&file.render().unwrap());
        file.settings.config.remove(&key).unwrap();
        assert_eq!(file.render().unwrap(), step.file);
    }
}
