//! Writing archives: entries in order, without times and owners.

use super::gather::{Entries, Tally};
use flate2::{Compression, GzBuilder};
use std::io::{self, Seek, Write};
use tar::{Builder, EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Zip,
    TarGz,
}

impl Format {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "zip" => Some(Self::Zip),
            "tar.gz" => Some(Self::TarGz),
            _ => None,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::TarGz => "tar.gz",
        }
    }

    /// Writes the archive; gives the digest of what is in it.
    pub(super) fn pack(self, entries: &Entries, into: impl Write + Seek) -> io::Result<String> {
        match self {
            Self::Zip => zip(entries, into),
            Self::TarGz => tar_gz(entries, into),
        }
    }
}

/// How hard bytes are pressed. Part of what makes the same files the same bytes.
const LEVEL: u32 = 6;

/// From here on, sizes need more than 32 bits.
const LARGE: u64 = u32::MAX as u64;

fn zip(entries: &Entries, into: impl Write + Seek) -> io::Result<String> {
    let mut tally = Tally::default();
    let mut writer = ZipWriter::new(into);
    for (name, entry) in &entries.0 {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL.into()))
            .last_modified_time(DateTime::default())
            .unix_permissions(entry.permission.0)
            .large_file(entry.size >= LARGE);
        writer.start_file(name.as_str(), options)?;
        io::copy(&mut tally.read(name, entry)?, &mut writer)?;
    }
    writer.finish()?.flush()?;
    Ok(tally.finish())
}

fn tar_gz(entries: &Entries, into: impl Write) -> io::Result<String> {
    /// A system that says nothing.
    const UNKNOWN_SYSTEM: u8 = 255;
    let mut tally = Tally::default();
    let compressed =
        GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM).write(into, Compression::new(LEVEL));
    let mut builder = Builder::new(compressed);
    for (name, entry) in &entries.0 {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(entry.size);
        header.set_mode(entry.permission.0);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, name, tally.read(name, entry)?)?;
    }
    builder.into_inner()?.finish()?.flush()?;
    Ok(tally.finish())
}
