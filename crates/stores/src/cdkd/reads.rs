//! Reading without a lock (S8).

use super::error::{Error, Result};
use super::locks::LockFile;
use super::{CdkdStore, held};
use crate::object::requests::Version;
use drystone_dialects::cdkd::{
    AssetStorage, Event, Key, Layout, Lock, ReadError, Region, RollbackJournal, RunId, RunIndex, RunSummary,
    StackKey, StackName, StackState, read_events,
};
use futures::{StreamExt, TryStreamExt};
use std::collections::BTreeSet;

/// How many objects are asked for at a time.
const AT_ONCE: usize = 64;

/// A stack that there is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its name.
    pub stack: StackName,
    /// Its region; `None` for one at its legacy key that does not say.
    pub region: Option<Region>,
    /// Whether it stands at its legacy key, waiting for the next save to move it.
    pub legacy: bool,
}

impl Listed {
    /// Which stack it is, where that is known.
    #[must_use]
    pub fn key(&self) -> Option<StackKey> {
        Some(StackKey { stack: self.stack.clone(), region: self.region.clone()? })
    }
}

/// A stack and what its state says.
#[derive(Debug)]
pub struct Summary {
    /// Which stack.
    pub listed: Listed,
    /// Its state, or why that cannot be read.
    pub state: Result<StackState>,
    /// Who holds it.
    pub lock: LockFile,
}

/// A stack with those that are nested in it.
#[derive(Debug)]
pub struct Nested {
    /// Its state.
    pub state: StackState,
    /// Who holds it.
    pub lock: LockFile,
    /// The stacks that are its resources, in their order.
    pub children: Vec<Nested>,
}

/// How much of each stack a listing reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Its state.
    States,
    /// Its state and its lock.
    StatesAndLocks,
}

/// A state, and where it was found.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) state: StackState,
    pub(super) place: held::Place,
}

impl CdkdStore {
    /// The state of a stack; `None` when there is none. One at the legacy key is that of any region that it fits.
    pub async fn state(&self, key: &StackKey) -> Result<Option<StackState>> {
        Ok(self.load(key).await?.map(|loaded| loaded.state))
    }

    pub(super) async fn load(&self, key: &StackKey) -> Result<Option<Loaded>> {
        if let Some((state, version)) = self.read_state(&self.layout().state(key)).await? {
            return Ok(Some(Loaded { state, place: held::Place::Here(version) }));
        }
        let legacy = self.read_state(&self.layout().legacy_state(&key.stack)).await?;
        let legacy = legacy.filter(|(state, _)| state.fits(&key.region));
        Ok(legacy.map(|(state, _)| Loaded { state, place: held::Place::Legacy }))
    }

    async fn read_state(&self, path: &str) -> Result<Option<(StackState, Version)>> {
        let Some(object) = self.bucket().read(path).await? else { return Ok(None) };
        let state = StackState::read(&object.content).map_err(self.unreadable(path))?;
        Ok(Some((state, object.version)))
    }

    /// Whether the legacy key of a stack holds the state of exactly this region. One that cannot be read, or that names
    /// no region, does not: it is not ours to delete.
    pub(super) async fn has_legacy(&self, key: &StackKey) -> Result<bool> {
        match self.read_state(&self.layout().legacy_state(&key.stack)).await {
            Ok(legacy) => Ok(legacy.is_some_and(|(state, _)| state.is_of(&key.region))),
            Err(Error::Read { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Every stack of the bucket, each once. What is not the tool's is passed over.
    pub async fn stacks(&self) -> Result<Vec<Listed>> {
        self.survey(self.layout().prefix()).await.map(|survey| survey.stacks)
    }

    /// The stacks of a name, one for each region that it is in.
    pub async fn stacks_named(&self, stack: &StackName) -> Result<Vec<Listed>> {
        let folder = format!("{}/{stack}", self.layout().prefix());
        self.survey(&folder).await.map(|survey| survey.stacks)
    }

    /// The schema version that the state of a stack names; `None` when it names none, or cannot be read at all.
    pub async fn schema_version(&self, listed: &Listed) -> Result<Option<i64>> {
        match self.read_state(&self.state_path(listed)).await {
            Ok(found) => Ok(found.map(|(state, _)| state.version).filter(|version| *version > 0)),
            Err(Error::Read { source: ReadError::TooNew { version, .. }, .. }) => Ok(Some(version)),
            Err(Error::Read { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn state_path(&self, listed: &Listed) -> String {
        match listed.key() {
            Some(key) if !listed.legacy => self.layout().state(&key),
            _ => self.layout().legacy_state(&listed.stack),
        }
    }

    /// Every stack of the bucket with its state and, where asked for, its lock. What cannot be read is told of in its
    /// place, and spoils nothing else.
    pub async fn summaries(&self, contents: Contents) -> Result<Vec<Summary>> {
        let Survey { stacks, mut locks } = self.survey(self.layout().prefix()).await?;
        if contents == Contents::States {
            locks.clear();
        }
        let summaries = stacks.into_iter().map(|listed| {
            let locks = &locks;
            async move {
                let state =
                    self.read_state(&self.state_path(&listed)).await.transpose()?.map(|(state, _)| state);
                let lock_path = match listed.key() {
                    Some(key) => self.layout().lock(&key),
                    None => self.layout().legacy_lock(&listed.stack),
                };
                let lock = if locks.contains(&lock_path) {
                    self.lock_at(&lock_path)
                        .await
                        .unwrap_or_else(|error| LockFile::Unreadable(error.to_string()))
                } else {
                    LockFile::Absent
                };
                Some(Summary { listed, state, lock })
            }
        });
        let gathered: Vec<Option<Summary>> =
            futures::stream::iter(summaries).buffered(AT_ONCE).collect().await;
        // One that is gone by now is no stack any more.
        Ok(gathered.into_iter().flatten().collect())
    }

    async fn survey(&self, folder: &str) -> Result<Survey> {
        let mut stacks = BTreeSet::new();
        let mut legacy = Vec::new();
        let mut locks = BTreeSet::new();
        for found in self.bucket().list(folder).await? {
            match self.layout().parse(&found.path) {
                Some(Key::State(key)) => {
                    stacks.insert(Listed { stack: key.stack, region: Some(key.region), legacy: false });
                }
                Some(Key::LegacyState(stack)) => legacy.push(stack),
                Some(Key::Lock(_) | Key::LegacyLock(_)) => drop(locks.insert(found.path)),
                _ => {}
            }
        }
        let regions = legacy.clone().into_iter().map(|stack| async move { self.legacy_region(&stack).await });
        let regions: Vec<Option<Region>> = futures::stream::iter(regions).buffered(AT_ONCE).collect().await;
        for (stack, region) in legacy.into_iter().zip(regions) {
            let moved = Listed { stack: stack.clone(), region: region.clone(), legacy: false };
            if !stacks.contains(&moved) {
                stacks.insert(Listed { stack, region, legacy: true });
            }
        }
        Ok(Survey { stacks: stacks.into_iter().collect(), locks })
    }

    /// The region that a legacy state names; `None` too when it cannot be read.
    async fn legacy_region(&self, stack: &StackName) -> Option<Region> {
        let (state, _) = self.read_state(&self.layout().legacy_state(stack)).await.ok()??;
        Region::parse(&state.region).ok()
    }

    /// Who holds a stack.
    pub async fn lock(&self, key: &StackKey) -> Result<LockFile> {
        self.lock_at(&self.layout().lock(key)).await
    }

    pub(super) async fn lock_at(&self, path: &str) -> Result<LockFile> {
        let Some(object) = self.bucket().read(path).await? else { return Ok(LockFile::Absent) };
        Ok(match Lock::read(&object.content) {
            Ok(Some(lock)) => LockFile::Held(Box::new(lock)),
            Ok(None) => LockFile::Unreadable("it is not an object".to_owned()),
            Err(error) => LockFile::Unreadable(error.to_string()),
        })
    }

    /// A stack with all that are nested in it, however deep. One that a parent tells of and that is not there, or that
    /// says it is of another region, tears the tree.
    pub async fn nested(&self, key: &StackKey) -> Result<Option<Nested>> {
        let (state, lock) = futures::try_join!(self.state(key), self.lock(key))?;
        let Some(state) = state else { return Ok(None) };
        let mut children = Vec::new();
        for child in state.children(key) {
            let Some(found) = Box::pin(self.nested(&child)).await? else {
                let path = self.bucket().location(&self.layout().state(&child));
                return Err(Error::Torn { parent: key.clone(), child, path });
            };
            if !found.state.fits(&child.region) {
                let path = self.bucket().location(&self.layout().state(&child));
                let region = found.state.region;
                return Err(Error::Astray { child, path, region });
            }
            children.push(found);
        }
        Ok(Some(Nested { state, lock, children }))
    }

    /// The regions in which a stack has left anything that a question is answered with yes for.
    async fn regions_with(
        &self,
        stack: &StackName,
        mut is_meant: impl FnMut(&Key) -> bool,
    ) -> Result<BTreeSet<Option<Region>>> {
        let folder = format!("{}/{stack}", self.layout().prefix());
        let mut regions = BTreeSet::new();
        for found in self.bucket().list(&folder).await? {
            let Some(key) = self.layout().parse(&found.path).filter(|key| is_meant(key)) else { continue };
            regions.insert(key.region().cloned());
        }
        Ok(regions)
    }

    /// The regions in which a stack has a state or a lock; `None` among them for what stands at the legacy keys.
    pub async fn regions(&self, stack: &StackName) -> Result<Vec<Option<Region>>> {
        let is_meant = |key: &Key| {
            matches!(key, Key::State(_) | Key::Lock(_) | Key::LegacyState(_) | Key::LegacyLock(_))
        };
        Ok(self.regions_with(stack, is_meant).await?.into_iter().collect())
    }

    /// The regions in which a stack has past runs.
    pub async fn regions_of_runs(&self, stack: &StackName) -> Result<Vec<Region>> {
        let is_meant = |key: &Key| matches!(key, Key::RunIndex(_) | Key::Events(..));
        Ok(self.regions_with(stack, is_meant).await?.into_iter().flatten().collect())
    }

    /// Where the assets of regions go that were prepared for them. A marker that cannot be read is told of in its place.
    pub async fn asset_storages(&self) -> Result<Vec<(Region, Result<AssetStorage>)>> {
        let mut storages = Vec::new();
        for found in self.bucket().list(Layout::ASSETS).await? {
            let Some(region) = Layout::parse_asset_storage(&found.path) else { continue };
            let Some(object) = self.bucket().read(&found.path).await? else { continue };
            storages
                .push((region, AssetStorage::read(&object.content).map_err(self.unreadable(&found.path))));
        }
        Ok(storages)
    }

    /// The rollback journal of a stack; `None` when there is none.
    pub async fn rollback_journal(&self, key: &StackKey) -> Result<Option<RollbackJournal>> {
        let path = self.layout().rollback_journal(key);
        let Some(object) = self.bucket().read(&path).await? else { return Ok(None) };
        RollbackJournal::read(&object.content).map(Some).map_err(self.unreadable(&path))
    }

    /// The runs of a stack, newest first. Where their index is missing or damaged, the events of each tell of it.
    pub async fn runs(&self, key: &StackKey) -> Result<Vec<RunSummary>> {
        let index = self.bucket().read(&self.layout().run_index(key)).await?;
        if let Some(Ok(index)) = index.map(|object| RunIndex::read(&object.content)) {
            return Ok(index.runs);
        }
        let found = self.bucket().list(&self.layout().runs(key)).await?;
        let mut runs: Vec<RunId> = found
            .iter()
            .filter_map(|found| match self.layout().parse(&found.path)? {
                Key::Events(_, run) => Some(run),
                _ => None,
            })
            .collect();
        runs.sort_by(|one, other| other.cmp(one));
        let summaries = runs.into_iter().map(|run| async move {
            let events = match self.events(key, &run).await {
                Ok(events) => events.unwrap_or_default(),
                Err(Error::Read { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            Ok(RunSummary::of(run, &events))
        });
        futures::stream::iter(summaries).buffered(AT_ONCE).try_collect().await
    }

    /// The events of a run; `None` when there are none of it.
    pub async fn events(&self, key: &StackKey, run: &RunId) -> Result<Option<Vec<Event>>> {
        let path = self.layout().events(key, run);
        let Some(object) = self.bucket().read(&path).await? else { return Ok(None) };
        read_events(&object.content).map(Some).map_err(self.unreadable(&path))
    }

    pub(super) fn unreadable(&self, path: &str) -> impl FnOnce(ReadError) -> Error {
        let path = self.bucket().location(path);
        move |source| Error::Read { path, source }
    }
}

struct Survey {
    stacks: Vec<Listed>,
    /// The keys of the locks that stand.
    locks: BTreeSet<String>,
}
