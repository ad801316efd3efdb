//! Version 7: which interface a resource was made through, and is managed through for as long as it lives.

use super::super::Resource;
use super::super::words::words;
use super::{Step, nothing};

/// The tool goes on leaving it out of resources that it does not touch.
pub(super) const STEP: Step = Step { version: 7, stack: &[], resource: &["provisionedBy"], upgrade: nothing };

words! {
    /// An interface that resources are managed through.
    pub enum Provisioner {
        /// The service's own.
        Sdk => "sdk",
        /// Cloud Control.
        CloudControl => "cc-api",
    }
}

impl Resource {
    /// The interface that the resource is managed through; the service's own where nothing is said.
    #[must_use]
    pub fn provisioner(&self) -> Provisioner {
        self.provisioned_by.clone().unwrap_or(Provisioner::Sdk)
    }
}
