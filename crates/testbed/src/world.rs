//! The world of the bench provider: one file an object.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Where objects are kept, how slow it is to change them, and what they are called.
#[derive(Debug, Clone, Default)]
pub struct World {
    folder: Option<PathBuf>,
    calls: Option<PathBuf>,
    delay: Duration,
    gives_ids: bool,
    schema: Option<PathBuf>,
}

impl World {
    /// The world that the environment names: `BENCH_WORLD` a folder, `BENCH_CALLS` a file that gets a line for every
    /// change that was asked for, `BENCH_DELAY_MS` how long a change takes before it has its effect and again before it
    /// is answered, `BENCH_IDS=given` that ids are not names, `BENCH_SCHEMA` a file that has the package's schema.
    #[must_use]
    pub fn of_environment() -> Self {
        let delay = std::env::var("BENCH_DELAY_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        Self {
            folder: std::env::var_os("BENCH_WORLD").map(PathBuf::from),
            calls: std::env::var_os("BENCH_CALLS").map(PathBuf::from),
            delay: Duration::from_millis(delay),
            gives_ids: std::env::var("BENCH_IDS").is_ok_and(|ids| ids == "given"),
            schema: std::env::var_os("BENCH_SCHEMA").map(PathBuf::from),
        }
    }

    /// The id of an object that is about to be made: its name, or one that nobody can guess from it.
    #[must_use]
    pub fn id_for(&self, name: &str) -> String {
        match self.gives_ids {
            true => format!("{name}~{:08x}", rand::random::<u32>()),
            false => name.to_owned(),
        }
    }

    /// What the package says of its resources: nothing, unless the environment names a file.
    pub fn schema(&self) -> Result<String, String> {
        match &self.schema {
            Some(path) => {
                std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
            }
            None => Ok(r#"{"name": "bench", "version": "1.0.0"}"#.to_owned()),
        }
    }

    /// Makes an object. One that exists is a failure: nothing may be made twice.
    pub async fn create(&self, id: &str, content: &[u8]) -> Result<(), String> {
        self.note("create", id)?;
        self.pause().await;
        let Some(path) = self.path(id) else { return Ok(()) };
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = made.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => format!("{id} exists already"),
            _ => error.to_string(),
        })?;
        file.write_all(content).map_err(|error| error.to_string())?;
        self.pause().await;
        Ok(())
    }

    /// Changes an object.
    pub async fn update(&self, id: &str, content: &[u8]) -> Result<(), String> {
        self.note("update", id)?;
        self.pause().await;
        let Some(path) = self.path(id) else { return Ok(()) };
        if !path.exists() {
            return Err(format!("{id} does not exist"));
        }
        let written = File::create(path).and_then(|mut file| file.write_all(content));
        written.map_err(|error| error.to_string())?;
        self.pause().await;
        Ok(())
    }

    /// Deletes an object. One that is gone is no failure.
    pub async fn delete(&self, id: &str) -> Result<(), String> {
        self.note("delete", id)?;
        self.pause().await;
        let Some(path) = self.path(id) else { return Ok(()) };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
            _ => {
                self.pause().await;
                Ok(())
            }
        }
    }

    /// What an object holds; nothing when there is none. Without a folder, everything exists.
    pub fn read(&self, id: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(path) = self.path(id) else { return Ok(None) };
        match std::fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn note(&self, call: &str, id: &str) -> Result<(), String> {
        let Some(path) = &self.calls else { return Ok(()) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let noted = file.and_then(|mut file| file.write_all(format!("{call} {id}\n").as_bytes()));
        noted.map_err(|error| error.to_string())
    }

    async fn pause(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(id))
    }
}
