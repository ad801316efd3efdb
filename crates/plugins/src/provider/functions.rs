//! Functions, methods and components.

use super::session::Readiness;
use super::{GrpcProvider, echo, failure, lifecycle};
use crate::monitor::duration_text;
use crate::monitor::options::{write_alias, write_urns};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Contents, Decoding, Encoding, Outputs, Properties, Struct, Unknowns};
use drystone_engine::{
    Alias, CallAnswer, CallArguments, ConstructArguments, Constructed, HookBindings, HookMoment, Invoked,
    PropertyMap, ProviderError, RegisterRequest, RunInfo, Timeouts,
};
use drystone_model::Urn;
use std::collections::HashMap;

impl GrpcProvider {
    pub(super) async fn call_invoke(
        &self,
        token: &str,
        arguments: PropertyMap,
        dry_run: bool,
    ) -> Result<Invoked, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else { return Ok(Invoked::default()) };
        let encoding = protocol.encoding(Unknowns::Drop, Contents::Keep);
        let request = rpc::InvokeRequest {
            tok: token.to_owned(),
            args: lifecycle::encode(encoding, &arguments)?,
            preview: dry_run,
        };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Invoke", request, |mut client, request| async move {
                client.invoke(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        let mut properties = lifecycle::received(answer.r#return.as_ref(), false)?;
        let secret = || arguments.values().any(drystone_model::Value::contains_secrets);
        if !protocol.accepts.secrets && secret() {
            echo::hide_all(&mut properties);
        }
        Ok(Invoked { properties, failures: lifecycle::failures(answer.failures), unknown: false })
    }

    pub(super) async fn call_method(&self, arguments: CallArguments) -> Result<CallAnswer, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else {
            return Ok(CallAnswer::default());
        };
        let accepts = Accepts { secrets: true, resources: true, ..protocol.accepts };
        let info = arguments.info;
        let request = rpc::CallRequest {
            tok: arguments.token,
            args: lifecycle::encode(Encoding::to(accepts), &arguments.arguments)?,
            arg_dependencies: arguments
                .argument_dependencies
                .into_iter()
                .map(|(name, urns)| {
                    (name, rpc::call_request::ArgumentDependencies { urns: write_urns(&urns) })
                })
                .collect(),
            project: info.project,
            stack: info.stack,
            organization: info.organization,
            config: info.config.into_iter().collect(),
            config_secret_keys: info.secret_keys,
            dry_run: info.dry_run,
            parallel: i32::try_from(info.parallel).unwrap_or(i32::MAX),
            monitor_endpoint: self.options.endpoint.address().to_owned(),
            accepts_output_values: true,
            stack_trace_handle: arguments.trace,
        };
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Call", request, |mut client, request| async move {
                client.call(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        let dependencies =
            answer.return_dependencies.into_iter().map(|(name, deps)| (name, urns(deps.urns))).collect();
        Ok(CallAnswer {
            properties: component_outputs(answer.r#return.as_ref(), info.dry_run)?,
            dependencies,
            failures: lifecycle::failures(answer.failures),
        })
    }

    pub(super) async fn call_construct(
        &self,
        arguments: ConstructArguments,
    ) -> Result<Constructed, ProviderError> {
        let Readiness::Ready(protocol) = self.session.ready().await? else {
            return self.construct_unconfigured(arguments).await;
        };
        if !protocol.accepts.secrets {
            return Err(ProviderError::new("plugins that can construct components must support secrets"));
        }
        let dry_run = arguments.info.dry_run;
        let request = construct_request(
            arguments,
            Encoding::to(protocol.accepts),
            self.options.endpoint.address().to_owned(),
        )?;
        let answer = self
            .ask("/pulumirpc.ResourceProvider/Construct", request, |mut client, request| async move {
                client.construct(request).await
            })
            .await
            .map_err(|status| self.failure(&status))?;
        Ok(Constructed {
            urn: Urn::new(answer.urn),
            outputs: component_outputs(answer.state.as_ref(), dry_run)?,
            output_dependencies: answer
                .state_dependencies
                .into_iter()
                .map(|(name, deps)| (name, urns(deps.urns)))
                .collect(),
        })
    }

    /// Registers the component itself, without children, in the provider's place.
    async fn construct_unconfigured(
        &self,
        arguments: ConstructArguments,
    ) -> Result<Constructed, ProviderError> {
        let monitor = self.options.endpoint.monitor();
        let monitor = monitor.ok_or_else(|| ProviderError::new("no operation is running"))?;
        let request = RegisterRequest {
            type_token: arguments.type_token,
            name: arguments.name,
            parent: arguments.parent,
            ..RegisterRequest::default()
        };
        let registered =
            monitor.register(request).await.map_err(|error| ProviderError::new(error.message))?;
        Ok(Constructed { urn: registered.urn, ..Constructed::default() })
    }
}

fn construct_request(
    arguments: ConstructArguments,
    encoding: Encoding,
    monitor_endpoint: String,
) -> Result<rpc::ConstructRequest, ProviderError> {
    let RunInfo { project, stack, organization, config, secret_keys, dry_run, parallel } = arguments.info;
    let options = arguments.options;
    let replacement_trigger = match &options.replacement_trigger {
        Some(trigger) => {
            let encoding = Encoding { unknowns: lifecycle::sent(dry_run), ..Encoding::to(Accepts::ALL) };
            encoding.value(trigger).map_err(|error| lifecycle::cannot_send(&error))?
        }
        None => None,
    };
    let aliases = if options.aliases.is_empty() {
        arguments.aliases.into_iter().map(|urn| write_alias(Alias::Urn(urn))).collect()
    } else {
        options.aliases.into_iter().map(write_alias).collect()
    };
    Ok(rpc::ConstructRequest {
        project,
        stack,
        organization,
        config: config.into_iter().collect(),
        config_secret_keys: secret_keys,
        dry_run,
        parallel: i32::try_from(parallel).unwrap_or(i32::MAX),
        monitor_endpoint,
        r#type: arguments.type_token,
        name: arguments.name,
        parent: arguments.parent.to_string(),
        inputs: lifecycle::encode(encoding, &arguments.inputs)?,
        input_dependencies: arguments
            .input_dependencies
            .iter()
            .map(|(name, urns)| {
                (name.clone(), rpc::construct_request::PropertyDependencies { urns: write_urns(urns) })
            })
            .collect(),
        providers: arguments.providers.into_iter().collect::<HashMap<_, _>>(),
        dependencies: write_urns(&arguments.dependencies),
        protect: options.protect,
        additional_secret_outputs: options.additional_secret_outputs,
        custom_timeouts: custom_timeouts(arguments.timeouts),
        deleted_with: options.deleted_with.to_string(),
        delete_before_replace: options.delete_before_replace,
        ignore_changes: options.ignore_changes,
        replace_on_changes: options.replace_on_changes,
        retain_on_delete: options.retain_on_delete,
        accepts_output_values: true,
        resource_hooks: hooks(options.hooks),
        stack_trace_handle: arguments.trace,
        replace_with: write_urns(&options.replace_with),
        aliases,
        replacement_trigger,
    })
}

/// Results of components say what they depend on.
fn component_outputs(live: Option<&Struct>, dry_run: bool) -> Result<Properties, ProviderError> {
    let unknowns = if dry_run { Unknowns::Keep } else { Unknowns::Drop };
    let decoding = Decoding { unknowns, outputs: Outputs::Keep, ..Decoding::default() };
    live.map_or(Ok(Properties::new()), |live| decoding.properties(live)).map_err(failure::senseless)
}

fn urns(texts: Vec<String>) -> Vec<Urn> {
    texts.into_iter().map(Urn::new).collect()
}

/// Time limits as durations; none when all are the provider's own.
fn custom_timeouts(timeouts: Timeouts) -> Option<rpc::construct_request::CustomTimeouts> {
    (timeouts != Timeouts::default()).then(|| rpc::construct_request::CustomTimeouts {
        create: duration_text(timeouts.create),
        update: duration_text(timeouts.update),
        delete: duration_text(timeouts.delete),
        read: duration_text(timeouts.read),
    })
}

fn hooks(mut bindings: HookBindings) -> Option<rpc::construct_request::ResourceHooksBinding> {
    if bindings.is_empty() {
        return None;
    }
    let mut take = |moment| bindings.remove(&moment).unwrap_or_default();
    Some(rpc::construct_request::ResourceHooksBinding {
        before_create: take(HookMoment::BeforeCreate),
        after_create: take(HookMoment::AfterCreate),
        before_update: take(HookMoment::BeforeUpdate),
        after_update: take(HookMoment::AfterUpdate),
        before_delete: take(HookMoment::BeforeDelete),
        after_delete: take(HookMoment::AfterDelete),
        on_error: take(HookMoment::OnError),
    })
}
