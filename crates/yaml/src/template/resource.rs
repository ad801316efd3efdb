//! Resources as programs declare them.

use super::expression::{self, Shared};
use super::record::{self, Record};
use crate::diagnostics::Diagnostics;
use crate::syntax::{Entry, Kind, Node, Span, Text};

/// A resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its name in the program.
    pub key: Text,
    /// The place of what is declared.
    pub span: Span,
    /// Its type, however short.
    pub type_token: Option<Text>,
    /// Its name, when it differs.
    pub name: Option<Text>,
    /// Whether resources of its package use it as their provider.
    pub default_provider: Option<(bool, Span)>,
    /// Its inputs.
    pub properties: Properties,
    /// How it is treated.
    pub options: ResourceOptions,
    /// What to look at, when it is not managed.
    pub get: Get,
    /// Every field that was given, for messages.
    pub fields: Vec<Text>,
    /// Every option that was given, for messages.
    pub option_fields: Vec<Text>,
}

/// The inputs of a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Properties {
    /// None.
    #[default]
    None,
    /// Each by name.
    Map(Vec<(Text, Shared)>),
    /// Something that becomes an object.
    Expression(Shared),
}

/// A resource to be looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Get {
    /// What its provider calls it.
    pub id: Option<Shared>,
    /// What is known of it.
    pub state: Vec<(Text, Shared)>,
}

/// How a resource is treated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResourceOptions {
    /// Outputs to keep secret.
    pub additional_secret_outputs: Vec<Text>,
    /// Names that it had before.
    pub aliases: Option<Shared>,
    /// Time limits.
    pub custom_timeouts: Option<Timeouts>,
    /// Whether its replacement is made after it is deleted.
    pub delete_before_replace: Option<bool>,
    /// What must be there before.
    pub depends_on: Option<Shared>,
    /// Properties whose changes are ignored.
    pub ignore_changes: Vec<Text>,
    /// The id of an existing thing to take over.
    pub import: Option<Text>,
    /// Its parent.
    pub parent: Option<Shared>,
    /// Whether deleting it is refused.
    pub protect: Option<Shared>,
    /// Its provider.
    pub provider: Option<Shared>,
    /// Providers for its children.
    pub providers: Option<Shared>,
    /// The version of its plugin.
    pub version: Option<Text>,
    /// Where its plugin comes from.
    pub plugin_download_url: Option<Text>,
    /// Properties whose changes replace it.
    pub replace_on_changes: Vec<Text>,
    /// Whether deleting it leaves the real thing alone.
    pub retain_on_delete: Option<bool>,
    /// Resources whose replacement replaces it.
    pub replace_with: Option<Shared>,
    /// A resource whose deletion deletes it too.
    pub deleted_with: Option<Shared>,
    /// Properties that diffs leave out.
    pub hide_diffs: Vec<Text>,
    /// A value whose change replaces it.
    pub replacement_trigger: Option<Shared>,
    /// For providers: environment variables to rename for the plugin.
    pub env_var_mappings: Option<Shared>,
}

/// Time limits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeouts {
    /// For making it.
    pub create: Option<Shared>,
    /// For changing it.
    pub update: Option<Shared>,
    /// For deleting it.
    pub delete: Option<Shared>,
}

/// The fields of a resource.
pub const RESOURCE_FIELDS: [&str; 6] = ["type", "name", "defaultProvider", "properties", "options", "get"];

/// The options of a resource.
pub const RESOURCE_OPTIONS: [&str; 20] = [
    "additionalSecretOutputs",
    "aliases",
    "customTimeouts",
    "deleteBeforeReplace",
    "dependsOn",
    "ignoreChanges",
    "import",
    "parent",
    "protect",
    "provider",
    "providers",
    "version",
    "pluginDownloadURL",
    "replaceOnChanges",
    "retainOnDelete",
    "replaceWith",
    "deletedWith",
    "hideDiffs",
    "replacementTrigger",
    "envVarMappings",
];

impl Resource {
    pub(super) fn read(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Self> {
        let node = &entry.value;
        let label = format!("resources.{}", entry.key.value);
        let Kind::Map(entries) = &node.kind else {
            diagnostics.error(node.span, format!("{label} must be an object, not {}", node.describe()));
            return None;
        };
        // Fields that are not known are errors, and told when the type is known that they were meant for.
        let fields = Record::read_with(&label, node, &RESOURCE_FIELDS, record::Others::Ignore, diagnostics)?;
        let options_node = fields.get("options");
        Some(Self {
            key: entry.key.clone(),
            span: entry.key.span,
            type_token: fields.get("type").and_then(|node| record::text("type", node, diagnostics)),
            name: fields.get("name").and_then(|node| record::text("name", node, diagnostics)),
            default_provider: fields.get("defaultProvider").and_then(|node| {
                record::boolean("defaultProvider", node, diagnostics).map(|value| (value, node.span))
            }),
            properties: fields
                .get("properties")
                .map(|node| properties(node, diagnostics))
                .unwrap_or_default(),
            options: options_node.map(|node| options(node, diagnostics)).unwrap_or_default(),
            get: fields.get("get").map(|node| get(node, diagnostics)).unwrap_or_default(),
            fields: entries.iter().map(|entry| entry.key.clone()).collect(),
            option_fields: options_node
                .and_then(Node::entries)
                .map(|entries| entries.iter().map(|entry| entry.key.clone()).collect())
                .unwrap_or_default(),
        })
    }

    /// The name that it is registered under.
    #[must_use]
    pub fn resource_name(&self) -> &str {
        match &self.name {
            Some(name) if !name.value.is_empty() => name.as_str(),
            _ => self.key.as_str(),
        }
    }

    /// Every expression in it.
    pub(crate) fn expressions(&self) -> Vec<&Shared> {
        let mut found: Vec<&Shared> = match &self.properties {
            Properties::None => Vec::new(),
            Properties::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            Properties::Expression(value) => vec![value],
        };
        let options = &self.options;
        found.extend(
            [
                &options.depends_on,
                &options.parent,
                &options.provider,
                &options.providers,
                &self.get.id,
                &options.aliases,
                &options.protect,
                &options.replace_with,
                &options.deleted_with,
                &options.replacement_trigger,
                &options.env_var_mappings,
            ]
            .into_iter()
            .flatten(),
        );
        found.extend(self.get.state.iter().map(|(_, value)| value));
        if let Some(timeouts) = &options.custom_timeouts {
            found.extend([&timeouts.create, &timeouts.update, &timeouts.delete].into_iter().flatten());
        }
        found
    }
}

pub(super) fn entries(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<(Text, Shared)>> {
    let Kind::Map(entries) = &node.kind else {
        diagnostics.error(node.span, format!("{name} must be an object, not {}", node.describe()));
        return None;
    };
    let read = |entry: &Entry| (entry.key.clone(), expression::read(&entry.value, diagnostics));
    Some(entries.iter().map(read).collect())
}

fn properties(node: &Node, diagnostics: &mut Diagnostics) -> Properties {
    match &node.kind {
        Kind::Map(_) => entries("properties", node, diagnostics).map_or(Properties::None, Properties::Map),
        _ => Properties::Expression(expression::read(node, diagnostics)),
    }
}

fn get(node: &Node, diagnostics: &mut Diagnostics) -> Get {
    let Some(fields) = Record::read("get", node, &["id", "state"], diagnostics) else {
        return Get::default();
    };
    Get {
        id: fields.get("id").map(|node| expression::read(node, diagnostics)),
        state: fields.get("state").and_then(|node| entries("state", node, diagnostics)).unwrap_or_default(),
    }
}

fn options(node: &Node, diagnostics: &mut Diagnostics) -> ResourceOptions {
    let others = record::Others::Ignore;
    let Some(fields) = Record::read_with("options", node, &RESOURCE_OPTIONS, others, diagnostics) else {
        return ResourceOptions::default();
    };
    let mut value = |name| fields.get(name).map(|node| expression::read(node, diagnostics));
    let (aliases, depends_on, parent) = (value("aliases"), value("dependsOn"), value("parent"));
    let (protect, provider, providers) = (value("protect"), value("provider"), value("providers"));
    let (replace_with, deleted_with) = (value("replaceWith"), value("deletedWith"));
    let (replacement_trigger, env_var_mappings) = (value("replacementTrigger"), value("envVarMappings"));
    let mut text = |name| fields.get(name).and_then(|node| record::text(name, node, diagnostics));
    let (import, version, plugin_download_url) = (text("import"), text("version"), text("pluginDownloadURL"));
    let mut texts =
        |name| fields.get(name).and_then(|node| record::texts(name, node, diagnostics)).unwrap_or_default();
    let (additional_secret_outputs, ignore_changes) =
        (texts("additionalSecretOutputs"), texts("ignoreChanges"));
    let (replace_on_changes, hide_diffs) = (texts("replaceOnChanges"), texts("hideDiffs"));
    let mut boolean = |name| fields.get(name).and_then(|node| record::boolean(name, node, diagnostics));
    let (delete_before_replace, retain_on_delete) =
        (boolean("deleteBeforeReplace"), boolean("retainOnDelete"));
    ResourceOptions {
        custom_timeouts: fields.get("customTimeouts").map(|node| timeouts(node, diagnostics)),
        additional_secret_outputs,
        aliases,
        delete_before_replace,
        depends_on,
        ignore_changes,
        import,
        parent,
        protect,
        provider,
        providers,
        version,
        plugin_download_url,
        replace_on_changes,
        retain_on_delete,
        replace_with,
        deleted_with,
        hide_diffs,
        replacement_trigger,
        env_var_mappings,
    }
}

fn timeouts(node: &Node, diagnostics: &mut Diagnostics) -> Timeouts {
    let Some(fields) = Record::read("customTimeouts", node, &["create", "update", "delete"], diagnostics)
    else {
        return Timeouts::default();
    };
    let mut value = |name| fields.get(name).map(|node| expression::read(node, diagnostics));
    let (create, update, delete) = (value("create"), value("update"), value("delete"));
    Timeouts { create, update, delete }
}
