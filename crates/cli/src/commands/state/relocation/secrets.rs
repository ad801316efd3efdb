//! The secrets of resources that move: opened with the keys of one stack, sealed with those of the other.

use super::{Before, Plan, Stacks};
use crate::context::{Context, secrets_failure};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{secrets_provider, snapshot_secrets};
use drystone_model::{Json, Resource, Snapshot};
use drystone_secrets::{Crypter, Manager, stored};

/// The keys of both stacks. None is derived before it is needed (S18).
pub(super) struct Keys<'a> {
    context: &'a Context,
    stacks: &'a Stacks,
    source: Manager,
    /// None where the destination has no secrets provider yet.
    destination: Option<Manager>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(context: &'a Context, stacks: &'a Stacks, before: &Before) -> Self {
        let destination = before.destination.snapshot.secrets_provider.as_ref();
        Self {
            context,
            stacks,
            source: context.snapshot_secrets(&stacks.source, &before.source),
            destination: destination
                .map(|_| context.snapshot_secrets(&stacks.destination, &before.destination)),
        }
    }

    /// Whether a resource that moves and one of the destination are the same but for how their secrets are sealed.
    pub(super) fn same(&self, moving: &Resource, there: &Resource) -> Outcome<bool> {
        let bare = |resource: &Resource| Resource {
            inputs: Default::default(),
            outputs: Default::default(),
            replacement_trigger: None,
            ..resource.clone()
        };
        if bare(moving) != bare(there) {
            return Ok(false);
        }
        for (ours, theirs) in texts(moving).into_iter().zip(texts(there)) {
            if ours != theirs && !self.same_text(ours, theirs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn same_text(&self, ours: &str, theirs: &str) -> Outcome<bool> {
        let ours = revealed(ours, self.source.crypter().as_ref())?;
        let theirs = match &self.destination {
            Some(manager) => revealed(theirs, manager.crypter().as_ref())?,
            None => theirs.to_owned(),
        };
        Ok(match (Json::parse(ours), Json::parse(theirs)) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            _ => false,
        })
    }

    /// Seals the secrets of what arrived for the destination.
    pub(super) fn seal_arrivals(&self, plan: &mut Plan) -> Outcome {
        let arrivals = plan.destination.resources.split_off(plan.arrived);
        let mut arrivals = Snapshot { resources: arrivals, ..Snapshot::default() };
        let mut holds_secrets = false;
        for text in arrivals.resources.iter().flat_map(texts) {
            holds_secrets |= stored::holds_secrets(text).map_err(secrets_failure)?;
        }
        if holds_secrets {
            let destination = match &self.destination {
                Some(manager) => manager.clone(),
                None => self.first_manager()?,
            };
            if !destination.opens_what_is_sealed_by(&self.source) {
                let (from, to) = (self.source.crypter().as_ref(), destination.crypter().as_ref());
                snapshot_secrets::reseal(&mut arrivals, from, to)?;
            }
            plan.destination.secrets_provider = Some(destination.provider().clone());
        }
        plan.destination.resources.append(&mut arrivals.resources);
        Ok(())
    }

    /// The manager that the destination's settings name, or a new one that they name from now on.
    fn first_manager(&self) -> Outcome<Manager> {
        let stack = &self.stacks.destination;
        let project =
            self.context.project()?.filter(|project| Some(project.name.as_str()) == stack.project());
        let project = project.ok_or_else(|| {
            Failure::new(
                ExitCode::Configuration,
                format!("{stack} has no secrets provider, and secrets move to it"),
            )
            .hint("run the command in the folder of its project")
        })?;
        let mut file = self.context.stack_file(&project, stack)?;
        if let Some(manager) = self.context.settings_secrets(stack, &file.settings)? {
            return Ok(manager);
        }
        let manager = secrets_provider::fresh(self.context, &file.settings)?;
        secrets_provider::record(&mut file.settings, &manager)?;
        file.save().map_err(Failure::configuration)?;
        Ok(manager)
    }
}

fn texts(resource: &Resource) -> [&str; 3] {
    let trigger = resource.replacement_trigger.as_ref().map_or("null", Json::text);
    [resource.inputs.text(), resource.outputs.text(), trigger]
}

fn revealed(text: &str, crypter: &dyn Crypter) -> Outcome<String> {
    let revealed = stored::reveal(&[text], crypter).map_err(secrets_failure)?.pop().flatten();
    Ok(revealed.unwrap_or_else(|| text.to_owned()))
}
