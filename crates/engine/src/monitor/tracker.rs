//! What is there already, for invokes that must not run before what they depend on.

use drystone_model::Urn;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The resources that requests left so far.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    tracked: Mutex<Tracked>,
    stirred: Notify,
}

#[derive(Debug, Default)]
struct Tracked {
    resources: HashMap<Urn, Existence>,
    children: HashMap<Urn, Vec<Urn>>,
    /// How many registrations are under way beneath a parent.
    under_way: HashMap<Urn, usize>,
}

/// Whether a resource is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existence {
    /// It stands for what is beneath it.
    Component,
    /// It has an id.
    There,
    /// It is not made yet: this is a preview, or the operation is not about it.
    Missing,
}

/// A registration that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay<'a> {
    tracker: &'a Tracker,
    parent: Urn,
}

impl Tracker {
    /// Counts a registration beneath a parent.
    pub(crate) fn begin(&self, parent: &Urn) -> UnderWay<'_> {
        *self.lock().under_way.entry(parent.clone()).or_default() += 1;
        UnderWay { tracker: self, parent: parent.clone() }
    }

    /// Remembers a resource that a request left.
    pub(crate) fn track(&self, urn: &Urn, parent: &Urn, existence: Existence) {
        let mut tracked = self.lock();
        if tracked.resources.insert(urn.clone(), existence).is_none() {
            tracked.children.entry(parent.clone()).or_default().push(urn.clone());
        }
        drop(tracked);
        self.stirred.notify_waiters();
    }

    /// Whether anything is missing of what these stand for: a custom resource for itself, a component for everything
    /// beneath it down to the first custom resources. Waits for registrations that are under way there.
    pub(crate) async fn is_missing(&self, roots: &[Urn]) -> bool {
        loop {
            let stirred = self.stirred.notified();
            tokio::pin!(stirred);
            stirred.as_mut().enable();
            let told = self.lock().expand(roots);
            match told {
                Some(missing) => return missing,
                None => stirred.await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tracked> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tracked {
    /// Whether anything is missing; nothing while it cannot be told yet.
    fn expand(&self, roots: &[Urn]) -> Option<bool> {
        let mut components: HashSet<&Urn> = HashSet::new();
        let mut pending: Vec<&Urn> = roots.iter().collect();
        while let Some(urn) = pending.pop() {
            match self.resources.get(urn) {
                Some(Existence::Missing) => return Some(true),
                Some(Existence::Component) if components.insert(urn) => {
                    pending.extend(self.children.get(urn).into_iter().flatten());
                }
                _ => {}
            }
        }
        let waiting = components.into_iter().any(|urn| self.under_way.contains_key(urn));
        if waiting { None } else { Some(false) }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut tracked = self.tracker.lock();
        if let Some(count) = tracked.under_way.get_mut(&self.parent) {
            *count -= 1;
            if *count == 0 {
                tracked.under_way.remove(&self.parent);
            }
        }
        drop(tracked);
        self.tracker.stirred.notify_waiters();
    }
}
