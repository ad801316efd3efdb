//! How an operation is shown, by what the command line says.

use super::event_stream;
use super::import::Heard;
use super::request::{Kind, Request};
use super::subject::Subject;
use crate::backend::is_true;
use crate::context::Context;
use crate::display::{Closing, Display, EventLog, Opening, Options, Secrets, Show};
use crate::report::Outcome;
use drystone_engine::{Ending, Event, EventSink, Report, Severity};
use drystone_stores::{Committed, LeaseInfo, Recorded};
use std::sync::Arc;

/// Takes what happens to a display. What is for finding faults goes nowhere unless somebody looks for some.
pub(super) fn events(display: &Display, request: &Request) -> Arc<dyn EventSink> {
    let shown: Arc<dyn EventSink> = match request.display.debug {
        true => display.events(),
        false => Arc::new(WithoutDebug(display.events())),
    };
    match &request.listing {
        Some(listing) => Arc::new(Heard { by: Arc::clone(listing), next: shown }),
        None => shown,
    }
}

struct WithoutDebug(Arc<dyn EventSink>);

impl EventSink for WithoutDebug {
    fn send(&self, event: Event) {
        if !matches!(&event, Event::Diagnostic(diagnostic) if diagnostic.severity == Severity::Debug) {
            self.0.send(event);
        }
    }
}

/// Begins to show an operation: a preview when it holds no lease.
pub(super) fn open(
    context: &Context,
    request: &Request,
    subject: &Subject,
    base: &Recorded,
    lease: Option<&LeaseInfo>,
) -> Outcome<Display> {
    let count = base.snapshot.resources.len();
    let resources = if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") };
    let lease_details = lease
        .map(|lease| vec![format!("lease {}", lease.epoch), format!("journal on {}", subject.backend)])
        .unwrap_or_default();
    let opening = Opening {
        operation: request.kind.operation(),
        judges: false,
        runs_program: request.runs_program(),
        dry_run: lease.is_none(),
        follows: false,
        stack: subject.shown(),
        details: lease_details.into_iter().chain([resources]).collect(),
        config: subject.values.clone(),
        permalink: None,
    };
    Display::open(opening, options(context, request)?)
}

fn options(context: &Context, request: &Request) -> Outcome<Options> {
    let flags = &request.display;
    let event_log = match flags.event_log.as_deref() {
        None | Some("") => None,
        Some(target) => Some(match target.strip_prefix("tcp://") {
            Some(address) => EventLog::stream(event_stream::connect(address)?),
            None => EventLog::file(&context.environment.resolve(target.as_ref()))?,
        }),
    };
    Ok(Options {
        diff: flags.diff,
        json: flags.is_json(),
        streaming_preview: is_true(&context.environment, "PULUMI_ENABLE_STREAMING_JSON_PREVIEW"),
        secrets: if flags.show_secrets { Secrets::Shown } else { Secrets::Masked },
        show: Show {
            sames: flags.show_sames,
            reads: flags.show_reads,
            replacement_steps: flags.show_replacement_steps,
            urns: flags.urns,
        },
        show_config: flags.show_config,
        show_full_output: flags.show_full_output,
        show_policy_remediations: flags.show_policy_remediations,
        debug: flags.debug,
        suppress_outputs: flags.suppress_outputs,
        suppress_progress: flags.suppress_progress,
        suppress_permalink: true,
        // One of many runs is told in lines.
        non_interactive: context.globals.non_interactive || request.stamped,
        stamped: request.stamped,
        event_log,
    })
}

/// What is said at the end. What a destroy deleted no command brings back.
pub(super) fn closing(kind: Kind, report: &Report, committed: Option<&Committed>) -> Closing {
    let revision = committed.and_then(|committed| Some((committed.previous, committed.revision?)));
    let undo = revision
        .filter(|_| report.ending == Ending::Succeeded && kind != Kind::Destroy)
        .map(|_| "drystone stack undo".to_owned());
    Closing { ending: report.ending.clone(), revision, undo, permalink: None, hints: Vec::new() }
}
