//! The journal file: frames with a length and a checksum, only ever appended.
//!
//! A crash can tear the last frame; reading stops there and recovery cuts it off. A frame damaged further up is told
//! apart by the sound frames after it: those are still read, and the damage is reported.

use super::outline::Outline;
use crate::{LeaseInfo, RevisionInfo};
use drystone_journal::Entry;
use drystone_model::record;
use serde::Serialize;
use std::io;

const MAGIC: &[u8; 8] = b"DRYJRNL1";
const OVERHEAD: usize = 9;
/// No frame is larger: a length beyond this is damage.
const LARGEST: usize = 1 << 30;

record! {
    /// What a journal is for. The first frame.
    pub struct Header {
        /// The stack, in full.
        always "stack" => stack: String,
        /// The lease that it was written under.
        always "lease" => lease: LeaseInfo,
        /// The revision that the entries' indices point into.
        always "base" => base: i64,
        /// The hash of that revision's document.
        always "baseHash" => base_hash: String,
    }
}

record! {
    /// A document that the journal's update is about to make current.
    pub struct Publication {
        /// Its hash.
        always "hash" => hash: String,
        /// Its revision, when it is the update's commit rather than a checkpoint on the way.
        optional "revision" => revision: Option<i64>,
    }
}

record! {
    /// What a holder has decided, where the journal is what decides: whoever reads it carries it out (S5).
    pub struct Decision {
        /// Under which lease, for when nothing else of the journal is left.
        optional "lease" => lease: Option<LeaseInfo>,
        /// The checkpoint that is to hold the document; empty when nothing of it changes.
        optional "path" => path: String,
        /// The document that is current until then.
        optional "before" => before: Option<Before>,
        /// The new revision; `None` for a stack that has no snapshot yet.
        optional "revision" => revision: Option<RevisionInfo>,
        /// What stands in its document around the state.
        optional "outline" => outline: Option<Outline>,
        /// When the state in it was written.
        optional "time" => time: String,
        /// Journals of dead holders that the document brings in.
        optional "replays" => replays: Vec<String>,
        /// What is to be moved instead.
        optional "relocation" => relocation: Option<Moves>,
    }
}

record! {
    /// A document that is to be replaced.
    pub struct Before {
        /// Its checkpoint.
        always "path" => path: String,
        /// The server's tag of its content.
        optional "eTag" => e_tag: Option<String>,
        /// The server's number of its content.
        optional "generation" => generation: Option<String>,
        /// Its hash, and those of checkpoints of the same update that may take its place until the decision holds.
        always "hashes" => hashes: Vec<String>,
    }
}

record! {
    /// Objects to be written, moved and deleted, in this order.
    pub struct Moves {
        /// Paths with what they are to hold.
        optional "writes" => writes: Vec<(String, String)>,
        /// From where to where.
        optional "moves" => moves: Vec<(String, String)>,
        /// Paths.
        optional "deletes" => deletes: Vec<String>,
    }
}

record! {
    /// Who closed a journal by taking over its lease.
    pub struct Taker {
        /// The lease of the next holder.
        always "lease" => lease: LeaseInfo,
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    Header(Box<Header>),
    Entry(Box<Entry>),
    /// Written before a checkpoint or a commit replaces the current document, so that recovery knows it for its own.
    Publication(Publication),
    /// No entry after this counts (S12).
    Closed,
    /// Only in journals of segments.
    Decision(Box<Decision>),
    /// Only in journals of segments: the tombstone that closes one.
    Taken(Box<Taker>),
}

const HEADER: u8 = 1;
const ENTRY: u8 = 2;
const PUBLICATION: u8 = 3;
const CLOSED: u8 = 4;
const DECISION: u8 = 5;
const TAKEN: u8 = 6;

/// Adds the frame of an entry to a buffer.
pub(crate) fn write_entry(entry: &Entry, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    write(ENTRY, Some(entry), out)
}

fn write(kind: u8, payload: Option<&impl Serialize>, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let start = out.len();
    out.extend_from_slice(&[0; OVERHEAD - 1]);
    out.push(kind);
    if let Some(payload) = payload {
        serde_json::to_writer(&mut *out, payload)?;
    }
    let length = out.len() - start - OVERHEAD;
    if length > LARGEST {
        return Err(serde_json::Error::io(io::Error::other("an entry over 1 GiB")));
    }
    let checksum = crc32c::crc32c(&out[start + OVERHEAD - 1..]);
    out[start..start + 4].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

impl Frame {
    /// Adds the frame to a buffer.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        match self {
            Self::Header(header) => write(HEADER, Some(header), out),
            Self::Entry(entry) => write(ENTRY, Some(entry), out),
            Self::Publication(publication) => write(PUBLICATION, Some(publication), out),
            Self::Closed => write(CLOSED, None::<&()>, out),
            Self::Decision(decision) => write(DECISION, Some(decision), out),
            Self::Taken(taker) => write(TAKEN, Some(taker), out),
        }
    }

    fn read(kind: u8, payload: &[u8]) -> Option<Self> {
        match kind {
            HEADER => serde_json::from_slice(payload).ok().map(Self::Header),
            ENTRY => serde_json::from_slice(payload).ok().map(|entry| Self::Entry(Box::new(entry))),
            PUBLICATION => serde_json::from_slice(payload).ok().map(Self::Publication),
            CLOSED => Some(Self::Closed),
            DECISION => serde_json::from_slice(payload).ok().map(Self::Decision),
            TAKEN => serde_json::from_slice(payload).ok().map(Self::Taken),
            _ => None,
        }
    }
}

/// The start of a journal file.
pub(crate) fn start(header: Header) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = MAGIC.to_vec();
    Frame::Header(Box::new(header)).write(&mut out)?;
    Ok(out)
}

/// A journal as it was read back.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadJournal {
    /// `None` when the header is damaged. It is durable before anything is appended, so it is never torn.
    pub(crate) header: Option<Header>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) publications: Vec<Publication>,
    /// The length up to which the file is sound; what follows is a torn tail.
    pub(crate) sound_length: usize,
    /// Whether a frame was lost, with sound ones after it.
    pub(crate) damaged: bool,
}

/// The header of a journal file and where it ends.
pub(crate) fn head(file: &[u8]) -> Option<(Header, usize)> {
    match frame_at(file, MAGIC.len()).filter(|_| file.starts_with(MAGIC))? {
        (Frame::Header(header), length) => Some((*header, MAGIC.len() + length)),
        _ => None,
    }
}

/// The entries in what follows a sound frame, and how much of it need not be read again. A frame that is still being
/// written waits for the next reading. Nothing counts from a closing on, which is never passed.
pub(crate) fn read_on(rest: &[u8]) -> (Vec<Entry>, usize) {
    let (mut entries, mut sound, mut at) = (Vec::new(), 0, 0);
    while at < rest.len() {
        let Some((frame, length)) = frame_at(rest, at) else {
            let Some(next) = (at + 1..rest.len()).find(|&next| frame_at(rest, next).is_some()) else { break };
            at = next;
            continue;
        };
        match frame {
            Frame::Closed => break,
            Frame::Entry(entry) => entries.push(*entry),
            Frame::Header(_) | Frame::Publication(_) | Frame::Decision(_) | Frame::Taken(_) => {}
        }
        at += length;
        sound = at;
    }
    (entries, sound)
}

/// Reads a journal file, whatever is wrong with it.
pub(crate) fn read(file: &[u8]) -> ReadJournal {
    let mut journal = ReadJournal::default();
    let mut at = MAGIC.len();
    let mut closed = false;
    match head(file) {
        Some((header, end)) => {
            journal.header = Some(header);
            at = end;
        }
        None => journal.damaged = true,
    }
    journal.sound_length = at.min(file.len());
    while at < file.len() {
        let Some((frame, length)) = frame_at(file, at) else {
            let Some(next) = (at + 1..file.len()).find(|&next| frame_at(file, next).is_some()) else { break };
            journal.damaged = true;
            at = next;
            continue;
        };
        at += length;
        journal.sound_length = at;
        match frame {
            // The one at the start, when only what stands before it is damaged.
            Frame::Header(header) => {
                journal.damaged = true;
                journal.header.get_or_insert(*header);
            }
            // What a fenced writer added behind the closing was never acknowledged.
            Frame::Entry(entry) if !closed => journal.entries.push(*entry),
            Frame::Entry(_) => {}
            // Whoever closed it says here what it is about to make current.
            Frame::Publication(publication) => journal.publications.push(publication),
            Frame::Closed => closed = true,
            Frame::Decision(_) | Frame::Taken(_) => {}
        }
    }
    journal
}

/// A segment of a journal that is kept in segments.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// Whether a new journal of the same lease begins with it.
    pub(crate) starts: bool,
    pub(crate) header: Option<Header>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) publications: Vec<Publication>,
    pub(crate) decision: Option<Decision>,
    pub(crate) taker: Option<Taker>,
    /// Whether something in it could not be read. Segments are never torn.
    pub(crate) damaged: bool,
}

/// Reads a segment, whatever is wrong with it.
pub(crate) fn segment(content: &[u8]) -> Segment {
    let starts = content.starts_with(MAGIC);
    let mut segment = Segment { starts, ..Segment::default() };
    let mut at = if starts { MAGIC.len() } else { 0 };
    while at < content.len() {
        let Some((frame, length)) = frame_at(content, at) else {
            segment.damaged = true;
            let next = (at + 1..content.len()).find(|&next| frame_at(content, next).is_some());
            at = next.unwrap_or(content.len());
            continue;
        };
        at += length;
        match frame {
            Frame::Header(header) => segment.header = Some(*header),
            Frame::Entry(entry) => segment.entries.push(*entry),
            Frame::Publication(publication) => segment.publications.push(publication),
            Frame::Closed => {}
            Frame::Decision(decision) => segment.decision = Some(*decision),
            Frame::Taken(taker) => segment.taker = Some(*taker),
        }
    }
    segment
}

/// The frame that starts at an offset and its whole length, when there is a sound one. Almost every offset that is not
/// the start of a frame is passed over after a look at a few bytes, so that looking for the next sound frame in a long
/// damaged stretch costs no more than its length.
fn frame_at(file: &[u8], at: usize) -> Option<(Frame, usize)> {
    let rest = file.get(at..)?;
    let head = rest.get(..OVERHEAD)?;
    let kind = head[OVERHEAD - 1];
    let length = u32::from_le_bytes(head[0..4].try_into().ok()?) as usize;
    let checksum = u32::from_le_bytes(head[4..8].try_into().ok()?);
    if !(HEADER..=TAKEN).contains(&kind) || length > LARGEST {
        return None;
    }
    let body = rest.get(OVERHEAD - 1..OVERHEAD + length)?;
    let is_object = body.get(1) == Some(&b'{') && body.last() == Some(&b'}');
    if is_object == (kind == CLOSED) || crc32c::crc32c(body) != checksum {
        return None;
    }
    Frame::read(kind, &body[1..]).map(|frame| (frame, OVERHEAD + length))
}

#[cfg(test)]
mod tests;
