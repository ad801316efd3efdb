//! What the state says of what was taken over.

use super::expression::ObjectForm;
use super::link::{Origins, link};
use super::shape::{Known, Shaped, plain, shape};
use super::{Declaration, Form, Options, Program, Said, Schemas};
use crate::context::secrets_failure;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_dialects::pulumi::properties::decode_properties;
use drystone_engine::{PackageDescriptor, PropertyMap, SecretText, provider_package};
use drystone_model::{
    Properties, ProviderReference, ROOT_STACK_TYPE, Resource, Snapshot, Urn, Value, is_default_provider,
    is_provider_type,
};
use drystone_plugins::schema::{Package, Resource as Schema};
use drystone_sdks::package_of;
use drystone_secrets::{Manager, Reuse, Sealer};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Outputs that other resources often have among their inputs.
const TELLING_OUTPUTS: [&str; 2] = ["name", "arn"];

/// A stack with what was taken over.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands::operations::import) struct Taken<'a> {
    pub(in crate::commands::operations::import) snapshot: &'a Snapshot,
    /// What was taken over, in the order of the list.
    pub(in crate::commands::operations::import) said: &'a [(Urn, Said)],
    /// What the list calls things that the stack had before.
    pub(in crate::commands::operations::import) elsewhere: &'a BTreeMap<Urn, String>,
}

impl<'a> Taken<'a> {
    fn live(&self) -> HashMap<&'a Urn, &'a Resource> {
        let live = self.snapshot.resources.iter().filter(|resource| !resource.delete);
        live.map(|resource| (&resource.urn, resource)).collect()
    }

    /// The packages of what was taken over.
    pub(in crate::commands::operations::import) fn packages(&self) -> BTreeSet<PackageDescriptor> {
        let live = self.live();
        let taken = self.said.iter().filter_map(|(urn, _)| live.get(urn));
        taken.filter_map(|resource| package(&live, resource)).collect()
    }
}

/// The plugin that a resource is of, as its provider says.
fn package(live: &HashMap<&Urn, &Resource>, resource: &Resource) -> Option<PackageDescriptor> {
    let provider = match is_provider_type(&resource.type_token) {
        true => resource,
        false => live.get(&ProviderReference::parse(&resource.provider)?.urn)?,
    };
    provider_package(&provider.urn, &decode_properties(&provider.inputs).ok()?).ok()
}

impl Program {
    /// What the program has to declare. Secrets are opened by `secrets`, where somebody is to see them.
    pub(in crate::commands::operations::import) fn of(
        taken: Taken<'_>,
        schemas: &Schemas,
        secrets: Option<&Manager>,
    ) -> Outcome<Self> {
        let sealer = secrets.map(|manager| Sealer::new(manager, Reuse::On));
        let sealer = sealer.transpose().map_err(|error| Failure::new(ExitCode::Internal, error))?;
        let mut declaring = Declaring {
            live: taken.live(),
            schemas,
            sealer,
            origins: Origins::default(),
            made: BTreeMap::new(),
            without_schema: BTreeMap::new(),
        };
        let mut program = Self { elsewhere: taken.elsewhere.clone(), ..Self::default() };
        for (urn, said) in taken.said {
            if let Some(resource) = declaring.live.get(urn).copied() {
                program.declarations.push(declaring.declare(resource, said)?);
            }
        }
        for urn in taken.elsewhere.keys() {
            declaring.note_id(urn);
        }
        let declared: HashSet<&Urn> = program.declarations.iter().map(|declared| &declared.urn).collect();
        for urn in program.declarations.iter().flat_map(|declared| declared.options.resources()) {
            if !declared.contains(urn) && !program.elsewhere.contains_key(urn) {
                program.elsewhere.insert(urn.clone(), urn.name().to_owned());
            }
        }
        link(&mut program, &declaring.origins);
        program.forget_unused();
        program.remarks.extend(declaring.made.into_iter().map(|(package, plugin)| {
            format!(
                "The program needs the package `{package}`, which the plugin `{plugin}` makes of a parameter."
            )
        }));
        program.remarks.extend(declaring.without_schema.into_iter().map(|(package, reason)| {
            format!("Written without the schema of `{package}`, with names as packages usually have them: {reason}")
        }));
        Ok(program)
    }

    /// Forgets what the program has and nothing refers to.
    fn forget_unused(&mut self) {
        let mut used: HashSet<&Urn> = HashSet::new();
        for declared in &self.declarations {
            used.extend(declared.options.resources());
            declared.inputs.iter().for_each(|(_, input)| {
                input.resources(&mut |urn| {
                    used.insert(urn);
                });
            });
        }
        self.elsewhere.retain(|urn, _| used.contains(urn));
    }
}

/// A resource's type as its package has it.
struct Type {
    package: Arc<Package>,
    schema: Arc<Schema>,
}

struct Declaring<'a> {
    live: HashMap<&'a Urn, &'a Resource>,
    schemas: &'a Schemas,
    sealer: Option<Sealer>,
    origins: Origins,
    /// Packages that plugins make of parameters, and the plugins.
    made: BTreeMap<String, String>,
    /// Why packages are written without their schemas.
    without_schema: BTreeMap<String, String>,
}

impl Declaring<'_> {
    fn declare(&mut self, resource: &Resource, said: &Said) -> Outcome<Declaration> {
        let is_component = !resource.custom && resource.provider.is_empty();
        let mut declared = Declaration {
            urn: resource.urn.clone(),
            called: if said.name.is_empty() { resource.urn.name().to_owned() } else { said.name.clone() },
            form: if is_component { Form::Component } else { Form::Resource },
            type_token: resource.type_token.clone(),
            name: resource.urn.name().to_owned(),
            inputs: Vec::new(),
            options: options(resource, said),
            remarks: Vec::new(),
            schema: None,
        };
        if is_component {
            return Ok(declared);
        }
        let known = self.schema(resource);
        let shaped = self.shape(resource, known.as_ref())?;
        declared.remarks = remarks(&shaped);
        if declared.options.provider.is_none()
            && let Some(provider) = self.inherited(resource)
        {
            declared.remarks.push(format!(
                "In a program it has the provider of its parent, {provider}, and in the state the default one: import it \
                 with that provider instead"
            ));
        }
        declared.inputs = shaped.inputs;
        self.note_id(&resource.urn);
        if let Some(Type { package, schema }) = known {
            self.note_outputs(resource, &schema)?;
            declared.schema = Some(package);
        }
        Ok(declared)
    }

    /// The explicit provider that programs take for a resource because one above it has it.
    fn inherited(&self, resource: &Resource) -> Option<Urn> {
        let package = package_of(&resource.type_token);
        let mut parent = self.live.get(&resource.parent);
        // No chain of parents is longer than the state.
        for _ in 0..self.live.len() {
            let above = parent?;
            let provider = ProviderReference::parse(&above.provider).map(|reference| reference.urn);
            let explicit = provider.filter(|urn| !is_default_provider(urn));
            if let Some(urn) = explicit.filter(|urn| package_of(urn.type_token()) == package) {
                return Some(urn);
            }
            parent = self.live.get(&above.parent);
        }
        None
    }

    /// What the schema says of a resource's type. Where there is none, why is noted.
    fn schema(&mut self, resource: &Resource) -> Option<Type> {
        let token = &resource.type_token;
        let package = package(&self.live, resource);
        if let Some(PackageDescriptor { name, parameterization: Some(made), .. }) = &package {
            self.made.insert(made.name.clone(), name.clone());
        }
        let found = match package {
            None => Err("its provider is not in the state".to_owned()),
            Some(package) => self.schemas.of(&package).map_err(str::to_owned).and_then(|package| {
                let schema = package.resource(token).map_err(|error| error.to_string())?;
                Ok(Type { package: Arc::clone(package), schema })
            }),
        };
        found
            .inspect_err(|reason| {
                self.without_schema.entry(package_of(token).to_owned()).or_insert_with(|| reason.clone());
            })
            .ok()
    }

    fn shape(&self, resource: &Resource, known: Option<&Type>) -> Outcome<Shaped> {
        let is_provider = is_provider_type(&resource.type_token);
        let schema = known.map(|known| known.schema.as_ref());
        let mut inputs = self.decode(resource, &resource.inputs)?;
        if is_provider {
            // Which plugin it is belongs to the engine, unless the provider has a setting of that name.
            let is_engines = inputs.contains_key("__internal");
            let is_setting = |key: &str| schema.is_some_and(|schema| schema.inputs.contains_key(key));
            inputs.retain(|key, _| {
                !matches!(key.as_str(), "version" | "pluginDownloadURL") || (!is_engines && is_setting(key))
            });
        }
        self.open(&mut inputs)?;
        let Some(Type { package, schema }) = known else { return Ok(plain(&inputs)) };
        let is_needed = |name: &str| {
            !inputs.contains_key(name) && schema.inputs.get(name).is_some_and(|property| property.required)
        };
        let mut outputs = PropertyMap::new();
        if schema.inputs.keys().any(|name| is_needed(name)) {
            outputs = self.decode(resource, &resource.outputs)?;
            outputs.retain(|name, _| is_needed(name));
            self.open(&mut outputs)?;
        }
        let form = match package.language("python").input_types.as_str() {
            "classes" => ObjectForm::Class,
            _ => ObjectForm::Dictionary,
        };
        Ok(shape(schema, Known { inputs: &inputs, outputs: &outputs, is_provider, form }))
    }

    fn decode(&self, resource: &Resource, properties: &Properties) -> Outcome<PropertyMap> {
        decode_properties(properties).map_err(|error| {
            Failure::new(ExitCode::Internal, format!("the state of {}: {error}", resource.urn))
        })
    }

    fn open(&self, properties: &mut PropertyMap) -> Outcome {
        let Some(sealer) = &self.sealer else { return Ok(()) };
        let mut places: Vec<(&str, &mut Value)> =
            properties.iter_mut().map(|(key, value)| (key.as_str(), value)).collect();
        sealer.open_values(&SecretText, &mut places).map_err(secrets_failure)
    }

    /// Notes what a resource's provider calls it.
    fn note_id(&mut self, urn: &Urn) {
        if let Some(resource) = self.live.get(urn)
            && resource.custom
            && !is_provider_type(&resource.type_token)
        {
            self.origins.add(urn, "id", &resource.id);
        }
    }

    /// Notes what else a resource is known by, where programs can count on it: TypeScript does not take a value for a text
    /// that may not be there.
    fn note_outputs(&mut self, resource: &Resource, schema: &Schema) -> Outcome {
        let outputs = self.decode(resource, &resource.outputs)?;
        for name in TELLING_OUTPUTS {
            if let Some(Value::String(text)) = outputs.get(name)
                && schema.outputs.get(name).is_some_and(|output| output.required)
                && !is_provider_type(&resource.type_token)
            {
                self.origins.add(&resource.urn, name, text);
            }
        }
        Ok(())
    }
}

fn options(resource: &Resource, said: &Said) -> Options {
    let is_stack = |urn: &Urn| urn.is_empty() || urn.qualified_type() == ROOT_STACK_TYPE;
    let given = |urn: &Urn| (!is_stack(urn)).then(|| urn.clone());
    let provider = ProviderReference::parse(&resource.provider).map(|reference| reference.urn);
    let provider = provider.filter(|urn| !is_default_provider(urn));
    // The plugin of an explicit provider is said there, and that of a parameterised package by its SDK.
    let is_said = provider.is_none() && said.package.parameterization.is_none();
    let text = |text: &String| if is_said { text.clone() } else { String::new() };
    Options {
        parent: given(&resource.parent),
        provider,
        depends_on: resource.dependencies.iter().filter_map(given).collect(),
        protect: resource.protect,
        retain_on_delete: resource.retain_on_delete,
        ignore_changes: resource.ignore_changes.clone(),
        deleted_with: given(&resource.deleted_with),
        replace_with: resource.replace_with.iter().filter_map(given).collect(),
        version: text(&said.package.version),
        download_url: text(&said.package.download_url),
    }
}

/// What the reader is told of inputs that are not as the state has them.
fn remarks(shaped: &Shaped) -> Vec<String> {
    let said = [
        ("The provider returned it and the schema does not have it, so it is left out", &shaped.left_out),
        ("The schema requires it and the provider did not return it, so fill it in", &shaped.missing),
        ("It is not text, which code cannot say, so see to it", &shaped.unsayable),
    ];
    let said = said.into_iter().filter(|(_, names)| !names.is_empty());
    said.map(|(text, names)| format!("{text}: {}", names.join(", "))).collect()
}
