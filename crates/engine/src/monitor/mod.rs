//! The way into a running operation, for programs, components and providers.
//!
//! Every request runs in a task of its own: who asked may go away, but an operation on the world that began is waited
//! for and written down.

mod call;
mod construct;
pub(crate) mod default_providers;
mod dependencies;
mod invoke;
pub(crate) mod packages;
mod read;
mod register;
mod standing;
mod traces;
mod tracker;
mod transforms;

use crate::deployment::Deployment;
use crate::{
    CallAnswer, CallRequest, Diagnostic, ErrorHook, Event, HookRegistration, InvokeRequest, InvokeTransform,
    Invoked, MonitorError, PackageDescriptor, PackageRequest, PropertyMap, ReadRequest, RegisterRequest,
    Registered, ResourceMonitor, Transform, ViewStep,
};
use async_trait::async_trait;
use drystone_model::{ROOT_STACK_TYPE, Urn};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::OnceCell;

/// Something that is made once, by whoever needs it first, or has failed for all.
type Made = Arc<OnceCell<Result<String, MonitorError>>>;

/// What the monitor remembers of requests.
#[derive(Debug, Default)]
pub(crate) struct MonitorState {
    remembered: Mutex<Remembered>,
    /// Default providers by package. One that could not be made is not tried again.
    defaults: Mutex<HashMap<String, Made>>,
    standing: OnceLock<standing::Standing>,
    /// Extensions that providers have been given.
    extended: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    pub(crate) tracker: tracker::Tracker,
    pub(crate) traces: traces::Traces,
    /// Whether the program runs, or waits for the end.
    has_program: AtomicBool,
    finished: AtomicBool,
    released: AtomicBool,
}

#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// What children inherit, by URN.
    goals: HashMap<Urn, Inherited>,
    parents: HashMap<Urn, Urn>,
    /// Providers that components give to their children.
    component_providers: HashMap<Urn, BTreeMap<String, String>>,
    transforms: HashMap<Urn, Vec<Arc<dyn Transform>>>,
    /// Transforms of components that are being constructed elsewhere, by parent, type and name.
    pending_transforms: HashMap<(Urn, String, String), Vec<Arc<dyn Transform>>>,
    stack_transforms: Vec<Arc<dyn Transform>>,
    invoke_transforms: Vec<Arc<dyn InvokeTransform>>,
    packages: HashMap<String, packages::Package>,
    pub(crate) stack_outputs: Option<PropertyMap>,
}

#[derive(Debug, Clone, Default)]
struct Inherited {
    protect: Option<bool>,
    retain_on_delete: Option<bool>,
    deleted_with: Urn,
    provider: String,
    delete_before_replace: Option<bool>,
}

impl Remembered {
    /// The provider that a resource of the program was registered with; empty for none.
    pub(crate) fn provider_of(&self, urn: &Urn) -> Option<String> {
        self.goals.get(urn).map(|goal| goal.provider.clone())
    }

    /// Whether a resource of the program is deleted before it is replaced, if the program says.
    pub(crate) fn delete_before_replace(&self, urn: &Urn) -> Option<bool> {
        self.goals.get(urn)?.delete_before_replace
    }
}

impl MonitorState {
    pub(crate) fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a program that may still say something.
    pub(crate) fn has_program(&self) -> bool {
        self.has_program.load(Ordering::SeqCst)
    }

    pub(crate) fn set_program(&self, runs: bool) {
        self.has_program.store(runs, Ordering::SeqCst);
    }

    /// Whether the program said that nothing more comes.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst)
    }

    /// Lets the program go on that waits in [`ResourceMonitor::finish`].
    pub(crate) fn release(&self, deployment: &Deployment) {
        self.released.store(true, Ordering::SeqCst);
        deployment.stirred.notify_waiters();
    }
}

/// The monitor of a deployment.
#[derive(Debug)]
pub(crate) struct Gate(pub(crate) Arc<Deployment>);

impl Gate {
    /// Runs a request to its end, whatever becomes of who asked. What it may come to is put into a box when it begins:
    /// a program has thousands waiting to, and each would otherwise fill memory with it three times over.
    async fn carry_out<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, MonitorError>> + Send + 'static,
    ) -> Result<T, MonitorError> {
        if self.0.is_stopping() {
            return Err(MonitorError::closing());
        }
        let entered = self.0.enter();
        let task = tokio::spawn(async move {
            let outcome = request.await;
            drop(entered);
            outcome
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => {
                self.0.fail(&Urn::default(), format!("a bug in the engine: {error}"));
                Err(MonitorError::closing())
            }
        }
    }
}

#[async_trait]
impl ResourceMonitor for Gate {
    async fn register(&self, mut request: RegisterRequest) -> Result<Registered, MonitorError> {
        self.0.monitor.traces.lead(&request.led_by, &mut request.stack_trace);
        let deployment = Arc::clone(&self.0);
        self.carry_out(async move { Box::pin(deployment.register(request)).await }).await
    }

    async fn register_outputs(&self, urn: &Urn, outputs: PropertyMap) -> Result<(), MonitorError> {
        if urn.qualified_type() == ROOT_STACK_TYPE {
            // Whether these are the stack's outputs depends on how it all ends.
            self.0.monitor.remembered().stack_outputs = Some(outputs);
            return Ok(());
        }
        let (deployment, urn) = (Arc::clone(&self.0), urn.clone());
        self.carry_out(async move {
            Box::pin(deployment.set_outputs(&urn, outputs)).await.map_err(|_| MonitorError::closing())
        })
        .await
    }

    async fn read(&self, mut request: ReadRequest) -> Result<Registered, MonitorError> {
        self.0.monitor.traces.lead(&request.led_by, &mut request.stack_trace);
        let deployment = Arc::clone(&self.0);
        self.carry_out(async move { Box::pin(deployment.read_resource(request)).await }).await
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<Invoked, MonitorError> {
        let deployment = Arc::clone(&self.0);
        self.carry_out(async move { Box::pin(deployment.invoke(request)).await }).await
    }

    async fn call(&self, mut request: CallRequest) -> Result<CallAnswer, MonitorError> {
        self.0.monitor.traces.lead(&request.led_by, &mut request.stack_trace);
        let deployment = Arc::clone(&self.0);
        self.carry_out(async move { Box::pin(deployment.call(request)).await }).await
    }

    fn require_packages(&self, packages: Vec<PackageDescriptor>) -> Result<(), MonitorError> {
        self.0.require_packages(packages)
    }

    async fn register_package(&self, package: PackageRequest) -> Result<String, MonitorError> {
        self.0.register_package(package)
    }

    fn add_stack_transform(&self, transform: Arc<dyn Transform>) -> Result<(), MonitorError> {
        self.0.monitor.remembered().stack_transforms.push(transform);
        Ok(())
    }

    fn add_stack_invoke_transform(&self, transform: Arc<dyn InvokeTransform>) -> Result<(), MonitorError> {
        self.0.monitor.remembered().invoke_transforms.push(transform);
        Ok(())
    }

    fn add_hook(&self, name: String, hook: HookRegistration) -> Result<(), MonitorError> {
        self.0.hooks.add(name, hook).map_err(MonitorError::new)
    }

    fn add_error_hook(&self, name: String, hook: Arc<dyn ErrorHook>) -> Result<(), MonitorError> {
        self.0.hooks.add_error(name, hook).map_err(MonitorError::new)
    }

    async fn finish(&self) {
        self.0.monitor.finished.store(true, Ordering::SeqCst);
        self.0.stirred.notify_waiters();
        loop {
            let stirred = self.0.stirred.notified();
            if self.0.monitor.released.load(Ordering::SeqCst) {
                return;
            }
            stirred.await;
        }
    }

    fn log(&self, diagnostic: Diagnostic) {
        self.0.send(Event::Diagnostic(diagnostic));
    }

    fn root(&self) -> Urn {
        self.0.world().root.clone()
    }

    async fn publish_views(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), MonitorError> {
        self.0.views.publish(token, steps).map_err(MonitorError::new)
    }

    async fn schema(&self, package: &PackageDescriptor) -> Result<String, MonitorError> {
        let fail = |error: crate::ProviderError| MonitorError {
            kind: match error.kind {
                crate::ProviderErrorKind::Unimplemented => crate::MonitorErrorKind::Unimplemented,
                _ => crate::MonitorErrorKind::Invalid,
            },
            message: error.message,
        };
        let provider = self.0.registry.load(package).await.map_err(fail)?;
        provider.schema(package.parameterization.clone()).await.map_err(fail)
    }
}
