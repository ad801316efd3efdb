//! What a user asks to take over, without a program.

use super::provider::{PackageDescriptor, Parameterization};
use super::state::PropertyMap;
use drystone_model::Urn;

/// One resource to take over.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: Imported,
    /// Its parent, or empty for the stack.
    pub parent: Urn,
    /// The provider to use, or empty for the default one.
    pub provider: Urn,
    /// The package and plugin of its provider.
    pub package: PackageDescriptor,
    /// An extension of that package which it needs.
    pub extension: Option<Parameterization>,
    /// What the provider named above is configured with, where the stack does not have it yet.
    pub provider_inputs: PropertyMap,
    /// Inputs that its provider cannot tell; for a provider, its configuration.
    pub inputs: PropertyMap,
    /// Whether it is protected from then on.
    pub protect: bool,
}

/// What is taken over.
#[derive(Debug, Clone, PartialEq)]
pub enum Imported {
    /// Something that exists under an id.
    Resource {
        /// Its id.
        id: String,
        /// Its whole state, where it is known: then its provider is not asked.
        outputs: PropertyMap,
    },
    /// A component, which is only a name.
    Component {
        /// Whether a provider constructs it.
        remote: bool,
    },
    /// A provider, which is made of its configuration.
    Provider,
}

impl Default for Imported {
    fn default() -> Self {
        Self::Component { remote: false }
    }
}
