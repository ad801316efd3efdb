//! Stacks in a directory, in Pulumi's layout and side by side with the stock CLI (S14).
//!
//! Pulumi's checkpoint is the current document. Around it stand our lease, the journal of the running update, and the
//! revisions. One commit is, in this order, each step durable before the next: the revision is prepared, the journal
//! says which document is about to become current, the checkpoint is replaced by one rename, the revision is recorded,
//! the journal is deleted. Whoever takes the lease next finishes or undoes whatever a crash cut short (`recovery`).

mod checkpoint;
mod commit;
mod group_commit;
mod held;
mod leases;
mod reads;
mod recovery;
mod relocate;
mod reseal;
mod revisions;
mod upgrade;

pub use crate::diy::DiyOptions as LocalOptions;
pub use crate::diy::layout::Compression;

use crate::disk::{self, Disk, OsDisk};
use crate::diy::{document, layout};
use crate::seal::SealedDisk;
use crate::{Claim, HeldLease, Host, LeaseInfo, Leases, Recovery, Result, StackId, SystemHost};
use async_trait::async_trait;
use leases::LeaseFiles;
use std::path::PathBuf;
use std::sync::Arc;

/// A store in a directory.
#[derive(Debug, Clone)]
pub struct LocalStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    /// The same disk, where it is sealed.
    sealed: Option<SealedDisk>,
    host: Arc<dyn Host>,
    options: LocalOptions,
    has_projects: bool,
}

impl LocalStore {
    /// Opens a directory; it need not exist yet. Nothing is written before the first write.
    pub fn open(root: impl Into<PathBuf>, options: LocalOptions) -> Result<Self> {
        Self::with(Arc::new(OsDisk::new(root)), Arc::new(SystemHost), options)
    }

    /// Opens a disk, real or simulated.
    pub fn with(disk: Arc<dyn Disk>, host: Arc<dyn Host>, options: LocalOptions) -> Result<Self> {
        let sealing = options.sealing.clone();
        let sealed = sealing.map(|sealing| SealedDisk::new(Arc::clone(&disk), sealing));
        let disk: Arc<dyn Disk> = match &sealed {
            Some(sealed) => Arc::new(sealed.clone()),
            None => disk,
        };
        let has_projects = match disk::read_if_there(&*disk, layout::META)? {
            Some(meta) => {
                let sealing = options.sealing.as_ref();
                document::layout_version(disk.location(layout::META), &meta, sealing)? == 1
            }
            None => !options.legacy_layout && !upgrade::has_legacy_stacks(&*disk)?,
        };
        Ok(Self { inner: Arc::new(Inner { disk, sealed, host, options, has_projects }) })
    }

    /// Whether stacks belong to projects here; they do except in directories of very old CLIs.
    #[must_use]
    pub fn has_projects(&self) -> bool {
        self.inner.has_projects
    }

    /// Names a stack of this store: the three forms of [`StackId::parse`], or a bare name in the legacy layout.
    pub fn stack_id(&self, text: &str, current_project: Option<&str>) -> Result<StackId> {
        Ok(if self.has_projects() { StackId::parse(text, current_project)? } else { StackId::legacy(text)? })
    }

    fn disk(&self) -> &dyn Disk {
        &*self.inner.disk
    }

    fn host(&self) -> &dyn Host {
        &*self.inner.host
    }

    fn options(&self) -> &LocalOptions {
        &self.inner.options
    }

    fn leases<'a>(&'a self, stack: &'a StackId) -> LeaseFiles<'a> {
        LeaseFiles::new(self.disk(), self.host(), stack)
    }

    fn revisions(&self, stack: &StackId) -> revisions::Revisions<'_> {
        revisions::Revisions::new(self.disk(), stack)
    }

    fn meta_file(&self) -> String {
        document::meta_file(self.options().sealing.as_ref())
    }

    /// Marks the directory as one with projects, as the stock CLI does before it writes the first stack.
    fn ensure_meta(&self) -> Result<()> {
        if self.has_projects() && disk::stat(self.disk(), layout::META)?.is_none() {
            disk::publish(self.disk(), layout::META, self.meta_file().as_bytes())?;
        }
        Ok(())
    }
}

#[async_trait]
impl Leases for LocalStore {
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        self.ensure_meta()?;
        let files = self.leases(stack);
        let guard = files.guard()?;
        let taken = files.take(&guard, &claim)?;
        match self.settle(stack, &taken.info, &guard) {
            Ok(recovery) => {
                Ok(Box::new(held::LocalLease::new(self.clone(), stack.clone(), taken, recovery)?))
            }
            Err(error) => {
                // The next one may be luckier, and must find the journal as it is.
                files.abandon(&taken)?;
                Err(error)
            }
        }
    }

    async fn break_lease(&self, stack: &StackId, claim: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let files = self.leases(stack);
        let guard = files.guard()?;
        let (broken, taken) = files.take_away(&guard, &claim)?;
        let recovery = self.settle(stack, &taken.info, &guard);
        match recovery {
            Ok(recovery) => {
                files.release(&taken.info)?;
                Ok((broken, recovery))
            }
            Err(error) => {
                files.abandon(&taken)?;
                Err(error)
            }
        }
    }
}
