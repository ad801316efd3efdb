//! Whole documents, sealed at rest in an envelope that names its encrypter and holds no key (S19).
//!
//! Version 1 is unobin's, byte for byte. It says nothing of where a document belongs: whoever can write to the store can
//! put the snapshot of one stack in the place of another's. Version 2 is ours. It names its place, the stack, the
//! revision and the kind of document, and is sealed with it as associated data, so that it opens nowhere else. unobin
//! refuses it by its number.
//!
//! An envelope is open to all and vouches for nothing: who knows the encrypter of a stack opens with that one, whatever
//! the envelope says. Nothing here falls back to no encryption: `noop` is used when it is asked for by name.

mod encrypter;
mod env_key;
mod error;
mod framed;
mod service_key;

pub use encrypter::{Encrypter, Encrypters, Noop, Source};
pub use env_key::EnvKey;
pub use error::{EncrypterError, Error};

use crate::Plaintext;
use drystone_dialects::unobin::{self, ENVELOPE_VERSION, Envelope, Ref, Value};
use std::fmt;

/// The version of envelopes that are bound to their place.
pub const BOUND_VERSION: i64 = 2;

/// What is in an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadType {
    /// A snapshot.
    State,
    /// A plan.
    Plan,
    /// A journal, or a part of one.
    Journal,
    /// The record of an update.
    History,
}

impl PayloadType {
    /// The word in the envelope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Plan => "plan",
            Self::Journal => "journal",
            Self::History => "history",
        }
    }
}

impl fmt::Display for PayloadType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a document belongs. No two documents of a store have the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The stack, in full: with its project or factory.
    pub stack: String,
    /// The revision.
    pub revision: String,
    /// What the document is.
    pub payload_type: PayloadType,
}

impl Place {
    /// The place as associated data. Each part comes with its length, so that no two places give the same bytes.
    fn associated_data(&self) -> Vec<u8> {
        let mut data = b"drystone envelope 2".to_vec();
        for part in [self.payload_type.as_str(), &self.stack, &self.revision] {
            data.extend_from_slice(&(part.len() as u64).to_be_bytes());
            data.extend_from_slice(part.as_bytes());
        }
        data
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} at {}", self.payload_type, self.stack, self.revision)
    }
}

/// How an envelope is made.
#[derive(Debug, Clone)]
pub enum Form<'a> {
    /// Version 1, which unobin opens, with what it says of its encrypter. A store that knows its encrypter says nothing.
    Shared(Option<Ref>),
    /// Version 2, which opens in this place only.
    Bound(&'a Place),
}

/// Seals a document.
pub fn seal(body: &[u8], form: Form<'_>, encrypter: &dyn Encrypter) -> Result<Vec<u8>, Error> {
    let envelope = match form {
        Form::Shared(reference) => Envelope {
            version: ENVELOPE_VERSION,
            encrypter: reference,
            ciphertext: encrypter.encrypt(body, &[]).map_err(Error::Seal)?,
            ..Envelope::default()
        },
        Form::Bound(place) => return seal_bound(body, place, Vec::new(), encrypter),
    };
    Ok(envelope.encode())
}

/// Seals a document for its place, with members that tell others what they have before them. Those are open to all and
/// vouch for nothing.
pub fn seal_bound(
    body: &[u8],
    place: &Place,
    members: Vec<(String, Value)>,
    encrypter: &dyn Encrypter,
) -> Result<Vec<u8>, Error> {
    let envelope = Envelope {
        version: BOUND_VERSION,
        payload_type: place.payload_type.as_str().to_owned(),
        stack: place.stack.clone(),
        revision: place.revision.clone(),
        encrypter: Some(encrypter.describe()),
        ciphertext: encrypter.encrypt(body, &place.associated_data()).map_err(Error::Seal)?,
        unknown: members,
    };
    Ok(envelope.encode())
}

/// What was in an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The document.
    pub body: Plaintext,
    /// Whether it was bound to its place, which is then the one that was asked for.
    pub bound: bool,
}

/// Opens an envelope. `place` is where it was found; without one, only version 1 can be opened. `resolve` gives the
/// encrypter; it is told what the envelope says of it, and need not believe that.
pub fn open<E: AsRef<dyn Encrypter>>(
    sealed: &[u8],
    place: Option<&Place>,
    resolve: impl FnOnce(Option<&Ref>) -> Result<E, EncrypterError>,
) -> Result<Opened, Error> {
    let envelope = Envelope::decode(sealed)?;
    let (bound, associated_data) = match (envelope.version, place) {
        (ENVELOPE_VERSION, _) => (false, Vec::new()),
        (BOUND_VERSION, Some(place)) => {
            check_place(&envelope, place)?;
            (true, place.associated_data())
        }
        (found, _) => return Err(unobin::Error::UnsupportedEnvelope { found }.into()),
    };
    if let Some(place) = place {
        check_payload_type(&envelope, place.payload_type)?;
    }
    let encrypter = resolve(envelope.encrypter.as_ref())?;
    let opened = encrypter.as_ref().decrypt(&envelope.ciphertext, &associated_data);
    let body =
        opened.map_err(|reason| Error::Open { reason, sealed_with: envelope.encrypter.map(Box::new) })?;
    Ok(Opened { body, bound })
}

/// What the envelope says of its place is only there to be told: the associated data decides.
fn check_place(envelope: &Envelope, place: &Place) -> Result<(), Error> {
    if envelope.stack == place.stack && envelope.revision == place.revision {
        return Ok(());
    }
    Err(Error::Misplaced {
        stack: envelope.stack.clone(),
        revision: envelope.revision.clone(),
        found_as: place.clone(),
    })
}

/// Envelopes of older versions do not say what is in them.
fn check_payload_type(envelope: &Envelope, expected: PayloadType) -> Result<(), Error> {
    match envelope.payload_type.as_str() {
        "" if envelope.version == ENVELOPE_VERSION => Ok(()),
        found if found == expected.as_str() => Ok(()),
        found => Err(Error::PayloadType { found: found.to_owned(), expected }),
    }
}
