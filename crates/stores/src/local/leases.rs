//! The lease on disk.
//!
//! Three files in the stack's lease folder: `guard`, locked for the moments in which the others change; `holder`,
//! locked by the operating system for as long as the holder lives, so that a dead one is noticed at once (S12); and
//! `lease.json`, which says who, why, since when, with the nonce and the epoch. While the lease is held a lock file
//! in Pulumi's form stands beside, and lock files of other tools are honoured (S14).

use crate::disk::{self, Disk, FileLock};
use crate::diy::recording::Failure;
use crate::diy::{layout, locks};
use crate::{Claim, Error, Host, LeaseInfo, Result, StackId};

/// The lease files of one stack.
pub(crate) struct LeaseFiles<'a> {
    disk: &'a dyn Disk,
    host: &'a dyn Host,
    stack: &'a StackId,
    folder: String,
}

/// The exclusive right to change the lease files, for a moment.
#[derive(Debug)]
pub(crate) struct Guard(#[expect(dead_code, reason = "held for its drop")] Box<dyn FileLock>);

/// A lease that was taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) info: LeaseInfo,
    pub(crate) alive: Box<dyn FileLock>,
    /// The holder before, when it never released.
    pub(crate) dead: Option<LeaseInfo>,
}

impl<'a> LeaseFiles<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, host: &'a dyn Host, stack: &'a StackId) -> Self {
        Self { disk, host, stack, folder: layout::lease(stack) }
    }

    pub(crate) fn stack(&self) -> &StackId {
        self.stack
    }

    /// Waits for the guard. It is only ever held for moments, or by a holder that is recovering.
    pub(crate) fn guard(&self) -> Result<Guard> {
        disk::create_folder(self.disk, &self.folder)?;
        let path = self.path("guard");
        self.disk.lock(&path).map(Guard).map_err(Error::io("locking", self.disk.location(&path)))
    }

    /// What `lease.json` says. A damaged one says nothing.
    pub(crate) fn read(&self) -> Result<Option<LeaseInfo>> {
        let file = disk::read_if_there(self.disk, &self.path("lease.json"))?;
        Ok(file.and_then(|file| serde_json::from_slice(&file).ok()))
    }

    /// Takes the lease, or says who has it.
    pub(crate) fn take(&self, _guard: &Guard, claim: &Claim) -> Result<Taken> {
        let before = self.read()?;
        let path = self.path("holder");
        let alive = self.disk.try_lock(&path).map_err(Error::io("locking", self.disk.location(&path)))?;
        let Some(alive) = alive else {
            let lease = Box::new(before.unwrap_or_else(unknown_holder));
            return Err(Error::Held { stack: self.stack.clone(), lease });
        };
        let dead = before.clone().filter(|lease| lease.held);
        if let Some(file) = dead.as_ref().and_then(|lease| lease.lock_file.as_deref()) {
            disk::remove_if_there(self.disk, &self.pulumi_lock(file))?;
        }
        self.refuse_foreign()?;
        let info = locks::new_lease(self.host, claim, self.last_epoch(before.as_ref())? + 1);
        self.write(&info)?;
        self.show_lock(&info)?;
        if let Err(held) = self.refuse_foreign_except(info.lock_file.as_deref()) {
            self.release(&info)?;
            return Err(held);
        }
        Ok(Taken { info, alive, dead })
    }

    /// Takes the lease away from whoever holds it: fences the holder, then frees the name for the next.
    pub(crate) fn take_away(&self, _guard: &Guard, claim: &Claim) -> Result<(Vec<LeaseInfo>, Taken)> {
        let before = self.read()?;
        let mut broken: Vec<LeaseInfo> = before.iter().filter(|lease| lease.held).cloned().collect();
        let mut info = locks::new_lease(self.host, claim, self.last_epoch(before.as_ref())? + 1);
        // Dying before the lock files are gone must not leave one that nobody knows for ours.
        info.lock_file = before.as_ref().and_then(|lease| lease.lock_file.clone());
        self.write(&info)?;
        // A living holder keeps its lock on a file that no longer has the name.
        let path = self.path("holder");
        disk::publish(self.disk, &path, b"")?;
        let alive = self.disk.try_lock(&path).map_err(Error::io("locking", self.disk.location(&path)))?;
        let alive = alive.ok_or_else(|| Error::Held {
            stack: self.stack.clone(),
            lease: Box::new(before.clone().unwrap_or_else(unknown_holder)),
        })?;
        let own = before.as_ref().and_then(|lease| lease.lock_file.clone());
        for (file, lease) in self.foreign()? {
            disk::remove_if_there(self.disk, &self.pulumi_lock(&file))?;
            if Some(&file) != own.as_ref() {
                broken.push(lease);
            }
        }
        let dead = before.filter(|lease| lease.held);
        Ok((broken, Taken { info, alive, dead }))
    }

    /// Gives the lease back. Only one's own: a lease that changed hands is left alone (S13).
    pub(crate) fn release(&self, info: &LeaseInfo) -> Result<()> {
        if self.read()?.is_some_and(|lease| lease.nonce == info.nonce) {
            if let Some(file) = &info.lock_file {
                disk::remove_if_there(self.disk, &self.pulumi_lock(file))?;
            }
            self.write(&LeaseInfo { held: false, ..info.clone() })?;
        }
        Ok(())
    }

    /// Steps back from a lease whose stack could not be put in order: the files say again what they said before, so
    /// that the next one finds the same dead holder.
    pub(crate) fn abandon(&self, taken: &Taken) -> Result<()> {
        match &taken.dead {
            Some(dead) => {
                if let Some(file) = &taken.info.lock_file {
                    disk::remove_if_there(self.disk, &self.pulumi_lock(file))?;
                }
                self.write(&LeaseInfo { epoch: taken.info.epoch, lock_file: None, ..dead.clone() })
            }
            None => self.release(&taken.info),
        }
    }

    /// Whether a lease is still the holder's.
    pub(crate) fn check(&self, nonce: &str) -> Result<(), Failure> {
        let lease = self.read().map_err(|error| Failure::Write { reason: error.to_string() })?;
        match lease {
            Some(lease) if lease.nonce == nonce => Ok(()),
            Some(lease) => Err(Failure::Fenced { by: lease.holder() }),
            None => Err(Failure::Fenced { by: "somebody who deleted its file".to_owned() }),
        }
    }

    /// Everybody who holds the stack, as far as can be told without locking.
    pub(crate) fn holders(&self) -> Result<Vec<LeaseInfo>> {
        let own = self.read()?.filter(|lease| lease.held);
        let own_file = own.as_ref().and_then(|lease| lease.lock_file.clone());
        let mut holders: Vec<LeaseInfo> = own.into_iter().map(|lease| self.with_life(lease)).collect();
        for (file, lease) in self.foreign()? {
            if Some(&file) != own_file.as_ref() {
                holders.push(lease);
            }
        }
        Ok(holders)
    }

    /// The highest epoch that is known. Journals carry theirs in their names, so that it does not start over when the
    /// lease's file is damaged or gone.
    fn last_epoch(&self, before: Option<&LeaseInfo>) -> Result<i64> {
        let journals = disk::list(self.disk, &layout::journals(self.stack))?;
        let named = journals.iter().filter_map(|name| name.text.split('-').next()?.parse::<i64>().ok()).max();
        Ok(named.unwrap_or(0).max(before.map_or(0, |lease| lease.epoch)))
    }

    fn write(&self, info: &LeaseInfo) -> Result<()> {
        let path = self.path("lease.json");
        let file = serde_json::to_vec(info)
            .map_err(|error| Error::Corrupt { path: self.disk.location(&path), reason: error.to_string() })?;
        disk::publish(self.disk, &path, &file)
    }

    fn show_lock(&self, info: &LeaseInfo) -> Result<()> {
        let Some(file) = &info.lock_file else { return Ok(()) };
        let path = self.pulumi_lock(file);
        let content = locks::lock_file(info)
            .map_err(|error| Error::Corrupt { path: self.disk.location(&path), reason: error.to_string() })?;
        disk::publish(self.disk, &path, &content)
    }

    fn refuse_foreign(&self) -> Result<()> {
        self.refuse_foreign_except(None)
    }

    fn refuse_foreign_except(&self, own: Option<&str>) -> Result<()> {
        match self.foreign()?.into_iter().find(|(file, _)| Some(file.as_str()) != own) {
            Some((_, lease)) => Err(Error::Held { stack: self.stack.clone(), lease: Box::new(lease) }),
            None => Ok(()),
        }
    }

    /// The lock files that stand, our own too.
    fn foreign(&self) -> Result<Vec<(String, LeaseInfo)>> {
        let mut found = Vec::new();
        for name in disk::list(self.disk, &layout::locks(self.stack))? {
            if name.is_folder || name.text.ends_with(".attrs") {
                continue;
            }
            // Released between the listing and the reading.
            let Some(file) = disk::read_if_there(self.disk, &self.pulumi_lock(&name.text))? else { continue };
            let lease = locks::lease_of(&file, &name.text);
            found.push((name.text, self.with_life(lease)));
        }
        Ok(found)
    }

    fn with_life(&self, mut lease: LeaseInfo) -> LeaseInfo {
        let here = lease.host == self.host.hostname();
        let running = u32::try_from(lease.pid).ok().and_then(|pid| self.host.is_running(pid));
        lease.dead = here && running == Some(false);
        lease
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn pulumi_lock(&self, file: &str) -> String {
        format!("{}/{file}", layout::locks(self.stack))
    }
}

/// Somebody holds the lock, but the file that says who is damaged or gone.
fn unknown_holder() -> LeaseInfo {
    let unknown = || "unknown".to_owned();
    LeaseInfo {
        user: unknown(),
        host: unknown(),
        purpose: unknown(),
        since: unknown(),
        held: true,
        ..LeaseInfo::default()
    }
}
