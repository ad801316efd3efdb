//! The file that lists what is taken over, in the stock CLI's form.

use super::code::Said;
use crate::report::{Failure, Outcome};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_dialects::pulumi::properties::decode;
use drystone_engine::{Import, Imported, PackageDescriptor, Parameterization, PropertyMap};
use drystone_model::{Json, ProviderReference, Urn, Value, is_provider_type};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The largest file that is read.
const LARGEST: u64 = 256 << 20;

pub(super) type Members = serde_json::Map<String, serde_json::Value>;

/// What is taken over.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ImportFile {
    /// What the stack has already, by the names that the list uses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) name_table: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resources: Vec<Listed>,
    /// How providers are configured that the stack does not have, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) provider_inputs: BTreeMap<String, Members>,
}

/// One resource of the list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Listed {
    #[serde(rename = "type")]
    pub(crate) type_token: String,
    /// What the list, and the code, call it.
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) parent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) provider: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) plugin_download_url: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) component: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) remote: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<Members>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outputs: Option<Members>,
    /// What the stack calls it, where that is another name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) logical_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameterization: Option<ListedParameterization>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extension: Option<ListedExtension>,
}

/// The plugin that a package is made of.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListedParameterization {
    pub(super) plugin_name: String,
    pub(super) plugin_version: String,
    pub(super) value: String,
}

/// What a plugin is extended by.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct ListedExtension {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) value: String,
}

/// A list whose names are resolved.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) imports: Vec<Import>,
    /// What the code calls each resource.
    names: BTreeMap<Urn, String>,
    urns: Vec<Urn>,
}

impl Resolved {
    /// What is taken over, in the order of the list, with what the list says of it.
    pub(super) fn said(&self) -> Vec<(Urn, Said)> {
        let said = |(urn, import): (&Urn, &Import)| {
            let name = self.names.get(urn).cloned().unwrap_or_default();
            (urn.clone(), Said { name, package: import.package.clone() })
        };
        self.urns.iter().zip(&self.imports).map(said).collect()
    }

    /// What the list calls things that it does not list.
    pub(super) fn elsewhere(&self) -> BTreeMap<Urn, String> {
        let listed: HashSet<&Urn> = self.urns.iter().collect();
        let others = self.names.iter().filter(|(urn, _)| !listed.contains(urn));
        others.map(|(urn, name)| (urn.clone(), name.clone())).collect()
    }

    /// What the list says of a provider that it names and does not list.
    pub(super) fn said_of_provider(&self, provider: &Urn) -> Said {
        let using = self.imports.iter().find(|import| import.provider == *provider);
        let package = using.map(|import| import.package.clone()).unwrap_or_default();
        Said { name: self.names.get(provider).cloned().unwrap_or_default(), package }
    }
}

impl ImportFile {
    pub(super) fn read(path: &Path) -> Outcome<Self> {
        let fail = |error: &dyn std::fmt::Display| {
            Failure::general(format!("could not read import file: {}: {error}", path.display()))
                .hint("it is JSON: {\"resources\": [{\"type\": …, \"name\": …, \"id\": …}]}")
        };
        let length = std::fs::metadata(path).map_err(|error| fail(&error))?.len();
        if length > LARGEST {
            return Err(fail(&format!("it has {length} bytes, more than {LARGEST}")));
        }
        let text = std::fs::read(path).map_err(|error| fail(&error))?;
        let mut json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| fail(&error))?;
        // Programs that write such files say of what they leave out that it is null.
        if let Some(members) = json.as_object_mut() {
            members.retain(|_, member| !member.is_null());
            let listed = members.get_mut("resources").and_then(serde_json::Value::as_array_mut);
            for members in listed.into_iter().flatten().filter_map(serde_json::Value::as_object_mut) {
                members.retain(|_, member| !member.is_null());
            }
        }
        serde_json::from_value(json).map_err(|error| fail(&error))
    }

    /// The list as a file has it.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        let mut text = Vec::new();
        let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut text, indent))?;
        text.push(b'\n');
        String::from_utf8(text).map_err(serde::ser::Error::custom)
    }

    /// A list of one.
    pub(super) fn of_one(type_token: &str, name: &str, id: &str) -> Self {
        let listed = Listed {
            type_token: type_token.to_owned(),
            name: name.to_owned(),
            id: id.to_owned(),
            ..Listed::default()
        };
        Self { resources: vec![listed], ..Self::default() }
    }

    /// Gives the one resource a parent that the stack has: `name=URN`, or a URN alone.
    pub(super) fn with_parent(mut self, given: Option<&str>) -> Outcome<Self> {
        let Some(given) = given else { return Ok(self) };
        let (name, urn) = named_urn(given, "parent")?;
        self.name_table.insert(name.clone(), urn);
        self.resources.iter_mut().for_each(|listed| listed.parent.clone_from(&name));
        Ok(self)
    }

    /// The same for its provider.
    pub(super) fn with_provider(mut self, given: Option<&str>) -> Outcome<Self> {
        let Some(given) = given else { return Ok(self) };
        let (name, urn) = named_urn(given, "provider")?;
        if self.name_table.insert(name.clone(), urn).is_some() {
            return Err(Failure::general(format!(
                "provider and parent must have distinct names, both were '{name}'"
            )));
        }
        self.resources.iter_mut().for_each(|listed| listed.provider.clone_from(&name));
        Ok(self)
    }

    /// What the list means for a stack, or everything that is wrong with it.
    pub(super) fn resolve(&self, stack: &str, project: &str, protect: bool) -> Outcome<Resolved> {
        Resolving::new(self, stack, project).finish(protect)
    }
}

/// `name=URN`, or a URN alone under the name that is given.
fn named_urn(given: &str, otherwise: &str) -> Outcome<(String, String)> {
    let wrong = |urn: &str| {
        let failure = Failure::general(format!("invalid {otherwise} URN: '{urn}'"));
        match ProviderReference::parse(urn) {
            Some(reference) => {
                failure.hint(format!("that is a provider's reference: use `{}`", reference.urn))
            }
            None => failure.hint("`drystone stack --show-urns` lists the URNs of the stack"),
        }
    };
    match given.split_once('=') {
        Some((name, urn)) if !name.is_empty() && Urn::new(urn).validate().is_ok() => {
            Ok((name.to_owned(), urn.to_owned()))
        }
        _ if Urn::new(given).validate().is_ok() => Ok((otherwise.to_owned(), given.to_owned())),
        Some((_, urn)) => Err(wrong(urn)),
        None => Err(wrong(given)),
    }
}

/// A list while its names are resolved.
struct Resolving<'a> {
    file: &'a ImportFile,
    stack: &'a str,
    project: &'a str,
    /// The URN of every name; one of the list's own is empty until it is known.
    urns: HashMap<String, Urn>,
    /// Names that several resources of the list have.
    ambiguous: HashSet<&'a str>,
    wrong: Vec<String>,
}

impl<'a> Resolving<'a> {
    fn new(file: &'a ImportFile, stack: &'a str, project: &'a str) -> Self {
        let mut seen = HashSet::new();
        let names = file.resources.iter().map(Listed::code_name);
        let ambiguous = names.filter(|name| !seen.insert(*name)).collect();
        Self { file, stack, project, urns: HashMap::new(), ambiguous, wrong: Vec::new() }
    }

    fn finish(mut self, protect: bool) -> Outcome<Resolved> {
        for (index, listed) in self.file.resources.iter().enumerate() {
            self.wrong.extend(listed.objections().map(|text| format!("{} {text}", listed.described(index))));
        }
        self.stop_if_wrong()?;
        let urns = self.name_all();
        self.stop_if_wrong()?;
        let mut imports = Vec::new();
        for (index, listed) in self.file.resources.iter().enumerate() {
            imports.push(self.import(index, listed, protect));
        }
        self.stop_if_wrong()?;
        if imports.is_empty() {
            return Err(Failure::general("there is nothing to import: the list has no resources"));
        }
        let names = self.code_names(&urns);
        Ok(Resolved { imports, names, urns })
    }

    fn stop_if_wrong(&self) -> Outcome {
        let Some((first, rest)) = self.wrong.split_first() else { return Ok(()) };
        let failure = Failure::general(first);
        Err(rest.iter().fold(failure, Failure::detail))
    }

    /// The URN of every resource of the list, parents first.
    fn name_all(&mut self) -> Vec<Urn> {
        for (name, urn) in &self.file.name_table {
            self.urns.insert(name.clone(), Urn::new(urn.as_str()));
        }
        for listed in &self.file.resources {
            self.urns.insert(listed.code_name().to_owned(), Urn::default());
        }
        let mut named = vec![Urn::default(); self.file.resources.len()];
        let mut taken: HashSet<Urn> =
            self.file.name_table.values().map(|urn| Urn::new(urn.as_str())).collect();
        loop {
            let mut went_on = false;
            for (index, listed) in self.file.resources.iter().enumerate() {
                if !named[index].is_empty() {
                    continue;
                }
                let Some(parent) = self.parent_of(index, listed) else { continue };
                let parents = if parent.is_empty() { "" } else { parent.qualified_type() };
                let urn =
                    Urn::build(self.stack, self.project, parents, &listed.type_token, listed.stack_name());
                if !taken.insert(urn.clone()) {
                    let described = listed.described(index);
                    self.wrong.push(format!(
                        "{described} has an ambiguous URN, set name (or logical name) to be unique"
                    ));
                }
                self.urns.insert(listed.code_name().to_owned(), urn.clone());
                named[index] = urn;
                went_on = true;
            }
            let open: Vec<usize> = (0..named.len()).filter(|&index| named[index].is_empty()).collect();
            if open.is_empty() || !self.wrong.is_empty() {
                return named;
            }
            if !went_on {
                let round = open.iter().map(|&index| self.file.resources[index].described(index));
                let round: Vec<String> = round.collect();
                self.wrong.push(format!("these are each other's parents: {}", round.join(", ")));
                return named;
            }
        }
    }

    /// The parent's URN, empty where there is none; nothing while it is not known.
    fn parent_of(&mut self, index: usize, listed: &Listed) -> Option<Urn> {
        if listed.parent.is_empty() {
            return Some(Urn::default());
        }
        let described = listed.described(index);
        if self.ambiguous.contains(listed.parent.as_str()) {
            self.wrong.push(format!("{described} has an ambiguous parent"));
            return None;
        }
        match self.urns.get(&listed.parent) {
            Some(urn) => Some(urn.clone()).filter(|urn| !urn.is_empty()),
            None => {
                let parent = &listed.parent;
                self.wrong.push(format!("the parent '{parent}' for {described} has no entry in 'nameTable'"));
                None
            }
        }
    }

    fn import(&mut self, index: usize, listed: &Listed, protect: bool) -> Import {
        let described = listed.described(index);
        let is_provider = is_provider_type(&listed.type_token);
        let given = self.file.provider_inputs.get(listed.code_name()).filter(|_| is_provider);
        let inputs = self.properties(listed.inputs.as_ref().or(given), "inputs", &described);
        let outputs = self.properties(listed.outputs.as_ref(), "outputs", &described);
        let what = match (is_provider, listed.component) {
            (true, _) => Imported::Provider,
            (false, true) => Imported::Component { remote: listed.remote },
            (false, false) => Imported::Resource { id: listed.id.clone(), outputs },
        };
        let provider = self.provider_of(listed, &described);
        let provider_inputs = self.file.provider_inputs.get(&listed.provider);
        Import {
            type_token: listed.type_token.clone(),
            name: listed.stack_name().to_owned(),
            what,
            parent: self.urns.get(&listed.parent).cloned().unwrap_or_default(),
            provider,
            package: self.package(listed, &described),
            extension: self.extension(listed, &described),
            provider_inputs: self.properties(provider_inputs, "provider inputs", &described),
            inputs,
            protect,
        }
    }

    fn provider_of(&mut self, listed: &Listed, described: &str) -> Urn {
        let name = &listed.provider;
        if name.is_empty() {
            return Urn::default();
        }
        if self.ambiguous.contains(name.as_str()) {
            self.wrong.push(format!("{described} has an ambiguous provider"));
        }
        let urn = self.urns.get(name).cloned();
        match &urn {
            None => self.wrong.push(format!(
                "the provider '{name}' for {described} has no entry in 'nameTable' or 'resources'"
            )),
            Some(urn) if urn.validate().is_err() || !is_provider_type(urn.type_token()) => {
                self.wrong.push(format!("the provider '{name}' for {described} is not a provider"));
            }
            Some(_) => {}
        }
        urn.unwrap_or_default()
    }

    fn properties(&mut self, members: Option<&Members>, what: &str, described: &str) -> PropertyMap {
        let mut read = PropertyMap::new();
        for (key, member) in members.into_iter().flatten() {
            match Json::from_serialize(member)
                .map_err(|error| error.to_string())
                .and_then(|json| decode(&json).map_err(|error| error.to_string()))
            {
                Ok(value) => {
                    read.insert(key.clone(), value);
                }
                Err(error) => self.wrong.push(format!("could not read the {what} of {described}: {error}")),
            }
        }
        if read.values().any(Value::contains_unknowns) {
            self.wrong.push(format!(
                "the {what} for {described} contain unknown values; fill them in before importing"
            ));
        }
        read
    }

    /// The plugin of a resource's package.
    fn package(&mut self, listed: &Listed, described: &str) -> PackageDescriptor {
        let mut parts = listed.type_token.split(':');
        let package = match is_provider_type(&listed.type_token) {
            true => parts.nth(2),
            false => parts.next(),
        };
        let package = package.unwrap_or_default().to_owned();
        let version = self.version(&listed.version, "version", described);
        let download_url = listed.plugin_download_url.trim_end_matches('/').to_owned();
        let Some(made_of) = &listed.parameterization else {
            return PackageDescriptor {
                name: package,
                version,
                download_url,
                ..PackageDescriptor::default()
            };
        };
        if version.is_empty() {
            self.wrong
                .push(format!("version must be provided for {described}, which has a parameterization"));
        }
        let value = self.bytes(&made_of.value, described);
        PackageDescriptor {
            name: made_of.plugin_name.clone(),
            version: self.version(&made_of.plugin_version, "parameterization version", described),
            download_url,
            parameterization: Some(Parameterization { name: package, version, value }),
            ..PackageDescriptor::default()
        }
    }

    fn extension(&mut self, listed: &Listed, described: &str) -> Option<Parameterization> {
        let extension = listed.extension.as_ref()?;
        if listed.parameterization.is_some() {
            self.wrong.push(format!(
                "{described} has both a parameterization and an extension, which are mutually exclusive"
            ));
        }
        let value = self.bytes(&extension.value, described);
        Some(Parameterization { name: extension.name.clone(), version: extension.version.clone(), value })
    }

    fn version(&mut self, text: &str, what: &str, described: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        match drystone_plugins::search::tolerant_version(text) {
            Some(version) => version.to_string(),
            None => {
                self.wrong.push(format!("could not parse {what} '{text}' for {described}"));
                String::new()
            }
        }
    }

    fn bytes(&mut self, text: &str, described: &str) -> Vec<u8> {
        STANDARD.decode(text).unwrap_or_else(|error| {
            self.wrong.push(format!("a value of {described} is not base64: {error}"));
            Vec::new()
        })
    }

    /// What the code calls each resource. Two of one name are told apart by their types.
    fn code_names(&self, urns: &[Urn]) -> BTreeMap<Urn, String> {
        let table = self.file.name_table.iter();
        let mut names: BTreeMap<Urn, String> =
            table.map(|(name, urn)| (Urn::new(urn.as_str()), name.clone())).collect();
        let mut taken: HashSet<String> = names.values().cloned().collect();
        for (listed, urn) in self.file.resources.iter().zip(urns) {
            let plain = listed.code_name();
            let kind = listed.type_token.rsplit(':').next().unwrap_or_default();
            let mut name = plain.to_owned();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                name = if number == 1 { format!("{plain}{kind}") } else { format!("{plain}{kind}{number}") };
                number += 1;
            }
            names.insert(urn.clone(), name);
        }
        names
    }
}

impl Listed {
    /// The name in the list.
    fn code_name(&self) -> &str {
        if self.name.is_empty() { &self.logical_name } else { &self.name }
    }

    /// The name in the stack.
    fn stack_name(&self) -> &str {
        if self.logical_name.is_empty() { &self.name } else { &self.logical_name }
    }

    /// How messages call it.
    fn described(&self, index: usize) -> String {
        let what = match (self.code_name(), self.id.as_str()) {
            ("", "") => format!("resource {index}"),
            ("", id) => format!("resource '{id}'"),
            (name, _) => format!("resource '{name}'"),
        };
        if self.type_token.is_empty() { what } else { format!("{what} of type '{}'", self.type_token) }
    }

    /// What is wrong with it by itself.
    fn objections(&self) -> impl Iterator<Item = &'static str> {
        let is_provider = is_provider_type(&self.type_token);
        let named = !self.id.is_empty();
        [
            (self.type_token.is_empty(), "has no type"),
            (self.code_name().is_empty(), "has no name"),
            (is_provider && named, "has an ID, but is a provider, which is created rather than read"),
            (is_provider && self.component, "is a provider and may not be marked as a component"),
            (
                is_provider && self.outputs.as_ref().is_some_and(|outputs| !outputs.is_empty()),
                "is a provider and may not have outputs",
            ),
            (!is_provider && !self.component && !named, "has no ID"),
            (!is_provider && self.component && named, "has an ID, but is marked as a component"),
            (self.remote && !self.component, "is marked as remote, but not as a component"),
        ]
        .into_iter()
        .filter(|(wrong, _)| *wrong)
        .map(|(_, text)| text)
    }
}
