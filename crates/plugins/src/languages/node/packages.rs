//! The plugins that the packages in `node_modules` need.

use crate::languages::packages::PluginNote;
use crate::proto::pulumirpc::PackageDependency;
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PackageJson {
    name: String,
    version: String,
    pulumi: PluginNote,
}

/// The plugins of everything that is installed for a program, in the order of the folders. What cannot be read is left
/// out: an operation that needs it says so.
pub(super) fn required(directory: &Path) -> Vec<PackageDependency> {
    let mut walk = Walk::default();
    walk.folder(directory);
    walk.found
}

#[derive(Default)]
struct Walk {
    /// Folders that were looked at, by their true paths: links may lead back.
    seen: HashSet<PathBuf>,
    found: Vec<PackageDependency>,
}

impl Walk {
    /// Looks for `node_modules` in a folder of the program and in the folders inside it.
    fn folder(&mut self, folder: &Path) {
        if !self.enter(folder) {
            return;
        }
        for (name, path) in folders(folder) {
            if name == "node_modules" {
                self.modules(&path);
            } else if !path.join("PulumiPolicy.yaml").exists() {
                // What a policy pack needs is nothing that the program needs.
                self.folder(&path);
            }
        }
    }

    /// Looks at every package in a `node_modules`.
    fn modules(&mut self, folder: &Path) {
        if !self.enter(folder) {
            return;
        }
        for (name, path) in folders(folder) {
            if name == ".pnpm" {
                // Where pnpm keeps what others only link to.
                folders(&path).into_iter().for_each(|(_, kept)| self.modules(&kept.join("node_modules")));
            } else if name.starts_with('@') {
                folders(&path).into_iter().for_each(|(_, package)| self.package(&package));
            } else if !name.starts_with('.') {
                self.package(&path);
            }
        }
    }

    fn package(&mut self, folder: &Path) {
        if !self.enter(folder) {
            return;
        }
        self.found.extend(plugin_of(folder));
        let own = folder.join("node_modules");
        if own.is_dir() {
            self.modules(&own);
        }
    }

    fn enter(&mut self, folder: &Path) -> bool {
        folder.canonicalize().is_ok_and(|folder| self.seen.insert(folder))
    }
}

/// The folders in a folder by their names, links to folders among them.
fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.to_owned(), path));
    let mut found: Vec<(String, PathBuf)> = paths.filter_map(named).collect();
    found.sort();
    found
}

/// The plugin that a package needs, if it needs one.
fn plugin_of(folder: &Path) -> Option<PackageDependency> {
    let text = fs::read_to_string(folder.join("package.json")).ok()?;
    // Most packages are nobody's: reading them whole would take longer than all else.
    if !text.contains("\"pulumi\"") {
        return None;
    }
    let package: PackageJson = serde_json::from_str(&text).ok()?;
    // Packages of other people have to say the plugin's name.
    let own_name = package.name.strip_prefix("@pulumi/").unwrap_or_default();
    let nameless = package.pulumi.name.is_empty() && own_name.is_empty();
    let versionless = package.pulumi.version.is_empty() && package.version.is_empty();
    if !package.pulumi.resource || nameless || versionless {
        return None;
    }
    Some(package.pulumi.dependency(own_name, &package.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn shown(root: &Path) -> Vec<String> {
        required(root).into_iter().map(|found| format!("{} {}", found.name, found.version)).collect()
    }

    #[test]
    fn packages_with_a_plugin_are_found_at_every_depth() {
        let root = tempfile::tempdir().unwrap();
        let package = |path: &str, text: &str| write(root.path(), &format!("{path}/package.json"), text);
        package(
            "node_modules/@pulumi/aws",
            r#"{"name":"@pulumi/aws","version":"6.1.0","pulumi":{"resource":true}}"#,
        );
        package(
            "node_modules/@pulumi/awsx/node_modules/@pulumi/aws",
            r#"{"name":"@pulumi/aws","version":"5.0.0","pulumi":{"resource":true}}"#,
        );
        package(
            "node_modules/other",
            r#"{"name":"other","version":"9.9.9","pulumi":{"resource":true,"name":"thing","version":"v1.2.3"}}"#,
        );
        package(
            "node_modules/nameless",
            r#"{"name":"nameless","version":"1.0.0","pulumi":{"resource":true}}"#,
        );
        package(
            "node_modules/library",
            r#"{"name":"library","version":"1.0.0","pulumi":{"resource":false}}"#,
        );
        package("node_modules/broken", r#"{"pulumi":"#);
        package("node_modules/plain", r#"{"name":"plain","version":"1.0.0"}"#);
        package(
            "lib/node_modules/@pulumi/tls",
            r#"{"name":"@pulumi/tls","version":"4.0.0","pulumi":{"resource":true}}"#,
        );
        package("src", r#"{"name":"@pulumi/mine","version":"4.0.0","pulumi":{"resource":true}}"#);
        write(root.path(), "policies/PulumiPolicy.yaml", "runtime: nodejs\n");
        package(
            "policies/node_modules/@pulumi/gcp",
            r#"{"name":"@pulumi/gcp","version":"7.0.0","pulumi":{"resource":true}}"#,
        );
        assert_eq!(shown(root.path()), ["tls v4.0.0", "aws v6.1.0", "aws v5.0.0", "thing v1.2.3"]);
    }

    #[test]
    fn a_note_may_name_a_server_and_parameters() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            "node_modules/@pulumi/random/package.json",
            r#"{"name":"@pulumi/random","version":"3.6.0","pulumi":{"resource":true,"name":"terraform-provider","version":"0.5.0",
                "server":"https://plugins","parameterization":{"name":"random","version":"3.6.0","value":"aGk="}}}"#,
        );
        let found = required(root.path()).remove(0);
        assert_eq!((found.name.as_str(), found.server.as_str()), ("terraform-provider", "https://plugins"));
        let made = found.parameterization.unwrap();
        assert_eq!(
            (made.name.as_str(), made.version.as_str(), &made.value[..]),
            ("random", "3.6.0", &b"hi"[..])
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        let root = tempfile::tempdir().unwrap();
        let aws = r#"{"name":"@pulumi/aws","version":"6.1.0","pulumi":{"resource":true}}"#;
        write(root.path(), "node_modules/.pnpm/aws@6/node_modules/@pulumi/aws/package.json", aws);
        fs::create_dir_all(root.path().join("node_modules/@pulumi")).unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.path().join(at)).unwrap();
        link("../.pnpm/aws@6/node_modules/@pulumi/aws", "node_modules/@pulumi/aws");
        link("..", "node_modules/up");
        link("nowhere", "node_modules/gone");
        assert_eq!(shown(root.path()), ["aws v6.1.0"]);
    }
}
