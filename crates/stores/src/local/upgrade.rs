//! The layout without projects: told apart, and marked as the one with.

use super::LocalStore;
use crate::disk::{self, Disk};
use crate::diy::layout::{self, stack_of};
use crate::{Result, StackId, Upgrade};
use async_trait::async_trait;

/// Whether stacks stand directly in the stacks folder, as they did before projects.
pub(crate) fn has_legacy_stacks(disk: &dyn Disk) -> Result<bool> {
    Ok(!legacy_stacks(disk)?.is_empty())
}

pub(crate) fn legacy_stacks(disk: &dyn Disk) -> Result<Vec<StackId>> {
    let names = disk::list(disk, layout::STACKS)?;
    let files = names.iter().filter(|name| !name.is_folder);
    Ok(files.filter_map(|name| StackId::legacy(stack_of(&name.text)?).ok()).collect())
}

#[async_trait]
impl Upgrade for LocalStore {
    async fn stacks_without_projects(&self) -> Result<Vec<StackId>> {
        legacy_stacks(self.disk())
    }

    async fn mark_with_projects(&self) -> Result<()> {
        disk::publish(self.disk(), layout::META, self.meta_file().as_bytes())
    }
}
