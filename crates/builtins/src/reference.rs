//! The package's reference, for people.

use crate::schema::PACKAGE;
use serde_json::{Map, Value as Json};
use std::fmt::Write;

const INTRODUCTION: &str = "# Built-in resources

<!-- Written from the package's schema; `cargo test -p drystone-builtins` says when and how to write it again. -->

The package `drystone` is part of the binary: it needs no plugin and no configuration. Its resources have the property
names of the packages that they stand for; the plugins of those packages are used as ever.

Relative paths start at the program's folder. Properties are marked: **required**, _secret_, and ↻ where a change
replaces the resource. Every output of a resource that is also an input is what was put in.
";

/// The reference as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    let mut module = "";
    let all = entries("resources").map(|entry| (entry, true));
    let all = all.chain(entries("functions").map(|entry| (entry, false)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|((token, _), resource)| (module_of(token), !resource, *token));
    for ((token, entry), resource) in all {
        if module_of(token) != module {
            module = module_of(token);
            line(&mut text, &format!("\n## {module}"));
        }
        line(&mut text, &format!("\n### `{token}`\n"));
        line(&mut text, if resource { "A resource." } else { "A function." });
        line(&mut text, &format!("\n{}", entry["description"].as_str().unwrap_or_default()));
        if resource {
            let inputs = &entry["inputProperties"];
            table(&mut text, "Input", inputs, &entry["requiredInputs"], |_| true);
            table(&mut text, "Output", &entry["properties"], &Json::Null, |name| inputs.get(name).is_none());
        } else {
            table(
                &mut text,
                "Argument",
                &entry["inputs"]["properties"],
                &entry["inputs"]["required"],
                |_| true,
            );
            table(&mut text, "Result", &entry["outputs"]["properties"], &Json::Null, |_| true);
        }
    }
    text
}

fn entries(part: &str) -> impl Iterator<Item = (&'static String, &'static Json)> {
    PACKAGE.json[part].as_object().into_iter().flat_map(Map::iter)
}

fn module_of(token: &str) -> &str {
    token.split(':').nth(1).unwrap_or_default()
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn table(text: &mut String, head: &str, properties: &Json, required: &Json, shown: impl Fn(&str) -> bool) {
    let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let rows = properties.as_object().into_iter().flat_map(Map::iter);
    let mut rows = rows.filter(|(name, _)| shown(name)).peekable();
    if rows.peek().is_none() {
        return;
    }
    line(text, &format!("\n| {head} | type | |\n| --- | --- | --- |"));
    for (name, property) in rows {
        let mut says = property["description"].as_str().unwrap_or_default().replace('|', "\\|");
        if let Some(default) = property.get("default") {
            // Writing to a text does not fail.
            let _ = write!(says, " Default: `{default}`.");
        }
        let marks = [
            (required.contains(&name.as_str()), " **required**"),
            (property["secret"] == true, " _secret_"),
            (property["replaceOnChanges"] == true, " ↻"),
        ];
        let marks: String = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
        line(text, &format!("| `{name}`{marks} | {} | {says} |", kind(property)));
    }
}

fn kind(property: &Json) -> String {
    if let Some(reference) = property["$ref"].as_str() {
        let Some(name) = reference.strip_prefix("#/types/") else { return "any".to_owned() };
        let named = &PACKAGE.json["types"][name];
        if let Some(choices) = named["enum"].as_array() {
            let choices: Vec<String> = choices
                .iter()
                .filter_map(|choice| choice["value"].as_str())
                .map(|text| format!("`{text}`"))
                .collect();
            return choices.join(", ");
        }
        let members = named["properties"].as_object().into_iter().flat_map(Map::iter);
        let members: Vec<String> =
            members.map(|(name, member)| format!("`{name}`: {}", kind(member))).collect();
        return format!("{{ {} }}", members.join(", "));
    }
    match property["type"].as_str() {
        Some("array") => format!("list of {}", kind(&property["items"])),
        Some("object") => format!("map of {}", kind(&property["additionalProperties"])),
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}
