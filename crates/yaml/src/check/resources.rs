//! Everything that a resource is declared with.

use super::Checker;
use super::infer::Inferred;
use crate::diagnostics::Diagnostic;
use crate::packages::{Asked, ResolvedResource, parse_version};
use crate::suggest;
use crate::syntax::{Span, Text};
use crate::template::{Expression, Properties, RESOURCE_FIELDS, RESOURCE_OPTIONS, Resource};
use drystone_plugins::schema::{ObjectType, Property, Resource as Schema, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Checker<'_> {
    /// What a resource is, if that can be told.
    pub(super) fn resource(&mut self, at: usize) -> Option<ResolvedResource> {
        let resource = &self.template.resources[at];
        let name = resource.key.as_str();
        let Some(token) = &resource.type_token else {
            let summary = format!("Required field 'type' is missing on resource \"{name}\"");
            self.diagnostics.error(resource.span, summary);
            self.fields(resource, None);
            return None;
        };
        let resolved = self.resolve(resource, token);
        let schema = resolved.as_ref().and_then(|resolved| resolved.schema.clone());
        self.properties(resource, schema.as_deref());
        self.options(resource);
        self.fields(resource, schema.as_deref());
        resolved
    }

    fn resolve(&mut self, resource: &Resource, token: &Text) -> Option<ResolvedResource> {
        let name = resource.key.as_str();
        let version = resource.options.version.as_ref();
        if let Some(version) = version.filter(|version| !version.value.is_empty())
            && let Err(problem) = parse_version(version.as_str())
        {
            let summary = format!("unable to parse resource {name} provider version: {problem}");
            self.diagnostics.error(version.span, summary);
            return None;
        }
        let asked = Asked {
            token: token.as_str(),
            version,
            download_url: resource.options.plugin_download_url.as_ref(),
        };
        match self.packages.resource(asked) {
            Ok(resolved) => Some(resolved),
            Err(problem) => {
                let (problem, hint) = problem.split_once("; ").unwrap_or((&problem, ""));
                let summary = format!("error resolving type of resource {name}: {problem}");
                self.diagnostics.push(Diagnostic::error(token.span, summary).detail(hint));
                None
            }
        }
    }

    fn properties(&mut self, resource: &Resource, schema: Option<&Schema>) {
        let is_get = resource.get.id.is_some() || !resource.get.state.is_empty();
        let has_properties = match &resource.properties {
            Properties::None => false,
            Properties::Map(entries) => !entries.is_empty(),
            Properties::Expression(_) => true,
        };
        if is_get && has_properties {
            self.diagnostics.push(
                Diagnostic::error(resource.span, "Resource fields properties and get are mutually exclusive")
                    .detail("`properties` make a resource; `get` looks at one that exists"),
            );
        }
        match &resource.properties {
            Properties::Expression(value) => {
                let inferred = self.infer(value);
                if let Some(schema) = schema {
                    self.assert_fits(&inferred, &object_type(schema, &schema.inputs));
                }
            }
            Properties::Map(entries) => {
                self.entries(entries, resource.span, schema.map(|schema| (schema, &schema.inputs)));
            }
            Properties::None => {}
        }
        if let Some(id) = &resource.get.id {
            self.expect(id, &Type::String);
        }
        let known: Option<Arc<BTreeMap<String, Property>>> =
            schema.filter(|_| !resource.get.state.is_empty()).map(|schema| {
                let optional = |property: &Property| Property { required: false, ..property.clone() };
                let outputs = schema.outputs.iter();
                Arc::new(outputs.map(|(name, property)| (name.clone(), optional(property))).collect())
            });
        if !resource.get.state.is_empty() {
            self.entries(&resource.get.state, resource.span, schema.zip(known.as_ref()));
        }
    }

    /// Checks named values against the properties that there are.
    fn entries(
        &mut self,
        entries: &[(Text, Arc<Expression>)],
        span: Span,
        known: Option<(&Schema, &Arc<BTreeMap<String, Property>>)>,
    ) {
        let inferred =
            |(key, value): &(Text, Arc<Expression>)| (Arc::clone(&key.value), key.span, self.infer(value));
        let members: Vec<(Arc<str>, Span, Inferred)> = entries.iter().map(inferred).collect();
        if let Some((schema, known)) = known {
            self.assert_fits(&Inferred::members(members, span), &object_type(schema, known));
        }
    }

    fn options(&mut self, resource: &Resource) {
        let options = &resource.options;
        let plain = [
            &options.depends_on,
            &options.parent,
            &options.protect,
            &options.provider,
            &options.providers,
            &options.replace_with,
            &options.replacement_trigger,
            &options.deleted_with,
        ];
        for value in plain.into_iter().flatten() {
            self.infer(value);
        }
        if let Some(timeouts) = &options.custom_timeouts {
            for value in [&timeouts.create, &timeouts.update, &timeouts.delete].into_iter().flatten() {
                self.infer(value);
            }
        }
        if let Some(aliases) = &options.aliases {
            self.expect(aliases, &alias_type());
        }
        if let Some(mappings) = &options.env_var_mappings {
            self.expect(mappings, &Type::Map(Arc::new(Type::String)));
        }
    }

    /// Tells of fields that are not known, and where they belong.
    fn fields(&mut self, resource: &Resource, schema: Option<&Schema>) {
        let label = resource.type_token.as_ref().map_or(resource.key.as_str(), Text::as_str);
        let is_known =
            |names: &[&str], field: &Text| names.iter().any(|name| name.eq_ignore_ascii_case(field.as_str()));
        for field in &resource.fields {
            if is_known(&RESOURCE_FIELDS, field) || is_known(&["condition", "metadata"], field) {
                continue;
            }
            let key = field.as_str();
            let places: Vec<(&str, &str)> = schema
                .iter()
                .flat_map(|schema| schema.inputs.keys().map(|name| ("properties", name.as_str())))
                .chain(RESOURCE_OPTIONS.iter().map(|name| ("options", *name)))
                .chain([("get", "id"), ("get", "state")])
                .collect();
            let own = RESOURCE_FIELDS.iter().copied();
            let detail = match suggest::meant(key, places.iter().map(|(_, name)| *name).chain(own)) {
                Some(meant) => {
                    let mut under: Vec<&str> =
                        places.iter().filter(|(_, name)| *name == meant).map(|(place, _)| *place).collect();
                    under.dedup();
                    let verb = if meant == key { "exists" } else { "did you mean" };
                    match (verb, under.is_empty()) {
                        ("exists", false) => format!("'{key}' exists under {}", under.join(" and ")),
                        (_, false) => format!("did you mean '{meant}' under {}?", under.join(" or ")),
                        (_, true) => format!("did you mean `{meant}`?"),
                    }
                }
                None => suggest::hint(key, "fields", RESOURCE_FIELDS),
            };
            let summary = format!("Resource {label} has invalid key '{key}'");
            self.diagnostics.push(Diagnostic::error(field.span, summary).detail(detail));
        }
        for field in &resource.option_fields {
            if !is_known(&RESOURCE_OPTIONS, field) {
                let summary = format!("{} does not exist on resource options", field.value);
                let detail = suggest::hint(field.as_str(), "options", RESOURCE_OPTIONS);
                self.diagnostics.push(Diagnostic::error(field.span, summary).detail(detail));
            }
        }
    }
}

fn object_type(schema: &Schema, properties: &Arc<BTreeMap<String, Property>>) -> Type {
    Type::Object(Arc::new(ObjectType::of(&schema.token, Arc::clone(properties))))
}

fn alias_type() -> Type {
    let text = || Property::optional(Type::String);
    let parent = Type::union(vec![Type::AnyResource, Type::String]);
    let members = [
        ("name", text()),
        ("noParent", Property::optional(Type::Bool)),
        ("parent", Property::optional(parent)),
        ("project", text()),
        ("stack", text()),
        ("type", text()),
        ("urn", text()),
    ];
    let members = members.map(|(name, property)| (name.to_owned(), property));
    let spec = Type::Object(Arc::new(ObjectType::of("alias", BTreeMap::from(members))));
    Type::Array(Arc::new(Type::union(vec![Type::String, spec])))
}
