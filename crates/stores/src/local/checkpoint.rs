//! The checkpoint file that Pulumi knows: finding, reading and replacing it in its three compressions.

use super::layout::{self, Compression};
use crate::disk::{self, Disk, Stat, TEMPORARY};
use crate::{Error, Result, StackId};
use std::io::{Read, Write};

/// No document is larger; a compressed file that claims more is hostile.
const LARGEST: u64 = 8 << 30;

/// A checkpoint file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) path: String,
    pub(crate) compression: Compression,
    pub(crate) stat: Stat,
}

/// The stack's checkpoint, the newest where there are several compressions of it.
pub(crate) fn locate(disk: &dyn Disk, stack: &StackId) -> Result<Option<Located>> {
    let mut newest: Option<Located> = None;
    for compression in Compression::ALL {
        let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
        if let Some(stat) = disk::stat(disk, &path)?
            && newest.as_ref().is_none_or(|best| stat.modified >= best.stat.modified)
        {
            newest = Some(Located { path, compression, stat });
        }
    }
    Ok(newest)
}

/// A document as it was read: its text, and where it came from.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) located: Located,
    pub(crate) text: Vec<u8>,
    pub(crate) hash: String,
}

/// The current document; `None` when there is no such stack.
pub(crate) fn read(disk: &dyn Disk, stack: &StackId) -> Result<Option<Document>> {
    // A writer that changes the compression replaces one file by another; look again when it went in between.
    for _ in 0..3 {
        let Some(located) = locate(disk, stack)? else { return Ok(None) };
        if let Some(file) = disk::read_if_there(disk, &located.path)? {
            let text = decompress(file).map_err(|source| Error::Corrupt {
                path: disk.location(&located.path),
                reason: format!("cannot be decompressed: {source}"),
            })?;
            let hash = hash(&text);
            return Ok(Some(Document { located, text, hash }));
        }
    }
    Ok(None)
}

pub(crate) fn hash(text: &[u8]) -> String {
    blake3::hash(text).to_hex().to_string()
}

/// Compression is told by the content, not the name, as the stock CLI tells it.
pub(crate) fn decompress(file: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let length = match file.get(..4) {
        Some([0x1f, 0x8b, ..]) => {
            flate2::read::MultiGzDecoder::new(&file[..]).take(LARGEST).read_to_end(&mut text)?
        }
        Some([0x28, 0xb5, 0x2f, 0xfd]) => {
            zstd::stream::read::Decoder::new(&file[..])?.take(LARGEST).read_to_end(&mut text)?
        }
        _ => return Ok(file),
    };
    if length as u64 == LARGEST { Err(std::io::Error::other("it is larger than 8 GiB")) } else { Ok(text) }
}

pub(crate) fn compress(text: &[u8], compression: Compression) -> std::io::Result<Vec<u8>> {
    match compression {
        Compression::None => Ok(text.to_vec()),
        Compression::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text)?;
            out.finish()
        }
        Compression::Zstd => zstd::bulk::compress(text, 1),
    }
}

/// A new document, durable under a temporary name and ready to become the checkpoint.
#[derive(Debug)]
pub(crate) struct Staged {
    temporary: String,
    path: String,
}

/// Writes the document beside the checkpoint without touching that.
pub(crate) fn stage(
    disk: &dyn Disk,
    stack: &StackId,
    text: &[u8],
    compression: Compression,
) -> Result<Staged> {
    let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
    let temporary = if compression == Compression::None {
        disk::stage(disk, &path, text)?
    } else {
        let file = compress(text, compression).map_err(Error::io("compressing", disk.location(&path)))?;
        disk::stage(disk, &path, &file)?
    };
    Ok(Staged { temporary, path })
}

impl Staged {
    /// Where the document waits, and where it is to go.
    pub(crate) fn names(self) -> (String, String) {
        (self.temporary, self.path)
    }

    /// Makes the staged document current and the old one its `.bak`. One rename is the moment; a crash before it leaves
    /// the old document current, one after it the new.
    pub(crate) fn publish(self, disk: &dyn Disk, old: Option<&Located>) -> Result<()> {
        if let Some(old) = old.filter(|old| old.path == self.path) {
            keep_backup(disk, &old.path)?;
        }
        disk::rename(disk, &self.temporary, &self.path)?;
        disk::sync_folder(disk, disk::folder_of(&self.path))?;
        // The stock CLI's sidecar describes the file that was there before.
        disk::remove_if_there(disk, &format!("{}.attrs", self.path))?;
        if let Some(old) = old.filter(|old| old.path != self.path) {
            disk::rename(disk, &old.path, &format!("{}.bak", old.path))?;
            disk::remove_if_there(disk, &format!("{}.attrs", old.path))?;
            disk::sync_folder(disk, disk::folder_of(&self.path))?;
        }
        Ok(())
    }
}

/// Gives the current file its `.bak` name too, without ever leaving it without its own.
fn keep_backup(disk: &dyn Disk, path: &str) -> Result<()> {
    let backup = format!("{path}.bak");
    let temporary = format!("{backup}{TEMPORARY}");
    disk::remove_if_there(disk, &temporary)?;
    if disk.link(path, &temporary).is_ok() {
        disk::rename(disk, &temporary, &backup)?;
    } else {
        // Not every file system has second names.
        let content = disk.read(path).map_err(Error::io("reading", disk.location(path)))?;
        disk::publish(disk, &backup, &content)?;
    }
    disk::remove_if_there(disk, &format!("{backup}.attrs"))
}
