//! `stack watch`: follows the update that runs on a stack.
//!
//! It only reads, through the store's contract: the journal as it grows, who holds the lease, and in the end the
//! update's record. So it works wherever the update runs and wherever the state is, takes no lock and leaves nothing
//! behind (S8). `steps` turns entries into the events that every display takes; `ended` says how it went.

mod ended;
mod steps;

use crate::context::Context;
use crate::display::{Closing, Display, Opening, Options, Show};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_engine::{Diagnostic, Ending, Event, EventSink, Operation, Severity};
use drystone_model::{ShortName, Snapshot, Urn};
use drystone_stores::{
    At, Error as StoreError, JournalMark, LeaseInfo, Result as StoreResult, StackId, Store,
};
use ended::Left;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::{Duration, Instant};
use steps::Steps;

/// Follow the update that is running on a stack.
///
/// Shows each step as the update writes it down, until it ends. It may run on another machine: the state is all that is
/// read. Nothing is locked or written, and ^C leaves the update alone. Times count from when a step was first seen.
///
/// When no update runs, the result of the last one is shown. With `--wait` the next one is waited for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone stack watch                   follow what runs on the selected stack
  drystone stack watch -s prod --wait    wait for the next update of prod and follow it
  drystone stack watch --json            for scripts: the stock CLI's events, a line each

Ends with 0 when the update succeeded, with 4 when it failed, with 1 when it died or its lease was taken away, with 9 when \
`--wait` was not long enough.")]
pub(crate) struct WatchArgs {
    /// Print JSON, an object a line
    #[arg(short, long)]
    json: bool,
    /// Show each change in full
    #[arg(long)]
    diff: bool,
    /// Show whole URNs rather than names
    #[arg(long)]
    urns: bool,
}

/// The least time between two looks at the store, while there is something new.
const SHORTEST: Duration = Duration::from_millis(150);
/// The longest, after a while without news.
const LONGEST: Duration = Duration::from_secs(1);
/// How often the history is read while an update is waited for: it may be long.
const HISTORY: Duration = Duration::from_secs(2);
/// A holder that has to give signs of life and gives none for so long may be dead.
const SILENCE: SignedDuration = SignedDuration::from_secs(60);
/// How long a store may fail to answer before that ends it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Follows until it is over, or until the user has seen enough; that is heard even where a shell has us ignore it.
pub(crate) async fn run(context: &Context, args: WatchArgs) -> Outcome {
    tokio::select! {
        followed = follow(context, args) => followed,
        _ = tokio::signal::ctrl_c() => {
            Err(Failure::new(ExitCode::Cancelled, "no longer following; whatever runs goes on"))
        }
    }
}

async fn follow(context: &Context, args: WatchArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    super::init::require(&backend, &stack).await?;
    let watch = Watch { store: backend.store(), stack: &stack, args, context };
    let mut standing = watch.standing().await?;
    let latest = watch.latest().await?;
    let began = Instant::now();
    let (mut pace, mut asked) = (Pace::default(), None::<Instant>);
    loop {
        match (standing, context.globals.wait) {
            (Standing::Held(lease), _) | (Standing::Dead(lease), None) => match watch.follow(&lease).await? {
                Followed::Ended(outcome) => return outcome,
                Followed::TakenOver(next) => {
                    standing = Standing::Held(next);
                    continue;
                }
                Followed::NoUpdate if context.globals.wait.is_none() => return Ok(()),
                Followed::NoUpdate => {}
            },
            (Standing::Free, None) => return watch.tell_last(latest.as_ref()),
            (Standing::Free | Standing::Dead(_), Some(limit)) => {
                if began.elapsed() >= limit {
                    let message = format!("no update of {stack} began in time");
                    return Err(
                        Failure::new(ExitCode::Timeout, message).hint("wait longer with `--wait=DURATION`")
                    );
                }
                if asked.is_none() {
                    terminal::note(format!("Waiting for an update of {stack}"));
                }
                // One that began and ended between two looks is the one that was waited for.
                if asked.is_none_or(|asked| asked.elapsed() >= HISTORY) {
                    asked = Some(Instant::now());
                    let now = watch.latest().await?;
                    if let Some(record) = now.filter(|record| latest.as_ref() != Some(record)) {
                        return watch.tell_over(&record);
                    }
                }
                tokio::time::sleep(pace.next(false)).await;
            }
        }
        standing = watch.standing().await?;
    }
}

/// What is followed, and how it is shown.
struct Watch<'a> {
    context: &'a Context,
    store: &'a dyn Store,
    stack: &'a StackId,
    args: WatchArgs,
}

/// Who holds the stack.
enum Standing {
    Free,
    Held(LeaseInfo),
    /// Somebody whose process is gone.
    Dead(LeaseInfo),
}

/// How following a lease ended.
enum Followed {
    /// Its update is over.
    Ended(Outcome),
    /// Somebody else took the lease and goes on.
    TakenOver(LeaseInfo),
    /// It was held for something that is no update.
    NoUpdate,
}

/// What a look at the holder says.
enum Life {
    Runs,
    /// It has given no sign of life since then.
    Silent(Timestamp),
    Dead,
    /// It holds the lease no longer.
    Gone,
}

/// How often the store is looked at: often while there is something new, then less and less.
#[derive(Debug)]
struct Pace(Duration);

impl Default for Pace {
    fn default() -> Self {
        Self(SHORTEST)
    }
}

impl Pace {
    fn next(&mut self, news: bool) -> Duration {
        self.0 = if news { SHORTEST } else { (self.0 * 3 / 2).min(LONGEST) };
        self.0
    }
}

/// How far the journal of a lease was read.
#[derive(Default)]
struct Reading {
    mark: Option<JournalMark>,
    steps: Option<Steps>,
    /// The revision that it began with, when there was one and the journal was seen.
    base: Option<u64>,
    /// How many updates had ended before.
    updates: usize,
}

impl Watch<'_> {
    /// Who holds the stack now: ours before the lock files of other tools, the living before the dead.
    async fn standing(&self) -> StoreResult<Standing> {
        let mut holders = self.store.describe(self.stack).await?.holders;
        holders.sort_by_key(|holder| (holder.dead, holder.foreign));
        Ok(match holders.into_iter().next() {
            None => Standing::Free,
            Some(lease) if lease.dead => Standing::Dead(lease),
            Some(lease) => Standing::Held(lease),
        })
    }

    /// Follows a lease until its holder is done with it.
    async fn follow(&self, lease: &LeaseInfo) -> Outcome<Followed> {
        let Some(operation) = operation(lease) else { return self.attend(lease).await };
        let display = self.open(lease, operation)?;
        let events = display.events();
        if self.args.json {
            events.send(said(
                Severity::Info,
                format!("{} is being updated by {}", self.stack, lease.describe()),
            ));
        }
        let began = Instant::now();
        let updates = self.store.updates(self.stack).await?.len();
        let mut reading = Reading { updates, ..Reading::default() };
        let (mut pace, mut answered, mut silent) = (Pace::default(), Instant::now(), None);
        loop {
            let looked = self.look(lease, &mut reading, &events, began).await;
            let (life, news) = match looked {
                Ok(found) => {
                    answered = Instant::now();
                    found
                }
                Err(StoreError::NotFound { .. }) => (Life::Gone, false),
                Err(_) if answered.elapsed() < PATIENCE => (Life::Runs, false),
                Err(error) => return Err(error.into()),
            };
            match life {
                Life::Runs => {
                    if silent.take().is_some() {
                        events
                            .send(said(Severity::Info, format!("{} gives signs of life again", who(lease))));
                    }
                }
                Life::Silent(since) => {
                    if silent.replace(since).is_none() {
                        events.send(said(Severity::Warning, self.silence(lease, since)));
                    }
                }
                Life::Dead => {
                    // What it wrote last is read before it is given up.
                    let _ = self.read_on(lease, &mut reading, &events, began).await;
                    return self.died(lease, &reading, display);
                }
                Life::Gone => return self.conclude(lease, reading, display, began).await,
            }
            tokio::time::sleep(pace.next(news)).await;
        }
    }

    /// Begins to show an update that somebody else runs.
    fn open(&self, lease: &LeaseInfo, operation: Operation) -> Outcome<Display> {
        let since = match lease.since.parse::<Timestamp>() {
            Ok(since) => format!(" since {}", clock(since)),
            Err(_) => String::new(),
        };
        let opening = Opening {
            operation,
            follows: true,
            stack: self.stack.to_string(),
            details: vec![format!("lease {}", lease.epoch), format!("by {}{since}", who(lease))],
            ..Opening::default()
        };
        let options = Options {
            diff: self.args.diff,
            json: self.args.json,
            show: Show { urns: self.args.urns, ..Show::default() },
            suppress_permalink: true,
            non_interactive: self.context.globals.non_interactive,
            ..Options::default()
        };
        Display::open(opening, options)
    }

    /// Reads what is new, then asks who holds the lease: what is written until then is seen by the next look, or in the
    /// end by what the update left.
    async fn look(
        &self,
        lease: &LeaseInfo,
        reading: &mut Reading,
        events: &Arc<dyn EventSink>,
        began: Instant,
    ) -> StoreResult<(Life, bool)> {
        let news = self.read_on(lease, reading, events, began).await?;
        Ok((self.life(lease).await?, news))
    }

    /// Tells what was journaled since the last time; whether that was anything.
    async fn read_on(
        &self,
        lease: &LeaseInfo,
        reading: &mut Reading,
        events: &Arc<dyn EventSink>,
        began: Instant,
    ) -> StoreResult<bool> {
        let Some(part) = self.store.journal(self.stack, reading.mark.as_ref()).await? else {
            return Ok(false);
        };
        if let Some(head) = part.head {
            // The journal of a holder before, which this one is about to bring in, or of the next.
            if head.lease.nonce != lease.nonce {
                return Ok(false);
            }
            reading.steps = Some(Steps::new(self.base(head.base).await?));
            reading.base = head.base;
        }
        reading.mark = Some(part.mark);
        let Some(steps) = &mut reading.steps else { return Ok(false) };
        let news = !part.entries.is_empty();
        let now = began.elapsed();
        for event in part.entries.into_iter().flat_map(|entry| steps.add(entry, now)) {
            events.send(event);
        }
        Ok(news)
    }

    /// What an update began with. One that is gone is done without: names are told all the same.
    async fn base(&self, revision: Option<u64>) -> StoreResult<Snapshot> {
        let Some(revision) = revision else { return Ok(Snapshot::default()) };
        match self.store.snapshot(self.stack, At::Revision(revision)).await {
            Ok(recorded) => Ok(recorded.snapshot),
            Err(StoreError::NoRevision { .. } | StoreError::NotFound { .. }) => Ok(Snapshot::default()),
            Err(error) => Err(error),
        }
    }

    async fn life(&self, lease: &LeaseInfo) -> StoreResult<Life> {
        let holders = self.store.describe(self.stack).await?.holders;
        let same = |holder: &&LeaseInfo| match lease.foreign {
            true => holder.lock_file == lease.lock_file,
            false => !holder.foreign && holder.nonce == lease.nonce,
        };
        let Some(holder) = holders.iter().find(same) else { return Ok(Life::Gone) };
        let heard = holder.heartbeat.as_deref().and_then(|heartbeat| heartbeat.parse::<Timestamp>().ok());
        Ok(match heard {
            _ if holder.dead => Life::Dead,
            Some(heard) if Timestamp::now().duration_since(heard) > SILENCE => Life::Silent(heard),
            _ => Life::Runs,
        })
    }

    fn silence(&self, lease: &LeaseInfo, since: Timestamp) -> String {
        format!(
            "no sign of life from {} since {}: it is dead or cut off. `drystone cancel` ends its update of {} and records \
             what it did",
            who(lease),
            clock(since),
            self.stack
        )
    }

    /// Waits for a holder that leaves no journal to read: another tool, or a command that is no update.
    async fn attend(&self, lease: &LeaseInfo) -> Outcome<Followed> {
        let what = if lease.foreign { "which leaves no journal to follow" } else { "which is no update" };
        terminal::note(format!("{} is held by {}, {what}", self.stack, lease.describe()));
        let updates = self.store.updates(self.stack).await?.len();
        let reading = Reading { updates, ..Reading::default() };
        let mut pace = Pace::default();
        loop {
            match self.life(lease).await? {
                Life::Runs | Life::Silent(_) => tokio::time::sleep(pace.next(false)).await,
                Life::Dead => {
                    let failure =
                        Failure::general(format!("{} left {} held and is gone", who(lease), self.stack));
                    return Ok(Followed::Ended(Err(failure.hint("free the stack with `drystone cancel`"))));
                }
                Life::Gone => break,
            }
        }
        match self.left_by(lease, &reading).await? {
            Left::Record(record) => Ok(Followed::Ended(self.tell_over(&record))),
            Left::Nothing | Left::Recovered(_) => {
                terminal::note(format!("{} is free again", self.stack));
                Ok(Followed::NoUpdate)
            }
            Left::NoStack => Ok(Followed::Ended(Err(self.removed()))),
        }
    }

    /// A holder whose process is gone.
    fn died(&self, lease: &LeaseInfo, reading: &Reading, display: Display) -> Outcome<Followed> {
        display.close(Closing { ending: Ending::Failed, ..Closing::default() })?;
        let mut failure = Failure::general(format!(
            "the update of {} died: process {} of {} is no longer running",
            self.stack,
            lease.pid,
            who(lease)
        ));
        for (op, urn) in reading.steps.iter().flat_map(Steps::open) {
            failure = failure.detail(format!("under way: {op} of {}", ShortName(urn)));
        }
        Ok(Followed::Ended(Err(failure.hint(
            "what it did is in its journal: the next command that changes the stack brings it in, `drystone cancel` does at \
             once",
        ))))
    }
}

/// What the holder of a lease does, when it is one of the operations.
fn operation(lease: &LeaseInfo) -> Option<Operation> {
    match lease.purpose.as_str() {
        _ if lease.foreign => None,
        "up" => Some(Operation::Update),
        "refresh" => Some(Operation::Refresh),
        "destroy" => Some(Operation::Destroy),
        "import" => Some(Operation::Import),
        _ => None,
    }
}

fn who(lease: &LeaseInfo) -> String {
    format!("{}@{}", lease.user, lease.host)
}

/// The time of day where we are, with the day when it is another one.
fn clock(moment: Timestamp) -> String {
    let zoned = |moment: Timestamp| moment.to_zoned(TimeZone::system());
    let (then, now) = (zoned(moment), zoned(Timestamp::now()));
    let form = if then.date() == now.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    then.strftime(form).to_string()
}

/// A message about the update as a whole.
fn said(severity: Severity, message: String) -> Event {
    Event::Diagnostic(Diagnostic { urn: Urn::default(), message, severity, stream: 0, ephemeral: false })
}
