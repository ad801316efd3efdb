//! The real disk.

use super::{AppendFile, Disk, FileLock, Name, Stat, join};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// How many files this process has begun to write.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// A folder on the real disk.
#[derive(Debug, Clone)]
pub struct OsDisk {
    root: PathBuf,
    writer: String,
    private: bool,
}

impl OsDisk {
    /// A disk whose root is a folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let writer = uuid::Uuid::new_v4().simple().to_string();
        Self { root: root.into(), writer: writer[..12].to_owned(), private: false }
    }

    /// The same, with new files that only their owner may read.
    #[must_use]
    pub fn private(root: impl Into<PathBuf>) -> Self {
        Self { private: true, ..Self::new(root) }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

#[derive(Debug)]
struct HeldFile(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);
impl FileLock for HeldFile {}

impl Disk for OsDisk {
    fn location(&self, path: &str) -> PathBuf {
        join(&self.root, path)
    }

    fn unique(&self) -> String {
        format!("{}-{}", self.writer, WRITES.fetch_add(1, Ordering::Relaxed))
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        fs::read(self.location(path))
    }

    fn read_from(&self, path: &str, offset: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.location(path))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        Ok(content)
    }

    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        match fs::metadata(self.location(path)) {
            Ok(metadata) if metadata.is_file() => Ok(Some(Stat {
                length: metadata.len(),
                modified: metadata
                    .modified()?
                    .duration_since(UNIX_EPOCH)
                    .map_or(0, |age| i128::try_from(age.as_nanos()).unwrap_or(0)),
                identity: identity(&metadata),
            })),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Name>> {
        let entries = match fs::read_dir(self.location(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A name that is not UTF-8 is not one of ours.
            let Ok(text) = entry.file_name().into_string() else { continue };
            names.push(Name { text, is_folder: entry.file_type()?.is_dir() });
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self.private {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        options.open(self.location(path))?.write_all(content)
    }

    fn open_append(&self, path: &str) -> io::Result<Box<dyn AppendFile>> {
        let file = OpenOptions::new().append(true).create(true).open(self.location(path))?;
        Ok(Box::new(OsAppendFile(file)))
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.location(path))?.sync_all()
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        // Windows has no handle to sync a folder by; its file system orders renames itself.
        if cfg!(windows) { Ok(()) } else { File::open(self.location(folder))?.sync_all() }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.location(from), self.location(to))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.location(from), self.location(to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.location(path))
    }

    fn remove_folder(&self, folder: &str) -> io::Result<()> {
        fs::remove_dir(self.location(folder))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        let path = self.location(folder);
        if path.is_dir() {
            return Ok(());
        }
        if let Some((above, _)) = folder.rsplit_once('/') {
            self.create_folder(above)?;
        } else {
            fs::create_dir_all(&self.root)?;
        }
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.sync_folder(super::folder_of(folder))
    }

    fn try_lock(&self, path: &str) -> io::Result<Option<Box<dyn FileLock>>> {
        let file = self.lock_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(HeldFile(file)))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn FileLock>> {
        let file = self.lock_file(path)?;
        file.lock()?;
        Ok(Box::new(HeldFile(file)))
    }
}

impl OsDisk {
    fn lock_file(&self, path: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(false).open(self.location(path))
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ino()
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> u64 {
    0
}

struct OsAppendFile(File);

impl AppendFile for OsAppendFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.0.write_all(content)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.sync_data()
    }
}
