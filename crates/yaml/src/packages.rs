//! The packages that a program uses: which plugin serves each, and what its schema says.

mod declarations;

pub use declarations::{DeclarationError, declarations};

use crate::diagnostics::Severity;
use crate::graph::Step;
use crate::load::{self, Loaded};
use crate::suggest;
use crate::syntax::Text;
use crate::template::{Form, Function as Call, Shared, Template};
use drystone_engine::{Monitor, MonitorErrorKind, PackageDescriptor, PackageRequest};
use drystone_plugins::schema::{Function, Package, Resource};
use drystone_plugins::search::tolerant_version;
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The package that needs no plugin: the engine itself has it.
const ENGINE: &str = "pulumi";

/// What kind of provider a type of resource has.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedResource {
    /// The whole token.
    pub(crate) token: String,
    /// What the schema says, if there is one.
    pub(crate) schema: Option<Arc<Resource>>,
    /// The package, if it has a schema.
    pub(crate) package: Option<Arc<Package>>,
}

/// A function of a provider.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedFunction {
    /// The whole token.
    pub(crate) token: String,
    /// What the schema says, if there is one.
    pub(crate) schema: Option<Arc<Function>>,
}

/// The packages that a program uses.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    /// Those that a file declares, by the package's name.
    declared: BTreeMap<String, PackageDescriptor>,
    /// What registering the declared ones gave.
    references: BTreeMap<String, String>,
    loaded: HashMap<PackageDescriptor, Result<Option<Arc<Package>>, String>>,
    functions: std::sync::Mutex<HashMap<(PackageDescriptor, String), Arc<Function>>>,
}

/// The plugin that a type, a version and an address mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The type or function.
    pub(crate) token: &'a str,
    /// The version, if one is asked for.
    pub(crate) version: Option<&'a Text>,
    /// Where the plugin comes from, if that is said.
    pub(crate) download_url: Option<&'a Text>,
}

impl Packages {
    /// Packages that files declare.
    pub(crate) fn new(declared: Vec<PackageDescriptor>) -> Self {
        let declared = declared.into_iter().map(|package| (package.package().to_owned(), package)).collect();
        Self { declared, ..Self::default() }
    }

    /// Reads the schema of everything that a program uses.
    pub(crate) async fn load(&mut self, template: &Template, monitor: &Monitor) {
        let wanted: BTreeSet<PackageDescriptor> =
            asked(template).into_iter().filter_map(|asked| self.descriptor(asked).ok()).collect();
        let wanted: Vec<PackageDescriptor> =
            wanted.into_iter().filter(|package| !self.loaded.contains_key(package)).collect();
        let loads = wanted.iter().map(|package| async move {
            match monitor.schema(package).await {
                Ok(schema) if schema.trim().is_empty() => Ok(None),
                Ok(schema) => Package::read(&schema)
                    .map(Some)
                    .map_err(|error| format!("error loading schema for {:?}: {error}", package.package())),
                Err(error) if error.kind == MonitorErrorKind::Unimplemented => Ok(None),
                Err(error) => Err(format!("error loading package {:?}: {error}", package.package())),
            }
        });
        let loaded = join_all(loads).await;
        self.loaded.extend(wanted.into_iter().zip(loaded));
    }

    /// Makes the declared packages known to the engine.
    pub(crate) async fn register(&mut self, monitor: &Monitor) -> Result<(), String> {
        for (name, package) in &self.declared {
            let request = PackageRequest { package: package.clone(), extension: None };
            let reference = monitor.register_package(request).await;
            let reference = reference.map_err(|error| format!("registering package {name}: {error}"))?;
            self.references.insert(name.clone(), reference);
        }
        Ok(())
    }

    /// The packages that a program needs, each with the plugin that is asked for first in the order of evaluation, or
    /// with the one that a file declares.
    pub(crate) fn required(&self, template: &Template, order: &[Step]) -> Vec<PackageDescriptor> {
        let mut found = Vec::new();
        for step in order {
            match step {
                Step::Resource(at) => {
                    let resource = &template.resources[*at];
                    resource.expressions().into_iter().for_each(|value| invokes(value, &mut found));
                    found.extend(asked_by(resource));
                }
                Step::Variable(at) => invokes(&template.variables[*at].1, &mut found),
                Step::Config(_) | Step::RequiredVersion => {}
            }
        }
        template.outputs.iter().for_each(|(_, value)| invokes(value, &mut found));
        let mut required: BTreeMap<&str, PackageDescriptor> = BTreeMap::new();
        for asked in found {
            let name = package_name(asked.token);
            if name == ENGINE || required.contains_key(name) {
                continue;
            }
            let package = self.declared.get(name).cloned().or_else(|| self.descriptor(asked).ok());
            required.extend(package.map(|package| (name, package)));
        }
        required.into_values().collect()
    }

    /// What registering the package of a type gave, or empty.
    pub(crate) fn reference(&self, token: &str) -> String {
        self.references.get(package_name(token)).cloned().unwrap_or_default()
    }

    fn descriptor(&self, asked: Asked<'_>) -> Result<PackageDescriptor, String> {
        let name = package_name(asked.token);
        if !matches!(asked.token.split(':').count(), 2 | 3) || name.is_empty() {
            return Err(format!("invalid type token {:?}", asked.token));
        }
        let mut package = self
            .declared
            .get(name)
            .cloned()
            .unwrap_or_else(|| PackageDescriptor { name: name.to_owned(), ..PackageDescriptor::default() });
        if let Some(version) = asked.version.filter(|version| !version.value.is_empty()) {
            package.version = parse_version(version.as_str())?;
        }
        if let Some(url) = asked.download_url.filter(|url| !url.value.is_empty()) {
            package.download_url = url.value.to_string();
        }
        Ok(package)
    }

    fn package(&self, asked: Asked<'_>) -> Result<Option<&Arc<Package>>, String> {
        let descriptor = self.descriptor(asked)?;
        match self.loaded.get(&descriptor) {
            Some(Ok(package)) => Ok(package.as_ref()),
            Some(Err(error)) => Err(error.clone()),
            None => Err(format!("the package {:?} was not loaded", descriptor.package())),
        }
    }

    /// What a type of resource is.
    pub(crate) fn resource(&self, asked: Asked<'_>) -> Result<ResolvedResource, String> {
        refuse(asked.token)?;
        let Some(package) = self.package(asked)? else {
            return Ok(ResolvedResource { token: expanded(asked.token), schema: None, package: None });
        };
        if matches!(asked.token, "docker:image:Image" | "docker:Image")
            && tolerant_version(&package.version).is_none_or(|version| version.major <= 3)
        {
            return Err("docker images need version 4 of the docker package or a later one".to_owned());
        }
        let Some(token) = package.resolve_resource(asked.token) else {
            let (wanted, name) = (asked.token, &package.name);
            let hint = suggest::hint(&expanded(wanted), "types", package.resource_tokens());
            return Err(format!(
                "unable to find resource type {wanted:?} in resource provider {name:?}; {hint}"
            ));
        };
        let schema = package.resource(&token).map_err(|error| error.to_string())?;
        Ok(ResolvedResource { token, schema: Some(schema), package: Some(Arc::clone(package)) })
    }

    /// What a function is.
    pub(crate) fn function(&self, asked: Asked<'_>) -> Result<ResolvedFunction, String> {
        let Some(package) = self.package(asked)? else {
            return Ok(ResolvedFunction { token: expanded(asked.token), schema: None });
        };
        let Some(token) = package.resolve_function(asked.token) else {
            let (wanted, name) = (asked.token, &package.name);
            let hint = suggest::hint(&expanded(wanted), "functions", package.function_tokens());
            return Err(format!("unable to find function {wanted:?} in resource provider {name:?}; {hint}"));
        };
        let key = (self.descriptor(asked)?, token.clone());
        let mut functions = self.functions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let schema = match functions.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let read = Arc::new(package.function(&token).map_err(|error| error.to_string())?);
                functions.insert(key, Arc::clone(&read));
                read
            }
        };
        Ok(ResolvedFunction { token, schema: Some(schema) })
    }
}

/// The packages that the program of a folder asks for, each once, in the order of their names. The version and address
/// of who asks first count, unless a file declares the package.
pub fn required_packages(folder: &Path) -> Result<Vec<PackageDescriptor>, String> {
    let Loaded { source, template, diagnostics } = load::folder(folder);
    if let Some(fault) = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(source.render(fault));
    }
    let declared = declarations(folder).map_err(|error| error.to_string())?;
    let declared = Packages::new(declared).declared;
    let mut required = BTreeMap::new();
    for asked in asked(&template) {
        let name = package_name(asked.token);
        if name == "pulumi" || required.contains_key(name) {
            continue;
        }
        let text = |text: Option<&Text>| text.map(|text| text.value.to_string()).unwrap_or_default();
        let package = declared.get(name).cloned().unwrap_or_else(|| PackageDescriptor {
            name: name.to_owned(),
            version: text(asked.version),
            download_url: text(asked.download_url),
            ..PackageDescriptor::default()
        });
        required.insert(name.to_owned(), package);
    }
    Ok(required.into_values().collect())
}

/// A version that a user wrote, as it is sent on.
pub(crate) fn parse_version(text: &str) -> Result<String, String> {
    let version = tolerant_version(text).ok_or_else(|| format!("`{text}` is not a version"))?;
    Ok(version.to_string())
}

/// The package that a type belongs to: the last part of a provider's, the first of any other.
pub(crate) fn package_name(token: &str) -> &str {
    token.strip_prefix("pulumi:providers:").unwrap_or_else(|| token.split(':').next().unwrap_or_default())
}

/// A token with all three parts.
fn expanded(token: &str) -> String {
    match token.split(':').collect::<Vec<_>>()[..] {
        [package, name] => format!("{package}:index:{name}"),
        _ => token.to_owned(),
    }
}

/// Types that only work in languages with code.
fn refuse(token: &str) -> Result<(), String> {
    match token {
        "kubernetes:apiextensions.k8s.io:CustomResource"
        | "kubernetes:kustomize:Directory"
        | "kubernetes:yaml:ConfigFile"
        | "kubernetes:yaml:ConfigGroup" => {
            Err(format!("the resource type [{token}] is not supported in YAML"))
        }
        "kubernetes:helm.sh/v2:Chart" | "kubernetes:helm.sh/v3:Chart" => Err(
            "Helm Chart resources are not supported in YAML, consider using the Helm Release resource instead"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

/// Everything that a program asks of packages.
pub(crate) fn asked(template: &Template) -> Vec<Asked<'_>> {
    let mut found = Vec::new();
    for resource in &template.resources {
        found.extend(asked_by(resource));
        resource.expressions().into_iter().for_each(|value| invokes(value, &mut found));
    }
    template
        .config
        .iter()
        .filter_map(|entry| entry.default.as_ref())
        .for_each(|value| invokes(value, &mut found));
    template.variables.iter().chain(&template.outputs).for_each(|(_, value)| invokes(value, &mut found));
    template.required_version.iter().for_each(|value| invokes(value, &mut found));
    found
}

fn asked_by(resource: &crate::template::Resource) -> Option<Asked<'_>> {
    Some(Asked {
        token: resource.type_token.as_ref()?.as_str(),
        version: resource.options.version.as_ref(),
        download_url: resource.options.plugin_download_url.as_ref(),
    })
}

fn invokes<'a>(value: &'a Shared, found: &mut Vec<Asked<'a>>) {
    match &value.form {
        Form::List(items) => items.iter().for_each(|item| invokes(item, found)),
        Form::Object(entries) => entries.iter().for_each(|(key, value)| {
            invokes(key, found);
            invokes(value, found);
        }),
        Form::Call(call) => {
            if let Call::Invoke(invoke) = call.as_ref() {
                found.push(Asked {
                    token: invoke.token.as_str(),
                    version: invoke.options.version.as_ref(),
                    download_url: invoke.options.plugin_download_url.as_ref(),
                });
            }
            call.arguments().into_iter().for_each(|argument| invokes(argument, found));
        }
        _ => {}
    }
}
