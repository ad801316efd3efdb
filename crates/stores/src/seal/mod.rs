//! Everything of a backend sealed at rest (S19): checkpoints, history, backups, journals, revisions, the trash.
//!
//! A [`Sealing`] stands between the formats and the medium. What is written goes into an envelope of version 2, which is
//! bound to its [place](place::place_of): the stack, what the document is, and which. So nothing opens under another
//! stack's name, as another revision or as another part of a journal. What must stay readable for others is not sealed:
//! the layout's `meta.yaml`, lock files and leases, which hold no state.
//!
//! An envelope is a document of Pulumi's, too, of a version that it knows with a feature that nobody has. So the stock
//! CLI refuses a sealed checkpoint by that name instead of taking it for an empty one. `meta.yaml` says that the backend
//! is sealed; whoever opens it without the key is refused before anything is read or written.

mod append;
mod disk;
mod place;
mod resealing;

pub(crate) use disk::SealedDisk;
pub(crate) use place::place_of;
pub use resealing::Resealed;
pub(crate) use resealing::{Documents, refuse_legacy, reseal};

use drystone_dialects::unobin::{Envelope, Number, Ref, Value};
use drystone_secrets::envelope::{self, BOUND_VERSION, Encrypter, Place};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::sync::Arc;

/// The feature that sealed documents name, for tools that know features and not this one.
pub const FEATURE: &str = "sealed-by-drystone";

/// How every sealed document begins.
const BEGINNING: &[u8] = b"{\n  \"envelope-version\": 2,";
/// How every sealed document ends; it stands nowhere in between.
const END: &[u8] = b"\n}\n";

/// What seals a backend.
#[derive(Debug, Clone)]
pub struct Sealing {
    /// What new documents are sealed with; nothing while a backend is being unsealed.
    encrypter: Option<Arc<dyn Encrypter>>,
    /// What else documents may be sealed with.
    others: Vec<Arc<dyn Encrypter>>,
    /// Whether documents may be clear.
    clear: Clear,
}

/// Whether documents may be clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clear {
    /// One that is was put there by somebody without the key.
    Refused,
    /// They are on the way to being sealed, or from it.
    Accepted,
}

impl Sealing {
    /// A backend in which everything is sealed with this.
    #[must_use]
    pub fn with(encrypter: Arc<dyn Encrypter>) -> Self {
        Self { encrypter: Some(encrypter), others: Vec::new(), clear: Clear::Refused }
    }

    /// A backend that is on its way to being sealed with this, from no sealing.
    #[must_use]
    pub fn beginning(encrypter: Arc<dyn Encrypter>) -> Self {
        Self { clear: Clear::Accepted, ..Self::with(encrypter) }
    }

    /// A backend that is on its way from one encrypter to another.
    #[must_use]
    pub fn changing(from: Arc<dyn Encrypter>, to: Arc<dyn Encrypter>) -> Self {
        Self { others: vec![from], ..Self::with(to) }
    }

    /// A backend that is on its way to no sealing.
    #[must_use]
    pub fn ending(from: Arc<dyn Encrypter>) -> Self {
        Self { encrypter: None, others: vec![from], clear: Clear::Accepted }
    }

    /// How `meta.yaml` tells of it; `None` when nothing is sealed any more.
    pub(crate) fn description(&self) -> Option<String> {
        self.encrypter.as_ref().map(|encrypter| described(&encrypter.describe()))
    }

    /// Whether it is a way from one form to another, on which both are met.
    pub(crate) fn is_under_way(&self) -> bool {
        self.clear == Clear::Accepted || !self.others.is_empty()
    }

    /// Whether a document is as new ones are.
    pub(crate) fn is_in_form(&self, content: &[u8]) -> bool {
        match (&self.encrypter, is_sealed(content)) {
            (None, is_sealed) => !is_sealed,
            (Some(_), false) => false,
            (Some(encrypter), true) => {
                first(content).is_some_and(|one| one.encrypter == Some(encrypter.describe()))
            }
        }
    }

    /// Seals a document for its place.
    pub(crate) fn seal(&self, place: &Place, body: &[u8]) -> io::Result<Vec<u8>> {
        let Some(encrypter) = &self.encrypter else { return Ok(body.to_vec()) };
        let members = vec![
            ("version".to_owned(), Value::Number(Number::from(4))),
            ("features".to_owned(), Value::Array(vec![Value::String(FEATURE.to_owned())])),
            // Without a body the stock CLI fails on that, before it looks at the features.
            ("checkpoint".to_owned(), Value::Object(BTreeMap::new())),
        ];
        envelope::seal_bound(body, place, members, &**encrypter).map_err(|error| refused(&error))
    }

    /// Opens a document in its place.
    pub(crate) fn open(&self, place: &Place, content: &[u8]) -> io::Result<Vec<u8>> {
        if !is_sealed(content) {
            return match self.clear {
                Clear::Accepted => Ok(content.to_vec()),
                Clear::Refused => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "it is not sealed, as everything in this backend should be",
                )),
            };
        }
        let said = first(content).and_then(|one| one.encrypter);
        let known = self.encrypter.iter().chain(&self.others);
        // The envelope vouches for nothing: what it says only chooses among those that were configured.
        let chosen = known
            .clone()
            .find(|encrypter| said.as_ref() == Some(&encrypter.describe()))
            .or_else(|| known.clone().next());
        let Some(chosen) = chosen else { return Err(io::Error::other("there is no key to open it with")) };
        let opened = envelope::open(content, Some(place), |_| Ok(Arc::clone(chosen)));
        let opened = opened.map_err(|error| match &said {
            Some(said) if *said != chosen.describe() => io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{error} (sealed with {})", described(said)),
            ),
            _ => refused(&error),
        })?;
        if opened.bound {
            Ok(opened.body.as_bytes().to_vec())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is sealed for no place"))
        }
    }
}

/// Whether a document is in an envelope of ours.
pub(crate) fn is_sealed(content: &[u8]) -> bool {
    content.starts_with(BEGINNING)
}

/// The first envelope of a document, if it is whole.
fn first(content: &[u8]) -> Option<Envelope> {
    let (envelope, _) = split(content)?;
    Envelope::decode(envelope).ok().filter(|envelope| envelope.version == BOUND_VERSION)
}

/// The first whole envelope of several, and the rest.
fn split(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = content.windows(END.len()).position(|window| window == END)?;
    Some(content.split_at(at + END.len()))
}

/// An encrypter in one line, as in `env-key env-var STATE_KEY`.
fn described(reference: &Ref) -> String {
    let mut text = reference.name.clone();
    for (name, value) in &reference.body {
        // Writing to a text does not fail.
        let _ = write!(text, " {name} {}", value.as_str().unwrap_or("…"));
    }
    text
}

fn refused(error: &envelope::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
