//! The plugins that the packages of a Python need.

use super::Python;
use super::toolchain::Interpreter;
use crate::languages::execute::output_of;
use crate::languages::packages::PluginNote;
use crate::languages::{LanguageError, Program};
use crate::proto::pulumirpc::PackageDependency;
use std::fs;
use std::path::{Path, PathBuf};

/// Prints the folders that packages are installed in, one a line.
const FOLDERS: &str = "import site\nprint(*site.getsitepackages(), site.getusersitepackages(), sep='\\n')";

/// Packages with the name of one that has a plugin, which have none and do not say so.
const WITHOUT_PLUGINS: [&str; 2] = ["pulumi-policy", "pulumi-esc-sdk"];

impl Python {
    /// The plugins of everything that is installed for a program.
    pub(in crate::languages) async fn required(
        &self,
        program: &Program,
    ) -> Result<Vec<PackageDependency>, LanguageError> {
        let interpreter = match self.interpreter(program).await {
            // Nothing is installed where there is no environment yet.
            Err(LanguageError::VirtualEnv { exists: false, .. } | LanguageError::NoVirtualEnv { .. }) => {
                return Ok(Vec::new());
            }
            found => found?,
        };
        let folders = self.package_folders(&interpreter).await?;
        let found = tokio::task::spawn_blocking(move || {
            folders.iter().flat_map(|folder| plugins_in(folder)).collect()
        });
        Ok(found.await.unwrap_or_default())
    }

    /// The folders that packages are installed in. Those of a virtual environment are where they always are, so that
    /// no Python has to start.
    async fn package_folders(&self, interpreter: &Interpreter) -> Result<Vec<PathBuf>, LanguageError> {
        let Some(virtualenv) = &interpreter.virtualenv else {
            let mut command = self.command(interpreter);
            command.args(["-c", FOLDERS]);
            return Ok(output_of(command).await?.lines().map(PathBuf::from).collect());
        };
        let mut folders = vec![virtualenv.join("Lib").join("site-packages")];
        for versions in entries(&virtualenv.join("lib")) {
            folders.push(versions.join("site-packages"));
        }
        folders.retain(|folder| folder.is_dir());
        Ok(folders)
    }
}

/// The plugins that the packages in a folder need.
fn plugins_in(folder: &Path) -> Vec<PackageDependency> {
    let installed =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "dist-info" || end == "egg-info");
    let mut infos: Vec<PathBuf> = entries(folder).into_iter().filter(installed).collect();
    infos.sort();
    infos.iter().filter_map(|info| plugin_of(folder, info)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|found| found.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// The plugin that an installed package needs, if it needs one. A package with the name of an SDK is taken for one.
fn plugin_of(folder: &Path, info: &Path) -> Option<PackageDependency> {
    let stem = info.file_stem()?.to_str()?;
    let module = stem.split_once('-').map_or(stem, |(name, _)| name);
    let note = fs::read(folder.join(module).join("pulumi-plugin.json")).ok();
    if note.is_none() && !module.to_lowercase().starts_with("pulumi") {
        return None;
    }
    let (name, version) = name_and_version(info)?;
    let note: PluginNote = match note {
        Some(text) => serde_json::from_slice(&text).ok()?,
        None if name.starts_with("pulumi-") && !WITHOUT_PLUGINS.contains(&name.as_str()) => {
            PluginNote { resource: true, ..PluginNote::default() }
        }
        None => return None,
    };
    let version = if note.version.is_empty() { plugin_version(&version)? } else { String::new() };
    note.resource.then(|| note.dependency(name.strip_prefix("pulumi-").unwrap_or(&name), &version))
}

/// What a package calls itself.
fn name_and_version(info: &Path) -> Option<(String, String)> {
    let texts = [info.join("METADATA"), info.join("PKG-INFO")].into_iter();
    let text = texts.filter_map(|path| fs::read(path).ok()).next()?;
    let text = String::from_utf8_lossy(&text);
    let header = |key: &str| {
        let mut lines = text.lines().take_while(|line| !line.is_empty());
        lines.find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_owned())
    };
    Some((header("Name:")?.replace('_', "-").to_lowercase(), header("Version:")?))
}

/// A Python package's version (`1.2rc3.post4`) as the one of a plugin (`1.2.0-rc.3+post4`). None where it is not clear.
fn plugin_version(version: &str) -> Option<String> {
    let split = |text: &str, mark: &str| match text.split_once(mark) {
        Some((before, after)) => (before.to_owned(), format!("{}{after}", mark.trim_start_matches('.'))),
        None => (text.to_owned(), String::new()),
    };
    let (rest, dev) = split(version, ".dev");
    let (rest, post) = split(&rest, ".post");
    let marks = [("rc", "rc"), ("a", "alpha"), ("b", "beta")];
    let marked = marks.iter().find_map(|(mark, word)| Some((rest.split_once(mark)?, word)));
    let (release, before) = match marked {
        Some(((release, number), word)) => {
            number.parse::<u64>().ok()?;
            (release, format!("-{word}.{number}"))
        }
        None => (rest.as_str(), String::new()),
    };
    let mut numbers = release.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    numbers.resize(numbers.len().max(3), 0);
    let release: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let after = if dev.is_empty() && post.is_empty() { String::new() } else { format!("+{post}{dev}") };
    let whole = format!("{}{before}{after}", release.join("."));
    semver::Version::parse(&whole).ok().map(|_| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(folder: &Path, name: &str, version: &str, note: Option<&str>) {
        let module = name.replace('-', "_");
        let info = folder.join(format!("{module}-{version}.dist-info"));
        fs::create_dir_all(&info).unwrap();
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this\n");
        fs::write(info.join("METADATA"), text).unwrap();
        fs::create_dir_all(folder.join(&module)).unwrap();
        if let Some(note) = note {
            fs::write(folder.join(&module).join("pulumi-plugin.json"), note).unwrap();
        }
    }

    #[test]
    fn packages_with_a_plugin_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let install = |name, version, note| install(folder.path(), name, version, note);
        install("pulumi", "3.260.0", Some(r#"{"resource": false}"#));
        install("pulumi-policy", "1.21.0", None);
        install("pulumi-old", "2.1", None);
        install("pulumi-aws", "6.1.0", Some(r#"{"resource": true, "name": "aws", "version": "6.1.0"}"#));
        install("Pulumi_Odd", "1.0.0", None);
        install(
            "third-party",
            "1.0.0",
            Some(r#"{"resource": true, "name": "third", "server": "https://plugins"}"#),
        );
        install("pulumi-local", "1.0.0+build", None);
        install("pulumi-broken", "1.0.0", Some("{"));
        install("requests", "2.0.0", None);
        let found = plugins_in(folder.path());
        let shown: Vec<String> =
            found.iter().map(|found| format!("{} {} {}", found.name, found.version, found.server)).collect();
        assert_eq!(shown, ["odd v1.0.0 ", "aws v6.1.0 ", "old v2.1.0 ", "third v1.0.0 https://plugins"]);
    }

    #[test]
    fn versions_of_packages_are_read_as_versions_of_plugins() {
        for (package, plugin) in [
            ("1", "1.0.0"),
            ("1.2.3", "1.2.3"),
            ("1.2.3a4", "1.2.3-alpha.4"),
            ("1.2b4", "1.2.0-beta.4"),
            ("1.2.3rc4.post5", "1.2.3-rc.4+post5"),
            ("1.2.3.post4.dev5", "1.2.3+post4dev5"),
            ("1.2.3.dev5", "1.2.3+dev5"),
        ] {
            assert_eq!(plugin_version(package).as_deref(), Some(plugin), "{package}");
        }
        for odd in ["", "x", "1!2.0", "1.2.3c4", "1.2.3a", "1.2.3+local", "1.2.3.4"] {
            assert_eq!(plugin_version(odd), None, "{odd}");
        }
    }
}
