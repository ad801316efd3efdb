//! Methods of components.

use super::invoke::write_failures;
use super::options::{read_urns, write_urns};
use super::position;
use super::refusal::Refusal;
use super::service::{Service, decode};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Decoding, Encoding, Outputs, Properties};
use drystone_engine::{CallRequest, PackageSource};
use drystone_model::{Urn, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

impl Service {
    pub(super) async fn run_method(
        &self,
        request: rpc::ResourceCallRequest,
    ) -> Result<rpc::CallResponse, Refusal> {
        let monitor = self.monitor()?;
        let accepts = Accepts { outputs: false, bytes: request.accepts_byte_string, ..Accepts::ALL };
        let decoding = Decoding { outputs: Outputs::Upgrade, ..Decoding::default() };
        let arguments = decode(decoding, request.args.as_ref())?;
        let mut argument_dependencies = BTreeMap::new();
        for (name, dependencies) in request.arg_dependencies {
            let urns = read_urns(&format!("dependency on argument {name}"), &dependencies.urns)?;
            argument_dependencies.insert(name, urns);
        }
        add_sources(&mut argument_dependencies, &arguments);
        let root = &self.settings.root;
        let request = CallRequest {
            source_position: position::read(request.source_position.as_ref(), root),
            stack_trace: position::read_trace(
                request.source_position.as_ref(),
                request.stack_trace.as_ref(),
                root,
            ),
            led_by: request.parent_stack_trace_handle,
            token: request.tok,
            arguments,
            argument_dependencies,
            provider: request.provider,
            package: PackageSource {
                version: request.version,
                download_url: request.plugin_download_url,
                checksums: request.plugin_checksums.into_iter().collect(),
                reference: request.package_ref,
            },
        };
        let answer = monitor.call(request).await?;
        Ok(rpc::CallResponse {
            r#return: Some(Encoding::to(accepts).properties(&answer.properties)?),
            return_dependencies: answer
                .dependencies
                .into_iter()
                .map(|(name, urns)| {
                    (name, rpc::call_response::ReturnDependencies { urns: write_urns(&urns) })
                })
                .collect(),
            failures: write_failures(answer.failures),
        })
    }
}

/// Adds what arguments say themselves that they depend on.
fn add_sources(dependencies: &mut BTreeMap<String, Vec<Urn>>, arguments: &Properties) {
    for (name, value) in arguments {
        let mut sources = BTreeSet::new();
        let _: ControlFlow<()> = value.visit(&mut |inner| {
            if let Value::Output(output) = inner {
                sources.extend(output.dependencies.iter().cloned());
            }
            ControlFlow::Continue(())
        });
        let known = dependencies.entry(name.clone()).or_default();
        sources.retain(|urn| !known.contains(urn));
        known.extend(sources);
    }
}
