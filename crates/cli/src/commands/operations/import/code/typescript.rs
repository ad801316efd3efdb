//! Programs in TypeScript.

use super::expression::{Archive, Expression};
use super::literal::{block, quoted, remark};
use super::place::{Import, imports, qualified};
use super::{Declaration, Form, Options, Program, Setting};
use drystone_model::{AssetSource, SECRET_MASK, Urn};
use drystone_sdks::Sdk;
use drystone_sdks::names::{identifier, typescript_variable};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

pub(super) fn write(program: &Program) -> String {
    let mut taken: HashSet<String> =
        program.elsewhere.values().map(|name| typescript_variable(name)).collect();
    taken.insert("pulumi".to_owned());
    let imports = imports(Sdk::Node, program, &mut taken);
    let variables = program.variables(typescript_variable, typescript_variable, &mut taken);
    let mut text = String::new();
    let mut paths: Vec<&Import> = imports.values().collect();
    paths.sort_by(|one, other| one.path.cmp(&other.path));
    text.push_str("import * as pulumi from \"@pulumi/pulumi\";\n");
    for Import { path, alias } in paths {
        let _ = writeln!(text, "import * as {alias} from {};", quoted(path));
    }
    let preface = program.preface(&variables);
    if !preface.is_empty() {
        text.push('\n');
    }
    for line in preface {
        let _ = writeln!(text, "// {line}");
    }
    let code = Code { imports, variables };
    for declared in &program.declarations {
        text.push('\n');
        for line in &declared.remarks {
            let _ = writeln!(text, "// {}", remark(line));
        }
        let _ = writeln!(text, "{}", code.declaration(declared));
    }
    text
}

struct Code<'a> {
    imports: BTreeMap<&'a str, Import>,
    variables: HashMap<&'a Urn, String>,
}

impl Code<'_> {
    fn variable(&self, urn: &Urn) -> &str {
        self.variables.get(urn).map_or("undefined", String::as_str)
    }

    fn declaration(&self, declared: &Declaration) -> String {
        let variable = self.variable(&declared.urn);
        let name = quoted(&declared.name);
        let options = self.options(&declared.options);
        if declared.form == Form::Component {
            let token = quoted(&declared.type_token);
            return format!(
                "const {variable} = new pulumi.ComponentResource({token}, {name}, {{}}{options});"
            );
        }
        let class = Sdk::Node.class(&declared.type_token, declared.schema.as_deref());
        let class = qualified(&self.imports, &class);
        let inputs = self.members(&declared.inputs, 0);
        format!("const {variable} = new {class}({name}, {inputs}{options});")
    }

    fn options(&self, options: &Options) -> String {
        let settings = options.settings();
        if settings.is_empty() {
            return String::new();
        }
        let resources = |urns: &[Urn]| {
            let variables: Vec<&str> = urns.iter().map(|urn| self.variable(urn)).collect();
            format!("[{}]", variables.join(", "))
        };
        let setting = |(name, setting): (&str, Setting<'_>)| {
            let value = match setting {
                Setting::Resource(urn) => self.variable(urn).to_owned(),
                Setting::Resources(urns) => resources(urns),
                Setting::True => "true".to_owned(),
                Setting::Text(text) => quoted(text),
                Setting::Texts(texts) => {
                    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                    format!("[{}]", texts.join(", "))
                }
            };
            format!("{name}: {value}")
        };
        format!(", {}", block(settings.into_iter().map(setting), 0, ["{", "}"]))
    }

    fn members(&self, members: &[(String, Expression)], depth: usize) -> String {
        let member = |(name, member): &(String, Expression)| {
            format!("{}: {}", key(name), self.value(member, depth + 1))
        };
        block(members.iter().map(member), depth, ["{", "}"])
    }

    fn value(&self, value: &Expression, depth: usize) -> String {
        let asset = |class: &str, argument: &str| format!("new pulumi.asset.{class}({argument})");
        match value {
            // What is not there is `undefined` in types, and left out.
            Expression::Nothing => "null as any".to_owned(),
            Expression::Bool(flag) => flag.to_string(),
            Expression::Number(number) => number.to_string(),
            Expression::Text(text) | Expression::Word(text) => quoted(text),
            Expression::List(items) => {
                block(items.iter().map(|item| self.value(item, depth + 1)), depth, ["[", "]"])
            }
            Expression::Map(members) => self.members(members, depth),
            Expression::Object(object) => self.members(&object.members, depth),
            Expression::Secret(inner) => format!("pulumi.secret({})", self.value(inner, depth)),
            Expression::Hidden => format!("pulumi.secret({})", quoted(SECRET_MASK)),
            Expression::Asset(AssetSource::Text(text)) => asset("StringAsset", &quoted(text)),
            Expression::Asset(AssetSource::Path(path)) => asset("FileAsset", &quoted(path)),
            Expression::Asset(AssetSource::Uri(uri)) => asset("RemoteAsset", &quoted(uri)),
            Expression::Archive(Archive::Assets(assets)) => {
                asset("AssetArchive", &self.members(assets, depth))
            }
            Expression::Archive(Archive::Path(path)) => asset("FileArchive", &quoted(path)),
            Expression::Archive(Archive::Uri(uri)) => asset("RemoteArchive", &quoted(uri)),
            Expression::Property(urn, property) => format!("{}.{property}", self.variable(urn)),
            Expression::Resource(urn) => self.variable(urn).to_owned(),
        }
    }
}

/// The name of a member. One name is that of what an object inherits from, unless it is computed.
fn key(name: &str) -> String {
    match name {
        "__proto__" => "[\"__proto__\"]".to_owned(),
        name if identifier(name) == name => name.to_owned(),
        name => quoted(name),
    }
}
