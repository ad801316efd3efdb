//! What programs in a language import to use packages.

use super::Program;
use drystone_plugins::schema::Package;
use drystone_sdks::names::{python_variable, typescript_variable, unique};
use drystone_sdks::{Class, ENGINE, Sdk};
use std::collections::{BTreeMap, HashSet};

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
