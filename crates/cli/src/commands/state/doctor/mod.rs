//! `state doctor`: says what is wrong with a stack in words, and mends what can be mended.

mod explanation;
mod orphans;

use super::{lock, repair, verify};
use crate::backend::Backend;
use crate::context::Context;
use crate::edit::{Title, commit_and_release, edit_state, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::snapshot_diff::{Secrets, SnapshotDiff};
use crate::terminal;
use clap::Args;
use drystone_model::{Repair, Severity, ShortName, Snapshot, Violation, is_sound};
use drystone_stores::{At, Commit, Recorded, StackDescription, StackId};
use orphans::Knowledge;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// More lines of a diff than this are counted, not shown.
const LINES_SHOWN: usize = 200;

/// Explains each rule that the state breaks, shows the repair as a diff, asks, and makes one revision of it that
/// `stack undo` takes back. Lists pending operations, dead holders, and what journals know that other tools passed
/// over, and offers to merge it.
///
/// Ends with code 0 when the state is sound in the end and with 11 when it is not.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Do what is proposed without asking
    #[arg(short, long)]
    yes: bool,
    /// Print JSON; nothing is asked, and nothing changed without --yes
    #[arg(short, long)]
    json: bool,
}

/// Everything that was found.
struct Findings {
    stack: StackId,
    recorded: Recorded,
    violations: Vec<Violation>,
    /// The repair, or why there is none.
    repair: Result<Repair, drystone_model::CyclicError>,
    described: StackDescription,
    knowledge: Vec<Knowledge>,
}

pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let findings = Findings::gather(&backend, stack).await?;
    let yes = args.yes || context.skips_confirmations();
    if !args.json {
        terminal::data(&findings.in_words());
    }
    let mut revisions = Vec::new();
    if findings.is_repairable() && wants(context, yes, args.json, "Apply this repair?")? {
        revisions.extend(apply_repair(context, &backend, &findings.stack).await?);
    }
    for knowledge in &findings.knowledge {
        let (question, mergeable) = if knowledge.is_mergeable() {
            (format!("Merge what only {} knows?", knowledge.journal()), true)
        } else {
            (format!("There is nothing to merge from {}. Is it settled?", knowledge.journal()), false)
        };
        if !wants(context, yes, args.json, &question)? {
            continue;
        }
        if mergeable {
            revisions.extend(merge(context, &backend, &findings.stack, knowledge).await?);
        } else {
            settle(context, &backend, &findings.stack, knowledge).await?;
        }
    }
    if args.json {
        terminal::json(&findings.as_json(&revisions));
    }
    let repaired = !revisions.is_empty() && findings.is_repairable();
    if is_sound(&findings.violations) || repaired { Ok(()) } else { Err(findings.unsound()) }
}

/// Whether to go ahead. Where nobody can answer, nothing is changed.
fn wants(context: &Context, yes: bool, json: bool, question: &str) -> Outcome<bool> {
    if yes || json || !context.is_interactive() { Ok(yes) } else { context.confirm(question) }
}

async fn apply_repair(context: &Context, backend: &Backend, stack: &StackId) -> Outcome<Option<u64>> {
    let told = repair::Telling::Nothing;
    let committed = repair::commit_repair(context, backend, stack, "state doctor", told).await?;
    if let Some(committed) = &committed {
        repair::tell_repaired(committed);
    }
    Ok(committed.and_then(|committed| committed.revision))
}

async fn merge(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    knowledge: &Knowledge,
) -> Outcome<Option<u64>> {
    let message = format!("merged {}", knowledge.journal());
    let settles = vec![knowledge.journal().to_owned()];
    let title = Title { purpose: "state doctor".to_owned(), message, settles };
    let edit = async |snapshot: &mut Snapshot| knowledge.merge_into(context, stack, snapshot);
    let ((), committed) = edit_state(context, backend, stack, title, false, edit).await?;
    tell_committed(&committed);
    Ok(committed.revision)
}

/// Puts a journal away that has nothing to merge: it is kept on disk, and no longer listed.
async fn settle(context: &Context, backend: &Backend, stack: &StackId, knowledge: &Knowledge) -> Outcome {
    let lease = context.lease(backend, stack, "state doctor").await?;
    let settles = vec![knowledge.journal().to_owned()];
    let commit = Commit { title: "state doctor".to_owned(), settles, ..Commit::default() };
    commit_and_release(lease, commit).await?;
    terminal::note(format!("{} is settled", knowledge.journal()));
    Ok(())
}

impl Findings {
    async fn gather(backend: &Backend, stack: StackId) -> Outcome<Self> {
        let recorded = backend.store().snapshot(&stack, At::Current).await?;
        let mut described = backend.store().describe(&stack).await?;
        let mut knowledge = Vec::new();
        for orphan in std::mem::take(&mut described.orphans) {
            // Without its base, everything in it counts as its own.
            let base = backend.store().snapshot(&stack, At::Revision(orphan.base)).await.ok();
            let base = base.map(|base| base.snapshot).unwrap_or_default();
            knowledge.push(Knowledge::new(orphan, &base, &recorded.snapshot));
        }
        let violations = drystone_model::verify(&recorded.snapshot);
        let repair = drystone_model::repair(&recorded.snapshot);
        Ok(Self { stack, recorded, violations, repair, described, knowledge })
    }

    fn is_repairable(&self) -> bool {
        self.repair.as_ref().is_ok_and(|repair| repair.is_complete() && !repair.changes.is_empty())
    }

    fn in_words(&self) -> String {
        let mut lines = Vec::new();
        let snapshot = &self.recorded.snapshot;
        let revision =
            self.recorded.revision.map_or_else(String::new, |number| format!(", revision {number}"));
        let count = super::counted(snapshot.resources.len(), "resource");
        let verdict = match self.violations.len() {
            0 => "it breaks no rule".to_owned(),
            broken if is_sound(&self.violations) => {
                format!("sound, with {}", super::counted(broken, "warning"))
            }
            broken => format!("{} broken", super::counted(broken, "rule")),
        };
        lines.push(format!("{} ({count}{revision}): {verdict}", self.stack));
        self.violations_in_words(&mut lines);
        self.repair_in_words(&mut lines);
        self.operations_in_words(&mut lines);
        self.holders_in_words(&mut lines);
        for knowledge in &self.knowledge {
            lines.push(String::new());
            lines.extend(knowledge.in_words());
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Each violation, then once for each rule what it means.
    fn violations_in_words(&self, lines: &mut Vec<String>) {
        let rules: BTreeSet<_> = self.violations.iter().map(|violation| violation.rule).collect();
        for rule in rules {
            lines.push(String::new());
            lines.push(format!("{} ({})", rule.name(), rule.severity()));
            lines.push(format!("  {}", explanation::of(rule)));
            let broken: Vec<&Violation> =
                self.violations.iter().filter(|violation| violation.rule == rule).collect();
            lines.extend(broken.iter().take(LINES_SHOWN).map(|violation| format!("  {violation}")));
            if broken.len() > LINES_SHOWN {
                lines.push(format!("  and {} more", broken.len() - LINES_SHOWN));
            }
        }
    }

    fn repair_in_words(&self, lines: &mut Vec<String>) {
        let repair = match &self.repair {
            Ok(repair) if repair.changes.is_empty() && repair.is_complete() => return,
            Ok(repair) => repair,
            Err(error) => {
                lines.push(String::new());
                lines.push("No repair: these resources depend on each other in a circle.".to_owned());
                lines.extend(error.cycles.iter().map(|cycle| format!("  {cycle}")));
                lines.push("  Take one of the references out with `drystone state edit`.".to_owned());
                return;
            }
        };
        lines.push(String::new());
        if repair.is_complete() {
            lines.push("The repair:".to_owned());
        } else {
            lines.push("Not repairable without a decision of yours:".to_owned());
            for remaining in &repair.remaining {
                lines.push(format!("  {remaining}"));
                lines.push(format!("    {}", remaining.hint));
            }
            lines.push("Once that is settled, the rest would be repaired so:".to_owned());
        }
        lines.extend(repair.changes.iter().take(LINES_SHOWN).map(|change| format!("  {change}")));
        if repair.changes.len() > LINES_SHOWN {
            lines.push(format!("  and {} more", repair.changes.len() - LINES_SHOWN));
        }
        lines.push("As a diff of the snapshot:".to_owned());
        let diff = SnapshotDiff::new(&self.recorded.snapshot, &repair.snapshot, Secrets::Masked).render();
        let all = diff.lines().count();
        lines.extend(diff.lines().take(LINES_SHOWN).map(|line| format!("  {line}")));
        if all > LINES_SHOWN {
            lines.push(format!("  and {} more lines", all - LINES_SHOWN));
        }
    }

    fn operations_in_words(&self, lines: &mut Vec<String>) {
        let operations = &self.recorded.snapshot.pending_operations;
        if operations.is_empty() {
            return;
        }
        lines.push(String::new());
        lines.push(
            "Operations that had begun and not ended; whether they took effect is not known:".to_owned(),
        );
        for operation in operations {
            lines.push(format!("  {}  {}", operation.kind.as_str(), ShortName(&operation.resource.urn)));
        }
        lines.push(
            "  The next update or refresh settles them: look at the provider for what was created."
                .to_owned(),
        );
    }

    fn holders_in_words(&self, lines: &mut Vec<String>) {
        for holder in &self.described.holders {
            lines.push(String::new());
            lines.push(format!("Held by {}", holder.describe()));
            lines.push(format!("  {}", lock::advice(holder)));
        }
        if self.described.unrecovered {
            lines.push(String::new());
            lines.push(
                "A dead update left a journal; the next command that changes the stack brings it in."
                    .to_owned(),
            );
        }
    }

    fn as_json(&self, revisions: &[u64]) -> Value {
        let repair = match &self.repair {
            Ok(repair) => json!({
                "complete": repair.is_complete(),
                "changes": repair.changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "diff": SnapshotDiff::new(&self.recorded.snapshot, &repair.snapshot, Secrets::Masked),
                "remaining": repair.remaining.iter().map(|remaining| {
                    let mut object = verify::as_json(&remaining.violation);
                    object["hint"] = json!(remaining.hint);
                    object
                }).collect::<Vec<_>>(),
            }),
            Err(error) => json!({
                "complete": false, "changes": [],
                "cycles": error.cycles.iter().map(ToString::to_string).collect::<Vec<_>>(),
            }),
        };
        let explained = self.violations.iter().map(|violation| {
            let mut object = verify::as_json(violation);
            object["explanation"] = json!(explanation::of(violation.rule));
            object
        });
        let operations = self.recorded.snapshot.pending_operations.iter();
        json!({
            "stack": self.stack.qualified(),
            "revision": self.recorded.revision,
            "sound": is_sound(&self.violations),
            "violations": explained.collect::<Vec<_>>(),
            "repair": repair,
            "pendingOperations": operations.map(|operation| json!({
                "urn": operation.resource.urn, "type": operation.kind.as_str(),
            })).collect::<Vec<_>>(),
            "holders": self.described.holders.iter().map(lock::holder_json).collect::<Vec<_>>(),
            "unrecoveredJournal": self.described.unrecovered,
            "orphanedJournals": self.knowledge.iter().map(Knowledge::as_json).collect::<Vec<_>>(),
            "madeRevisions": revisions,
        })
    }

    fn unsound(&self) -> Failure {
        let errors =
            self.violations.iter().filter(|violation| violation.severity() == Severity::Error).count();
        let failure = Failure::new(
            ExitCode::Unsound,
            format!("the state of {} breaks its rules: {}", self.stack, super::counted(errors, "error")),
        );
        failure.hint(if self.is_repairable() {
            "apply the repair with `drystone state doctor --yes`"
        } else {
            "`drystone state edit` opens the state in your editor; `drystone stack revisions` lists what can be gone back to"
        })
    }
}
