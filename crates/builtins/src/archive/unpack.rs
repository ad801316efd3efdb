//! Reading an archive that is imported.

use super::gather::is_inside;
use super::pack::Format;
use crate::local::Permission;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most that an imported archive may hold: it goes into the state.
const MOST_CONTENT: u64 = 16 << 20;

/// The most files that it may hold.
const MOST_FILES: usize = 10_000;

/// A text file of an archive.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) content: String,
    pub(super) permission: Permission,
}

/// The text files of an archive, of which there must be no others.
pub(super) fn texts(path: &Path, format: Format) -> io::Result<BTreeMap<String, Text>> {
    let mut taken = Taken::default();
    match format {
        Format::Zip => {
            let mut archive = zip::ZipArchive::new(File::open(path)?)?;
            for index in 0..archive.len() {
                let file = archive.by_index(index)?;
                if file.is_dir() {
                    continue;
                }
                if !file.is_file() {
                    return Err(io::Error::other("it holds something that is no file"));
                }
                let mode = file.unix_mode().unwrap_or(0o644);
                taken.take(file.name()?.into_owned(), mode, file)?;
            }
        }
        Format::TarGz => {
            let mut archive = tar::Archive::new(flate2::read::MultiGzDecoder::new(File::open(path)?));
            for entry in archive.entries()? {
                let entry = entry?;
                let kind = entry.header().entry_type();
                if kind.is_dir() || kind.is_pax_global_extensions() {
                    continue;
                }
                if !kind.is_file() {
                    return Err(io::Error::other("it holds something that is no file"));
                }
                let name = String::from_utf8(entry.path_bytes().into_owned());
                let name = name.map_err(|_| io::Error::other("it holds a name that is not UTF-8"))?;
                let mode = entry.header().mode()?;
                taken.take(name, mode, entry)?;
            }
        }
    }
    Ok(taken.texts)
}

#[derive(Default)]
struct Taken {
    texts: BTreeMap<String, Text>,
    bytes: u64,
}

impl Taken {
    fn take(&mut self, name: String, mode: u32, from: impl Read) -> io::Result<()> {
        let name = name.strip_prefix("./").map(str::to_owned).unwrap_or(name);
        if !is_inside(&name) {
            return Err(io::Error::other("it holds a path that leads out of it"));
        }
        let mut bytes = Vec::new();
        from.take(MOST_CONTENT - self.bytes + 1).read_to_end(&mut bytes)?;
        self.bytes += bytes.len() as u64;
        if self.bytes > MOST_CONTENT || self.texts.len() >= MOST_FILES {
            return Err(io::Error::other("it holds more than 16 MiB or 10000 files"));
        }
        let content = String::from_utf8(bytes)
            .map_err(|_| io::Error::other(format!("`{name}` in it is no text, which cannot be imported")))?;
        let text = Text { content, permission: Permission(mode & 0o777) };
        match self.texts.insert(name, text) {
            Some(_) => Err(io::Error::other("it holds a path twice")),
            None => Ok(()),
        }
    }
}
