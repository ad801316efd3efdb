//! Registering resources, and looking at those that exist.

use super::marshal::{MarshalledProperties, Outputs, marshal_properties};
use super::options::{AliasGoal, plain_texts};
use super::promise::{Rejected, resolve};
use super::resource::{Handle, State};
use super::run::Evaluator;
use super::value::{Stopped, Val, from_model};
use crate::packages::{ResolvedResource, parse_version};
use crate::syntax::{Span, Text};
use crate::template::{Properties, Resource, Shared};
use drystone_engine::{
    Alias, AliasParent, PackageSource, ReadRequest, RegisterRequest, Registered, ResourceOptions,
};
use drystone_model::{Urn, Value};
use drystone_plugins::schema::Resource as Schema;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A resource with everything that was said of it; what has to be waited for is in it as promises.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) handle: Arc<Handle>,
    span: Span,
    way: Way,
    properties: BTreeMap<String, Val>,
    parent: Option<Arc<Handle>>,
    depends_on: Vec<Arc<Handle>>,
    provider: Option<Arc<Handle>>,
    /// The providers that were named for it, by package.
    providers: BTreeMap<String, Arc<Handle>>,
    aliases: Vec<AliasGoal>,
    /// The name that it had in a component before names of components were put before those of their resources.
    old_name: Option<String>,
    schema_aliases: Vec<String>,
    trigger: Option<Val>,
    replace_with: Vec<Arc<Handle>>,
    deleted_with: Option<Arc<Handle>>,
    package: PackageSource,
    options: ResourceOptions,
}

/// What is asked of the engine.
#[derive(Debug)]
enum Way {
    /// A provider is to make it what the program says.
    Custom,
    /// A provider is to construct it.
    Remote,
    /// It is to be looked at.
    Read { id: Val, span: Span },
}

const STACK_REFERENCE: &str = "pulumi:pulumi:StackReference";

impl Evaluator {
    /// Evaluates everything of a resource. All of it is looked at, so that all that is wrong is told.
    pub(super) fn goal(self: &Arc<Self>, at: usize) -> Result<Goal, Stopped> {
        let resource = &self.template.resources[at];
        let resolved = self.resolved.get(at).and_then(Option::as_ref).ok_or(Stopped)?;
        let schema = resolved.schema.as_deref();
        let options = &resource.options;
        let mut properties = self.inputs(resource, resolved);
        let way = self.way(resource, resolved, &mut properties);
        let parent = match &options.parent {
            Some(parent) => self.resource_option(parent).map(Some),
            None => Ok(self.scope.component().cloned()),
        };
        let aliases = options.aliases.as_ref().map_or(Ok(Vec::new()), |aliases| self.aliases(aliases));
        let timeouts = self.timeouts(resource);
        let list = |value: &Option<Shared>, name| {
            value.as_ref().map_or(Ok(Vec::new()), |value| self.resources_option(value, name))
        };
        let depends_on = list(&options.depends_on, "dependsOn");
        let protect = options.protect.as_ref().map(|value| self.protect(value)).transpose();
        let own_provider = options.provider.as_ref().or_else(|| self.implicit_provider(resource));
        let provider = own_provider.map(|value| self.provider_option(value)).transpose();
        let listed = list(&options.providers, "providers");
        let replace_with = list(&options.replace_with, "replaceWith");
        let deleted_with = options.deleted_with.as_ref().map(|value| self.resource_option(value)).transpose();
        let trigger = options.replacement_trigger.as_ref().map(|value| self.evaluate(value)).transpose();
        let trigger = trigger.map(|trigger| trigger.map(|value| self.whole(value)));
        let env_var_mappings = self.env_var_mappings(resource);
        let package = self.package_source(resource, &resolved.token);

        let (parent, provider, protect) = (parent?, provider?, protect?);
        let providers = named_providers(provider.as_ref(), listed?);
        let mut handle = Handle::new(&self.name_of(resource), &resolved.token, resolved.schema.clone());
        handle.protect = protect.or_else(|| parent.as_ref().and_then(|parent| parent.protect));
        handle.providers = parent.as_ref().map(|parent| parent.providers.clone()).unwrap_or_default();
        handle
            .providers
            .extend(providers.iter().map(|(package, handle)| (package.clone(), Arc::clone(handle))));
        let type_package = resolved.token.split(':').next().unwrap_or_default();
        let serving = provider
            .filter(|provider| provider.provider_of() == Some(type_package))
            .or_else(|| handle.providers.get(type_package).cloned());
        let engine_options = ResourceOptions {
            protect: handle.protect,
            timeouts: timeouts?,
            env_var_mappings: env_var_mappings?,
            ..written_options(resource, schema)
        };
        Ok(Goal {
            handle: Arc::new(handle),
            span: resource.span,
            way: way?,
            properties: properties?,
            parent,
            depends_on: depends_on?,
            provider: serving,
            providers,
            aliases: aliases?,
            old_name: self.old_name(resource),
            schema_aliases: schema.map(|schema| schema.aliases.clone()).unwrap_or_default(),
            trigger: trigger?,
            replace_with: replace_with?,
            deleted_with: deleted_with?,
            package: package?,
            options: engine_options,
        })
    }

    fn implicit_provider(&self, resource: &Resource) -> Option<&Shared> {
        let token = resource.type_token.as_ref()?.as_str();
        if token.starts_with("pulumi:providers:") { None } else { self.default_provider(token) }
    }

    /// The name that a resource is registered under: inside of a component, the component's name before its own.
    fn name_of(&self, resource: &Resource) -> String {
        match self.scope.component() {
            Some(component) => format!("{}-{}", component.name, resource.resource_name()),
            None => resource.resource_name().to_owned(),
        }
    }

    /// The name without the component's before it, unless another resource of the component has it as its new one.
    fn old_name(&self, resource: &Resource) -> Option<String> {
        self.scope.component()?;
        let name = self.name_of(resource);
        let others = self.template.resources.iter().filter(|other| other.key.value != resource.key.value);
        let taken = others.into_iter().any(|other| other.resource_name() == name);
        (!taken).then(|| resource.resource_name().to_owned())
    }

    fn package_source(&self, resource: &Resource, token: &str) -> Result<PackageSource, Stopped> {
        let inherits = resource.options.provider.is_none() && self.implicit_provider(resource).is_some();
        let version = if inherits {
            self.default_provider_version(resource)
        } else {
            resource.options.version.as_ref()
        };
        let filled = |text: &&Text| !text.value.is_empty();
        let parsed = match version.filter(filled) {
            Some(version) => {
                parse_version(version.as_str()).map_err(|problem| self.fail(version.span, problem))?
            }
            None => String::new(),
        };
        let url = resource.options.plugin_download_url.as_ref();
        let pinned = version.is_some() || url.is_some();
        Ok(PackageSource {
            version: parsed,
            download_url: url.map(|url| url.value.to_string()).unwrap_or_default(),
            // A version of its own is not that of the declared package.
            reference: if pinned { String::new() } else { self.packages.reference(token) },
            ..PackageSource::default()
        })
    }

    /// The inputs of a resource, with secrets where its package says so and the values that cannot be others.
    fn inputs(
        self: &Arc<Self>,
        resource: &Resource,
        resolved: &ResolvedResource,
    ) -> Result<BTreeMap<String, Val>, Stopped> {
        let schema = resolved.schema.as_deref();
        let mut inputs = match &resource.properties {
            Properties::None => BTreeMap::new(),
            Properties::Map(entries) => self.members(entries, schema)?,
            Properties::Expression(value) => self.spread(value, schema)?,
        };
        for (name, property) in schema.iter().flat_map(|schema| schema.outputs.iter()) {
            if let Some(constant) = &property.constant {
                inputs.insert(name.clone(), from_json(constant));
            }
        }
        Ok(inputs)
    }

    fn members(
        self: &Arc<Self>,
        entries: &[(Text, Shared)],
        schema: Option<&Schema>,
    ) -> Result<BTreeMap<String, Val>, Stopped> {
        let evaluated: Vec<_> = entries.iter().map(|(key, value)| (key, self.evaluate(value))).collect();
        let mut members = BTreeMap::new();
        for (key, value) in evaluated {
            members.insert(key.value.to_string(), self.classified(key.as_str(), value?, schema));
        }
        Ok(members)
    }

    /// A value that is a secret when the package says that the property is.
    fn classified(&self, name: &str, value: Val, schema: Option<&Schema>) -> Val {
        let secret = schema.and_then(|schema| schema.inputs.get(name)).is_some_and(|input| input.secret);
        if secret { Val::Output(self.hidden(value, true)) } else { value }
    }

    /// The inputs of a resource from one value. Of a value that comes later, every input is had that there can be.
    fn spread(
        self: &Arc<Self>,
        value: &Shared,
        schema: Option<&Schema>,
    ) -> Result<BTreeMap<String, Val>, Stopped> {
        let span = value.span;
        match self.evaluate(value)? {
            Val::Object(members) => Ok(members
                .iter()
                .map(|(name, member)| (name.clone(), self.classified(name, member.clone(), schema)))
                .collect()),
            output @ Val::Output(_) => {
                let Some(schema) = schema else {
                    return Err(
                        self.fail(span, "properties must be a plain object: the package has no schema")
                    );
                };
                let mut inputs = BTreeMap::new();
                for (name, input) in schema.inputs.iter() {
                    let (wanted, secret) = (name.clone(), input.secret);
                    let member =
                        self.apply(vec![output.clone()], move |this, known| match known.first() {
                            Some(Val::Object(members)) => {
                                let member = members.get(&wanted).cloned().unwrap_or(Val::Null);
                                // It is a secret once it is known.
                                Ok(if secret { Val::Output(this.hidden(member, true)) } else { member })
                            }
                            other => {
                                let what = other.map_or("nothing", Val::describe);
                                Err(this.fail(span, format!("expected a map but got {what}")))
                            }
                        })?;
                    inputs.insert(name.clone(), member);
                }
                Ok(inputs)
            }
            other => {
                let what = other.describe();
                Err(self.fail(span, format!("properties must be a plain object, not {what}")))
            }
        }
    }

    fn way(
        self: &Arc<Self>,
        resource: &Resource,
        resolved: &ResolvedResource,
        properties: &mut Result<BTreeMap<String, Val>, Stopped>,
    ) -> Result<Way, Stopped> {
        if resource.type_token.as_ref().is_some_and(|token| token.as_str() == STACK_REFERENCE) {
            let Ok(properties) = properties else { return Err(Stopped) };
            let name =
                properties.entry("name".to_owned()).or_insert_with(|| Val::text(resource.key.as_str()));
            let Val::String(name) = name else {
                let what = name.describe();
                return Err(
                    self.fail(resource.span, format!("'name' property must be a string, instead got {what}"))
                );
            };
            return Ok(Way::Read { id: Val::String(Arc::clone(name)), span: resource.span });
        }
        if resolved.schema.as_ref().is_some_and(|schema| schema.is_component) {
            return Ok(Way::Remote);
        }
        let Some(id) = &resource.get.id else { return Ok(Way::Custom) };
        *properties = self.members(&resource.get.state, resolved.schema.as_deref());
        Ok(Way::Read { id: self.evaluate(id)?, span: id.span })
    }

    /// A stack that `fn::stackReference` reads, once for all of its outputs.
    pub(super) fn stack_handle(self: &Arc<Self>, stack: &str) -> Arc<Handle> {
        let mut stacks = self.stacks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = stacks.get(stack) {
            return Arc::clone(known);
        }
        let handle = Arc::new(Handle::new(stack, STACK_REFERENCE, None));
        stacks.insert(stack.to_owned(), Arc::clone(&handle));
        let goal = Goal {
            handle: Arc::clone(&handle),
            span: Span::default(),
            way: Way::Read { id: Val::text(stack), span: Span::default() },
            properties: BTreeMap::from([("name".to_owned(), Val::text(stack))]),
            parent: None,
            depends_on: Vec::new(),
            provider: None,
            providers: BTreeMap::new(),
            aliases: Vec::new(),
            old_name: None,
            schema_aliases: Vec::new(),
            trigger: None,
            replace_with: Vec::new(),
            deleted_with: None,
            package: PackageSource::default(),
            options: ResourceOptions::default(),
        };
        self.start(goal);
        handle
    }

    /// Starts what registers a resource, or looks at it, as soon as everything that it needs is known.
    pub(super) fn start(self: &Arc<Self>, goal: Goal) {
        let this = Arc::clone(self);
        let keeper = Keeper(Arc::clone(&goal.handle));
        self.tasks.spawn(async move {
            let state = this.carry_out(goal).await;
            keeper.0.settle(state);
        });
    }

    async fn carry_out(self: &Arc<Self>, goal: Goal) -> Result<State, Rejected> {
        let parent = match &goal.parent {
            Some(parent) => parent.wait().await?.urn.clone(),
            None => self.scope.root.clone(),
        };
        let provider = match &goal.provider {
            Some(provider) => self.provider_reference(provider).await?,
            None => String::new(),
        };
        match &goal.way {
            Way::Read { id, span } => self.read(&goal, id, *span, parent, provider).await,
            Way::Custom | Way::Remote => self.register(goal, parent, provider).await,
        }
    }

    async fn read(
        &self,
        goal: &Goal,
        id: &Val,
        span: Span,
        parent: Urn,
        provider: String,
    ) -> Result<State, Rejected> {
        let id = match resolve(id).await?.value {
            // What is yet to be made cannot be looked at.
            None => return Ok(State::default()),
            Some(Val::String(id)) => id.to_string(),
            Some(other) => {
                let what = other.describe();
                return Err(self.fail(span, format!("get.id must be a string, instead got {what}")).into());
            }
        };
        let marshalled = marshal_properties(&goal.properties, Outputs::State).await?;
        let request = ReadRequest {
            type_token: goal.handle.token.clone(),
            name: goal.handle.name.clone(),
            id: id.clone(),
            parent,
            properties: marshalled.properties,
            provider,
            additional_secret_outputs: goal.options.additional_secret_outputs.clone(),
            source_position: self.position(goal.span),
            led_by: self.scope.led_by.clone(),
            ..ReadRequest::default()
        };
        let read = self.monitor.read(request).await.map_err(|error| self.refused(&error, goal.span))?;
        Ok(State { urn: read.urn, id: Some(id), outputs: read.properties })
    }

    async fn register(
        self: &Arc<Self>,
        goal: Goal,
        parent: Urn,
        provider: String,
    ) -> Result<State, Rejected> {
        let remote = matches!(goal.way, Way::Remote);
        let outputs = if remote { Outputs::Whole } else { Outputs::Inputs };
        let marshalled = marshal_properties(&goal.properties, outputs).await?;
        let mut dependencies = marshalled.all_dependencies();
        for handle in &goal.depends_on {
            dependencies.insert(handle.wait().await?.urn.clone());
        }
        let mut options = goal.options.clone();
        if let Some(trigger) = &goal.trigger {
            let form = if remote { Outputs::Whole } else { Outputs::State };
            let (value, from) = self.trigger(trigger, form).await?;
            options.replacement_trigger = value;
            dependencies.extend(from);
        }
        dependencies.remove(&Urn::default());
        options.aliases = self.all_aliases(&goal, &parent).await?;
        for handle in &goal.replace_with {
            options.replace_with.push(handle.wait().await?.urn.clone());
        }
        if let Some(handle) = &goal.deleted_with {
            options.deleted_with = handle.wait().await?.urn.clone();
        }
        let mut providers = BTreeMap::new();
        if remote {
            for (package, handle) in &goal.providers {
                providers.insert(package.clone(), self.provider_reference(handle).await?);
            }
        }
        let MarshalledProperties { properties, dependencies: property_dependencies } = marshalled;
        let request = RegisterRequest {
            type_token: goal.handle.token.clone(),
            name: goal.handle.name.clone(),
            custom: true,
            remote,
            properties: self.hashed(properties, goal.span).await?,
            dependencies: dependencies.into_iter().collect(),
            property_dependencies,
            parent,
            provider,
            providers,
            package: goal.package,
            options,
            source_position: self.position(goal.span),
            led_by: self.scope.led_by.clone(),
            ..RegisterRequest::default()
        };
        let registered =
            self.monitor.register(request).await.map_err(|error| self.refused(&error, goal.span))?;
        Ok(self.state(registered))
    }

    /// What a program sees of a resource: nothing that is not known, and of what a component gives not where it came
    /// from.
    fn state(&self, registered: Registered) -> State {
        let mut outputs = registered.properties;
        outputs.retain(|_, value| !value.contains_unknowns());
        outputs.values_mut().for_each(Value::lower_outputs);
        let unknown = registered.id.is_empty() && self.surroundings.dry_run;
        State { urn: registered.urn, id: (!unknown).then_some(registered.id), outputs }
    }

    async fn all_aliases(&self, goal: &Goal, parent: &Urn) -> Result<Vec<Alias>, Rejected> {
        let mut aliases = Vec::new();
        for alias in &goal.aliases {
            aliases.push(self.settle_alias(alias).await?);
        }
        if let Some(name) = &goal.old_name {
            let token = &goal.handle.token;
            let (stack, project) = (parent.stack(), parent.project());
            aliases.push(Alias::Urn(Urn::build(stack, project, parent.qualified_type(), token, name)));
        }
        aliases.extend(goal.schema_aliases.iter().map(|token| Alias::Spec {
            name: String::new(),
            type_token: token.clone(),
            stack: String::new(),
            project: String::new(),
            parent: AliasParent::Unchanged,
        }));
        Ok(aliases)
    }
}

/// Says that nothing became of a resource when nobody said what did, so that nobody waits forever.
struct Keeper(Arc<Handle>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.settle(Err(Rejected));
    }
}

/// The options that need no evaluation, with what the package says.
fn written_options(resource: &Resource, schema: Option<&Schema>) -> ResourceOptions {
    let options = &resource.options;
    let mut additional_secret_outputs = plain_texts(&options.additional_secret_outputs);
    let mut replace_on_changes = plain_texts(&options.replace_on_changes);
    if let Some(schema) = schema {
        let secrets = schema.outputs.iter().filter(|(_, output)| output.secret);
        additional_secret_outputs.extend(secrets.map(|(name, _)| name.clone()));
        replace_on_changes.extend(schema.replace_on_changes());
    }
    ResourceOptions {
        ignore_changes: plain_texts(&options.ignore_changes),
        replace_on_changes,
        delete_before_replace: options.delete_before_replace,
        retain_on_delete: options.retain_on_delete,
        additional_secret_outputs,
        import_id: options.import.as_ref().map(|id| id.value.to_string()).unwrap_or_default(),
        hide_diffs: plain_texts(&options.hide_diffs),
        ..ResourceOptions::default()
    }
}

/// The providers that options name, by the package that they provide.
fn named_providers(own: Option<&Arc<Handle>>, listed: Vec<Arc<Handle>>) -> BTreeMap<String, Arc<Handle>> {
    let all = own.cloned().into_iter().chain(listed);
    all.filter_map(|handle| Some((handle.provider_of()?.to_owned(), handle))).collect()
}

fn from_json(value: &serde_json::Value) -> Val {
    match value {
        serde_json::Value::Bool(value) => Val::Bool(*value),
        serde_json::Value::Number(number) => Val::Number(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Val::text(text.as_str()),
        _ => Val::Null,
    }
}

/// The inputs of a component as its program sees them, each with what it came from.
pub(crate) fn component_inputs(
    inputs: &BTreeMap<String, Value>,
    dependencies: &BTreeMap<String, Vec<Urn>>,
    refer: super::value::Refer<'_>,
) -> BTreeMap<String, Val> {
    let input = |(name, value): (&String, &Value)| {
        let from: BTreeSet<Urn> = dependencies.get(name).into_iter().flatten().cloned().collect();
        let plain = from_model(value, refer);
        let held = match (&plain, from.is_empty(), value) {
            (_, true, _) | (Val::Output(_), _, Value::Output(_)) => plain,
            _ => Val::Output(super::promise::Promise::with_dependencies(Some(plain), false, from)),
        };
        (name.clone(), held)
    };
    inputs.iter().map(input).collect()
}
