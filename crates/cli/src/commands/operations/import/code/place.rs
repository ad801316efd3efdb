//! Where SDKs have the types of packages.

use super::Program;
use super::names::{
    capitalized, identifier, python_variable, snake_case, typescript_name, typescript_variable, unique,
};
use drystone_plugins::schema::Package;
use std::collections::{BTreeMap, HashSet};

/// The package that the SDK itself has.
const ENGINE: &str = "pulumi";

/// A language whose packages are SDKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sdk {
    Node,
    Python,
}

/// A class of an SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    /// The package that has it.
    pub(super) package: String,
    pub(super) modules: Vec<String>,
    pub(super) name: String,
}

/// The package of a type: `aws` for `aws:s3/bucket:Bucket` and for `pulumi:providers:aws`.
pub(super) fn package_of(token: &str) -> &str {
    let package = token.strip_prefix("pulumi:providers:").unwrap_or(token);
    package.split(':').next().unwrap_or_default()
}

impl Sdk {
    fn name(self) -> &'static str {
        match self {
            Self::Node => "nodejs",
            Self::Python => "python",
        }
    }

    /// The class of a type. Without a schema it is where packages usually have it.
    pub(super) fn class(self, token: &str, schema: Option<&Package>) -> Class {
        let package = package_of(token).to_owned();
        if token.starts_with("pulumi:providers:") {
            return Class { package, modules: Vec::new(), name: "Provider".to_owned() };
        }
        let kind = token.rsplit(':').next().unwrap_or_default();
        if package == ENGINE {
            return Class { package, modules: Vec::new(), name: capitalized(&identifier(kind)) };
        }
        let module = match schema {
            None => usual_module(token),
            Some(schema) => {
                let module = schema.module(token);
                let language = schema.language(self.name());
                let renamed = match self {
                    Self::Node => language.module_to_package,
                    Self::Python => language.module_name_overrides,
                };
                renamed.get(&module).cloned().unwrap_or(module)
            }
        };
        let module = module.to_lowercase();
        let segments = module.split('/').filter(|segment| !segment.is_empty() && *segment != "index");
        let modules = match self {
            Self::Node => segments.flat_map(|segment| segment.split('.')).map(typescript_name).collect(),
            Self::Python => segments.map(snake_case).collect(),
        };
        Class { package, modules, name: capitalized(&identifier(kind)) }
    }

    /// What programs import to use a package.
    pub(super) fn import_path(self, package: &str, schema: Option<&Package>) -> String {
        let named = schema.map(|schema| schema.language(self.name()).package_name);
        let publisher = schema.map(|schema| schema.namespace.as_str()).filter(|name| !name.is_empty());
        let publisher = publisher.unwrap_or("pulumi");
        match (named.filter(|name| !name.is_empty()), self) {
            (Some(named), Self::Node) => named,
            (Some(named), Self::Python) => named.replace('-', "_"),
            (None, Self::Node) => format!("@{publisher}/{package}"),
            (None, Self::Python) => format!("{publisher}_{package}").replace('-', "_"),
        }
    }
}

/// The module of a type without a schema: many packages have one for each type, which programs do not see.
fn usual_module(token: &str) -> String {
    let mut parts = token.splitn(3, ':').skip(1);
    let (module, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match module.rsplit_once('/') {
        Some((outer, last)) if last.eq_ignore_ascii_case(kind) => outer.to_owned(),
        _ => module.to_owned(),
    }
}

/// A package as a program imports it.
#[derive(Debug)]
pub(super) struct Import {
    /// What it is installed as.
    pub(super) path: String,
    /// What the program calls it.
    pub(super) alias: String,
}

/// The packages that a program imports, by name, apart from the SDK itself. Their aliases are nobody else's.
pub(super) fn imports<'a>(
    sdk: Sdk,
    program: &'a Program,
    taken: &mut HashSet<String>,
) -> BTreeMap<&'a str, Import> {
    let packages = program.packages().into_iter().filter(|(package, _)| *package != ENGINE);
    let import = |(package, schema): (&'a str, Option<&Package>)| {
        let alias = match sdk {
            Sdk::Node => typescript_variable(package),
            Sdk::Python => python_variable(package),
        };
        let import = Import { path: sdk.import_path(package, schema), alias: unique(&alias, taken) };
        (package, import)
    };
    packages.map(import).collect()
}

/// A class as code names it.
pub(super) fn qualified(imports: &BTreeMap<&str, Import>, class: &Class) -> String {
    let alias = imports.get(class.package.as_str()).map_or(ENGINE, |import| import.alias.as_str());
    let modules: String = class.modules.iter().map(|module| format!("{module}.")).collect();
    format!("{alias}.{modules}{}", class.name)
}
