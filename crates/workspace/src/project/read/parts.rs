//! The `runtime`, `packages` and `plugins` sections of a project file.

use super::Reader;
use crate::Value;
use crate::project::{Package, Plugin, Plugins, Runtime};
use crate::yaml::{Entry, Kind, Node};
use std::collections::BTreeMap;

impl Reader {
    pub(super) fn runtime(&mut self, node: &Node) -> Option<Runtime> {
        match &node.value {
            Value::String(name) if !name.is_empty() => {
                Some(Runtime { name: name.clone(), options: BTreeMap::new() })
            }
            Value::Object(_) => {
                let mut runtime = Runtime::default();
                for entry in node.entries() {
                    match (entry.key.as_str(), &entry.value.value) {
                        ("name", Value::String(name)) if !name.is_empty() => runtime.name = name.clone(),
                        ("options", Value::Object(options)) => runtime.options = options.clone(),
                        _ => {
                            self.wrong(&entry.value, "a `runtime` has a text `name` and a mapping `options`");
                        }
                    }
                }
                Some(runtime)
            }
            _ => {
                self.wrong(
                    node,
                    "`runtime` is the name of a language, or a mapping with `name` and `options`",
                );
                None
            }
        }
    }

    pub(super) fn packages(&mut self, entry: &Entry) -> BTreeMap<String, Package> {
        let packages = self.mapping(entry).iter();
        packages.filter_map(|entry| Some((entry.key.clone(), self.package(entry)?))).collect()
    }

    fn package(&mut self, entry: &Entry) -> Option<Package> {
        if let Some(text) = entry.value.value.as_str() {
            let (source, version) = match text.split_once('@') {
                Some((source, version)) => (source, Some(version.to_owned())),
                None => (text, None),
            };
            return Some(Package { source: source.to_owned(), version, ..Package::default() });
        }
        let known = ["source", "version", "parameters", "pluginDownloadURL", "checksums", "extensions"];
        let mut package = Package::default();
        for member in self.members(entry, &known) {
            match member.key.as_str() {
                "source" => package.source = self.text(member).unwrap_or_default(),
                "version" => package.version = self.text(member),
                "pluginDownloadURL" => package.plugin_download_url = self.text(member),
                "parameters" => package.parameters = self.texts(member),
                "extensions" => package.extensions = self.texts(member),
                _ => {
                    let checksums = self.mapping(member).iter();
                    package.checksums =
                        checksums.filter_map(|entry| Some((entry.key.clone(), self.text(entry)?))).collect();
                }
            }
        }
        if package.source.is_empty() {
            self.wrong(&entry.value, format!("the package `{}` has no `source`", entry.key));
            return None;
        }
        Some(package)
    }

    pub(super) fn plugins(&mut self, entry: &Entry) -> Plugins {
        let mut plugins = Plugins::default();
        for entry in self.mapping(entry) {
            match entry.key.as_str() {
                "providers" => plugins.providers = self.plugin_list(entry),
                "languages" => plugins.languages = self.plugin_list(entry),
                "analyzers" => plugins.analyzers = self.plugin_list(entry),
                _ => {}
            }
        }
        plugins
    }

    fn plugin_list(&mut self, entry: &Entry) -> Vec<Plugin> {
        let Kind::Sequence { items, .. } = &entry.value.kind else {
            self.wrong(&entry.value, format!("`{}` is a list of plugins", entry.key));
            return Vec::new();
        };
        items.iter().map(|item| self.plugin(&item.value)).collect()
    }

    fn plugin(&mut self, node: &Node) -> Plugin {
        let mut plugin = Plugin::default();
        for entry in node.entries() {
            match entry.key.as_str() {
                "name" => plugin.name = self.text(entry).unwrap_or_default(),
                "path" => plugin.path = self.text(entry).unwrap_or_default(),
                "version" => plugin.version = self.text(entry),
                other => self.wrong(&entry.value, format!("a plugin has no `{other}`")),
            }
        }
        if plugin.name.is_empty() || plugin.path.is_empty() {
            self.wrong(node, "a plugin has a `name` and a `path`");
        }
        plugin
    }

    fn texts(&mut self, entry: &Entry) -> Vec<String> {
        let texts = match &entry.value.value {
            Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.wrong(&entry.value, format!("`{}` is a list of texts", entry.key));
            Vec::new()
        })
    }
}
