//! The types of an SDK for TypeScript.

use super::{TYPES, exported_enums, function_name, quoted, root_from};
use crate::names::typescript_name;
use crate::parts::below;
use crate::types::Types;
use crate::{Answer, Class, Kind, Method, Parts, Sdk};
use drystone_plugins::schema::{Function, Package, Property, Type};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Whether a type is given or comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

/// What files start with: the SDK, and the package's own types by a name that no module has.
fn head(root: &str) -> String {
    format!("import * as pulumi from \"@pulumi/pulumi\";\nimport * as $types from \"{root}{TYPES}\";\n")
}

/// A module.
pub(super) fn module(package: &Package, parts: &Parts, path: &[String]) -> String {
    let module = &parts.modules[path];
    let root = root_from(path);
    let writer = Writer { package, root: &root };
    let mut text = head(&root);
    let mut inner = below(&parts.modules, path);
    if path == [TYPES] {
        inner.extend(["input", "output", "enums"]);
    }
    for inner in inner {
        let _ = writeln!(text, "import * as {inner} from \"./{inner}\";\nexport {{ {inner} }};");
    }
    for kind in &module.kinds {
        writer.resource(&mut text, kind);
    }
    if let Some(kind) = &module.provider {
        let methods = writer.methods(kind);
        let _ = write!(
            text,
            "
export declare class Provider extends pulumi.ProviderResource {{
    constructor(name: string, args?: ProviderArgs, opts?: pulumi.ResourceOptions);
    static isInstance(obj: any): obj is Provider;
{methods}}}
export interface ProviderArgs {{
{}}}
",
            writer.members(&kind.resource.inputs, Side::Input)
        );
        writer.method_types(&mut text, kind);
    }
    for (class, function) in &module.functions {
        writer.function(&mut text, class, function);
    }
    for (name, property) in &module.config {
        // What cannot be a name in TypeScript can be asked for in JavaScript still.
        if typescript_name(name) == *name {
            let kind = writer.kind(&property.kind, Side::Output);
            let or = if property.default.is_some() { "" } else { " | undefined" };
            let _ = writeln!(text, "export declare const {name}: {kind}{or};");
        }
    }
    for name in exported_enums(parts, path) {
        let place: String = path.iter().map(|part| format!("{part}.")).collect();
        let place = format!("$types.enums.{place}{name}");
        let _ = writeln!(text, "export declare const {name}: typeof {place};\nexport type {name} = {place};");
    }
    text
}

/// The objects with names, in namespaces that are their modules, and the name of the file that has them.
pub(super) fn objects(package: &Package, types: &Types, side: Side) -> (&'static str, String) {
    let writer = Writer { package, root: "../" };
    let mut text = head("../");
    for (token, object) in &types.objects {
        let Class { modules, name, .. } = Sdk::Node.class(token, Some(package));
        let name = if side == Side::Input { name + "Args" } else { name };
        let members = writer.members(&object.properties(), side);
        text.push('\n');
        text.push_str(&within(&modules, format!("export interface {name} {{\n{members}}}\n")));
    }
    (if side == Side::Input { "input" } else { "output" }, text)
}

/// The enumerations, in namespaces that are their modules.
pub(super) fn enums(parts: &Parts) -> String {
    let mut text = "export {};\n".to_owned();
    for found in &parts.enums {
        let Class { modules, name, .. } = &found.class;
        let members: String = found
            .members
            .iter()
            .map(|(member, value)| format!("    readonly {}: {value};\n", quoted(member)))
            .collect();
        let declared = if modules.is_empty() { "declare " } else { "" };
        let block = format!(
            "export {declared}const {name}: {{\n{members}}};\nexport type {name} = (typeof {name})[keyof typeof {name}];\n"
        );
        text.push('\n');
        text.push_str(&within(modules, block));
    }
    text
}

/// A block in the namespaces that are its modules.
fn within(modules: &[String], mut block: String) -> String {
    for (at, module) in modules.iter().enumerate().rev() {
        let declared = if at == 0 { "declare " } else { "" };
        block = format!("export {declared}namespace {module} {{\n{}}}\n", indented(&block));
    }
    block
}

/// Writes the types of a module.
struct Writer<'a> {
    package: &'a Package,
    /// The way to the folder of the package.
    root: &'a str,
}

impl Writer<'_> {
    fn resource(&self, text: &mut String, kind: &Kind) {
        let Kind { class: Class { name, .. }, resource, .. } = kind;
        let (base, options) = match resource.is_component {
            true => ("pulumi.ComponentResource", "pulumi.ComponentResourceOptions"),
            false => ("pulumi.CustomResource", "pulumi.CustomResourceOptions"),
        };
        let outputs = resource.outputs.iter().filter(|(name, _)| !["id", "urn"].contains(&name.as_str()));
        let outputs: String = outputs
            .map(|(name, property)| {
                let kind = self.output(property);
                let kind = if property.plain { kind } else { format!("pulumi.Output<{kind}>") };
                format!("    readonly {}: {kind};\n", quoted(name))
            })
            .collect();
        let mark = mark(&resource.inputs);
        let get = match resource.is_component {
            true => String::new(),
            false => format!(
                "    static get(name: string, id: pulumi.Input<pulumi.ID>, state?: {name}State, opts?: {options}): {name};\n"
            ),
        };
        let _ = write!(
            text,
            "
export declare class {name} extends {base} {{
    constructor(name: string, args{mark}: {name}Args, opts?: {options});
    static isInstance(obj: any): obj is {name};
{get}{outputs}{methods}}}
export interface {name}Args {{
{inputs}}}
",
            methods = self.methods(kind),
            inputs = self.members(&resource.inputs, Side::Input)
        );
        if !resource.is_component {
            let state: BTreeMap<String, Property> = resource
                .outputs
                .iter()
                .map(|(name, property)| (name.clone(), Property { required: false, ..property.clone() }))
                .collect();
            let _ =
                write!(text, "export interface {name}State {{\n{}}}\n", self.members(&state, Side::Input));
        }
        self.method_types(text, kind);
    }

    /// The methods of a class.
    fn methods(&self, kind: &Kind) -> String {
        let method = |method: &Method| {
            let inputs = method.inputs();
            let types = format!("{}.{}", kind.class.name, method_types_name(method));
            let arguments = match inputs.is_empty() {
                true => String::new(),
                false => format!("args{}: {types}Args", mark(&inputs)),
            };
            let result = match &method.answer {
                Answer::Nothing => "void".to_owned(),
                Answer::Object(_) => format!("{types}Result"),
                Answer::Property(_, property) => self.output(property),
                Answer::Single(kind) => self.kind(kind, Side::Output),
            };
            let result = match (&method.answer, method.function.plain) {
                (Answer::Nothing, _) => result,
                (_, true) => format!("Promise<{result}>"),
                (_, false) => format!("pulumi.Output<{result}>"),
            };
            format!("    {}({arguments}): {result};\n", quoted(&method.name))
        };
        kind.methods.iter().map(method).collect()
    }

    /// What methods take and give, in a namespace that is the class.
    fn method_types(&self, text: &mut String, kind: &Kind) {
        if kind.methods.is_empty() {
            return;
        }
        let mut block = String::new();
        for method in &kind.methods {
            let name = method_types_name(method);
            let inputs = method.inputs();
            if !inputs.is_empty() {
                let members = self.members(&inputs, Side::Input);
                let _ = write!(block, "export interface {name}Args {{\n{members}}}\n");
            }
            if let Answer::Object(properties) = &method.answer {
                let members = self.members(properties, Side::Output);
                let _ = write!(block, "export interface {name}Result {{\n{members}}}\n");
            }
        }
        let _ = write!(text, "export declare namespace {} {{\n{}}}\n", kind.class.name, indented(&block));
    }

    fn function(&self, text: &mut String, class: &Class, function: &Function) {
        let name = function_name(class);
        let Class { name: kind, .. } = class;
        let mark = mark(&function.inputs);
        let plain: BTreeMap<String, Property> = function
            .inputs
            .iter()
            .map(|(name, property)| (name.clone(), Property { plain: true, ..property.clone() }))
            .collect();
        let result = match (&function.single, &function.outputs) {
            (Some(single), _) => self.kind(single, Side::Output),
            (None, Some(object)) => format!("{{\n{}}}", self.members(&object.properties(), Side::Output)),
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
            self.members(&plain, Side::Output),
            self.members(&function.inputs, Side::Input),
        );
    }

    /// What comes back as a property.
    fn output(&self, property: &Property) -> String {
        let kind = self.kind(&property.kind, Side::Output);
        if property.required { kind } else { format!("{kind} | undefined") }
    }

    fn members(&self, properties: &BTreeMap<String, Property>, side: Side) -> String {
        let member = |(name, property): (&String, &Property)| {
            let mark = if property.required { "" } else { "?" };
            let kind = match &property.constant {
                Some(constant) => constant.to_string(),
                None => self.kind(&property.kind, side),
            };
            let kind =
                if side == Side::Input && !property.plain { format!("pulumi.Input<{kind}>") } else { kind };
            format!("    {}{mark}: {kind};\n", quoted(name))
        };
        properties.iter().map(member).collect()
    }

    fn kind(&self, kind: &Type, side: Side) -> String {
        let inner = |kind: &Type| {
            let text = self.kind(kind, side);
            if side == Side::Input { format!("pulumi.Input<{text}>") } else { text }
        };
        let named = |token: &str| {
            let Class { modules, name, .. } = Sdk::Node.class(token, Some(self.package));
            (modules.iter().map(|module| format!("{module}.")).collect::<String>(), name)
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
                let kinds: Vec<String> = union.types.iter().map(|kind| self.kind(kind, side)).collect();
                format!("({})", kinds.join(" | "))
            }
            Type::Enum { element, values, .. } if values.is_empty() => self.kind(element, side),
            Type::Enum { token, .. } => {
                let (modules, name) = named(token);
                format!("$types.enums.{modules}{name}")
            }
            Type::Object(object) if object.token.is_empty() => {
                let members = self.members(&object.properties(), side);
                format!("{{ {} }}", members.trim().replace("\n    ", " "))
            }
            Type::Object(object) => {
                let (modules, name) = named(&object.token);
                match side {
                    Side::Input => format!("$types.input.{modules}{name}Args"),
                    Side::Output => format!("$types.output.{modules}{name}"),
                }
            }
            Type::Resource(resource) => {
                let Class { modules, name, .. } = Sdk::Node.class(&resource.token, Some(self.package));
                let path: String = modules.iter().map(|module| format!("{module}/")).collect();
                format!("import(\"{}{path}index\").{name}", self.root)
            }
        }
    }
}

/// What the types of a method start with: `GetKeys` for `getKeys`.
fn method_types_name(method: &Method) -> String {
    crate::names::capitalized(&crate::names::identifier(&method.name))
}

/// A question mark where arguments can be left out.
fn mark(inputs: &BTreeMap<String, Property>) -> &'static str {
    let needed = inputs.values().any(|property| property.required && property.constant.is_none());
    if needed { "" } else { "?" }
}

/// A text whose lines stand further to the right.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
