//! The tree of one stack.

use super::lock::{HeldLock, Holder, Place as LockPlace};
use super::medium::{Content, Medium, StoreKind};
use super::{Error, Result};
use crate::Host;
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
    medium: Arc<dyn Medium>,
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
    pub(super) fn new(
        medium: Arc<dyn Medium>,
        host: Arc<dyn Host>,
        factory: &str,
        stack: &str,
        encrypter: Arc<dyn Encrypter>,
    ) -> Result<Self> {
        let store = medium.kind();
        for (what, name) in [("factory", factory), ("stack", stack)] {
            if name.is_empty() {
                return Err(Error::Required { store, what });
            }
            check_name(store, what, name)?;
        }
        let (factory, stack) = (factory.to_owned(), stack.to_owned());
        Ok(Self { medium, host, factory, stack, encrypter, sealing: Sealing::Shared })
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
    pub async fn current(&self) -> Result<Snapshot> {
        self.get(&self.current_revision().await?).await
    }

    /// The name of the current revision.
    pub async fn current_revision(&self) -> Result<String> {
        let content = self.medium.read(&self.path("current")).await?;
        content.as_ref().and_then(named_in).ok_or(Error::NoCurrent)
    }

    /// The snapshot of a revision.
    pub async fn get(&self, revision: &str) -> Result<Snapshot> {
        let file = self.revision_path(revision)?;
        let (store, path) = (self.medium.kind(), self.medium.location(&file));
        let Some(sealed) = self.medium.read(&file).await? else {
            return Err(Error::NoRevision { store, path });
        };
        let place = self.place(revision);
        let opened = envelope::open(&sealed.bytes, Some(&place), |_| Ok(Arc::clone(&self.encrypter)));
        let opened = opened.map_err(|reason| Error::Open {
            store,
            revision: revision.to_owned(),
            path: path.clone(),
            reason: Box::new(reason),
        })?;
        let body = opened.body.as_bytes();
        if self.encrypter.describe().name == "noop" && body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Error::Sealed { store, revision: revision.to_owned(), path });
        }
        let snapshot =
            Snapshot::decode(body).map_err(|reason| Error::Snapshot { path: Some(path.clone()), reason })?;
        let found = format!("{}/{}", snapshot.factory.name, snapshot.stack);
        if self.sealing == Sealing::Bound && !opened.bound && found != place.stack {
            let revision = revision.to_owned();
            return Err(Error::Misplaced { store, revision, path, found, expected: place.stack });
        }
        Ok(snapshot)
    }

    /// Writes a snapshot as a revision of its own, durable when this returns, and gives its name. It is not current
    /// yet. A crash leaves it whole, or not there.
    pub async fn write(&self, snapshot: &Snapshot) -> Result<String> {
        let body = snapshot.encode().map_err(|reason| Error::Snapshot { path: None, reason })?;
        let listed = self.list().await?;
        let moment = self.next_moment(&listed);
        for number in 0..OF_ONE_MOMENT {
            let revision = Revision::at(moment, number);
            if listed.iter().any(|taken| taken.as_str() == revision.as_str()) {
                continue;
            }
            let place = self.place(revision.as_str());
            let form = match self.sealing {
                Sealing::Shared => Form::Shared(None),
                Sealing::Bound => Form::Bound(&place),
            };
            let sealed = envelope::seal(&body, form, &*self.encrypter).map_err(Error::Seal)?;
            if self.medium.create(&self.revision_path(revision.as_str())?, sealed).await? {
                return Ok(revision.to_string());
            }
        }
        Err(Error::NoFreshRevision { store: self.medium.kind(), attempts: OF_ONE_MOMENT })
    }

    /// Makes a revision current, durably, whichever is. It must be there.
    pub async fn set_current(&self, revision: &str) -> Result<()> {
        self.must_be_written(revision).await?;
        let seen = self.medium.read(&self.path("current")).await?;
        self.point_at(revision, seen.as_ref()).await
    }

    /// Makes a revision current if `from` still is (S6); `None` where there was none. In a folder that holds for those
    /// who keep the lock, in a bucket for everybody.
    pub async fn move_current(&self, from: Option<&str>, to: &str) -> Result<()> {
        self.must_be_written(to).await?;
        let seen = self.medium.read(&self.path("current")).await?;
        let found = seen.as_ref().and_then(named_in);
        if found.as_deref() != from {
            return Err(Error::Moved { store: self.medium.kind(), to: to.to_owned(), found });
        }
        self.point_at(to, seen.as_ref()).await
    }

    async fn must_be_written(&self, revision: &str) -> Result<()> {
        let file = self.revision_path(revision)?;
        if self.medium.exists(&file).await? {
            return Ok(());
        }
        let (store, path) = (self.medium.kind(), self.medium.location(&file));
        Err(Error::NotWritten { store, revision: revision.to_owned(), path })
    }

    async fn point_at(&self, revision: &str, seen: Option<&Content>) -> Result<()> {
        let content = format!("{revision}\n").into_bytes();
        let path = self.path("current");
        if self.medium.replace(&path, content, seen.map(|seen| &seen.mark)).await? {
            return Ok(());
        }
        let found = self.medium.read(&path).await?.as_ref().and_then(named_in);
        Err(Error::Moved { store: self.medium.kind(), to: revision.to_owned(), found })
    }

    /// The revisions, oldest first. Those whose names are no moments come last.
    pub async fn list(&self) -> Result<Vec<Revision>> {
        let names = self.medium.names(&self.path("snapshots")).await?;
        let mut revisions: Vec<Revision> =
            names.iter().filter_map(|name| name.strip_suffix(SUFFIX)).map(Revision::named).collect();
        revisions.sort();
        Ok(revisions)
    }

    /// Deletes a revision. The current one is refused; one that is not there is no error.
    pub async fn delete(&self, revision: &str) -> Result<()> {
        let file = self.revision_path(revision)?;
        match self.current_revision().await {
            Ok(current) if current == revision => {
                return Err(Error::IsCurrent { store: self.medium.kind(), revision: revision.to_owned() });
            }
            Ok(_) | Err(Error::NoCurrent) => {}
            Err(error) => return Err(error),
        }
        self.medium.remove(&file).await
    }

    /// Takes the lock of the stack if nobody has it. Readers need none.
    pub async fn try_lock(&self) -> Result<Option<HeldLock>> {
        self.lock_place().take().await
    }

    /// Takes the lock of the stack, waiting for it as long as `at_most`, or for ever. `waiting` is told once who has it.
    pub async fn lock(&self, at_most: Option<Duration>, waiting: impl FnOnce(&Holder)) -> Result<HeldLock> {
        self.lock_place().wait(at_most, waiting).await
    }

    /// Who holds the stack.
    pub async fn holder(&self) -> Result<Option<Holder>> {
        self.lock_place().holder().await
    }

    /// Breaks the lock, whoever has it, and says who had it.
    pub async fn force_unlock(&self) -> Result<Option<Holder>> {
        let broken = self.holder().await?;
        self.medium.remove(&self.path("lock")).await?;
        Ok(broken)
    }

    /// The moment of the next revision: now, or just after the newest where the clock went back, so that revisions
    /// stay in the order they were written in.
    fn next_moment(&self, listed: &[Revision]) -> Time {
        let now = self.host.now().as_nanosecond();
        let newest = listed.iter().filter_map(Revision::unix_nanoseconds).max();
        Time::from_unix_nanoseconds(match newest {
            Some(newest) if newest > now => newest + 1,
            _ => now,
        })
    }

    fn lock_place(&self) -> LockPlace {
        let (medium, host) = (Arc::clone(&self.medium), Arc::clone(&self.host));
        LockPlace { medium, host, path: self.path("lock") }
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
        check_name(self.medium.kind(), "revision", revision)?;
        Ok(self.path(&format!("snapshots/{revision}{SUFFIX}")))
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.medium.location(&format!("{}/{}", self.factory, self.stack));
        f.debug_struct("Tree").field("place", &place).field("sealing", &self.sealing).finish_non_exhaustive()
    }
}

/// Refuses a name that is no name of one file in one folder.
fn check_name(store: StoreKind, what: &'static str, name: &str) -> Result<()> {
    let leaves = matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']);
    if leaves { Err(Error::Name { store, what, name: name.to_owned() }) } else { Ok(()) }
}

/// The revision that `current` names, if it names one.
fn named_in(content: &Content) -> Option<String> {
    let text = String::from_utf8_lossy(&content.bytes);
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}
