//! Group commit: while one write is under way the next batch gathers (S2).
//!
//! Appenders that were just told of one batch are usually about to append again. Writing at once would take the first
//! of them and leave the rest to wait for a whole sync, so the writer waits a fraction of the last sync's time until as
//! many are there as the last batch had. A lone appender never waits: on a quick disk it even writes itself, since
//! waking the writer and being woken by it would take a good part of the time that the disk takes.

use crate::disk::AppendFile;
use crate::diy::recording::Failure;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The part of the last write's time that gathering may take.
const GATHERING: u32 = 4;
/// No disk is so slow that gathering for longer pays.
const LONGEST_GATHERING: Duration = Duration::from_millis(2);
/// A disk that takes longer is left to the writer, so that whoever appends is not held up.
const QUICK: Duration = Duration::from_millis(1);

/// Tells whether the lease is still held.
pub(crate) type FenceCheck = Box<dyn Fn() -> Result<(), Failure> + Send + Sync>;

/// The writer of one journal file.
pub(crate) struct GroupCommit {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    file: Mutex<Box<dyn AppendFile>>,
    fence: FenceCheck,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    waiters: Vec<Waiter>,
    /// How many waiters wake the writer.
    wanted: usize,
    /// Whether a batch is being written.
    writing: bool,
    /// How many waited for the last batch, and how long writing it took.
    last: (usize, Duration),
    failed: Option<Failure>,
    closing: bool,
}

/// Somebody who waits for a batch.
enum Waiter {
    Task(oneshot::Sender<Result<(), Failure>>),
    Thread(mpsc::Sender<Result<(), Failure>>),
}

/// Resolves when the batch that the bytes went into is durable, or failed.
pub(crate) type Durable = oneshot::Receiver<Result<(), Failure>>;

impl GroupCommit {
    /// Writes to a file, from a thread of its own or within [`GroupCommit::append`].
    pub(crate) fn new(file: Box<dyn AppendFile>, fence: FenceCheck, threaded: bool) -> std::io::Result<Self> {
        let shared =
            Arc::new(Shared { queue: Mutex::default(), wake: Condvar::new(), file: Mutex::new(file), fence });
        let thread = if threaded {
            let shared = Arc::clone(&shared);
            Some(std::thread::Builder::new().name("journal".to_owned()).spawn(move || shared.run())?)
        } else {
            None
        };
        Ok(Self { shared, thread })
    }

    /// Why nothing more is written, once something failed.
    pub(crate) fn failure(&self) -> Option<Failure> {
        hold(&self.shared.queue).failed.clone()
    }

    /// Queues bytes for the next batch. Order of calls is order in the file. Where it says so, nobody else is there to
    /// write them, and the caller has to call [`GroupCommit::write_queued`].
    pub(crate) fn append(&self, bytes: &[u8]) -> (Durable, bool) {
        let (sender, receiver) = oneshot::channel();
        let alone = self.enqueue(bytes, Waiter::Task(sender));
        (receiver, alone)
    }

    /// Writes what was queued by a caller who is alone.
    pub(crate) fn write_queued(&self) {
        self.shared.write_timed();
        if !hold(&self.shared.queue).waiters.is_empty() {
            self.shared.wake.notify_one();
        }
    }

    /// Writes bytes with the next batch and waits until they are durable, from a place that is not asynchronous.
    pub(crate) fn append_and_wait(&self, bytes: &[u8]) -> Result<(), Failure> {
        let (sender, receiver) = mpsc::channel();
        if self.enqueue(bytes, Waiter::Thread(sender)) {
            self.write_queued();
        }
        receiver
            .recv()
            .unwrap_or_else(|_| Err(Failure::Write { reason: "the journal was closed".to_owned() }))
    }

    /// Says whether the caller has to write.
    fn enqueue(&self, bytes: &[u8], waiter: Waiter) -> bool {
        let mut queue = hold(&self.shared.queue);
        queue.bytes.extend_from_slice(bytes);
        queue.waiters.push(waiter);
        let (last_batch, last_time) = queue.last;
        let is_alone = !queue.writing && queue.waiters.len() == 1 && last_batch <= 1 && last_time < QUICK;
        if is_alone || self.thread.is_none() {
            queue.writing = true;
            return true;
        }
        let is_enough = queue.waiters.len() >= queue.wanted;
        drop(queue);
        if is_enough {
            self.shared.wake.notify_one();
        }
        false
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        hold(&self.shared.queue).closing = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // Its panic would have been reported already; there is nothing to add while dropping.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        while self.gather() {
            self.write_timed();
        }
    }

    /// Writes what is queued, and remembers how much it was and how long it took.
    fn write_timed(&self) {
        let began = Instant::now();
        let written = self.write_batch();
        let mut queue = hold(&self.queue);
        queue.last = (written, began.elapsed());
        queue.writing = false;
    }

    /// Waits for something to write, and then a little for as much as the last batch had. Says whether there is any.
    fn gather(&self) -> bool {
        let mut queue = hold(&self.queue);
        queue.wanted = 1;
        while queue.waiters.is_empty() || queue.writing {
            if queue.closing && queue.waiters.is_empty() {
                return false;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let (last_batch, last_time) = queue.last;
        queue.writing = true;
        queue.wanted = last_batch;
        let longest = (last_time / GATHERING).min(LONGEST_GATHERING);
        let began = Instant::now();
        while queue.waiters.len() < last_batch && !queue.closing {
            let Some(left) = longest.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else {
                break;
            };
            queue = self.wake.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        // Nobody wakes the writer while it writes.
        queue.wanted = usize::MAX;
        true
    }

    /// Writes what is queued and tells whoever waits for it; says how many that were.
    fn write_batch(&self) -> usize {
        let (bytes, waiters, failed) = {
            let mut queue = hold(&self.queue);
            (std::mem::take(&mut queue.bytes), std::mem::take(&mut queue.waiters), queue.failed.clone())
        };
        let written = waiters.len();
        let outcome = match failed {
            Some(failure) => Err(failure),
            None => self.write_durably(&bytes),
        };
        let mut queue = hold(&self.queue);
        if let Err(failure) = &outcome {
            queue.failed.get_or_insert_with(|| failure.clone());
        }
        // The buffer is used again, so that a steady stream of batches allocates nothing.
        if queue.bytes.is_empty() {
            queue.bytes = bytes;
            queue.bytes.clear();
        }
        drop(queue);
        for waiter in waiters {
            // A caller that went away no longer wants to know.
            let _ = match waiter {
                Waiter::Task(sender) => sender.send(outcome.clone()).map_err(drop),
                Waiter::Thread(sender) => sender.send(outcome.clone()).map_err(drop),
            };
        }
        written
    }

    /// The fence is asked after the write: whoever takes the lease first changes it and then closes the journal, so a
    /// batch that came after the closing frame finds the lease changed and is never acknowledged (S4).
    fn write_durably(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut file = hold(&self.file);
        let write = |error: std::io::Error| Failure::Write { reason: error.to_string() };
        file.append(bytes).map_err(write)?;
        file.sync().map_err(write)?;
        (self.fence)()
    }
}

fn hold<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
