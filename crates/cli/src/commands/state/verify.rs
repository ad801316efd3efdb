//! `state verify`: everything that is wrong with a state.

use super::document::StateFile;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Severity, Snapshot, Subject, Violation, is_sound, verify};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Checks a state against every rule and lists what breaks them. Changes nothing and waits for nobody.
///
/// Ends with code 0 when the state is sound and with 11 when it is not. Warnings do not make a state unsound.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Check this file, a checkpoint or an export, instead of a stack
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: VerifyArgs) -> Outcome {
    let (name, snapshot) = match &args.file {
        Some(path) => (path.display().to_string(), StateFile::read(path)?.into_snapshot()),
        None => {
            let backend = context.backend().await?;
            let (stack, recorded) = context.current(&backend, None).await?;
            (stack.to_string(), recorded.snapshot)
        }
    };
    let violations = verify(&snapshot);
    if args.json {
        terminal::json(&json!({
            "resources": snapshot.resources.len(),
            "sound": is_sound(&violations),
            "violations": violations.iter().map(as_json).collect::<Vec<_>>(),
        }));
    } else {
        terminal::data_with(|out| {
            violations.iter().try_for_each(|violation| {
                writeln!(out, "{}  {violation}  [{}]", violation.severity(), violation.rule)
            })
        });
    }
    judge(&name, &snapshot, &violations, args.file.is_some())
}

fn judge(name: &str, snapshot: &Snapshot, violations: &[Violation], is_file: bool) -> Outcome {
    let errors = violations.iter().filter(|violation| violation.severity() == Severity::Error).count();
    let warnings = violations.len() - errors;
    let resources = super::counted(snapshot.resources.len(), "resource");
    if errors > 0 {
        let failure = Failure::new(
            ExitCode::Unsound,
            format!(
                "{name} breaks its rules: {}, {}",
                super::counted(errors, "error"),
                super::counted(warnings, "warning")
            ),
        );
        return Err(failure.hint(if is_file {
            "`drystone state repair --file` mends what needs no decision"
        } else {
            "`drystone state doctor` explains and proposes a repair"
        }));
    }
    let warned =
        if warnings > 0 { format!(", {}", super::counted(warnings, "warning")) } else { String::new() };
    terminal::note(format!("{name} is sound: {resources}{warned}"));
    Ok(())
}

/// A violation as tools read it.
pub(super) fn as_json(violation: &Violation) -> Value {
    let list = match violation.subject {
        Subject::Manifest => "manifest",
        Subject::Resource(_) => "resources",
        Subject::PendingOperation(_) => "pendingOperations",
        Subject::Snippet(_) => "snippets",
    };
    let mut object = json!({
        "rule": violation.rule.name(),
        "severity": violation.severity().to_string(),
        "list": list,
        "index": violation.subject.index(),
        "urn": violation.urn,
        "message": violation.problem(),
    });
    let mut add =
        |key: &str, value: Value| object.as_object_mut().map(|members| members.insert(key.to_owned(), value));
    if let Some(urn) = &violation.refers_to {
        add("refersTo", json!(urn));
    }
    if let Some(index) = violation.refers_to_index {
        add("refersToIndex", json!(index));
    }
    if !violation.detail.is_empty() {
        add("detail", json!(violation.detail));
    }
    object
}
