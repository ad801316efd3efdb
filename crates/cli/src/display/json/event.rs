//! Events as the stock CLI writes them.

use super::policy::{PolicySummaryShape, RemediationShape, ViolationShape};
use super::state::EventState;
use crate::display::text::strip_sequences;
use drystone_engine::{
    Diagnostic, Event, Op, Operation, PolicyEvent, PolicyQuestion, PropertyDiff, Severity, StepEvent, Summary,
};
use drystone_model::Urn;
use serde::Serialize;
use std::collections::BTreeMap;

/// An event's place in the stream and the second in which it happened.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::display) struct Stamp {
    pub(in crate::display) sequence: u64,
    pub(in crate::display) timestamp: i64,
}

#[derive(Serialize)]
struct Stamped<'e> {
    sequence: u64,
    timestamp: i64,
    #[serde(flatten)]
    event: Shape<'e>,
}

#[derive(Serialize)]
enum Shape<'e> {
    #[serde(rename = "cancelEvent")]
    Cancel(Empty),
    #[serde(rename = "preludeEvent")]
    Prelude(Prelude<'e>),
    #[serde(rename = "resourcePreEvent")]
    Started(StepShape<'e>),
    #[serde(rename = "resOutputsEvent")]
    Done(StepShape<'e>),
    #[serde(rename = "resOpFailedEvent")]
    Failed(FailedShape<'e>),
    #[serde(rename = "diagnosticEvent")]
    Diagnostic(DiagnosticShape<'e>),
    #[serde(rename = "policyLoadEvent")]
    PolicyLoad(Empty),
    #[serde(rename = "policyEvent")]
    Violation(ViolationShape<'e>),
    #[serde(rename = "policyRemediationEvent")]
    Remediation(RemediationShape<'e>),
    #[serde(rename = "policyAnalyzeSummaryEvent")]
    Analyzed(PolicySummaryShape<'e>),
    #[serde(rename = "policyRemediateSummaryEvent")]
    Remediated(PolicySummaryShape<'e>),
    #[serde(rename = "policyAnalyzeStackSummaryEvent")]
    AnalyzedStack(PolicySummaryShape<'e>),
    #[serde(rename = "summaryEvent")]
    Summary(SummaryShape),
    #[serde(rename = "startDebuggingEvent")]
    Debugging { config: &'e serde_json::Value },
    #[serde(rename = "progressEvent")]
    Progress(ProgressShape<'e>),
}

/// What takes long and is no step. Where nobody knows how much there is to do, the total is -1.
#[derive(Serialize)]
struct ProgressShape<'e> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'e str,
    message: &'e str,
    received: u64,
    total: i64,
    done: bool,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Prelude<'e> {
    config: &'e BTreeMap<String, String>,
}

#[derive(Serialize)]
struct FailedShape<'e> {
    metadata: Metadata<'e>,
    status: u8,
    steps: usize,
}

#[derive(Serialize)]
struct StepShape<'e> {
    metadata: Metadata<'e>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    planning: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'e> {
    op: &'static str,
    urn: &'e Urn,
    r#type: &'e str,
    old: Option<EventState<'e>>,
    new: Option<EventState<'e>>,
    #[serde(skip_serializing_if = "is_empty")]
    keys: &'e [String],
    #[serde(skip_serializing_if = "is_empty")]
    diffs: &'e [String],
    detailed_diff: Option<BTreeMap<&'e str, PropertyShape>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    logical: bool,
    provider: &'e str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PropertyShape {
    diff_kind: &'static str,
    input_diff: bool,
}

#[derive(Serialize)]
struct DiagnosticShape<'e> {
    #[serde(skip_serializing_if = "is_no_urn")]
    urn: &'e Urn,
    #[serde(skip_serializing_if = "is_no_text")]
    prefix: &'static str,
    message: String,
    color: &'static str,
    severity: &'static str,
    #[serde(rename = "streamID", skip_serializing_if = "is_zero")]
    stream: i32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ephemeral: bool,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

fn is_empty(list: &&[String]) -> bool {
    list.is_empty()
}

fn is_no_urn(urn: &&Urn) -> bool {
    urn.is_empty()
}

fn is_no_text(text: &&str) -> bool {
    text.is_empty()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryShape {
    maybe_corrupt: bool,
    duration_seconds: u64,
    resource_changes: BTreeMap<&'static str, usize>,
    #[serde(rename = "PolicyPacks")]
    policy_packs: BTreeMap<String, String>,
    is_preview: bool,
    result: &'static str,
}

/// An event as one line of JSON, without the line break. `ended` is how many steps ended well so far.
pub(in crate::display) fn event_line(
    event: &Event,
    operation: Operation,
    cancelled: bool,
    ended: usize,
    stamp: Stamp,
) -> String {
    line(
        stamp,
        match event {
            Event::StepStarted(step) => Shape::Started(begun(step)),
            Event::StepDone(step) => Shape::Done(step_shape(step, done_as(step, operation))),
            Event::StepFailed(step) => Shape::Failed(FailedShape {
                metadata: metadata(step, step.op),
                status: status(step),
                steps: ended,
            }),
            Event::Diagnostic(diagnostic) => Shape::Diagnostic(diagnostic_shape(diagnostic)),
            Event::Debugging(debugging) => Shape::Debugging { config: &debugging.config },
            Event::Progress(progress) => Shape::Progress(ProgressShape {
                kind: progress.kind.as_str(),
                id: &progress.id,
                message: &progress.message,
                received: progress.received,
                total: progress.total.map_or(-1, |total| i64::try_from(total).unwrap_or(i64::MAX)),
                done: progress.done,
            }),
            Event::Policy(event) => policy_shape(event),
            Event::Summary(summary) => Shape::Summary(summary_shape(summary, cancelled)),
        },
    )
}

/// What is known of a resource whose step failed: that it is as it was (0), there but not ready (1), or nothing (2).
fn status(step: &StepEvent) -> u8 {
    let unready = step.new.as_ref().is_some_and(|state| !state.record.init_errors.is_empty());
    if step.doubtful { 2 } else { unready.into() }
}

fn policy_shape(event: &PolicyEvent) -> Shape<'_> {
    match event {
        PolicyEvent::Loading => Shape::PolicyLoad(Empty {}),
        PolicyEvent::Violation(violation) => Shape::Violation(ViolationShape::new(violation)),
        PolicyEvent::Remediated { name, urn, before, after } => {
            Shape::Remediation(RemediationShape::new(name, urn, before, after))
        }
        PolicyEvent::Summary(summary) => match summary.question {
            PolicyQuestion::Analyze => Shape::Analyzed(PolicySummaryShape::new(summary, Some(&summary.urn))),
            PolicyQuestion::Remediate => {
                Shape::Remediated(PolicySummaryShape::new(summary, Some(&summary.urn)))
            }
            PolicyQuestion::AnalyzeStack => Shape::AnalyzedStack(PolicySummaryShape::new(summary, None)),
        },
    }
}

/// What a step that is done is told as. A refresh is told as what it found, unless it only comes before something else.
pub(super) fn done_as(step: &StepEvent, operation: Operation) -> Op {
    step.result.filter(|_| operation == Operation::Refresh).unwrap_or(step.op)
}

/// The first event: the configuration, its secrets blinded.
pub(in crate::display) fn prelude_line(config: &BTreeMap<String, String>, stamp: Stamp) -> String {
    line(stamp, Shape::Prelude(Prelude { config }))
}

/// The last event of every stream, whether the operation was cancelled or not.
pub(in crate::display) fn cancel_line(stamp: Stamp) -> String {
    line(stamp, Shape::Cancel(Empty {}))
}

fn line(stamp: Stamp, event: Shape<'_>) -> String {
    let stamped = Stamped { sequence: stamp.sequence, timestamp: stamp.timestamp, event };
    let text = serde_json::to_string(&stamped).unwrap_or_default();
    if text.contains(['\u{2028}', '\u{2029}']) {
        return text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    }
    text
}

fn step_shape(step: &StepEvent, op: Op) -> StepShape<'_> {
    StepShape { metadata: metadata(step, op), planning: step.planning }
}

/// What is known of a step when it begins. One that goes on from an old state has neither id nor outputs yet.
fn begun(step: &StepEvent) -> StepShape<'_> {
    let mut shape = step_shape(step, step.op);
    if let Some(new) = shape.metadata.new.as_mut().filter(|_| matches!(step.op, Op::Same | Op::Update)) {
        new.as_begun();
    }
    shape
}

fn metadata(step: &StepEvent, op: Op) -> Metadata<'_> {
    let shape =
        |diff: &PropertyDiff| PropertyShape { diff_kind: diff.kind.as_str(), input_diff: diff.input_diff };
    let detailed = step.detailed.as_ref();
    Metadata {
        op: op.as_str(),
        urn: &step.urn,
        r#type: step.urn.type_token(),
        old: step.old.as_deref().map(EventState::new),
        new: step.new.as_deref().map(EventState::new),
        keys: &step.replace_keys,
        diffs: &step.changed_keys,
        detailed_diff: detailed
            .map(|detailed| detailed.iter().map(|(path, diff)| (path.as_str(), shape(diff))).collect()),
        logical: step.logical,
        provider: &step.provider,
    }
}

fn diagnostic_shape(diagnostic: &Diagnostic) -> DiagnosticShape<'_> {
    DiagnosticShape {
        urn: &diagnostic.urn,
        prefix: prefix(diagnostic.severity),
        message: message(diagnostic),
        color: "never",
        severity: diagnostic.severity.as_str(),
        stream: diagnostic.stream,
        ephemeral: diagnostic.ephemeral,
    }
}

/// The text of a message. One that is whole ends with a line break, because its readers print it as it is.
pub(super) fn message(diagnostic: &Diagnostic) -> String {
    let mut text = strip_sequences(&diagnostic.message).into_owned();
    if diagnostic.stream == 0 && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The word before a message.
pub(super) fn prefix(severity: Severity) -> &'static str {
    match severity {
        Severity::Debug => "debug: ",
        Severity::Info | Severity::InfoError => "",
        Severity::Warning => "warning: ",
        Severity::Error => "error: ",
    }
}

fn summary_shape(summary: &Summary, cancelled: bool) -> SummaryShape {
    let counted = summary.changes.iter().filter(|(_, count)| **count > 0);
    SummaryShape {
        maybe_corrupt: summary.doubtful,
        duration_seconds: summary.duration.as_secs() + u64::from(summary.duration.subsec_nanos() > 0),
        resource_changes: counted.map(|(op, count)| (op.as_str(), *count)).collect(),
        policy_packs: summary.policy_packs.clone(),
        is_preview: summary.dry_run,
        result: match (summary.succeeded, cancelled) {
            (true, _) => "succeeded",
            (false, true) => "canceled",
            (false, false) => "failed",
        },
    }
}
