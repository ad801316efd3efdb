//! Files that grow: a run of envelopes, one for each write, each bound to its number.

use super::{Sealing, is_sealed, split};
use crate::disk::AppendFile;
use drystone_secrets::envelope::Place;
use std::io;
use std::sync::Arc;

/// What a sealed file holds.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The clear content.
    pub(super) body: Vec<u8>,
    /// Where each part ends: in the file, and in the clear content.
    ends: Vec<(u64, usize)>,
}

/// The place of a part of a file.
pub(super) fn part(place: &Place, number: usize) -> Place {
    Place { revision: format!("{}#{number}", place.revision), ..place.clone() }
}

/// Reads a file that grows. A part that a crash tore off is not there. One that cannot be opened, though others
/// around it can, is damage: its bytes are zeros, which the format finds out. A first one that cannot be opened is an
/// error: it is the key that is wrong, or the file.
pub(super) fn read(sealing: &Sealing, place: &Place, content: &[u8]) -> io::Result<Parts> {
    if !content.is_empty() && !is_sealed(content) {
        return Ok(Parts { body: sealing.open(place, content)?, ends: Vec::new() });
    }
    let mut parts = Parts::default();
    let mut rest = content;
    while let Some((envelope, after)) = split(rest) {
        let number = parts.ends.len();
        match sealing.open(&part(place, number), envelope) {
            Ok(body) => parts.body.extend_from_slice(&body),
            Err(error) if number == 0 => return Err(error),
            Err(_) => parts.body.resize(parts.body.len() + envelope.len() / 2, 0),
        }
        rest = after;
        parts.ends.push(((content.len() - rest.len()) as u64, parts.body.len()));
    }
    if parts.ends.is_empty() && !content.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not even its first part is whole"));
    }
    Ok(parts)
}

/// A file that grows by envelopes.
pub(super) struct SealedFile {
    file: Box<dyn AppendFile>,
    sealing: Arc<Sealing>,
    place: Place,
    parts: Parts,
}

impl SealedFile {
    pub(super) fn new(
        file: Box<dyn AppendFile>,
        sealing: Arc<Sealing>,
        place: Place,
        mut parts: Parts,
    ) -> Self {
        // Only cutting needs the content, and that is done before anything is added.
        parts.body.shrink_to_fit();
        Self { file, sealing, place, parts }
    }
}

impl AppendFile for SealedFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let sealed = self.sealing.seal(&part(&self.place, self.parts.ends.len()), content)?;
        self.file.append(&sealed)?;
        let (end, clear) = self.parts.ends.last().copied().unwrap_or_default();
        self.parts.ends.push((end + sealed.len() as u64, clear + content.len()));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    /// Cuts the file off after so much clear content. A part that is cut through is written again as far as it goes.
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let whole = self.parts.ends.iter().take_while(|(_, clear)| *clear <= length).count();
        let (end, clear) = whole.checked_sub(1).map_or((0, 0), |last| self.parts.ends[last]);
        let left = self.parts.body.get(clear..length.min(self.parts.body.len())).unwrap_or_default().to_vec();
        self.file.truncate(end)?;
        self.parts.ends.truncate(whole);
        if left.is_empty() { Ok(()) } else { self.append(&left) }
    }
}
