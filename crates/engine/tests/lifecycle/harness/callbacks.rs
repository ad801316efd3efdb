//! Callbacks of programs as closures.

use async_trait::async_trait;
use drystone_engine::{
    ErrorHook, Failed, Hook, HookCall, HookMoment, HookRegistration, InvokeRequest, InvokeTransform,
    RegisterRequest, ResourceOptions, Transform, TransformedInvoke,
};
use std::fmt;
use std::sync::{Arc, Mutex};

/// What happened, in its order. Copies write into the same list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn say(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    /// Everything said since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Closure<F>(F);

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

#[async_trait]
impl<F: Fn(HookCall) -> Result<(), Failed> + Send + Sync> Hook for Closure<F> {
    async fn run(&self, call: HookCall) -> Result<(), Failed> {
        (self.0)(call)
    }
}

#[async_trait]
impl<F: Fn(HookCall) -> Result<bool, Failed> + Send + Sync> ErrorHook for Closure<F> {
    async fn retry(&self, call: HookCall) -> Result<bool, Failed> {
        (self.0)(call)
    }
}

#[async_trait]
impl<F: Fn(&mut RegisterRequest) -> Result<(), Failed> + Send + Sync> Transform for Closure<F> {
    async fn transform(&self, mut request: RegisterRequest) -> Result<RegisterRequest, Failed> {
        (self.0)(&mut request).map(|()| request)
    }
}

#[async_trait]
impl<F: Fn(&mut TransformedInvoke) -> Result<(), Failed> + Send + Sync> InvokeTransform for Closure<F> {
    async fn transform(&self, request: InvokeRequest) -> Result<TransformedInvoke, Failed> {
        let mut invoke = TransformedInvoke {
            arguments: request.arguments,
            provider: request.provider,
            version: request.package.version,
            download_url: request.package.download_url,
            checksums: request.package.checksums,
        };
        (self.0)(&mut invoke).map(|()| invoke)
    }
}

/// A hook that runs in updates only, and whose failures count.
pub(crate) fn hook(run: impl Fn(HookCall) -> Result<(), Failed> + Send + Sync + 'static) -> HookRegistration {
    HookRegistration { hook: Arc::new(Closure(run)), on_dry_run: false, ignore_errors: false }
}

/// A hook that writes its moment and the resource into a log.
pub(crate) fn logging_hook(log: &Log) -> HookRegistration {
    let log = log.clone();
    hook(move |call| {
        log.say(format!("{} {}", call.moment.as_str(), call.name));
        Ok(())
    })
}

pub(crate) fn error_hook(
    retry: impl Fn(HookCall) -> Result<bool, Failed> + Send + Sync + 'static,
) -> Arc<dyn ErrorHook> {
    Arc::new(Closure(retry))
}

pub(crate) fn transform(
    change: impl Fn(&mut RegisterRequest) -> Result<(), Failed> + Send + Sync + 'static,
) -> Arc<dyn Transform> {
    Arc::new(Closure(change))
}

pub(crate) fn invoke_transform(
    change: impl Fn(&mut TransformedInvoke) -> Result<(), Failed> + Send + Sync + 'static,
) -> Arc<dyn InvokeTransform> {
    Arc::new(Closure(change))
}

/// Binds a hook to a resource.
pub(crate) fn bind(options: &mut ResourceOptions, moment: HookMoment, name: &str) {
    options.hooks.entry(moment).or_default().push(name.to_owned());
}
