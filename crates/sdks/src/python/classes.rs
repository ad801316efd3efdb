//! The classes of an SDK for Python.

use super::{list, literal, python_names, quoted};
use crate::names::{capitalized, identifier, python_argument, snake_case};
use crate::{Answer, Class, Kind, Method, Module, Sdk};
use drystone_plugins::schema::{Function, ObjectType, Package, Property, Type};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// Writes the files of modules.
pub(super) struct Writer<'a> {
    pub(super) package: &'a Package,
    /// The package as programs import it.
    pub(super) root: &'a str,
}

/// What files start with. What Python has itself goes by names that no property and no class has.
const HEAD: &str = "import builtins as _builtins\nimport typing as _typing\nimport pulumi\n";

impl Writer<'_> {
    /// A module; one that only has types is none of the schema's.
    pub(super) fn module(&self, module: Option<&Module>, inner: &[&str]) -> String {
        let root = self.root;
        let mut text = format!(
            "{HEAD}import {root}\nfrom {root} import _package\nfrom . import outputs\nfrom ._enums import *\nfrom ._inputs import *\n"
        );
        if let Some(module) = module {
            for kind in &module.kinds {
                self.resource(&mut text, kind);
            }
            if let Some(provider) = &module.provider {
                self.provider(&mut text, provider);
            }
            for (class, function) in &module.functions {
                self.function(&mut text, class, function);
            }
        }
        for inner in inner {
            let _ = writeln!(text, "from . import {inner}");
        }
        if let Some(module) = module.filter(|module| !module.config.is_empty()) {
            self.configuration(&mut text, &module.config);
        }
        text
    }

    /// What is configured, asked for when it is needed: a module's own class can have properties.
    fn configuration(&self, text: &mut String, config: &BTreeMap<String, Property>) {
        text.push_str(
            "import sys as _sys\nimport types as _types\n\n\nclass _Configuration(_types.ModuleType):\n",
        );
        for (name, property) in config {
            let kind = plain_type(&property.kind);
            let hint = match &property.default {
                Some(_) => kind.to_owned(),
                None => format!("_typing.Optional[{kind}]"),
            };
            let _ = write!(
                text,
                "    @_builtins.property
    def {}(self) -> {hint}:
        return _package.configured({}, {kind}, {})

",
                snake_case(&identifier(name)),
                quoted(name),
                left_out(property).unwrap_or_else(|| "[], None".to_owned()),
            );
        }
        text.push_str("\n_sys.modules[__name__].__class__ = _Configuration\n");
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
            let _ = write!(
                text,
                ", {}: _typing.Optional[{}] = None",
                python_argument(property),
                self.input(described)
            );
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
            } else if let Some(usual) = left_out(described) {
                let kind = plain_type(&described.kind);
                let _ = writeln!(
                    text,
                    "        if {argument} is None:\n            {argument} = _package.usually({kind}, {usual})"
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
            let kind = if described.required { kind } else { format!("_typing.Optional[{kind}]") };
            let _ = write!(
                text,
                "
    @_builtins.property
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
        let _ =
            write!(text, "\n\n@pulumi.output_type\nclass {name}(_builtins.dict):\n    def __init__(__self__");
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
    @_builtins.property
    @pulumi.getter(name={})
    def {key}(self) -> {kind}:
        return pulumi.get(self, {})
",
            quoted(property),
            quoted(&key)
        );
    }

    fn resource(&self, text: &mut String, kind: &Kind) {
        let Kind { class: Class { name, .. }, resource, .. } = kind;
        self.input_class(text, &format!("{name}Args"), &resource.inputs);
        let state: BTreeMap<String, Property> = resource
            .outputs
            .iter()
            .map(|(name, property)| {
                let property =
                    Property { required: false, constant: None, ..Property::optional(property.kind.clone()) };
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
    def __init__(__self__, resource_name: _builtins.str, *args, **kwargs):
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
            outputs = python_names(resource.outputs.keys()),
            secrets = secrets(&resource.inputs),
            token = quoted(&resource.token),
            aliases = list(resource.aliases.iter().cloned()),
            secret_outputs = secrets(&resource.outputs),
            replacing = list(resource.replace_on_changes()),
            remote = if resource.is_component { "remote=True, " } else { "" },
        );
        if !resource.is_component {
            let _ = write!(
                text,
                "
    @_builtins.staticmethod
    def get(resource_name: _builtins.str, id: pulumi.Input[_builtins.str], opts: _typing.Optional[pulumi.ResourceOptions] = None, **state) -> \"{name}\":
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(id=id))
        found = _{name}State.__new__(_{name}State)
        found.__dict__.update({{key: state.get(key) for key in {}}})
        resource = {name}.__new__({name})
        pulumi.CustomResource.__init__(
            resource, {}, resource_name, found, _package.options(opts), package_ref=_package.reference()
        )
        return resource
",
                python_names(resource.outputs.keys()),
                quoted(&resource.token),
            );
        }
        for (property, described) in
            resource.outputs.iter().filter(|(name, _)| !["id", "urn"].contains(&name.as_str()))
        {
            self.getter(text, property, &format!("pulumi.Output[{}]", self.output(described)));
        }
        self.methods(text, kind);
        let _ = writeln!(text, "\n\n_package.register({name}, {})", quoted(&resource.token));
    }

    /// The methods of a class, and behind it the classes of what they give.
    fn methods(&self, text: &mut String, kind: &Kind) {
        let class = &kind.class.name;
        let result_name = |method: &Method| capitalized(&identifier(&method.name)) + "Result";
        for method in &kind.methods {
            self.method(text, method, &format!("_{class}{}", result_name(method)));
        }
        for method in &kind.methods {
            let properties = match &method.answer {
                Answer::Nothing | Answer::Single(_) => continue,
                Answer::Object(properties) => Arc::clone(properties),
                Answer::Property(name, property) => {
                    Arc::new(BTreeMap::from([(name.clone(), property.clone())]))
                }
            };
            let name = result_name(method);
            self.output_class(text, &format!("_{class}{name}"), &properties);
            let _ = write!(text, "\n\n{class}.{name} = _{class}{name}\n");
        }
    }

    fn method(&self, text: &mut String, method: &Method, result: &str) {
        let inputs = method.inputs();
        let (required, optional): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|(_, property)| property.required);
        let mut arguments = if inputs.is_empty() { String::new() } else { ", *".to_owned() };
        for (property, described) in required {
            let _ = write!(arguments, ", {}: {}", python_argument(property), self.input(described));
        }
        for (property, described) in optional {
            let (name, kind) = (python_argument(property), self.input(described));
            let _ = write!(arguments, ", {name}: _typing.Optional[{kind}] = None");
        }
        let given: Vec<String> = inputs
            .keys()
            .map(|property| format!("{}: {}", quoted(property), python_argument(property)))
            .collect();
        let (token, given) = (quoted(&method.function.token), given.join(", "));
        let given = format!("__self__, {token}, {{{given}}}");
        let called = match &method.answer {
            Answer::Nothing => format!("_package.call({given})"),
            Answer::Object(_) => format!("_package.call({given}, {result})"),
            Answer::Property(property, _) => {
                format!(
                    "_package.call({given}, {result}).apply(lambda answer: answer.{})",
                    snake_case(property)
                )
            }
            Answer::Single(_) => format!("_package.call_single({given})"),
        };
        let called = match method.function.plain {
            true => format!("_package.plain({token}, {called})"),
            false => called,
        };
        let _ = write!(
            text,
            "
    def {}(__self__{arguments}):
        return {called}
",
            snake_case(&identifier(&method.name)),
        );
    }

    fn provider(&self, text: &mut String, kind: &Kind) {
        let provider = &kind.resource;
        self.input_class(text, "ProviderArgs", &provider.inputs);
        let texts =
            provider.inputs.iter().filter(|(_, property)| plain_type(&property.kind) == "_builtins.str");
        let _ = write!(
            text,
            "\n\nclass Provider(pulumi.ProviderResource):
    def __init__(__self__, resource_name: _builtins.str, *args, **kwargs):
        given, opts = _package.arguments(ProviderArgs, *args, **kwargs)
        made = _package.written(_package.made(ProviderArgs, given, [], {}), {})
        super().__init__(_package.NAME, resource_name, made, _package.options(opts), package_ref=_package.reference())
",
            secrets(&provider.inputs),
            python_names(texts.map(|(name, _)| name)),
        );
        self.methods(text, kind);
        text.push_str("\n\n_package.register_provider(Provider)\n");
    }

    fn function(&self, text: &mut String, class: &Class, function: &Function) {
        let name = snake_case(&class.name);
        let arguments: String = function
            .inputs
            .iter()
            .map(|(property, described)| {
                format!("{}: _typing.Optional[{}] = None, ", python_argument(property), self.input(described))
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
            "\n\ndef {name}({arguments}opts: _typing.Optional[pulumi.InvokeOptions] = None):
    return pulumi.runtime.invoke{single}(
        {token}, {{{given}}}, opts=_package.invoke_options(opts), typ={result}, package_ref=_package.reference()
    ).value


def {name}_output({arguments}opts: _typing.Optional[_typing.Union[pulumi.InvokeOptions, pulumi.InvokeOutputOptions]] = None):
    return pulumi.runtime.invoke_output{single}(
        {token}, {{{given}}}, opts=_package.invoke_options(opts), typ={result}, package_ref=_package.reference()
    )
"
        );
    }

    /// The classes of objects that are given.
    pub(super) fn inputs(&self, objects: &[(Class, &Arc<ObjectType>)]) -> String {
        let mut text = format!("{HEAD}import {root}\nfrom {root} import _package\n", root = self.root);
        for (class, object) in objects {
            self.input_class(&mut text, &format!("{}Args", class.name), &object.properties());
        }
        text
    }

    /// The classes of objects that come back.
    pub(super) fn outputs(&self, objects: &[(Class, &Arc<ObjectType>)]) -> String {
        let mut text = format!("{HEAD}import {}\n", self.root);
        for (class, object) in objects {
            self.output_class(&mut text, &class.name, &object.properties());
        }
        text
    }

    fn input(&self, property: &Property) -> String {
        let kind = self.kind(&property.kind, Side::Input);
        if property.plain { kind } else { format!("pulumi.Input[{kind}]") }
    }

    fn output(&self, property: &Property) -> String {
        let kind = self.kind(&property.kind, Side::Output);
        if property.required { kind } else { format!("_typing.Optional[{kind}]") }
    }

    fn kind(&self, kind: &Type, side: Side) -> String {
        let inner = |kind: &Type| {
            let text = self.kind(kind, side);
            if side == Side::Input { format!("pulumi.Input[{text}]") } else { text }
        };
        match kind {
            Type::Any | Type::Unknown => "_typing.Any".to_owned(),
            Type::Bool => "_builtins.bool".to_owned(),
            Type::Integer => "_builtins.int".to_owned(),
            Type::Number => "_builtins.float".to_owned(),
            Type::String => "_builtins.str".to_owned(),
            Type::Asset => "_typing.Union[pulumi.Asset, pulumi.Archive]".to_owned(),
            Type::Archive => "pulumi.Archive".to_owned(),
            Type::AnyResource => "pulumi.Resource".to_owned(),
            Type::Array(element) => format!("_typing.Sequence[{}]", inner(element)),
            Type::Map(element) => format!("_typing.Mapping[_builtins.str, {}]", inner(element)),
            Type::Union(union) => {
                let kinds: Vec<String> = union.types.iter().map(|kind| self.kind(kind, side)).collect();
                format!("_typing.Union[{}]", kinds.join(", "))
            }
            Type::Enum { token, element, values } => {
                let plain = self.kind(element, side);
                let is_class = side == Side::Input && !values.is_empty();
                if is_class {
                    format!("_typing.Union[{plain}, {}]", self.named(token, "", ""))
                } else {
                    plain
                }
            }
            Type::Object(object) if object.token.is_empty() => "_typing.Any".to_owned(),
            Type::Object(object) => match side {
                Side::Input => self.named(&object.token, "", "Args"),
                Side::Output => self.named(&object.token, "outputs.", ""),
            },
            Type::Resource(resource) => self.named(&resource.token, "", ""),
        }
    }

    /// A class by its whole name, for when it is there.
    fn named(&self, token: &str, within: &str, ending: &str) -> String {
        let Class { modules, name, .. } = Sdk::Python.class(token, Some(self.package));
        let path: String = modules.iter().map(|module| format!("{module}.")).collect();
        format!("\"{}.{path}{within}{name}{ending}\"", self.root)
    }
}

/// The names of properties that are secrets.
fn secrets(properties: &BTreeMap<String, Property>) -> String {
    python_names(properties.iter().filter(|(_, property)| property.secret).map(|(name, _)| name))
}

/// What a property is when it is left out: environment variables and a value.
fn left_out(property: &Property) -> Option<String> {
    if property.default.is_none() && property.environment.is_empty() {
        return None;
    }
    let value = property.default.as_ref().map_or_else(|| "None".to_owned(), literal);
    Some(format!("{}, {value}", list(property.environment.iter().cloned())))
}

/// What a value is read as where it is written as a text.
fn plain_type(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "_builtins.bool",
        Type::Integer => "_builtins.int",
        Type::Number => "_builtins.float",
        Type::String => "_builtins.str",
        Type::Enum { element, .. } => plain_type(element),
        _ => "_builtins.object",
    }
}
