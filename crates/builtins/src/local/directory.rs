//! Folders.

use super::file::{is_gone, off_thread};
use super::permission::Permission;
use super::place::{failed, resolve};
use crate::fields::Fields;
use crate::kind::{Answer, Change, Kind, Known, Made, Seen, Subject};
use crate::schema::Failures;
use crate::world::World;
use async_trait::async_trait;
use drystone_engine::{PropertyMap, ProviderError};
use drystone_model::Value;
use std::fs;
use std::io;
use std::path::Path;

/// `Directory`.
pub(crate) struct Directory;

const PERMISSION: &str = "directoryPermission";

fn path(inputs: &Fields) -> Answer<&str> {
    inputs.text("path").ok_or_else(|| ProviderError::new("`path` is not known"))
}

fn permission(inputs: &Fields) -> Permission {
    Permission::given(inputs, PERMISSION).unwrap_or(Permission(0o755))
}

fn outputs(existed: bool) -> PropertyMap {
    PropertyMap::from([("existed".to_owned(), Value::Bool(existed))])
}

/// Makes a folder; says whether it was there.
fn make(path: &Path, permission: Permission) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(true),
        Ok(_) => return Err(io::Error::other("something that is no folder is in its place")),
        Err(error) if is_gone(&error) => {}
        Err(error) => return Err(error),
    }
    permission.make_folders(path)?;
    permission.put_on_file(&fs::File::open(path)?)?;
    Ok(false)
}

/// Deletes a folder; one that is gone, or has become something else, is left alone.
fn remove(path: &Path, contents: bool) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Ok(()),
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) => return Err(error),
    }
    if contents { fs::remove_dir_all(path) } else { fs::remove_dir(path) }
}

#[async_trait]
impl Kind for Directory {
    fn named_by(&self) -> &'static [&'static str] {
        &["path"]
    }

    fn check(&self, inputs: &Fields, failures: &mut Failures) {
        Permission::check(inputs, PERMISSION, failures);
        if inputs.text("path").is_some_and(str::is_empty) {
            failures.add("path", "`path` names no folder");
        }
    }

    fn kept_by_update(&self, _: &Change<'_>) -> &'static [&'static str] {
        &["existed"]
    }

    async fn create(&self, world: &World, subject: &Subject, inputs: &Fields) -> Answer<Made> {
        let name = path(inputs)?.to_owned();
        let place = resolve(world.directory(), &name)?;
        let permission = permission(inputs);
        world.claim(&place, &subject.urn)?;
        let made = off_thread(move || make(&place, permission)).await?;
        let existed = made.map_err(|error| failed("made", &name, &error))?;
        Ok(Made { id: name, outputs: outputs(existed) })
    }

    async fn read(&self, world: &World, subject: &Subject, known: Known) -> Answer<Option<Seen>> {
        // What is imported is managed here from now on, and deleted with the resource.
        let existed = Fields::new(&known.outputs).flag("existed").unwrap_or(false);
        let mut inputs = known.inputs;
        inputs.entry("path".to_owned()).or_insert_with(|| Value::from(subject.id.as_str()));
        let fields = Fields::new(&inputs);
        let name = path(&fields)?.to_owned();
        let place = resolve(world.directory(), &name)?;
        let metadata = match off_thread(move || fs::symlink_metadata(place)).await? {
            Ok(metadata) if metadata.is_dir() => metadata,
            Ok(_) => return Ok(None),
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) => return Err(failed("read", &name, &error)),
        };
        let there = Permission::of(&metadata).filter(|there| !existed && *there != permission(&fields));
        if let Some(there) = there {
            inputs.insert(PERMISSION.to_owned(), Value::String(there.to_string()));
        }
        Ok(Some(Seen { id: subject.id.clone(), inputs, outputs: outputs(existed) }))
    }

    async fn update(&self, world: &World, subject: &Subject, change: &Change<'_>) -> Answer<Made> {
        let name = path(change.new_inputs)?.to_owned();
        let place = resolve(world.directory(), &name)?;
        let permission = permission(change.new_inputs);
        let existed = change.old_outputs.flag("existed").unwrap_or(false);
        world.claim(&place, &subject.urn)?;
        // A folder of somebody else's keeps its permissions.
        if !existed {
            let changed = off_thread(move || {
                make(&place, permission)?;
                permission.put_on_file(&fs::File::open(&place)?)
            });
            changed.await?.map_err(|error| failed("changed", &name, &error))?;
        }
        Ok(Made { id: subject.id.clone(), outputs: outputs(existed) })
    }

    async fn delete(&self, world: &World, _: &Subject, inputs: &Fields, outputs: &Fields) -> Answer<()> {
        let name = path(inputs)?.to_owned();
        let place = resolve(world.directory(), &name)?;
        if world.is_taken_over(&place) || outputs.flag("existed") == Some(true) {
            return Ok(());
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if real(world.directory()).starts_with(real(&place)) {
            return Err(ProviderError::new(format!("`{name}` holds the program and is not deleted")));
        }
        let contents = inputs.flag("deleteContents").unwrap_or(false);
        let removed = off_thread(move || remove(&place, contents)).await?;
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => ProviderError::new(format!(
                "`{name}` is not empty; empty it, or set `deleteContents: true` and update first"
            )),
            _ => failed("deleted", &name, &error),
        })
    }
}
