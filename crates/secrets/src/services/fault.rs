//! What can go wrong with a key service. No message quotes a key or a credential (S17).

use super::DataKey;
use std::fmt;
use std::sync::Arc;

/// The services that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyServiceName {
    /// `awskms://`
    AwsKms,
    /// `gcpkms://`
    GoogleKms,
    /// `azurekeyvault://`
    AzureKeyVault,
    /// `hashivault://`
    Vault,
}

impl KeyServiceName {
    /// The service of a URL's scheme.
    #[must_use]
    pub fn of_scheme(scheme: &str) -> Option<Self> {
        Some(match scheme {
            "awskms" => Self::AwsKms,
            "gcpkms" => Self::GoogleKms,
            "azurekeyvault" => Self::AzureKeyVault,
            "hashivault" => Self::Vault,
            _ => return None,
        })
    }
}

impl fmt::Display for KeyServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AwsKms => "AWS KMS",
            Self::GoogleKms => "Google Cloud KMS",
            Self::AzureKeyVault => "Azure Key Vault",
            Self::Vault => "Vault",
        })
    }
}

/// What a service was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Sealing a new data key.
    Wrap,
    /// Opening the data key of a stack.
    Unwrap,
}

impl fmt::Display for KeyAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wrap => "seal",
            Self::Unwrap => "open",
        })
    }
}

/// A service did not do what it was asked for.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {action} the data key with {url}: {fault}")]
pub struct KeyServiceError {
    /// The service, when the URL names one.
    pub service: Option<KeyServiceName>,
    /// The key, as the user named it.
    pub url: String,
    /// What was asked for.
    pub action: KeyAction,
    /// Why it was not done.
    pub fault: KeyServiceFault,
}

impl KeyServiceError {
    pub(super) fn new(url: &str, action: KeyAction, fault: KeyServiceFault) -> Arc<Self> {
        let service = url.split_once("://").and_then(|(scheme, _)| KeyServiceName::of_scheme(scheme));
        Arc::new(Self { service, url: url.to_owned(), action, fault })
    }
}

/// Why a service did not seal or open.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KeyServiceFault {
    /// The URL, or a variable that goes with it, does not say enough.
    #[error("{0}")]
    Address(String),
    /// There are no credentials, or they could not be had.
    #[error("no credentials: {0}")]
    NoCredentials(String),
    /// The credentials are no longer valid.
    #[error("the credentials have expired: {0}")]
    Expired(String),
    /// The service knows who asks and says no.
    #[error("access denied: {0}")]
    Denied(String),
    /// There is no such key.
    #[error("no such key: {0}")]
    NoKey(String),
    /// The key is disabled, about to be deleted, or for something else.
    #[error("the key cannot be used: {0}")]
    Unusable(String),
    /// The data key was sealed with another key, or changed since.
    #[error("the data key was not sealed with this key: {0}")]
    OtherKey(String),
    /// The service cannot be reached, or does not answer in time.
    #[error("no answer from {host}: {reason}")]
    Silent {
        /// Where it was asked.
        host: String,
        /// What the network said.
        reason: String,
    },
    /// The service is there and not well, or refuses for a reason that is not known here.
    #[error("{host} answered {status}: {message}")]
    Refused {
        /// Where it was asked.
        host: String,
        /// The status of its answer.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The answer is not what the service answers.
    #[error("{host} gave an answer that is not understood: {reason}")]
    Garbage {
        /// Where it was asked.
        host: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A stored data key is not in its form.
    #[error("the stored data key is malformed: {0}")]
    Malformed(&'static str),
}

/// The longest message of a service that is passed on.
const LONGEST_MESSAGE: usize = 400;

/// What a service said, fit for one line. A server that repeats the key it was given is not quoted.
pub(super) fn told(text: &str, key: Option<&DataKey>) -> String {
    if key.is_some_and(|key| key.is_quoted_in(text)) {
        return "(its words repeat what it was sent and are left out)".to_owned();
    }
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "(it says no more)".to_owned();
    }
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
