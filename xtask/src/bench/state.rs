//! Generated state: the files of a stack in Pulumi's folder layout, written piece by piece.
//!
//! Nothing here holds a whole stack. On Linux a child's peak memory starts from its parent's, so that a large parent
//! would spoil every measurement.

use super::plan::{PROJECT, Place, STACK};
use super::resource::resource;
use super::seal::SALT;
use crate::cache::{make_folder, remove_folder};
use crate::failure::Failure;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many updates the history holds.
const UPDATES: u64 = 50;
/// The moment of the first update, in seconds of the Unix epoch.
const FIRST_UPDATE: u64 = 1_767_225_600;

/// A generated stack, and the same with its resources out of order.
pub(super) struct State {
    seed: u64,
    resources: usize,
    folder: PathBuf,
    /// The size of the checkpoint in bytes.
    pub(super) size: u64,
}

/// Which of the two stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Resources stand after everything they refer to.
    Sound,
    /// Resources stand anywhere.
    Shuffled,
}

impl State {
    /// Writes both checkpoints and the history into a folder of their own.
    pub(super) fn generate(folder: &Path, seed: u64, resources: usize) -> Result<Self, Failure> {
        remove_folder(folder)?;
        make_folder(&folder.join("history"))?;
        let mut state = Self { seed, resources, folder: folder.to_path_buf(), size: 0 };
        state.write_checkpoint(&state.checkpoint(Order::Sound), 0..resources)?;
        let shuffled = Place { seed, index: 0 }.random(8).permutation(resources);
        state.write_checkpoint(&state.checkpoint(Order::Shuffled), shuffled)?;
        for number in 0..UPDATES {
            let path = state.folder.join("history").join(format!("{}.history.json", history_name(number)));
            fs::write(&path, history_record(number, resources))
                .map_err(|error| Failure::at(&path, "write", &error))?;
        }
        state.size = size_of(&state.checkpoint(Order::Sound))?;
        Ok(state)
    }

    fn checkpoint(&self, order: Order) -> PathBuf {
        self.folder.join(match order {
            Order::Sound => "sound.json",
            Order::Shuffled => "shuffled.json",
        })
    }

    fn write_checkpoint(&self, path: &Path, order: impl IntoIterator<Item = usize>) -> Result<(), Failure> {
        let failed = |error: &std::io::Error| Failure::at(path, "write", error);
        let mut file = BufWriter::new(File::create(path).map_err(|error| failed(&error))?);
        let manifest = json!({
            "time": "2026-02-03T04:05:06.789012345Z",
            "magic": "ab35920a3077459b09dd1a3f7ddc28df4e3efc81b3240013bb6906688abc684d",
            "version": "v3.259.0",
        });
        let sealer = json!({"type": "passphrase", "state": {"salt": SALT}});
        let opening = format!(
            r#"{{"version":3,"checkpoint":{{"stack":"organization/{PROJECT}/{STACK}","latest":{{"manifest":{manifest},"secrets_providers":{sealer},"resources":["#
        );
        let write = |file: &mut BufWriter<File>| {
            file.write_all(opening.as_bytes())?;
            for (number, index) in order.into_iter().enumerate() {
                if number > 0 {
                    file.write_all(b",")?;
                }
                serde_json::to_writer(&mut *file, &resource(Place { seed: self.seed, index }))?;
            }
            file.write_all(br#"],"metadata":{}}}}"#)?;
            file.flush()
        };
        write(&mut file).map_err(|error| failed(&error))
    }

    /// Lays the stack out anew as a backend's folder, so that no earlier command has left anything in it.
    ///
    /// The checkpoints of the history are hard links of one file: no command changes them, and 50 copies would fill
    /// the disk.
    pub(super) fn lay_out(&self, backend: &Path, order: Order) -> Result<(), Failure> {
        remove_folder(backend)?;
        let pulumi = backend.join(".pulumi");
        let history = pulumi.join("history").join(PROJECT).join(STACK);
        make_folder(&history)?;
        make_folder(&pulumi.join("stacks").join(PROJECT))?;
        let meta = pulumi.join("meta.yaml");
        fs::write(&meta, "version: 1\n").map_err(|error| Failure::at(&meta, "write", &error))?;
        copy_durably(&self.checkpoint(order), &current(backend))?;
        for number in 0..UPDATES {
            let name = history_name(number);
            let record = format!("{name}.history.json");
            copy_durably(&self.folder.join("history").join(&record), &history.join(&record))?;
            let linked = history.join(format!("{name}.checkpoint.json"));
            fs::hard_link(self.checkpoint(Order::Sound), &linked)
                .map_err(|error| Failure::at(&linked, "link", &error))?;
        }
        Ok(())
    }

    /// The URN of a resource that nothing refers to.
    pub(super) fn leaf(&self) -> String {
        Place { seed: self.seed, index: self.resources - 1 }.urn()
    }

    /// Fails unless a backend's checkpoint holds every resource but the leaf.
    pub(super) fn check_leaf_is_gone(&self, backend: &Path) -> Result<(), Failure> {
        let mut order = self.order_in(&current(backend))?;
        order.sort_unstable();
        if order == (0..self.resources - 1).collect::<Vec<_>>() {
            return Ok(());
        }
        Err(Failure::new(format!(
            "the checkpoint in {} is not the stack without its leaf",
            backend.display()
        )))
    }

    /// Fails unless a backend's checkpoint holds every resource after all that it refers to.
    pub(super) fn check_is_sorted(&self, backend: &Path) -> Result<(), Failure> {
        let order = self.order_in(&current(backend))?;
        let mut seen = vec![false; self.resources];
        for index in order.iter().copied() {
            let place = Place { seed: self.seed, index };
            let mut references =
                place.parent().into_iter().chain(place.provider()).chain(place.dependencies());
            if !references.all(|other| seen[other.index]) || seen[index] {
                return Err(Failure::new(format!("after the repair {} is still out of place", place.urn())));
            }
            seen[index] = true;
        }
        if order.len() == self.resources {
            return Ok(());
        }
        Err(Failure::new(format!("the repair kept {} of {} resources", order.len(), self.resources)))
    }

    /// The indices of the resources in a checkpoint, in the order of the file.
    fn order_in(&self, path: &Path) -> Result<Vec<usize>, Failure> {
        let failed = |error: &std::io::Error| Failure::at(path, "read", error);
        let mut file = BufReader::new(File::open(path).map_err(|error| failed(&error))?);
        let mut order = Vec::new();
        let mut piece = Vec::new();
        let mut after_key = false;
        while file.read_until(b'"', &mut piece).map_err(|error| failed(&error))? > 0 {
            if after_key && piece != b":\"" {
                let urn = String::from_utf8_lossy(piece.strip_suffix(b"\"").unwrap_or(&piece));
                let place = Place::of_urn(self.seed, &urn).filter(|place| place.index < self.resources);
                let place = place.ok_or_else(|| {
                    Failure::new(format!("{} holds {urn}, which was not generated", path.display()))
                })?;
                order.push(place.index);
                after_key = false;
            }
            after_key |= piece == b"urn\"";
            piece.clear();
        }
        Ok(order)
    }
}

/// Where the stack's current checkpoint stands in a backend's folder.
fn current(backend: &Path) -> PathBuf {
    backend.join(".pulumi").join("stacks").join(PROJECT).join(format!("{STACK}.json"))
}

/// Writes a project's folder with the settings of the stack.
pub(super) fn write_project(folder: &Path) -> Result<(), Failure> {
    make_folder(folder)?;
    let files = [
        ("Pulumi.yaml".to_owned(), format!("name: {PROJECT}\nruntime: yaml\n")),
        (
            format!("Pulumi.{STACK}.yaml"),
            format!("encryptionsalt: {SALT}\nconfig:\n  {PROJECT}:region: eu\n"),
        ),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::at(&path, "write", &error))?;
    }
    Ok(())
}

/// Copies a file and waits for the disk, so that writing it out later costs no measured command.
fn copy_durably(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to)
        .and_then(|_| File::options().write(true).open(to)?.sync_all())
        .map_err(|error| Failure::at(to, "copy to", &error))
}

fn size_of(path: &Path) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(|error| Failure::at(path, "read", &error))?.len())
}

fn history_name(number: u64) -> String {
    format!("{STACK}-{}", (FIRST_UPDATE + number * 3_600) * 1_000_000_000 + number)
}

fn history_record(number: u64, resources: usize) -> String {
    let start = FIRST_UPDATE + number * 3_600;
    json!({
        "kind": "update",
        "startTime": start,
        "message": format!("Roll out build {number}"),
        "environment": {
            "exec.kind": "cli",
            "git.author": "Ana",
            "git.author.email": "ana@platform.example",
            "git.head": format!("{:040x}", u128::from(number) * 0x9e37_79b9_7f4a_7c15_f39c),
            "git.headName": "refs/heads/main",
            "pulumi.arch": "amd64",
            "pulumi.os": "linux",
            "pulumi.version": "v3.259.0",
            "stack.environments": "[]",
            "updatePlan": "false",
        },
        "config": {format!("{PROJECT}:region"): "eu"},
        "version": 0,
        "result": "succeeded",
        "endTime": start + 240,
        "resourceChanges": {"create": number % 5, "same": resources, "update": number % 7},
    })
    .to_string()
}

#[cfg(test)]
mod tests;
