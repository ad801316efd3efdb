//! The way of an operation: preview, ask, take the lease, run, commit once, give the lease back.

use super::confirm::{self, Answer};
use super::journal::{LeaseJournal, NoJournal};
use super::plan::Held;
use super::protection::Kept;
use super::record::OpenRecord;
use super::request::{Kind, Mode, Request};
use super::session::Session;
use super::signals::Signals;
use super::stacks::BackendStacks;
use super::subject::Subject;
use super::{pending, plan, policies, protection, view};
use crate::commands::stack::remove::{RemoveArgs, remove};
use crate::context::{Context, secrets_failure};
use crate::display::{Display, Shown};
use crate::edit::{new_manifest, require_sound};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_engine::{
    Cancellation, Ending, Journal, Op, Options, Plan, RefreshMode, Report, Run, SystemSurroundings,
};
use drystone_model::Snapshot;
use drystone_secrets::{Manager, Reuse, Sealer};
use drystone_stores::{At, Commit, Committed, HeldLease, Recorded};
use std::sync::Arc;

/// The organization of every stack of a backend without organizations.
pub(in crate::commands) const ORGANIZATION: &str = "organization";

/// Does what was asked for.
pub(super) async fn run(context: &Context, request: Request) -> Outcome {
    let mut held = Held::of(&request)?;
    let mut subject = Subject::open(context, &request).await?;
    let request = Request { options: complete(&request, &subject)?, ..request };
    let kept = if request.exclude_protected { Kept::of(&subject).await? } else { Kept::default() };
    if kept.everything {
        terminal::note(format!("There were no unprotected resources to destroy. {kept}"));
        return Ok(());
    }
    match request.mode {
        Mode::PreviewFirst => drop(preview(context, &request, &mut subject, &mut held).await?),
        Mode::Ask => ask(context, &request, &mut subject, &mut held).await?,
        Mode::PreviewOnly | Mode::AtOnce => {}
    }
    let ran = match request.mode {
        Mode::PreviewOnly => preview(context, &request, &mut subject, &mut held).await,
        _ => execute(context, &request, &mut subject, &held).await,
    };
    if let Some(importing) = request.importing.as_ref().filter(|_| request.mode != Mode::PreviewOnly) {
        // What was taken over before a failure needs its code, too.
        let written = importing.write_code(context, &subject, &request.options).await;
        written.or_else(|failure| if ran.is_err() { Ok(()) } else { Err(failure) })?;
    }
    let report = ran?;
    if request.expect_no_changes && changes(&report) > 0 {
        return Err(Failure::new(
            ExitCode::Changes,
            format!("no changes were expected for {} but changes were proposed", request.kind.noun()),
        )
        .hint(match request.mode {
            Mode::PreviewOnly => "`--diff` shows them in full",
            _ => "they are made and recorded; `drystone stack diff` shows what changed in the state",
        }));
    }
    if request.kind == Kind::Destroy && request.mode != Mode::PreviewOnly {
        return after_destroy(context, &request, &subject, kept).await;
    }
    Ok(())
}

/// Says what is left after everything was deleted, or removes it.
async fn after_destroy(context: &Context, request: &Request, subject: &Subject, kept: Kept) -> Outcome {
    let is_whole = !request.options.targets.is_constrained() && !request.options.excludes.is_constrained();
    if kept.count > 0 {
        terminal::note(format!("All unprotected resources were destroyed. {kept}"));
    } else if request.remove && is_whole {
        let shown = remove(context, RemoveArgs::emptied()).await?;
        terminal::note(format!(
            "The stack is removed with its settings   undo: drystone stack restore {shown}"
        ));
    } else if is_whole {
        terminal::note(format!(
            "The resources in the stack have been deleted, but its history and configuration are still there.\n\
             To remove the stack completely, run `drystone stack rm {}`.",
            subject.stack.name()
        ));
    }
    Ok(())
}

/// What the engine is told, with what the project and the configuration say.
fn complete(request: &Request, subject: &Subject) -> Outcome<Options> {
    let refreshes = request.refresh.unwrap_or(subject.project.always_refreshes);
    let disabled = match subject.json("pulumi:disable-default-providers")? {
        None => Vec::new(),
        Some(list) => serde_json::from_value(list).map_err(|_| {
            Failure::configuration(
                "the configuration value `pulumi:disable-default-providers` is a list of texts",
            )
        })?,
    };
    Ok(Options {
        refresh: if refreshes { RefreshMode::First } else { RefreshMode::AsProvidersAsk },
        disable_default_providers: disabled,
        autonaming: subject.json("pulumi:autonaming")?,
        imports: request.importing.as_ref().map_or_else(|| Ok(Vec::new()), |list| list.imports(subject))?,
        ..request.options.clone()
    })
}

/// How much changed; what is only read does not count.
fn changes(report: &Report) -> usize {
    let quiet = [Op::Same, Op::Read, Op::Discard, Op::ReadReplacement];
    report.changes.iter().filter(|(op, _)| !quiet.contains(op)).map(|(_, count)| count).sum()
}

/// Shows what would be done, and asks until the answer is yes or no.
async fn ask(context: &Context, request: &Request, subject: &mut Subject, held: &mut Held) -> Outcome {
    let (_, shown) = preview_shown(context, request, subject, held).await?;
    loop {
        match confirm::ask(request.kind, &subject.shown())? {
            Answer::Yes => return Ok(()),
            Answer::No => return Err(confirm::declined(request.kind)),
            Answer::Details => terminal::data(&shown.details()),
        }
    }
}

async fn preview(
    context: &Context,
    request: &Request,
    subject: &mut Subject,
    held: &mut Held,
) -> Outcome<Report> {
    Ok(preview_shown(context, request, subject, held).await?.0)
}

/// Says what would be done. It takes no lease and writes nothing (S8).
async fn preview_shown(
    context: &Context,
    request: &Request,
    subject: &mut Subject,
    held: &mut Held,
) -> Outcome<(Report, Shown)> {
    let mut base = subject.committed().await?;
    check_base(context, subject, &base)?;
    settle_pending(context, request, &mut base.snapshot)?;
    let manager = subject.secrets(context, &base, !request.plan.needs_secrets())?;
    let plan = held.plan(context, request, subject, &base, &manager)?;
    let display = view::open(context, request, subject, &base, None)?;
    let options =
        Options { dry_run: true, plan, make_plan: request.plan.makes_one(), ..request.options.clone() };
    let planned_for = request.plan.makes_one().then(|| base.clone());
    let parts = Parts { base: base.snapshot, options, manager: &manager, journal: Arc::new(NoJournal) };
    let mut report = start(context, request, subject, parts, &display, Signals::listen()?).await?;
    let shown = display.close(view::closing(request.kind, &report, None))?;
    match report.ending {
        Ending::Succeeded => {
            let as_expected = !request.expect_no_changes || changes(&report) == 0;
            if let Some(listing) = request.listing.as_ref().filter(|_| as_expected) {
                listing.write(&manager)?;
            }
            if let (Some(base), Some(plan)) = (&planned_for, report.plan.take()) {
                if request.plan.save.is_some() && as_expected {
                    let text = plan::seal_plan(context, request, subject, base, &manager, &plan)?;
                    plan::save(request, &text)?;
                }
                held.hold_to_preview(request.plan.strict.then_some(plan), &plan::state_digest(base)?);
            }
            Ok((report, shown))
        }
        Ending::Cancelled => Err(Failure::new(ExitCode::Cancelled, "preview cancelled")),
        Ending::Failed => {
            let (what, then) = (
                format!("the preview of {}", subject.shown()),
                "nothing was changed; mend what the messages above name and run the command again",
            );
            if let Some(refusal) = manager.refusal() {
                return Err(secrets_failure(refusal));
            }
            let failure = policies::violated(&report, &what);
            let failure =
                failure.unwrap_or_else(|| Failure::new(ExitCode::Resource, format!("{what} failed")));
            Err(failure.hint(then))
        }
        Ending::Unrecorded(reason) => Err(Failure::new(ExitCode::Internal, reason)),
    }
}

/// Does it, under the lease.
async fn execute(
    context: &Context,
    request: &Request,
    subject: &mut Subject,
    held: &Held,
) -> Outcome<Report> {
    let lease = context.lease(&subject.backend, &subject.stack, request.kind.command()).await?;
    // From here on a signal lets the lease be given back.
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(failure) => return Err(give_back(lease, failure).await),
    };
    let base = match base_under(context, request, subject, lease.as_ref()).await {
        Ok(base) => base,
        Err(failure) => return Err(give_back(lease, failure).await),
    };
    let prepared = prepare(context, request, subject, &base, lease.as_ref(), held);
    let Prepared { manager, plan, display, record } = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Err(give_back(lease, failure).await),
    };
    let journal = Arc::new(LeaseJournal::new(lease, &manager, base.snapshot.secrets_provider.as_ref()));
    let stale = pending::has_stale(&base.snapshot);
    let parts = Parts {
        base: with_provider(base.snapshot, &manager),
        options: Options { plan, ..request.options.clone() },
        manager: &manager,
        journal: Arc::clone(&journal) as Arc<dyn Journal>,
    };
    let ran = start(context, request, subject, parts, &display, signals).await;
    let Some(lease) = journal.close().await else {
        return Err(Failure::new(ExitCode::Internal, "the lease was given back twice"));
    };
    let report = match ran {
        Ok(report) => report,
        Err(failure) => return Err(give_back(lease, failure).await),
    };
    if let Ending::Unrecorded(reason) = &report.ending {
        display.close(view::closing(request.kind, &report, None))?;
        let failure = journal.failure().unwrap_or_else(|| Failure::new(ExitCode::Unavailable, reason));
        let failure = failure.detail("the operation stopped before its next step");
        return Err(give_back(lease, failure).await);
    }
    let whole = !request.options.targets.is_constrained() && !request.options.excludes.is_constrained();
    let settled = request.kind == Kind::Refresh && report.ending == Ending::Succeeded && whole;
    let cleared =
        if stale && settled && !report.recorded { Some(without_stale(subject).await?) } else { None };
    let committed = commit(request, record, lease, &report, cleared).await?;
    display.close(view::closing(request.kind, &report, Some(&committed)))?;
    let open = match report.ending {
        Ending::Succeeded => Vec::new(),
        _ => open_operations(subject).await?,
    };
    if let Some(refusal) = manager.refusal().filter(|_| report.ending == Ending::Failed) {
        return Err(open.iter().fold(secrets_failure(refusal), Failure::detail));
    }
    finish(request, subject, &report, &committed, &open)?;
    Ok(report)
}

/// Gives the lease back after a failure, which matters more than one of giving it back: what is durable is
/// materialised now, or by the next holder.
async fn give_back(lease: Box<dyn HeldLease>, failure: Failure) -> Failure {
    let _ = lease.release().await;
    failure
}

/// The snapshot that the operation begins with, sound, with what was pending settled as asked for.
async fn base_under(
    context: &Context,
    request: &Request,
    subject: &Subject,
    lease: &dyn HeldLease,
) -> Outcome<Recorded> {
    let store = subject.backend.store();
    let mut base = store.snapshot(&subject.stack, At::Current).await?;
    check_base(context, subject, &base)?;
    let settled = settle_pending(context, request, &mut base.snapshot)?;
    if settled == 0 {
        return Ok(base);
    }
    base.snapshot.manifest = new_manifest();
    let commit = Commit {
        title: request.kind.command().to_owned(),
        message: format!("settled {settled} pending operation(s)"),
        snapshot: Some(base.snapshot),
        byte_strings: base.byte_strings,
        ..Commit::default()
    };
    lease.commit(commit).await?;
    Ok(store.snapshot(&subject.stack, At::Current).await?)
}

/// Refuses a snapshot that breaks its rules (S7).
fn check_base(context: &Context, subject: &Subject, base: &Recorded) -> Outcome {
    if context.globals.disable_integrity_checking {
        return Ok(());
    }
    require_sound(&subject.stack, base.revision, &base.snapshot)
}

/// Settles the pending operations that the command line or whoever is asked has an answer for; says how many.
fn settle_pending(context: &Context, request: &Request, snapshot: &mut Snapshot) -> Outcome<usize> {
    if request.kind != Kind::Refresh {
        return Ok(0);
    }
    let resolutions = request.pending.resolutions(context, snapshot)?;
    if !resolutions.is_empty() {
        pending::resolve(snapshot, &resolutions)?;
    }
    Ok(resolutions.len())
}

/// Everything that can still go wrong before anything happens.
fn prepare(
    context: &Context,
    request: &Request,
    subject: &mut Subject,
    base: &Recorded,
    lease: &dyn HeldLease,
    held: &Held,
) -> Outcome<Prepared> {
    let manager = subject.secrets(context, base, false)?;
    let plan = held.plan(context, request, subject, base, &manager)?;
    let record = OpenRecord::begin(context, request, subject)?;
    let display = view::open(context, request, subject, base, Some(lease.info()))?;
    Ok(Prepared { manager, plan, display, record })
}

/// What an operation under the lease needs besides the snapshot.
struct Prepared {
    manager: Manager,
    plan: Option<Arc<Plan>>,
    display: Display,
    record: OpenRecord,
}

/// A snapshot says what seals what is added to it.
fn with_provider(snapshot: Snapshot, manager: &Manager) -> Snapshot {
    Snapshot { secrets_provider: Some(manager.provider().clone()), ..snapshot }
}

/// What an operation has of its own, whether it is a preview or not.
struct Parts<'a> {
    base: Snapshot,
    options: Options,
    manager: &'a Manager,
    journal: Arc<dyn Journal>,
}

/// Runs the engine.
async fn start(
    context: &Context,
    request: &Request,
    subject: &Subject,
    Parts { base, mut options, manager, journal }: Parts<'_>,
    display: &Display,
    signals: Signals,
) -> Outcome<Report> {
    if request.exclude_protected {
        protection::exclude(&base, &mut options);
    }
    let reuse = Reuse::from_environment(&|name: &str| std::env::var_os(name));
    let sealer = Sealer::new(manager, reuse).map_err(|error| Failure::new(ExitCode::Internal, error))?;
    let cancellation = Cancellation::default();
    let dry_run = options.dry_run;
    let events = view::events(display, request);
    let session = Session::start(context, request, subject, &options, &events, &cancellation).await?;
    let running = async {
        let packs = &request.policy_packs;
        let starter = session.hosting.policy_packs();
        let analyzers = policies::load(context, &starter, subject, &options, packs).await?;
        Ok(drystone_engine::run(Run {
            organization: ORGANIZATION.to_owned(),
            project: subject.project.name.clone(),
            stack: subject.stack.name().to_owned(),
            config: subject.values.clone(),
            base,
            options,
            program: session.program(),
            plugins: session.hosting.plugins(),
            journal,
            sealer: Arc::new(sealer),
            events,
            analyzers,
            stacks: Arc::new(BackendStacks::new(&subject.backend, context.keyring(), &subject.project.name)),
            surroundings: Arc::new(SystemSurroundings),
            cancellation: cancellation.clone(),
        })
        .await)
    };
    let ran = tokio::select! {
        ran = running => ran,
        never = signals.pass_on(&cancellation, display, dry_run) => match never {},
    };
    session.hosting.close().await;
    ran
}

/// The snapshot without the operations that a refresh, which found nothing else to change, has settled by reading.
async fn without_stale(subject: &Subject) -> Outcome<Snapshot> {
    let mut snapshot = subject.backend.store().snapshot(&subject.stack, At::Current).await?.snapshot;
    pending::drop_stale(&mut snapshot);
    snapshot.manifest = new_manifest();
    Ok(snapshot)
}

/// Makes one revision of what was journaled, if anything was, and writes the record; then gives the lease back.
async fn commit(
    request: &Request,
    record: OpenRecord,
    lease: Box<dyn HeldLease>,
    report: &Report,
    snapshot: Option<Snapshot>,
) -> Outcome<Committed> {
    let (record, json) = record.end(report, report.ending == Ending::Succeeded)?;
    let commit = Commit {
        title: request.kind.command().to_owned(),
        message: record.message,
        snapshot,
        update: Some(json),
        ..Commit::default()
    };
    let committed = lease.commit(commit).await;
    let released = lease.release().await;
    let committed = committed?;
    released?;
    Ok(committed)
}

/// The operations whose end nobody knows, in words.
async fn open_operations(subject: &Subject) -> Outcome<Vec<String>> {
    const MOST: usize = 5;
    let snapshot = subject.backend.store().snapshot(&subject.stack, At::Current).await?.snapshot;
    let pending = &snapshot.pending_operations;
    let mut open: Vec<String> = pending
        .iter()
        .take(MOST)
        .map(|operation| {
            let urn = &operation.resource.urn;
            format!("interrupted while {}: {} {}", operation.kind.as_str(), urn.type_token(), urn.name())
        })
        .collect();
    if pending.len() > MOST {
        open.push(format!("and {} more: `drystone state ops list` has them all", pending.len() - MOST));
    }
    Ok(open)
}

/// Says what an operation that did not succeed left, and what to do next.
fn finish(
    request: &Request,
    subject: &Subject,
    report: &Report,
    committed: &Committed,
    open: &[String],
) -> Outcome {
    for violation in &committed.violations {
        terminal::warning(violation);
    }
    let noun = request.kind.noun();
    let recorded = match committed.revision {
        Some(revision) => format!("what was done is recorded as revision {revision}"),
        None => "nothing was changed".to_owned(),
    };
    let told = |failure: Failure| open.iter().fold(failure, Failure::detail);
    match &report.ending {
        Ending::Succeeded => Ok(()),
        Ending::Cancelled => Err(told(Failure::new(ExitCode::Cancelled, format!("{noun} cancelled")))
            .hint(format!("{recorded}; run `drystone {}` again to go on", request.kind.command()))),
        Ending::Failed => {
            let what = format!("the {noun} of {}", subject.shown());
            let then = format!(
                "{recorded}; mend what the messages above name and run `drystone {}` again",
                request.kind.command()
            );
            let failure = policies::violated(report, &what);
            let failure =
                failure.unwrap_or_else(|| Failure::new(ExitCode::Resource, format!("{what} failed")));
            Err(told(failure).hint(then))
        }
        Ending::Unrecorded(reason) => Err(Failure::new(ExitCode::Unavailable, reason)),
    }
}
