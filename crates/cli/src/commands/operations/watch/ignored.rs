//! What changes without anybody's program changing.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Folders, or links to them, that tools keep for themselves.
const FOLDERS: [&str; 20] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".pulumi",
    "node_modules",
    "venv",
    ".venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".eggs",
    ".gradle",
    ".terraform",
    ".idea",
    ".vscode",
    ".vs",
];

/// The endings of files that editors and compilers write for a while, or beside the real one.
const ENDINGS: [&str; 11] =
    ["~", ".swp", ".swo", ".swx", ".swpx", ".tmp", ".temp", ".bak", ".pyc", ".kate-swp", "___jb_tmp___"];

/// Whether a path below what is watched is nobody's program.
pub(super) fn is_ignored(below: &Path) -> bool {
    let mut parts = below.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    parts.any(is_ignored_name)
}

/// Whether a name of a file or folder is one of those.
pub(super) fn is_ignored_name(name: &OsStr) -> bool {
    // A name that is not UTF-8 has none of these forms.
    let Some(name) = name.to_str() else { return false };
    FOLDERS.contains(&name) || is_temporary(name)
}

fn is_temporary(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.starts_with(".#")
        || (name.starts_with('#') && name.ends_with('#') && name.len() > 1)
        || name.starts_with(".goutputstream-")
        || name.ends_with("___jb_old___")
        || matches!(name, "4913" | ".DS_Store" | "Thumbs.db")
}

/// Whether a folder is a virtual environment of Python, whatever it is called.
pub(super) fn is_environment(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_and_editors_keep_is_ignored_and_nothing_else() {
        for ignored in [
            ".git/HEAD",
            "node_modules/x/index.js",
            "deep/er/node_modules",
            "venv/lib/a.py",
            "a/__pycache__/b.cpython-312.pyc",
            ".pulumi/stacks/shop/dev.json",
            "Pulumi.yaml~",
            ".Pulumi.yaml.swp",
            "src/.#index.ts",
            "#index.ts#",
            "4913",
            ".drystone-a1b2.tmp",
            "index.ts___jb_tmp___",
        ] {
            assert!(is_ignored(Path::new(ignored)), "{ignored}");
        }
        for watched in [
            "Pulumi.yaml",
            "Pulumi.dev.yaml",
            "src/index.ts",
            ".env",
            ".gitignore",
            "git/x",
            "environment/venv.py",
            "#",
            "package.json",
            "templates/tmp/a.txt",
            "Größe.yaml",
        ] {
            assert!(!is_ignored(Path::new(watched)), "{watched}");
        }
    }
}
