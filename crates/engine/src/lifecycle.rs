//! An operation from its beginning to its end.

use crate::deployment::{Deployment, Stopped};
use crate::monitor::Gate;
use crate::{
    CancelLevel, Ending, Event, Monitor, Operation, Program, ProgramError, PropertyMap, Report, Run,
    Severity, Summary,
};
use drystone_model::Urn;
use std::sync::Arc;
use std::time::Duration;

/// Carries an operation out. Everything that it did is in the journal when it returns, and every failure was told.
pub async fn run(run: Run) -> Report {
    let program = run.program.clone();
    let surroundings = Arc::clone(&run.surroundings);
    let started = surroundings.now();
    let deployment = Deployment::new(run);
    let finished = tokio::select! {
        biased;
        () = deployment.cancellation.requested(CancelLevel::Terminate) => false,
        () = deployment.carry_out(program) => true,
    };
    let ending = deployment.ending(finished);
    let summary = Summary {
        changes: deployment.changes(),
        duration: Duration::try_from(surroundings.now().duration_since(started)).unwrap_or_default(),
        dry_run: deployment.options.dry_run,
        succeeded: ending == Ending::Succeeded,
        doubtful: deployment.is_doubtful(),
        policy_packs: deployment.policies.names(),
    };
    deployment.send(Event::Summary(summary));
    let plan = deployment.ledger.take().filter(|_| ending == Ending::Succeeded);
    Report {
        ending,
        changes: deployment.changes(),
        mandatory_violations: deployment.policies.mandatory_violations(),
        recorded: deployment.recorder.changed(),
        plan,
    }
}

impl Deployment {
    async fn carry_out(self: &Arc<Self>, program: Option<Arc<dyn Program>>) {
        let work = async {
            // Whatever stopped it has been told.
            let stopped = self.phases(program).await;
            // Providers hear of a cancellation while what is under way is waited for.
            self.drained().await;
            self.settle_stack_outputs().await;
            if stopped.is_ok() && !self.has_failed() && !self.is_stopping() {
                // Whatever went wrong has been told.
                let _: Result<(), Stopped> = self.analyze_stack().await;
            }
        };
        let watch = async {
            self.cancellation.requested(CancelLevel::Graceful).await;
            tokio::join!(self.registry.cancel(), self.policies.cancel());
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = watch => {}
            () = work => {}
        }
        self.settle_leftovers().await;
        if let Err(error) = self.recorder.flush().await {
            self.lose_journal(&error);
        }
        self.monitor.release(self);
        if self.cancellation.level() == CancelLevel::None {
            tokio::join!(self.registry.cancel(), self.policies.cancel());
        }
    }

    async fn phases(self: &Arc<Self>, program: Option<Arc<dyn Program>>) -> Result<(), Stopped> {
        let runs_program = self.options.operation == Operation::Update || self.options.run_program;
        self.read_naming()?;
        self.migrate_providers().await?;
        self.resolve_pending().await?;
        if self.options.operation == Operation::Import {
            return self.import_all().await;
        }
        self.refresh_first().await?;
        self.check_replacements()?;
        if !runs_program {
            self.check_targets(&self.options.targets)?;
            if self.options.operation == Operation::Destroy {
                self.delete_the_rest().await?;
            }
            return Ok(());
        }
        let Some(program) = program else {
            return Err(self.fail(&Urn::default(), "there is no program to run"));
        };
        let monitor: Monitor = Arc::new(Gate(Arc::clone(self)));
        let mut running = program.run(monitor);
        self.monitor.set_program(true);
        let ended = tokio::select! {
            biased;
            ended = &mut running => Some(ended),
            () = self.finished() => None,
            () = self.stopped() => return Err(Stopped),
        };
        self.monitor.set_program(ended.is_none());
        let failed = matches!(ended, Some(Err(_)));
        if let Some(ended) = ended.clone() {
            self.tell_program_failure(ended);
        }
        self.drained().await;
        if failed || self.is_stopping() {
            return Err(Stopped);
        }
        self.check_targets(&self.options.targets)?;
        match self.options.operation {
            Operation::Refresh => self.refresh_the_rest().await?,
            Operation::Import => {}
            Operation::Update | Operation::Destroy => {
                if !self.has_failed() || self.options.continue_on_error {
                    self.delete_the_rest().await?;
                }
            }
        }
        if ended.is_none() {
            self.monitor.release(self);
            tokio::select! {
                biased;
                ended = &mut running => self.tell_program_failure(ended),
                () = self.stopped() => {}
            }
        }
        Ok(())
    }

    /// Waits until the program says that nothing more comes.
    async fn finished(&self) {
        loop {
            let stirred = self.stirred.notified();
            if self.monitor.is_finished() {
                return;
            }
            stirred.await;
        }
    }

    fn tell_program_failure(&self, ended: Result<(), ProgramError>) {
        match ended {
            Ok(()) => {}
            // A program that is refused because the operation ends has nothing of its own to say.
            Err(_) if self.is_stopping() => self.note_failure(),
            Err(ProgramError::Bailed) => self.note_failure(),
            Err(ProgramError::Failed(message)) => {
                let root = self.world().root.clone();
                self.diagnose(&root, Severity::Error, message);
                self.note_failure();
            }
        }
    }

    /// Sets the stack's outputs. A run that did not come to its end may have missed some, so that those of before stay.
    async fn settle_stack_outputs(self: &Arc<Self>) {
        let Some(outputs) = self.monitor.remembered().stack_outputs.take() else { return };
        let root = self.world().root.clone();
        if root.is_empty() || self.unrecorded().is_some() {
            return;
        }
        let outputs = if self.has_failed()
            || self.policies.mandatory_violations() > 0
            || self.cancellation.level() > CancelLevel::None
        {
            let before = self.world().old(&root).cloned();
            let mut merged: PropertyMap = before
                .and_then(|known| known.state(&self.vault).ok())
                .map(|state| state.outputs.clone())
                .unwrap_or_default();
            merged.extend(outputs);
            merged
        } else {
            outputs
        };
        // A failure was told.
        let _ = self.set_outputs(&root, outputs).await;
    }

    fn ending(&self, finished: bool) -> Ending {
        if let Some(reason) = self.unrecorded() {
            Ending::Unrecorded(reason)
        } else if !finished || self.cancellation.level() > CancelLevel::None {
            Ending::Cancelled
        } else if self.has_failed() || self.policies.mandatory_violations() > 0 {
            Ending::Failed
        } else {
            Ending::Succeeded
        }
    }
}
