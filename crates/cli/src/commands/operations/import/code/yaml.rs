//! Programs in YAML.

use super::expression::{Archive, Expression};
use super::literal::{quoted, remark};
use super::{Declaration, Form, Options, Program, Setting};
use drystone_model::{AssetSource, SECRET_MASK, Urn};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Names that are not those of resources.
const SURROUNDINGS: &str = "pulumi";

pub(super) fn write(program: &Program) -> String {
    let mut taken: HashSet<String> = program.elsewhere.values().cloned().collect();
    taken.insert(SURROUNDINGS.to_owned());
    let variables = program.variables(str::to_owned, variable, &mut taken);
    let code = Code { variables };
    let mut text = String::new();
    for line in program.preface(&code.variables) {
        let _ = writeln!(text, "# {line}");
    }
    let (components, resources): (Vec<_>, Vec<_>) =
        program.declarations.iter().partition(|declared| declared.form == Form::Component);
    for component in components {
        let line = format!(
            "`{}` is a component that a program in YAML cannot declare: {}, named {}",
            code.variable(&component.urn),
            component.type_token,
            quoted(&component.name)
        );
        let _ = writeln!(text, "# {}", remark(&line));
    }
    if resources.is_empty() {
        return text;
    }
    text.push_str("resources:\n");
    for declared in resources {
        for line in &declared.remarks {
            let _ = writeln!(text, "  # {}", remark(line));
        }
        let mut calls = Vec::new();
        declared.inputs.iter().for_each(|(_, input)| taken_for_functions(input, &mut calls));
        if !calls.is_empty() {
            let line = format!("YAML takes it for a function, so see to it: {}", calls.join(", "));
            let _ = writeln!(text, "  # {}", remark(&line));
        }
        let _ = writeln!(text, "  {}:", key(code.variable(&declared.urn)));
        for line in code.declaration(declared) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// A name that can be looked up as it is.
fn variable(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let text: String = name.chars().map(plain).collect();
    if text.is_empty() { "_".to_owned() } else { text }
}

/// A value as YAML has it: behind its name, or on lines below.
enum Written {
    Inline(String),
    Lines(Vec<String>),
}

impl Written {
    /// Lines, or an object without members.
    fn of(lines: Vec<String>) -> Self {
        if lines.is_empty() { Self::Inline("{}".to_owned()) } else { Self::Lines(lines) }
    }
}

/// A value under a name.
fn member(name: &str, value: Written) -> Vec<String> {
    match value {
        Written::Inline(text) => vec![format!("{name}: {text}")],
        Written::Lines(lines) => {
            let below = lines.into_iter().map(|line| format!("  {line}"));
            std::iter::once(format!("{name}:")).chain(below).collect()
        }
    }
}

/// A value in a list.
fn item(value: Written) -> Vec<String> {
    let lines = match value {
        Written::Inline(text) => vec![text],
        Written::Lines(lines) => lines,
    };
    let mark = |(at, line): (usize, String)| format!("{}{line}", if at == 0 { "- " } else { "  " });
    lines.into_iter().enumerate().map(mark).collect()
}

fn list(values: impl Iterator<Item = Written>) -> Written {
    let lines: Vec<String> = values.flat_map(item).collect();
    if lines.is_empty() { Written::Inline("[]".to_owned()) } else { Written::Lines(lines) }
}

fn call(function: &str, argument: Written) -> Written {
    Written::Lines(member(&format!("fn::{function}"), argument))
}

fn text(text: &str) -> Written {
    Written::Inline(literal(text))
}

struct Code<'a> {
    variables: HashMap<&'a Urn, String>,
}

impl Code<'_> {
    fn variable(&self, urn: &Urn) -> &str {
        self.variables.get(urn).map_or("", String::as_str)
    }

    /// A resource, or a property of it, that is looked up.
    fn reference(&self, urn: &Urn, property: &str) -> Written {
        let name = self.variable(urn);
        let dot = if property.is_empty() { "" } else { "." };
        Written::Inline(match variable(name) == name {
            true => format!("${{{name}{dot}{property}}}"),
            // Such a name is one of the program's own.
            false => quoted(&format!("${{[\"{}\"]{dot}{property}}}", name.replace('"', "\\\""))),
        })
    }

    fn declaration(&self, declared: &Declaration) -> Vec<String> {
        let mut lines = vec![format!("type: {}", type_text(&declared.type_token))];
        if self.variable(&declared.urn) != declared.name {
            lines.push(format!("name: {}", literal(&declared.name)));
        }
        let inputs: Vec<String> =
            declared.inputs.iter().flat_map(|(name, input)| member(&key(name), self.value(input))).collect();
        if !inputs.is_empty() {
            lines.extend(member("properties", Written::Lines(inputs)));
        }
        let options = self.options(&declared.options);
        if !options.is_empty() {
            lines.extend(member("options", Written::Lines(options)));
        }
        lines
    }

    fn options(&self, options: &Options) -> Vec<String> {
        let resource = |urn: &Urn| self.reference(urn, "");
        let setting = |(name, setting): (&str, Setting<'_>)| {
            let value = match setting {
                Setting::Resource(urn) => resource(urn),
                Setting::Resources(urns) => list(urns.iter().map(resource)),
                Setting::True => Written::Inline("true".to_owned()),
                Setting::Text(given) => text(given),
                Setting::Texts(texts) => list(texts.iter().map(|given| text(given))),
            };
            member(name, value)
        };
        options.settings().into_iter().flat_map(setting).collect()
    }

    fn value(&self, value: &Expression) -> Written {
        match value {
            Expression::Nothing => Written::Inline("null".to_owned()),
            Expression::Bool(flag) => Written::Inline(flag.to_string()),
            Expression::Number(number) => Written::Inline(number.to_string()),
            Expression::Text(given) | Expression::Word(given) => text(given),
            Expression::List(items) => list(items.iter().map(|item| self.value(item))),
            Expression::Map(members) => self.members(members),
            Expression::Object(object) => self.members(&object.members),
            Expression::Secret(inner) => call("secret", self.value(inner)),
            Expression::Hidden => call("secret", text(SECRET_MASK)),
            Expression::Asset(AssetSource::Text(given)) => call("stringAsset", text(given)),
            Expression::Asset(AssetSource::Path(path)) => call("fileAsset", text(path)),
            Expression::Asset(AssetSource::Uri(uri)) => call("remoteAsset", text(uri)),
            Expression::Archive(Archive::Assets(assets)) => call("assetArchive", self.members(assets)),
            Expression::Archive(Archive::Path(path)) => call("fileArchive", text(path)),
            Expression::Archive(Archive::Uri(uri)) => call("remoteArchive", text(uri)),
            Expression::Property(urn, property) => self.reference(urn, property),
            Expression::Resource(urn) => self.reference(urn, ""),
        }
    }

    fn members(&self, members: &[(String, Expression)]) -> Written {
        let lines = members.iter().flat_map(|(name, value)| member(&key(&escaped(name)), self.value(value)));
        Written::of(lines.collect())
    }
}

/// Names that stand alone and would be taken for functions. There is no way to say them.
fn taken_for_functions<'a>(value: &'a Expression, found: &mut Vec<&'a str>) {
    let members = match value {
        Expression::Map(members) => members,
        Expression::Object(object) => &object.members,
        Expression::List(items) => return items.iter().for_each(|item| taken_for_functions(item, found)),
        Expression::Secret(inner) => return taken_for_functions(inner, found),
        _ => return,
    };
    if let [(name, _)] = &members[..]
        && name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("fn::"))
    {
        found.push(name);
    }
    members.iter().for_each(|(_, member)| taken_for_functions(member, found));
}

/// A name as YAML reads it back.
fn key(name: &str) -> String {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !words.iter().any(|word| name.eq_ignore_ascii_case(word));
    if plain { name.to_owned() } else { quoted(name) }
}

/// A type, which needs no quotes unless it is a strange one.
fn type_text(token: &str) -> String {
    let plain = token.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c));
    let is_plain = plain && token.starts_with(|c: char| c.is_ascii_alphabetic()) && !token.ends_with(':');
    if is_plain { token.to_owned() } else { literal(token) }
}

/// A text in which nothing is looked up.
fn escaped(text: &str) -> String {
    if text.contains("${") || text.contains("$$") { text.replace('$', "$$") } else { text.to_owned() }
}

/// A text that is no expression.
fn literal(text: &str) -> String {
    quoted(&escaped(text))
}
