//! The code that a program needs for what was taken over, in its language.
//!
//! The state says what there is ([`Program::of`]) and the schemas of packages what programs call it ([`Schemas`]): which
//! inputs a resource has and of what types (`shape`), and where its class is (`place`). Resources refer to each other
//! where one has what another is known by (`link`). What comes of that is written by one file for each language.

mod declare;
mod expression;
mod link;
mod literal;
mod place;
mod python;
mod schemas;
mod shape;
mod typescript;
mod yaml;

pub(super) use declare::Taken;
pub(super) use schemas::Schemas;

use self::expression::Expression;
use drystone_engine::PackageDescriptor;
use drystone_model::Urn;
use drystone_plugins::schema::Package;
use drystone_sdks::{names::unique, package_of};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What the program has to say.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// The resources, each behind what it needs.
    declarations: Vec<Declaration>,
    /// What the program has already and the code refers to, by the program's own names.
    elsewhere: BTreeMap<Urn, String>,
    /// What the reader is told of all of it.
    remarks: Vec<String>,
}

/// One resource of the program.
#[derive(Debug, Clone)]
struct Declaration {
    urn: Urn,
    /// What the list calls it.
    called: String,
    form: Form,
    type_token: String,
    /// What the stack calls it.
    name: String,
    inputs: Vec<(String, Expression)>,
    options: Options,
    /// What the reader is told of it.
    remarks: Vec<String>,
    /// The schema of its package, where it has its type.
    schema: Option<Arc<Package>>,
}

/// What is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Something of a provider, or a provider.
    Resource,
    /// A component that is only a name.
    Component,
}

/// How a resource is treated.
#[derive(Debug, Clone, Default)]
struct Options {
    parent: Option<Urn>,
    provider: Option<Urn>,
    depends_on: Vec<Urn>,
    protect: bool,
    retain_on_delete: bool,
    ignore_changes: Vec<String>,
    deleted_with: Option<Urn>,
    replace_with: Vec<Urn>,
    version: String,
    download_url: String,
}

impl Options {
    /// The resources that they refer to.
    fn resources(&self) -> impl Iterator<Item = &Urn> {
        let single = [&self.parent, &self.provider, &self.deleted_with].into_iter().flatten();
        single.chain(&self.depends_on).chain(&self.replace_with)
    }
}

/// A value of an option, apart from the language that writes it.
enum Setting<'a> {
    Resource(&'a Urn),
    Resources(&'a [Urn]),
    True,
    Text(&'a str),
    Texts(&'a [String]),
}

impl Options {
    /// The options that there are, by the names that most languages have for them.
    fn settings(&self) -> Vec<(&'static str, Setting<'_>)> {
        let mut settings = Vec::new();
        settings.extend(self.parent.as_ref().map(|urn| ("parent", Setting::Resource(urn))));
        settings.extend(self.provider.as_ref().map(|urn| ("provider", Setting::Resource(urn))));
        if !self.depends_on.is_empty() {
            settings.push(("dependsOn", Setting::Resources(&self.depends_on)));
        }
        if self.protect {
            settings.push(("protect", Setting::True));
        }
        if self.retain_on_delete {
            settings.push(("retainOnDelete", Setting::True));
        }
        if !self.ignore_changes.is_empty() {
            settings.push(("ignoreChanges", Setting::Texts(&self.ignore_changes)));
        }
        settings.extend(self.deleted_with.as_ref().map(|urn| ("deletedWith", Setting::Resource(urn))));
        if !self.replace_with.is_empty() {
            settings.push(("replaceWith", Setting::Resources(&self.replace_with)));
        }
        if !self.version.is_empty() {
            settings.push(("version", Setting::Text(&self.version)));
        }
        if !self.download_url.is_empty() {
            settings.push(("pluginDownloadURL", Setting::Text(&self.download_url)));
        }
        settings
    }
}

/// What was said of a resource when it was taken over, beyond what the state keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// What the list calls it.
    pub(super) name: String,
    /// The plugin that the list asks for.
    pub(super) package: PackageDescriptor,
}

/// Whether it is known how programs of a runtime are written.
pub(super) fn is_written(runtime: &str) -> bool {
    matches!(runtime, "nodejs" | "python" | "yaml")
}

impl Program {
    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        self.declarations.is_empty()
    }

    /// Whether a secret of it cannot be read.
    pub(super) fn hides_secrets(&self) -> bool {
        self.declarations.iter().any(|declared| declared.inputs.iter().any(|(_, input)| input.hides()))
    }

    /// The code in the language of a runtime; nothing where it is not known how that is written.
    pub(super) fn write(&self, runtime: &str) -> Option<String> {
        match runtime {
            "nodejs" => Some(typescript::write(self)),
            "python" => Some(python::write(self)),
            "yaml" => Some(yaml::write(self)),
            _ => None,
        }
    }

    /// The variable of each resource: of those that the program has, and of those that are declared, which get names of
    /// their own beside those that are `taken`.
    fn variables(
        &self,
        of_elsewhere: impl Fn(&str) -> String,
        of_declared: impl Fn(&str) -> String,
        taken: &mut HashSet<String>,
    ) -> HashMap<&Urn, String> {
        let elsewhere = self.elsewhere.iter().map(|(urn, name)| (urn, of_elsewhere(name)));
        let mut variables: HashMap<&Urn, String> = elsewhere.collect();
        let mut unique = |declared: &Declaration| unique(&of_declared(&declared.called), taken);
        variables.extend(self.declarations.iter().map(|declared| (&declared.urn, unique(declared))));
        variables
    }

    /// The packages that are used, each once, by name.
    fn packages(&self) -> BTreeMap<&str, Option<&Package>> {
        let mut packages: BTreeMap<&str, Option<&Package>> = BTreeMap::new();
        let resources = self.declarations.iter().filter(|declared| declared.form == Form::Resource);
        for declared in resources {
            let known = packages.entry(package_of(&declared.type_token)).or_default();
            *known = known.or(declared.schema.as_deref());
        }
        packages
    }

    /// Everything that the reader is told before the code: what it refers to and does not declare, and the rest.
    fn preface(&self, variables: &HashMap<&Urn, String>) -> Vec<String> {
        let elsewhere = self.elsewhere.keys().map(|urn| {
            format!("`{}` is what your program has as {urn}.", variables.get(urn).map_or("", String::as_str))
        });
        elsewhere.chain(self.remarks.iter().cloned()).map(|text| literal::remark(&text)).collect()
    }
}

#[cfg(test)]
mod tests;
