//! One seed: a stack, a program that changes, operations that go wrong, and what must hold in the end.

use crate::check::Essence;
use crate::figures::Figures;
use crate::invent::{Inventor, chance, drift, pick, restore_found, world};
use crate::program::Spec;
use crate::stack::{Outcome, Stack};
use crate::world::{Faults, Owner};
use drystone_engine::{
    CancelLevel, ConfigValue, Ending, Op, Operation, Options, RefreshMode, Severity, Targets,
};
use drystone_model::{OperationKind, Resource, Urn, is_provider_type};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What a seed found wrong.
type Verdict<T = ()> = Result<T, String>;

/// Plays a seed.
pub(crate) fn run(seed: u64) -> (Figures, Verdict) {
    let mut scenario = Scenario::new(seed);
    let played = std::panic::catch_unwind(AssertUnwindSafe(|| scenario.play()));
    let verdict = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("it panicked: {}", text.unwrap_or_default()))
    });
    let verdict = verdict.map_err(|wrong| format!("seed {seed}: {wrong}"));
    (scenario.figures, verdict)
}

struct Scenario {
    rng: ChaCha8Rng,
    inventor: Inventor,
    spec: Spec,
    figures: Figures,
}

impl Scenario {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut inventor = Inventor::new(&mut rng);
        let spec = inventor.program(&mut rng);
        Self { rng, inventor, spec, figures: Figures { seeds: 1, ..Figures::default() } }
    }

    fn play(&mut self) -> Verdict {
        let mut stack = Stack::new(world(&mut self.rng));
        let rounds = self.rng.random_range(1..5);
        for round in 0..rounds {
            if round > 0 {
                self.inventor.change(&mut self.spec, &mut self.rng);
                self.stir(&mut stack);
            }
            let options = self.options(&stack, round);
            let faults = self.faults();
            let start = stack.clone();
            let label = format!("round {round}");
            self.operate(&label, &mut stack, &options, &faults)?;
            let last = round + 1 == rounds;
            if last || chance(&mut self.rng, 60) {
                self.settle_pending(&label, &mut stack)?;
            }
            if last {
                self.compare(start, &options, &faults, &mut stack)?;
            }
        }
        if chance(&mut self.rng, 40) {
            self.destroy(&mut stack)?;
        }
        Ok(())
    }

    /// What happens to a stack between operations.
    fn stir(&mut self, stack: &mut Stack) {
        if chance(&mut self.rng, 15) {
            drift(&mut stack.world, &mut self.rng);
        }
        if chance(&mut self.rng, 15) {
            // Somebody marks a resource to be replaced.
            let custom = |resource: &&mut Resource| {
                resource.custom && !resource.external && !is_provider_type(&resource.type_token)
            };
            let mut customs: Vec<_> = stack.snapshot.resources.iter_mut().filter(custom).collect();
            if !customs.is_empty() {
                let at = self.rng.random_range(0..customs.len());
                customs[at].taint = true;
            }
        }
        if chance(&mut self.rng, 10) {
            let text = self.rng.random_range(0..3).to_string();
            let key = pick(&mut self.rng, &["pkgA:zone", "pkgB:region"]).copied().unwrap_or_default();
            let secret = chance(&mut self.rng, 30);
            stack.config.insert(key.to_owned(), ConfigValue { text, object: false, secret });
        }
    }

    fn options(&mut self, stack: &Stack, round: usize) -> Options {
        let rng = &mut self.rng;
        let operation = match rng.random_range(0..100) {
            0..12 if round > 0 => Operation::Refresh,
            12..24 if round > 0 => Operation::Destroy,
            _ => Operation::Update,
        };
        let mut options = Options {
            operation,
            run_program: chance(rng, 25) || (self.inventor.flavour.hooks && operation == Operation::Destroy),
            refresh: if chance(rng, 20) { RefreshMode::First } else { RefreshMode::AsProvidersAsk },
            parallel: rng.random_range(1..9),
            continue_on_error: chance(rng, 30),
            ignore_protect: chance(rng, 30),
            ..Options::default()
        };
        let mut urns: Vec<String> =
            stack.snapshot.resources.iter().map(|resource| resource.urn.to_string()).collect();
        if operation == Operation::Update {
            urns.extend(
                self.spec.declarations.iter().map(|declaration| self.spec.urn(declaration.key).to_string()),
            );
        }
        let some = |rng: &mut ChaCha8Rng| -> Targets {
            let count = rng.random_range(1..4);
            Targets::new((0..count).filter_map(|_| pick(rng, &urns).cloned()).collect::<Vec<_>>())
        };
        match rng.random_range(0..100) {
            0..12 => {
                options.targets = some(rng);
                options.target_dependents = chance(rng, 50);
            }
            12..20 => {
                options.excludes = some(rng);
                options.exclude_dependents = chance(rng, 50);
            }
            20..28 if operation == Operation::Update => options.replace = some(rng),
            _ => {}
        }
        options
    }

    fn faults(&mut self) -> Faults {
        let rng = &mut self.rng;
        let mut faults = Faults::default();
        if chance(rng, 20) {
            return faults;
        }
        if chance(rng, 55) {
            faults.chance = rng.random_range(3..40);
            faults.budget = rng.random_range(1..4);
        }
        match rng.random_range(0..100) {
            0..40 => faults.crash_at = Some(rng.random_range(0..30)),
            40..52 => faults.fence_at = Some(rng.random_range(0..30)),
            52..65 => {
                let level = if chance(rng, 50) { CancelLevel::Graceful } else { CancelLevel::Terminate };
                faults.cancel = Some((rng.random_range(0..40), level));
            }
            65..70 => faults.bail_after = Some(rng.random_range(0..6)),
            _ => {}
        }
        faults
    }

    /// An operation, and everything that must hold after any.
    fn operate(
        &mut self,
        label: &str,
        stack: &mut Stack,
        options: &Options,
        faults: &Faults,
    ) -> Verdict<Outcome> {
        if crate::is_verbose() {
            println!("== {label}: {options:?}\n   {faults:?}");
            for declaration in &self.spec.declarations {
                println!("   {declaration:?}");
            }
            for resource in &stack.snapshot.resources {
                println!("   state {}", serde_json::to_string(resource).unwrap());
            }
        }
        restore_found(&mut stack.world, &self.spec);
        let outcome = stack.operate(&self.spec, options.clone(), faults, &mut self.rng);
        let figures = &mut self.figures;
        figures.runs += 1;
        figures.operations += outcome.aftermath.calls;
        figures.entries += outcome.written.entries;
        figures.faults += outcome.aftermath.faults;
        match outcome.ending() {
            None => figures.crashes += 1,
            Some(Ending::Unrecorded(_)) => figures.fenced += 1,
            Some(Ending::Cancelled) => figures.cancelled += 1,
            Some(_) => {}
        }
        if crate::is_verbose() {
            outcome.aftermath.said.iter().chain(&outcome.written.said).for_each(|line| println!("{line}"));
            for ((op, urn), count) in outcome.steps() {
                println!("      {op} {urn} x{count}");
            }
            println!("   => {:?} {:#?}", outcome.ending(), outcome.messages(Severity::Info));
        }
        let mut wrongs = outcome.wrongs();
        if options.dry_run {
            if outcome.written.entries > 0 || outcome.aftermath.calls > 0 {
                wrongs.push("a preview changed something".to_owned());
            }
        } else {
            wrongs.extend(stack.account(&outcome));
            if matches!(outcome.ending(), Some(Ending::Succeeded | Ending::Failed)) {
                wrongs.extend(outcome.differences(&stack.snapshot));
            }
            if outcome.succeeded() && options.operation == Operation::Update {
                wrongs.extend(outcome.lies(&stack.snapshot));
            }
        }
        if wrongs.is_empty() { Ok(outcome) } else { Err(format!("{label}: {}", wrongs.join("\n  "))) }
    }

    /// Finds out what became of operations that were under way.
    fn settle_pending(&mut self, label: &str, stack: &mut Stack) -> Verdict {
        if stack.snapshot.pending_operations.is_empty() {
            return Ok(());
        }
        self.figures.pending += stack.snapshot.pending_operations.len();
        let label = format!("{label}, settling");
        let refresh = Options { operation: Operation::Refresh, parallel: 4, ..Options::default() };
        match self.rng.random_range(0..3) {
            // The providers are asked.
            0 => {
                let outcome = self.operate(&label, stack, &refresh, &Faults::default())?;
                self.expect_success(&label, &outcome)?;
            }
            // Somebody has looked, and says what is there.
            1 => {
                let import_pending_creates = stack.made_unheard();
                let told = Options { import_pending_creates, ..refresh.clone() };
                let outcome = self.operate(&label, stack, &told, &Faults::default())?;
                self.expect_success(&label, &outcome)?;
                // What exists twice or cannot stand in the state is deleted by hand.
                stack.delete_unheard();
                let cleared = Options { clear_pending_creates: true, ..refresh };
                let outcome = self.operate(&label, stack, &cleared, &Faults::default())?;
                self.expect_success(&label, &outcome)?;
            }
            _ => {}
        }
        self.figures.by_hand += stack.snapshot.pending_operations.len();
        self.settle_by_hand(&label, stack)
    }

    /// Takes what was made into the state or deletes it, and looks at what was changed or deleted.
    fn settle_by_hand(&mut self, label: &str, stack: &mut Stack) -> Verdict {
        let operations = std::mem::take(&mut stack.snapshot.pending_operations);
        let mut doubtful: BTreeSet<String> = BTreeSet::new();
        for operation in operations {
            let mut resource = operation.resource;
            if operation.kind != OperationKind::Creating {
                doubtful.extend([resource.urn.to_string()]);
                doubtful.extend(resource.aliases.iter().map(ToString::to_string));
                continue;
            }
            let Some(id) = stack.thing_unheard(&resource.urn) else { continue };
            let known = |urn: &str| stack.snapshot.resources.iter().any(|other| other.urn.as_str() == urn);
            let named = |reference: &str| {
                let mut resources = stack.snapshot.resources.iter();
                resources.any(|other| format!("{}::{}", other.urn, other.id) == reference)
            };
            let complete = drystone_model::edges(&resource).all(|edge| match edge.provider {
                Some(reference) => named(reference),
                None => known(edge.urn),
            });
            let taken = known(resource.urn.as_str());
            if taken || !complete || !resource.aliases.is_empty() || chance(&mut self.rng, 50) {
                stack.world.delete(&id);
                continue;
            }
            resource.id = id;
            resource.outputs = resource.inputs.clone();
            doubtful.insert(resource.urn.to_string());
            stack.snapshot.resources.push(resource);
        }
        let known: BTreeSet<&str> =
            stack.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect();
        doubtful.retain(|urn| known.contains(urn.as_str()));
        if doubtful.is_empty() {
            return Ok(());
        }
        let options = Options {
            operation: Operation::Refresh,
            parallel: 4,
            targets: Targets::new(doubtful),
            ..Options::default()
        };
        let outcome = self.operate(label, stack, &options, &Faults::default())?;
        self.expect_success(label, &outcome)
    }

    fn expect_success(&self, label: &str, outcome: &Outcome) -> Verdict {
        if outcome.succeeded() {
            return Ok(());
        }
        Err(format!(
            "{label}: it did not succeed: {:?} {:#?}",
            outcome.ending(),
            outcome.messages(Severity::Error)
        ))
    }

    /// Ends of a stack that had faults, and of one that had none from the same start, are the same.
    fn compare(
        &mut self,
        mut start: Stack,
        options: &Options,
        faults: &Faults,
        stack: &mut Stack,
    ) -> Verdict {
        // What is imported once cannot be imported again, and cannot be replaced while the program says so.
        let imports = self.spec.declarations.iter().any(|declaration| declaration.import.is_some());
        for declaration in &mut self.spec.declarations {
            declaration.import = None;
        }
        let told_with = self.converge("the end", stack)?;
        if faults.none() || imports || self.inventor.flavour.ignore_changes {
            return Ok(());
        }
        self.operate("without faults", &mut start, options, &Faults::default())?;
        self.settle_pending("without faults", &mut start)?;
        let told_without = self.converge("the end without faults", &mut start)?;
        self.figures.comparisons += 1;
        let (with, without) = (stack.essence(), start.essence());
        if with != without {
            return Err(format!(
                "the end with faults differs from that without: {}",
                differences(&with, &without)
            ));
        }
        if told_with != told_without {
            let only =
                |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
            return Err(format!(
                "the program is answered otherwise than without faults: {:#?}\n against {:#?}",
                only(&told_with, &told_without),
                only(&told_without, &told_with)
            ));
        }
        Ok(())
    }

    /// Without faults the program is carried out, as its preview said; and then there is nothing more to do.
    /// Says what the program was answered in the end.
    fn converge(&mut self, label: &str, stack: &mut Stack) -> Verdict<BTreeSet<String>> {
        let parallel = self.rng.random_range(1..9);
        let options =
            Options { parallel, ignore_protect: true, refresh: RefreshMode::First, ..Options::default() };
        let mut plan = None;
        let planned = if chance(&mut self.rng, 50) {
            let label = format!("{label}, preview");
            let options = Options { dry_run: true, make_plan: true, ..options.clone() };
            let preview = self.operate(&label, stack, &options, &Faults::default())?;
            self.expect_success(&label, &preview)?;
            // Where nothing was unknown or made up, what is done is what was planned.
            let known = !preview.aftermath.saw_unknowns;
            let holds = known && !self.makes_names(stack);
            plan = preview.report.as_ref().and_then(|report| report.plan.clone()).filter(|_| holds);
            self.figures.plans += usize::from(plan.is_some());
            known.then(|| preview.steps())
        } else {
            None
        };
        let held = Options { plan: plan.map(Arc::new), ..options.clone() };
        let outcome = self.operate(label, stack, &held, &Faults::default())?;
        self.expect_success(label, &outcome)?;
        if let Some(planned) = planned {
            self.figures.previews += 1;
            let done = outcome.steps();
            if planned != done {
                let only = |a: &std::collections::BTreeMap<(Op, Urn), usize>,
                            b: &std::collections::BTreeMap<(Op, Urn), usize>| {
                    a.iter()
                        .filter(|(step, count)| b.get(step) != Some(count))
                        .map(|((op, urn), count)| format!("{op} {urn} x{count}"))
                        .collect::<Vec<_>>()
                };
                return Err(format!(
                    "{label}: the preview differs from what was done: planned {:#?}, done {:#?}",
                    only(&planned, &done),
                    only(&done, &planned)
                ));
            }
        }
        let stale = stack.stale();
        if !stale.is_empty() {
            return Err(format!("{label}: {}", stale.join("\n  ")));
        }
        if !stack.snapshot.pending_operations.is_empty() {
            return Err(format!("{label}: operations are still pending"));
        }
        let options = Options { refresh: RefreshMode::AsProvidersAsk, ..options };
        let once = self.expect_quiet(&format!("{label}, once more"), stack, &options)?;
        // A refresh drops property dependencies on nothing from the state, and the next run writes them anew.
        let again = self.expect_quiet(&format!("{label}, for the third time"), stack, &options)?;
        let refreshing = once.steps().keys().any(|(op, _)| *op == Op::Refresh);
        match again.written.entries {
            0 => Ok(again.answered()),
            _ if refreshing => Ok(again.answered()),
            written => Err(format!("{label}: nothing changed, and {written} entries were written")),
        }
    }

    /// Whether a name may be made up that is another one each time.
    fn makes_names(&self, stack: &Stack) -> bool {
        let behaviours = &stack.world.behaviours;
        let mut tokens = self.spec.declarations.iter().map(|declaration| declaration.what.type_token());
        tokens.any(|token| behaviours.get(&token).is_some_and(|behaviour| behaviour.makes_names))
    }

    /// There is nothing to do.
    fn expect_quiet(&mut self, label: &str, stack: &mut Stack, options: &Options) -> Verdict<Outcome> {
        // What is only read is the outside's: the run before may have deleted a thing that this one finds anew there.
        let own = |(state, things): Essence| -> Essence {
            let shown = |text: String| match text.contains("external=true") {
                true => text.split(" outputs=").next().unwrap_or_default().to_owned(),
                false => text,
            };
            (state.into_iter().map(shown).collect(), things)
        };
        let before = own(stack.essence());
        let outcome = self.operate(label, stack, options, &Faults::default())?;
        self.expect_success(label, &outcome)?;
        let quiet = |op: Op| matches!(op, Op::Same | Op::Read | Op::Refresh);
        let loud: Vec<String> = outcome
            .steps()
            .into_keys()
            .filter(|(op, _)| !quiet(*op))
            .map(|(op, urn)| format!("{op} {urn}"))
            .collect();
        if !loud.is_empty() {
            return Err(format!("{label}: it does not converge: {loud:#?}"));
        }
        let after = own(stack.essence());
        if after != before {
            let changed = differences(&before, &after);
            return Err(format!("{label}: nothing was done, and the state changed: {changed}"));
        }
        Ok(outcome)
    }

    /// Everything goes, but what was left behind on purpose.
    fn destroy(&mut self, stack: &mut Stack) -> Verdict {
        let options = Options {
            operation: Operation::Destroy,
            parallel: self.rng.random_range(1..9),
            run_program: self.inventor.flavour.hooks || chance(&mut self.rng, 25),
            ignore_protect: true,
            ..Options::default()
        };
        let outcome = self.operate("the destruction", stack, &options, &Faults::default())?;
        self.expect_success("the destruction", &outcome)?;
        let left: Vec<&str> = stack.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect();
        if !left.is_empty() {
            return Err(format!("the destruction left {left:#?}"));
        }
        let things = &stack.world.things;
        let left: Vec<&String> =
            things.iter().filter(|(_, thing)| thing.owner == Owner::Stack).map(|(id, _)| id).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("the destruction left {left:?} in the world")) }
    }
}

/// What only one of two ends has.
fn differences(one: &Essence, other: &Essence) -> String {
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    format!(
        "{:#?}\n against {:#?}\n in worlds of {:#?}\n against {:#?}",
        only(&one.0, &other.0),
        only(&other.0, &one.0),
        one.1,
        other.1
    )
}
