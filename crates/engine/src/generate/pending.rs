//! Operations that were under way when an earlier run died. What became of them is asked before anything else begins.
//!
//! A creation is looked for where its provider can read it back; a resource that was being changed, deleted or read is
//! read again. What is found changes the base as a whole: one `Write` entry, so that a crash leaves either everything
//! as it was or everything as it was found. What cannot be told at the beginning is looked at once more when the run
//! has ended ([`leftover`]).

mod leftover;

use super::target::references;
use crate::deployment::{Deployment, Stopped};
use crate::execute::views::During;
use crate::execute::{moment, protect_outputs, timeout};
use crate::known::Known;
use crate::secrecy::keep_secret;
use crate::{PropertyMap, ProviderError, ReadArguments, ReadState, Severity, State};
use drystone_journal::prune_references;
use drystone_model::{Operation, OperationKind, Resource, Snapshot, Urn, Value, is_provider_type, normalize};
use std::collections::HashSet;
use std::sync::Arc;

/// What was found out about an operation.
#[derive(Debug)]
enum Finding {
    /// What it made, changed or left is there.
    There(Box<State>),
    /// What it was to make is in the stack, under the id that it would have.
    Held(String),
    /// What it was about is not there any more.
    Gone,
    /// There is nothing to find out.
    Moot,
    /// Nobody can tell.
    Unclear(String),
    /// The user named something that is not there. People were told.
    Refused,
}

/// The base as it will be.
#[derive(Debug, Default)]
struct Draft {
    resources: Vec<Resource>,
    /// What stays pending, and why.
    unclear: Vec<(Operation, String)>,
    settled: bool,
    removed: bool,
    byte_strings: bool,
}

impl Deployment {
    /// Settles the operations that an earlier run left pending, as far as it can be.
    pub(crate) async fn resolve_pending(self: &Arc<Self>) -> Result<(), Stopped> {
        let pending = self.base().pending_operations.clone();
        self.warn_of_unused_imports(&pending);
        if pending.is_empty() {
            return Ok(());
        }
        if pending.iter().any(|operation| operation.kind == OperationKind::Creating) {
            self.recorder.follow(self.whole_base());
        }
        let told: Vec<Option<String>> = self.told_ids(&pending);
        let looks = pending.iter().zip(&told).map(|(operation, id)| self.look_for(operation, id.as_deref()));
        let findings = futures::future::join_all(looks).await;
        if findings.iter().any(|finding| matches!(finding, Finding::Refused)) {
            return Err(self.fail_silently());
        }
        if self.is_stopping() {
            return Err(Stopped);
        }
        let sealed = |known: &Arc<Known>| known.record().clone();
        let mut draft =
            Draft { resources: self.world().olds.iter().map(sealed).collect(), ..Draft::default() };
        for ((operation, finding), told) in pending.into_iter().zip(findings).zip(told) {
            self.take_in(&mut draft, operation, finding, told.is_some())?;
        }
        self.drop_held(&mut draft);
        self.warn_of_unclear(&draft);
        if !draft.settled {
            return Ok(());
        }
        if draft.removed {
            prune_references(&mut draft.resources);
        }
        let pending = draft.unclear.into_iter().map(|(operation, _)| operation).collect();
        self.rebase(draft.resources, pending, draft.byte_strings).await
    }

    /// The ids that the user named, each for one operation: of several on one resource that which would have guessed
    /// it, else the first.
    fn told_ids(&self, pending: &[Operation]) -> Vec<Option<String>> {
        let mut told = vec![None; pending.len()];
        for (urn, id) in &self.options.import_pending_creates {
            let about = |operation: &Operation| {
                operation.kind == OperationKind::Creating && operation.resource.urn.as_str() == urn
            };
            let of_it: Vec<usize> = (0..pending.len()).filter(|&at| about(&pending[at])).collect();
            let guesses = |at: usize| {
                let open = self.vault.open(&pending[at].resource);
                open.is_ok_and(|wanted| likely_id(&wanted) == *id)
            };
            let chosen = of_it.iter().copied().find(|&at| guesses(at)).or(of_it.first().copied());
            if let Some(at) = chosen {
                told[at] = Some(id.clone());
            }
        }
        told
    }

    /// The base with its resources.
    fn whole_base(&self) -> Snapshot {
        let resources = self.world().olds.iter().map(|known| known.record().clone()).collect();
        Snapshot { resources, ..self.base().clone() }
    }

    /// Makes other states the base, with these operations pending.
    pub(super) async fn rebase(
        &self,
        resources: Vec<Resource>,
        pending: Vec<Operation>,
        byte_strings: bool,
    ) -> Result<(), Stopped> {
        self.base().pending_operations.clone_from(&pending);
        let rest = self.base().clone();
        let mut snapshot = Snapshot { resources, pending_operations: pending, ..rest };
        // Two that claim one name are told of by whoever takes the snapshot.
        let _ = normalize(&mut snapshot);
        let olds = snapshot.resources.iter().cloned().enumerate();
        let olds: Vec<Arc<Known>> = olds.map(|(index, resource)| Known::of_base(index, resource)).collect();
        let written = self.recorder.rebase(snapshot, byte_strings, olds.clone()).await;
        written.map_err(|error| self.lose_journal(&error))?;
        self.world().set_olds(olds);
        Ok(())
    }

    /// Finds out what became of an operation. Nothing is changed.
    async fn look_for(self: &Arc<Self>, operation: &Operation, told: Option<&str>) -> Finding {
        let resource = &operation.resource;
        let managed = resource.custom && !is_provider_type(resource.urn.type_token());
        if self.options.clear_pending_creates || !managed {
            return Finding::Moot;
        }
        let olds: Vec<Arc<Known>> = self.world().olds.clone();
        let old =
            live(olds.iter().map(|known| known.record()), resource).map(|index| Arc::clone(&olds[index]));
        match (&operation.kind, old) {
            (OperationKind::Creating, _) => self.look_for_creation(resource, told).await,
            // An interrupted creation whose id somebody has told since.
            (OperationKind::Importing, None) if !resource.id.is_empty() => {
                self.look_for_creation(resource, told).await
            }
            (OperationKind::Other(_), _) => Finding::Unclear("this version does not know it".to_owned()),
            (_, Some(old)) => self.look_again(&old).await,
            (_, None) => Finding::Moot,
        }
    }

    /// Looks for something that was being made.
    async fn look_for_creation(self: &Arc<Self>, resource: &Resource, told: Option<&str>) -> Finding {
        let wanted = match self.vault.open(resource) {
            Ok(state) => state,
            Err(message) => return Finding::Unclear(message),
        };
        let id = told.map_or_else(|| likely_id(&wanted), ToOwned::to_owned);
        if told.is_none()
            && let Some(finding) = self.look_in_the_stack(resource, &id)
        {
            return finding;
        }
        let found = match self.read_back(&wanted, &id).await {
            Ok(found) => found,
            Err(error) if told.is_some() => {
                self.diagnose(&resource.urn, Severity::Error, error.message);
                return Finding::Refused;
            }
            Err(error) => return Finding::Unclear(error.message),
        };
        if found.id.is_empty() || found.outputs.is_none() {
            let message = format!("resource '{id}' does not exist");
            if told.is_some() {
                self.diagnose(&resource.urn, Severity::Error, message);
                return Finding::Refused;
            }
            return Finding::Unclear(message);
        }
        if told.is_none() && !agrees(&wanted.inputs, &found) {
            return Finding::Unclear(format!("resource '{id}' exists, but is not what was being made"));
        }
        let mut state = self.as_found(wanted, found);
        let now = moment(self);
        state.record.created = Some(now.clone());
        state.record.modified = Some(now);
        Finding::There(Box::new(state))
    }

    /// What the stack says of the id that a creation would have given. One thing is never in the state twice.
    fn look_in_the_stack(&self, resource: &Resource, id: &str) -> Option<Finding> {
        let world = self.world();
        let holder =
            world.olds.iter().map(|known| known.record()).find(|state| holds(state, resource, id))?;
        Some(match stands_for(holder, resource) {
            true => Finding::Held(id.to_owned()),
            false => Finding::Unclear(format!("the stack has '{id}' as {}", holder.urn)),
        })
    }

    /// Reads something again that the stack has.
    async fn look_again(self: &Arc<Self>, old: &Arc<Known>) -> Finding {
        let before = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Finding::Unclear(message),
        };
        match self.read_back(&before, &before.record.id).await {
            Ok(found) if found.id.is_empty() || found.outputs.is_none() => Finding::Gone,
            Ok(found) => {
                let mut state = self.as_found((*before).clone(), found);
                if state.inputs != before.inputs || state.outputs != before.outputs {
                    state.record.modified = Some(moment(self));
                }
                Finding::There(Box::new(state))
            }
            Err(error) => Finding::Unclear(error.message),
        }
    }

    async fn read_back(self: &Arc<Self>, known: &State, id: &str) -> Result<ReadState, ProviderError> {
        let stopped = |_| ProviderError::new("the operation is ending");
        let _slot = self.slots.acquire().await.map_err(stopped)?;
        let record = &known.record;
        let provider = self.provider(&record.urn, &record.provider).await?;
        self.extend_from_state(record).await.map_err(ProviderError::new)?;
        let token = self.views.reserve(self.surroundings.uuid().to_string());
        let arguments = ReadArguments {
            urn: record.urn.clone(),
            id: id.to_owned(),
            inputs: known.inputs.clone(),
            outputs: known.outputs.clone(),
            timeout: timeout(record, "read"),
            status_token: token.clone(),
            old_views: self.open_views(&record.urn, During::Refresh),
        };
        let answered = provider.read(arguments).await;
        self.views.release(&token);
        answered
    }

    /// A state with what was read in it. What was secret stays so (S17).
    fn as_found(&self, mut state: State, found: ReadState) -> State {
        state.record.id = found.id;
        state.record.init_errors = found.incomplete;
        state.record.refresh_before_update = found.refresh_before_update;
        let mut outputs = found.outputs.unwrap_or_default();
        keep_secret(&mut outputs, &state.outputs);
        state.outputs = outputs;
        if let Some(mut inputs) = found.inputs {
            keep_secret(&mut inputs, &state.inputs);
            state.inputs = inputs;
        }
        protect_outputs(self, &mut state);
        state
    }

    /// Puts a finding into the draft.
    fn take_in(
        &self,
        draft: &mut Draft,
        operation: Operation,
        finding: Finding,
        told: bool,
    ) -> Result<(), Stopped> {
        let urn = operation.resource.urn.clone();
        let kind = operation.kind.as_str().to_owned();
        let live = live(&draft.resources, &operation.resource);
        match finding {
            Finding::Moot | Finding::Refused => draft.settled = true,
            Finding::Held(id) => {
                draft.settled = true;
                self.tell_held(&urn, &id);
            }
            Finding::Unclear(reason) => draft.unclear.push((operation, reason)),
            Finding::Gone => {
                if let Some(index) = live {
                    let gone = draft.resources.remove(index);
                    draft.resources.retain(|resource| resource.view_of != gone.urn);
                }
                (draft.settled, draft.removed) = (true, true);
                self.diagnose(&urn, Severity::Info, format!("interrupted while {kind}: it is gone"));
            }
            Finding::There(state) => {
                let made = matches!(operation.kind, OperationKind::Creating | OperationKind::Importing);
                let before = self.world().old(&state.record.urn).cloned().filter(|_| !made);
                let sealed = self.vault.seal(&state, before.as_deref());
                let sealed = sealed.map_err(|message| self.fail(&urn, message))?;
                draft.byte_strings |= sealed.byte_strings;
                let holder = draft.holder(&operation, &state.record.id);
                if !made {
                    if let Some(index) = live {
                        draft.resources[index] = sealed.resource;
                    }
                    draft.settled = true;
                    let message = format!("interrupted while {kind}: read back from the provider");
                    self.diagnose(&urn, Severity::Info, message);
                } else if let Some(holder) = holder {
                    if stands_for(holder, &operation.resource) {
                        draft.settled = true;
                        self.tell_held(&urn, &state.record.id);
                    } else {
                        let reason = format!("the stack has '{}' as {}", state.record.id, holder.urn);
                        draft.unclear.push((operation, reason));
                    }
                } else if !told && draft.has_its_like(&operation, &state.record.id) {
                    let id = &state.record.id;
                    let reason = format!("'{id}' exists, and the stack has a '{id}' at another provider");
                    draft.unclear.push((operation, reason));
                } else if let Some(other) = live.filter(|&index| !draft.was_to_replace(&operation, index)) {
                    let (found, other) = (&state.record.id, &draft.resources[other].id);
                    let reason =
                        format!("it exists (id {found}) beside the one that the stack has (id {other})");
                    draft.unclear.push((operation, reason));
                } else if draft.adopt(sealed.resource, live) {
                    let id = &state.record.id;
                    let message = format!("read back from the provider: it exists (id {id}), imported");
                    self.diagnose(&urn, Severity::Info, message);
                } else {
                    let reason = "it exists, but the stack lacks what it refers to".to_owned();
                    draft.unclear.push((operation, reason));
                }
            }
        }
        Ok(())
    }

    /// Drops creations that are unclear in themselves, but whose thing another one brought into the stack: of several
    /// tries to make one resource, one made it.
    fn drop_held(&self, draft: &mut Draft) {
        for (operation, reason) in std::mem::take(&mut draft.unclear) {
            let wanted = self.vault.open(&operation.resource).ok();
            let id =
                wanted.filter(|_| operation.kind == OperationKind::Creating).map(|wanted| likely_id(&wanted));
            let holder = id.as_ref().and_then(|id| draft.holder(&operation, id));
            let is_held = holder.is_some_and(|holder| stands_for(holder, &operation.resource));
            match id.filter(|_| is_held) {
                Some(id) => {
                    draft.settled = true;
                    self.tell_held(&operation.resource.urn, &id);
                }
                None => draft.unclear.push((operation, reason)),
            }
        }
    }

    fn tell_held(&self, urn: &Urn, id: &str) {
        let message = format!("interrupted while creating: the stack has it by now (id {id})");
        self.diagnose(urn, Severity::Info, message);
    }

    fn warn_of_unused_imports(&self, pending: &[Operation]) {
        let creating = |urn: &str| {
            pending.iter().any(|operation| {
                operation.kind == OperationKind::Creating && operation.resource.urn.as_str() == urn
            })
        };
        let unused: Vec<&String> =
            self.options.import_pending_creates.keys().filter(|urn| !creating(urn)).collect();
        if !unused.is_empty() {
            let list: String = unused.iter().map(|urn| format!("\n- {urn:?}")).collect();
            let message = format!("The following urns did not correspond to a pending create:{list}");
            self.warn(&Urn::default(), message);
        }
    }

    fn warn_of_unclear(&self, draft: &Draft) {
        if draft.unclear.is_empty() {
            return;
        }
        let line = |(operation, reason): &(Operation, String)| {
            let kind = operation.kind.as_str();
            format!("  * {}, interrupted while {kind}\n    ({reason})\n", operation.resource.urn)
        };
        let list: String = draft.unclear.iter().map(line).collect();
        let message = format!(
            "Attempting to deploy or update resources with {} pending operations from previous deployment.\n{list}\
             Whether they took effect is not known. Look each of them up where its provider keeps it. A creation that \
             succeeded is taken over with `--import-pending-creates <urn> <id>`; `--clear-pending-creates` forgets \
             those that did not. `drystone state ops resolve --import URN=ID` or `--clear URN` does so for one of them \
             without a run.",
            draft.unclear.len()
        );
        self.warn(&Urn::default(), message);
    }
}

impl Draft {
    /// The state that has the thing of an id which an operation is about.
    fn holder(&self, operation: &Operation, id: &str) -> Option<&Resource> {
        self.resources.iter().find(|state| holds(state, &operation.resource, id))
    }

    /// Whether a state at another provider has that id. It may be the same thing.
    fn has_its_like(&self, operation: &Operation, id: &str) -> bool {
        let resource = &operation.resource;
        let like = |state: &Resource| {
            let there = state.custom && !state.external && !state.pending_replacement;
            there && state.id == id && state.type_token == resource.type_token
        };
        self.resources.iter().any(|state| like(state) && state.provider != resource.provider)
    }

    /// Whether a creation was to replace a state. What replaces a state begins with the moment that it was made.
    fn was_to_replace(&self, operation: &Operation, index: usize) -> bool {
        let old = &self.resources[index];
        old.pending_replacement || (old.created.is_some() && old.created == operation.resource.created)
    }

    /// Adds something that was made, if all that it refers to is there. What it was made to replace goes: at once when
    /// it was deleted before, later when it was not.
    fn adopt(&mut self, mut resource: Resource, live: Option<usize>) -> bool {
        let in_place = live.filter(|&index| self.resources[index].pending_replacement);
        let before = &self.resources[..in_place.unwrap_or(self.resources.len())];
        let there: HashSet<&str> = before.iter().map(|resource| resource.urn.as_str()).collect();
        if !references(&resource).all(|urn| there.contains(urn)) {
            return false;
        }
        (resource.delete, resource.pending_replacement) = (false, false);
        match (in_place, live) {
            (Some(index), _) => self.resources[index] = resource,
            (None, superseded) => {
                if let Some(index) = superseded {
                    self.resources[index].delete = true;
                }
                self.resources.push(resource);
            }
        }
        self.settled = true;
        true
    }
}

/// Whether a state is the live one of a resource, under its name or one that it had.
fn stands_for(state: &Resource, resource: &Resource) -> bool {
    !state.delete && (state.urn == resource.urn || resource.aliases.contains(&state.urn))
}

/// Where the live state of a resource is: under its own name first.
fn live<'a>(states: impl IntoIterator<Item = &'a Resource> + Clone, resource: &Resource) -> Option<usize> {
    let of_its_name = |state: &Resource| !state.delete && state.urn == resource.urn;
    let named = states.clone().into_iter().position(of_its_name);
    named.or_else(|| states.into_iter().position(|state| stands_for(state, resource)))
}

/// Whether a state has the thing that a provider would give a resource under an id.
fn holds(state: &Resource, resource: &Resource, id: &str) -> bool {
    state.id == id
        && state.type_token == resource.type_token
        && state.provider == resource.provider
        && state.custom
        && !state.pending_replacement
}

/// What the provider probably calls something whose id was never told.
fn likely_id(state: &State) -> String {
    let record = &state.record;
    for id in [&record.id, &record.import_id] {
        if !id.is_empty() {
            return id.clone();
        }
    }
    name_of(state)
}

/// The name that a provider may take for an id.
fn name_of(state: &State) -> String {
    let record = &state.record;
    match state.inputs.get("name").map(Value::revealed) {
        Some(Value::String(name)) if !name.is_empty() => name,
        _ => record.urn.name().to_owned(),
    }
}

/// Whether what was read can be what was being made: no plain input contradicts it.
fn agrees(wanted: &PropertyMap, found: &ReadState) -> bool {
    wanted.iter().all(|(key, value)| {
        let wanted = value.revealed();
        if !matches!(wanted, Value::String(_) | Value::Number(_) | Value::Bool(_)) {
            return true;
        }
        let places = [found.inputs.as_ref(), found.outputs.as_ref()];
        let actual = places.into_iter().flatten().find_map(|values| values.get(key));
        actual.map(Value::revealed).is_none_or(|actual| actual.is_null() || actual.same_as(&wanted))
    })
}
