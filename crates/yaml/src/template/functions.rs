//! Functions: `fn::join`, `fn::invoke`, `fn::fileAsset` and the others.

use super::expression::{self, Expression, Form, Shared};
use super::record::{self, Record};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::suggest;
use crate::syntax::{Entry, Kind, Node, Span, Text};
use std::sync::Arc;

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// A function of a provider.
    Invoke(Invoke),
    /// Texts in one, with something between them.
    Join {
        /// What stands between them.
        delimiter: Shared,
        /// The texts.
        values: Shared,
    },
    /// The parts of a text.
    Split {
        /// What stands between them.
        delimiter: Shared,
        /// The text.
        source: Shared,
    },
    /// An element of a list.
    Select {
        /// Which, counted from zero.
        index: Shared,
        /// The list.
        values: Shared,
    },
    /// Something made of one value.
    Unary(Unary, Shared),
    /// A file-like thing.
    Asset(AssetKind, Shared),
    /// A collection of such.
    Archive(ArchiveKind, Shared),
    /// Assets and archives by name.
    AssetArchive(Vec<(Arc<str>, Shared)>),
    /// An output of another stack.
    StackReference {
        /// The stack.
        stack: Text,
        /// The output's name.
        property: Shared,
    },
}

/// What is made of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// Its JSON text.
    ToJson,
    /// Its base64 text.
    ToBase64,
    /// The text behind a base64 text.
    FromBase64,
    /// A secret.
    Secret,
    /// The value of a secret, shown.
    Unsecret,
    /// The text of a file.
    ReadFile,
    /// The base64 text of a file.
    FileBase64,
    /// The base64 text of a file's SHA-256.
    FileBase64Sha256,
    /// The SHA-1 of a text, hex.
    Sha1,
    /// How many elements, members or characters it has.
    Length,
    /// The only element of a list, or nothing.
    SingleOrNone,
    /// The name of a resource.
    ResourceName,
    /// The type of a resource.
    ResourceType,
}

impl Unary {
    /// The function's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToJson => "fn::toJSON",
            Self::ToBase64 => "fn::toBase64",
            Self::FromBase64 => "fn::fromBase64",
            Self::Secret => "fn::secret",
            Self::Unsecret => "fn::unsecret",
            Self::ReadFile => "fn::readFile",
            Self::FileBase64 => "fn::filebase64",
            Self::FileBase64Sha256 => "fn::filebase64sha256",
            Self::Sha1 => "fn::sha1",
            Self::Length => "fn::length",
            Self::SingleOrNone => "fn::singleOrNone",
            Self::ResourceName => "fn::pulumiResourceName",
            Self::ResourceType => "fn::pulumiResourceType",
        }
    }

    const ALL: [Self; 13] = [
        Self::ToJson,
        Self::ToBase64,
        Self::FromBase64,
        Self::Secret,
        Self::Unsecret,
        Self::ReadFile,
        Self::FileBase64,
        Self::FileBase64Sha256,
        Self::Sha1,
        Self::Length,
        Self::SingleOrNone,
        Self::ResourceName,
        Self::ResourceType,
    ];
}

/// Where an asset's content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetKind {
    /// In the program.
    Text,
    /// In a file.
    File,
    /// Behind a URI.
    Remote,
}

/// Where an archive's content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveKind {
    /// In a folder or an archive file.
    File,
    /// Behind a URI.
    Remote,
}

/// A call of a provider's function.
#[derive(Debug, Clone, PartialEq)]
pub struct Invoke {
    /// The place of the whole call.
    pub span: Span,
    /// The function's token.
    pub token: Text,
    /// Its arguments, an object.
    pub arguments: Option<Shared>,
    /// How it is called.
    pub options: InvokeOptions,
    /// The member of the result that is wanted.
    pub returns: Option<Text>,
}

/// How a function is called.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InvokeOptions {
    /// What must be there before.
    pub depends_on: Option<Shared>,
    /// The resource whose providers are used.
    pub parent: Option<Shared>,
    /// The provider.
    pub provider: Option<Shared>,
    /// The version of the plugin.
    pub version: Option<Text>,
    /// Where the plugin comes from.
    pub plugin_download_url: Option<Text>,
}

const INVOKE_OPTIONS: [&str; 5] = ["dependsOn", "parent", "provider", "version", "pluginDownloadURL"];

impl Function {
    /// Every expression that it is called with.
    pub(crate) fn arguments(&self) -> Vec<&Shared> {
        match self {
            Self::Invoke(invoke) => {
                let options = &invoke.options;
                [&invoke.arguments, &options.parent, &options.provider, &options.depends_on]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            Self::Join { delimiter: first, values: second }
            | Self::Split { delimiter: first, source: second }
            | Self::Select { index: first, values: second } => vec![first, second],
            Self::Unary(_, value) | Self::Asset(_, value) | Self::Archive(_, value) => vec![value],
            Self::AssetArchive(members) => members.iter().map(|(_, value)| value).collect(),
            Self::StackReference { property, .. } => vec![property],
        }
    }

    /// Whether it makes an asset or an archive.
    fn makes_asset(&self) -> bool {
        matches!(self, Self::Asset(..) | Self::Archive(..) | Self::AssetArchive(_))
    }
}

/// What a name stands for.
enum Named {
    Invoke,
    Join,
    Split,
    Select,
    AssetArchive,
    StackReference,
    Unary(Unary),
    Asset(AssetKind),
    Archive(ArchiveKind),
}

/// Every function with how it is written.
fn known() -> impl Iterator<Item = (&'static str, Named)> {
    [
        ("fn::invoke", Named::Invoke),
        ("fn::join", Named::Join),
        ("fn::split", Named::Split),
        ("fn::select", Named::Select),
        ("fn::assetArchive", Named::AssetArchive),
        ("fn::stackReference", Named::StackReference),
        ("fn::stringAsset", Named::Asset(AssetKind::Text)),
        ("fn::fileAsset", Named::Asset(AssetKind::File)),
        ("fn::remoteAsset", Named::Asset(AssetKind::Remote)),
        ("fn::fileArchive", Named::Archive(ArchiveKind::File)),
        ("fn::remoteArchive", Named::Archive(ArchiveKind::Remote)),
    ]
    .into_iter()
    .chain(Unary::ALL.into_iter().map(|unary| (unary.name(), Named::Unary(unary))))
}

/// The function that an object is a call of, if it is one.
pub(super) fn read(node: &Node, entries: &[Entry], diagnostics: &mut Diagnostics) -> Option<Function> {
    let is_function =
        |entry: &&Entry| entry.key.value.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("fn::"));
    let entry = entries.iter().find(is_function)?;
    let name = entry.key.as_str();
    let found = known().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let is_asset = matches!(found, Some((_, Named::Asset(_) | Named::Archive(_))));
    if entries.len() != 1 {
        if is_asset {
            diagnostics.error(node.span, format!("{name} must have its own object"));
        }
        return None;
    }
    let Some((written, named)) = found else { return other(node, entry, diagnostics) };
    record::casing(&entry.key, written, diagnostics);
    let span = entry.key.span;
    match named {
        Named::Invoke => invoke(node.span, &entry.value, diagnostics),
        Named::Join => pair(written, &entry.value, diagnostics)
            .map(|(delimiter, values)| Function::Join { delimiter, values }),
        Named::Split => pair(written, &entry.value, diagnostics)
            .map(|(delimiter, source)| Function::Split { delimiter, source }),
        Named::Select => {
            pair(written, &entry.value, diagnostics).map(|(index, values)| Function::Select { index, values })
        }
        Named::AssetArchive => asset_archive(&entry.value, diagnostics),
        Named::StackReference => {
            diagnostics.push(
                Diagnostic::warning(span, "'fn::stackReference' is deprecated")
                    .detail("use a resource of type `pulumi:pulumi:StackReference`"),
            );
            stack_reference(&entry.value, diagnostics)
        }
        Named::Unary(unary) => Some(Function::Unary(unary, expression::read(&entry.value, diagnostics))),
        Named::Asset(kind) => Some(Function::Asset(kind, expression::read(&entry.value, diagnostics))),
        Named::Archive(kind) => Some(Function::Archive(kind, expression::read(&entry.value, diagnostics))),
    }
}

/// `fn::package:module:function` is a call too; anything else with the prefix is an object.
fn other(node: &Node, entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Function> {
    let name = entry.key.as_str();
    let token = &name[4..];
    let parts: Vec<&str> = token.split(':').collect();
    if matches!(parts.len(), 2 | 3) && parts.iter().all(|part| !part.is_empty()) {
        let arguments =
            matches!(entry.value.kind, Kind::Map(_)).then(|| plain_object(&entry.value, diagnostics));
        return Some(Function::Invoke(Invoke {
            span: node.span,
            token: Text { value: token.into(), span: entry.key.span },
            arguments,
            options: InvokeOptions::default(),
            returns: None,
        }));
    }
    let names: Vec<&str> = known().map(|(name, _)| name).collect();
    diagnostics.push(
        Diagnostic::warning(
            entry.key.span,
            format!("`{name}` is no function, and 'fn::' is a reserved prefix"),
        )
        .detail(suggest::hint(name, "functions", names.iter().copied())),
    );
    None
}

fn pair(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<(Shared, Shared)> {
    match &node.kind {
        Kind::List(items) if items.len() == 2 => {
            Some((expression::read(&items[0], diagnostics), expression::read(&items[1], diagnostics)))
        }
        _ => {
            diagnostics.error(node.span, format!("the argument to {name} must be a two-valued list"));
            None
        }
    }
}

/// Arguments, which are an object whatever names are in it.
fn plain_object(node: &Node, diagnostics: &mut Diagnostics) -> Shared {
    expression::read(node, diagnostics)
}

fn invoke(span: Span, node: &Node, diagnostics: &mut Diagnostics) -> Option<Function> {
    const FIELDS: [&str; 4] = ["function", "arguments", "options", "return"];
    if node.entries().is_none() {
        diagnostics.error(
            node.span,
            "the argument to fn::invoke must be an object containing 'function', 'arguments', 'options', and 'return'",
        );
        return None;
    }
    let fields = Record::read("fn::invoke", node, &FIELDS, diagnostics)?;
    let before = diagnostics.iter().count();
    let token = match fields.get("function") {
        None => {
            diagnostics.error(node.span, "missing function name ('function')");
            None
        }
        Some(node) => record::text("function", node, diagnostics),
    };
    let arguments = fields.get("arguments").map(|node| {
        let arguments = plain_object(node, diagnostics);
        if !matches!(arguments.form, Form::Object(_)) {
            diagnostics.error(node.span, "function arguments ('arguments') must be an object");
        }
        arguments
    });
    let returns = fields.get("return").and_then(|node| record::text("return", node, diagnostics));
    let options = fields.get("options").map(|node| invoke_options(node, diagnostics)).unwrap_or_default();
    let failed = diagnostics.iter().skip(before).any(|d| d.severity == crate::diagnostics::Severity::Error);
    (!failed).then_some(())?;
    Some(Function::Invoke(Invoke { span, token: token?, arguments, options, returns }))
}

fn invoke_options(node: &Node, diagnostics: &mut Diagnostics) -> InvokeOptions {
    let Some(fields) = Record::read("invokeOptions", node, &INVOKE_OPTIONS, diagnostics) else {
        return InvokeOptions::default();
    };
    let mut value = |name| fields.get(name).map(|node| expression::read(node, diagnostics));
    let (depends_on, parent, provider) = (value("dependsOn"), value("parent"), value("provider"));
    let mut text = |name| fields.get(name).and_then(|node| record::text(name, node, diagnostics));
    let (version, plugin_download_url) = (text("version"), text("pluginDownloadURL"));
    InvokeOptions { depends_on, parent, provider, version, plugin_download_url }
}

fn asset_archive(node: &Node, diagnostics: &mut Diagnostics) -> Option<Function> {
    let Some(entries) = node.entries() else {
        diagnostics.error(node.span, "the argument to fn::assetArchive must be an object");
        return None;
    };
    let mut members = Vec::new();
    for entry in entries {
        let Form::String(name) = expression::text(&entry.key.value, entry.key.span, diagnostics) else {
            let problem = "keys in fn::assetArchive arguments must be string literals";
            diagnostics.error(entry.key.span, problem);
            continue;
        };
        let value = expression::read(&entry.value, diagnostics);
        match &value.form {
            Form::Call(function) if function.makes_asset() => {
                members.push((name, value));
            }
            _ => {
                let what = value.describe();
                diagnostics.error(value.span, format!("value must be an asset or an archive, not {what}"));
            }
        }
    }
    Some(Function::AssetArchive(members))
}

fn stack_reference(node: &Node, diagnostics: &mut Diagnostics) -> Option<Function> {
    let (stack, property) = pair("fn::stackReference", node, diagnostics)?;
    let Expression { span, form: Form::String(value) } = stack.as_ref() else {
        diagnostics.error(stack.span, "the first argument to fn::stackReference must be a string literal");
        return None;
    };
    Some(Function::StackReference { stack: Text { value: Arc::clone(value), span: *span }, property })
}
