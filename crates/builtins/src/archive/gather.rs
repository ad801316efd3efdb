//! What goes into an archive.

use super::excludes::Excludes;
use crate::fields::Fields;
use crate::kind::Answer;
use crate::local::{Permission, existing, failed};
use drystone_engine::ProviderError;
use drystone_model::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most files that an archive holds.
const MOST_FILES: usize = 1_000_000;

/// The files of an archive by their paths in it.
#[derive(Debug, Default)]
pub(super) struct Entries(pub(super) BTreeMap<String, Entry>);

/// A file of an archive.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) content: Content,
    pub(super) permission: Permission,
    pub(super) size: u64,
}

#[derive(Debug)]
pub(super) enum Content {
    Text(String),
    File(PathBuf),
}

/// What is asked for, before any file is looked at.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    directory: PathBuf,
    file: Option<String>,
    folder: Option<String>,
    texts: Vec<(String, String)>,
    excludes: Excludes,
    skip_links: bool,
    permission: Option<Permission>,
    /// The archive itself, which may stand in the folder that is packed.
    archive: PathBuf,
}

/// Whether a path can stand in an archive: whoever unpacks it must not be led out of the folder.
pub(super) fn is_inside(name: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    !name.contains(['\0', '\\'])
        && name.split('/').all(plain)
        && !name.split('/').next().is_some_and(|first| first.ends_with(':'))
}

impl Wanted {
    pub(super) fn new(directory: &Path, archive: PathBuf, inputs: &Fields) -> Self {
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let mut texts: Vec<(String, String)> = inputs
            .list("sources")
            .iter()
            .filter_map(|source| Some((text(source, "filename")?, text(source, "content")?)))
            .collect();
        let alone = inputs.text("sourceContentFilename").zip(inputs.text("sourceContent"));
        texts.extend(alone.map(|(name, content)| (name.to_owned(), content.to_owned())));
        Self {
            directory: directory.to_owned(),
            file: inputs.text("sourceFile").map(str::to_owned),
            folder: inputs.text("sourceDir").map(str::to_owned),
            texts,
            excludes: Excludes::new(&inputs.texts("excludes")),
            skip_links: inputs.flag("excludeSymlinkDirectories").unwrap_or(false),
            permission: Permission::given(inputs, "outputFileMode"),
            archive,
        }
    }

    /// Looks for everything that is to be packed.
    pub(super) fn gather(&self) -> Answer<Entries> {
        let mut entries = Entries::default();
        for (name, text) in &self.texts {
            let size = text.len() as u64;
            let permission = self.permission.unwrap_or(Permission(0o644));
            entries.add(name, Entry { content: Content::Text(text.clone()), permission, size })?;
        }
        if let Some(file) = &self.file {
            let path = existing(&self.directory, file)?;
            let name = Path::new(file).file_name().and_then(|name| name.to_str());
            let name =
                name.ok_or_else(|| ProviderError::new(format!("`{file}` has no name for the archive")))?;
            entries.add(name, self.entry(file, path)?)?;
        }
        if let Some(folder) = &self.folder {
            let root = existing(&self.directory, folder)?;
            if !root.is_dir() {
                return Err(ProviderError::new(format!("`{folder}` is no folder")));
            }
            let mut walk =
                Walk { wanted: self, root: &root, above: vec![root.clone()], entries: &mut entries };
            walk.folder(&root, "")?;
        }
        Ok(entries)
    }

    fn entry(&self, shown: &str, path: PathBuf) -> Answer<Entry> {
        let metadata = path.metadata().map_err(|error| failed("read", shown, &error))?;
        if !metadata.is_file() {
            return Err(ProviderError::new(format!("`{shown}` is no ordinary file and cannot be packed")));
        }
        let own = Permission::of(&metadata).map(|own| Permission(own.0 & 0o777));
        let permission = self.permission.or(own).unwrap_or(Permission(0o644));
        Ok(Entry { size: metadata.len(), content: Content::File(path), permission })
    }
}

/// The way through a folder.
struct Walk<'a> {
    wanted: &'a Wanted,
    root: &'a Path,
    /// The folders that it is in, without links: a link back to one of them would go round for ever.
    above: Vec<PathBuf>,
    entries: &'a mut Entries,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, inside: &str) -> Answer<()> {
        let unreadable = |error: io::Error| failed("read", &folder.display().to_string(), &error);
        for member in fs::read_dir(folder).map_err(unreadable)? {
            let member = member.map_err(unreadable)?;
            let name = member.file_name().into_string().map_err(|name| {
                ProviderError::new(format!("the name {} is not UTF-8 and cannot be packed", name.display()))
            })?;
            let inside = if inside.is_empty() { name } else { format!("{inside}/{name}") };
            if !self.wanted.excludes.leave_out(&inside) {
                self.member(&member.path(), &inside)?;
            }
        }
        Ok(())
    }

    fn member(&mut self, path: &Path, inside: &str) -> Answer<()> {
        let kind = fs::symlink_metadata(path).map_err(|error| failed("read", inside, &error))?.file_type();
        if kind.is_dir() {
            return self.enter(path, inside);
        }
        if *path == self.wanted.archive {
            return Ok(());
        }
        if !kind.is_symlink() {
            let entry = self.wanted.entry(inside, path.to_owned())?;
            return self.entries.add(inside, entry);
        }
        let target = path.canonicalize().map_err(|error| failed("read", inside, &error))?;
        if target.is_dir() && self.wanted.skip_links {
            return Ok(());
        }
        if !target.starts_with(self.root) {
            return Err(ProviderError::new(format!(
                "the symbolic link `{inside}` leads out of the folder that is packed; exclude it or its target's copy"
            )));
        }
        if target.is_dir() {
            return self.enter(&target, inside);
        }
        let entry = self.wanted.entry(inside, target)?;
        self.entries.add(inside, entry)
    }

    fn enter(&mut self, folder: &Path, inside: &str) -> Answer<()> {
        if self.above.iter().any(|above| above == folder) {
            return Err(ProviderError::new(format!(
                "the symbolic link `{inside}` leads to a folder that it is in"
            )));
        }
        self.above.push(folder.to_owned());
        self.folder(folder, inside)?;
        self.above.pop();
        Ok(())
    }
}

impl Entries {
    fn add(&mut self, name: &str, entry: Entry) -> Answer<()> {
        if !is_inside(name) {
            return Err(ProviderError::new(format!("`{name}` is no path within an archive")));
        }
        if self.0.len() >= MOST_FILES {
            return Err(ProviderError::new(format!("there are more than {MOST_FILES} files to be packed")));
        }
        match self.0.insert(name.to_owned(), entry) {
            Some(_) => Err(ProviderError::new(format!("`{name}` would be in the archive twice"))),
            None => Ok(()),
        }
    }

    /// The digest of names, permissions and contents.
    pub(super) fn digest(&self) -> io::Result<String> {
        let mut tally = Tally::default();
        for (name, entry) in &self.0 {
            io::copy(&mut tally.read(name, entry)?, &mut io::sink())?;
        }
        Ok(tally.finish())
    }
}

/// Counts what goes into an archive.
#[derive(Default)]
pub(super) struct Tally(Sha256);

impl Tally {
    /// Reads an entry's content: as many bytes as it had when it was found, neither more nor less.
    pub(super) fn read<'a>(&'a mut self, name: &str, entry: &'a Entry) -> io::Result<Counted<'a>> {
        let head = format!("{}:{name}{}:{}:", name.len(), entry.permission, entry.size);
        self.0.update(head.as_bytes());
        let from: Box<dyn Read> = match &entry.content {
            Content::Text(text) => Box::new(text.as_bytes()),
            Content::File(path) => Box::new(fs::File::open(path)?),
        };
        Ok(Counted { tally: self, from, left: entry.size })
    }

    pub(super) fn finish(self) -> String {
        crate::digests::hex(&self.0.finalize())
    }
}

/// A content that is counted while it is read.
pub(super) struct Counted<'a> {
    tally: &'a mut Tally,
    from: Box<dyn Read + 'a>,
    left: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let changed = || io::Error::other("a file changed while it was packed");
        let read = self.from.read(buffer)? as u64;
        if read > self.left || (read == 0 && self.left > 0) {
            return Err(changed());
        }
        self.left -= read;
        let read = usize::try_from(read).map_err(|_| changed())?;
        self.tally.0.update(&buffer[..read]);
        Ok(read)
    }
}
