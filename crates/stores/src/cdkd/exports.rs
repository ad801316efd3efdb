//! The exports index of a region: kept up to date, made again where it is missing or damaged, and never in the way.

use super::CdkdStore;
use super::error::Result;
use super::reads::Contents;
use crate::object::requests::Written;
use drystone_dialects::cdkd::{ExportIndex, ReadError, Region, StackKey, StackState};
use std::time::Duration;

/// How often a change is tried that others make theirs at the same time as.
const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What became of a change to the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indexed {
    /// It was written.
    Written,
    /// There was nothing to change.
    Unchanged,
    /// It was given up; the index is behind until the next change, which says so again or makes up for it.
    GivenUp(String),
}

impl CdkdStore {
    /// The exports of a region. Where the index is missing or damaged it is made from the states; one that a newer tool
    /// wrote is refused.
    pub async fn exports(&self, region: &Region) -> Result<ExportIndex> {
        let path = self.layout().exports(region);
        let Some(object) = self.bucket().read(&path).await? else { return self.gather_exports(region).await };
        match ExportIndex::read(&object.content) {
            Ok(index) => Ok(index),
            Err(error @ ReadError::TooNew { .. }) => Err(self.unreadable(&path)(error)),
            Err(_) => self.gather_exports(region).await,
        }
    }

    /// Puts the outputs of a stack into the index of its region, or takes them out where there is no state any more.
    pub async fn update_exports(&self, key: &StackKey, state: Option<&StackState>) -> Indexed {
        let mut pause = FIRST_PAUSE;
        for _ in 0..TRIES {
            match self.try_update_exports(key, state).await {
                Ok(Some(indexed)) => return indexed,
                Ok(None) => tokio::time::sleep(pause).await,
                Err(error) => return Indexed::GivenUp(error.to_string()),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Indexed::GivenUp(format!("others went on changing the exports of {}", key.region))
    }

    /// Changes the index unless another does so at the same time: then `None`.
    async fn try_update_exports(
        &self,
        key: &StackKey,
        state: Option<&StackState>,
    ) -> Result<Option<Indexed>> {
        let path = self.layout().exports(&key.region);
        let object = self.bucket().read(&path).await?;
        let (mut index, is_new) = match object.as_ref().map(|object| ExportIndex::read(&object.content)) {
            Some(Ok(index)) => (index, false),
            Some(Err(error @ ReadError::TooNew { .. })) => return Err(self.unreadable(&path)(error)),
            Some(Err(_)) | None => (self.gather_exports(&key.region).await?, true),
        };
        let changed = match state {
            Some(state) => index.update(key, state),
            None => index.remove(key),
        };
        if !changed && !is_new {
            return Ok(Some(Indexed::Unchanged));
        }
        index.last_modified = self.now();
        let written = match object {
            Some(object) => self.bucket().replace(&path, index.write(), &object.version).await?,
            None => self.bucket().create(&path, index.write()).await?,
        };
        Ok(matches!(written, Written::Done(_)).then_some(Indexed::Written))
    }

    /// The index that the states of a region make. A state that cannot be read gives nothing.
    async fn gather_exports(&self, region: &Region) -> Result<ExportIndex> {
        let states: Vec<(StackKey, StackState)> = self
            .summaries(Contents::States)
            .await?
            .into_iter()
            .filter_map(|summary| Some((summary.listed.key()?, summary.state.ok()?)))
            .filter(|(key, _)| key.region == *region)
            .collect();
        Ok(ExportIndex::gather(region, states.iter().map(|(key, state)| (key, state))))
    }
}
