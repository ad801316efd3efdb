//! The disk that a simulated process sees.

use crate::world::{Change, Fault, World};
use drystone_stores::disk::{AppendFile, Disk, FileLock, Name, Stat, folder_of};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A process's view of a simulated disk.
#[derive(Debug, Clone)]
pub struct SimDisk {
    world: Arc<Mutex<World>>,
    process: u64,
}

impl SimDisk {
    /// The disk as a process sees it.
    #[must_use]
    pub fn new(world: Arc<Mutex<World>>, process: u64) -> Self {
        Self { world, process }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an operation, or what the plan makes of it. `cut_short` says what a failure or crash leaves done.
    fn operate<T>(
        &self,
        operation: &str,
        path: &str,
        cut_short: impl FnOnce(&mut World, Fault),
        whole: impl FnOnce(&mut World) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut world = self.world();
        match world.step(self.process, operation, path)? {
            None => whole(&mut world),
            Some(fault) => {
                cut_short(&mut world, fault);
                Err(match fault {
                    Fault::Fail => world.failure(),
                    Fault::Crash => world.crash([self.process]),
                })
            }
        }
    }

    /// An operation that a crash leaves either undone or, not yet durable, done.
    fn operate_whole<T>(
        &self,
        operation: &str,
        path: &str,
        whole: impl Fn(&mut World) -> io::Result<T>,
    ) -> io::Result<T> {
        let halfway = |world: &mut World, fault| {
            if fault == Fault::Crash && world.torn(1) == 1 {
                let _ = whole(world);
            }
        };
        self.operate(operation, path, halfway, &whole)
    }
}

fn missing(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no such file: {path}"))
}

fn taken(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("there is one: {path}"))
}

fn file_at(world: &World, path: &str) -> io::Result<u64> {
    world.seen.files.get(path).copied().ok_or_else(|| missing(path))
}

fn folder_there(world: &World, path: &str) -> io::Result<()> {
    let folder = folder_of(path);
    if folder.is_empty() || world.seen.folders.contains(folder) { Ok(()) } else { Err(missing(folder)) }
}

impl Disk for SimDisk {
    fn location(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/sim/{path}"))
    }

    fn unique(&self) -> String {
        format!("{}-{}", self.process, self.world().next_unique())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.operate_whole("read", path, |world| {
            let file = file_at(world, path)?;
            Ok(world.files[&file].content.clone())
        })
    }

    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        self.operate_whole("stat", path, |world| {
            let Some(number) = world.seen.files.get(path) else { return Ok(None) };
            let file = &world.files[number];
            Ok(Some(Stat {
                length: file.content.len() as u64,
                modified: i128::from(file.modified),
                identity: *number,
            }))
        })
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Name>> {
        self.operate_whole("list", folder, |world| {
            let inside = format!("{folder}/");
            let name = |path: &str, is_folder| {
                let rest = path.strip_prefix(&inside)?;
                (!rest.contains('/')).then(|| Name { text: rest.to_owned(), is_folder })
            };
            let files = world.seen.files.keys().filter_map(|path| name(path, false));
            let folders = world.seen.folders.iter().filter_map(|path| name(path, true));
            Ok(files.chain(folders).collect::<BTreeSet<Name>>().into_iter().collect())
        })
    }

    fn create(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let make = |world: &mut World, content: Vec<u8>| {
            folder_there(world, path)?;
            if world.seen.files.contains_key(path) {
                return Err(taken(path));
            }
            let file = world.new_file(content);
            world.change(Change::Add { path: path.to_owned(), file });
            Ok(())
        };
        let part = |world: &mut World, _| {
            let length = world.torn(content.len());
            let _ = make(world, content[..length].to_vec());
        };
        self.operate("create", path, part, |world| make(world, content.to_vec()))
    }

    fn open_append(&self, path: &str) -> io::Result<Box<dyn AppendFile>> {
        let file = self.operate_whole("open", path, |world| {
            folder_there(world, path)?;
            match world.seen.files.get(path) {
                Some(file) => Ok(*file),
                None => {
                    let file = world.new_file(Vec::new());
                    world.change(Change::Add { path: path.to_owned(), file });
                    Ok(file)
                }
            }
        })?;
        Ok(Box::new(SimAppendFile { disk: self.clone(), file, path: path.to_owned() }))
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        self.operate_whole("sync", path, |world| {
            let file = file_at(world, path)?;
            world.sync_file(file);
            Ok(())
        })
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.operate_whole("sync folder", folder, |world| {
            world.sync_folder(folder);
            Ok(())
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate_whole("rename", to, |world| {
            folder_there(world, to)?;
            if !world.seen.files.contains_key(from) && !world.seen.folders.contains(from) {
                return Err(missing(from));
            }
            world.change(Change::Rename { from: from.to_owned(), to: to.to_owned() });
            Ok(())
        })
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate_whole("link", to, |world| {
            if world.seen.files.contains_key(to) {
                return Err(taken(to));
            }
            let file = file_at(world, from)?;
            world.change(Change::Add { path: to.to_owned(), file });
            Ok(())
        })
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.operate_whole("remove", path, |world| {
            file_at(world, path)?;
            world.change(Change::Remove { path: path.to_owned() });
            Ok(())
        })
    }

    fn remove_folder(&self, folder: &str) -> io::Result<()> {
        self.operate_whole("remove folder", folder, |world| {
            world.change(Change::RemoveFolder { path: folder.to_owned() });
            Ok(())
        })
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        if folder.is_empty() || self.world().seen.folders.contains(folder) {
            return Ok(());
        }
        self.create_folder(folder_of(folder))?;
        self.operate_whole("create folder", folder, |world| {
            world.change(Change::AddFolder { path: folder.to_owned() });
            Ok(())
        })?;
        self.sync_folder(folder_of(folder))
    }

    fn try_lock(&self, path: &str) -> io::Result<Option<Box<dyn FileLock>>> {
        let file = self.operate_whole("lock", path, |world| {
            folder_there(world, path)?;
            if let Some(file) = world.seen.files.get(path) {
                return Ok(*file);
            }
            let file = world.new_file(Vec::new());
            world.change(Change::Add { path: path.to_owned(), file });
            Ok(file)
        })?;
        let mut world = self.world();
        if world.locks.contains_key(&file) {
            return Ok(None);
        }
        world.locks.insert(file, self.process);
        Ok(Some(Box::new(SimLock { disk: self.clone(), file })))
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn FileLock>> {
        // One process runs at a time, so a lock that is taken would never be given back.
        self.try_lock(path)?.ok_or_else(|| io::Error::other("a deadlock"))
    }
}

#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    file: u64,
}

impl FileLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let process = self.disk.process;
        let mut world = self.disk.world();
        if world.locks.get(&self.file) == Some(&process) {
            world.locks.remove(&self.file);
        }
    }
}

struct SimAppendFile {
    disk: SimDisk,
    file: u64,
    path: String,
}

impl AppendFile for SimAppendFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let file = self.file;
        let add = |world: &mut World, content: &[u8]| {
            if let Some(file) = world.files.get_mut(&file) {
                file.content.extend_from_slice(content);
            }
        };
        let part = |world: &mut World, _| {
            let length = world.torn(content.len());
            add(world, &content[..length]);
        };
        self.disk.operate("append", &self.path, part, |world| {
            add(world, content);
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        let file = self.file;
        self.disk.operate_whole("sync", &self.path, |world| {
            world.sync_file(file);
            Ok(())
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let file = self.file;
        self.disk.operate_whole("truncate", &self.path, |world| {
            if let Some(file) = world.files.get_mut(&file) {
                file.content.truncate(usize::try_from(length).unwrap_or(usize::MAX));
            }
            world.sync_file(file);
            Ok(())
        })
    }
}
