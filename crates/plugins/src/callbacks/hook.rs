//! Hooks around operations.

use super::{Function, options::write_record};
use crate::proto::pulumirpc as rpc;
use crate::wire::Struct;
use async_trait::async_trait;
use drystone_engine::{ErrorHook, Failed, Hook, HookCall, PropertyMap};

/// A hook of a program.
#[derive(Debug)]
pub(crate) struct GrpcHook(pub(crate) Function);

/// A hook of a program that decides whether a failed operation is tried again.
#[derive(Debug)]
pub(crate) struct GrpcErrorHook(pub(crate) Function);

impl Function {
    fn encode(&self, what: &str, properties: Option<&PropertyMap>) -> Result<Option<Struct>, Failed> {
        let encoded = properties.map(|properties| self.encoding().properties(properties)).transpose();
        encoded.map_err(|error| Failed(format!("{what} for a hook: {error}")))
    }
}

#[async_trait]
impl Hook for GrpcHook {
    async fn run(&self, call: HookCall) -> Result<(), Failed> {
        let request = rpc::ResourceHookRequest {
            new_inputs: self.0.encode("new inputs", call.new_inputs.as_ref())?,
            old_inputs: self.0.encode("old inputs", call.old_inputs.as_ref())?,
            new_outputs: self.0.encode("new outputs", call.new_outputs.as_ref())?,
            old_outputs: self.0.encode("old outputs", call.old_outputs.as_ref())?,
            urn: call.urn.to_string(),
            id: call.id,
            name: call.name,
            r#type: call.type_token,
            old_options: call.old_record.map(write_record),
            new_options: call.new_record.map(write_record),
        };
        let answer: rpc::ResourceHookResponse = self.0.call(&request).await?;
        if answer.error.is_empty() { Ok(()) } else { Err(Failed(answer.error)) }
    }
}

#[async_trait]
impl ErrorHook for GrpcErrorHook {
    async fn retry(&self, call: HookCall) -> Result<bool, Failed> {
        let request = rpc::ErrorHookRequest {
            new_inputs: self.0.encode("new inputs", call.new_inputs.as_ref())?,
            old_inputs: self.0.encode("old inputs", call.old_inputs.as_ref())?,
            old_outputs: self.0.encode("old outputs", call.old_outputs.as_ref())?,
            urn: call.urn.to_string(),
            id: call.id,
            name: call.name,
            r#type: call.type_token,
            failed_operation: call.operation,
            errors: call.errors,
            old_options: call.old_record.map(write_record),
            new_options: call.new_record.map(write_record),
        };
        let answer: rpc::ErrorHookResponse = self.0.call(&request).await?;
        if answer.error.is_empty() { Ok(answer.retry) } else { Err(Failed(answer.error)) }
    }
}
