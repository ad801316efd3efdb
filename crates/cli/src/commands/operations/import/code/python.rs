//! Programs in Python.

use super::expression::{Archive, Expression, Object, ObjectForm};
use super::literal::{block, quoted, remark};
use super::place::{Import, imports, qualified};
use super::{Declaration, Form, Options, Program, Setting};
use drystone_model::{AssetSource, SECRET_MASK, Urn};
use drystone_plugins::schema::Package;
use drystone_sdks::Sdk;
use drystone_sdks::names::{python_argument, python_variable, snake_case};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

pub(super) fn write(program: &Program) -> String {
    let mut taken: HashSet<String> = program.elsewhere.values().map(|name| python_variable(name)).collect();
    taken.insert("pulumi".to_owned());
    let imports = imports(Sdk::Python, program, &mut taken);
    let variables = program.variables(python_variable, python_variable, &mut taken);
    let mut text = "import pulumi\n".to_owned();
    let mut paths: Vec<&Import> = imports.values().collect();
    paths.sort_by(|one, other| one.path.cmp(&other.path));
    for Import { path, alias } in paths {
        let _ = writeln!(text, "import {path} as {alias}");
    }
    let preface = program.preface(&variables);
    if !preface.is_empty() {
        text.push('\n');
    }
    for line in preface {
        let _ = writeln!(text, "# {line}");
    }
    for declared in &program.declarations {
        text.push('\n');
        for line in &declared.remarks {
            let _ = writeln!(text, "# {}", remark(line));
        }
        let code = Code { imports: &imports, variables: &variables, schema: declared.schema.as_deref() };
        let _ = writeln!(text, "{}", code.declaration(declared));
    }
    text
}

struct Code<'a> {
    imports: &'a BTreeMap<&'a str, Import>,
    variables: &'a HashMap<&'a Urn, String>,
    /// The schema that objects are of.
    schema: Option<&'a Package>,
}

impl Code<'_> {
    fn variable(&self, urn: &Urn) -> &str {
        self.variables.get(urn).map_or("None", String::as_str)
    }

    fn declaration(&self, declared: &Declaration) -> String {
        let variable = self.variable(&declared.urn);
        let mut arguments = vec![quoted(&declared.name)];
        let class = match declared.form {
            Form::Component => {
                arguments.insert(0, quoted(&declared.type_token));
                "pulumi.ComponentResource".to_owned()
            }
            Form::Resource => {
                let class = Sdk::Python.class(&declared.type_token, self.schema);
                qualified(self.imports, &class)
            }
        };
        let input = |(name, input): &(String, Expression)| {
            format!("{}={}", python_argument(name), self.value(input, 1))
        };
        arguments.extend(declared.inputs.iter().map(input));
        arguments.extend(self.options(&declared.options));
        format!("{variable} = {class}({})", arguments.join(",\n    "))
    }

    fn options(&self, options: &Options) -> Option<String> {
        let setting = |(name, setting): (&str, Setting<'_>)| {
            let value = match setting {
                Setting::Resource(urn) => self.variable(urn).to_owned(),
                Setting::Resources(urns) => {
                    let variables: Vec<&str> = urns.iter().map(|urn| self.variable(urn)).collect();
                    format!("[{}]", variables.join(", "))
                }
                Setting::True => "True".to_owned(),
                Setting::Text(text) => quoted(text),
                Setting::Texts(texts) => {
                    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                    format!("[{}]", texts.join(", "))
                }
            };
            format!("{}={value}", snake_case(name))
        };
        let settings: Vec<String> = options.settings().into_iter().map(setting).collect();
        (!settings.is_empty()).then(|| format!("opts=pulumi.ResourceOptions({})", settings.join(", ")))
    }

    fn value(&self, value: &Expression, depth: usize) -> String {
        let asset = |class: &str, argument: &str| format!("pulumi.{class}({argument})");
        match value {
            Expression::Nothing => "None".to_owned(),
            Expression::Bool(true) => "True".to_owned(),
            Expression::Bool(false) => "False".to_owned(),
            Expression::Number(number) => number.to_string(),
            Expression::Text(text) | Expression::Word(text) => quoted(text),
            Expression::List(items) => {
                block(items.iter().map(|item| self.value(item, depth + 1)), depth, ["[", "]"])
            }
            Expression::Map(members) => self.map(members, depth),
            Expression::Object(object) => self.object(object, depth),
            Expression::Secret(inner) => format!("pulumi.Output.secret({})", self.value(inner, depth)),
            Expression::Hidden => format!("pulumi.Output.secret({})", quoted(SECRET_MASK)),
            Expression::Asset(AssetSource::Text(text)) => asset("StringAsset", &quoted(text)),
            Expression::Asset(AssetSource::Path(path)) => asset("FileAsset", &quoted(path)),
            Expression::Asset(AssetSource::Uri(uri)) => asset("RemoteAsset", &quoted(uri)),
            Expression::Archive(Archive::Assets(assets)) => asset("AssetArchive", &self.map(assets, depth)),
            Expression::Archive(Archive::Path(path)) => asset("FileArchive", &quoted(path)),
            Expression::Archive(Archive::Uri(uri)) => asset("RemoteArchive", &quoted(uri)),
            Expression::Property(urn, property) => format!("{}.{}", self.variable(urn), snake_case(property)),
            Expression::Resource(urn) => self.variable(urn).to_owned(),
        }
    }

    fn map(&self, members: &[(String, Expression)], depth: usize) -> String {
        let member = |(name, member): &(String, Expression)| {
            format!("{}: {}", quoted(name), self.value(member, depth + 1))
        };
        block(members.iter().map(member), depth, ["{", "}"])
    }

    /// An object of a schema: its names are Python's. A dictionary says nothing of which object it is.
    fn object(&self, object: &Object, depth: usize) -> String {
        let member = |(name, member): &(String, Expression), between: &str, quote: &str| {
            format!("{quote}{}{quote}{between}{}", snake_case(name), self.value(member, depth + 1))
        };
        let members = object.members.iter();
        if object.form == ObjectForm::Dictionary || object.token.is_empty() {
            return block(members.map(|given| member(given, ": ", "\"")), depth, ["{", "}"]);
        }
        let class = Sdk::Python.class(&object.token, self.schema);
        let open = format!("{}Args(", qualified(self.imports, &class));
        block(members.map(|given| member(given, "=", "")), depth, [&open, ")"])
    }
}
