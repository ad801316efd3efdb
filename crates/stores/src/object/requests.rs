//! Requests to a bucket, each settled: when one returns, it is known whether it happened.
//!
//! The client's own retries are off. A conditional write whose answer was lost may have landed; sent again by a client
//! that knows nothing of that, it would be refused because of itself. So a refused or unanswered write is settled here
//! by reading back: what stands there is compared with what was sent (S11). Whatever is written under a condition
//! therefore carries something that only its writer can have put there.

use super::faults::{Fault, Outcome, refusal_in};
use crate::seal::{Sealing, place_of};
use crate::{Error, Result};
use bytes::Bytes;
use futures::TryStreamExt;
use jiff::Timestamp;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, CopyOptions, GetOptions, ObjectMeta, ObjectStore, PutMode, PutOptions,
    UpdateVersion,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The pause after the first request that failed; each that follows is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often credentials that were not taken are renewed for one request.
const RENEWALS: u32 = 2;

/// A bucket, or the part of one below a prefix. Paths are relative to it and use `/`.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    store: Arc<dyn ObjectStore>,
    /// Its URL, for messages.
    url: String,
    /// How long a server that does not answer, or not sensibly, is asked again.
    patience: Duration,
    /// Whether objects are written with the type that their names end in.
    types: bool,
    /// What objects are sealed with at rest.
    sealing: Option<Arc<Sealing>>,
}

/// Which content of an object; every write makes another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Version {
    pub(crate) e_tag: Option<String>,
    pub(crate) generation: Option<String>,
}

impl Version {
    /// Whether two answers tell of the same content. Not every answer of every server names both.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => Some(one == other),
            _ => None,
        };
        match (agree(&self.e_tag, &other.e_tag), agree(&self.generation, &other.generation)) {
            (None, None) => false,
            (e_tag, generation) => e_tag.unwrap_or(true) && generation.unwrap_or(true),
        }
    }
}

/// An object that was read.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) content: Bytes,
    pub(crate) version: Version,
    /// When it was written, by the server's clock.
    pub(crate) modified: Timestamp,
}

/// An object that is known of without having been read.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) version: Version,
    pub(crate) modified: Timestamp,
}

/// What became of a conditional write.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is there.
    Done(Version),
    /// Something else is there, or nothing where something was expected.
    Refused(Option<Object>),
}

impl Bucket {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, url: impl Into<String>, patience: Duration) -> Self {
        Self { store, url: url.into(), patience, types: false, sealing: None }
    }

    /// Writes objects with their type, as tools do that care for it.
    pub(crate) fn with_types(self) -> Self {
        Self { types: true, ..self }
    }

    /// Seals what is written, and opens what is read (S19).
    pub(crate) fn with_sealing(self, sealing: Option<Sealing>) -> Self {
        Self { sealing: sealing.map(Arc::new), ..self }
    }

    fn sealed(&self, path: &str, content: &Bytes) -> Result<Bytes> {
        match (&self.sealing, place_of(path)) {
            (Some(sealing), Some(place)) => {
                let sealed = sealing.seal(&place, content).map(Bytes::from);
                sealed.map_err(Error::io("sealing", self.location(path)))
            }
            _ => Ok(content.clone()),
        }
    }

    fn opened(&self, path: &str, content: Bytes) -> Result<Bytes> {
        match (&self.sealing, place_of(path)) {
            (Some(sealing), Some(place)) => {
                let opened = sealing.open(&place, &content).map(Bytes::from);
                opened.map_err(Error::io("opening", self.location(path)))
            }
            _ => Ok(content),
        }
    }

    /// Brings an object into the form that new ones have; says whether there was something to do.
    pub(crate) async fn reseal(&self, path: &str) -> Result<bool> {
        let (Some(sealing), Some(_)) = (&self.sealing, place_of(path)) else { return Ok(false) };
        let Some(object) = self.read_sealed(path).await? else { return Ok(false) };
        if sealing.is_in_form(&object.content) {
            return Ok(false);
        }
        let content = self.opened(path, object.content)?;
        match self.replace(path, content, &object.version).await? {
            Written::Done(_) => Ok(true),
            Written::Refused(_) => {
                let source = std::io::Error::other("somebody changed it meanwhile");
                Err(Error::Io { action: "sealing", path: self.location(path), source })
            }
        }
    }

    /// Where a path is, for messages.
    pub(crate) fn location(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}/{path}", self.url.trim_end_matches('/')))
    }

    /// Writes an object that must not be there yet.
    pub(crate) async fn create(&self, path: &str, content: impl Into<Bytes>) -> Result<Written> {
        self.write_if(path, content.into(), None).await
    }

    /// Replaces an object that must still be the one that was seen.
    pub(crate) async fn replace(
        &self,
        path: &str,
        content: impl Into<Bytes>,
        seen: &Version,
    ) -> Result<Written> {
        self.write_if(path, content.into(), Some(seen)).await
    }

    /// Writes on condition that the object is as it was seen, or missing. Dying in here leaves the object as it was or
    /// with the new content, never anything else.
    async fn write_if(&self, path: &str, content: Bytes, seen: Option<&Version>) -> Result<Written> {
        let mode = match seen {
            Some(seen) => {
                PutMode::Update(UpdateVersion { e_tag: seen.e_tag.clone(), version: seen.generation.clone() })
            }
            None => PutMode::Create,
        };
        let mut attempts = Attempts::new(self.patience);
        let sealed = self.sealed(path, &content)?;
        loop {
            let sent =
                self.store.put_opts(&key(path), sealed.clone().into(), self.options(path, &mode)).await;
            let error = match sent {
                Ok(done) => {
                    return Ok(Written::Done(Version { e_tag: done.e_tag, generation: done.version }));
                }
                Err(error) => error,
            };
            let outcome = Outcome::of(&error);
            if outcome == Outcome::Final {
                return Err(self.failed("writing", path)(error));
            }
            if outcome == Outcome::Unmet {
                match self.read(path).await? {
                    Some(object) if object.content == content => return Ok(Written::Done(object.version)),
                    // The server refused because two requests met, and carried out neither.
                    there if is_as_seen(there.as_ref(), seen) => {}
                    there => return Ok(Written::Refused(there)),
                }
            }
            if !attempts.pause(outcome).await {
                // Whether the last one landed is not known until somebody looks.
                return match self.read(path).await {
                    Ok(Some(object)) if object.content == content => Ok(Written::Done(object.version)),
                    _ => Err(self.failed("writing", path)(error)),
                };
            }
        }
    }

    /// Writes an object whatever is there.
    pub(crate) async fn overwrite(&self, path: &str, content: impl Into<Bytes>) -> Result<Version> {
        let content = self.sealed(path, &content.into())?;
        let done = self
            .ask("writing", path, || async {
                let options = self.options(path, &PutMode::Overwrite);
                self.store.put_opts(&key(path), content.clone().into(), options).await
            })
            .await?;
        let done = done.ok_or_else(|| self.missing("writing", path))?;
        Ok(Version { e_tag: done.e_tag, generation: done.version })
    }

    /// An object; `None` when there is none.
    pub(crate) async fn read(&self, path: &str) -> Result<Option<Object>> {
        let Some(object) = self.read_sealed(path).await? else { return Ok(None) };
        Ok(Some(Object { content: self.opened(path, object.content)?, ..object }))
    }

    /// The same, but what was read before is not sent again while it stands there.
    pub(crate) async fn read_again(&self, path: &str, before: &Object) -> Result<Option<Object>> {
        let Some(tag) = &before.version.e_tag else { return self.read(path).await };
        let options = GetOptions { if_none_match: Some(tag.clone()), ..GetOptions::default() };
        let answer = self
            .ask("reading", path, || async {
                match self.get(path, &options).await {
                    Err(object_store::Error::NotModified { .. }) => Ok(None),
                    read => read.map(Some),
                }
            })
            .await?;
        Ok(match answer {
            Some(Some(object)) => Some(Object { content: self.opened(path, object.content)?, ..object }),
            Some(None) => Some(before.clone()),
            None => None,
        })
    }

    /// An object as it lies there.
    async fn read_sealed(&self, path: &str) -> Result<Option<Object>> {
        self.read_with(path, GetOptions::default()).await
    }

    /// What an object was; `None` when the bucket has not kept it.
    pub(crate) async fn read_version(&self, path: &str, version: &str) -> Result<Option<Object>> {
        self.read_with(path, GetOptions { version: Some(version.to_owned()), ..GetOptions::default() }).await
    }

    async fn read_with(&self, path: &str, options: GetOptions) -> Result<Option<Object>> {
        self.ask("reading", path, || self.get(path, &options)).await
    }

    async fn get(&self, path: &str, options: &GetOptions) -> object_store::Result<Object> {
        let answer = self.store.get_opts(&key(path), options.clone()).await?;
        let found = found(&answer.meta);
        let content = answer.bytes().await?;
        Ok(Object { content, version: found.version, modified: found.modified })
    }

    /// What is known of an object without reading it; `None` when there is none.
    pub(crate) async fn look(&self, path: &str) -> Result<Option<Found>> {
        self.ask("looking at", path, || async {
            let options = GetOptions { head: true, ..GetOptions::default() };
            Ok::<_, object_store::Error>(found(&self.store.get_opts(&key(path), options).await?.meta))
        })
        .await
    }

    /// Every object below a folder, in the order of their paths.
    pub(crate) async fn list(&self, folder: &str) -> Result<Vec<Found>> {
        let metas = self
            .ask("listing", folder, || async {
                self.store.list(Some(&key(folder))).try_collect::<Vec<_>>().await
            })
            .await?;
        let mut listed: Vec<Found> = metas.unwrap_or_default().iter().map(found).collect();
        listed.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(listed)
    }

    /// The folders and the objects that stand directly in a folder, by their names in it.
    pub(crate) async fn names(&self, folder: &str) -> Result<(Vec<String>, Vec<Found>)> {
        let listed = self
            .ask("listing", folder, || async { self.store.list_with_delimiter(Some(&key(folder))).await })
            .await?;
        let Some(listed) = listed else { return Ok((Vec::new(), Vec::new())) };
        let mut folders: Vec<String> =
            listed.common_prefixes.iter().map(|path| last_part(path.as_ref()).to_owned()).collect();
        folders.sort();
        let mut objects: Vec<Found> = listed.objects.iter().map(found).collect();
        objects.sort_by(|one, other| one.path.cmp(&other.path));
        Ok((folders, objects))
    }

    /// Copies an object; says whether there was one.
    pub(crate) async fn copy(&self, from: &str, to: &str) -> Result<bool> {
        if self.sealing.is_some() && place_of(from) != place_of(to) {
            // Sealed for one place, it would not open in the other.
            let Some(object) = self.read(from).await? else { return Ok(false) };
            return self.overwrite(to, object.content).await.map(|_| true);
        }
        let copied = self
            .ask("copying", from, || async {
                self.store.copy_opts(&key(from), &key(to), CopyOptions::default()).await
            })
            .await?;
        Ok(copied.is_some())
    }

    /// Deletes objects; those that are gone already do not matter.
    pub(crate) async fn remove(&self, paths: &[String]) -> Result<()> {
        let Some(first) = paths.first() else { return Ok(()) };
        self.ask("deleting", first, || async {
            let keys: Vec<object_store::Result<Path>> = paths.iter().map(|path| Ok(key(path))).collect();
            let mut deleted = self.store.delete_stream(Box::pin(futures::stream::iter(keys)));
            loop {
                match deleted.try_next().await {
                    Ok(Some(_)) | Err(object_store::Error::NotFound { .. }) => {}
                    Ok(None) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
        })
        .await
        .map(drop)
    }

    fn options(&self, path: &str, mode: &PutMode) -> PutOptions {
        let media = match path.rsplit('.').next() {
            Some("json") => Some("application/json"),
            Some("jsonl") => Some("application/x-ndjson"),
            _ => None,
        };
        let media = media.filter(|_| self.types);
        let attributes: Attributes = media.map(|media| (Attribute::ContentType, media)).into_iter().collect();
        PutOptions { mode: mode.clone(), attributes, ..PutOptions::default() }
    }

    /// Sends a request that may be sent twice, until there is an answer; `None` when it is that nothing is there.
    async fn ask<T, F>(&self, action: &'static str, path: &str, send: impl Fn() -> F) -> Result<Option<T>>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        answered(self.patience, send).await.map_err(self.failed(action, path))
    }

    fn failed(&self, action: &'static str, path: &str) -> impl FnOnce(object_store::Error) -> Error {
        told(action, self.location(path))
    }

    fn missing(&self, action: &'static str, path: &str) -> Error {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such bucket");
        Error::Io { action, path: self.location(path), source }
    }
}

/// Sends a request that may be sent twice, until there is an answer; `None` when it is that nothing is there.
pub(super) async fn answered<T, F>(
    patience: Duration,
    send: impl Fn() -> F,
) -> Result<Option<T>, object_store::Error>
where
    F: Future<Output = object_store::Result<T>>,
{
    let mut attempts = Attempts::new(patience);
    loop {
        match send().await {
            Ok(answer) => return Ok(Some(answer)),
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => match Outcome::of(&error) {
                outcome @ (Outcome::Passing | Outcome::Expired) if attempts.pause(outcome).await => {}
                _ => return Err(error),
            },
        }
    }
}

/// What a request came to that failed, as an error of a store.
pub(super) fn told(action: &'static str, path: PathBuf) -> impl FnOnce(object_store::Error) -> Error {
    move |error| {
        use object_store::Error as E;
        use std::io::ErrorKind;
        // What the server said is all that is worth telling.
        if let Some(refusal) = refusal_in(&error) {
            let kind = match refusal.fault() {
                Fault::NoBucket => ErrorKind::NotFound,
                Fault::Credentials | Fault::Expired | Fault::Forbidden => ErrorKind::PermissionDenied,
                Fault::Region | Fault::Clock | Fault::Request => ErrorKind::InvalidInput,
                Fault::Busy => ErrorKind::ResourceBusy,
            };
            return Error::Io { action, path, source: std::io::Error::new(kind, refusal.clone()) };
        }
        let kind = match &error {
            E::NotFound { .. } => ErrorKind::NotFound,
            E::Unauthenticated { .. } | E::PermissionDenied { .. } => ErrorKind::PermissionDenied,
            _ => ErrorKind::Other,
        };
        Error::Io { action, path, source: std::io::Error::new(kind, error) }
    }
}

/// How often, and how long, a request has been tried.
struct Attempts {
    began: Instant,
    patience: Duration,
    pause: Duration,
    /// How often the credentials were not taken.
    denials: u32,
}

impl Attempts {
    fn new(patience: Duration) -> Self {
        Self { began: Instant::now(), patience, pause: FIRST_PAUSE, denials: 0 }
    }

    /// Waits before the next attempt. Says no when there should be none: time is up, or renewed credentials were not
    /// taken either.
    async fn pause(&mut self, outcome: Outcome) -> bool {
        self.denials += u32::from(outcome == Outcome::Expired);
        if self.denials > RENEWALS || self.began.elapsed() + self.pause > self.patience {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

fn is_as_seen(there: Option<&Object>, seen: Option<&Version>) -> bool {
    match (there, seen) {
        (Some(there), Some(seen)) => there.version.is_same(seen),
        (None, None) => true,
        _ => false,
    }
}

/// A path as it is. Whatever no server could hold is spelled otherwise, rather than lead elsewhere.
fn key(path: &str) -> Path {
    Path::parse(path).unwrap_or_else(|_| Path::from(path))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn found(meta: &ObjectMeta) -> Found {
    Found {
        path: meta.location.to_string(),
        version: Version { e_tag: meta.e_tag.clone(), generation: meta.version.clone() },
        modified: Timestamp::from_millisecond(meta.last_modified.timestamp_millis())
            .unwrap_or(Timestamp::UNIX_EPOCH),
    }
}
