//! Which files change below the paths that are watched.
//!
//! Every folder is watched for itself and those that are ignored are not: installed packages can be more folders than the
//! system watches for one user. A single file is watched through its folder, because editors put a new one in its place.

use super::ignored::{is_environment, is_ignored, is_ignored_name};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use notify::event::ModifyKind;
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How long nothing must change before it is told: an editor or a checkout changes several files.
const QUIET: Duration = Duration::from_millis(100);
/// How long is waited for that at most.
const LONGEST: Duration = Duration::from_secs(2);

/// Tells what changes.
pub(super) struct Changes {
    watcher: RecommendedWatcher,
    events: UnboundedReceiver<notify::Result<Event>>,
    /// The folder that names are told from.
    home: PathBuf,
    watched: Vec<Watched>,
}

/// What is watched.
enum Watched {
    Folder(PathBuf),
    File(PathBuf),
}

impl Changes {
    /// Watches paths, each from a folder on; the folder itself when there are none.
    pub(super) fn watch(folder: &Path, paths: &[PathBuf]) -> Outcome<Self> {
        let home = real(folder)?;
        let (sender, events) = unbounded_channel();
        let watcher = notify::recommended_watcher(move |event| {
            // Nobody listens any more when the command ends.
            let _ = sender.send(event);
        })
        .map_err(|error| failed(&home, &error))?;
        let mut changes = Self { watcher, events, home, watched: Vec::new() };
        let everything = [PathBuf::new()];
        for path in if paths.is_empty() { &everything } else { paths } {
            let path = real(&changes.home.join(path))?;
            if path.is_dir() {
                changes.watch_below(&path)?;
                changes.watched.push(Watched::Folder(path));
            } else {
                changes.watch_folder(path.parent().unwrap_or(&path))?;
                changes.watched.push(Watched::File(path));
            }
        }
        Ok(changes)
    }

    /// Waits until something changed and then nothing more for a moment. Gives the names of what did.
    pub(super) async fn next(&mut self) -> Outcome<Vec<String>> {
        let mut changed = BTreeSet::new();
        while changed.is_empty() {
            let ended = || Failure::new(ExitCode::Internal, "the watching of files ended by itself");
            let event = self.events.recv().await.ok_or_else(ended)?;
            self.take(event, &mut changed)?;
        }
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            match tokio::time::timeout(QUIET, self.events.recv()).await {
                Ok(Some(event)) => self.take(event, &mut changed)?,
                Ok(None) | Err(_) => break,
            }
        }
        let name = |path: &PathBuf| path.strip_prefix(&self.home).unwrap_or(path).display().to_string();
        Ok(changed.iter().map(name).map(|name| if name.is_empty() { ".".to_owned() } else { name }).collect())
    }

    fn take(&mut self, event: notify::Result<Event>, changed: &mut BTreeSet<PathBuf>) -> Outcome {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                terminal::warning(format!("watching for changes: {error}"));
                return Ok(());
            }
        };
        if event.need_rescan() {
            // The system lost some: anything may have changed.
            changed.insert(self.home.clone());
            return Ok(());
        }
        if !is_change(event.kind) {
            return Ok(());
        }
        for path in event.paths {
            if !self.watched.iter().any(|watched| watched.covers(&path)) {
                continue;
            }
            if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                self.watch_below(&path)?;
            }
            changed.insert(path);
        }
        Ok(())
    }

    /// Watches a folder and those in it.
    fn watch_below(&mut self, folder: &Path) -> Outcome {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            self.watch_folder(&folder)?;
            // One that is gone again, or not ours to read, has nothing to watch.
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !is_ignored_name(&entry.file_name()) && !is_environment(&entry.path()) {
                    folders.push(entry.path());
                }
            }
        }
        Ok(())
    }

    fn watch_folder(&mut self, folder: &Path) -> Outcome {
        match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            Err(error) if folder.exists() => Err(failed(folder, &error)),
            _ => Ok(()),
        }
    }
}

impl Watched {
    /// Whether a path is, or is below, what is watched, and is somebody's program.
    fn covers(&self, path: &Path) -> bool {
        match self {
            Self::File(file) => path == file,
            Self::Folder(folder) => path.strip_prefix(folder).is_ok_and(|below| {
                let mut folders = path.ancestors().skip(1).take_while(|above| above.starts_with(folder));
                !is_ignored(below) && !folders.any(|above| above != folder && is_environment(above))
            }),
        }
    }
}

/// Whether a program may be another one after it. That a file was read, or who may read it, changes none.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Modify(how) => !matches!(how, ModifyKind::Metadata(_)),
        EventKind::Access(_) | EventKind::Other => false,
    }
}

/// A path as the system tells of it.
fn real(path: &Path) -> Outcome<PathBuf> {
    path.canonicalize().map_err(|error| {
        Failure::configuration(format!("{} cannot be watched: {error}", path.display()))
            .hint("`--path` names a file or folder that is there, from the project's folder on")
    })
}

fn failed(path: &Path, error: &notify::Error) -> Failure {
    let failure =
        Failure::new(ExitCode::Unavailable, format!("{} cannot be watched: {error}", path.display()));
    match error.kind {
        ErrorKind::MaxFilesWatch => failure.hint(
            "the system watches no more folders for you: name those that matter with `--path`, or raise \
             `fs.inotify.max_user_watches`",
        ),
        _ => failure.hint("name what matters with `--path`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(folder: &Path, paths: &[&str]) -> Changes {
        Changes::watch(folder, &paths.iter().map(PathBuf::from).collect::<Vec<_>>()).unwrap()
    }

    async fn next(changes: &mut Changes) -> Vec<String> {
        tokio::time::timeout(Duration::from_secs(30), changes.next()).await.unwrap().unwrap()
    }

    fn write(folder: &Path, name: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }

    #[tokio::test]
    async fn changes_are_told_together_and_without_what_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        for name in ["a.txt", "src/deep/b.txt", "node_modules/x/c.js", "python/pyvenv.cfg", "python/lib/d.py"]
        {
            write(here, name);
        }
        let mut changes = changes(here, &[]);
        for name in ["node_modules/x/c.js", "python/lib/d.py", "src/.b.txt.swp", ".git/HEAD"] {
            write(here, name);
        }
        std::fs::set_permissions(here.join("a.txt"), std::fs::metadata(here).unwrap().permissions()).unwrap();
        write(here, "src/deep/b.txt");
        write(here, "a.txt");
        assert_eq!(next(&mut changes).await, ["a.txt", "src/deep/b.txt"]);
        std::fs::remove_file(here.join("a.txt")).unwrap();
        assert_eq!(next(&mut changes).await, ["a.txt"]);
    }

    #[tokio::test]
    async fn folders_that_appear_are_watched_too() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let mut changes = changes(here, &[]);
        std::fs::create_dir(here.join("new")).unwrap();
        assert_eq!(next(&mut changes).await, ["new"]);
        write(here, "new/a.txt");
        assert_eq!(next(&mut changes).await, ["new/a.txt"]);
    }

    #[tokio::test]
    async fn a_file_is_watched_though_another_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        write(here, "one.txt");
        write(here, "src/two.txt");
        let mut changes = changes(here, &["one.txt", "src"]);
        for _ in 0..2 {
            write(here, "other.txt");
            std::fs::rename(here.join("other.txt"), here.join("one.txt")).unwrap();
            assert_eq!(next(&mut changes).await, ["one.txt"]);
        }
        write(here, "other.txt");
        write(here, "src/two.txt");
        assert_eq!(next(&mut changes).await, ["src/two.txt"]);
    }

    #[test]
    fn what_is_not_there_cannot_be_watched() {
        let folder = tempfile::tempdir().unwrap();
        let failure = Changes::watch(folder.path(), &[PathBuf::from("nowhere")]).err().unwrap();
        assert_eq!(failure.code, ExitCode::Configuration);
        assert!(failure.message.contains("nowhere cannot be watched"), "{failure:?}");
    }
}
