//! The secrets of a whole snapshot, opened and sealed in one batch. Every other byte stays as it is.

use crate::context::secrets_failure;
use crate::report::{Failure, Outcome};
use drystone_dialects::pulumi::properties::holds_open_secret;
use drystone_model::{Json, Properties, Resource, Snapshot};
use drystone_secrets::{Crypter, Error, stored};

/// Opens every sealed secret and writes it in clear, for who asked to see it (S17).
pub(crate) fn reveal(snapshot: &mut Snapshot, crypter: &dyn Crypter) -> Outcome {
    rewrite(snapshot, |texts| stored::reveal(texts, crypter))
}

/// Opens every secret with one crypter and seals it with another.
pub(crate) fn reseal(snapshot: &mut Snapshot, from: &dyn Crypter, to: &dyn Crypter) -> Outcome {
    rewrite(snapshot, |texts| stored::reseal(texts, from, to))
}

/// Seals every secret that stands in clear.
pub(crate) fn conceal(snapshot: &mut Snapshot, crypter: &dyn Crypter) -> Outcome {
    rewrite(snapshot, |texts| stored::conceal(texts, crypter))
}

/// Checks that every sealed secret opens, and says what is wrong with the first that does not.
pub(crate) fn check(snapshot: &Snapshot, crypter: &dyn Crypter) -> Outcome {
    stored::reveal(&texts(snapshot), crypter).map(drop).map_err(secrets_failure)
}

/// Whether a secret stands in it in clear.
pub(crate) fn holds_open(snapshot: &Snapshot) -> bool {
    resources(snapshot).any(|resource| {
        let stored = [resource.inputs.json(), resource.outputs.json(), resource.replacement_trigger.as_ref()];
        stored.into_iter().flatten().any(holds_open_secret)
    })
}

type Batch = Result<Vec<Option<String>>, Error>;

fn rewrite(snapshot: &mut Snapshot, batch: impl FnOnce(&[&str]) -> Batch) -> Outcome {
    let rewritten = batch(&texts(snapshot)).map_err(secrets_failure)?;
    let mut rewritten = rewritten.into_iter();
    let mut next = || -> Outcome<Option<Json>> {
        let text = rewritten.next().flatten();
        text.map(Json::parse)
            .transpose()
            .map_err(|error| Failure::general(format!("rewriting secrets: {error}")))
    };
    let operations = snapshot.pending_operations.iter_mut().map(|operation| &mut operation.resource);
    for resource in snapshot.resources.iter_mut().chain(operations) {
        if let Some(json) = next()? {
            resource.inputs = Properties::new(json);
        }
        if let Some(json) = next()? {
            resource.outputs = Properties::new(json);
        }
        if resource.replacement_trigger.is_some()
            && let Some(json) = next()?
        {
            resource.replacement_trigger = Some(json);
        }
    }
    Ok(())
}

/// The texts that may hold secrets, in the order in which [`rewrite`] puts them back.
fn texts(snapshot: &Snapshot) -> Vec<&str> {
    resources(snapshot).flat_map(texts_of).flatten().collect()
}

fn texts_of(resource: &Resource) -> [Option<&str>; 3] {
    let trigger = resource.replacement_trigger.as_ref().map(Json::text);
    [Some(resource.inputs.text()), Some(resource.outputs.text()), trigger]
}

fn resources(snapshot: &Snapshot) -> impl Iterator<Item = &Resource> {
    let operations = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    snapshot.resources.iter().chain(operations)
}
