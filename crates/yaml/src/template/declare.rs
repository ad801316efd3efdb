//! What a program declares.

use super::expression::{self, Shared};
use super::record::{self, Others, Record};
use super::resource::{self, Resource};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::{Entry, Kind, Node, Span, Text};

/// A name and the value behind it.
pub type Named = (Text, Shared);

/// A program, or the inside of a component.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// The project's or the component's name.
    pub name: Option<Text>,
    /// The namespace of a plugin.
    pub namespace: Option<Text>,
    /// What it is for.
    pub description: Option<Text>,
    /// The version of a plugin.
    pub version: Option<Text>,
    /// The range of versions that may run it.
    pub required_version: Option<Shared>,
    /// What comes from outside: the configuration, or the inputs of a component.
    pub config: Vec<ConfigEntry>,
    /// Values with names.
    pub variables: Vec<Named>,
    /// Resources.
    pub resources: Vec<Resource>,
    /// What it gives.
    pub outputs: Vec<Named>,
    /// Components of a plugin.
    pub components: Vec<Component>,
}

/// A kind of resource that is made of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its name.
    pub key: Text,
    /// What it is made of.
    pub template: Template,
}

/// A value that comes from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigEntry {
    /// Its name in the program.
    pub key: Text,
    /// Its type.
    pub kind: Option<Text>,
    /// Its name outside, when it differs.
    pub name: Option<Text>,
    /// Whether it is a secret.
    pub secret: Option<(bool, Span)>,
    /// What it is when nobody says.
    pub default: Option<Shared>,
    /// What the project says that it is.
    pub value: Option<Shared>,
    /// What the elements of a list are.
    pub items: Option<Box<ConfigEntry>>,
}

const FIELDS: [&str; 11] = [
    "name",
    "namespace",
    "description",
    "version",
    "pulumi",
    "configuration",
    "config",
    "variables",
    "resources",
    "outputs",
    "components",
];
const COMPONENT_FIELDS: [&str; 7] =
    ["name", "description", "pulumi", "inputs", "variables", "resources", "outputs"];

impl Template {
    /// Reads a program. What is wrong with it is told; the program is only to be used when nothing is.
    #[must_use]
    pub fn read(root: &Node) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let Some(fields) = Record::read_with("the program", root, &FIELDS, Others::Ignore, &mut diagnostics)
        else {
            return (Self::default(), diagnostics);
        };
        let mut text = |name| fields.get(name).and_then(|node| record::text(name, node, &mut diagnostics));
        let (name, namespace, description, version) =
            (text("name"), text("namespace"), text("description"), text("version"));
        let mut template = Self { name, namespace, description, version, ..Self::default() };
        template.read_body(&fields, "config", &mut diagnostics);
        if let Some(node) = fields.get("configuration") {
            diagnostics.push(Diagnostic::warning(
                node.span,
                "root-level `configuration` field is deprecated; please use `config` instead",
            ));
            for entry in config("configuration", node, &mut diagnostics) {
                if !template.config.iter().any(|known| known.key.value == entry.key.value) {
                    template.config.push(entry);
                }
            }
        }
        if let Some(node) = fields.get("components") {
            template.components = components(node, &mut diagnostics);
        }
        (template, diagnostics)
    }

    fn read_body(&mut self, fields: &Record<'_>, config_field: &str, diagnostics: &mut Diagnostics) {
        if let Some(node) = fields.get("pulumi")
            && let Some(settings) = Record::read("pulumi", node, &["requiredVersion"], diagnostics)
        {
            self.required_version =
                settings.get("requiredVersion").map(|node| expression::read(node, diagnostics));
        }
        if let Some(node) = fields.get(config_field) {
            self.config = config(config_field, node, diagnostics);
        }
        let mut named = |name| {
            fields.get(name).and_then(|node| resource::entries(name, node, diagnostics)).unwrap_or_default()
        };
        (self.variables, self.outputs) = (named("variables"), named("outputs"));
        if let Some(node) = fields.get("resources") {
            self.resources = resources(node, diagnostics);
        }
    }
}

fn resources(node: &Node, diagnostics: &mut Diagnostics) -> Vec<Resource> {
    let Some(entries) = object("resources", node, diagnostics) else { return Vec::new() };
    entries.iter().filter_map(|entry| Resource::read(entry, diagnostics)).collect()
}

fn components(node: &Node, diagnostics: &mut Diagnostics) -> Vec<Component> {
    let Some(entries) = object("components", node, diagnostics) else { return Vec::new() };
    let read = |entry: &Entry| {
        let label = format!("components.{}", entry.key.value);
        let fields = Record::read(&label, &entry.value, &COMPONENT_FIELDS, diagnostics)?;
        let description =
            fields.get("description").and_then(|node| record::text("description", node, diagnostics));
        let mut template = Template { name: Some(entry.key.clone()), description, ..Template::default() };
        template.read_body(&fields, "inputs", diagnostics);
        Some(Component { key: entry.key.clone(), template })
    };
    entries.iter().filter_map(read).collect()
}

fn config(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Vec<ConfigEntry> {
    let Some(entries) = object(name, node, diagnostics) else { return Vec::new() };
    let read = |entry: &Entry| config_entry(name, entry.key.clone(), &entry.value, diagnostics);
    entries.iter().filter_map(read).collect()
}

fn config_entry(name: &str, key: Text, node: &Node, diagnostics: &mut Diagnostics) -> Option<ConfigEntry> {
    const FIELDS: [&str; 7] = ["type", "name", "secret", "default", "value", "items", "description"];
    let mut entry =
        ConfigEntry { key, kind: None, name: None, secret: None, default: None, value: None, items: None };
    if node.entries().is_none() {
        entry.value = Some(expression::read(node, diagnostics));
        return Some(entry);
    }
    let label = format!("{name}.{}", entry.key.value);
    let fields = Record::read(&label, node, &FIELDS, diagnostics)?;
    let mut text = |name| fields.get(name).and_then(|node| record::text(name, node, diagnostics));
    (entry.kind, entry.name) = (text("type"), text("name"));
    entry.secret = fields
        .get("secret")
        .and_then(|node| record::boolean("secret", node, diagnostics).map(|value| (value, node.span)));
    let mut value = |name| fields.get(name).map(|node| expression::read(node, diagnostics));
    (entry.default, entry.value) = (value("default"), value("value"));
    if let Some(node) = fields.get("items") {
        let items = config_entry(&label, Text { value: "items".into(), span: node.span }, node, diagnostics);
        entry.items = items.map(Box::new);
    }
    Some(entry)
}

fn object<'a>(name: &str, node: &'a Node, diagnostics: &mut Diagnostics) -> Option<&'a [Entry]> {
    if let Kind::Map(entries) = &node.kind {
        return Some(entries);
    }
    diagnostics.error(node.span, format!("{name} must be an object, not {}", node.describe()));
    None
}
