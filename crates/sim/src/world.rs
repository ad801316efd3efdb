//! The state of a simulated disk: what programs see, and what would survive a crash.
//!
//! Names are journaled in order, as every file system in use does: a crash keeps a prefix of the changes since the last
//! folder sync. Content is kept up to the last sync of the file; of what came after, anything from nothing to all may
//! survive, the last part torn.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What happens at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails, and the program goes on.
    Fail,
    /// The machine stops in the middle of the operation.
    Crash,
}

/// How much of what was not synced survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// Nothing.
    Nothing,
    /// All of it.
    Everything,
    /// Some of it, by the seed.
    Some,
}

/// A disk, the processes that use it, and what is to go wrong.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) files: BTreeMap<u64, File>,
    pub(crate) seen: Names,
    durable: Names,
    /// Changes of names since they were last synced, in order.
    changes: Vec<Change>,
    pub(crate) locks: BTreeMap<u64, u64>,
    dead: BTreeSet<u64>,
    next_file: u64,
    uniques: u64,
    pub(crate) clock: i64,
    steps: u64,
    fault: Option<(u64, Fault)>,
    survival: Survival,
    random: ChaCha8Rng,
    trace: Vec<String>,
}

/// A file's content.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) content: Vec<u8>,
    durable: Vec<u8>,
    pub(crate) modified: i64,
}

/// Which names there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) files: BTreeMap<String, u64>,
    pub(crate) folders: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Add { path: String, file: u64 },
    Remove { path: String },
    Rename { from: String, to: String },
    AddFolder { path: String },
    RemoveFolder { path: String },
}

impl World {
    /// An empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            seen: Names::default(),
            durable: Names::default(),
            changes: Vec::new(),
            locks: BTreeMap::new(),
            dead: BTreeSet::new(),
            next_file: 1,
            uniques: 0,
            clock: 0,
            steps: 0,
            fault: None,
            survival: Survival::Some,
            random: ChaCha8Rng::seed_from_u64(seed),
            trace: Vec::new(),
        }
    }

    /// Lets something go wrong at a step counted from now, 1 being the next.
    pub fn plan(&mut self, step: u64, fault: Fault, survival: Survival) {
        self.fault = Some((self.steps + step, fault));
        self.survival = survival;
    }

    /// Calls off what was planned. Gives back whether it had happened already.
    pub fn call_off(&mut self) -> bool {
        self.fault.take().is_none()
    }

    /// Goes on from here with another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.random = ChaCha8Rng::seed_from_u64(seed);
    }

    /// How many operations there have been.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Every operation there has been.
    #[must_use]
    pub fn trace(&self) -> &[String] {
        &self.trace
    }

    /// Every file that programs see, with its content.
    #[must_use]
    pub fn content(&self) -> Vec<(String, Vec<u8>)> {
        self.seen.files.iter().map(|(path, file)| (path.clone(), self.files[file].content.clone())).collect()
    }

    /// Ends a process as `kill -9` would: its locks go, its writes stay where they are.
    pub fn kill(&mut self, process: u64) {
        self.dead.insert(process);
        self.locks.retain(|_, holder| *holder != process);
    }

    /// Counts an operation and says what befalls it.
    pub(crate) fn step(&mut self, process: u64, operation: &str, path: &str) -> io::Result<Option<Fault>> {
        if self.dead.contains(&process) {
            return Err(io::Error::other("the process is dead"));
        }
        self.steps += 1;
        self.trace.push(format!("{} {operation} {path}", self.steps));
        match self.fault {
            Some((step, fault)) if step == self.steps => {
                self.fault = None;
                Ok(Some(fault))
            }
            _ => Ok(None),
        }
    }

    /// The answer to a failed operation.
    pub(crate) fn failure(&mut self) -> io::Error {
        let kind =
            if self.random.random_bool(0.5) { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
        io::Error::new(kind, "a simulated failure")
    }

    /// Stops the machine and starts it again: every process is dead, and only what survived is there.
    pub(crate) fn crash(&mut self, processes: impl IntoIterator<Item = u64>) -> io::Error {
        self.dead.extend(processes);
        self.locks.clear();
        let kept = match self.survival {
            Survival::Nothing => 0,
            Survival::Everything => self.changes.len(),
            Survival::Some => self.random.random_range(0..=self.changes.len()),
        };
        let changes = std::mem::take(&mut self.changes);
        for change in changes.into_iter().take(kept) {
            self.durable.apply(&change);
        }
        self.seen = self.durable.clone();
        let survival = self.survival;
        for file in self.files.values_mut() {
            file.crash(survival, &mut self.random);
        }
        io::Error::other("the machine stopped")
    }

    pub(crate) fn change(&mut self, change: Change) {
        self.seen.apply(&change);
        self.changes.push(change);
    }

    /// Makes the names of a folder durable, and every change before its last.
    pub(crate) fn sync_folder(&mut self, folder: &str) {
        let last = self.changes.iter().rposition(|change| change.touches(folder));
        if let Some(last) = last {
            for change in self.changes.drain(..=last).collect::<Vec<_>>() {
                self.durable.apply(&change);
            }
        }
    }

    pub(crate) fn sync_file(&mut self, file: u64) {
        if let Some(file) = self.files.get_mut(&file) {
            file.durable.clone_from(&file.content);
        }
    }

    pub(crate) fn new_file(&mut self, content: Vec<u8>) -> u64 {
        let number = self.next_file;
        self.next_file += 1;
        self.clock += 1;
        self.files.insert(number, File { content, durable: Vec::new(), modified: self.clock });
        number
    }

    pub(crate) fn next_unique(&mut self) -> u64 {
        self.uniques += 1;
        self.uniques
    }

    /// How much of a write that was cut short arrived.
    pub(crate) fn torn(&mut self, length: usize) -> usize {
        self.random.random_range(0..=length)
    }
}

impl File {
    fn crash(&mut self, survival: Survival, random: &mut ChaCha8Rng) {
        let grown = self.content.starts_with(&self.durable);
        match survival {
            Survival::Everything => {}
            Survival::Some if grown => {
                let kept = random.random_range(self.durable.len()..=self.content.len());
                let torn = kept > self.durable.len() && random.random_bool(0.5);
                self.content.truncate(kept);
                if torn {
                    // The last sector holds whatever was there before.
                    let start = self.durable.len().max(kept.saturating_sub(64));
                    random.fill_bytes(&mut self.content[start..]);
                }
            }
            Survival::Some | Survival::Nothing => self.content.clone_from(&self.durable),
        }
        self.durable.clone_from(&self.content);
    }
}

impl Names {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Add { path, file } => {
                self.files.insert(path.clone(), *file);
            }
            Change::Remove { path } => {
                self.files.remove(path);
            }
            Change::AddFolder { path } => {
                self.folders.insert(path.clone());
            }
            Change::RemoveFolder { path } => {
                self.folders.remove(path);
            }
            Change::Rename { from, to } => self.rename(from, to),
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        if let Some(file) = self.files.remove(from) {
            self.files.insert(to.to_owned(), file);
            return;
        }
        let inside = format!("{from}/");
        let moved = |path: &String| path.strip_prefix(&inside).map(|rest| format!("{to}/{rest}"));
        self.files = std::mem::take(&mut self.files)
            .into_iter()
            .map(|(path, file)| (moved(&path).unwrap_or(path), file))
            .collect();
        self.folders = std::mem::take(&mut self.folders)
            .into_iter()
            .map(|path| if path == from { to.to_owned() } else { moved(&path).unwrap_or(path) })
            .collect();
    }
}

impl Change {
    fn touches(&self, folder: &str) -> bool {
        let parent = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent) == folder;
        match self {
            Self::Add { path, .. }
            | Self::Remove { path }
            | Self::AddFolder { path }
            | Self::RemoveFolder { path } => parent(path),
            Self::Rename { from, to } => parent(from) || parent(to),
        }
    }
}
