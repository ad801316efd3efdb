//! What a converter answers.

use super::ConverterError;
use crate::proto::pulumirpc as rpc;
use crate::wire::{Decoding, Properties, Struct};
use rpc::codegen::{Diagnostic, DiagnosticSeverity, Range};

/// What another system has made, as far as a converter can tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversion {
    /// What can be taken over.
    pub resources: Vec<Converted>,
    /// What it says of the rest.
    pub remarks: Vec<Remark>,
}

/// Something that exists. Parents and providers are named as in the same conversion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    /// Its type.
    pub type_token: String,
    /// What the list calls it.
    pub name: String,
    /// What the provider knows it by.
    pub id: String,
    /// The version of its package, or empty.
    pub version: String,
    /// Where its plugin is downloaded from, or empty.
    pub download_url: String,
    /// What the stack calls it, where that is another name.
    pub logical_name: String,
    /// Whether it is a component.
    pub component: bool,
    /// Whether it is one that a provider constructs.
    pub remote: bool,
    /// The plugin that its package is made of.
    pub parameterization: Option<BasePlugin>,
    /// What its plugin is extended by.
    pub extension: Option<Extension>,
    /// The name of its parent, or empty.
    pub parent: String,
    /// The inputs that its code shows.
    pub properties: Vec<String>,
    /// The name of its provider, or empty.
    pub provider: String,
    /// Inputs that cannot be read, or the configuration of a provider.
    pub inputs: Option<Properties>,
    /// Its state, where it need not be read.
    pub outputs: Option<Properties>,
}

/// The plugin that a package is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BasePlugin {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// What makes it the package.
    pub value: Vec<u8>,
}

/// What a plugin is extended by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extension {
    /// The extension's name.
    pub name: String,
    /// The extension's version.
    pub version: String,
    /// What it is.
    pub value: Vec<u8>,
}

/// Something that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Whether nothing can be taken over because of it.
    pub fatal: bool,
    /// What and, where it is known, in which place.
    pub text: String,
}

impl Conversion {
    pub(super) fn read(answer: rpc::ConvertStateResponse) -> Result<Self, ConverterError> {
        let resources = answer.resources.into_iter().map(converted).collect::<Result<_, _>>()?;
        Ok(Self { resources, remarks: answer.diagnostics.into_iter().map(remark).collect() })
    }

    /// Whether nothing can be taken over.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.remarks.iter().any(|remark| remark.fatal)
    }
}

fn converted(resource: rpc::ResourceImport) -> Result<Converted, ConverterError> {
    let read = |properties: Option<Struct>, what: &str| {
        let read = properties.map(|properties| Decoding::default().properties(&properties)).transpose();
        read.map_err(|error| {
            ConverterError::Senseless(format!("the {what} of resource \"{}\": {error}", resource.name))
        })
    };
    Ok(Converted {
        inputs: read(resource.inputs, "inputs")?,
        outputs: read(resource.outputs, "outputs")?,
        type_token: resource.r#type,
        id: resource.id,
        version: resource.version,
        download_url: resource.plugin_download_url,
        logical_name: resource.logical_name,
        component: resource.is_component,
        remote: resource.is_remote,
        parameterization: resource.parameterization.map(|base| BasePlugin {
            name: base.plugin_name,
            version: base.plugin_version,
            value: base.value,
        }),
        extension: resource.extension.map(|extension| Extension {
            name: extension.name,
            version: extension.version,
            value: extension.value,
        }),
        parent: resource.parent,
        properties: resource.properties,
        provider: resource.provider,
        name: resource.name,
    })
}

/// `file:line,column-column: summary; detail`, as far as it is known.
pub(crate) fn remark(diagnostic: Diagnostic) -> Remark {
    let fatal = diagnostic.severity() == DiagnosticSeverity::DiagError;
    let place = diagnostic.subject.as_ref().map(place).unwrap_or_default();
    let texts = [diagnostic.summary, diagnostic.detail];
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    Remark { fatal, text: format!("{place}{}", texts.join("; ")) }
}

fn place(range: &Range) -> String {
    let (start, end) = (range.start.unwrap_or_default(), range.end.unwrap_or_default());
    let columns = if start.line == end.line && end.column > start.column {
        format!("{}-{}", start.column, end.column)
    } else {
        start.column.to_string()
    };
    format!("{}:{},{columns}: ", range.filename, start.line)
}
