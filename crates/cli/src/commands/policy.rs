//! `policy analyze`: holds a state to policy packs, without a program and without providers.

use crate::commands::operations::flow::ORGANIZATION;
use crate::commands::operations::hosting::{Hosting, Setting};
use crate::commands::operations::policies::{PolicyFlags, violated};
use crate::commands::state::document::StateFile;
use crate::context::{Context, secrets_failure};
use crate::display::{Closing, Display, Opening, Options};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{snapshot_secrets, terminal};
use clap::{Args, Subcommand};
use drystone_engine::{
    Analyzer, CancelLevel, Cancellation, Ending, Event, EventSink, PolicyEvent, Report, RunInfo, Summary,
    analyze_snapshot,
};
use drystone_model::Snapshot;
use drystone_plugins::languages::{DebuggedPlugins, PolicyRun, Program};
use drystone_secrets::{Manager, Reuse, Sealer};
use drystone_workspace::project::Runtime;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Judge states by policy packs.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    Analyze(AnalyzeArgs),
    /// Anything else.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Hold the state of a stack, or of a file, to policy packs.
///
/// No program runs, no provider is asked and nothing is changed: what a policy would change is told. Ends with code 5 when
/// a mandatory policy is broken.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone policy analyze --policy-pack ./guard
  drystone policy analyze --policy-pack ./guard --file state.json")]
struct AnalyzeArgs {
    #[command(flatten)]
    policies: PolicyFlags,
    /// Judge this file, a checkpoint or an export, instead of a stack
    #[arg(long, value_name = "FILE", conflicts_with = "stack")]
    file: Option<PathBuf>,
    /// Accepted for the stock CLI's sake: every change of a policy is shown
    #[arg(long, hide = true, conflicts_with = "json")]
    diff: bool,
    /// Print events as JSON
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: PolicyArgs) -> Outcome {
    match args.command {
        PolicyCommand::Analyze(args) => analyze(context, args).await,
        PolicyCommand::Other(words) => {
            let word = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
            Err(Failure::configuration(format!("`policy {word}` needs Pulumi Cloud, or is not there"))
                .hint("hold an update to a pack in a folder with `drystone up --policy-pack FOLDER`"))
        }
    }
}

/// What is judged.
struct Judged {
    /// What people call it.
    shown: String,
    snapshot: Snapshot,
    /// What opens its secrets; none when they cannot be opened.
    sealer: Option<Arc<Sealer>>,
    run: PolicyRun,
}

async fn analyze(context: &Context, args: AnalyzeArgs) -> Outcome {
    let packs = args.policies.packs()?;
    if packs.is_empty() {
        return Err(Failure::configuration("at least one --policy-pack path must be specified")
            .hint("`--policy-pack FOLDER` names the folder of a pack"));
    }
    let judged = match &args.file {
        Some(path) => of_file(context, path)?,
        None => of_stack(context).await?,
    };
    if judged.snapshot.resources.is_empty() {
        terminal::note(format!("{} has no resources; nothing to analyze.", judged.shown));
        return Ok(());
    }
    let opening = Opening { stack: judged.shown.clone(), judges: true, ..Opening::default() };
    let options = Options {
        json: args.json,
        streaming_preview: true,
        show_policy_remediations: true,
        non_interactive: context.globals.non_interactive,
        ..Options::default()
    };
    let display = Display::open(opening, options)?;
    let events: Arc<dyn EventSink> = Arc::new(WithoutSummaries(display.events()));
    let ran = tokio::select! {
        ran = judge(context, &judged, &packs, &events) => ran,
        _ = tokio::signal::ctrl_c() => Err(Failure::new(ExitCode::Cancelled, "cancelled")),
    };
    let (policy_packs, broken) = ran?;
    let succeeded = broken == 0;
    display.events().send(Event::Summary(Summary { succeeded, policy_packs, ..Summary::default() }));
    let ending = if succeeded { Ending::Succeeded } else { Ending::Failed };
    display.close(Closing { ending, ..Closing::default() })?;
    let report = Report { mandatory_violations: broken, ..Report::default() };
    let then = "nothing was changed; mend what the messages above name";
    violated(&report, &judged.shown).map_or(Ok(()), |failure| Err(failure.hint(then)))
}

/// Loads the packs and has them judge: their versions by name, and how often mandatory policies are broken.
async fn judge(
    context: &Context,
    judged: &Judged,
    packs: &[crate::commands::operations::policies::NamedPack],
    events: &Arc<dyn EventSink>,
) -> Outcome<(BTreeMap<String, String>, usize)> {
    let project = context.project()?;
    let cancellation = Cancellation::default();
    let setting = Setting {
        project: project.as_ref(),
        place: Program::of_plugin(context.environment.working_directory(), Runtime::default()),
        info: RunInfo {
            project: judged.run.project.clone(),
            stack: judged.run.stack.clone(),
            organization: ORGANIZATION.to_owned(),
            ..RunInfo::default()
        },
        events,
        cancellation: &cancellation,
        debugged: DebuggedPlugins::None,
    };
    let hosting = Hosting::start(context, setting).await?;
    let analyzers: Vec<Arc<dyn Analyzer>> = hosting.policy_packs().load(context, &judged.run, packs).await?;
    let versions = analyzers.iter().map(|analyzer| {
        let pack = analyzer.pack();
        (pack.name.clone(), pack.version.clone())
    });
    let versions = versions.collect();
    let broken = analyze_snapshot(&judged.snapshot, judged.sealer.clone(), analyzers, events.as_ref()).await;
    cancellation.request(CancelLevel::Graceful);
    hosting.close().await;
    let broken = broken.map_err(|failed| Failure::general(format!("running policy analysis: {failed}")))?;
    Ok((versions, broken))
}

async fn of_stack(context: &Context) -> Outcome<Judged> {
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    let manager = context.snapshot_secrets(&stack, &recorded);
    let project = match stack.project() {
        Some(project) => project.to_owned(),
        None => context.project()?.map(|project| project.name).unwrap_or_default(),
    };
    let tags = backend.store().describe(&stack).await?.tags;
    let run = PolicyRun { tags, ..policy_run(&project, stack.name()) };
    let sealer = Some(sealer(&manager)?);
    Ok(Judged { shown: format!("{project}/{}", stack.name()), snapshot: recorded.snapshot, sealer, run })
}

fn of_file(context: &Context, path: &std::path::Path) -> Outcome<Judged> {
    let snapshot = StateFile::read(&context.environment.resolve(path))?.into_snapshot();
    let manager = match &snapshot.secrets_provider {
        Some(provider) => Manager::of_snapshot(context.keyring(), provider, None),
        None => Manager::absent(),
    };
    let shown = path.display().to_string();
    let sealer = match snapshot_secrets::check(&snapshot, manager.crypter().as_ref()) {
        Ok(()) => Some(sealer(&manager)?),
        Err(_) => {
            terminal::warning(format!(
                "could not decrypt secrets in {shown}; analyzing with secret values redacted"
            ));
            None
        }
    };
    let named = snapshot.resources.first().map(|resource| resource.urn.clone()).unwrap_or_default();
    let run = policy_run(named.project(), named.stack());
    Ok(Judged { shown, snapshot, sealer, run })
}

/// What packs are told: the stack, and nothing of a configuration that nobody runs with.
fn policy_run(project: &str, stack: &str) -> PolicyRun {
    PolicyRun {
        organization: ORGANIZATION.to_owned(),
        project: project.to_owned(),
        stack: stack.to_owned(),
        ..PolicyRun::default()
    }
}

fn sealer(manager: &Manager) -> Outcome<Arc<Sealer>> {
    Ok(Arc::new(Sealer::new(manager, Reuse::On).map_err(secrets_failure)?))
}

/// What each pack said of each resource is told by the violations alone, as with the stock CLI.
struct WithoutSummaries(Arc<dyn EventSink>);

impl EventSink for WithoutSummaries {
    fn send(&self, event: Event) {
        if !matches!(event, Event::Policy(PolicyEvent::Summary(_) | PolicyEvent::Loading)) {
            self.0.send(event);
        }
    }
}
