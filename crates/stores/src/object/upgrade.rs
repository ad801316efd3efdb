//! The layout without projects: told apart, and marked as the one with.

use super::BucketStore;
use super::requests::Bucket;
use crate::diy::layout::{self, stack_of};
use crate::{Result, StackId, Upgrade};
use async_trait::async_trait;
use std::sync::atomic::Ordering;

/// The stacks that stand where CLIs older than projects put them.
pub(super) async fn legacy_stacks(bucket: &Bucket) -> Result<Vec<StackId>> {
    let (_, files) = bucket.names(layout::STACKS).await?;
    let names = files.iter().filter_map(|found| stack_of(found.path.rsplit('/').next()?));
    Ok(names.filter_map(|name| StackId::legacy(name).ok()).collect())
}

#[async_trait]
impl Upgrade for BucketStore {
    async fn stacks_without_projects(&self) -> Result<Vec<StackId>> {
        legacy_stacks(self.bucket()).await
    }

    async fn mark_with_projects(&self) -> Result<()> {
        self.bucket().overwrite(layout::META, self.meta_file()).await?;
        self.inner.has_meta.store(true, Ordering::Relaxed);
        Ok(())
    }
}
