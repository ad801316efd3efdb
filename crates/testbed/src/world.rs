//! The world of the bench provider: one file an object.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Where objects are kept, and how slow it is to change them.
#[derive(Debug, Clone, Default)]
pub struct World {
    folder: Option<PathBuf>,
    delay: Duration,
}

impl World {
    /// The world that the environment names: `BENCH_WORLD` a folder, `BENCH_DELAY_MS` how long a change takes.
    #[must_use]
    pub fn of_environment() -> Self {
        let delay = std::env::var("BENCH_DELAY_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        Self {
            folder: std::env::var_os("BENCH_WORLD").map(PathBuf::from),
            delay: Duration::from_millis(delay),
        }
    }

    /// Makes an object. One that exists is a failure: nothing may be made twice.
    pub async fn create(&self, id: &str, content: &[u8]) -> Result<(), String> {
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
        self.pause().await;
        let Some(path) = self.path(id) else { return Ok(()) };
        if !path.exists() {
            return Err(format!("{id} does not exist"));
        }
        File::create(path).and_then(|mut file| file.write_all(content)).map_err(|error| error.to_string())
    }

    /// Deletes an object. One that is gone is no failure.
    pub async fn delete(&self, id: &str) -> Result<(), String> {
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

    async fn pause(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(id))
    }
}
