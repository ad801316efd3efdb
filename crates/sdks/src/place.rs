//! Where SDKs have the types of packages.

use crate::names::{capitalized, identifier, snake_case, typescript_name};
use drystone_plugins::schema::{Language, Package};

/// The package that the SDK itself has.
pub const ENGINE: &str = "pulumi";

/// Names of values that are called by a word.
const NUMBERS: [(&str, &str); 11] = [
    ("*", "Asterisk"),
    ("0", "Zero"),
    ("1", "One"),
    ("2", "Two"),
    ("3", "Three"),
    ("4", "Four"),
    ("5", "Five"),
    ("6", "Six"),
    ("7", "Seven"),
    ("8", "Eight"),
    ("9", "Nine"),
];

/// A language whose packages are SDKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    Node,
    Python,
}

/// A class of an SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The package that has it.
    pub package: String,
    pub modules: Vec<String>,
    pub name: String,
}

/// The package of a type: `aws` for `aws:s3/bucket:Bucket` and for `pulumi:providers:aws`.
pub fn package_of(token: &str) -> &str {
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

    /// What a schema says for the language.
    pub fn language(self, schema: &Package) -> Language {
        schema.language(self.name())
    }

    /// The name of a value of an enumeration: `Tcp` or `TCP` for `tcp`. One that cannot start with what it starts with
    /// has the name of the enumeration in front.
    pub(crate) fn member(self, name: &str, class: &str) -> String {
        let name = NUMBERS.iter().find(|(short, _)| *short == name).map_or(name, |(_, word)| word);
        let (name, class) = match self {
            Self::Node => (capitalized(&identifier(name)), class.to_owned()),
            Self::Python => (identifier(&snake_case(name)).to_uppercase(), snake_case(class).to_uppercase()),
        };
        let name = if name.starts_with('_') { class + &name } else { name };
        let words: Vec<&str> = name.split('_').collect();
        let (first, rest) = words.split_first().unwrap_or((&"", &[]));
        let rest = rest.iter().enumerate().filter(|(at, word)| !word.is_empty() || at + 1 == rest.len());
        rest.fold((*first).to_owned(), |name, (_, word)| name + "_" + word)
    }

    /// The class of a type. Without a schema it is where packages usually have it.
    pub fn class(self, token: &str, schema: Option<&Package>) -> Class {
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
                let language = self.language(schema);
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
    pub fn import_path(self, package: &str, schema: Option<&Package>) -> String {
        let named = schema.map(|schema| self.language(schema).package_name);
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

#[cfg(test)]
mod tests {
    use super::Sdk;

    #[test]
    fn values_of_enumerations_have_the_names_that_programs_know() {
        for (name, node, python) in [
            ("tcp", "Tcp", "TCP"),
            ("*", "Asterisk", "ASTERISK"),
            ("8", "Eight", "EIGHT"),
            ("8.3", "Plant_8_3", "PLANT_8_3"),
            ("Standard_D2s_v3", "Standard_D2s_v3", "STANDARD_D2S_V3"),
            ("burgundy--red", "Burgundy_red", "BURGUNDY_RED"),
            ("burgundyRed", "BurgundyRed", "BURGUNDY_RED"),
            ("-x", "Plant_x", "PLANT_X"),
            ("open_", "Open_", "OPEN_"),
        ] {
            assert_eq!(Sdk::Node.member(name, "Plant"), node, "{name}");
            assert_eq!(Sdk::Python.member(name, "Plant"), python, "{name}");
        }
    }
}
