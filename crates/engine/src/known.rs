//! States that the snapshot holds.

use crate::{State, vault::Vault};
use drystone_model::{Resource, Urn};
use std::sync::{Arc, OnceLock};

/// Where a state stands in the journal's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In the base, at that position.
    Base(usize),
    /// Made by that operation of this update.
    New(i64),
    /// Nowhere: a preview's, or one that is not to be recorded.
    Nowhere,
}

/// A state that the snapshot holds, opened when somebody looks inside.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) place: Place,
    /// As the snapshot holds it; absent for what was only planned.
    sealed: Option<Resource>,
    open: OnceLock<Arc<State>>,
}

impl Known {
    /// A state of the base.
    pub(crate) fn of_base(index: usize, resource: Resource) -> Arc<Self> {
        Arc::new(Self { place: Place::Base(index), sealed: Some(resource), open: OnceLock::new() })
    }

    /// A state that was just made or changed, with its sealed form if it was recorded.
    pub(crate) fn new(place: Place, state: Arc<State>, sealed: Option<Resource>) -> Arc<Self> {
        Arc::new(Self { place, sealed, open: OnceLock::from(state) })
    }

    /// Everything but the values.
    pub(crate) fn record(&self) -> &Resource {
        match (&self.sealed, self.open.get()) {
            (Some(resource), _) => resource,
            (None, Some(state)) => &state.record,
            (None, None) => unreachable!("a known state is sealed or open"),
        }
    }

    /// The state as the snapshot holds it, where it does.
    pub(crate) fn sealed(&self) -> Option<&Resource> {
        self.sealed.as_ref()
    }

    pub(crate) fn urn(&self) -> &Urn {
        &self.record().urn
    }

    /// The state with its values open.
    pub(crate) fn state(&self, vault: &Vault) -> Result<Arc<State>, String> {
        if let Some(state) = self.open.get() {
            return Ok(Arc::clone(state));
        }
        let state = Arc::new(vault.open(self.record())?);
        Ok(Arc::clone(self.open.get_or_init(|| state)))
    }
}
