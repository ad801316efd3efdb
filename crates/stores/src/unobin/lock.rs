//! The lock of a stack: a file that is there while somebody holds it.

use super::{Error, Result};
use crate::disk::{self, Disk, Stat};
use crate::{Error as StoreError, Host};
use jiff::Timestamp;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a lock that is held is tried again. unobin tries every 500 ms.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// Who holds a stack, as far as the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The process, when the file names one.
    pub process: Option<u32>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whether that process runs on this machine; `None` when that cannot be told. The file does not say on which
    /// machine it is, so nothing is taken from one that seems dead.
    pub is_running: Option<bool>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "process {process}")?,
            None => f.write_str("a process that gave no number")?,
        }
        if let Some(since) = self.since {
            write!(f, " since {since}")?;
        }
        if self.is_running == Some(false) {
            f.write_str(", which does not run on this machine")?;
        }
        Ok(())
    }
}

/// A stack that is held. Dropped, it is given back.
#[derive(Debug)]
pub struct HeldLock {
    disk: Arc<dyn Disk>,
    host: Arc<dyn Host>,
    path: String,
    /// The file that was made. Another's names another process, or has another number or moment.
    ours: Option<Stat>,
}

impl HeldLock {
    /// Takes the lock, if nobody has it. On a crash it stays, and somebody has to break it.
    pub(super) fn take(disk: &Arc<dyn Disk>, host: &Arc<dyn Host>, path: &str) -> Result<Option<Self>> {
        disk::create_folder(&**disk, disk::folder_of(path))?;
        match disk.create(path, format!("{}\n", host.pid()).as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(StoreError::io("making the lock", disk.location(path))(error).into()),
            Ok(()) => {}
        }
        let mut held =
            Self { disk: Arc::clone(disk), host: Arc::clone(host), path: path.to_owned(), ours: None };
        held.ours = disk::stat(&**disk, path)?;
        Ok(Some(held))
    }

    /// Takes the lock, waiting for it. `waiting` is told once who has it.
    pub(super) fn wait(
        disk: &Arc<dyn Disk>,
        host: &Arc<dyn Host>,
        path: &str,
        at_most: Option<Duration>,
        waiting: impl FnOnce(&Holder),
    ) -> Result<Self> {
        let began = Instant::now();
        let mut waiting = Some(waiting);
        loop {
            if let Some(held) = Self::take(disk, host, path)? {
                return Ok(held);
            }
            // Given back since: there is somebody to be told of only when there is a holder.
            let holder = holder(&**disk, &**host, path)?;
            let left = at_most.map(|at_most| at_most.saturating_sub(began.elapsed()));
            match (holder, left) {
                (Some(holder), Some(Duration::ZERO)) => {
                    return Err(Error::Locked { holder: Box::new(holder) });
                }
                (Some(holder), _) => {
                    if let Some(waiting) = waiting.take() {
                        waiting(&holder);
                    }
                    sleep(left.unwrap_or(TRY_AGAIN).min(TRY_AGAIN));
                }
                (None, _) => {}
            }
        }
    }

    /// Gives the lock back. One that somebody broke is gone already; one that somebody else took since is left to them,
    /// and that is an error, because both were at work.
    pub fn unlock(mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let Some(ours) = self.ours.take() else { return Ok(()) };
        let Some(holder) = holder(&*self.disk, &*self.host, &self.path)? else { return Ok(()) };
        let is_ours = holder.process == Some(self.host.pid())
            && disk::stat(&*self.disk, &self.path)?.is_none_or(|found| found == ours);
        if !is_ours {
            return Err(Error::LostLock { holder: Box::new(holder) });
        }
        Ok(disk::remove_if_there(&*self.disk, &self.path)?)
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // What cannot be given back has to be broken by somebody; that is all there is to say of it.
        let _ = self.release();
    }
}

/// Who holds the lock; nobody when there is no file.
pub(super) fn holder(disk: &dyn Disk, host: &dyn Host, path: &str) -> Result<Option<Holder>> {
    let Some(content) = disk::read_if_there(disk, path)? else { return Ok(None) };
    let process = std::str::from_utf8(&content).ok().and_then(|text| text.trim().parse().ok());
    let since = disk::stat(disk, path)?.and_then(|stat| Timestamp::from_nanosecond(stat.modified).ok());
    let is_running = process.and_then(|process| host.is_running(process));
    Ok(Some(Holder { process, since, is_running }))
}
