//! The plan that a run is held to, and the one that it makes.

use super::{GoalPlan, Plan, PlanDiff, ResourcePlan, is_within};
use crate::deployment::{Deployment, Stopped};
use crate::generate::registration::Registering;
use crate::{Op, Options, PropertyMap, State};
use drystone_model::Urn;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The plan that a run is held to, and the one that it makes.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Each step is taken off when it comes.
    held: Option<Mutex<Plan>>,
    made: Option<Mutex<Plan>>,
}

fn lock(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            held: options.plan.as_deref().cloned().map(Mutex::new),
            made: options.make_plan.then(Mutex::default),
        }
    }

    /// The plan that was made, once.
    pub(crate) fn take(&self) -> Option<Plan> {
        self.made.as_ref().map(|made| std::mem::take(&mut *lock(made)))
    }

    fn held(&self) -> Option<MutexGuard<'_, Plan>> {
        self.held.as_ref().map(lock)
    }

    fn made(&self) -> Option<MutexGuard<'_, Plan>> {
        self.made.as_ref().map(lock)
    }

    fn is_unused(&self) -> bool {
        self.held.is_none() && self.made.is_none()
    }

    /// The seed that the names of a resource were planned with.
    pub(crate) fn seed(&self, urn: &Urn) -> Option<[u8; 32]> {
        self.held()?.resources.get(urn)?.seed
    }

    /// Keeps the outputs that a planned resource is expected to have.
    pub(crate) fn expect_outputs(&self, urn: &Urn, outputs: &PropertyMap) {
        if let Some(mut made) = self.made()
            && let Some(plan) = made.resources.get_mut(urn)
        {
            plan.outputs = Some(outputs.clone());
        }
    }
}

impl Deployment {
    /// Takes steps into the plan, all or none, before the first of them is taken. What became of a resource stands in
    /// the plan under the name that it has now.
    pub(crate) fn admit(&self, steps: &[(&Urn, Op)]) -> Result<(), Stopped> {
        if self.ledger.is_unused() {
            return Ok(());
        }
        for (urn, op) in steps {
            let now = self.world().aliased.get(*urn).cloned().unwrap_or_else(|| (*urn).clone());
            self.admit_as(&now, *op)?;
        }
        Ok(())
    }

    /// The same for one step, under the very name that is given.
    fn admit_as(&self, urn: &Urn, op: Op) -> Result<(), Stopped> {
        if let Some(refused) = self.ledger.held().and_then(|mut held| held.take_step(urn, op)) {
            return Err(self.fail(urn, format!("{op} is not allowed by the plan: {refused}")));
        }
        if let Some(mut made) = self.ledger.made() {
            made.resources.entry(urn.clone()).or_default().ops.push(op);
        }
        Ok(())
    }

    /// Takes everything that goes or is left alone after the program into the plan. Steps that were planned and can
    /// come no more are missed now, before anything is deleted.
    pub(crate) fn admit_rest(&self, steps: &[(Urn, Op)]) -> Result<(), Stopped> {
        if self.ledger.is_unused() {
            return Ok(());
        }
        for (urn, op) in steps {
            self.admit_as(urn, *op)?;
        }
        if self.has_failed() {
            return Ok(());
        }
        let missed: Vec<Urn> = match self.ledger.held() {
            Some(held) => {
                let world = self.world();
                held.missed(&|urn| world.olds.iter().any(|known| known.urn() == urn))
            }
            None => Vec::new(),
        };
        let mut stopped = Ok(());
        for urn in missed {
            let message = format!("expected resource operations for {urn} but none were seen");
            stopped = Err(self.fail(&urn, message));
        }
        stopped?;
        self.admit_stack_outputs()
    }

    /// Compares the stack's outputs, which are set last, before anything is deleted.
    fn admit_stack_outputs(&self) -> Result<(), Stopped> {
        let outputs = self.monitor.remembered().stack_outputs.clone();
        let root = self.world().root.clone();
        match outputs {
            Some(mut outputs) if !root.is_empty() => {
                outputs.values_mut().for_each(drystone_model::Value::lower_outputs);
                self.check_outputs(&root, &outputs)
            }
            _ => Ok(()),
        }
    }

    /// Compares outputs that the program registers with the plan, and takes them into the one that is made.
    pub(crate) fn admit_outputs(&self, urn: &Urn, outputs: &PropertyMap) -> Result<(), Stopped> {
        if self.ledger.is_unused() || self.has_failed() {
            return Ok(());
        }
        let mut outputs = outputs.clone();
        outputs.values_mut().for_each(drystone_model::Value::lower_outputs);
        self.check_outputs(urn, &outputs)?;
        let before = self.outputs_before(urn)?;
        if let Some(mut made) = self.ledger.made() {
            let plan = made.resources.entry(urn.clone()).or_default();
            if let Some(goal) = &mut plan.goal {
                goal.outputs = PlanDiff::between(&before.unwrap_or_default(), &outputs);
            }
            plan.outputs = Some(outputs);
        }
        Ok(())
    }

    fn check_outputs(&self, urn: &Urn, outputs: &PropertyMap) -> Result<(), Stopped> {
        let before = self.outputs_before(urn)?;
        let Some(held) = self.ledger.held() else { return Ok(()) };
        let planned = held.resources.get(urn).and_then(|plan| plan.goal.as_ref());
        let checked = match (planned, &before) {
            (Some(goal), before) => {
                goal.outputs.check(before.as_ref().unwrap_or(&PropertyMap::new()), outputs)
            }
            (None, Some(before)) => PlanDiff::default().check(before, outputs),
            (None, None) => Err(String::new()),
        };
        drop(held);
        match checked {
            Ok(()) => Ok(()),
            Err(reason) if reason.is_empty() => Err(self.fail(urn, format!("no plan for resource {urn}"))),
            Err(reason) => Err(self.fail(urn, format!("resource violates plan: {reason}"))),
        }
    }

    fn outputs_before(&self, urn: &Urn) -> Result<Option<PropertyMap>, Stopped> {
        let Some(old) = self.world().old_of(urn).cloned() else { return Ok(None) };
        let state = old.state(&self.vault).map_err(|message| self.fail(urn, message))?;
        Ok(Some(state.outputs.clone()))
    }
}

impl Plan {
    /// Takes a step off what is planned for a resource, or says why it must not be taken.
    fn take_step(&mut self, urn: &Urn, op: Op) -> Option<String> {
        let Some(plan) = self.resources.get_mut(urn) else {
            return (op != Op::Same).then(|| "no steps were expected for this resource".to_owned());
        };
        if plan.ops.is_empty() {
            return Some("no more steps were expected for this resource".to_owned());
        }
        let planned = plan.ops.remove(0);
        (!is_within(op, planned)).then(|| format!("this resource is constrained to {planned}"))
    }

    /// The resources whose steps did not all come. One that is gone already does not have to be deleted.
    fn missed(&self, exists: &dyn Fn(&Urn) -> bool) -> Vec<Urn> {
        let missed = |(urn, plan): &(&Urn, &ResourcePlan)| match plan.ops.as_slice() {
            [] => false,
            [Op::Delete] => exists(urn),
            _ => true,
        };
        self.resources.iter().filter(missed).map(|(urn, _)| urn.clone()).collect()
    }
}

impl Registering {
    fn goal(&self) -> GoalPlan {
        GoalPlan::of(&self.request, self.delete_before_replace)
    }

    /// Compares what the program asks for with the plan, and takes it into the one that is made. The inputs have been
    /// checked; a resource that is made anew is planned from nothing.
    pub(crate) fn admit_goal(&self, before: Option<&State>, afresh: bool) -> Result<(), Stopped> {
        let ledger = &self.deployment.ledger;
        if ledger.is_unused() {
            return Ok(());
        }
        let none = PropertyMap::new();
        let old = before.map_or(&none, |before| &before.inputs);
        let mut goal = self.goal();
        self.check_goal(&goal, before, |planned| planned.check_inputs(&goal, old, &self.new.inputs))?;
        if let Some(mut made) = ledger.made() {
            goal.inputs = PlanDiff::between(if afresh { &none } else { old }, &self.new.inputs);
            if let Some(more) = &mut goal.more {
                more.anew = afresh && before.is_some();
            }
            let plan = made.resources.entry(self.urn.clone()).or_default();
            plan.seed = Some(self.seed);
            plan.goal = Some(goal);
        }
        Ok(())
    }

    fn check_goal(
        &self,
        goal: &GoalPlan,
        before: Option<&State>,
        check_inputs: impl FnOnce(&GoalPlan) -> Result<(), String>,
    ) -> Result<(), Stopped> {
        let Some(held) = self.deployment.ledger.held() else { return Ok(()) };
        let planned = match (held.resources.get(&self.urn).cloned(), before) {
            (Some(plan), _) => plan.goal,
            (None, Some(before)) => Some(GoalPlan::unchanged(before)),
            // Its creation will not be allowed.
            (None, None) => return Ok(()),
        };
        drop(held);
        let checked = match planned {
            Some(planned) => planned.check_options(goal).and_then(|()| check_inputs(&planned)),
            None => Err("resource unexpectedly not deleted".to_owned()),
        };
        checked.map_err(|reason| self.violates(&reason))
    }

    fn violates(&self, reason: &str) -> Stopped {
        self.deployment.fail(&self.urn, format!("resource {} violates plan: {reason}", self.urn))
    }

    /// Compares what the program wants to take over with the plan, before it is.
    pub(crate) fn admit_import(&self, op: Op) -> Result<(), Stopped> {
        let ledger = &self.deployment.ledger;
        let unplanned = ledger.held().is_some_and(|held| !held.resources.contains_key(&self.urn));
        if unplanned {
            let message =
                format!("{op} is not allowed by the plan: no steps were expected for this resource");
            return Err(self.deployment.fail(&self.urn, message));
        }
        self.check_goal(&self.goal(), None, |_| Ok(()))
    }

    /// Compares the inputs of what takes the resource's place with the plan: its provider checked them once more.
    pub(crate) fn admit_replacement(&self) -> Result<(), Stopped> {
        let ledger = &self.deployment.ledger;
        let planned = ledger.held().and_then(|held| {
            held.resources.get(&self.urn)?.goal.as_ref()?.more.as_ref()?.replacement.clone()
        });
        if let Some(adds) = planned {
            let planned = PlanDiff { adds, ..PlanDiff::default() };
            let checked = planned.check(&PropertyMap::new(), &self.new.inputs);
            checked.map_err(|reason| self.violates(&format!("replacement: {reason}")))?;
        }
        if let Some(mut made) = ledger.made()
            && let Some(plan) = made.resources.get_mut(&self.urn)
            && let Some(more) = plan.goal.as_mut().and_then(|goal| goal.more.as_mut())
        {
            more.replacement = Some(self.new.inputs.clone());
        }
        Ok(())
    }
}
