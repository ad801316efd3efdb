//! What packages of a language say of the plugins that they need.

use crate::proto::pulumirpc::{PackageDependency, PackageParameterization};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;

/// What an SDK says of its plugin: a `pulumi` section, or a file of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PluginNote {
    /// Whether it has one at all.
    pub(super) resource: bool,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) server: String,
    pub(super) parameterization: Option<ParameterNote>,
    pub(super) extension_parameterization: Option<ParameterNote>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ParameterNote {
    name: String,
    version: String,
    /// Base64.
    value: String,
}

impl PluginNote {
    /// The plugin, named and versioned like this where the note does not say.
    pub(super) fn dependency(self, name: &str, version: &str) -> PackageDependency {
        let either = |said: String, else_: &str| if said.is_empty() { else_.to_owned() } else { said };
        let version = either(self.version, version);
        PackageDependency {
            name: either(self.name, name),
            kind: "resource".to_owned(),
            version: if version.starts_with('v') { version } else { format!("v{version}") },
            server: self.server,
            parameterization: self.parameterization.and_then(ParameterNote::read),
            extension: self.extension_parameterization.and_then(ParameterNote::read),
            ..PackageDependency::default()
        }
    }
}

impl ParameterNote {
    fn read(self) -> Option<PackageParameterization> {
        let value = STANDARD.decode(self.value).ok()?;
        Some(PackageParameterization { name: self.name, version: self.version, value })
    }
}
