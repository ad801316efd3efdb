//! SDKs for Node.js: JavaScript that runs as it is, and its types for TypeScript.

use crate::names::typescript_name;
use crate::types::Objects;
use crate::{Class, Files, Module, Origin, Sdk, below, modules, objects};
use drystone_plugins::schema::{Function, Package, Property, Resource, SchemaError, Type};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// What every SDK has beside its own classes.
const HELPERS: &str = include_str!("node/package.js");

/// The files of a package's SDK.
pub fn node(package: &Arc<Package>, origin: &Origin) -> Result<Files, SchemaError> {
    let modules = modules(package, Sdk::Node)?;
    let provider = package.resource(&format!("pulumi:providers:{}", package.name))?;
    let generator = Generator { package };
    let mut files = Files::new();
    files.insert("package.json".to_owned(), manifest(package, origin));
    files.insert("package.js".to_owned(), helpers(package, origin));
    let (inputs, outputs) = objects(&modules, &provider);
    for (path, module) in &modules {
        let folder: String = path.iter().map(|part| format!("{part}/")).collect();
        let inner = below(&modules, path);
        let own = path.is_empty().then_some(provider.as_ref());
        files.insert(format!("{folder}index.js"), generator.script(path, module, &inner, own));
        files.insert(format!("{folder}index.d.ts"), generator.declarations(path, module, &inner, own));
    }
    files.insert("types/input.d.ts".to_owned(), generator.objects(&inputs, Side::Input));
    files.insert("types/output.d.ts".to_owned(), generator.objects(&outputs, Side::Output));
    files.insert(
        "types/index.d.ts".to_owned(),
        "import * as input from \"./input\";\nimport * as output from \"./output\";\nexport { input, output };\n".to_owned(),
    );
    files.insert("types/index.js".to_owned(), "\"use strict\";\n".to_owned());
    Ok(files)
}

/// What package managers and the engine read.
fn manifest(package: &Package, origin: &Origin) -> String {
    let mut plugin = json!({ "resource": true, "name": origin.plugin });
    if !origin.version.is_empty() {
        plugin["version"] = Value::from(origin.version.as_str());
    }
    if !origin.server.is_empty() {
        plugin["server"] = Value::from(origin.server.as_str());
    }
    if let Some(value) = &origin.parameter {
        plugin["parameterization"] =
            json!({ "name": package.name, "version": package.version, "value": value });
    }
    let version = if package.version.is_empty() { "0.0.0" } else { &package.version };
    let manifest = json!({
        "name": Sdk::Node.import_path(&package.name, Some(package)),
        "version": version,
        "main": "index.js",
        "types": "index.d.ts",
        "peerDependencies": { "@pulumi/pulumi": "^3.142.0" },
        "pulumi": plugin,
    });
    pretty(&manifest)
}

fn helpers(package: &Package, origin: &Origin) -> String {
    let about = json!({
        "name": package.name,
        "version": package.version,
        "plugin": origin.plugin,
        "pluginVersion": origin.version,
        "server": origin.server,
        "parameter": origin.parameter,
    });
    HELPERS.replace("{/* about */}", pretty(&about).trim_end())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Whether a type is given or comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

struct Generator<'a> {
    package: &'a Arc<Package>,
}

impl Generator<'_> {
    /// The code of a module.
    fn script(
        &self,
        path: &[String],
        module: &Module,
        inner: &[&str],
        provider: Option<&Resource>,
    ) -> String {
        let root = &root_from(path);
        let mut text = format!(
            "\"use strict\";\nconst pulumi = require(\"@pulumi/pulumi\");\nconst sdk = require(\"{root}package.js\");\n"
        );
        for (class, resource) in &module.resources {
            let (base, build) = match resource.is_component {
                true => ("pulumi.ComponentResource", "component"),
                false => ("pulumi.CustomResource", "custom"),
            };
            let Class { name, .. } = class;
            let token = quoted(&resource.token);
            let shape = pretty(&shape(resource));
            let shape = shape.trim_end();
            let _ = write!(
                text,
                "
class {name} extends {base} {{
    constructor(name, args, opts) {{
        super(...sdk.{build}({name}, name, args, opts));
    }}
    static isInstance(value) {{
        return sdk.isInstance(value, {name});
    }}
"
            );
            if !resource.is_component {
                let _ = write!(
                    text,
                    "    static get(name, id, state, opts) {{
        return new {name}(name, state, {{ ...opts, id }});
    }}
"
                );
            }
            let _ = write!(
                text,
                "}}\n{name}.__pulumiType = {token};\n{name}.__shape = {shape};\nexports.{name} = {name};\nsdk.register({name});\n"
            );
        }
        if let Some(provider) = provider {
            let shape = pretty(&shape(provider));
            let shape = shape.trim_end();
            let _ = write!(
                text,
                "
class Provider extends pulumi.ProviderResource {{
    constructor(name, args, opts) {{
        super(...sdk.provider(Provider, name, args, opts));
    }}
    static isInstance(value) {{
        return sdk.isInstance(value, Provider);
    }}
}}
Provider.__pulumiType = {};
Provider.__shape = {shape};
exports.Provider = Provider;
sdk.registerProvider(Provider);
",
                quoted(&provider.token)
            );
        }
        for (class, function) in &module.functions {
            let name = function_name(class);
            let names: Vec<&str> = function.inputs.keys().map(String::as_str).collect();
            let (token, names) = (quoted(&function.token), json!(names));
            let form = if function.single.is_some() { "Single" } else { "" };
            let _ = write!(
                text,
                "
exports.{name} = (args, opts) => sdk.invoke{form}({token}, {names}, args, opts);
exports.{name}Output = (args, opts) => sdk.invoke{form}Output({token}, {names}, args, opts);
"
            );
        }
        for inner in inner {
            let _ = writeln!(text, "exports.{inner} = require(\"./{inner}\");");
        }
        if path.is_empty() {
            text.push_str("exports.types = require(\"./types\");\n");
        }
        text
    }

    /// The types of a module.
    fn declarations(
        &self,
        path: &[String],
        module: &Module,
        inner: &[&str],
        provider: Option<&Resource>,
    ) -> String {
        let root = &root_from(path);
        let mut text =
            format!("import * as pulumi from \"@pulumi/pulumi\";\nimport * as types from \"{root}types\";\n");
        for inner in inner {
            let _ = writeln!(text, "import * as {inner} from \"./{inner}\";\nexport {{ {inner} }};");
        }
        if path.is_empty() {
            text.push_str("export { types };\n");
        }
        for (class, resource) in &module.resources {
            self.resource(&mut text, root, class, resource);
        }
        if let Some(provider) = provider {
            let _ = write!(
                text,
                "
export declare class Provider extends pulumi.ProviderResource {{
    constructor(name: string, args?: ProviderArgs, opts?: pulumi.ResourceOptions);
    static isInstance(obj: any): obj is Provider;
}}
export interface ProviderArgs {{
{}}}
",
                self.members(root, &provider.inputs, Side::Input)
            );
        }
        for (class, function) in &module.functions {
            self.function(&mut text, root, class, function);
        }
        text
    }

    fn resource(&self, text: &mut String, root: &str, class: &Class, resource: &Resource) {
        let Class { name, .. } = class;
        let (base, options) = match resource.is_component {
            true => ("pulumi.ComponentResource", "pulumi.ComponentResourceOptions"),
            false => ("pulumi.CustomResource", "pulumi.CustomResourceOptions"),
        };
        let outputs = resource.outputs.iter().filter(|(name, _)| !["id", "urn"].contains(&name.as_str()));
        let outputs: String = outputs
            .map(|(name, property)| {
                let kind = self.kind(root, &property.kind, Side::Output);
                let kind = if property.required { kind } else { format!("{kind} | undefined") };
                let kind = if property.plain { kind } else { format!("pulumi.Output<{kind}>") };
                format!("    readonly {}: {kind};\n", quoted(name))
            })
            .collect();
        let mark = if needs_arguments(&resource.inputs) { "" } else { "?" };
        let _ = write!(
            text,
            "
export declare class {name} extends {base} {{
    constructor(name: string, args{mark}: {name}Args, opts?: {options});
    static isInstance(obj: any): obj is {name};
{}{outputs}}}
export interface {name}Args {{
{}}}
",
            match resource.is_component {
                true => String::new(),
                false => format!(
                    "    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: {name}State, opts?: {options}): {name};\n"
                ),
            },
            self.members(root, &resource.inputs, Side::Input)
        );
        if !resource.is_component {
            let state: BTreeMap<String, Property> = resource
                .outputs
                .iter()
                .map(|(name, property)| (name.clone(), Property { required: false, ..property.clone() }))
                .collect();
            let _ = write!(
                text,
                "export interface {name}State {{\n{}}}\n",
                self.members(root, &state, Side::Input)
            );
        }
    }

    fn function(&self, text: &mut String, root: &str, class: &Class, function: &Function) {
        let name = function_name(class);
        let Class { name: kind, .. } = class;
        let mark = if needs_arguments(&function.inputs) { "" } else { "?" };
        let plain: BTreeMap<String, Property> = function
            .inputs
            .iter()
            .map(|(name, property)| (name.clone(), Property { plain: true, ..property.clone() }))
            .collect();
        let result = match (&function.single, &function.outputs) {
            (Some(single), _) => self.kind(root, single, Side::Output),
            (None, Some(object)) => {
                format!("{{\n{}}}", self.members(root, &object.properties(), Side::Output))
            }
            (None, None) => "void".to_owned(),
        };
        let _ = write!(
            text,
            "
export declare function {name}(args{mark}: {kind}Args, opts?: pulumi.InvokeOptions): Promise<{kind}Result>;
export declare function {name}Output(args{mark}: {kind}OutputArgs, opts?: pulumi.InvokeOutputOptions): pulumi.Output<{kind}Result>;
export interface {kind}Args {{
{}}}
export interface {kind}OutputArgs {{
{}}}
export type {kind}Result = {result};
",
            self.members(root, &plain, Side::Output),
            self.members(root, &function.inputs, Side::Input),
        );
    }

    /// The objects with names, in namespaces that are their modules.
    fn objects(&self, objects: &Objects, side: Side) -> String {
        let mut text =
            "import * as pulumi from \"@pulumi/pulumi\";\nimport * as types from \"./\";\n".to_owned();
        for (token, object) in objects.iter() {
            let Class { modules, name, .. } = Sdk::Node.class(token, Some(self.package));
            let name = if side == Side::Input { name + "Args" } else { name };
            let members = self.members("../", &object.properties(), side);
            let mut block = format!("export interface {name} {{\n{members}}}\n");
            for module in modules.iter().rev() {
                block = format!("export namespace {module} {{\n{}}}\n", indented(&block));
            }
            text.push('\n');
            text.push_str(&block);
        }
        text
    }

    fn members(&self, root: &str, properties: &BTreeMap<String, Property>, side: Side) -> String {
        let member = |(name, property): (&String, &Property)| {
            let mark = if property.required { "" } else { "?" };
            let kind = match &property.constant {
                Some(constant) => constant.to_string(),
                None => self.kind(root, &property.kind, side),
            };
            let kind =
                if side == Side::Input && !property.plain { format!("pulumi.Input<{kind}>") } else { kind };
            format!("    {}{mark}: {kind};\n", quoted(name))
        };
        properties.iter().map(member).collect()
    }

    fn kind(&self, root: &str, kind: &Type, side: Side) -> String {
        let inner = |kind: &Type| {
            let text = self.kind(root, kind, side);
            if side == Side::Input { format!("pulumi.Input<{text}>") } else { text }
        };
        match kind {
            Type::Any | Type::Unknown => "any".to_owned(),
            Type::Bool => "boolean".to_owned(),
            Type::Integer | Type::Number => "number".to_owned(),
            Type::String => "string".to_owned(),
            Type::Asset => "pulumi.asset.Asset | pulumi.asset.Archive".to_owned(),
            Type::Archive => "pulumi.asset.Archive".to_owned(),
            Type::AnyResource => "pulumi.Resource".to_owned(),
            Type::Array(element) => format!("({})[]", inner(element)),
            Type::Map(element) => format!("{{[key: string]: {}}}", inner(element)),
            Type::Union(union) => {
                let kinds: Vec<String> = union.types.iter().map(|kind| self.kind(root, kind, side)).collect();
                format!("({})", kinds.join(" | "))
            }
            Type::Enum { element, values } => {
                let values: Vec<String> = values.iter().map(|value| value.value.to_string()).collect();
                if values.is_empty() {
                    self.kind(root, element, side)
                } else {
                    format!("({})", values.join(" | "))
                }
            }
            Type::Object(object) if object.token.is_empty() => {
                let members = self.members(root, &object.properties(), side);
                format!("{{ {} }}", members.trim().replace("\n    ", " "))
            }
            Type::Object(object) => {
                let Class { modules, name, .. } = Sdk::Node.class(&object.token, Some(self.package));
                let modules: String = modules.iter().map(|module| format!("{module}.")).collect();
                match side {
                    Side::Input => format!("types.input.{modules}{name}Args"),
                    Side::Output => format!("types.output.{modules}{name}"),
                }
            }
            Type::Resource(resource) => {
                let Class { modules, name, .. } = Sdk::Node.class(&resource.token, Some(self.package));
                let path: String = modules.iter().map(|module| format!("{module}/")).collect();
                format!("import(\"{root}{path}index\").{name}")
            }
        }
    }
}

/// The way from a module to the folder of the package.
fn root_from(path: &[String]) -> String {
    if path.is_empty() { "./".to_owned() } else { "../".repeat(path.len()) }
}

/// What the code needs to know of a resource.
fn shape(resource: &Resource) -> Value {
    let names = |properties: &BTreeMap<String, Property>, of: fn(&Property) -> bool| -> Vec<String> {
        properties.iter().filter(|(_, property)| of(property)).map(|(name, _)| name.clone()).collect()
    };
    let values = |of: fn(&Property) -> Option<&Value>| -> BTreeMap<String, Value> {
        let given = resource.inputs.iter().filter_map(|(name, property)| Some((name, of(property)?)));
        given.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let texts = |of: fn(&Property) -> bool| names(&resource.inputs, of);
    json!({
        "inputs": texts(|_| true),
        "outputs": names(&resource.outputs, |_| true),
        "required": texts(|property| property.required && property.constant.is_none()),
        "secrets": texts(|property| property.secret),
        "secretOutputs": names(&resource.outputs, |property| property.secret),
        "constants": values(|property| property.constant.as_ref()),
        "defaults": values(|property| property.default.as_ref()),
        "aliases": resource.aliases,
        "replaceOnChanges": resource.replace_on_changes(),
        "texts": texts(|property| matches!(property.kind, Type::String)),
    })
}

fn needs_arguments(inputs: &BTreeMap<String, Property>) -> bool {
    inputs.values().any(|property| property.required && property.constant.is_none())
}

/// `getThing` for the function `Thing` or `getThing`: as the token has it, with a small letter in front.
fn function_name(class: &Class) -> String {
    let mut letters = class.name.chars();
    let first = letters.next().map(char::to_lowercase).into_iter().flatten();
    typescript_name(&first.chain(letters).collect::<String>())
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text whose lines stand further to the right.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
