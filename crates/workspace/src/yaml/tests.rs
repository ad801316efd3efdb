use super::node::Style;
use super::*;
use crate::Value;
use std::borrow::Cow;

fn edited(text: &str, changes: &[(&str, Option<Value>)]) -> String {
    let document = Document::parse(text).unwrap();
    let mut members: Vec<(String, Target<'_>)> = document
        .root
        .value
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys())
        .map(|name| (name.clone(), Target::Keep))
        .collect();
    for (name, value) in changes {
        members.retain(|(member, _)| member != name || value.is_some());
        if let Some(value) = value {
            match members.iter_mut().find(|(member, _)| member == name) {
                Some(member) => member.1 = Target::Value(Cow::Borrowed(value)),
                None => members.push(((*name).to_owned(), Target::Value(Cow::Borrowed(value)))),
            }
        }
    }
    edit(&document, &members).unwrap()
}

#[test]
fn every_part_of_a_nasty_document_is_found() {
    let text = include_str!("../../tests/fixtures/yaml/nasty.yaml");
    let document = Document::parse(text).unwrap();
    fn check(node: &Node, text: &str) {
        let range = node.range.unwrap();
        let slice = &text[range.start..range.end];
        match &node.kind {
            Kind::Scalar(Style::Plain | Style::SingleQuoted | Style::DoubleQuoted) if !slice.is_empty() => {
                let again = Document::parse(slice).unwrap().root.value;
                assert!(again == node.value || node.decorated, "{slice}");
            }
            Kind::Mapping { entries, .. } => entries.iter().for_each(|entry| check(&entry.value, text)),
            Kind::Sequence { items, .. } => items.iter().for_each(|item| check(&item.value, text)),
            _ => {}
        }
    }
    for entry in document.root.entries() {
        if !["pairs", "loose"].contains(&entry.key.as_str()) {
            check(&entry.value, text);
        }
    }
}

fn read_json<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

/// `scalars.yaml` is what the stock CLI wrote for the texts of `scalars.json`.
#[test]
fn texts_are_quoted_as_the_stock_cli_quotes_them() {
    let texts: Vec<String> = read_json(include_str!("../../tests/fixtures/stock/scalars.json"));
    let config = texts
        .iter()
        .enumerate()
        .map(|(index, text)| (format!("proj:s{index:03}"), Value::String(text.clone())))
        .collect();
    let expected = include_str!("../../tests/fixtures/stock/scalars.yaml");
    let config = Value::Object(config);
    pretty(&edited("", &[("config", Some(config.clone()))]), expected);
    assert_eq!(Document::parse(expected).unwrap().root.get("config").unwrap().value.value, config);
}

/// `objects.yaml` is what the stock CLI wrote for the values of `objects.json`.
#[test]
fn collections_are_laid_out_as_the_stock_cli_lays_them_out() {
    let objects: serde_json::Value = read_json(include_str!("../../tests/fixtures/stock/objects.json"));
    let expected = include_str!("../../tests/fixtures/stock/objects.yaml");
    let config = Value::from_json(&objects);
    pretty(&edited("", &[("config", Some(config))]), expected);
    let read = Document::parse(expected).unwrap().root.get("config").unwrap().value.value.to_json();
    assert_eq!(read, Value::from_json(&objects).to_json());
}

fn pretty(ours: &str, stock: &str) {
    for (ours, stock) in ours.lines().zip(stock.lines()) {
        assert_eq!(ours, stock);
    }
    assert_eq!(ours.len(), stock.len());
}

/// The stock CLI writes these as blocks and then reads something else, or nothing at all.
#[test]
fn texts_that_a_block_would_lose_are_quoted() {
    for (text, written) in
        [("\nlead", "\"\\nlead\""), ("\n", "\"\\n\""), ("\tx\ny", "\"\\tx\\ny\""), ("<<", "\"<<\"")]
    {
        assert_eq!(edited("", &[("a", Some(Value::String(text.into())))]), format!("a: {written}\n"));
    }
}
