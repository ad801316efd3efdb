//! The members of an archive, whatever it is made of.

use super::content::{described, open_file, open_uri};
use crate::fetch::shown;
use drystone_model::{ArchiveSource, AssetSource, Value};
use flate2::read::{DeflateDecoder, GzDecoder};
use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Takes a member: its name, its size and its bytes.
type Visitor<'a> = dyn FnMut(&str, u64, &mut dyn Read) -> io::Result<()> + 'a;

/// The folder that tools keep for themselves and that is no content.
const BOOKKEEPING: &str = ".pulumi";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Tar,
    TarGzip,
    Zip,
}

impl Format {
    /// The format of what a URI names, whatever is asked of the server besides.
    fn of_uri(uri: &str) -> Option<Self> {
        Self::of(uri.split(['?', '#']).next().unwrap_or(uri))
    }

    fn of(path: &str) -> Option<Self> {
        let endings = [
            (".tar", Self::Tar),
            (".tgz", Self::TarGzip),
            (".tar.gz", Self::TarGzip),
            (".zip", Self::Zip),
            (".jar", Self::Zip),
        ];
        endings.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, format)| *format)
    }
}

/// The archive file that an archive is, if it is one.
pub(super) fn archive_file(source: &ArchiveSource, directory: &Path) -> io::Result<Option<File>> {
    match source {
        ArchiveSource::Path(path) if Format::of(path).is_some() => open_file(&directory.join(path)).map(Some),
        ArchiveSource::Uri(uri) if Format::of_uri(uri).is_some() => open_uri(uri).map(Some),
        ArchiveSource::Uri(uri) => Err(no_archive(uri)),
        ArchiveSource::Path(_) | ArchiveSource::Assets(_) => Ok(None),
    }
}

/// Calls the visitor with every member, each name once: the first of the same name counts.
pub(super) fn visit(source: &ArchiveSource, directory: &Path, visitor: &mut Visitor<'_>) -> io::Result<()> {
    let mut seen = HashSet::new();
    visit_source(source, directory, &mut |name, size, data| {
        if seen.insert(name.to_owned()) { visitor(name, size, data) } else { Ok(()) }
    })
}

fn visit_source(source: &ArchiveSource, directory: &Path, visitor: &mut Visitor<'_>) -> io::Result<()> {
    match source {
        ArchiveSource::Assets(assets) => visit_assets(assets, directory, visitor),
        ArchiveSource::Path(path) => {
            let full = directory.join(path);
            match Format::of(path) {
                Some(format) => visit_file(open_file(&full)?, format, visitor),
                None => visit_directory(&full, visitor),
            }
        }
        ArchiveSource::Uri(uri) => match Format::of_uri(uri) {
            Some(format) => visit_file(open_uri(uri)?, format, visitor),
            None => Err(no_archive(uri)),
        },
    }
}

fn no_archive(uri: &str) -> io::Error {
    io::Error::other(format!("the file at '{}' is not a recognized archive format", shown(uri)))
}

fn visit_assets(
    assets: &BTreeMap<String, Value>,
    directory: &Path,
    visitor: &mut Visitor<'_>,
) -> io::Result<()> {
    for (name, member) in assets {
        let visited = match member {
            Value::Asset(asset) => match &asset.source {
                AssetSource::Text(text) => visitor(name, text.len() as u64, &mut text.as_bytes()),
                AssetSource::Path(path) => open_file(&directory.join(path))
                    .and_then(|mut file| visitor(name, file.metadata()?.len(), &mut file)),
                AssetSource::Uri(uri) => {
                    open_uri(uri).and_then(|mut file| visitor(name, file.metadata()?.len(), &mut file))
                }
            },
            Value::Archive(archive) => visit_source(&archive.source, directory, &mut |inner, size, data| {
                visitor(&clean(&format!("{name}/{inner}")), size, data)
            }),
            _ => Err(io::Error::other("is neither an asset nor an archive")),
        };
        visited.map_err(|error| described(&error, &format!("archive member '{name}'")))?;
    }
    Ok(())
}

fn visit_directory(root: &Path, visitor: &mut Visitor<'_>) -> io::Result<()> {
    let shown = root.display();
    let about = fs::metadata(root)
        .map_err(|error| described(&error, &format!("cannot read archive path '{shown}'")))?;
    if !about.is_dir() {
        return Err(io::Error::other(format!(
            "'{shown}' is neither a recognized archive type nor a directory"
        )));
    }
    let mut files = Vec::new();
    collect(root, String::new(), &mut files)?;
    for (name, path) in files {
        let mut file = open_file(&path)?;
        visitor(&name, file.metadata()?.len(), &mut file)?;
    }
    Ok(())
}

/// The files below a folder, each level in the order of the names. Links to folders are not followed; links to files
/// are the files.
fn collect(path: &Path, name: String, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if path.file_name().is_some_and(|name| name == BOOKKEEPING) {
        return Ok(());
    }
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        let mut entries = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        for entry in entries {
            let text = entry.to_string_lossy();
            let inner = if name.is_empty() { text.into_owned() } else { format!("{name}/{text}") };
            collect(&path.join(&entry), inner, files)?;
        }
    } else if !(kind.is_symlink() && fs::metadata(path)?.is_dir()) {
        files.push((name, path.to_owned()));
    }
    Ok(())
}

fn visit_file(mut file: File, format: Format, visitor: &mut Visitor<'_>) -> io::Result<()> {
    match format {
        Format::Tar => visit_tar(&mut file, visitor),
        Format::TarGzip => visit_tar(&mut GzDecoder::new(file), visitor),
        Format::Zip => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            visit_zip(&bytes, visitor)
        }
    }
}

fn visit_tar(archive: &mut dyn Read, visitor: &mut Visitor<'_>) -> io::Result<()> {
    let mut long_name = None;
    let mut block = [0; 512];
    loop {
        match archive.read_exact(&mut block) {
            Ok(()) if block.iter().all(|byte| *byte == 0) => return Ok(()),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let size = u64::from_str_radix(field(&block[124..136]).trim(), 8)
            .map_err(|_| io::Error::other("the tar file has a member of unreadable size"))?;
        let mut data = archive.take(size);
        match block[156] {
            b'x' => {
                let mut records = String::new();
                data.read_to_string(&mut records)?;
                long_name = path_record(&records);
            }
            b'L' => {
                let mut name = String::new();
                data.read_to_string(&mut name)?;
                long_name = Some(name.trim_end_matches('\0').to_owned());
            }
            b'0' | b'\0' => {
                let (name, prefix) = (field(&block[0..100]), field(&block[345..500]));
                let short = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
                visitor(&clean(&long_name.take().unwrap_or(short)), size, &mut data)?;
            }
            _ => long_name = None,
        }
        io::copy(&mut data, &mut io::sink())?;
        io::copy(&mut archive.take(size.wrapping_neg() % 512), &mut io::sink())?;
    }
}

/// The text of a header field, up to the first zero byte.
fn field(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn path_record(records: &str) -> Option<String> {
    let mut rest = records;
    while let Some((length, _)) = rest.split_once(' ') {
        let record = rest.get(length.len() + 1..length.parse().ok()?)?;
        if let Some(path) = record.strip_prefix("path=") {
            return Some(path.trim_end_matches('\n').to_owned());
        }
        rest = rest.get(length.parse().ok()?..)?;
    }
    None
}

fn visit_zip(bytes: &[u8], visitor: &mut Visitor<'_>) -> io::Result<()> {
    let broken = || io::Error::other("the ZIP file is damaged");
    let number = |at: usize, size: usize| -> io::Result<usize> {
        let digits = at.checked_add(size).and_then(|end| bytes.get(at..end)).ok_or_else(broken)?;
        Ok(digits.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let last = bytes.len().checked_sub(22).ok_or_else(broken)?;
    let end = (last.saturating_sub(usize::from(u16::MAX))..=last)
        .rev()
        .find(|at| bytes[*at..].starts_with(b"PK\x05\x06"))
        .ok_or_else(broken)?;
    let mut at = number(end + 16, 4)?;
    for _ in 0..number(end + 10, 2)? {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(broken());
        }
        let (method, packed, size) = (number(at + 10, 2)?, number(at + 20, 4)?, number(at + 24, 4)?);
        let (name_size, extra, comment) = (number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?);
        let local = number(at + 42, 4)?;
        let name = bytes.get(at + 46..at + 46 + name_size).ok_or_else(broken)?;
        let name = String::from_utf8_lossy(name);
        at += 46 + name_size + extra + comment;
        if name.ends_with('/') {
            continue;
        }
        let start = local + 30 + number(local + 26, 2)? + number(local + 28, 2)?;
        let data = start.checked_add(packed).and_then(|end| bytes.get(start..end)).ok_or_else(broken)?;
        let mut data: Box<dyn Read> = match method {
            0 => Box::new(data),
            8 => Box::new(DeflateDecoder::new(data)),
            other => {
                return Err(io::Error::other(format!(
                    "'{name}' is compressed by the unknown method {other}"
                )));
            }
        };
        visitor(&clean(&name), size as u64, &mut data)?;
    }
    Ok(())
}

/// The shortest path that means the same.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}
