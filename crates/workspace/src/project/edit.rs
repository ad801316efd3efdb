//! Changing a project file: only the text of what changes.

use super::{Package, Project, ProjectError};
use crate::Value;
use crate::file::{self, Access, BYTE_ORDER_MARK, Format};
use crate::yaml::{self, Document, Target};
use std::borrow::Cow;
use std::collections::BTreeMap;

const PACKAGES: &str = "packages";

impl Project {
    /// Writes to the project file that the program uses a package, in the place of what it says of one of that name.
    pub fn add_package(&self, name: &str, package: &Package) -> Result<(), ProjectError> {
        let text = file::read(&self.path)?;
        let value = package.value();
        let edited = match Format::of(&self.path)? {
            Format::Json => with_package_json(&text, name, &value),
            Format::Yaml => with_package_yaml(&text, name, &value),
        };
        let edited = edited.ok_or_else(|| ProjectError::Entangled { path: self.path.clone() })?;
        if edited != text {
            file::write(&self.path, &edited, Access::Shared)?;
        }
        Ok(())
    }
}

fn with_package_yaml(text: &str, name: &str, value: &Value) -> Option<String> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (&text[..BYTE_ORDER_MARK.len_utf8()], body),
        None => ("", text),
    };
    let document = Document::parse(body).ok()?;
    let root = document.root.value.as_object()?;
    let kept = |members: &BTreeMap<String, Value>, changed: &str| {
        let names = members.keys().filter(|name| *name != changed);
        names.map(|name| (name.clone(), Target::Keep)).collect::<Vec<_>>()
    };
    let mut packages = match root.get(PACKAGES) {
        None | Some(Value::Null) => Vec::new(),
        Some(packages) => kept(packages.as_object()?, name),
    };
    packages.push((name.to_owned(), Target::Value(Cow::Borrowed(value))));
    let mut members = kept(root, PACKAGES);
    members.push((PACKAGES.to_owned(), Target::Mapping(packages)));
    Some(format!("{mark}{}", yaml::edit(&document, &members).ok()?))
}

fn with_package_json(text: &str, name: &str, value: &Value) -> Option<String> {
    let mut root: serde_json::Value = serde_json::from_str(text).ok()?;
    let members = root.as_object_mut()?;
    let packages = members.entry(PACKAGES).or_insert_with(|| serde_json::json!({})).as_object_mut()?;
    packages.insert(name.to_owned(), serde_json::from_str(&value.to_json()).ok()?);
    Some(serde_json::to_string_pretty(&root).ok()? + "\n")
}

impl Package {
    /// The package as a project file says it: in one word if that is enough.
    fn value(&self) -> Value {
        let text = |text: &str| Value::String(text.to_owned());
        let texts = |texts: &[String]| Value::Array(texts.iter().map(|one| text(one)).collect());
        let Self { source, version, parameters, extensions, plugin_download_url, checksums } = self;
        let is_short = parameters.is_empty()
            && extensions.is_empty()
            && plugin_download_url.is_none()
            && checksums.is_empty();
        if is_short {
            return text(
                &version.iter().fold(source.clone(), |source, version| format!("{source}@{version}")),
            );
        }
        let mut members = BTreeMap::from([("source".to_owned(), text(source))]);
        let mut add = |name: &str, value: Option<Value>| {
            members.extend(value.map(|value| (name.to_owned(), value)));
        };
        add("version", version.as_deref().map(text));
        add("parameters", (!parameters.is_empty()).then(|| texts(parameters)));
        add("extensions", (!extensions.is_empty()).then(|| texts(extensions)));
        add("pluginDownloadURL", plugin_download_url.as_deref().map(text));
        let sums = checksums.iter().map(|(machine, sum)| (machine.clone(), text(sum))).collect();
        add("checksums", (!checksums.is_empty()).then_some(Value::Object(sums)));
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(before: &str, file: &str, packages: &[(&str, Package)]) -> (String, Project) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, before).unwrap();
        for (name, package) in packages {
            Project::load(&path).unwrap().add_package(name, package).unwrap();
        }
        (std::fs::read_to_string(&path).unwrap(), Project::load(&path).unwrap())
    }

    fn package(source: &str, version: Option<&str>, parameters: &[&str]) -> Package {
        Package {
            source: source.to_owned(),
            version: version.map(str::to_owned),
            parameters: parameters.iter().map(|text| (*text).to_owned()).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn a_package_is_added_and_the_rest_stays_as_it_is() {
        let before = "# ours\nname: shop # the name\nruntime: yaml\n\nresources:\n  a: {type: b}\n";
        let packages = [
            ("random", package("random", Some("4.0.0"), &[])),
            ("shop", package("terraform-provider", None, &["acme/shop", "1.2.3"])),
        ];
        let (after, project) = added(before, "Pulumi.yaml", &packages);
        assert!(after.starts_with(before.trim_end()), "{after}");
        assert!(after.contains("random: random@4.0.0"), "{after}");
        assert_eq!(project.packages["shop"], packages[1].1);
        assert_eq!(project.packages["random"].version.as_deref(), Some("4.0.0"));
        let (again, _) = added(&after, "Pulumi.yaml", &packages);
        assert_eq!(again, after);
    }

    #[test]
    fn a_package_takes_the_place_of_one_of_its_name() {
        let before =
            "name: shop\nruntime: yaml\npackages:\n  # why\n  random: random@1.0.0\n  other: other\n";
        let (after, project) =
            added(before, "Pulumi.yaml", &[("random", package("random", Some("4.0.0"), &[]))]);
        assert_eq!(after, before.replace("1.0.0", "4.0.0"));
        assert_eq!(project.packages.len(), 2);
    }

    #[test]
    fn a_project_in_json_stays_one() {
        let before = "{\"name\": \"shop\", \"runtime\": \"yaml\"}";
        let (after, project) = added(before, "Pulumi.json", &[("random", package("random", None, &[]))]);
        assert!(after.starts_with("{\n"), "{after}");
        assert_eq!(project.packages["random"].source, "random");
    }
}
