//! What can go wrong with secrets. No message ever quotes a plaintext, a passphrase or a key (S17).

use crate::KeyServiceError;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What a crypter was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Turning plaintext into ciphertext.
    Encrypt,
    /// Turning ciphertext into plaintext.
    Decrypt,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        })
    }
}

/// Why secrets could not be sealed or opened. [`Error::cause`] gives the variant to branch on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The passphrase does not fit the salt.
    #[error("incorrect passphrase")]
    IncorrectPassphrase,
    /// No passphrase was given, and nobody could be asked.
    #[error(
        "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
    )]
    PassphraseMissing,
    /// The file that should hold the passphrase cannot be read.
    #[error("unable to read PULUMI_CONFIG_PASSPHRASE_FILE: {}: {reason}", path.display())]
    PassphraseFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: Arc<std::io::Error>,
    },
    /// Asking for the passphrase failed.
    #[error("unable to ask for the passphrase: {reason}")]
    Prompt {
        /// What the terminal said.
        reason: Arc<std::io::Error>,
    },
    /// A crypter that cannot be used was used.
    #[error("failed to {action}: {reason}")]
    Locked {
        /// What it was asked to do.
        action: Action,
        /// Why it cannot.
        reason: Box<Error>,
    },
    /// A key service did not seal or open a data key.
    #[error(transparent)]
    KeyService(#[from] Arc<KeyServiceError>),
    /// A known kind of secrets provider that cannot be opened yet.
    #[error("secrets provider `{name}` of kind `{kind}` is not supported yet")]
    Unsupported {
        /// The kind: `service`.
        kind: String,
        /// The service behind it, by its address.
        name: String,
    },
    /// A snapshot names a kind of secrets provider that nobody knows.
    #[error("no known secrets provider for type `{kind}`")]
    UnknownKind {
        /// The kind.
        kind: String,
    },
    /// A user named a secrets provider that nobody knows.
    #[error("unknown secrets provider type '{kind}' (supported values: {supported})")]
    UnknownChoice {
        /// The part before the colon.
        kind: String,
        /// What would have been known.
        supported: String,
    },
    /// There are sealed secrets and nothing that says how to open them.
    #[error("the state holds sealed secrets but names no secrets provider")]
    NoProvider,
    /// The state of a secrets provider, or the salt in the settings, is not in its form.
    #[error("malformed state of the `{kind}` secrets provider: {reason}")]
    MalformedState {
        /// The kind of the provider.
        kind: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A ciphertext is not in its form.
    #[error("malformed ciphertext: {reason}")]
    MalformedCiphertext {
        /// Its position in the batch.
        index: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A ciphertext was changed, or sealed with another key.
    #[error("the ciphertext was changed or sealed with another key")]
    Unauthentic {
        /// Its position in the batch.
        index: usize,
    },
    /// A plaintext is longer than one key may seal at once.
    #[error("the secret is too long")]
    TooLong {
        /// Its position in the batch.
        index: usize,
    },
    /// A plaintext is not UTF-8 where text is needed.
    #[error("the secret is not text")]
    NotText,
    /// A secret in stored JSON has not exactly one of its two forms.
    #[error("malformed secret value: exactly one of `ciphertext` or `plaintext` must be supplied")]
    MalformedSecret,
    /// A document is not JSON.
    #[error("not valid JSON at byte {offset}")]
    NotJson {
        /// Where it stops being JSON.
        offset: usize,
    },
    /// A secret's value cannot be written as text, or its text not read. The codec's own words are left out: they may
    /// quote the secret.
    #[error("the secret's value has no {0} form")]
    Codec(CodecStep),
    /// A crypter answered with more or fewer texts than it was given.
    #[error("the crypter answered {answered} of {asked} texts")]
    BatchLength {
        /// How many it was given.
        asked: usize,
        /// How many came back.
        answered: usize,
    },
    /// The system gave no random bytes.
    #[error("no random bytes: {reason}")]
    Entropy {
        /// What the system said.
        reason: String,
    },
    /// Any of these, with the place of the secret.
    #[error("{place}: {reason}")]
    At {
        /// The resource and property path, as the caller named it.
        place: String,
        /// What happened there.
        reason: Box<Error>,
    },
}

/// Which way a value was going when its codec refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecStep {
    /// From value to text.
    Write,
    /// From text to value.
    Read,
}

impl fmt::Display for CodecStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Write => "written",
            Self::Read => "readable",
        })
    }
}

impl Error {
    /// The innermost error, without its place and without the lock around it.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::At { reason, .. } | Self::Locked { reason, .. } => reason.cause(),
            other => other,
        }
    }

    /// The error with the place of the secret that it is about, when it is about one of a batch.
    pub(crate) fn placed<'a>(self, place: impl FnOnce(usize) -> Option<&'a str>) -> Self {
        let index = match &self {
            Self::MalformedCiphertext { index, .. }
            | Self::Unauthentic { index }
            | Self::TooLong { index } => *index,
            _ => return self,
        };
        match place(index) {
            Some(place) => self.at(place),
            None => self,
        }
    }

    /// The error with the place of the secret that it is about, when it has a name.
    pub(crate) fn at(self, place: &str) -> Self {
        if place.is_empty() { self } else { Self::At { place: place.to_owned(), reason: Box::new(self) } }
    }
}
