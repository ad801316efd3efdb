//! What a provider's errors mean.

use super::unanswered::Gone;
use crate::proto::{pulumirpc as rpc, rpc::Status as Details};
use drystone_engine::{ProviderError, ProviderErrorKind};
use prost::Message;
use std::error::Error;
use tonic::{Code, Status};

/// What went wrong, in the provider's own words where it has any.
pub(super) fn describe(status: &Status, name: &str) -> ProviderError {
    let kind = kind(status);
    let mut message = status.message().to_owned();
    if let Some(cause) = details::<rpc::ErrorCause>(status, "pulumirpc.ErrorCause").into_iter().next() {
        message = format!("{message}: {}", cause.message);
    }
    if let Some(gone) = status.source().and_then(|source| source.downcast_ref::<Gone>()) {
        message = format!("the provider '{name}' {gone}");
    } else if lost(status) {
        message = format!("the provider '{name}' ended or stopped answering ({message})");
    } else if message.is_empty() {
        message = status.code().description().to_owned();
    }
    for refused in details::<rpc::InputPropertiesError>(status, "pulumirpc.InputPropertiesError") {
        for error in refused.errors {
            message.push_str(&format!("\n  {}: {}", error.property_path, error.reason));
        }
    }
    ProviderError { kind, message }
}

/// What went wrong when the provider was configured; names the settings that it missed.
pub(super) fn describe_configure(status: &Status, name: &str) -> ProviderError {
    let missing: Vec<String> = details::<rpc::ConfigureErrorMissingKeys>(
        status,
        "pulumirpc.ConfigureErrorMissingKeys",
    )
    .into_iter()
    .flat_map(|missing| missing.missing_keys)
    .map(|key| {
        format!(
            "missing required configuration key \"{name}\": {}\nSet a value using the command `pulumi config \
                 set {name} <value>`.",
            key.description,
            name = key.name
        )
    })
    .collect();
    if missing.is_empty() { describe(status, name) } else { ProviderError::new(missing.join("\n")) }
}

/// The state of a resource that exists but is not ready, if the error says so.
pub(super) fn init_failed(status: &Status) -> Option<rpc::ErrorResourceInitFailed> {
    details::<rpc::ErrorResourceInitFailed>(status, "pulumirpc.ErrorResourceInitFailed").into_iter().next()
}

/// Why a resource is not ready, never empty.
pub(super) fn reasons(failed: &mut rpc::ErrorResourceInitFailed) -> Vec<String> {
    let reasons = std::mem::take(&mut failed.reasons);
    if reasons.is_empty() { vec!["resource init failed".to_owned()] } else { reasons }
}

/// An answer that makes no sense: whether anything was done is not known.
pub(super) fn senseless(what: impl std::fmt::Display) -> ProviderError {
    ProviderError::unknown(format!("the provider's answer makes no sense: {what}"))
}

fn kind(status: &Status) -> ProviderErrorKind {
    match status.code() {
        Code::Unimplemented => ProviderErrorKind::Unimplemented,
        _ if lost(status) => ProviderErrorKind::Unknown,
        Code::DeadlineExceeded | Code::DataLoss => ProviderErrorKind::Unknown,
        // The answer came but is no message.
        Code::Internal if status.message().starts_with("failed to decode Protobuf message") => {
            ProviderErrorKind::Unknown
        }
        Code::Internal | Code::Unknown => ProviderErrorKind::Broken,
        _ => ProviderErrorKind::Refused,
    }
}

/// Whether the connection broke, rather than the provider having answered.
pub(crate) fn lost(status: &Status) -> bool {
    status.source().is_some() || status.code() == Code::Unavailable
}

/// The details of one kind that an error carries.
fn details<M: Message + Default>(status: &Status, name: &str) -> Vec<M> {
    let Ok(decoded) = Details::decode(status.details()) else { return Vec::new() };
    decoded
        .details
        .iter()
        .filter(|detail| detail.type_url.rsplit('/').next() == Some(name))
        .filter_map(|detail| M::decode(&*detail.value).ok())
        .collect()
}
