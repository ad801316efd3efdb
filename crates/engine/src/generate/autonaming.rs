//! How generated names are formed: the `pulumi:autonaming` setting.

use crate::Autonaming;
use crate::deployment::Deployment;
use drystone_model::Urn;

/// A naming rule for one resource.
pub(crate) struct Naming {
    pub(crate) autonaming: Option<Autonaming>,
    /// Whether the name has nothing random in it, so that two resources cannot have it side by side.
    pub(crate) fixed: bool,
}

impl Deployment {
    /// The naming rule for a resource.
    pub(crate) fn naming(&self, urn: &Urn, seed: &[u8]) -> Result<Naming, String> {
        let _ = (urn, seed);
        Ok(Naming { autonaming: None, fixed: false })
    }
}
