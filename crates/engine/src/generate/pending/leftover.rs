//! Creations of an earlier run that could not be found at the beginning, looked at once more when everything is done.
//!
//! That nothing has the id which was guessed does not prove that nothing was made: the provider may give another. So an
//! operation is only dropped where the ids of its kind are known to be names: every state of its type, before this run
//! or after it, has the id that would have been guessed for it. Then the thing is in the state by now, or is asked for
//! a second time and is not there. Everything else stays pending: what may exist is not forgotten (S5).

use super::super::target::references;
use super::{holds, likely_id, name_of, stands_for};
use crate::deployment::Deployment;
use crate::{CancelLevel, Severity, State};
use drystone_model::{Operation, OperationKind, Resource, Snapshot, Urn, is_provider_type};
use std::collections::HashSet;
use std::sync::Arc;

/// Why an operation needs no more attention.
#[derive(Debug)]
enum Settled {
    /// What it was to make is in the state.
    Held(String),
    /// It made nothing.
    NotThere(String),
}

impl Deployment {
    /// Drops pending creations that turned out never to have happened, or whose thing the state has by now. A run that
    /// failed leaves them to the next one.
    pub(crate) async fn settle_leftovers(self: &Arc<Self>) {
        let sound = !self.has_failed() && self.cancellation.level() == CancelLevel::None;
        if !sound || self.unrecorded().is_some() {
            return;
        }
        let pending = self.base().pending_operations.clone();
        if !pending.iter().any(is_creation) {
            return;
        }
        let Some(mut snapshot) = self.recorder.followed() else { return };
        // What this run left under way is the next one's to find out.
        if snapshot.pending_operations.len()
            > pending.iter().filter(|operation| is_creation(operation)).count()
        {
            return;
        }
        let mut open = Vec::new();
        let mut settled = Vec::new();
        for operation in std::mem::take(&mut snapshot.pending_operations) {
            match self.look_back(&operation, &snapshot).await {
                Some(how) => settled.push((operation.resource.urn, how)),
                None => open.push(operation),
            }
        }
        if settled.is_empty() {
            return;
        }
        snapshot.pending_operations = open;
        drop_unasked(&mut snapshot, &self.world().kept_to_be_asked);
        if let Err(error) = self.recorder.conclude(snapshot).await {
            self.lose_journal(&error);
            return;
        }
        for (urn, how) in settled {
            match how {
                Settled::Held(id) => self.tell_held(&urn, &id),
                Settled::NotThere(id) => {
                    let message = format!("interrupted while creating: there is no '{id}', nothing was made");
                    self.diagnose(&urn, Severity::Info, message);
                }
            }
        }
    }

    /// What can be said of an operation now; nothing when nobody can tell.
    async fn look_back(self: &Arc<Self>, operation: &Operation, now: &Snapshot) -> Option<Settled> {
        let resource = &operation.resource;
        let wanted = self.vault.open(resource).ok()?;
        let id = likely_id(&wanted);
        let holder = now.resources.iter().find(|state| holds(state, resource, &id));
        if holder.is_some_and(|holder| stands_for(holder, resource)) {
            return Some(Settled::Held(id));
        }
        let told = !resource.id.is_empty() || !resource.import_id.is_empty();
        if !told && !self.ids_are_names(resource, now) {
            return None;
        }
        if holder.is_some() {
            return Some(Settled::Held(id));
        }
        let found = self.read_back(&wanted, &id).await.ok()?;
        (found.id.is_empty() || found.outputs.is_none()).then_some(Settled::NotThere(id))
    }

    /// Whether the ids of resources like one are their names, as far as the stack can tell.
    fn ids_are_names(&self, resource: &Resource, now: &Snapshot) -> bool {
        let before: Vec<Resource> = self.world().olds.iter().map(|known| known.record().clone()).collect();
        let alike = |state: &&Resource| {
            state.type_token == resource.type_token && state.custom && !state.external && !state.id.is_empty()
        };
        let named = |state: &Resource| {
            let open = self.vault.open(state);
            open.is_ok_and(|open: State| open.record.id == name_of(&open))
        };
        let mut states = before.iter().chain(&now.resources).filter(alike).peekable();
        states.peek().is_some() && states.all(named)
    }
}

fn is_creation(operation: &Operation) -> bool {
    operation.kind == OperationKind::Creating
}

/// Drops the providers that were only kept to be asked about creations, once all of those are settled.
fn drop_unasked(snapshot: &mut Snapshot, kept: &HashSet<Urn>) {
    let resources =
        snapshot.resources.iter().chain(snapshot.pending_operations.iter().map(|left| &left.resource));
    let used: HashSet<Urn> = resources.flat_map(references).map(Urn::new).collect();
    let is_over = |state: &Resource| {
        kept.contains(&state.urn) && !used.contains(&state.urn) && is_provider_type(&state.type_token)
    };
    snapshot.resources.retain(|state| !is_over(state));
}
