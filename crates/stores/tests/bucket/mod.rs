//! A bucket in memory whose clock can be set, and whose connection can be slow, lose answers or be cut.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it")]

use async_trait::async_trait;
use drystone_stores::object::{BucketOptions, BucketStore};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct TestBucket {
    memory: InMemory,
    clock: Arc<Mutex<Clock>>,
    connection: Mutex<Connection>,
}

#[derive(Debug, Default)]
struct Clock {
    /// How far the server's clock is ahead of this machine's.
    ahead: Duration,
    /// How far it was when each object was written.
    written: BTreeMap<Path, Duration>,
}

impl Clock {
    fn tell(&self, meta: &mut ObjectMeta) {
        meta.last_modified += self.written.get(&meta.location).copied().unwrap_or_default();
    }
}

#[derive(Debug, Default)]
struct Connection {
    writes: u64,
    /// What was read since the connection was last changed, looks left out.
    reads: Vec<String>,
    /// Of this many writes one goes unanswered: in turn it was carried out, or it was not.
    loses_every: Option<u64>,
    /// After how many writes the connection is cut, and whether the last of them is carried out.
    cut: Option<(u64, bool)>,
    is_cut: bool,
    /// Decides how long requests take, when it is not 0.
    seed: u64,
    /// Writes whatever the condition.
    ignores_conditions: bool,
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Answered,
    Unanswered { carried_out: bool },
    Cut { carried_out: bool },
}

impl Connection {
    fn fate(&mut self) -> Fate {
        if self.is_cut {
            return Fate::Cut { carried_out: false };
        }
        self.writes += 1;
        if let Some((after, carried_out)) = self.cut
            && self.writes > after
        {
            self.is_cut = true;
            return Fate::Cut { carried_out };
        }
        match self.loses_every {
            Some(every) if self.writes.is_multiple_of(every) => {
                Fate::Unanswered { carried_out: (self.writes / every).is_multiple_of(2) }
            }
            _ => Fate::Answered,
        }
    }

    /// How many others go first.
    fn pause(&mut self) -> u64 {
        if self.seed == 0 {
            return 0;
        }
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % 6
    }
}

impl TestBucket {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// A client of its own, as another process would have it.
    pub(crate) fn client(self: &Arc<Self>, options: &BucketOptions) -> BucketStore {
        let bucket: Arc<dyn ObjectStore> = Arc::<Self>::clone(self);
        let seed = std::mem::take(&mut self.connection.lock().unwrap().seed);
        let opened = BucketStore::open(bucket, "test://bucket", options.clone()).now_or_never();
        self.connection.lock().unwrap().seed = seed;
        opened.expect("memory answers at once").expect("a store")
    }

    /// Lets time pass on the server.
    pub(crate) fn advance(&self, by: Duration) {
        self.clock.lock().unwrap().ahead += by;
    }

    /// Leaves one write in so many unanswered.
    pub(crate) fn lose_answers(&self, every: u64) {
        self.connection.lock().unwrap().loses_every = Some(every);
    }

    /// Cuts the connection after so many more writes.
    pub(crate) fn cut_after(&self, writes: u64, carried_out: bool) {
        let mut connection = self.connection.lock().unwrap();
        *connection = Connection { cut: Some((writes, carried_out)), ..Connection::default() };
    }

    /// How many writes there have been since the connection was last changed.
    pub(crate) fn writes(&self) -> u64 {
        self.connection.lock().unwrap().writes
    }

    /// How many objects below a path have been read since the connection was last changed.
    pub(crate) fn reads(&self, below: &str) -> usize {
        let connection = self.connection.lock().unwrap();
        connection.reads.iter().filter(|path| path.starts_with(below)).count()
    }

    /// Whether the connection has been cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.connection.lock().unwrap().is_cut
    }

    /// Gives everybody a good connection.
    pub(crate) fn mend(&self) {
        *self.connection.lock().unwrap() = Connection::default();
    }

    /// Makes requests take longer or shorter, so that those of several clients meet.
    pub(crate) fn mix_requests(&self, seed: u64) {
        self.connection.lock().unwrap().seed = seed;
    }

    /// Makes the server carry out conditional writes whatever the condition.
    pub(crate) fn ignore_conditions(&self) {
        self.connection.lock().unwrap().ignores_conditions = true;
    }

    /// What an object says; `None` when there is none.
    pub(crate) async fn text(&self, path: &str) -> Option<String> {
        let object = self.memory.get(&Path::parse(path).unwrap()).await.ok()?;
        Some(String::from_utf8(object.bytes().await.unwrap().to_vec()).unwrap())
    }

    /// Writes an object as another tool would.
    pub(crate) async fn write(&self, path: &str, text: impl Into<String>) {
        let text: String = text.into();
        let path = Path::parse(path).unwrap();
        self.memory.put(&path, text.into()).await.unwrap();
        self.note(&path);
    }

    /// Deletes an object as another tool would.
    pub(crate) async fn delete_as_others(&self, path: &str) {
        self.memory.delete(&Path::parse(path).unwrap()).await.unwrap();
    }

    /// The paths of all objects.
    pub(crate) async fn paths(&self) -> Vec<String> {
        let listed: Vec<Result<ObjectMeta>> = self.memory.list(None).collect().await;
        listed.into_iter().map(|meta| meta.unwrap().location.to_string()).collect()
    }

    fn note(&self, path: &Path) {
        let mut clock = self.clock.lock().unwrap();
        let ahead = clock.ahead;
        clock.written.insert(path.clone(), ahead);
    }

    async fn pause(&self) {
        let pauses = self.connection.lock().unwrap().pause();
        for _ in 0..pauses {
            tokio::task::yield_now().await;
        }
    }

    fn is_reached(&self) -> Result<()> {
        if self.is_cut() { Err(cut()) } else { Ok(()) }
    }
}

fn cut() -> Error {
    Error::PermissionDenied { path: String::new(), source: "the connection is cut".into() }
}

fn unanswered() -> Error {
    Error::Generic { store: "test", source: "no answer".into() }
}

impl fmt::Display for TestBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bucket for tests")
    }
}

#[async_trait]
impl ObjectStore for TestBucket {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut opts: PutOptions,
    ) -> Result<PutResult> {
        self.pause().await;
        if self.connection.lock().unwrap().ignores_conditions {
            opts.mode = PutMode::Overwrite;
        }
        let fate = self.connection.lock().unwrap().fate();
        let done = match fate {
            Fate::Unanswered { carried_out: false } => return Err(unanswered()),
            Fate::Cut { carried_out: false } => return Err(cut()),
            _ => self.memory.put_opts(location, payload, opts).await,
        };
        if done.is_ok() {
            self.note(location);
        }
        self.pause().await;
        match fate {
            Fate::Answered => done,
            Fate::Unanswered { .. } => Err(unanswered()),
            Fate::Cut { .. } => Err(cut()),
        }
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(Error::NotSupported { source: "nothing is uploaded in parts".into() })
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.pause().await;
        self.is_reached()?;
        if !options.head {
            self.connection.lock().unwrap().reads.push(location.to_string());
        }
        let mut found = self.memory.get_opts(location, options).await?;
        self.clock.lock().unwrap().tell(&mut found.meta);
        Ok(found)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.connection.lock().unwrap().fate() {
            Fate::Answered => self.memory.delete_stream(locations),
            Fate::Unanswered { carried_out: false } => {
                futures::stream::once(async { Err(unanswered()) }).boxed()
            }
            Fate::Cut { carried_out: false } => futures::stream::once(async { Err(cut()) }).boxed(),
            fate => {
                let deleted = self.memory.delete_stream(locations);
                let error = if matches!(fate, Fate::Cut { .. }) { cut() } else { unanswered() };
                deleted
                    .filter(|_| async { false })
                    .chain(futures::stream::once(async move { Err(error) }))
                    .boxed()
            }
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        if self.is_cut() {
            return futures::stream::once(async { Err(cut()) }).boxed();
        }
        let clock = Arc::clone(&self.clock);
        let told = self.memory.list(prefix).map(move |meta| {
            let mut meta = meta?;
            clock.lock().unwrap().tell(&mut meta);
            Ok(meta)
        });
        told.boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.pause().await;
        self.is_reached()?;
        let mut listed = self.memory.list_with_delimiter(prefix).await?;
        let clock = self.clock.lock().unwrap();
        listed.objects.iter_mut().for_each(|meta| clock.tell(meta));
        drop(clock);
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.pause().await;
        let fate = self.connection.lock().unwrap().fate();
        match fate {
            Fate::Unanswered { carried_out: false } => return Err(unanswered()),
            Fate::Cut { carried_out: false } => return Err(cut()),
            _ => self.memory.copy_opts(from, to, options).await?,
        }
        self.note(to);
        match fate {
            Fate::Answered => Ok(()),
            Fate::Unanswered { .. } => Err(unanswered()),
            Fate::Cut { .. } => Err(cut()),
        }
    }
}
