//! What is looked for.

use semver::Version;
use std::fmt;

/// What a plugin is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Providers of resources.
    Resource,
    /// Languages.
    Language,
    /// Policies.
    Analyzer,
    /// Conversions from other systems.
    Converter,
    /// Anything else.
    Tool,
}

impl Kind {
    /// The kind as it stands in the names of files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Language => "language",
            Self::Analyzer => "analyzer",
            Self::Converter => "converter",
            Self::Tool => "tool",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let kinds = [Self::Resource, Self::Language, Self::Analyzer, Self::Converter, Self::Tool];
        kinds.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The file that makes a folder of source code a plugin of this kind.
    pub(super) fn project_file(self) -> Option<&'static str> {
        match self {
            Self::Resource | Self::Converter | Self::Tool => Some("PulumiPlugin.yaml"),
            Self::Analyzer => Some("PulumiPolicy.yaml"),
            Self::Language => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A plugin that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// What for.
    pub kind: Kind,
    /// Its name, such as `aws`.
    pub name: String,
    /// The one version that will do, or any.
    pub version: Option<Version>,
}

impl Wanted {
    /// A provider of resources.
    #[must_use]
    pub fn provider(name: &str, version: Option<Version>) -> Self {
        Self { kind: Kind::Resource, name: name.to_owned(), version }
    }

    /// A language.
    #[must_use]
    pub fn language(name: &str) -> Self {
        Self { kind: Kind::Language, name: name.replace('/', "_"), version: None }
    }

    /// The name of its executable, such as `pulumi-resource-aws`.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("pulumi-{}-{}", self.kind, self.name)
    }

    /// Whether the stock CLI ships it beside its executable.
    pub(crate) fn is_bundled(&self) -> bool {
        const LANGUAGES: [&str; 8] = ["nodejs", "bun", "go", "python", "dotnet", "yaml", "java", "pcl"];
        match self.kind {
            Kind::Language => LANGUAGES.contains(&self.name.as_str()),
            Kind::Resource => ["pulumi-nodejs", "pulumi-python"].contains(&self.name.as_str()),
            _ => false,
        }
    }
}
