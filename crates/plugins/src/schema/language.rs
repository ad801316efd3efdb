//! What a package is called in a language.

use super::package::Package;
use regex::Regex;
use serde::Deserialize;
use std::collections::HashMap;

/// What a schema says for one language. Parts that make no sense are as if they were not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Language {
    /// The name of the package that programs install, or empty.
    pub package_name: String,
    /// Node.js: modules that have another name there.
    pub module_to_package: HashMap<String, String>,
    /// Python: modules that have another name there.
    pub module_name_overrides: HashMap<String, String>,
    /// Python: whether inputs are objects of classes alone (`classes`), or dictionaries as well.
    pub input_types: String,
    /// Whether methods that give an object with one property give that property itself.
    pub lift_single_value_method_returns: bool,
}

impl Package {
    /// What the schema says for a language: `nodejs`, `python`, ….
    #[must_use]
    pub fn language(&self, name: &str) -> Language {
        let said = self.languages.get(name).map(|raw| serde_json::from_str(raw.get()));
        said.and_then(Result::ok).unwrap_or_default()
    }

    /// The module that languages have a type in: `s3` for `aws:s3/bucket:Bucket` where the package has a module for
    /// each type, which programs do not see. Empty for the package itself.
    #[must_use]
    pub fn module(&self, token: &str) -> String {
        let parts: Vec<&str> = token.split(':').collect();
        let module = match parts[..] {
            ["pulumi", "pulumi" | "providers", _] => return String::new(),
            [_, module, _] => module,
            _ => return String::new(),
        };
        let format = self.module_format.as_deref().and_then(|format| Regex::new(format).ok());
        let module = match &format {
            // The first group is the module; where nothing matches there is none.
            Some(format) => {
                format.captures(module).and_then(|found| found.get(1)).map_or("", |group| group.as_str())
            }
            None => module,
        };
        if module == "index" { String::new() } else { module.to_owned() }
    }
}
