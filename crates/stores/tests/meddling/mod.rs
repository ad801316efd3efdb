//! A real disk on which something happens, or goes wrong, at a chosen operation.

use drystone_stores::disk::{AppendFile, Disk, FileLock, Name, OsDisk, Stat};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, Host, SystemHost};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Meddle = Arc<dyn Fn(&str, &str) -> io::Result<()> + Send + Sync>;

/// A disk that asks before each operation.
struct Meddling {
    disk: OsDisk,
    meddle: Meddle,
}

/// A store whose disk asks `meddle`, with the operation and the path, before it does anything.
pub(crate) fn store(
    folder: &Path,
    meddle: impl Fn(&str, &str) -> io::Result<()> + Send + Sync + 'static,
) -> LocalStore {
    let disk = Arc::new(Meddling { disk: OsDisk::new(folder), meddle: Arc::new(meddle) });
    let host: Arc<dyn Host> = Arc::new(SystemHost);
    LocalStore::with(disk, host, LocalOptions::default()).expect("a store")
}

/// A store without surprises.
pub(crate) fn plain(folder: &Path) -> LocalStore {
    LocalStore::open(folder, LocalOptions::default()).expect("a store")
}

pub(crate) fn up() -> Claim {
    Claim::new("up")
}

/// The checkpoint of the stack of the cases.
pub(crate) fn checkpoint(folder: &Path) -> PathBuf {
    folder.join(".pulumi/stacks/shop/prod.json")
}

/// Every file below a folder with its content, without locks that are empty files.
pub(crate) fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = std::fs::read(&path).expect("a file");
                found.push((path, content));
            }
        }
    }
    found.sort();
    found
}

impl fmt::Debug for Meddling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meddling")
    }
}

impl Disk for Meddling {
    fn location(&self, path: &str) -> PathBuf {
        self.disk.location(path)
    }
    fn unique(&self) -> String {
        self.disk.unique()
    }
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        (self.meddle)("read", path)?;
        self.disk.read(path)
    }
    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        (self.meddle)("stat", path)?;
        self.disk.stat(path)
    }
    fn list(&self, folder: &str) -> io::Result<Vec<Name>> {
        (self.meddle)("list", folder)?;
        self.disk.list(folder)
    }
    fn create(&self, path: &str, content: &[u8]) -> io::Result<()> {
        (self.meddle)("create", path)?;
        self.disk.create(path, content)
    }
    fn open_append(&self, path: &str) -> io::Result<Box<dyn AppendFile>> {
        (self.meddle)("open", path)?;
        let file = self.disk.open_append(path)?;
        Ok(Box::new(MeddlingFile { file, path: path.to_owned(), meddle: Arc::clone(&self.meddle) }))
    }
    fn sync(&self, path: &str) -> io::Result<()> {
        (self.meddle)("sync", path)?;
        self.disk.sync(path)
    }
    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        (self.meddle)("sync folder", folder)?;
        self.disk.sync_folder(folder)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        (self.meddle)("rename", to)?;
        self.disk.rename(from, to)
    }
    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        (self.meddle)("link", to)?;
        self.disk.link(from, to)
    }
    fn remove(&self, path: &str) -> io::Result<()> {
        (self.meddle)("remove", path)?;
        self.disk.remove(path)
    }
    fn remove_folder(&self, folder: &str) -> io::Result<()> {
        (self.meddle)("remove folder", folder)?;
        self.disk.remove_folder(folder)
    }
    fn create_folder(&self, folder: &str) -> io::Result<()> {
        (self.meddle)("create folder", folder)?;
        self.disk.create_folder(folder)
    }
    fn try_lock(&self, path: &str) -> io::Result<Option<Box<dyn FileLock>>> {
        (self.meddle)("lock", path)?;
        self.disk.try_lock(path)
    }
    fn lock(&self, path: &str) -> io::Result<Box<dyn FileLock>> {
        (self.meddle)("lock", path)?;
        self.disk.lock(path)
    }
}

struct MeddlingFile {
    file: Box<dyn AppendFile>,
    path: String,
    meddle: Meddle,
}

impl AppendFile for MeddlingFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        (self.meddle)("append", &self.path)?;
        self.file.append(content)
    }
    fn sync(&mut self) -> io::Result<()> {
        (self.meddle)("sync", &self.path)?;
        self.file.sync()
    }
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        (self.meddle)("truncate", &self.path)?;
        self.file.truncate(length)
    }
}
