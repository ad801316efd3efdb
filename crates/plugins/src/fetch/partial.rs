//! What has come of a download.
//!
//! A download that may be gone on with later has a file with a name. Beside it stands where it comes from and the mark of
//! the content, which the server is given: a server whose content changed since sends it anew.

use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What has come of a download.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    length: u64,
    origin: Option<Origin>,
    /// Where the file and its origin are, unless nobody else will go on.
    named: Option<PathBuf>,
}

/// Where the content comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// The digest of its address, which may hold secrets.
    address: String,
    /// What is the same as long as the content is.
    mark: String,
}

impl Partial {
    /// Nothing yet, in a file that nobody else sees.
    pub(crate) fn unnamed() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, length: 0, origin: None, named: None })
    }

    /// What an earlier download left in a file, or nothing. Whoever calls it keeps others from the file.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let origin = fs::read(origin_of(path)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut partial = Self { length: file.metadata()?.len(), file, origin, named: Some(path.to_owned()) };
        match partial.origin {
            Some(_) => drop(partial.file.seek(SeekFrom::End(0))?),
            None => partial.clear()?,
        }
        Ok(partial)
    }

    /// Removes what an earlier download left in a file.
    pub(crate) fn remove(path: &Path) {
        for path in [path, &origin_of(path)] {
            // Nobody minds one that stays: it is gone on with, or thrown away, by whoever downloads it next.
            let _ = fs::remove_file(path);
        }
    }

    /// How much has come.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Whether the rest can be asked for.
    pub(crate) fn can_go_on(&self) -> bool {
        self.origin.is_some()
    }

    /// The mark of the content, if the rest of it is to be asked for at an address.
    pub(crate) fn goes_on(&self, uri: &str) -> Option<&str> {
        let origin =
            self.origin.as_ref().filter(|origin| self.length > 0 && origin.address == digest(uri))?;
        Some(&origin.mark)
    }

    /// Throws away what has come: the content begins, from an address, with a mark if the server gives one.
    pub(crate) fn begin(&mut self, uri: &str, mark: Option<String>) -> io::Result<()> {
        self.clear()?;
        self.origin = mark.map(|mark| Origin { address: digest(uri), mark });
        if let (Some(path), Some(origin)) = (&self.named, &self.origin) {
            fs::write(origin_of(path), serde_json::to_vec(origin)?)?;
        }
        Ok(())
    }

    /// Throws away what has come.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if let Some(path) = &self.named {
            // First: bytes without an origin are thrown away, but an origin makes anything be gone on from.
            match fs::remove_file(origin_of(path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.origin = None;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.length = 0;
        Ok(())
    }

    /// Adds what came.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Leaves what has come to whoever goes on, if anybody can.
    pub(crate) fn leave(self) {
        if let Some(path) = self.named.filter(|_| self.length == 0 || self.origin.is_none()) {
            Self::remove(&path);
        }
    }

    /// The file, whole, from its beginning.
    pub(crate) fn into_file(mut self) -> io::Result<File> {
        self.file.rewind()?;
        Ok(self.file)
    }
}

fn origin_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".origin");
    name.into()
}

fn digest(uri: &str) -> String {
    let mut digest = crate::digest::Digest::default();
    // Hashing does not fail.
    let _ = digest.write_all(uri.as_bytes());
    digest.into_hex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_came_is_gone_on_from_with_the_mark_of_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.download");
        let mut partial = Partial::at(&path).unwrap();
        partial.begin("http://a/x?token=hush", Some("\"1\"".to_owned())).unwrap();
        assert_eq!(partial.goes_on("http://a/x?token=hush"), None);
        partial.add(b"ab").unwrap();
        drop(partial);
        let kept = fs::read_to_string(origin_of(&path)).unwrap();
        assert!(!kept.contains("hush"), "{kept}");
        let mut partial = Partial::at(&path).unwrap();
        assert_eq!(partial.goes_on("http://a/x?token=hush"), Some("\"1\""));
        assert_eq!(partial.goes_on("http://b/x"), None);
        partial.add(b"c").unwrap();
        let mut text = String::new();
        partial.into_file().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
    }

    #[test]
    fn what_came_without_a_mark_is_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.download");
        let mut partial = Partial::at(&path).unwrap();
        partial.begin("http://a/x", Some("\"1\"".to_owned())).unwrap();
        partial.begin("http://a/x", None).unwrap();
        partial.add(b"ab").unwrap();
        assert!(!partial.can_go_on());
        assert_eq!(Partial::at(&path).unwrap().length(), 0);
    }
}
