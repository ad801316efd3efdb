//! Files.

use super::permission::Permission;
use super::place::{existing, failed, resolve};
use super::write::{Permissions, write};
use crate::differences::Differences;
use crate::digests::Digests;
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drystone_engine::{DiffKind, PropertyMap, ProviderError};
use drystone_model::Value;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// `File`.
pub(crate) struct File;

/// The inputs of which exactly one says what is in the file.
const CONTENTS: [&str; 4] = ["content", "sensitiveContent", "contentBase64", "source"];

/// The most content that is taken back into the inputs when somebody else changed the file.
const LARGEST_SEEN: u64 = 16 << 20;

/// What is to be in a file.
enum Content {
    Bytes(Vec<u8>),
    /// That of another file.
    Source(PathBuf),
}

impl Content {
    fn wanted(world: &World, inputs: &Fields) -> Answer<Self> {
        if let Some(text) = inputs.text("content").or(inputs.text("sensitiveContent")) {
            return Ok(Self::Bytes(text.as_bytes().to_vec()));
        }
        if let Some(text) = inputs.text("contentBase64") {
            let decoded = STANDARD.decode(text.trim());
            return decoded.map(Self::Bytes).map_err(|_| ProviderError::new("`contentBase64` is not base64"));
        }
        let source = inputs.text("source").ok_or_else(|| ProviderError::new("there is no content"))?;
        let path = existing(world.directory(), source)?;
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Self::Source(path)),
            Ok(_) => Err(ProviderError::new(format!("the source `{source}` is no ordinary file"))),
            Err(error) => Err(failed("read", source, &error)),
        }
    }

    fn write_into(self, file: &mut fs::File) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => file.write_all(&bytes),
            Self::Source(path) => {
                let unreadable =
                    |error: io::Error| io::Error::new(error.kind(), format!("its source: {error}"));
                io::copy(&mut fs::File::open(path).map_err(unreadable)?, file).map(|_| ())
            }
        }
    }

    fn digests(&self) -> io::Result<Digests> {
        match self {
            Self::Bytes(bytes) => Ok(Digests::of(bytes)),
            Self::Source(path) => Digests::of_reader(fs::File::open(path)?),
        }
    }
}

fn permission(inputs: &Fields) -> Permission {
    let hidden = inputs.is_given("sensitiveContent");
    Permission::given(inputs, "filePermission").unwrap_or(Permission(if hidden { 0o600 } else { 0o644 }))
}

/// The digests as outputs. Those of a secret are secret: a short one could be found by trying.
fn outputs(digests: &Digests, inputs: &Fields) -> PropertyMap {
    let output = |key: &str, text: &str| (key.to_owned(), Value::from(text));
    let mut outputs = PropertyMap::from([
        output("contentMd5", &digests.md5),
        output("contentSha1", &digests.sha1),
        output("contentSha256", &digests.sha256),
        output("contentSha512", &digests.sha512),
        output("contentBase64sha256", &digests.base64_sha256),
        output("contentBase64sha512", &digests.base64_sha512),
    ]);
    inputs.hide_with(&CONTENTS, &mut outputs);
    outputs
}

fn filename(inputs: &Fields) -> Answer<&str> {
    inputs.text("filename").ok_or_else(|| ProviderError::new("`filename` is not known"))
}

/// Writes the file as its inputs say.
async fn put(world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
    let name = filename(inputs)?.to_owned();
    let path = resolve(world.directory(), &name)?;
    let content = Content::wanted(world, inputs)?;
    let folders = Permission::given(inputs, "directoryPermission").unwrap_or(Permission(0o755));
    let permissions = Permissions { file: permission(inputs), folders };
    world.claim(&path, &subject.urn)?;
    let written = off_thread(move || write(&path, permissions, |file| content.write_into(file))).await?;
    let digests = written.map_err(|error| failed("written", &name, &error))?;
    Ok(Made { id: name, outputs: outputs(&digests, inputs) })
}

/// Runs what waits for the disk where it holds up nobody.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ProviderError::unknown("the work on files ended before it was done"))
}

/// What there is at a place: the digests, and the content if it is asked for and not too large.
struct There {
    digests: Digests,
    permission: Option<Permission>,
    content: Option<Vec<u8>>,
}

/// Looks at a file; nothing when there is none, or something else in its place.
fn look(path: &Path, unchanged: Option<&str>) -> io::Result<Option<There>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    let digests = Digests::of_reader(&mut file)?;
    let content = match Some(digests.sha256.as_str()) == unchanged || metadata.len() > LARGEST_SEEN {
        true => None,
        false => {
            let mut content = Vec::new();
            fs::File::open(path)?.take(LARGEST_SEEN).read_to_end(&mut content)?;
            Some(content)
        }
    };
    Ok(Some(There { digests, permission: Permission::of(&metadata), content }))
}

/// The inputs that would make what is there.
fn seen_inputs(mut inputs: PropertyMap, known: &Fields, there: &There) -> PropertyMap {
    let key = CONTENTS.into_iter().find(|key| known.is_given(key)).unwrap_or("content");
    let hidden = known.is_secret(key);
    if let Some(content) = there.content.clone().filter(|_| key != "source") {
        inputs.remove(key);
        let text = if key == "contentBase64" { None } else { String::from_utf8(content.clone()).ok() };
        let (key, value) = match text {
            Some(text) => (key, Value::String(text)),
            None => ("contentBase64", Value::String(STANDARD.encode(content))),
        };
        inputs.insert(key.to_owned(), if hidden { Value::secret(value) } else { value });
    }
    if let Some(there) = there.permission.filter(|there| *there != permission(known)) {
        inputs.insert("filePermission".to_owned(), Value::String(there.to_string()));
    }
    inputs
}

#[async_trait]
impl Kind for File {
    fn named_by(&self) -> &'static [&'static str] {
        &["filename"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        let given: Vec<&str> = CONTENTS.into_iter().filter(|key| inputs.is_given(key)).collect();
        if given.len() != 1 {
            let names = CONTENTS.join("`, `");
            failures.add("", format!("exactly one of `{names}` must be given, not {}", given.len()));
        }
        if inputs.text("contentBase64").is_some_and(|text| STANDARD.decode(text.trim()).is_err()) {
            failures.add("contentBase64", "`contentBase64` is not base64");
        }
        if inputs.text("filename").is_some_and(|name| name.is_empty() || name.ends_with('/')) {
            failures.add("filename", "`filename` names no file");
        }
        Permission::check(inputs, "filePermission", failures);
        Permission::check(inputs, "directoryPermission", failures);
    }

    /// The content of a source changes without its path; and what a refresh found may differ where the inputs do not.
    async fn diff(&self, world: &World, change: &Change<'_>, differences: &mut Differences) -> Answer<()> {
        let inputs = change.new_inputs;
        let Some(key) = CONTENTS.into_iter().find(|key| inputs.is_given(key)) else { return Ok(()) };
        if inputs.is_unknown(key) || CONTENTS.iter().any(|key| differences.has(key)) {
            return Ok(());
        }
        // A source that is not there yet may be made by this very update.
        let Ok(content) = Content::wanted(world, inputs) else { return Ok(()) };
        let wanted = off_thread(move || content.digests().ok()).await?;
        let there = change.old_outputs.text("contentSha256");
        if wanted.zip(there).is_some_and(|(wanted, there)| wanted.sha256 != there) {
            differences.note(key, DiffKind::Update);
        }
        Ok(())
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        put(world, subject, inputs).await
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        let mut inputs = known.inputs;
        inputs.entry("filename".to_owned()).or_insert_with(|| Value::from(subject.id.as_str()));
        let fields = Fields::new(&inputs);
        let name = filename(&fields)?.to_owned();
        let path = resolve(world.directory(), &name)?;
        // What is imported, or only read by the program, has no inputs that could be kept.
        let bare = !CONTENTS.iter().any(|key| fields.is_given(key));
        let unchanged =
            Fields::new(&known.outputs).text("contentSha256").filter(|_| !bare).map(str::to_owned);
        let looked = off_thread(move || look(&path, unchanged.as_deref())).await?;
        let Some(there) = looked.map_err(|error| failed("read", &name, &error))? else { return Ok(None) };
        if bare && there.content.is_none() {
            return Err(ProviderError::new(format!("`{name}` is too large to be read: more than 16 MiB")));
        }
        let outputs = outputs(&there.digests, &fields);
        let inputs = seen_inputs(inputs, &fields, &there);
        Ok(Some(Seen { id: subject.id.clone(), inputs, outputs }))
    }

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let made = put(world, subject, change.new_inputs).await?;
        Ok(Made { id: subject.id.clone(), ..made })
    }

    async fn delete(&self, world: &World, _: &Subject, inputs: &Fields, _: &Fields) -> Answer<()> {
        let name = filename(inputs)?.to_owned();
        let path = resolve(world.directory(), &name)?;
        if world.is_taken_over(&path) {
            return Ok(());
        }
        let removed = off_thread(move || match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => fs::remove_file(&path),
            // What somebody else put in its place is not ours to delete.
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        });
        match removed.await? {
            Err(error) if !is_gone(&error) => Err(failed("deleted", &name, &error)),
            _ => Ok(()),
        }
    }
}

/// Whether nothing is there, be it that a folder above is none.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
