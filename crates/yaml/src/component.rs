//! Components in YAML: a plugin that is nothing but files, served in this process.

use crate::check::config_type;
use crate::diagnostics::{Diagnostic, Diagnostics, Source};
use crate::evaluate::{Ending, Evaluator, Given, Handle, Scope, State, Surroundings, component_inputs};
use crate::load::{self, Loaded};
use crate::packages::{Packages, declarations};
use crate::program::{Preparation, say};
use crate::template::{ConfigEntry, Form, Template};
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, ConstructArguments, Constructed, CreateArguments, DeleteArguments, Monitor,
    PackageDescriptor, Parameterization, Provider, ProviderError, ReadArguments, ReadState, RegisterRequest,
    UpdateArguments,
};
use drystone_model::Urn;
use drystone_plugins::schema::Type;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Gives the way into the operation that runs, if one does.
pub type MonitorSource = Arc<dyn Fn() -> Option<Monitor> + Send + Sync>;

/// The components of a plugin that is written in YAML.
pub struct YamlComponents {
    name: String,
    version: String,
    schema: String,
    components: BTreeMap<String, (Arc<Source>, Arc<Template>)>,
    declared: Vec<PackageDescriptor>,
    folder: PathBuf,
    /// The folder that the program runs in, which is what files are looked for in.
    directory: PathBuf,
    monitor: MonitorSource,
}

impl fmt::Debug for YamlComponents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YamlComponents")
            .field("name", &self.name)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl YamlComponents {
    /// Reads the plugin in a folder, for programs that run in another.
    pub fn load(folder: &Path, directory: &Path, monitor: MonitorSource) -> Result<Self, ProviderError> {
        let mut plugin = Self {
            name: String::new(),
            version: String::new(),
            schema: String::new(),
            components: BTreeMap::new(),
            declared: declarations(folder).map_err(|error| ProviderError::new(error.to_string()))?,
            folder: folder.to_owned(),
            directory: directory.to_owned(),
            monitor,
        };
        let mut description = String::new();
        let mut namespace = String::new();
        let mut exported = Vec::new();
        for path in files(folder)? {
            let Loaded { source, template, diagnostics } = read(&path)?;
            let mut diagnostics = diagnostics;
            plugin.refuse_programs(&template, &mut diagnostics);
            if diagnostics.has_errors() {
                return Err(ProviderError::new(rendered(&source, &diagnostics)));
            }
            let source = Arc::new(source);
            if let Some(name) = &template.name {
                if !plugin.name.is_empty() {
                    let problem = Diagnostic::error(name.span, "the plugin has a name already");
                    return Err(ProviderError::new(source.render(&problem)));
                }
                plugin.name = name.value.to_string();
            }
            let text = |text: &Option<crate::syntax::Text>| text.as_ref().map(|text| text.value.to_string());
            plugin.version = text(&template.version).unwrap_or(plugin.version);
            description = text(&template.description).unwrap_or(description);
            namespace = text(&template.namespace).unwrap_or(namespace);
            for component in template.components {
                let (name, span) = (component.key.value.to_string(), component.key.span);
                if plugin.components.contains_key(&name) {
                    let problem = Diagnostic::error(span, format!("duplicate component name {name}"));
                    return Err(ProviderError::new(source.render(&problem)));
                }
                exported.push((name.clone(), described(&component.template, &source)?));
                plugin.components.insert(name, (Arc::clone(&source), Arc::new(component.template)));
            }
        }
        if plugin.name.is_empty() {
            let problem = format!("{}: missing required `name` field", plugin.folder.display());
            return Err(ProviderError::new(problem));
        }
        let resources: serde_json::Map<String, Json> = exported
            .into_iter()
            .map(|(name, schema)| (format!("{}:index:{name}", plugin.name), schema))
            .collect();
        let version = if plugin.version.is_empty() { "0.0.0" } else { &plugin.version };
        plugin.schema = json!({
            "name": plugin.name, "version": version, "namespace": namespace, "description": description,
            "resources": resources,
        })
        .to_string();
        Ok(plugin)
    }

    /// A plugin has components, and nothing that is registered on its own.
    fn refuse_programs(&self, template: &Template, diagnostics: &mut Diagnostics) {
        let found = [
            ("config", template.config.first().map(|entry| entry.key.span)),
            ("variables", template.variables.first().map(|(key, _)| key.span)),
            ("resources", template.resources.first().map(|resource| resource.span)),
            ("outputs", template.outputs.first().map(|(key, _)| key.span)),
        ];
        for (field, span) in found {
            if let Some(span) = span {
                diagnostics.error(span, format!("root-level `{field}` is not supported in plugins"));
            }
        }
    }

    async fn build(&self, arguments: ConstructArguments) -> Result<Constructed, ProviderError> {
        let monitor = (self.monitor)().ok_or_else(|| ProviderError::new("no operation is running"))?;
        let name = arguments.type_token.rsplit(':').next().unwrap_or_default();
        let Some((source, template)) = self.components.get(name) else {
            return Err(ProviderError::new(format!("there is no component `{name}` in {}", self.name)));
        };
        let component = self.register(&monitor, &arguments).await?;
        let urn = component.wait().await.map(|state| state.urn.clone()).unwrap_or_default();
        let refer = |reference: &drystone_model::ResourceReference| reference_to(reference);
        let inputs = component_inputs(&arguments.inputs, &arguments.input_dependencies, &refer);
        let info = &arguments.info;
        let preparation = Preparation {
            monitor: &monitor,
            source,
            template,
            given: Given::inputs(inputs),
            surroundings: Surroundings {
                directory: self.directory.clone(),
                root: self.directory.clone(),
                organization: info.organization.clone(),
                project: info.project.clone(),
                stack: info.stack.clone(),
                version: String::new(),
                dry_run: info.dry_run,
            },
            scope: Scope { root: urn.clone(), component: Some(component), led_by: arguments.trace.clone() },
        };
        let packages = Packages::new(self.declared.clone());
        let (evaluator, order) = match preparation.finish(packages, Diagnostics::default()).await {
            Ok(prepared) => prepared,
            Err(diagnostics) => {
                say(&monitor, source, &diagnostics);
                return Err(failed(name));
            }
        };
        let _guard = evaluator.tasks().guard();
        self.evaluate(&evaluator, &order, urn, name).await
    }

    async fn evaluate(
        &self,
        evaluator: &Arc<Evaluator>,
        order: &[crate::graph::Step],
        urn: Urn,
        name: &str,
    ) -> Result<Constructed, ProviderError> {
        let outputs = evaluator.evaluate_all(order).await;
        evaluator.register_outputs(&urn, &outputs).await;
        let given = evaluator.given_outputs(&outputs).await;
        match (evaluator.finish().await, given) {
            (Ending::Done, Some((outputs, output_dependencies))) => {
                Ok(Constructed { urn, outputs, output_dependencies })
            }
            _ => Err(failed(name)),
        }
    }

    /// Registers the component itself, which what is in it has as its parent.
    async fn register(
        &self,
        monitor: &Monitor,
        arguments: &ConstructArguments,
    ) -> Result<Arc<Handle>, ProviderError> {
        let mut handle = Handle::new(&arguments.name, &arguments.type_token, None);
        handle.protect = arguments.options.protect;
        for (package, reference) in &arguments.providers {
            if let Some((urn, id)) = reference.rsplit_once("::") {
                let state = State { urn: Urn::new(urn), id: Some(id.to_owned()), outputs: BTreeMap::new() };
                handle.providers.insert(package.clone(), Arc::new(Handle::reference(state)));
            }
        }
        let mut dependencies: BTreeSet<Urn> = arguments.dependencies.iter().cloned().collect();
        dependencies.extend(arguments.input_dependencies.values().flatten().cloned());
        let request = RegisterRequest {
            type_token: arguments.type_token.clone(),
            name: arguments.name.clone(),
            properties: arguments.inputs.clone(),
            dependencies: dependencies.into_iter().collect(),
            property_dependencies: arguments.input_dependencies.clone(),
            parent: arguments.parent.clone(),
            providers: arguments.providers.clone(),
            options: arguments.options.clone(),
            led_by: arguments.trace.clone(),
            ..RegisterRequest::default()
        };
        let registered =
            monitor.register(request).await.map_err(|error| ProviderError::new(error.message))?;
        handle.settle(Ok(State { urn: registered.urn, id: Some(String::new()), outputs: BTreeMap::new() }));
        Ok(Arc::new(handle))
    }
}

fn reference_to(reference: &drystone_model::ResourceReference) -> crate::evaluate::Val {
    let state = State { urn: reference.urn.clone(), id: reference.id.clone(), outputs: BTreeMap::new() };
    crate::evaluate::Val::Resource(Arc::new(Handle::reference(state)))
}

fn failed(name: &str) -> ProviderError {
    ProviderError::new(format!("the component {name} could not be constructed"))
}

/// The files of a plugin, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ProviderError> {
    let fail = |error: std::io::Error| ProviderError::new(format!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Loaded, ProviderError> {
    let source = load::file(path).map_err(ProviderError::new)?;
    Ok(load::read(source))
}

fn rendered(source: &Source, diagnostics: &Diagnostics) -> String {
    let texts: Vec<String> = diagnostics.iter().map(|diagnostic| source.render(diagnostic)).collect();
    texts.join("\n")
}

/// What a component takes and gives, as schemas say it.
fn described(template: &Template, source: &Source) -> Result<Json, ProviderError> {
    let mut inputs = serde_json::Map::new();
    let mut required = Vec::new();
    for entry in &template.config {
        let name = entry.key.value.to_string();
        let mut input = input_type(entry).map_err(|problem| {
            ProviderError::new(source.render(&Diagnostic::error(entry.key.span, problem)))
        })?;
        match entry.default.as_ref().map(|default| &default.form) {
            None => required.push(name.clone()),
            Some(Form::String(text)) => input["default"] = json!(text.as_ref()),
            Some(Form::Number(number)) => input["default"] = json!(number),
            Some(Form::Bool(value)) => input["default"] = json!(value),
            Some(_) => {}
        }
        if matches!(entry.secret, Some((true, _))) {
            input["secret"] = json!(true);
        }
        inputs.insert(name, input);
    }
    let outputs: serde_json::Map<String, Json> = template
        .outputs
        .iter()
        .map(|(key, _)| (key.value.to_string(), json!({ "$ref": "pulumi.json#/Any" })))
        .collect();
    let given: Vec<&str> = template.outputs.iter().map(|(key, _)| key.as_str()).collect();
    let description = template.description.as_ref().map(|text| text.value.to_string()).unwrap_or_default();
    Ok(json!({
        "isComponent": true, "description": description,
        "inputProperties": inputs, "requiredInputs": required,
        "properties": outputs, "required": given,
    }))
}

fn input_type(entry: &ConfigEntry) -> Result<Json, String> {
    let Some(kind) = &entry.kind else { return Err("missing type".to_owned()) };
    if kind.as_str() == "array" {
        let items = entry.items.as_deref().ok_or_else(|| "missing items".to_owned())?;
        return Ok(json!({ "type": "array", "items": input_type(items)? }));
    }
    match config_type(kind.as_str()) {
        Some(Type::String) => Ok(json!({ "type": "string" })),
        Some(Type::Integer) => Ok(json!({ "type": "integer" })),
        Some(Type::Bool) => Ok(json!({ "type": "boolean" })),
        _ => Err(format!("unknown type: {}", kind.value)),
    }
}

#[async_trait]
impl Provider for YamlComponents {
    async fn schema(&self, _: Option<Parameterization>) -> Result<String, ProviderError> {
        Ok(self.schema.clone())
    }

    async fn version(&self) -> Result<String, ProviderError> {
        Ok(self.version.clone())
    }

    async fn construct(&self, arguments: ConstructArguments) -> Result<Constructed, ProviderError> {
        self.build(arguments).await
    }

    async fn create(&self, _: CreateArguments) -> Result<AppliedState, ProviderError> {
        Err(ProviderError::unimplemented("Create"))
    }

    async fn read(&self, _: ReadArguments) -> Result<ReadState, ProviderError> {
        Err(ProviderError::unimplemented("Read"))
    }

    async fn update(&self, _: UpdateArguments) -> Result<AppliedState, ProviderError> {
        Err(ProviderError::unimplemented("Update"))
    }

    async fn delete(&self, _: DeleteArguments) -> Result<(), ProviderError> {
        Err(ProviderError::unimplemented("Delete"))
    }
}
