//! Passphrases and where they come from.

use crate::Error;
use std::ffi::OsString;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The environment variable that holds the passphrase. Set but empty, it is the empty passphrase.
pub const PASSPHRASE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";

/// The environment variable that names a file with the passphrase. Empty, it counts as not set.
pub const FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

/// Looks up an environment variable.
pub type Lookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// A passphrase. Wiped when dropped and never shown by `Debug` (S17).
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// Takes it as it is; white space around it counts.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The passphrase in a file's content: white space around it, such as the last line break, does not count.
    fn from_file(content: &[u8]) -> Self {
        let first = content.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let start = first.len() - first.trim_start().len();
        let last = content.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
        let trailing = last.map_or(0, |chunk| chunk.valid().len() - chunk.valid().trim_end().len());
        let end = content.len() - trailing;
        Self::new(&content[start.min(end)..end])
    }
}

impl Hash for Passphrase {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// What somebody at a terminal is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask<'a> {
    /// The passphrase of secrets that exist.
    Unlock {
        /// The stack, when it is known.
        stack: Option<&'a str>,
        /// How many answers were wrong already.
        wrong: u32,
    },
    /// A passphrase for a new stack. Confirming it is up to who asks.
    Create,
    /// A new passphrase for a stack that has one. Confirming it is up to who asks.
    Rotate,
}

type Prompt = dyn Fn(Ask<'_>) -> std::io::Result<Option<Passphrase>> + Send + Sync;

/// Where passphrases come from: the environment, a file that it names, or somebody at a terminal.
pub struct Passphrases {
    environment: Arc<Lookup>,
    prompt: Option<Box<Prompt>>,
}

/// A passphrase found, and whether another one can be asked for when it is wrong.
pub(crate) struct Found {
    pub(crate) passphrase: Passphrase,
    pub(crate) asked: bool,
}

impl Passphrases {
    /// Reads variables through `environment` and asks nobody.
    pub fn new(environment: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self { environment: Arc::new(environment), prompt: None }
    }

    /// Asks `prompt` when the environment has no passphrase. `None` is no answer.
    #[must_use]
    pub fn with_prompt(
        mut self,
        prompt: impl Fn(Ask<'_>) -> std::io::Result<Option<Passphrase>> + Send + Sync + 'static,
    ) -> Self {
        self.prompt = Some(Box::new(prompt));
        self
    }

    /// The environment that they are looked for in.
    pub(crate) fn environment(&self) -> Arc<Lookup> {
        Arc::clone(&self.environment)
    }

    /// A passphrase for new secrets. Rotating asks even when the environment has one: that is the old one.
    pub fn for_new(&self, rotate: bool) -> Result<Passphrase, Error> {
        if rotate { self.ask(Ask::Rotate) } else { self.find(Ask::Create).map(|found| found.passphrase) }
    }

    /// The first passphrase that a source has.
    pub(crate) fn find(&self, question: Ask<'_>) -> Result<Found, Error> {
        if let Some(passphrase) = (self.environment)(PASSPHRASE_VARIABLE) {
            return Ok(Found { passphrase: Passphrase::new(passphrase.into_encoded_bytes()), asked: false });
        }
        if let Some(path) = (self.environment)(FILE_VARIABLE).filter(|path| !path.is_empty()) {
            return Ok(Found { passphrase: read(path.into())?, asked: false });
        }
        Ok(Found { passphrase: self.ask(question)?, asked: true })
    }

    fn ask(&self, question: Ask<'_>) -> Result<Passphrase, Error> {
        let prompt = self.prompt.as_ref().ok_or(Error::PassphraseMissing)?;
        let answer = prompt(question).map_err(|reason| Error::Prompt { reason: Arc::new(reason) })?;
        answer.ok_or(Error::PassphraseMissing)
    }
}

impl fmt::Debug for Passphrases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrases").field("prompt", &self.prompt.is_some()).finish_non_exhaustive()
    }
}

fn read(path: PathBuf) -> Result<Passphrase, Error> {
    match std::fs::read(&path) {
        Ok(content) => Ok(Passphrase::from_file(&Zeroizing::new(content))),
        Err(reason) => Err(Error::PassphraseFile { path, reason: Arc::new(reason) }),
    }
}
