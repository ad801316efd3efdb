//! Why a policy pack cannot be asked, or has not answered.

use crate::wire::WireError;

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
