//! What must be true after an operation.

use crate::stack::{Outcome, Stack};
use crate::world::{Owner, World};
use drystone_dialects::pulumi::properties::{decode_plaintext, decode_properties, encode_plaintext};
use drystone_engine::{Diagnostic, Ending, Event, Op, PropertyMap, Registered, Registration, Severity};
use drystone_model::{
    OperationKind, Properties, ProviderReference, Resource, Secret, SecretsProvider, Snapshot, Urn, Value,
    is_provider_type,
};
use drystone_secrets::{CodecError, Manager, Nop, Reuse, Sealer, ValueText};
use std::collections::{BTreeMap, BTreeSet};

/// The states of a stack and the things of its world, with everything left out that differs from run to run.
pub(crate) type Essence = (BTreeSet<String>, Vec<String>);

/// Whether a state says that a thing exists which the stack owns.
fn owns(resource: &Resource) -> bool {
    resource.custom
        && !resource.external
        && !resource.pending_replacement
        && !is_provider_type(&resource.type_token)
}

impl Outcome {
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.report.as_ref().map(|report| &report.ending)
    }

    pub(crate) fn succeeded(&self) -> bool {
        self.ending() == Some(&Ending::Succeeded)
    }

    /// What was said with at least that severity.
    pub(crate) fn messages(&self, severity: Severity) -> Vec<String> {
        let said = |event: &Event| match event {
            Event::Diagnostic(Diagnostic { urn, message, severity: level, .. }) if *level >= severity => {
                Some(format!("{urn}: {message}"))
            }
            _ => None,
        };
        self.events.iter().filter_map(said).collect()
    }

    /// How many times each step was done to each resource.
    pub(crate) fn steps(&self) -> BTreeMap<(Op, Urn), usize> {
        let mut steps = BTreeMap::new();
        for event in &self.events {
            if let Event::StepDone(step) = event {
                *steps.entry((step.op, step.urn.clone())).or_default() += 1;
            }
        }
        steps
    }

    /// Everything that is wrong, whatever the operation was.
    pub(crate) fn wrongs(&self) -> Vec<String> {
        let mut wrongs = self.aftermath.wrongs.clone();
        wrongs.extend(self.written.wrongs.clone());
        let bugs =
            self.messages(Severity::Error).into_iter().filter(|text| text.contains("a bug in the engine"));
        wrongs.extend(bugs);
        if let Some(report) = &self.report {
            if !report.recorded && self.written.entries > 0 {
                wrongs.push("entries were written, and the report denies it".to_owned());
            }
            let silent = self.messages(Severity::Error).is_empty();
            if report.ending == Ending::Failed && silent && !self.aftermath.bailed {
                wrongs.push("the operation failed, and nobody was told why".to_owned());
            }
        }
        wrongs
    }

    /// Where what people and programs were told differs from what the journal makes of it.
    pub(crate) fn differences(&self, snapshot: &Snapshot) -> Vec<String> {
        let mut wrongs = Vec::new();
        let live: BTreeMap<&Urn, &Resource> = snapshot
            .resources
            .iter()
            .filter(|resource| !resource.delete)
            .map(|resource| (&resource.urn, resource))
            .collect();
        let mut last: BTreeMap<Urn, Option<(String, PropertyMap, PropertyMap)>> = BTreeMap::new();
        for event in &self.events {
            let step = match event {
                Event::StepDone(step) => step,
                // What a failed step left is not told.
                Event::StepFailed(step) => {
                    last.remove(&step.urn);
                    continue;
                }
                _ => continue,
            };
            match step.op {
                // Told of a component for its outputs, and otherwise of what is made next or was made before.
                Op::Replace if step.new.as_ref().is_none_or(|new| new.record.custom) => {}
                Op::Delete | Op::Discard | Op::RemovePendingReplace => {
                    last.insert(step.urn.clone(), None);
                }
                Op::DeleteReplaced | Op::DiscardReplaced => {
                    // The replacement is told of by its own step; one that was made before stays.
                    let made = |known: &Option<(String, PropertyMap, PropertyMap)>| {
                        let gone = step.old.as_ref().map(|old| &old.record.id);
                        known.as_ref().is_some_and(|(id, ..)| Some(id) != gone)
                    };
                    if !last.get(&step.urn).is_some_and(made) {
                        last.remove(&step.urn);
                    }
                }
                Op::Refresh if step.new.as_ref().is_none_or(|new| new.record.delete) => {}
                // A resource that is left out of a run is told of and not recorded.
                Op::Same if step.old.is_none() => {}
                _ => {
                    let new = step.new.as_ref();
                    let told =
                        new.map(|new| (new.record.id.clone(), new.inputs.clone(), new.outputs.clone()));
                    last.insert(step.urn.clone(), told);
                }
            }
        }
        for (urn, told) in last {
            match (told, live.get(&urn)) {
                (None, Some(_)) => wrongs.push(format!("{urn} was told to be deleted and is in the state")),
                (Some((id, inputs, outputs)), Some(resource)) => {
                    let held = (&resource.id, open(&resource.inputs), open(&resource.outputs));
                    if held != (&id, inputs.clone(), outputs.clone()) {
                        wrongs.push(format!(
                            "{urn} was told as {id} {inputs:?} {outputs:?} and the state holds {held:?}"
                        ));
                    }
                }
                _ => {}
            }
        }
        wrongs
    }
}

impl Outcome {
    /// What the program was answered, with everything left out that differs from run to run.
    pub(crate) fn answered(&self) -> BTreeSet<String> {
        let shown = |properties: &PropertyMap| -> BTreeMap<String, Value> {
            properties.iter().map(|(key, value)| (key.clone(), value.revealed())).collect()
        };
        let answers = self.answers.iter();
        let texts = answers.map(|answer| {
            let Registered { urn, properties, result, unknown, .. } = answer;
            let mut properties = shown(properties);
            leave_version_out(urn, &mut properties);
            without_ids(&format!("{urn} {result:?} unknown={unknown} {properties:?}"))
        });
        texts.collect()
    }

    /// Where the program was answered something else than the state holds.
    pub(crate) fn lies(&self, snapshot: &Snapshot) -> Vec<String> {
        let mut wrongs = Vec::new();
        for answer in self.answers.iter().filter(|answer| answer.result == Registration::Done) {
            let is_it = |resource: &&Resource| !resource.delete && resource.urn == answer.urn;
            // One that the operation was not about is told under the name that it had, which its parent's may change.
            let left = |resource: &&Resource| {
                let (one, other) = (&resource.urn, &answer.urn);
                !resource.delete
                    && resource.id == answer.id
                    && (one.name(), one.type_token()) == (other.name(), other.type_token())
            };
            let mut live = snapshot.resources.iter();
            let held = live.clone().find(is_it).or_else(|| live.find(left).filter(|_| !answer.id.is_empty()));
            if answer.unknown || held.is_some_and(|held| !held.custom) {
                continue;
            }
            let held = held.map(|held| (held.id.clone(), open(&held.outputs)));
            if held.as_ref().is_none_or(|(id, outputs)| (id, outputs) != (&answer.id, &answer.properties)) {
                let told = (&answer.id, &answer.properties);
                wrongs
                    .push(format!("{}: the program was told {told:?}, the state holds {held:?}", answer.urn));
            }
        }
        wrongs
    }
}

impl Stack {
    /// A thing that was made for a resource and that the state does not name.
    pub(crate) fn thing_unheard(&self, urn: &Urn) -> Option<String> {
        let held = |id: &String| self.snapshot.resources.iter().any(|other| other.id == *id);
        let things = &self.world.things;
        let mut unheard =
            things.iter().filter(|(id, thing)| thing.owner == Owner::Stack && thing.urn == *urn && !held(id));
        unheard.next().map(|(id, _)| id.clone())
    }

    /// What pending creations made, by resource.
    pub(crate) fn made_unheard(&self) -> BTreeMap<String, String> {
        let creating = self.snapshot.pending_operations.iter();
        let creating = creating.filter(|operation| operation.kind == OperationKind::Creating);
        // Nothing can be read back whose provider is gone.
        let known = |reference: &str| {
            let mut resources = self.snapshot.resources.iter();
            resources.any(|resource| format!("{}::{}", resource.urn, resource.id) == reference)
        };
        let creating = creating.filter(|operation| known(&operation.resource.provider));
        let made = |urn: &Urn| Some((urn.to_string(), self.thing_unheard(urn)?));
        creating.filter_map(|operation| made(&operation.resource.urn)).collect()
    }

    /// Deletes what pending creations made and the state does not name.
    pub(crate) fn delete_unheard(&mut self) {
        let urns: Vec<Urn> =
            self.snapshot.pending_operations.iter().map(|operation| operation.resource.urn.clone()).collect();
        for urn in urns {
            while let Some(id) = self.thing_unheard(&urn) {
                self.world.delete(&id);
            }
        }
    }

    /// Whether the state, its pending operations and the world agree: nothing that exists is missing or there twice,
    /// and nothing is named that is gone. Takes note of what was left behind on purpose.
    pub(crate) fn account(&mut self, outcome: &Outcome) -> Vec<String> {
        let mut wrongs = Vec::new();
        let mut owners: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
        for resource in self.snapshot.resources.iter().filter(|resource| owns(resource)) {
            owners.entry(&resource.id).or_default().push(resource);
        }
        for (id, resources) in &owners {
            if resources.len() > 1 {
                let urns: Vec<_> =
                    resources.iter().map(|resource| (&resource.urn, resource.delete)).collect();
                wrongs.push(format!("{id} is in the state twice: {urns:?}"));
            }
        }
        for resource in &self.snapshot.resources {
            let outputs = open(&resource.outputs);
            let leaked = open(&resource.inputs).into_iter().find(|(key, input)| {
                input.is_secret() && outputs.get(key).is_some_and(|output| !output.is_secret())
            });
            wrongs.extend(leaked.map(|(key, _)| format!("S17: {} shows its secret {key}", resource.urn)));
        }
        let external = self.snapshot.resources.iter().filter(|resource| resource.external);
        let external: BTreeSet<&str> = external.map(|resource| resource.id.as_str()).collect();
        let mut creating: BTreeMap<&Urn, usize> = BTreeMap::new();
        let mut doubtful: BTreeSet<&str> = BTreeSet::new();
        for operation in &self.snapshot.pending_operations {
            match operation.kind {
                OperationKind::Creating => *creating.entry(&operation.resource.urn).or_default() += 1,
                _ => {
                    doubtful.insert(&operation.resource.id);
                }
            }
        }
        for (id, thing) in &mut self.world.things {
            if owners.contains_key(id.as_str()) {
                thing.owner = Owner::Stack;
            } else if external.contains(id.as_str()) {
                thing.owner = Owner::Outside;
            } else if thing.owner == Owner::Stack {
                match creating.get_mut(&thing.urn) {
                    Some(count) if *count > 0 => *count -= 1,
                    // It goes when what it is within goes.
                    _ if outcome.written.retained.contains(id) => thing.owner = Owner::Abandoned,
                    _ => wrongs.push(format!("{id} exists and nobody knows of it")),
                }
            }
        }
        for (id, resources) in owners {
            if self.world.things.contains_key(id) || self.world.ghosts.contains(id) {
                continue;
            }
            if doubtful.contains(id) {
                self.world.ghosts.insert(id.to_owned());
            } else {
                wrongs.push(format!("{id} is gone and the state names it: {}", resources[0].urn));
            }
        }
        wrongs
    }

    /// Where the state differs from the world after everything was brought up to date.
    pub(crate) fn stale(&self) -> Vec<String> {
        let mut wrongs = Vec::new();
        for resource in self.snapshot.resources.iter().filter(|resource| owns(resource)) {
            if resource.delete {
                wrongs.push(format!("{} still waits to be deleted", resource.urn));
            }
            let Some(thing) = self.world.things.get(&resource.id) else {
                wrongs.push(format!("{} is gone and the state names it: {}", resource.id, resource.urn));
                continue;
            };
            let revealed = |map: &PropertyMap| Value::Object(map.clone()).revealed();
            let exists = revealed(&World::outputs(&resource.id, &thing.properties));
            let held = revealed(&open(&resource.outputs));
            if !exists.same_as(&held) {
                wrongs.push(format!("{} is {exists:?} and the state holds {held:?}", resource.urn));
            }
        }
        let awaiting = self.snapshot.resources.iter().filter(|resource| resource.pending_replacement);
        wrongs.extend(awaiting.map(|resource| format!("{} still waits for its replacement", resource.urn)));
        wrongs
    }

    /// The end state and the world, with everything left out that differs from run to run.
    pub(crate) fn essence(&self) -> Essence {
        let state = self.snapshot.resources.iter().map(essence_of).collect();
        let owned = self.world.things.values().filter(|thing| thing.owner == Owner::Stack);
        let mut things: Vec<String> = owned
            .map(|thing| {
                let properties = thing.properties.iter().map(|(key, value)| (key.clone(), value.revealed()));
                without_ids(&format!("{:?}", properties.collect::<BTreeMap<_, _>>()))
            })
            .collect();
        things.sort();
        (state, things)
    }
}

fn essence_of(resource: &Resource) -> String {
    let provider = ProviderReference::parse(&resource.provider).map(|reference| reference.urn);
    let sorted = |urns: &[Urn]| urns.iter().cloned().collect::<BTreeSet<_>>();
    let properties: BTreeMap<_, _> = resource
        .property_dependencies
        .iter()
        .map(|(key, urns)| (key, sorted(urns.as_deref().unwrap_or_default())))
        .filter(|(_, urns)| !urns.is_empty())
        .collect();
    let mut outputs = shown(&resource.outputs);
    leave_version_out(&resource.urn, &mut outputs);
    without_ids(&format!(
        "{} custom={} external={} delete={} parent={} provider={provider:?} dependencies={:?} of properties={properties:?} \
         protect={} retain={} with={} replace with={:?} errors={:?} inputs={:?} outputs={:?}",
        resource.urn,
        resource.custom,
        resource.external,
        resource.delete,
        resource.parent,
        sorted(&resource.dependencies),
        resource.protect,
        resource.retain_on_delete,
        resource.deleted_with,
        sorted(&resource.replace_with),
        resource.init_errors,
        shown(&resource.inputs),
        outputs,
    ))
}

/// Another version of a provider changes nothing for its plugin, so that outputs follow only with something else.
fn leave_version_out(urn: &Urn, outputs: &mut BTreeMap<String, Value>) {
    if is_provider_type(urn.type_token()) {
        outputs.remove("version");
    }
}

/// What properties hold. Whether it is secret may depend on when it was last written, and is checked elsewhere.
fn shown(properties: &Properties) -> BTreeMap<String, Value> {
    open(properties).into_iter().map(|(key, value)| (key, value.revealed())).collect()
}

/// A text without ids: the numbers that they end with, and what follows `arn:`.
fn without_ids(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (index, part) in text.split("arn:").enumerate() {
        let part = match index {
            0 => part,
            _ => &part[part.find(['"', '\\']).unwrap_or(part.len())..],
        };
        let mut skipping = false;
        for c in part.chars() {
            skipping = c == '~' || (skipping && c.is_ascii_digit());
            if !skipping {
                plain.push(c);
            }
        }
    }
    plain
}

struct Codec;

impl ValueText for Codec {
    fn write(&self, value: &Value) -> Result<String, CodecError> {
        Ok(encode_plaintext(value)?)
    }

    fn read(&self, text: &str) -> Result<Value, CodecError> {
        Ok(decode_plaintext(text)?)
    }
}

/// Properties of the state with their secrets open.
pub(crate) fn open(properties: &Properties) -> PropertyMap {
    let values = decode_properties(properties).unwrap();
    let mut object = Value::Object(values);
    let sealed = object.secrets_mut().iter().any(|secret| matches!(secret, Secret::Sealed(_)));
    if sealed {
        let manager = Manager::new(SecretsProvider::default(), std::sync::Arc::new(Nop));
        let sealer = Sealer::new(&manager, Reuse::On).unwrap();
        sealer.open_values(&Codec, &mut [("", &mut object)]).unwrap();
    }
    match object {
        Value::Object(values) => values,
        _ => PropertyMap::new(),
    }
}
