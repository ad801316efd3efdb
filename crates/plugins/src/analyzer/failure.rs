//! Why a policy pack cannot be asked, or has not answered.

use crate::provider::failure::lost;
use crate::provider::unanswered::{Gone, Whom};
use crate::wire::WireError;
use std::error::Error;
use tonic::Status;

/// Why a policy pack cannot be asked, or has not answered.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A call failed, or its answer makes no sense.
    #[error("{0}")]
    Call(String),
    /// Something cannot be sent to it.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It takes no settings.
    #[error("the policy pack \"{pack}\" takes no settings")]
    NotConfigurable {
        /// The pack.
        pack: String,
    },
    /// Its settings are not what it says they are.
    #[error("the settings of the policy pack \"{pack}\" are not right")]
    Settings {
        /// The pack.
        pack: String,
        /// What is wrong, by policy.
        problems: Vec<String>,
    },
}

/// What went wrong, in the pack's own words where it has any.
pub(super) fn describe(status: &Status, whom: Whom<'_>) -> String {
    let message = status.message();
    if let Some(gone) = status.source().and_then(|source| source.downcast_ref::<Gone>()) {
        format!("{whom} {gone}")
    } else if lost(status) {
        format!("{whom} ended or stopped answering ({message})")
    } else if message.is_empty() {
        format!("{whom} failed: {}", status.code().description())
    } else {
        message.to_owned()
    }
}
