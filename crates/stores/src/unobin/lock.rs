//! The lock of a stack: a file or an object that is there while somebody holds it.

use super::medium::{Content, Mark, Medium};
use super::{Error, Result};
use crate::Host;
use futures::FutureExt;
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Who holds a stack, as far as the lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The user and the machine, when the lock names them: it does in a bucket.
    pub name: Option<String>,
    /// The process, when the lock names one: it does in a folder.
    pub process: Option<u32>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whether that process runs on this machine; `None` when that cannot be told. The file does not say on which
    /// machine it is, so nothing is taken from one that seems dead.
    pub is_running: Option<bool>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.process) {
            (Some(name), _) => f.write_str(name)?,
            (None, Some(process)) => write!(f, "process {process}")?,
            (None, None) => f.write_str("somebody who left no name")?,
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
    /// What is to be given back; nothing once it was.
    taken: Option<Taken>,
}

#[derive(Debug)]
struct Taken {
    at: Place,
    /// What was written, which says who we are, and what was made. A lock of another says something else, or is
    /// another file.
    text: Vec<u8>,
    mark: Mark,
}

/// Where a lock stands, and who looks at it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) medium: Arc<dyn Medium>,
    pub(super) host: Arc<dyn Host>,
    pub(super) path: String,
}

impl Place {
    /// Takes the lock, if nobody has it. On a crash it stays, and somebody has to break it.
    pub(super) async fn take(&self) -> Result<Option<HeldLock>> {
        let text = self.medium.lock_text(&*self.host);
        let mark = self.medium.create_lock(&self.path, &text).await?;
        Ok(mark.map(|mark| HeldLock { taken: Some(Taken { at: self.clone(), text, mark }) }))
    }

    /// Takes the lock, waiting for it. `waiting` is told once who has it.
    pub(super) async fn wait(
        &self,
        at_most: Option<Duration>,
        waiting: impl FnOnce(&Holder),
    ) -> Result<HeldLock> {
        let began = Instant::now();
        let mut waiting = Some(waiting);
        loop {
            if let Some(held) = self.take().await? {
                return Ok(held);
            }
            // Given back since: there is somebody to be told of only when there is a holder.
            let holder = self.holder().await?;
            let left = at_most.map(|at_most| at_most.saturating_sub(began.elapsed()));
            match (holder, left) {
                (Some(holder), Some(Duration::ZERO)) => {
                    return Err(Error::Locked { holder: Box::new(holder) });
                }
                (Some(holder), _) => {
                    if let Some(waiting) = waiting.take() {
                        waiting(&holder);
                    }
                    let pause = self.medium.pause();
                    tokio::time::sleep(left.unwrap_or(pause).min(pause)).await;
                }
                (None, _) => {}
            }
        }
    }

    /// Who holds the lock; nobody when there is none.
    pub(super) async fn holder(&self) -> Result<Option<Holder>> {
        let lock = self.medium.read(&self.path).await?;
        Ok(lock.map(|lock| self.medium.holder(&*self.host, &lock)))
    }
}

impl HeldLock {
    /// Gives the lock back. One that somebody broke is gone already; one that somebody else took since is left to them,
    /// and that is an error, because both were at work.
    pub async fn unlock(mut self) -> Result<()> {
        match self.taken.take() {
            Some(taken) => taken.release().await,
            None => Ok(()),
        }
    }
}

impl Taken {
    /// Looks whose the lock is, and deletes it. Neither medium does both in one step: what somebody else takes between
    /// the two, having broken ours in that moment, is lost to them.
    async fn release(self) -> Result<()> {
        let Place { medium, host, path } = &self.at;
        match medium.read(path).await? {
            None => Ok(()),
            Some(lock) if self.is_ours(&lock) => medium.remove(path).await,
            Some(lock) => Err(Error::LostLock { holder: Box::new(medium.holder(&**host, &lock)) }),
        }
    }

    fn is_ours(&self, lock: &Content) -> bool {
        lock.bytes == self.text && lock.mark.is_same(&self.mark)
    }
}

impl Drop for HeldLock {
    /// What cannot be given back has to be broken by somebody; that is all there is to say of it.
    fn drop(&mut self) {
        let Some(taken) = self.taken.take() else { return };
        let mut release = Box::pin(taken.release());
        // A folder is done at once. A bucket takes a while, and somebody has to see it through.
        if release.as_mut().now_or_never().is_none()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(release);
        }
    }
}
