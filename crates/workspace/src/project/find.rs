//! Finding the project file.

use std::path::{Path, PathBuf};

/// The names of project files, first choice first.
const NAMES: [&str; 3] = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/// The project file of a folder or of the nearest folder above it.
#[must_use]
pub fn find_project(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(|directory| {
        NAMES.iter().map(|name| directory.join(name)).find(|candidate| candidate.is_file())
    })
}
