//! Bringing everything of a backend into the form that new documents have: sealed, sealed anew, or clear.

use super::{Sealing, place_of};
use crate::diy::layout::{self, Compression};
use crate::{Claim, Error, Leases, Result, StackId};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was brought into another form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// How many stacks there are, those in the trash included.
    pub stacks: u64,
    /// How many documents were written anew.
    pub documents: u64,
}

/// A medium, as far as it is sealed.
#[async_trait]
pub(crate) trait Documents: Leases {
    /// The paths of everything below Pulumi's folder.
    async fn paths(&self) -> Result<Vec<String>>;
    /// Brings a document into the form that new ones have; says whether there was something to do.
    async fn reseal_one(&self, path: &str) -> Result<bool>;
    /// Writes down whether the backend is sealed.
    async fn write_meta(&self) -> Result<()>;
}

/// Brings everything into the form that new documents have, one stack after the other, each under its lease. What was
/// cut short is gone on with by doing it again: each document is in the one form or in the other, and until the last
/// both are read.
pub(crate) async fn reseal(store: &dyn Documents, sealing: &Sealing, command: &str) -> Result<Resealed> {
    // From the first moment on, whoever has no key keeps out; until the last, whoever has one can go on.
    let seals = sealing.description().is_some();
    if seals {
        store.write_meta().await?;
    }
    let mut resealed = Resealed::default();
    for stack in of_stacks(store.paths().await?).into_keys() {
        let exists = |paths: &[String]| {
            let checkpoint = layout::checkpoint(&stack);
            Compression::ALL.iter().any(|it| paths.contains(&format!("{checkpoint}{}", it.ending())))
        };
        let lease = match store.paths().await? {
            paths if exists(&paths) => Some(store.acquire(&stack, Claim::new(command)).await?),
            _ => None,
        };
        // Taking the lease may have brought in a journal: other documents are there now.
        for path in of_stacks(store.paths().await?).remove(&stack).unwrap_or_default() {
            resealed.documents += u64::from(store.reseal_one(&path).await?);
        }
        resealed.stacks += 1;
        if let Some(lease) = lease {
            lease.release().await?;
        }
    }
    if !seals {
        store.write_meta().await?;
    }
    Ok(resealed)
}

/// A backend that is older than projects has no place to say that it is sealed.
pub(crate) fn refuse_legacy(has_projects: bool, path: PathBuf) -> Result<()> {
    if has_projects {
        return Ok(());
    }
    let reason = "stacks without projects cannot be sealed: `drystone state upgrade` gives them theirs";
    Err(Error::Unsupported { path, reason: reason.to_owned() })
}

/// The paths that are sealed, by the stack that they belong to.
fn of_stacks(paths: Vec<String>) -> BTreeMap<StackId, Vec<String>> {
    let mut stacks: BTreeMap<StackId, Vec<String>> = BTreeMap::new();
    for path in paths {
        let Some(place) = place_of(&path) else { continue };
        let stack = match place.stack.split_once('/') {
            Some((project, name)) => StackId::new(project, name),
            None => StackId::legacy(&place.stack),
        };
        // What has no stack's name is not ours.
        if let Ok(stack) = stack {
            stacks.entry(stack).or_default().push(path);
        }
    }
    stacks
}
