//! Transforms of the stack, hooks, and the end of the program.

use super::refusal::Refusal;
use super::service::Service;
use crate::callbacks::{GrpcErrorHook, GrpcHook, GrpcInvokeTransform};
use crate::proto::pulumirpc as rpc;
use drystone_engine::HookRegistration;
use std::sync::{Arc, atomic::Ordering};
use tonic::Code;

impl Service {
    pub(super) fn add_stack_transform(&self, callback: rpc::Callback) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        Ok(monitor.add_stack_transform(self.transform(callback)?)?)
    }

    pub(super) fn add_stack_invoke_transform(&self, callback: rpc::Callback) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        let function = self.callbacks.function(Some(callback))?;
        Ok(monitor.add_stack_invoke_transform(Arc::new(GrpcInvokeTransform(function)))?)
    }

    pub(super) fn add_hook(&self, request: rpc::RegisterResourceHookRequest) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        let hook = HookRegistration {
            hook: Arc::new(GrpcHook(self.callbacks.function(request.callback)?)),
            on_dry_run: request.on_dry_run,
            ignore_errors: request.ignore_errors,
        };
        Ok(monitor.add_hook(request.name, hook)?)
    }

    pub(super) fn add_error_hook(&self, request: rpc::RegisterErrorHookRequest) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        let function = self.callbacks.function(request.callback)?;
        Ok(monitor.add_error_hook(request.name, Arc::new(GrpcErrorHook(function)))?)
    }

    /// Answers when the program may exit.
    pub(super) async fn finish(&self) -> Result<(), Refusal> {
        let monitor = self.monitor()?;
        if self.finishing.swap(true, Ordering::SeqCst) {
            return Err(Refusal { code: Code::Unknown, message: "already waiting for shutdown".to_owned() });
        }
        monitor.finish().await;
        Ok(())
    }
}
