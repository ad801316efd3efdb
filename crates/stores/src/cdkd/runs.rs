//! The runs of a stack: what happened in them, written as it happens.

use super::CdkdStore;
use super::error::Result;
use crate::object::requests::Written;
use drystone_dialects::cdkd::{Event, Key, ReadError, RunId, RunIndex, RunSummary, StackKey, write_events};

/// How often the index is tried that others change at the same time.
const TRIES: usize = 5;

impl CdkdStore {
    /// Writes the events of a run so far, in place of those that were there. Each run has an object of its own, so this
    /// needs no lock.
    pub async fn write_events(&self, key: &StackKey, run: &RunId, events: &[Event]) -> Result<()> {
        let path = self.layout().events(key, run);
        self.bucket().overwrite(&path, write_events(events)).await?;
        Ok(())
    }

    /// Ends a run: its events, then its line in the index, then the events of runs that the index has outlived. Dying in
    /// here leaves the events of a run that is not in the index, or events that nobody needs; the next run deletes those.
    pub async fn finish_run(&self, key: &StackKey, run: RunSummary, events: &[Event]) -> Result<()> {
        self.write_events(key, &run.run_id, events).await?;
        let Some(index) = self.index_run(key, &run).await? else { return Ok(()) };
        let mut outlived = Vec::new();
        for found in self.bucket().list(&self.layout().runs(key)).await? {
            match self.layout().parse(&found.path) {
                Some(Key::Events(_, run)) if index.has_outlived(&run) => outlived.push(found.path),
                _ => {}
            }
        }
        Ok(self.bucket().remove(&outlived).await?)
    }

    /// Puts a run into the index of a stack, and gives that; `None` when others went on changing it, or a newer tool wrote
    /// it: the events are there. A damaged index is begun anew, as the tool does.
    async fn index_run(&self, key: &StackKey, run: &RunSummary) -> Result<Option<RunIndex>> {
        let path = self.layout().run_index(key);
        for _ in 0..TRIES {
            let object = self.bucket().read(&path).await?;
            let mut index = match object.as_ref().map(|object| RunIndex::read(&object.content)) {
                Some(Ok(index)) => index,
                Some(Err(ReadError::TooNew { .. })) => return Ok(None),
                Some(Err(_)) | None => RunIndex::new(key),
            };
            index.insert(run.clone());
            index.last_modified = self.now();
            let written = match object {
                Some(object) => self.bucket().replace(&path, index.write(), &object.version).await?,
                None => self.bucket().create(&path, index.write()).await?,
            };
            if matches!(written, Written::Done(_)) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}
