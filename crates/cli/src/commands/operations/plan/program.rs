//! The files that a program is made of.
//!
//! Only what is source code or names dependencies counts. Data that a program reads shows in what it registers, and data
//! that it writes would make it differ from itself. Files that become assets are compared with the inputs they are in.

use super::seal::digest;
use drystone_plugins::languages::Program;
use drystone_workspace::project::Project;
use std::collections::BTreeMap;
use std::path::Path;

/// How source files of the known languages end.
const ENDINGS: [&str; 26] = [
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "go", "cs", "fs", "vb", "csproj", "fsproj",
    "vbproj", "java", "kt", "kts", "scala", "gradle", "rs", "rb", "pp", "hcl", "sh",
];

/// Files that say which packages a program uses, and how it is run.
const NAMES: [&str; 23] = [
    "Pulumi.yaml",
    "Pulumi.yml",
    "Pulumi.json",
    "PulumiPlugin.yaml",
    "Main.yaml",
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "tsconfig.json",
    "requirements.txt",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "go.mod",
    "go.sum",
    "pom.xml",
    "Cargo.toml",
    "Cargo.lock",
];

/// Folders of packages and of what is built.
const SKIPPED: [&str; 6] = ["node_modules", "venv", "__pycache__", "site-packages", "target", "obj"];

/// How many files a plan names.
const NAMED: usize = 2000;

/// How deep folders are looked into.
const DEPTH: usize = 32;

/// The digests of a program's files by their place in the project; nothing when there is no program.
pub(super) fn files(project: &Project, working_directory: &Path) -> Option<BTreeMap<String, String>> {
    let place = Program::of(project).ok()?;
    let root = working_directory.join(&place.root);
    let mut found = BTreeMap::new();
    let yaml = place.runtime.name == "yaml";
    gather(&root, &root, yaml, 0, &mut found);
    if !place.directory.starts_with(&root) {
        gather(&root, &place.directory, yaml, 0, &mut found);
    }
    Some(if found.len() > NAMED { together(&found) } else { found })
}

/// One digest for files that are too many to be named.
fn together(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let lines: String = files.iter().map(|(name, digest)| format!("{digest} {name}\n")).collect();
    BTreeMap::from([("one of many files".to_owned(), digest(lines.as_bytes()))])
}

fn gather(root: &Path, folder: &Path, yaml: bool, depth: usize, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            let packages = SKIPPED.contains(&name.as_str()) || path.join("pyvenv.cfg").exists();
            if !packages && depth < DEPTH {
                gather(root, &path, yaml, depth + 1, found);
            }
        } else if is_source(&name, yaml) && path.is_file() {
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let content = std::fs::read(&path).map_or_else(|error| error.to_string(), |bytes| digest(&bytes));
            found.insert(shown, content);
        }
    }
}

fn is_source(name: &str, yaml: bool) -> bool {
    if NAMES.contains(&name) {
        return true;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    // The settings of stacks are configuration, which is compared by value.
    let is_yaml = matches!(ending, "yaml" | "yml") && !stem.starts_with("Pulumi.");
    ENDINGS.contains(&ending) || (yaml && is_yaml)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_code_counts_and_data_does_not() {
        for name in ["index.ts", "__main__.py", "Pulumi.yaml", "package-lock.json", "main.go"] {
            assert!(is_source(name, false), "{name}");
        }
        for name in ["made.txt", "plan.json", "Pulumi.dev.yaml", "Makefile", "data.yaml"] {
            assert!(!is_source(name, false), "{name}");
        }
        assert!(is_source("part.yaml", true) && !is_source("Pulumi.dev.yaml", true));
    }

    #[test]
    fn packages_and_hidden_folders_are_not_the_program() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["index.js", "lib/deep/a.js", "node_modules/x/b.js", ".git/c.js", "env/d.py", "env/pyvenv.cfg"]
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let mut found = BTreeMap::new();
        gather(folder.path(), folder.path(), false, 0, &mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["index.js", "lib/deep/a.js"]);
        let one = together(&found);
        found.insert("index.js".to_owned(), String::new());
        assert!(one.len() == 1 && one != together(&found));
    }
}
