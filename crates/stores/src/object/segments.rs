//! The journal of a lease: numbered segments, each created once and never changed.
//!
//! One write is under way at a time; what comes meanwhile gathers and goes with the next (S2). A lease has one run of
//! numbers for everything that it writes: entries, what it is about to make current, and its decisions. Whoever takes
//! the lease over creates the next number itself, as a tombstone. Of the two, one gets there first: either the segment
//! of the old holder counts and the tombstone follows it, or the old holder is refused and knows that it is fenced (S4).
//! Tombstones stay, so that an old holder is refused whenever it comes back.

use super::requests::{Bucket, Object, Written};
use super::{BucketStore, layout as keys};
use crate::diy::frames::{self, Decision, Frame, ReadJournal, Taker};
use crate::diy::gathering::{Batches, Durable, Gathering, outcome};
use crate::diy::layout;
use crate::diy::recording::Failure;
use crate::{Error, LeaseInfo, Result, StackId};
use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many segments are read at once.
const READS: usize = 16;
/// How often a journal that its holder goes on with is read for one look at it.
const TRIES: usize = 8;

/// The writer of a lease's journal.
#[derive(Debug, Clone)]
pub(super) struct SegmentWriter {
    segments: Gathering<Segments>,
}

/// The segments of one journal, as its writer knows them.
#[derive(Debug)]
struct Segments {
    bucket: Bucket,
    stack: StackId,
    journal: String,
    numbers: Mutex<Numbers>,
}

#[derive(Debug, Default)]
struct Numbers {
    /// The number of the next segment.
    next: u64,
    /// The first that may still be there.
    first: u64,
}

impl SegmentWriter {
    pub(super) fn new(store: &BucketStore, stack: &StackId, lease: &LeaseInfo) -> Self {
        let segments = Segments {
            bucket: store.bucket().clone(),
            stack: stack.clone(),
            journal: keys::journal_name(lease),
            numbers: Mutex::default(),
        };
        Self { segments: Gathering::new(segments) }
    }

    pub(super) fn journal(&self) -> &str {
        &self.segments.batches().journal
    }

    /// Why nothing more is written, once something failed.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.segments.failure()
    }

    /// Writes nothing more: what was decided last could not be carried out, and nothing may follow it before somebody
    /// has.
    pub(super) fn give_up(&self, error: &Error) {
        self.segments.give_up(error);
    }

    /// Queues bytes for the next segment. Order of calls is order in the journal.
    pub(super) fn append(&self, bytes: &[u8]) -> Durable {
        self.segments.append(bytes)
    }

    /// Writes a frame and waits until it is durable; gives the number of its segment.
    pub(super) async fn write(&self, frame: &Frame) -> Result<u64> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes).map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        outcome(&self.segments.batches().stack, self.append(&bytes).await)
    }

    /// Deletes the segments before a number, which nobody needs any more. The one with the number stays, so that
    /// whoever takes the lease over finds out where the journal ends. What could not be deleted goes with the next.
    pub(super) async fn forget_before(&self, number: u64) {
        let segments = self.segments.batches();
        let first = segments.numbers().first;
        let Segments { bucket, stack, journal, .. } = segments;
        let old: Vec<String> = (first..number).map(|it| keys::segment(stack, journal, it)).collect();
        if bucket.remove(&old).await.is_ok() {
            segments.numbers().first = number;
        }
    }

    /// Deletes the whole journal of a lease that has been given back. Whoever comes next deletes what is left.
    pub(super) async fn forget(&self) {
        let next = self.segments.batches().numbers().next;
        self.forget_before(next).await;
    }
}

impl Segments {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Batches for Segments {
    async fn write(&self, bytes: Vec<u8>) -> Result<u64, Failure> {
        let number = self.numbers().next;
        let path = keys::segment(&self.stack, &self.journal, number);
        match self.bucket.create(&path, bytes).await {
            Ok(Written::Done(_)) => {
                self.numbers().next = number + 1;
                Ok(number)
            }
            Ok(Written::Refused(there)) => {
                let taker = there.and_then(|there| frames::segment(&there.content).taker);
                let by = taker.map_or_else(|| "somebody".to_owned(), |taker| taker.lease.holder());
                Err(Failure::Fenced { by })
            }
            Err(error) => Err(Failure::Write { reason: error.to_string() }),
        }
    }
}

/// The journal of one lease as it was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) name: String,
    /// Where its last part begins.
    pub(super) start: Option<u64>,
    /// What has not been decided yet: the entries since the last decision.
    pub(super) journal: ReadJournal,
    /// What was decided last, when nothing has begun since.
    pub(super) decision: Option<Decision>,
    /// Who closed it, when its last segment is a tombstone.
    pub(super) taker: Option<Taker>,
    /// The number after the last.
    pub(super) next: u64,
    /// When its holder last wrote, by the server's clock.
    pub(super) written: Option<jiff::Timestamp>,
    /// The segments without the tombstone.
    pub(super) numbers: Vec<u64>,
    /// Whether a segment that was listed is gone: its holder no longer needs it, or somebody dealt with the journal.
    pub(super) shrank: bool,
}

impl Found {
    fn add(&mut self, number: u64, object: &Object) {
        let segment = frames::segment(&object.content);
        if segment.starts {
            self.start = Some(number);
            self.journal = ReadJournal::default();
            self.decision = None;
        } else if self.next != number && self.decision.is_none() && segment.taker.is_none() {
            // Something in between is gone.
            self.journal.damaged |= self.start.is_some();
        }
        self.next = number + 1;
        if segment.taker.is_none() {
            self.numbers.push(number);
            self.written = Some(object.modified);
        }
        self.journal.damaged |= segment.damaged;
        if let Some(header) = segment.header {
            self.journal.header = Some(header);
        }
        self.journal.entries.extend(segment.entries);
        self.journal.publications.extend(segment.publications);
        self.decision = segment.decision.or(self.decision.take());
        self.taker = segment.taker;
    }

    /// Whether there is anything that somebody would want to follow, or to bring in.
    fn is_open(&self) -> bool {
        self.decision.is_none() && self.journal.header.is_some()
    }
}

/// Which journals of a stack have segments, and which of them have been dealt with.
#[derive(Debug, Default)]
pub(super) struct Journals {
    /// The segments of those that wait to be dealt with, by journal.
    pub(super) open: BTreeMap<String, Vec<u64>>,
    /// Those that were dealt with, with what is left of them.
    pub(super) settled: BTreeMap<String, Vec<super::requests::Found>>,
    /// Journals that were kept for somebody to look at, by name.
    pub(super) kept: Vec<String>,
}

impl BucketStore {
    /// Finds the journals of a stack with one listing.
    pub(super) async fn journals(&self, stack: &StackId) -> Result<Journals> {
        let folder = format!("{}/", layout::journals(stack));
        let mut folders: BTreeMap<String, Vec<super::requests::Found>> = BTreeMap::new();
        let mut journals = Journals::default();
        for found in self.bucket().list(&layout::journals(stack)).await? {
            let Some(rest) = found.path.strip_prefix(&folder) else { continue };
            match rest.split_once('/') {
                Some((journal, _)) => folders.entry(journal.to_owned()).or_default().push(found),
                None => journals.kept.push(rest.to_owned()),
            }
        }
        for (name, found) in folders {
            if found.iter().any(|found| found.path.ends_with(&format!("/{}", keys::SETTLED))) {
                journals.settled.insert(name, found);
            } else {
                let numbers = found.iter().filter_map(|found| number_of(&found.path)).collect();
                journals.open.insert(name, numbers);
            }
        }
        Ok(journals)
    }

    /// Reads segments of a journal. One that is gone by now was dealt with.
    pub(super) async fn read_journal(&self, stack: &StackId, name: &str, numbers: &[u64]) -> Result<Found> {
        let reads: Vec<_> = numbers
            .iter()
            .map(|&number| async move {
                let object = self.bucket().read(&keys::segment(stack, name, number)).await?;
                Ok::<_, Error>((number, object))
            })
            .collect();
        let segments: Vec<(u64, Option<Object>)> =
            futures::stream::iter(reads).buffered(READS).try_collect().await?;
        let mut found = Found { name: name.to_owned(), ..Found::default() };
        for (number, object) in &segments {
            match object {
                Some(object) => found.add(*number, object),
                None => found.shrank = true,
            }
        }
        Ok(found)
    }

    /// The journal of the update that runs, or of one that died and waits to be brought in. It is read again when its
    /// holder goes on meanwhile, so that what is given back stood there at one moment.
    pub(super) async fn open_journal(&self, stack: &StackId) -> Result<Option<Found>> {
        for _ in 0..TRIES {
            let mut shrank = false;
            for (name, numbers) in self.journals(stack).await?.open.iter().rev() {
                let found = self.read_journal(stack, name, numbers).await?;
                shrank |= found.shrank;
                if found.is_open() && !found.shrank {
                    return Ok(Some(found));
                }
            }
            if !shrank {
                break;
            }
        }
        Ok(None)
    }

    /// Closes the journal of a holder before: reads it, and creates its next segment as a tombstone unless somebody
    /// has. What this gives back is everything that the holder will ever have written.
    pub(super) async fn close_journal(
        &self,
        stack: &StackId,
        name: &str,
        numbers: &[u64],
        lease: &LeaseInfo,
    ) -> Result<Found> {
        let taker = Frame::Taken(Box::new(Taker { lease: lease.clone(), ..Taker::default() }));
        let mut tombstone = Vec::new();
        taker.write(&mut tombstone).map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        let mut numbers = numbers.to_vec();
        loop {
            let mut found = self.read_journal(stack, name, &numbers).await?;
            while found.taker.is_none() {
                let path = keys::segment(stack, name, found.next);
                match self.bucket().create(&path, tombstone.clone()).await? {
                    Written::Done(_) => {
                        found.next += 1;
                        break;
                    }
                    Written::Refused(Some(there)) => found.add(found.next, &there),
                    Written::Refused(None) => {}
                }
            }
            // A holder that lives deletes what it no longer needs, all but its last segment: the tombstone may stand
            // in a gap, and stops nobody there.
            numbers = self.segment_numbers(stack, name).await?;
            if numbers.last().is_none_or(|&last| last < found.next) {
                return Ok(found);
            }
        }
    }

    /// The numbers of a journal's segments.
    async fn segment_numbers(&self, stack: &StackId, name: &str) -> Result<Vec<u64>> {
        let folder = format!("{}/{name}", layout::journals(stack));
        Ok(self.bucket().list(&folder).await?.iter().filter_map(|found| number_of(&found.path)).collect())
    }

    /// Says that a closed journal has been dealt with, and deletes its segments but the tombstone.
    pub(super) async fn settle_found(&self, stack: &StackId, found: &Found) -> Result<()> {
        self.bucket().overwrite(&keys::settled(stack, &found.name), "").await?;
        let segments = found.numbers.iter().map(|&number| keys::segment(stack, &found.name, number));
        self.bucket().remove(&segments.collect::<Vec<_>>()).await
    }
}

fn number_of(path: &str) -> Option<u64> {
    path.rsplit('/').next()?.parse().ok()
}
