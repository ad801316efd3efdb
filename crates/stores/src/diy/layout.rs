//! Where everything of a stack stands below the store's root: Pulumi's own layout, and ours beside it.
//!
//! Pulumi's part is `.pulumi/{meta.yaml,stacks,history,backups,locks}`. Ours is `.pulumi/drystone`, which the stock
//! CLI passes over: leases, journals, revisions and the trash.

use crate::{LeaseInfo, StackId};

/// The folder of Pulumi's layout, in which ours is too.
pub(crate) const ROOT: &str = ".pulumi";
pub(crate) const META: &str = ".pulumi/meta.yaml";
/// What it says where stacks have projects.
pub(crate) const MARK: &str = "version: 1\n";
pub(crate) const STACKS: &str = ".pulumi/stacks";
const LOCKS: &str = ".pulumi/locks";
pub(crate) const TRASH: &str = ".pulumi/drystone/trash";

/// How a checkpoint file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all: `.json`.
    #[default]
    None,
    /// With gzip: `.json.gz`.
    Gzip,
    /// With Zstandard: `.json.zst`.
    Zstd,
}

impl Compression {
    pub(crate) const ALL: [Self; 3] = [Self::None, Self::Gzip, Self::Zstd];

    /// What is added to the file's name.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}

/// The folder name of a stack below one of the layout's roots.
fn below(root: &str, stack: &StackId) -> String {
    match stack.project() {
        Some(project) => format!("{root}/{project}/{}", stack.name()),
        None => format!("{root}/{}", stack.name()),
    }
}

/// The folder of a stack below one of our own roots, where stacks without a project must not meet projects.
fn ours(root: &str, stack: &StackId) -> String {
    match stack.project() {
        Some(project) => format!(".pulumi/drystone/{root}/projects/{project}/{}", stack.name()),
        None => format!(".pulumi/drystone/{root}/legacy/{}", stack.name()),
    }
}

/// The checkpoint without its compression's ending.
pub(crate) fn checkpoint(stack: &StackId) -> String {
    format!("{}.json", below(STACKS, stack))
}

pub(crate) fn tags(stack: &StackId) -> String {
    format!("{}.pulumi-tags", below(STACKS, stack))
}

pub(crate) fn history(stack: &StackId) -> String {
    below(".pulumi/history", stack)
}

pub(crate) fn backups(stack: &StackId) -> String {
    below(".pulumi/backups", stack)
}

/// The folder of the lock files that other tools see.
pub(crate) fn locks(stack: &StackId) -> String {
    format!("{LOCKS}/{}", stack.qualified())
}

/// The folder with the lock files of all stacks of a project, or of all.
pub(crate) fn all_locks(project: Option<&str>) -> String {
    match project {
        // Any stack of it has its lock files there.
        Some(project) => format!("{LOCKS}/organization/{project}"),
        None => LOCKS.to_owned(),
    }
}

/// The stack that a lock file stands for.
pub(crate) fn locked_stack(path: &str, has_projects: bool) -> Option<StackId> {
    let (folder, _) = path.strip_prefix(LOCKS)?.strip_prefix('/')?.rsplit_once('/')?;
    match has_projects {
        true if folder.matches('/').count() == 2 => StackId::parse(folder, None).ok(),
        true => None,
        false => StackId::legacy(folder).ok(),
    }
}

/// The folder with the lease, the lock that shows its holder to be alive, and the guard of both.
pub(crate) fn lease(stack: &StackId) -> String {
    ours("leases", stack)
}

pub(crate) fn journals(stack: &StackId) -> String {
    format!("{}/journals", ours("stacks", stack))
}

pub(crate) fn revisions(stack: &StackId) -> String {
    format!("{}/revisions", ours("stacks", stack))
}

/// Everything of ours that goes with the stack when it moves.
pub(crate) fn own(stack: &StackId) -> String {
    ours("stacks", stack)
}

/// The folder of a trashed stack.
pub(crate) fn trashed(stack: &StackId, id: &str) -> String {
    format!("{}@{id}", ours("trash", stack))
}

/// The name of the journal of a lease, where each lease has one.
pub(crate) fn journal_name(lease: &LeaseInfo) -> String {
    let nonce: String = lease.nonce.chars().take(8).collect();
    format!("{:08}-{nonce}", lease.epoch)
}

/// The compression that a checkpoint's path stands for.
pub(crate) fn compression_of(stack: &StackId, path: &str) -> Compression {
    let ending = path.strip_prefix(&checkpoint(stack)).unwrap_or_default();
    let named = Compression::ALL.into_iter().find(|compression| compression.ending() == ending);
    named.unwrap_or_default()
}

/// The stack that a file in a project's folder is the checkpoint of.
pub(crate) fn stack_of(file: &str) -> Option<&str> {
    [".json", ".json.gz", ".json.zst"].iter().find_map(|ending| file.strip_suffix(ending))
}

/// Whether a file of the history is the record of an update.
pub(crate) fn is_history_record(file: &str) -> bool {
    [".history.json", ".history.json.gz", ".history.json.zst"].iter().any(|ending| file.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s14_paths_are_pulumis() {
        let stack = StackId::new("shop", "prod").unwrap();
        assert_eq!(checkpoint(&stack), ".pulumi/stacks/shop/prod.json");
        assert_eq!(tags(&stack), ".pulumi/stacks/shop/prod.pulumi-tags");
        assert_eq!(history(&stack), ".pulumi/history/shop/prod");
        assert_eq!(backups(&stack), ".pulumi/backups/shop/prod");
        assert_eq!(locks(&stack), ".pulumi/locks/organization/shop/prod");
        let legacy = StackId::legacy("prod").unwrap();
        assert_eq!(checkpoint(&legacy), ".pulumi/stacks/prod.json");
        assert_eq!(locks(&legacy), ".pulumi/locks/prod");
    }

    #[test]
    fn s14_a_lock_file_tells_its_stack() {
        let stack = StackId::new("shop", "prod").unwrap();
        let file = format!("{}/8f3a.json", locks(&stack));
        assert_eq!(locked_stack(&file, true), Some(stack));
        assert!(file.starts_with(&format!("{}/", all_locks(Some("shop")))));
        assert!(file.starts_with(&format!("{}/", all_locks(None))));
        assert_eq!(locked_stack(&file, false), None);
        let legacy = StackId::legacy("prod").unwrap();
        let file = format!("{}/8f3a.json", locks(&legacy));
        assert_eq!(locked_stack(&file, false), Some(legacy));
        assert_eq!(locked_stack(&file, true), None);
    }
}
