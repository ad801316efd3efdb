//! The layout without projects, which very old CLIs left, brought up to the one with. The same on every medium.

use crate::{At, Claim, Error, Leases, Reads, Relocation, Result, StackId};
use async_trait::async_trait;

/// A stack that stands without a project, with the project that its resources name.
pub type Unowned = (StackId, Option<String>);

/// What an upgrade did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Upgraded {
    /// The stacks moved, old name and new.
    pub moved: Vec<(StackId, StackId)>,
    /// The stacks left, each with the reason.
    pub skipped: Vec<(StackId, String)>,
}

/// A store whose stacks may stand without projects.
#[async_trait]
pub trait Upgrade: Reads + Leases {
    /// The stacks that stand where CLIs older than projects put them.
    async fn stacks_without_projects(&self) -> Result<Vec<StackId>>;

    /// Marks the place as one whose stacks have projects.
    async fn mark_with_projects(&self) -> Result<()>;

    /// Stacks that still stand without a project, each with the project its resources name.
    async fn legacy(&self) -> Result<Vec<Unowned>> {
        let mut found = Vec::new();
        for stack in self.stacks_without_projects().await? {
            let snapshot = self.snapshot(&stack, At::Current).await?.snapshot;
            let project = snapshot.resources.first().map(|resource| resource.urn.project().to_owned());
            found.push((stack, project.filter(|project| !project.is_empty())));
        }
        Ok(found)
    }

    /// Gives every stack its project. `projects` names each stack's; a stack without one is left where it is. The
    /// place is marked first: one that cannot be marked is not touched.
    async fn upgrade(&self, projects: Vec<Unowned>) -> Result<Upgraded> {
        self.mark_with_projects().await?;
        let mut upgraded = Upgraded::default();
        for (stack, project) in projects {
            match self.upgrade_stack(&stack, project.as_deref()).await {
                Ok(target) => upgraded.moved.push((stack, target)),
                Err(reason) => upgraded.skipped.push((stack, reason)),
            }
        }
        Ok(upgraded)
    }

    /// Gives one stack its project, or says why it cannot have it.
    async fn upgrade_stack(&self, stack: &StackId, project: Option<&str>) -> Result<StackId, String> {
        let project = project.ok_or("no project name found")?;
        let target = StackId::new(project, stack.name()).map_err(|error| error.to_string())?;
        let moved = async {
            let lease = self.acquire(stack, Claim::new("state upgrade")).await?;
            let recorded = match self.snapshot(stack, At::Current).await {
                Ok(recorded) => recorded,
                Err(Error::NotFound { .. }) => {
                    // An upgrade that was cut short had moved it; taking the lease finished that.
                    lease.release().await?;
                    return self.snapshot(&target, At::Current).await.map(drop);
                }
                Err(error) => {
                    lease.release().await?;
                    return Err(error);
                }
            };
            let snapshot = recorded.ever_written.then(|| Box::new(recorded.snapshot));
            let moved = lease.relocate(Relocation::To { stack: target.clone(), snapshot }).await;
            lease.release().await?;
            moved
        };
        moved.await.map_err(|error: Error| error.to_string())?;
        Ok(target)
    }
}
