//! Where plugins and programs reach this engine.

use crate::loader::Packages;
use crate::trace::CallLog;
use drystone_engine::{Monitor, ViewPublisher};
use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

/// The address that plugins and programs are given, and the operation that answers there.
///
/// The address is there before the operation, because plugins are started with it, and a plain destroy never runs a
/// program. Copies are the same endpoint.
#[derive(Clone)]
pub struct Endpoint {
    address: Arc<str>,
    current: Arc<RwLock<Option<Monitor>>>,
    views: Arc<RwLock<Option<Arc<dyn ViewPublisher>>>>,
    packages: Arc<RwLock<Option<Arc<dyn Packages>>>>,
    log: Option<CallLog>,
}

impl Endpoint {
    pub(crate) fn new(address: impl Into<Arc<str>>) -> Self {
        Self {
            address: address.into(),
            current: Arc::default(),
            views: Arc::default(),
            packages: Arc::default(),
            log: None,
        }
    }

    /// The same endpoint, whose calls are logged.
    pub(crate) fn logged(self, log: Option<CallLog>) -> Self {
        Self { log, ..self }
    }

    /// Where calls are logged, if they are.
    pub(crate) fn log(&self) -> Option<&CallLog> {
        self.log.as_ref()
    }

    /// Host and port.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lets an operation answer from now on.
    pub fn attach(&self, monitor: Monitor) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(monitor);
    }

    /// Lets an operation take views from now on, whether it runs a program or not.
    pub fn attach_views(&self, views: Arc<dyn ViewPublisher>) {
        *self.views.write().unwrap_or_else(PoisonError::into_inner) = Some(views);
    }

    /// Lets schemas and mappings be asked for from now on, whether an operation runs or not.
    pub fn attach_packages(&self, packages: Arc<dyn Packages>) {
        *self.packages.write().unwrap_or_else(PoisonError::into_inner) = Some(packages);
    }

    /// Lets nobody answer any more. The operation is released.
    pub fn detach(&self) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = None;
        *self.views.write().unwrap_or_else(PoisonError::into_inner) = None;
        *self.packages.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Where providers come from that are asked about their packages alone.
    pub(crate) fn packages(&self) -> Option<Arc<dyn Packages>> {
        self.packages.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The operation that takes views, if one runs.
    #[must_use]
    pub fn views(&self) -> Option<Arc<dyn ViewPublisher>> {
        self.views.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The operation that answers, if one runs.
    #[must_use]
    pub fn monitor(&self) -> Option<Monitor> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("address", &self.address).finish_non_exhaustive()
    }
}
