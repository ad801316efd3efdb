//! Outputs that a program registers for its components and its stack.

use super::hooks::Sides;
use crate::deployment::{Deployment, Stopped};
use crate::known::Known;
use crate::world::Decision;
use crate::{Event, HookMoment, Op, PropertyMap, StepEvent};
use drystone_model::Urn;
use std::sync::Arc;
use std::time::Duration;

impl Deployment {
    /// Sets the outputs of a component or of the stack.
    pub(crate) async fn set_outputs(
        self: &Arc<Self>,
        urn: &Urn,
        outputs: PropertyMap,
    ) -> Result<(), Stopped> {
        let (known, old, decision) = {
            let world = self.world();
            let disposition = world.disposition(urn);
            (world.news.get(urn).cloned(), world.old_of(urn).cloned(), disposition.decision)
        };
        if decision == Some(Decision::SkippedCreate) {
            return Ok(());
        }
        let Some(known) = known else {
            let message = format!("cannot complete a resource '{urn}' whose registration isn't pending");
            return Err(self.fail(urn, message));
        };
        let mut state = (*known.state(&self.vault).map_err(|message| self.fail(urn, message))?).clone();
        state.outputs = outputs;
        super::protect_outputs(self, &mut state);
        self.admit_outputs(urn, &state.outputs)?;
        let state = Arc::new(state);
        let mut resource = None;
        if self.recorder.is_recording() {
            let sealed = self.vault.seal(&state, Some(&known)).map_err(|message| self.fail(urn, message))?;
            let unchanged = known.sealed() == Some(&sealed.resource);
            let written =
                self.recorder.outputs(known.place, sealed.resource.clone(), sealed.byte_strings, unchanged);
            written.await.map_err(|error| self.lose_journal(&error))?;
            resource = Some(sealed.resource);
        }
        self.remember(&Known::new(known.place, Arc::clone(&state), resource));
        let before = old.and_then(|old| old.state(&self.vault).ok());
        if !state.record.custom {
            let sides = Sides { old: before.as_deref(), new: Some(&state), applied: true };
            match decision {
                Some(Decision::Create) => self.run_hooks_after(HookMoment::AfterCreate, sides).await,
                Some(Decision::Update) => self.run_hooks_after(HookMoment::AfterUpdate, sides).await,
                _ => {}
            }
        }
        self.send(Event::StepDone(StepEvent {
            op: match decision {
                Some(Decision::Create) => Op::Create,
                Some(Decision::Update) => Op::Update,
                Some(Decision::Replace) => Op::Replace,
                _ => Op::Same,
            },
            urn: urn.clone(),
            provider: state.record.provider.clone(),
            old: before,
            new: Some(state),
            replace_keys: Vec::new(),
            changed_keys: Vec::new(),
            detailed: None,
            logical: true,
            planning: self.options.dry_run,
            doubtful: false,
            result: None,
            duration: Duration::ZERO,
        }));
        Ok(())
    }
}
