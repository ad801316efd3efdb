//! The tree of one stack.

use super::lock::{self, HeldLock, Holder};
use super::{Error, Result};
use crate::Host;
use crate::disk::{self, Disk};
use drystone_dialects::unobin::{Revision, Snapshot, Time};
use drystone_secrets::envelope::{self, Encrypter, Form, PayloadType, Place};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

const SUFFIX: &str = ".json.enc";

/// How many revisions may share a moment.
const OF_ONE_MOMENT: i64 = 100;

/// The tree of one stack, read and written as unobin does.
#[derive(Clone)]
pub struct Tree {
    disk: Arc<dyn Disk>,
    host: Arc<dyn Host>,
    factory: String,
    stack: String,
    encrypter: Arc<dyn Encrypter>,
    sealing: Sealing,
}

/// How revisions are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sealing {
    /// For everybody with the key: unobin opens them.
    Shared,
    /// For their place: only we open them, and only there.
    Bound,
}

impl Tree {
    /// The tree of a stack under the root of a disk. Nothing is made before something is written.
    pub fn new(
        disk: Arc<dyn Disk>,
        host: Arc<dyn Host>,
        factory: &str,
        stack: &str,
        encrypter: Arc<dyn Encrypter>,
    ) -> Result<Self> {
        for (what, name) in [("factory", factory), ("stack", stack)] {
            if name.is_empty() {
                return Err(Error::Required { what });
            }
            check_name(what, name)?;
        }
        let (factory, stack) = (factory.to_owned(), stack.to_owned());
        Ok(Self { disk, host, factory, stack, encrypter, sealing: Sealing::Shared })
    }

    /// The same tree, whose new revisions are bound to it (S19). unobin does not open them. A revision that is not
    /// bound is opened only when it says that it is of this stack.
    #[must_use]
    pub fn bound(self) -> Self {
        Self { sealing: Sealing::Bound, ..self }
    }

    /// The stack's name.
    #[must_use]
    pub fn stack(&self) -> &str {
        &self.stack
    }

    /// The current snapshot.
    pub fn current(&self) -> Result<Snapshot> {
        self.get(&self.current_revision()?)
    }

    /// The name of the current revision.
    pub fn current_revision(&self) -> Result<String> {
        let content = disk::read_if_there(&*self.disk, &self.path("current"))?.ok_or(Error::NoCurrent)?;
        let content = String::from_utf8_lossy(&content);
        match content.trim() {
            "" => Err(Error::NoCurrent),
            revision => Ok(revision.to_owned()),
        }
    }

    /// The snapshot of a revision.
    pub fn get(&self, revision: &str) -> Result<Snapshot> {
        let file = self.revision_path(revision)?;
        let path = self.disk.location(&file);
        let Some(sealed) = disk::read_if_there(&*self.disk, &file)? else {
            return Err(Error::NoRevision { path });
        };
        let place = self.place(revision);
        let opened = envelope::open(&sealed, Some(&place), |_| Ok(Arc::clone(&self.encrypter)));
        let opened = opened.map_err(|reason| Error::Open {
            revision: revision.to_owned(),
            path: path.clone(),
            reason: Box::new(reason),
        })?;
        let body = opened.body.as_bytes();
        if self.encrypter.describe().name == "noop" && body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Error::Sealed { revision: revision.to_owned(), path });
        }
        let snapshot =
            Snapshot::decode(body).map_err(|reason| Error::Snapshot { path: Some(path.clone()), reason })?;
        let found = format!("{}/{}", snapshot.factory.name, snapshot.stack);
        if self.sealing == Sealing::Bound && !opened.bound && found != place.stack {
            let revision = revision.to_owned();
            return Err(Error::Misplaced { revision, path, found, expected: place.stack });
        }
        Ok(snapshot)
    }

    /// Writes a snapshot as a revision of its own, durable when this returns, and gives its name. It is not current
    /// yet. A crash leaves it whole, or not there.
    pub fn write(&self, snapshot: &Snapshot) -> Result<String> {
        let body = snapshot.encode().map_err(|reason| Error::Snapshot { path: None, reason })?;
        let moment = self.next_moment()?;
        for number in 0..OF_ONE_MOMENT {
            let revision = Revision::at(moment, number);
            let file = self.revision_path(revision.as_str())?;
            if disk::stat(&*self.disk, &file)?.is_some() {
                continue;
            }
            let place = self.place(revision.as_str());
            let form = match self.sealing {
                Sealing::Shared => Form::Shared(None),
                Sealing::Bound => Form::Bound(&place),
            };
            let sealed = envelope::seal(&body, form, &*self.encrypter).map_err(Error::Seal)?;
            if disk::stage(&*self.disk, &file, &sealed)?.publish_new(&file)? {
                return Ok(revision.to_string());
            }
        }
        Err(Error::NoFreshRevision { attempts: OF_ONE_MOMENT })
    }

    /// Makes a revision current, durably. It must be there.
    pub fn set_current(&self, revision: &str) -> Result<()> {
        let file = self.revision_path(revision)?;
        if disk::stat(&*self.disk, &file)?.is_none() {
            let path = self.disk.location(&file);
            return Err(Error::NotWritten { revision: revision.to_owned(), path });
        }
        Ok(disk::publish(&*self.disk, &self.path("current"), format!("{revision}\n").as_bytes())?)
    }

    /// The revisions, oldest first. Those whose names are no moments come last.
    pub fn list(&self) -> Result<Vec<Revision>> {
        let names = disk::list(&*self.disk, &self.path("snapshots"))?;
        let mut revisions: Vec<Revision> =
            names.iter().filter_map(|name| name.text.strip_suffix(SUFFIX)).map(Revision::named).collect();
        revisions.sort();
        Ok(revisions)
    }

    /// Deletes a revision. The current one is refused; one that is not there is no error.
    pub fn delete(&self, revision: &str) -> Result<()> {
        let file = self.revision_path(revision)?;
        match self.current_revision() {
            Ok(current) if current == revision => {
                return Err(Error::IsCurrent { revision: revision.to_owned() });
            }
            Ok(_) | Err(Error::NoCurrent) => {}
            Err(error) => return Err(error),
        }
        Ok(disk::remove_if_there(&*self.disk, &file)?)
    }

    /// Takes the lock of the stack if nobody has it. Readers need none.
    pub fn try_lock(&self) -> Result<Option<HeldLock>> {
        HeldLock::take(&self.disk, &self.host, &self.path("lock"))
    }

    /// Takes the lock of the stack, waiting for it as long as `at_most`, or for ever. `waiting` is told once who has it.
    pub fn lock(&self, at_most: Option<Duration>, waiting: impl FnOnce(&Holder)) -> Result<HeldLock> {
        HeldLock::wait(&self.disk, &self.host, &self.path("lock"), at_most, waiting)
    }

    /// Who holds the stack.
    pub fn holder(&self) -> Result<Option<Holder>> {
        lock::holder(&*self.disk, &*self.host, &self.path("lock"))
    }

    /// Breaks the lock, whoever has it, and says who had it.
    pub fn force_unlock(&self) -> Result<Option<Holder>> {
        let broken = self.holder()?;
        disk::remove_if_there(&*self.disk, &self.path("lock"))?;
        Ok(broken)
    }

    /// The moment of the next revision: now, or just after the newest where the clock went back, so that revisions
    /// stay in the order they were written in.
    fn next_moment(&self) -> Result<Time> {
        let now = self.host.now().as_nanosecond();
        let newest = self.list()?.iter().filter_map(Revision::unix_nanoseconds).max();
        Ok(Time::from_unix_nanoseconds(match newest {
            Some(newest) if newest > now => newest + 1,
            _ => now,
        }))
    }

    fn place(&self, revision: &str) -> Place {
        Place {
            stack: format!("{}/{}", self.factory, self.stack),
            revision: revision.to_owned(),
            payload_type: PayloadType::State,
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.factory, self.stack)
    }

    fn revision_path(&self, revision: &str) -> Result<String> {
        check_name("revision", revision)?;
        Ok(self.path(&format!("snapshots/{revision}{SUFFIX}")))
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.disk.location(&format!("{}/{}", self.factory, self.stack));
        f.debug_struct("Tree").field("place", &place).field("sealing", &self.sealing).finish_non_exhaustive()
    }
}

/// Refuses a name that is no name of one file in one folder.
fn check_name(what: &'static str, name: &str) -> Result<()> {
    let leaves = matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']);
    if leaves { Err(Error::Name { what, name: name.to_owned() }) } else { Ok(()) }
}
