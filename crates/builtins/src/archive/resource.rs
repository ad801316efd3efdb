//! Archives as a resource and as a function.

use super::gather::{Wanted, is_inside};
use super::pack::Format;
use super::unpack::texts;
use crate::differences::Differences;
use crate::digests::Digests;
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::local::{Permission, Permissions, failed, off_thread, resolve, write};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{DiffKind, PropertyMap, ProviderError};
use drystone_model::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `File`.
pub(crate) struct File;

/// The function that makes an archive.
pub(crate) const GET_FILE: &str = "drystone:archive:getFile";

/// The inputs of which at least one says what is in the archive.
const SOURCES: [&str; 4] = ["sourceFile", "sourceDir", "sourceContent", "sources"];

fn check(inputs: &Fields, failures: &mut Failures) {
    if !SOURCES.iter().any(|key| inputs.is_given(key)) {
        failures.add("", format!("one of `{}` must be given", SOURCES.join("`, `")));
    }
    if inputs.is_given("sourceContent") != inputs.is_given("sourceContentFilename") {
        failures.add("sourceContentFilename", "`sourceContent` and `sourceContentFilename` go together");
    }
    let name = |value: &Value| value.get("filename").and_then(Value::as_str).map(str::to_owned);
    let mut names: Vec<(String, String)> = Vec::new();
    for (index, source) in inputs.list("sources").iter().enumerate() {
        names.extend(name(source).map(|name| (format!("sources[{index}].filename"), name)));
    }
    let alone = inputs.text("sourceContentFilename");
    names.extend(alone.map(|name| ("sourceContentFilename".to_owned(), name.to_owned())));
    for (property, _) in names.iter().filter(|(_, name)| !is_inside(name)) {
        failures.add(
            property,
            format!("`{property}` must be a relative path with `/` between names and without `..`"),
        );
    }
    Permission::check(inputs, "outputFileMode", failures);
}

fn outputs(digests: &Digests) -> PropertyMap {
    let output = |key: &str, text: &str| (key.to_owned(), Value::from(text));
    PropertyMap::from([
        ("outputSize".to_owned(), Value::from(i64::try_from(digests.size).unwrap_or(i64::MAX))),
        output("outputMd5", &digests.md5),
        output("outputSha", &digests.sha1),
        output("outputSha256", &digests.sha256),
        output("outputSha512", &digests.sha512),
        output("outputBase64sha256", &digests.base64_sha256),
        output("outputBase64sha512", &digests.base64_sha512),
    ])
}

fn place(world: &World, inputs: &Fields) -> Answer<(String, PathBuf)> {
    let name = inputs.text("outputPath").ok_or_else(|| ProviderError::new("`outputPath` is not known"))?;
    Ok((name.to_owned(), resolve(world.directory(), name)?))
}

fn format(inputs: &Fields) -> Answer<Format> {
    let format = inputs.text("type").and_then(Format::parse);
    format.ok_or_else(|| ProviderError::new("`type` is no format of archives"))
}

/// Makes the archive as the inputs say.
async fn put(world: &World, inputs: &Fields) -> Answer<Made> {
    let (name, path) = place(world, inputs)?;
    let format = format(inputs)?;
    let real = path.parent().and_then(|folder| folder.canonicalize().ok());
    let real = real.zip(path.file_name()).map_or_else(|| path.clone(), |(folder, name)| folder.join(name));
    let wanted = Wanted::new(world.directory(), real, inputs);
    let shown = name.clone();
    let made = off_thread(move || -> Answer<(Digests, String)> {
        let entries = wanted.gather()?;
        let permissions = Permissions { file: Permission(0o644), folders: Permission(0o755) };
        let mut packed = String::new();
        let written = write(&path, permissions, |file| {
            packed = format.pack(&entries, io::BufWriter::new(file))?;
            Ok(())
        });
        Ok((written.map_err(|error| failed("written", &shown, &error))?, packed))
    });
    let (digests, packed) = made.await??;
    let mut outputs = outputs(&digests);
    outputs.insert("sourceSha256".to_owned(), Value::String(packed));
    // The digests of a short secret say what it is to whoever tries.
    inputs.hide_with(&SOURCES, &mut outputs);
    Ok(Made { id: name, outputs })
}

fn digests(path: &Path) -> io::Result<Option<Digests>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Digests::of_reader(fs::File::open(path)?).map(Some),
        Ok(_) => Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The inputs that would make an archive that is there, and the digest of what is in it.
async fn import(name: &str, path: PathBuf) -> Answer<(PropertyMap, String)> {
    let format = match name {
        _ if name.ends_with(".zip") => Format::Zip,
        _ if name.ends_with(".tar.gz") || name.ends_with(".tgz") => Format::TarGz,
        _ => return Err(ProviderError::new(format!("`{name}` ends neither with .zip, .tar.gz nor .tgz"))),
    };
    let texts = off_thread(move || texts(&path, format)).await?;
    let texts = texts.map_err(|error| failed("imported", name, &error))?;
    let mut inputs = PropertyMap::from([
        ("type".to_owned(), Value::from(format.as_str())),
        ("outputPath".to_owned(), Value::from(name)),
    ]);
    let first = texts.values().next().map(|text| text.permission);
    if let Some(permission) = first.filter(|permission| permission.0 != 0o644) {
        inputs.insert("outputFileMode".to_owned(), Value::String(permission.to_string()));
    }
    let source = |(name, text): (&String, &super::unpack::Text)| {
        Value::object([("filename", name.as_str()), ("content", text.content.as_str())])
    };
    inputs.insert("sources".to_owned(), Value::array(texts.iter().map(source)));
    let entries = Wanted::new(Path::new(""), PathBuf::new(), &Fields::new(&inputs)).gather()?;
    let digest = entries.digest().map_err(|error| failed("imported", name, &error))?;
    Ok((inputs, digest))
}

#[async_trait]
impl Kind for File {
    fn named_by(&self) -> &'static [&'static str] {
        &["outputPath"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        check(inputs, failures);
    }

    /// Files change without their paths.
    async fn diff(&self, world: &World, change: &Change<'_>, differences: &mut Differences) -> Answer<()> {
        let inputs = change.new_inputs;
        let unknown = SOURCES.iter().chain([&"outputPath"]).any(|key| inputs.is_unknown(key));
        let Some(packed) = change.old_outputs.text("sourceSha256").filter(|_| !unknown) else {
            return Ok(());
        };
        let (_, path) = place(world, inputs)?;
        let wanted = Wanted::new(world.directory(), path, inputs);
        // What is not there yet may be made by this very update.
        let found =
            off_thread(move || wanted.gather().ok().and_then(|entries| entries.digest().ok())).await?;
        let key = SOURCES.into_iter().find(|key| inputs.is_given(key)).unwrap_or("sources");
        if found.is_some_and(|found| found != packed) && !differences.has(key) {
            differences.note(key, DiffKind::Update);
        }
        Ok(())
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        world.claim(&place(world, inputs)?.1, &subject.urn)?;
        put(world, inputs).await
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        let mut inputs = known.inputs;
        // What is imported, or only read by the program, has no inputs that could be kept.
        let bare = !SOURCES.iter().any(|key| inputs.contains_key(*key));
        inputs.entry("outputPath".to_owned()).or_insert_with(|| Value::from(subject.id.as_str()));
        let (name, path) = place(world, &Fields::new(&inputs))?;
        let looked = path.clone();
        let there = off_thread(move || digests(&looked)).await?;
        let Some(there) = there.map_err(|error| failed("read", &name, &error))? else { return Ok(None) };
        let old = Fields::new(&known.outputs);
        let mut outputs = outputs(&there);
        let mut packed = match old.text("outputSha256") == Some(&there.sha256) {
            true => old.text("sourceSha256").unwrap_or_default().to_owned(),
            false => String::new(),
        };
        if bare {
            (inputs, packed) = import(&name, path).await?;
        }
        outputs.insert("sourceSha256".to_owned(), Value::String(packed));
        Fields::new(&inputs).hide_with(&SOURCES, &mut outputs);
        Ok(Some(Seen { id: subject.id.clone(), inputs, outputs }))
    }

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        world.claim(&place(world, change.new_inputs)?.1, &subject.urn)?;
        let made = put(world, change.new_inputs).await?;
        Ok(Made { id: subject.id.clone(), ..made })
    }

    async fn delete(&self, world: &World, _: &Subject, inputs: &Fields, _: &Fields) -> Answer<()> {
        let (name, path) = place(world, inputs)?;
        if world.is_taken_over(&path) {
            return Ok(());
        }
        let removed = off_thread(move || match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => fs::remove_file(&path),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        });
        match removed.await? {
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(failed("deleted", &name, &error))
            }
            _ => Ok(()),
        }
    }
}

/// Makes an archive and gives its digests.
pub(crate) async fn get_file(world: &World, inputs: &Fields, failures: &mut Failures) -> Answer<Made> {
    check(inputs, failures);
    if !failures.0.is_empty() {
        return Ok(Made::default());
    }
    put(world, inputs).await
}
