//! Registering resources and the outputs of components.

use super::options::{
    AliasStyle, read_alias, read_hooks, read_optional_urn, read_timeouts, read_urn, read_urns, write_urns,
};
use super::position;
use super::refusal::Refusal;
use super::service::Service;
use crate::callbacks::GrpcTransform;
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Decoding, Encoding, Outputs, Properties};
use drystone_engine::{
    Alias, PackageSource, RegisterRequest, Registered, Registration, ResourceOptions, Transform,
};
use drystone_model::{Urn, Value, is_provider_type};
use std::collections::BTreeMap;
use std::sync::Arc;
use tonic::{Code, metadata::MetadataMap};

/// Which SDK a request comes from, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Node,
    Other,
}

impl Sender {
    /// The runtime that the request names, or the library that it was sent with.
    pub(super) fn of(metadata: &MetadataMap) -> Self {
        let text = |key| metadata.get(key).and_then(|value| value.to_str().ok());
        let node = match text("pulumi-runtime") {
            Some(runtime) => runtime == "nodejs",
            None => text("user-agent").is_some_and(|agent| agent.starts_with("grpc-node-js/")),
        };
        if node { Self::Node } else { Self::Other }
    }
}

/// What the answer to a registration may hold.
struct Shape {
    accepts: Accepts,
    partial_values: bool,
    result_reporting: bool,
    /// A component of this program, whose outputs come later. Those it had before may refer to resources that are not
    /// registered yet.
    local_component: bool,
}

impl Shape {
    fn of(request: &rpc::RegisterResourceRequest) -> Self {
        Self {
            accepts: Accepts {
                secrets: request.accept_secrets,
                resources: request.accept_resources,
                outputs: false,
                bytes: request.accepts_byte_string,
            },
            partial_values: request.supports_partial_values,
            result_reporting: request.supports_result_reporting,
            local_component: !request.custom && !request.remote,
        }
    }
}

impl Service {
    pub(super) async fn register(
        &self,
        request: rpc::RegisterResourceRequest,
        sender: Sender,
    ) -> Result<rpc::RegisterResourceResponse, Refusal> {
        let monitor = self.monitor()?;
        let shape = Shape::of(&request);
        let subject = format!("{} {}", request.r#type, request.name);
        let request = self.read_registration(request, sender).await.map_err(|refusal| Refusal {
            message: format!("cannot register {subject}: {}", refusal.message),
            ..refusal
        })?;
        let registered = monitor.register(request).await?;
        respond(registered, &shape)
    }

    async fn read_registration(
        &self,
        request: rpc::RegisterResourceRequest,
        sender: Sender,
    ) -> Result<RegisterRequest, Refusal> {
        validate(&request)?;
        let old_aliases = sender == Sender::Node && !request.alias_specs;
        let aliases = read_aliases(request.alias_ur_ns, request.aliases, old_aliases)?;
        let decoding = Decoding { outputs: Outputs::Upgrade, ..Decoding::default() };
        let properties = self.hashed(decoding, request.object.as_ref()).await?;
        let root = &self.settings.root;
        Ok(RegisterRequest {
            source_position: position::read(request.source_position.as_ref(), root),
            stack_trace: position::read_trace(
                request.source_position.as_ref(),
                request.stack_trace.as_ref(),
                root,
            ),
            led_by: request.parent_stack_trace_handle,
            type_token: request.r#type,
            name: request.name,
            custom: request.custom,
            remote: request.remote,
            properties,
            dependencies: read_urns("dependency", &request.dependencies)?,
            property_dependencies: read_property_dependencies(request.property_dependencies)?,
            parent: read_optional_urn("parent", &request.parent)?,
            provider: request.provider,
            providers: request.providers.into_iter().collect(),
            package: PackageSource {
                version: request.version,
                download_url: request.plugin_download_url,
                checksums: request.plugin_checksums.into_iter().collect(),
                reference: request.package_ref,
            },
            options: ResourceOptions {
                aliases,
                protect: request.protect,
                ignore_changes: request.ignore_changes,
                replace_on_changes: request.replace_on_changes,
                replacement_trigger: read_trigger(request.replacement_trigger.as_ref())?,
                replace_with: read_urns("ReplaceWith", &request.replace_with)?,
                deleted_with: read_optional_urn("DeletedWith", &request.deleted_with)?,
                // Go's SDK only ever says that it is set by setting it.
                delete_before_replace: (request.delete_before_replace_defined
                    || request.delete_before_replace)
                    .then_some(request.delete_before_replace),
                retain_on_delete: request.retain_on_delete,
                additional_secret_outputs: request.additional_secret_outputs,
                import_id: request.import_id,
                timeouts: read_timeouts(request.custom_timeouts)?,
                hide_diffs: request.hide_diffs,
                hooks: read_hooks(request.hooks),
                env_var_mappings: request.env_var_mappings.into_iter().collect(),
            },
            transforms: self.read_transforms(request.transforms)?,
        })
    }

    fn read_transforms(&self, callbacks: Vec<rpc::Callback>) -> Result<Vec<Arc<dyn Transform>>, Refusal> {
        callbacks.into_iter().map(|callback| self.transform(callback)).collect()
    }

    /// A transform that a program offers.
    pub(super) fn transform(&self, callback: rpc::Callback) -> Result<Arc<dyn Transform>, Refusal> {
        let function = self.callbacks.function(Some(callback))?;
        Ok(Arc::new(GrpcTransform { function, directory: self.settings.directory.clone() }))
    }

    pub(super) async fn register_outputs(
        &self,
        request: rpc::RegisterResourceOutputsRequest,
    ) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        let urn = read_urn("resource", &request.urn)?;
        let outputs = self.hashed(Decoding::default(), request.outputs.as_ref()).await?;
        Ok(monitor.register_outputs(&urn, outputs).await?)
    }
}

/// Refuses what cannot be registered whatever the state is.
fn validate(request: &rpc::RegisterResourceRequest) -> Result<(), Refusal> {
    if !request.state_migrations.is_empty() {
        let message = "state migrations are not supported by this deployment".to_owned();
        return Err(Refusal { code: Code::FailedPrecondition, message });
    }
    if request.custom || request.remote {
        validate_type(&request.r#type)?;
    }
    if !request.env_var_mappings.is_empty() && !is_provider_type(&request.r#type) {
        return Err(Refusal::invalid("envVarMappings can only be used with provider resources"));
    }
    Ok(())
}

/// A type that a provider serves has three parts.
pub(super) fn validate_type(type_token: &str) -> Result<(), Refusal> {
    if type_token.split(':').count() == 3 {
        return Ok(());
    }
    let message = format!("Type '{type_token}' is not a valid type token (must have format '*:*:*')");
    Err(Refusal::invalid(message))
}

fn read_aliases(urns: Vec<String>, aliases: Vec<rpc::Alias>, old: bool) -> Result<Vec<Alias>, Refusal> {
    let style = if old { AliasStyle::OldNode } else { AliasStyle::Specified };
    let whole = urns.into_iter().map(|urn| read_urn("alias", &urn).map(Alias::Urn));
    whole.chain(aliases.into_iter().map(|alias| read_alias(alias, style))).collect()
}

fn read_property_dependencies(
    dependencies: impl IntoIterator<Item = (String, rpc::register_resource_request::PropertyDependencies)>,
) -> Result<BTreeMap<String, Vec<Urn>>, Refusal> {
    let read = |(key, dependencies): (String, rpc::register_resource_request::PropertyDependencies)| {
        let mut urns: Vec<Urn> = Vec::with_capacity(dependencies.urns.len());
        for urn in read_urns(&format!("dependency on property {key}"), &dependencies.urns)? {
            if !urns.contains(&urn) {
                urns.push(urn);
            }
        }
        Ok((key, urns))
    };
    dependencies.into_iter().map(read).collect()
}

fn read_trigger(trigger: Option<&crate::wire::RawValue>) -> Result<Option<Value>, Refusal> {
    let decoding = Decoding { outputs: Outputs::Keep, ..Decoding::default() };
    let Some(trigger) = trigger else { return Ok(None) };
    Ok(decoding.value(trigger)?.filter(|value| !value.is_null()))
}

fn respond(registered: Registered, shape: &Shape) -> Result<rpc::RegisterResourceResponse, Refusal> {
    let result = match registered.result {
        Registration::Done => rpc::Result::Success,
        Registration::Failed => rpc::Result::Fail,
        Registration::Skipped => rpc::Result::Skip,
    };
    if result != rpc::Result::Success && !shape.result_reporting {
        return Err(Refusal { code: Code::Internal, message: "resource registration failed".to_owned() });
    }
    let mut properties = if shape.local_component { Properties::new() } else { registered.properties };
    if !shape.partial_values {
        properties.retain(|_, value| !value.contains_unknowns());
    }
    Ok(rpc::RegisterResourceResponse {
        urn: registered.urn.to_string(),
        id: registered.id,
        object: Some(Encoding::to(shape.accepts).properties(&properties)?),
        stable: registered.stable,
        stables: Vec::new(),
        property_dependencies: registered
            .property_dependencies
            .into_iter()
            .map(|(key, urns)| {
                let urns = write_urns(&urns);
                (key, rpc::register_resource_response::PropertyDependencies { urns })
            })
            .collect(),
        result: result.into(),
        unknown: registered.unknown,
    })
}
