//! A stack with its world, and one operation on it.

use crate::journal::{CheckedJournal, Written};
use crate::program::{Running, Spec};
use crate::provider::Starter;
use crate::world::{Aftermath, Faults, Session, World};
use async_trait::async_trait;
use drystone_engine::{
    Cancellation, ConfigValue, Event, EventSink, Failed, Journal, Options, Program, PropertyMap, Registered,
    Report, Run, StackReader, Surroundings,
};
use drystone_model::{SecretsProvider, Snapshot};
use drystone_secrets::{Manager, Nop, Reuse, Sealer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An operation that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stack and the world that it is about.
#[derive(Debug, Clone)]
pub(crate) struct Stack {
    pub(crate) snapshot: Snapshot,
    pub(crate) world: World,
    pub(crate) config: BTreeMap<String, ConfigValue>,
    /// How often the clock was looked at.
    time: u64,
}

/// What came of an operation.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How it ended; nothing when the process died.
    pub(crate) report: Option<Report>,
    pub(crate) events: Vec<Event>,
    /// What the program was answered.
    pub(crate) answers: Vec<Registered>,
    pub(crate) written: Written,
    pub(crate) aftermath: Aftermath,
}

impl Stack {
    pub(crate) fn new(world: World) -> Self {
        Self { snapshot: Snapshot::default(), world, config: BTreeMap::new(), time: 0 }
    }

    /// Carries an operation out, come what may, and takes over what the journal and the world hold afterwards.
    pub(crate) fn operate(
        &mut self,
        spec: &Spec,
        options: Options,
        faults: &Faults,
        rng: &mut ChaCha8Rng,
    ) -> Outcome {
        let fork = |rng: &mut ChaCha8Rng| ChaCha8Rng::seed_from_u64(rng.random());
        let base = self.snapshot.clone();
        let journal =
            Arc::new(CheckedJournal::new(base.clone(), faults.fence_at, faults.crash_at, fork(rng)));
        let cancellation = Cancellation::default();
        let session = Arc::new(Session::new(
            self.world.clone(),
            Arc::clone(&journal),
            options.dry_run,
            faults.clone(),
            cancellation.clone(),
            fork(rng),
        ));
        let answers = Arc::new(Mutex::new(Vec::new()));
        let events = Arc::new(Collected::default());
        let clock = Arc::new(Clock(AtomicU64::new(self.time)));
        let manager = Manager::new(SecretsProvider::default(), Arc::new(Nop));
        let dry_run = options.dry_run;
        let program =
            Running { spec: spec.clone(), session: Arc::clone(&session), answers: Arc::clone(&answers) };
        let run = Run {
            organization: "organization".to_owned(),
            project: "shop".to_owned(),
            stack: "dev".to_owned(),
            config: self.config.clone(),
            base,
            options,
            program: Some(Arc::new(program) as Arc<dyn Program>),
            plugins: Arc::new(Starter(Arc::clone(&session))),
            journal: Arc::clone(&journal) as Arc<dyn Journal>,
            sealer: Arc::new(Sealer::new(&manager, Reuse::On).unwrap()),
            events: Arc::clone(&events) as Arc<dyn EventSink>,
            analyzers: Vec::new(),
            stacks: Arc::new(NoStacks),
            surroundings: Arc::clone(&clock) as Arc<dyn Surroundings>,
            cancellation,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let report = runtime.block_on(async {
            tokio::select! {
                biased;
                () = journal.crash.notified() => None,
                report = drystone_engine::run(run) => Some(report),
                () = tokio::time::sleep(PATIENCE) => panic!("the operation does not end"),
            }
        });
        // What still runs dies with the process.
        drop(runtime);
        let aftermath = session.finish();
        let written = journal.finish();
        self.time = clock.0.load(Ordering::SeqCst);
        if !dry_run {
            self.snapshot = written.snapshot.clone();
            self.world = aftermath.world.clone();
        }
        let answers = std::mem::take(&mut *answers.lock().unwrap());
        let events = std::mem::take(&mut *events.0.lock().unwrap());
        Outcome { report, events, answers, written, aftermath }
    }
}

#[derive(Default)]
struct Collected(Mutex<Vec<Event>>);

impl EventSink for Collected {
    fn send(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct NoStacks;

#[async_trait]
impl StackReader for NoStacks {
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        Err(Failed(format!("there is no stack {stack}")))
    }

    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        self.outputs(stack).await
    }
}

/// A clock that goes a second each time it is looked at, and ids that count.
#[derive(Debug)]
struct Clock(AtomicU64);

impl Surroundings for Clock {
    fn now(&self) -> jiff::Timestamp {
        let seconds = self.0.fetch_add(1, Ordering::SeqCst);
        jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(seconds).unwrap()).unwrap()
    }

    fn uuid(&self) -> uuid::Uuid {
        uuid::Uuid::from_u64_pair(1, self.0.fetch_add(1, Ordering::SeqCst))
    }

    fn seed(&self) -> [u8; 32] {
        [7; 32]
    }
}
