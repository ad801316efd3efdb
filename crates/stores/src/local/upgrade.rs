//! The layout without projects: told apart, and brought up to the one with.

use super::LocalStore;
use crate::disk::{self, Disk};
use crate::diy::layout::{self, stack_of};
use crate::{At, Claim, Leases, Reads, Relocation, Result, StackId};

/// What an upgrade did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Upgraded {
    /// The stacks moved, old name and new.
    pub moved: Vec<(StackId, StackId)>,
    /// The stacks left, each with the reason.
    pub skipped: Vec<(StackId, String)>,
}

/// Whether stacks stand directly in the stacks folder, as they did before projects.
pub(crate) fn has_legacy_stacks(disk: &dyn Disk) -> Result<bool> {
    Ok(!legacy_stacks(disk)?.is_empty())
}

pub(crate) fn legacy_stacks(disk: &dyn Disk) -> Result<Vec<StackId>> {
    let names = disk::list(disk, layout::STACKS)?;
    let files = names.iter().filter(|name| !name.is_folder);
    Ok(files.filter_map(|name| StackId::legacy(stack_of(&name.text)?).ok()).collect())
}

impl LocalStore {
    /// Stacks that still stand without a project, each with the project its resources name.
    pub async fn legacy(&self) -> Result<Vec<(StackId, Option<String>)>> {
        let mut found = Vec::new();
        for stack in legacy_stacks(self.disk())? {
            let snapshot = self.snapshot(&stack, At::Current).await?.snapshot;
            let project = snapshot.resources.first().map(|resource| resource.urn.project().to_owned());
            found.push((stack, project.filter(|project| !project.is_empty())));
        }
        Ok(found)
    }

    /// Gives every stack its project. `projects` names each stack's; a stack without one is left where it is. The
    /// directory is marked first: one that cannot be marked is not touched.
    pub async fn upgrade(&self, projects: Vec<(StackId, Option<String>)>) -> Result<Upgraded> {
        disk::publish(self.disk(), layout::META, self.meta_file().as_bytes())?;
        let mut upgraded = Upgraded::default();
        for (stack, project) in projects {
            match self.upgrade_stack(&stack, project.as_deref()).await {
                Ok(target) => upgraded.moved.push((stack, target)),
                Err(reason) => upgraded.skipped.push((stack, reason)),
            }
        }
        Ok(upgraded)
    }

    fn is_there(&self, stack: &StackId) -> Result<bool> {
        Ok(super::checkpoint::locate(self.disk(), stack)?.is_some())
    }

    async fn upgrade_stack(&self, stack: &StackId, project: Option<&str>) -> Result<StackId, String> {
        let project = project.ok_or("no project name found")?;
        let target = StackId::new(project, stack.name()).map_err(|error| error.to_string())?;
        let moved = async {
            let lease = self.acquire(stack, Claim::new("state upgrade")).await?;
            if self.is_there(&target)? && !self.is_there(stack)? {
                // An upgrade that was cut short had moved it; taking the lease finished that.
                return lease.release().await;
            }
            let recorded = self.snapshot(stack, At::Current).await?;
            let snapshot = recorded.ever_written.then(|| Box::new(recorded.snapshot));
            let moved = lease.relocate(Relocation::To { stack: target.clone(), snapshot }).await;
            lease.release().await?;
            moved
        };
        moved.await.map_err(|error: crate::Error| error.to_string())?;
        Ok(target)
    }
}
