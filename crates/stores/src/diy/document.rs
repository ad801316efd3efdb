//! Documents as Pulumi writes them: checkpoints in their three compressions, tags, records of updates.

use super::layout::Compression;
use super::outline::{Outline, is_unsupported};
use crate::seal::Sealing;
use crate::{Error, LeaseInfo, Recorded, Result, RevisionInfo, StackId};
use drystone_dialects::pulumi::Checkpoint;
use drystone_model::{IntegrityErrorRecord, Json, Manifest, Severity, Snapshot, Violation};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// No document is larger; a compressed file that claims more is hostile.
const LARGEST: u64 = 8 << 30;

/// A snapshot on its way to being current.
#[derive(Debug, Default)]
pub(crate) struct Publish {
    pub(crate) title: String,
    pub(crate) message: String,
    pub(crate) snapshot: Snapshot,
    pub(crate) byte_strings: bool,
    pub(crate) restores: Option<u64>,
    pub(crate) copies: Option<Box<RevisionInfo>>,
}

impl Publish {
    /// What a revision says of who made it and why. Its number, parent and content are still to be told.
    pub(crate) fn info(&self, now: Timestamp, lease: &LeaseInfo) -> RevisionInfo {
        let info = RevisionInfo {
            time: now.to_string(),
            title: self.title.clone(),
            by: lease.holder(),
            message: self.message.clone(),
            restores: self.restores.map(super::revision_number),
            ..RevisionInfo::default()
        };
        info.copying(self.copies.as_deref())
    }
}

/// What a snapshot became on its way.
pub(crate) struct Rendered {
    pub(crate) text: Vec<u8>,
    pub(crate) hash: String,
    pub(crate) outline: Outline,
}

/// The document of a snapshot, with what stood around the state in the one before.
pub(crate) fn render(
    stack: &StackId,
    snapshot: Option<Snapshot>,
    byte_strings: bool,
    outline: &Outline,
    path: PathBuf,
) -> Result<Rendered> {
    let mut checkpoint = Checkpoint { byte_strings, ..Checkpoint::new(stack.qualified(), snapshot) };
    outline.surround(&mut checkpoint);
    let text = checkpoint.to_vec().map_err(|error| Error::Corrupt { path, reason: error.to_string() })?;
    Ok(Rendered { hash: hash(&text), text, outline: outline.followed_by(&checkpoint) })
}

/// Reads a document.
pub(crate) fn parse(path: PathBuf, text: &[u8]) -> Result<Recorded> {
    let checkpoint = Checkpoint::read(text).map_err(|error| {
        let reason = error.to_string();
        if is_unsupported(&error) {
            Error::Unsupported { path, reason }
        } else {
            Error::Corrupt { path, reason }
        }
    })?;
    Ok(Recorded {
        revision: None,
        hash: String::new(),
        ever_written: checkpoint.snapshot.is_some(),
        snapshot: checkpoint.snapshot.unwrap_or_default(),
        byte_strings: checkpoint.byte_strings,
    })
}

/// A snapshot with a manifest of now.
pub(crate) fn stamped(mut snapshot: Snapshot, now: Timestamp, version: &str) -> Snapshot {
    snapshot.manifest = Manifest::new(now.to_string(), version);
    snapshot
}

/// Marks a snapshot that breaks rules with the first of them, and a sound one with none (S7).
pub(crate) fn note_violations(snapshot: &mut Snapshot, title: &str, version: &str) -> Vec<Violation> {
    let violations: Vec<Violation> = drystone_model::verify(snapshot)
        .into_iter()
        .filter(|violation| violation.severity() == Severity::Error)
        .collect();
    snapshot.metadata.integrity_error = violations.first().map(|violation| IntegrityErrorRecord {
        version: version.to_owned(),
        command: title.to_owned(),
        error: violation.to_string(),
        ..IntegrityErrorRecord::default()
    });
    violations
}

/// What tells a document from every other.
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

/// A text in a compression.
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

/// The tags in a file.
pub(crate) fn read_tags(path: PathBuf, file: &[u8]) -> Result<BTreeMap<String, String>> {
    #[derive(serde::Deserialize)]
    struct Tags {
        version: u64,
        #[serde(default)]
        tags: Option<BTreeMap<String, String>>,
    }
    let tags: Tags = serde_json::from_slice(file)
        .map_err(|error| Error::Corrupt { path: path.clone(), reason: error.to_string() })?;
    if tags.version != 1 {
        let reason = format!("its tags have version {}; this version knows 1", tags.version);
        return Err(Error::Unsupported { path, reason });
    }
    Ok(tags.tags.unwrap_or_default())
}

/// The file of tags; `None` when there are none.
pub(crate) fn tags_file(tags: &BTreeMap<String, String>) -> Option<Vec<u8>> {
    (!tags.is_empty()).then(|| serde_json::json!({ "version": 1, "tags": tags }).to_string().into_bytes())
}

/// The record of an update in a history file.
pub(crate) fn history_record(path: &Path, file: Vec<u8>) -> Result<Json> {
    let corrupt = |reason: String| Error::Corrupt { path: path.to_owned(), reason };
    let text = decompress(file).map_err(|error| corrupt(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| corrupt("it is not UTF-8".to_owned()))?;
    Json::parse(text.trim()).map_err(|error| corrupt(error.to_string()))
}

/// The version of the layout that a `meta.yaml` names. A backend that is sealed and not opened so, or the reverse, is
/// refused here, before anything of it is read.
pub(crate) fn layout_version(path: PathBuf, meta: &[u8], sealing: Option<&Sealing>) -> Result<u64> {
    #[derive(serde::Deserialize)]
    struct Meta {
        version: Option<u64>,
        sealed: Option<String>,
    }
    let text = String::from_utf8_lossy(meta);
    let meta: Meta = serde_saphyr::from_str(&text)
        .map_err(|error| Error::Corrupt { path: path.clone(), reason: error.to_string() })?;
    match (&meta.sealed, sealing) {
        (Some(with), None) => return Err(Error::Sealed { path, with: with.clone() }),
        (None, Some(sealing)) if !sealing.is_under_way() => return Err(Error::NotSealed { path }),
        _ => {}
    }
    match meta.version {
        Some(version @ (0 | 1)) => Ok(version),
        Some(version) => Err(Error::Unsupported {
            path,
            reason: format!("the directory has layout version {version}; this version knows 0 and 1"),
        }),
        None => Err(Error::Corrupt { path, reason: "it names no version".to_owned() }),
    }
}

/// The `meta.yaml` of a backend with projects.
pub(crate) fn meta_file(sealing: Option<&Sealing>) -> String {
    let sealed = sealing.and_then(Sealing::description);
    // A text between double quotes in JSON is one in YAML.
    let sealed = sealed.map(|with| format!("sealed: {}\n", serde_json::Value::from(with)));
    format!("{}{}", super::layout::MARK, sealed.unwrap_or_default())
}
