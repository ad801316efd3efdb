//! What `preview --json` prints: one object for the whole preview.

use super::event::{done_as, message, prefix};
use super::state::{StackProperties, preview_state};
use crate::display::model::is_stack;
use crate::display::tree::Show;
use drystone_engine::{
    EnforcementLevel, Event, Op, Operation, PolicyEvent, Severity, StepEvent, Summary, Violation,
};
use drystone_model::{Properties, Resource, Urn, is_default_provider};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// A preview as it is gathered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::display) struct Digest {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    config: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Message>,
    #[serde(skip_serializing_if = "is_zero")]
    duration: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    change_summary: BTreeMap<&'static str, usize>,
    #[serde(skip)]
    operation: Operation,
    #[serde(skip)]
    show: Show,
    #[serde(skip)]
    stack: StackProperties,
    /// The resources of which a refresh is the last step that began.
    #[serde(skip)]
    refreshing: HashSet<Urn>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    op: &'static str,
    urn: Urn,
    #[serde(skip_serializing_if = "String::is_empty")]
    provider: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_state: Option<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_state: Option<Resource>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff_reasons: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replace_reasons: Vec<String>,
    detailed_diff: Option<BTreeMap<String, PropertyShape>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PropertyShape {
    kind: &'static str,
    input_diff: bool,
}

#[derive(Debug, Serialize)]
struct Message {
    #[serde(skip_serializing_if = "Urn::is_empty")]
    urn: Urn,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    severity: &'static str,
}

impl Digest {
    /// An empty one. `config` has its secrets blinded.
    pub(in crate::display) fn new(
        config: BTreeMap<String, String>,
        operation: Operation,
        show: Show,
        suppress_outputs: bool,
    ) -> Self {
        Self {
            config,
            steps: Vec::new(),
            diagnostics: Vec::new(),
            duration: 0,
            change_summary: BTreeMap::new(),
            operation,
            show,
            stack: if suppress_outputs { StackProperties::Left } else { StackProperties::Shown },
            refreshing: HashSet::new(),
        }
    }

    /// Adds what happened.
    pub(in crate::display) fn take(&mut self, event: &Event) {
        match event {
            Event::StepStarted(step) => self.started(step),
            Event::StepDone(step) => self.done(step),
            Event::StepFailed(_) | Event::Debugging(_) | Event::Progress(_) => {}
            Event::Diagnostic(diagnostic) => {
                if !diagnostic.ephemeral && diagnostic.severity != Severity::Debug {
                    self.diagnostics.push(Message {
                        urn: diagnostic.urn.clone(),
                        message: format!("{}{}", prefix(diagnostic.severity), message(diagnostic)),
                        severity: diagnostic.severity.as_str(),
                    });
                }
            }
            Event::Policy(PolicyEvent::Violation(violation)) => self.violated(violation),
            Event::Policy(_) => {}
            Event::Summary(summary) => self.ended(summary),
        }
    }

    /// The stock CLI leaves violations out; among the messages they break no reader.
    fn violated(&mut self, violation: &Violation) {
        let severity = match violation.level {
            EnforcementLevel::Mandatory | EnforcementLevel::Remediate => Severity::Error,
            EnforcementLevel::Advisory | EnforcementLevel::Disabled => Severity::Warning,
        };
        let (level, text) = (violation.level.as_str(), super::policy::message(violation));
        self.diagnostics.push(Message {
            urn: violation.urn.clone(),
            message: format!("{level}: {}: {text}", violation.name.policy),
            severity: severity.as_str(),
        });
    }

    fn started(&mut self, step: &StepEvent) {
        if is_default_provider(&step.urn) || !(self.is_shown(step, step.op) || is_stack(&step.urn)) {
            return;
        }
        if step.op == Op::Refresh {
            self.refreshing.insert(step.urn.clone());
        } else {
            self.refreshing.remove(&step.urn);
        }
        let mut made = self.step(step, step.op);
        // One that goes on from an old state has neither id nor outputs yet when it begins.
        if let Some(state) = made.new_state.as_mut().filter(|_| matches!(step.op, Op::Same | Op::Update)) {
            state.id = Default::default();
            state.outputs = Properties::default();
        }
        self.steps.push(made);
    }

    /// What a refresh found takes the place of the refresh.
    fn done(&mut self, step: &StepEvent) {
        let found = done_as(step, self.operation);
        let tells = match found {
            Op::Update => step.detailed.is_some(),
            Op::Delete => true,
            _ => false,
        };
        if tells && self.refreshing.contains(&step.urn) {
            let made = self.step(step, found);
            if let Some(place) = self.steps.iter_mut().find(|known| known.urn == step.urn) {
                *place = made;
            }
        }
    }

    fn is_shown(&self, step: &StepEvent, op: Op) -> bool {
        let protect = |state: &Option<drystone_engine::StepView>| {
            state.as_ref().is_some_and(|state| state.record.protect)
        };
        match op {
            Op::Same => self.show.sames || protect(&step.old) != protect(&step.new),
            Op::CreateReplacement
            | Op::DeleteReplaced
            | Op::ReadReplacement
            | Op::DiscardReplaced
            | Op::ImportReplacement
            | Op::RemovePendingReplace => step.logical || self.show.replacement_steps,
            _ => true,
        }
    }

    fn step(&self, step: &StepEvent, op: Op) -> Step {
        let state = |view: &Option<drystone_engine::StepView>| {
            view.as_ref().and_then(|state| preview_state(state, self.stack))
        };
        let detailed = step.detailed.as_ref().map(|detailed| {
            let shape = |diff: &drystone_engine::PropertyDiff| PropertyShape {
                kind: diff.kind.as_str(),
                input_diff: diff.input_diff,
            };
            detailed.iter().map(|(path, diff)| (path.clone(), shape(diff))).collect()
        });
        Step {
            op: op.as_str(),
            urn: step.urn.clone(),
            provider: step.provider.clone(),
            old_state: state(&step.old),
            new_state: state(&step.new),
            diff_reasons: step.changed_keys.clone(),
            replace_reasons: step.replace_keys.clone(),
            detailed_diff: detailed,
        }
    }

    fn ended(&mut self, summary: &Summary) {
        self.duration = u64::try_from(summary.duration.as_nanos()).unwrap_or(u64::MAX);
        let counted = summary.changes.iter().filter(|(_, count)| **count > 0);
        self.change_summary = counted.map(|(op, count)| (op.as_str(), *count)).collect();
    }

    /// The object, indented by four spaces, with the escapes that the stock CLI writes there.
    pub(in crate::display) fn text(&self) -> String {
        let compact = serde_json::to_string(self).unwrap_or_default();
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = drystone_model::text::indent(compact.as_bytes(), "    ", &mut text);
        let mut text = String::from_utf8(text).unwrap_or_default();
        // Outside of strings none of these letters stands in JSON.
        for (letter, escape) in [
            ("<", "\\u003c"),
            (">", "\\u003e"),
            ("&", "\\u0026"),
            ("\u{2028}", "\\u2028"),
            ("\u{2029}", "\\u2029"),
        ] {
            if text.contains(letter) {
                text = text.replace(letter, escape);
            }
        }
        text
    }
}
