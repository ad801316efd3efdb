//! Why a request is not answered.

use crate::wire::{WireError, assets::AssetError};
use drystone_engine::{MonitorError, MonitorErrorKind, ProviderError};
use drystone_model::UrnError;
use std::fmt::Display;
use tonic::{Code, Status};

/// Why a request is not answered: a gRPC status that is small enough to pass around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Refusal {
    /// The request itself is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { code: Code::InvalidArgument, message: message.into() }
    }

    /// A URN in the request is none.
    pub(crate) fn urn(what: impl Display, error: &UrnError) -> Self {
        Self::invalid(format!("invalid {what} URN: {error}"))
    }

    /// Nobody answers now.
    pub(crate) fn nobody() -> Self {
        Self { code: Code::Unavailable, message: "the resource monitor is not running".to_owned() }
    }
}

impl From<WireError> for Refusal {
    fn from(error: WireError) -> Self {
        Self { code: Code::Unknown, message: error.to_string() }
    }
}

impl From<AssetError> for Refusal {
    fn from(error: AssetError) -> Self {
        Self { code: Code::Unknown, message: error.to_string() }
    }
}

impl From<ProviderError> for Refusal {
    fn from(error: ProviderError) -> Self {
        Self { code: Code::Unknown, message: error.message }
    }
}

impl From<MonitorError> for Refusal {
    /// SDKs end quietly when the monitor is unavailable, and show the message of anything else.
    fn from(error: MonitorError) -> Self {
        let code = match error.kind {
            MonitorErrorKind::Invalid | MonitorErrorKind::Reported => Code::Unknown,
            MonitorErrorKind::Closing => Code::Unavailable,
            MonitorErrorKind::Unimplemented => Code::Unimplemented,
        };
        Self { code, message: error.message }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.message)
    }
}
