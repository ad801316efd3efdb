//! SDKs for Python.

use crate::names::{identifier, python_argument, snake_case};
use crate::{Class, Files, Module, Origin, Sdk, below, modules, objects, with_those_above};
use drystone_plugins::schema::{Function, ObjectType, Package, Property, Resource, SchemaError, Type};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// What every SDK has beside its own classes.
const HELPERS: &str = include_str!("python/package.py");
/// What builds an SDK.
const BUILD: &str = include_str!("python/build.py");

/// The files of a package's SDK.
pub fn python(package: &Arc<Package>, origin: &Origin) -> Result<Files, SchemaError> {
    let modules = modules(package, Sdk::Python)?;
    let root = Sdk::Python.import_path(&package.name, Some(package));
    // It is a folder, and stands in code as it is.
    if identifier(&root) != root {
        return Err(SchemaError(format!("`{root}` cannot be the name of a package in Python")));
    }
    let generator = Generator { package, root: &root };
    let provider = package.resource(&format!("pulumi:providers:{}", package.name))?;
    let mut parts: BTreeMap<Vec<String>, Part<'_>> = modules
        .iter()
        .map(|(path, module)| (path.clone(), Part { module: Some(module), ..Part::default() }))
        .collect();
    let (inputs, outputs) = objects(&modules, &provider);
    for (token, object) in inputs.iter() {
        let class = Sdk::Python.class(token, Some(package));
        parts.entry(class.modules.clone()).or_default().inputs.push((class, object));
    }
    for (token, object) in outputs.iter() {
        let class = Sdk::Python.class(token, Some(package));
        parts.entry(class.modules.clone()).or_default().outputs.push((class, object));
    }
    with_those_above(&mut parts);
    let mut files = Files::new();
    files.insert("pyproject.toml".to_owned(), PROJECT.to_owned());
    files.insert("_build.py".to_owned(), build(package, &root));
    files.insert(format!("{root}/pulumi-plugin.json"), note(package, origin));
    files.insert(format!("{root}/py.typed"), String::new());
    files.insert(format!("{root}/_package.py"), helpers(package, origin));
    for (path, part) in &parts {
        let folder: String = path.iter().map(|name| format!("{name}/")).collect();
        let folder = format!("{root}/{folder}");
        let own = path.is_empty().then_some(provider.as_ref());
        let inner = below(&parts, path);
        files.insert(format!("{folder}__init__.py"), generator.module(part, &inner, own));
        files.insert(format!("{folder}_inputs.py"), generator.objects(&part.inputs, Side::Input));
        files.insert(format!("{folder}outputs.py"), generator.objects(&part.outputs, Side::Output));
    }
    Ok(files)
}

/// A module with the objects that are in it.
#[derive(Default)]
struct Part<'a> {
    module: Option<&'a Module>,
    inputs: Vec<(Class, &'a ObjectType)>,
    outputs: Vec<(Class, &'a ObjectType)>,
}

/// What the installer reads: the package builds itself.
const PROJECT: &str = "[build-system]\nrequires = []\nbuild-backend = \"_build\"\nbackend-path = [\".\"]\n";

/// What builds the package.
fn build(package: &Package, root: &str) -> String {
    let about = format!(
        "NAME = {}\nVERSION = {}\nREQUIRES = [\"pulumi>=3.142.0,<4.0.0\"]\n",
        quoted(root),
        quoted(&release(&package.version)),
    );
    BUILD.replace("# about\n", &about)
}

/// A version as Python writes it: `1.2.3a4` for `1.2.3-alpha.4`. One that Python cannot write is that of development.
fn release(version: &str) -> String {
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let numbers = if numbers.is_empty() { "0.0.0" } else { numbers };
    let before = rest.strip_prefix('-').and_then(|rest| rest.split('+').next()).unwrap_or_default();
    if before.is_empty() {
        return numbers.to_owned();
    }
    let marks = [("alpha", "a"), ("beta", "b"), ("rc", "rc")];
    let mark = marks.iter().find_map(|(name, mark)| {
        let number = before.strip_prefix(name)?.trim_start_matches('.');
        let number = if number.is_empty() { "0" } else { number };
        number.bytes().all(|digit| digit.is_ascii_digit()).then(|| format!("{numbers}{mark}{number}"))
    });
    mark.unwrap_or_else(|| format!("{numbers}.dev0"))
}

/// What the engine reads of an installed package.
fn note(package: &Package, origin: &Origin) -> String {
    let mut note = serde_json::json!({ "resource": true, "name": origin.plugin });
    for (member, text) in [("version", &origin.version), ("server", &origin.server)] {
        if !text.is_empty() {
            note[member] = Value::from(text.as_str());
        }
    }
    if let Some(value) = &origin.parameter {
        note["parameterization"] =
            serde_json::json!({ "name": package.name, "version": package.version, "value": value });
    }
    serde_json::to_string_pretty(&note).unwrap_or_default() + "\n"
}

fn helpers(package: &Package, origin: &Origin) -> String {
    let parameter = origin.parameter.as_deref().map_or_else(|| "None".to_owned(), quoted);
    let about = format!(
        "NAME = {}\nVERSION = {}\nPLUGIN = {}\nPLUGIN_VERSION = {}\nSERVER = {}\nPARAMETER = {parameter}\n",
        quoted(&package.name),
        quoted(&package.version),
        quoted(&origin.plugin),
        quoted(&origin.version),
        quoted(&origin.server),
    );
    HELPERS.replace("# about\n", &about)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

struct Generator<'a> {
    package: &'a Arc<Package>,
    /// The package as programs import it.
    root: &'a str,
}

const HEAD: &str = "from typing import Any, Mapping, Optional, Sequence, Union\nimport pulumi\n";

impl Generator<'_> {
    fn module(&self, part: &Part<'_>, inner: &[&str], provider: Option<&Resource>) -> String {
        let root = self.root;
        let mut text = format!(
            "{HEAD}import {root}\nfrom {root} import _package\nfrom . import outputs\nfrom ._inputs import *\n"
        );
        for (class, resource) in part.module.iter().flat_map(|module| &module.resources) {
            self.resource(&mut text, &class.name, resource);
        }
        if let Some(provider) = provider {
            self.provider(&mut text, provider);
        }
        for (class, function) in part.module.iter().flat_map(|module| &module.functions) {
            self.function(&mut text, class, function);
        }
        for inner in inner {
            let _ = writeln!(text, "from . import {inner}");
        }
        text
    }

    /// A class of values that are given.
    fn input_class(&self, text: &mut String, name: &str, properties: &BTreeMap<String, Property>) {
        let (required, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(_, property)| property.required && property.constant.is_none());
        let _ = write!(text, "\n\n@pulumi.input_type\nclass {name}:\n    def __init__(__self__");
        if !properties.is_empty() {
            text.push_str(", *");
        }
        for (property, described) in &required {
            let _ = write!(text, ", {}: {}", python_argument(property), self.input(described));
        }
        for (property, described) in &optional {
            let _ =
                write!(text, ", {}: Optional[{}] = None", python_argument(property), self.input(described));
        }
        text.push_str("):\n");
        if properties.is_empty() {
            text.push_str("        pass\n");
        }
        for (property, _) in &required {
            let (key, argument) = (snake_case(property), python_argument(property));
            let _ = writeln!(text, "        pulumi.set(__self__, {}, {argument})", quoted(&key));
        }
        for (property, described) in &optional {
            let (key, argument) = (snake_case(property), python_argument(property));
            if let Some(value) = described.constant.as_ref() {
                let _ = writeln!(text, "        {argument} = {}", literal(value));
            } else if let Some(value) = described.default.as_ref() {
                let _ = writeln!(
                    text,
                    "        if {argument} is None:\n            {argument} = {}",
                    literal(value)
                );
            }
            let _ = writeln!(
                text,
                "        if {argument} is not None:\n            pulumi.set(__self__, {}, {argument})",
                quoted(&key)
            );
        }
        for (property, described) in properties {
            let key = snake_case(property);
            let kind = self.input(described);
            let kind = if described.required { kind } else { format!("Optional[{kind}]") };
            let _ = write!(
                text,
                "
    @property
    @pulumi.getter(name={})
    def {key}(self) -> {kind}:
        return pulumi.get(self, {key_text})

    @{key}.setter
    def {key}(self, value):
        pulumi.set(self, {key_text}, value)
",
                quoted(property),
                key_text = quoted(&key),
            );
        }
    }

    /// A class of values that come back.
    fn output_class(&self, text: &mut String, name: &str, properties: &BTreeMap<String, Property>) {
        let _ = write!(text, "\n\n@pulumi.output_type\nclass {name}(dict):\n    def __init__(__self__");
        if !properties.is_empty() {
            text.push_str(", *");
        }
        for property in properties.keys() {
            let _ = write!(text, ", {}=None", python_argument(property));
        }
        text.push_str("):\n");
        if properties.is_empty() {
            text.push_str("        pass\n");
        }
        for property in properties.keys() {
            let (key, argument) = (snake_case(property), python_argument(property));
            let _ = writeln!(
                text,
                "        if {argument} is not None:\n            pulumi.set(__self__, {}, {argument})",
                quoted(&key)
            );
        }
        for (property, described) in properties {
            self.getter(text, property, &self.output(described));
        }
    }

    fn getter(&self, text: &mut String, property: &str, kind: &str) {
        let key = snake_case(property);
        let _ = write!(
            text,
            "
    @property
    @pulumi.getter(name={})
    def {key}(self) -> {kind}:
        return pulumi.get(self, {})
",
            quoted(property),
            quoted(&key)
        );
    }

    fn resource(&self, text: &mut String, name: &str, resource: &Resource) {
        self.input_class(text, &format!("{name}Args"), &resource.inputs);
        let state: BTreeMap<String, Property> = resource
            .outputs
            .iter()
            .map(|(name, property)| {
                let property =
                    Property { required: false, default: None, constant: None, ..property.clone() };
                (name.clone(), property)
            })
            .collect();
        if !resource.is_component {
            self.input_class(text, &format!("_{name}State"), &state);
        }
        let base = if resource.is_component { "ComponentResource" } else { "CustomResource" };
        let _ = write!(
            text,
            "\n\nclass {name}(pulumi.{base}):
    def __init__(__self__, resource_name: str, *args, **kwargs):
        given, opts = _package.arguments({name}Args, *args, **kwargs)
        made = _package.made({name}Args, given, {outputs}, {secrets})
        super().__init__(
            {token},
            resource_name,
            made,
            _package.options(opts, aliases={aliases}, secrets={secret_outputs}, replace_on_changes={replacing}),
            {remote}package_ref=_package.reference(),
        )
",
            outputs = list(resource.outputs.keys().map(|name| snake_case(name))),
            secrets = list(secrets(&resource.inputs)),
            token = quoted(&resource.token),
            aliases = list(resource.aliases.iter().cloned()),
            secret_outputs = list(secrets(&resource.outputs)),
            replacing = list(resource.replace_on_changes()),
            remote = if resource.is_component { "remote=True, " } else { "" },
        );
        if !resource.is_component {
            let _ = write!(
                text,
                "
    @staticmethod
    def get(resource_name: str, id: pulumi.Input[str], opts: Optional[pulumi.ResourceOptions] = None, **state) -> \"{name}\":
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(id=id))
        found = _{name}State.__new__(_{name}State)
        found.__dict__.update({{key: state.get(key) for key in {}}})
        resource = {name}.__new__({name})
        pulumi.CustomResource.__init__(
            resource, {}, resource_name, found, _package.options(opts), package_ref=_package.reference()
        )
        return resource
",
                list(resource.outputs.keys().map(|name| snake_case(name))),
                quoted(&resource.token),
            );
        }
        for (property, described) in
            resource.outputs.iter().filter(|(name, _)| !["id", "urn"].contains(&name.as_str()))
        {
            self.getter(text, property, &format!("pulumi.Output[{}]", self.output(described)));
        }
        let _ = writeln!(text, "\n\n_package.register({name}, {})", quoted(&resource.token));
    }

    fn provider(&self, text: &mut String, provider: &Resource) {
        self.input_class(text, "ProviderArgs", &provider.inputs);
        let texts = provider.inputs.iter().filter(|(_, property)| matches!(property.kind, Type::String));
        let _ = write!(
            text,
            "\n\nclass Provider(pulumi.ProviderResource):
    def __init__(__self__, resource_name: str, *args, **kwargs):
        given, opts = _package.arguments(ProviderArgs, *args, **kwargs)
        made = _package.configured(_package.made(ProviderArgs, given, [], {}), {})
        super().__init__(_package.NAME, resource_name, made, _package.options(opts), package_ref=_package.reference())


_package.register_provider(Provider)
",
            list(secrets(&provider.inputs)),
            list(texts.map(|(name, _)| snake_case(name))),
        );
    }

    fn function(&self, text: &mut String, class: &Class, function: &Function) {
        let name = snake_case(&class.name);
        let arguments: String = function
            .inputs
            .iter()
            .map(|(property, described)| {
                format!("{}: Optional[{}] = None, ", python_argument(property), self.input(described))
            })
            .collect();
        let given: String = function
            .inputs
            .keys()
            .map(|property| format!("{}: {}, ", quoted(property), python_argument(property)))
            .collect();
        let (result, single) = match (&function.single, &function.outputs) {
            (Some(_), _) => ("None".to_owned(), "_single"),
            (None, outputs) => {
                let result = format!("{}Result", class.name);
                let properties = outputs.as_ref().map(|object| object.properties()).unwrap_or_default();
                self.output_class(text, &result, &properties);
                (result, "")
            }
        };
        let token = quoted(&function.token);
        let _ = write!(
            text,
            "\n\ndef {name}({arguments}opts: Optional[pulumi.InvokeOptions] = None):
    return pulumi.runtime.invoke{single}(
        {token}, {{{given}}}, opts=_package.invoke_options(opts), typ={result}, package_ref=_package.reference()
    ).value


def {name}_output({arguments}opts: Optional[Union[pulumi.InvokeOptions, pulumi.InvokeOutputOptions]] = None):
    return pulumi.runtime.invoke_output{single}(
        {token}, {{{given}}}, opts=_package.invoke_options(opts), typ={result}, package_ref=_package.reference()
    )
"
        );
    }

    fn objects(&self, objects: &[(Class, &ObjectType)], side: Side) -> String {
        let mut text = format!("{HEAD}import {}\n", self.root);
        for (class, object) in objects {
            match side {
                Side::Input => {
                    self.input_class(&mut text, &format!("{}Args", class.name), &object.properties());
                }
                Side::Output => self.output_class(&mut text, &class.name, &object.properties()),
            }
        }
        text
    }

    fn input(&self, property: &Property) -> String {
        let kind = self.kind(&property.kind, Side::Input);
        if property.plain { kind } else { format!("pulumi.Input[{kind}]") }
    }

    fn output(&self, property: &Property) -> String {
        let kind = self.kind(&property.kind, Side::Output);
        if property.required { kind } else { format!("Optional[{kind}]") }
    }

    fn kind(&self, kind: &Type, side: Side) -> String {
        let inner = |kind: &Type| {
            let text = self.kind(kind, side);
            if side == Side::Input { format!("pulumi.Input[{text}]") } else { text }
        };
        match kind {
            Type::Any | Type::Unknown => "Any".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Integer => "int".to_owned(),
            Type::Number => "float".to_owned(),
            Type::String => "str".to_owned(),
            Type::Asset => "Union[pulumi.Asset, pulumi.Archive]".to_owned(),
            Type::Archive => "pulumi.Archive".to_owned(),
            Type::AnyResource => "pulumi.Resource".to_owned(),
            Type::Array(element) => format!("Sequence[{}]", inner(element)),
            Type::Map(element) => format!("Mapping[str, {}]", inner(element)),
            Type::Union(union) => {
                let kinds: Vec<String> = union.types.iter().map(|kind| self.kind(kind, side)).collect();
                format!("Union[{}]", kinds.join(", "))
            }
            Type::Enum { element, .. } => self.kind(element, side),
            Type::Object(object) if object.token.is_empty() => "Any".to_owned(),
            Type::Object(object) => {
                let Class { modules, name, .. } = Sdk::Python.class(&object.token, Some(self.package));
                let path: String = modules.iter().map(|module| format!("{module}.")).collect();
                match side {
                    Side::Input => format!("\"{}.{path}{name}Args\"", self.root),
                    Side::Output => format!("\"{}.{path}outputs.{name}\"", self.root),
                }
            }
            Type::Resource(resource) => {
                let Class { modules, name, .. } = Sdk::Python.class(&resource.token, Some(self.package));
                let path: String = modules.iter().map(|module| format!("{module}.")).collect();
                format!("\"{}.{path}{name}\"", self.root)
            }
        }
    }
}

fn secrets(properties: &BTreeMap<String, Property>) -> impl Iterator<Item = String> {
    properties.iter().filter(|(_, property)| property.secret).map(|(name, _)| snake_case(name))
}

fn list(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| quoted(&text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A plain value.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A text, quoted; JSON's escapes are Python's, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn versions_are_written_as_python_writes_them() {
        for (version, python) in [
            ("1.2.3", "1.2.3"),
            ("1.2.3+build", "1.2.3"),
            ("1.2.3-alpha.4", "1.2.3a4"),
            ("1.2.3-beta", "1.2.3b0"),
            ("1.2.3-rc.1+x", "1.2.3rc1"),
            ("1.2.3-x0123", "1.2.3.dev0"),
            ("", "0.0.0"),
        ] {
            assert_eq!(release(version), python, "{version}");
        }
    }
}
