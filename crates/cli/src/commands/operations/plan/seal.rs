//! What a plan is bound to.

use super::program;
use crate::commands::operations::request::Request;
use crate::commands::operations::subject::Subject;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_engine::{ConfigValue, Options, RefreshMode};
use drystone_stores::Recorded;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What to do with a plan that does not fit.
pub(super) const ANEW: &str = "nothing was changed; make a new one with `drystone preview --save-plan FILE`";

/// How many differences of a kind are named.
const NAMED: usize = 5;

/// What a plan is bound to. It stands in the file sealed, so digests of small secrets tell nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Bound {
    /// The stack's full name.
    pub(super) stack: String,
    /// A digest of the plan file.
    pub(super) content: String,
    /// The revision, for people.
    revision: Option<u64>,
    /// A digest of the state.
    state: String,
    /// Digests of the program's files; nothing for a program that is no files.
    program: Option<BTreeMap<String, String>>,
    /// Digests of the configuration's values.
    config: BTreeMap<String, String>,
    /// What the command line says of how far the operation goes.
    options: BTreeSet<String>,
}

impl Bound {
    /// What there is now.
    pub(super) fn now(
        context: &Context,
        request: &Request,
        subject: &Subject,
        base: &Recorded,
        content: String,
    ) -> Outcome<Self> {
        let files = match request.run.client {
            Some(_) => None,
            None => program::files(&subject.project, context.environment.working_directory()),
        };
        Ok(Self {
            stack: super::full_name(subject),
            content,
            revision: base.revision,
            state: state_digest(base)?,
            program: files,
            config: subject.values.iter().map(|(key, value)| (key.clone(), config_digest(value))).collect(),
            options: told(&request.options),
        })
    }

    /// Compares what a plan was made for with what there is now.
    pub(super) fn require(&self, now: &Self, path: &Path, stack: &str) -> Outcome {
        let refused = |code, what: &str, details: Vec<String>| {
            let message = format!("{what} that the plan `{}` was made for", path.display());
            let failure = Failure::new(code, message).hint(ANEW);
            Err(details.into_iter().fold(failure, Failure::detail))
        };
        if self.state != now.state {
            let shown =
                |revision: Option<u64>| revision.map_or("none".to_owned(), |number| number.to_string());
            let details = match self.revision == now.revision {
                true => vec![format!("both are revision {}, changed by another tool", shown(now.revision))],
                false => vec![format!(
                    "the plan was made at revision {}, the state is at revision {}",
                    shown(self.revision),
                    shown(now.revision)
                )],
            };
            return refused(ExitCode::Held, &format!("the state of {stack} is not the one"), details);
        }
        if let (Some(then), Some(now)) = (&self.program, &now.program)
            && then != now
        {
            return refused(ExitCode::Configuration, "the program is not the one", differences(then, now));
        }
        if self.config != now.config {
            let what = format!("the configuration of {stack} is not the one");
            return refused(ExitCode::Configuration, &what, differences(&self.config, &now.config));
        }
        if self.options != now.options {
            let missing = self.options.difference(&now.options).map(|option| format!("missing: {option}"));
            let added = now.options.difference(&self.options).map(|option| format!("added: {option}"));
            let details = missing.chain(added).collect();
            return refused(ExitCode::Configuration, "the options are not those", details);
        }
        Ok(())
    }
}

/// What was added, removed and changed, as far as it is worth naming.
fn differences(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let mut found: Vec<String> = names
        .into_iter()
        .filter_map(|name| match (then.get(name), now.get(name)) {
            (None, Some(_)) => Some(format!("added: {name}")),
            (Some(_), None) => Some(format!("removed: {name}")),
            (then, now) => (then != now).then(|| format!("changed: {name}")),
        })
        .collect();
    let more = found.len().saturating_sub(NAMED);
    if more > 0 {
        found.truncate(NAMED);
        found.push(format!("and {more} more"));
    }
    found
}

/// How far an operation goes, in the words of the command line.
fn told(options: &Options) -> BTreeSet<String> {
    let named =
        [("--target", &options.targets), ("--exclude", &options.excludes), ("--replace", &options.replace)];
    let named = named
        .into_iter()
        .flat_map(|(name, targets)| targets.texts().map(move |text| format!("{name} {text}")));
    let switches = [
        ("--target-dependents", options.target_dependents),
        ("--exclude-dependents", options.exclude_dependents),
        ("--ignore-protect", options.ignore_protect),
        ("--refresh", options.refresh == RefreshMode::First),
    ];
    let given = switches.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned());
    named.chain(given).collect()
}

/// A digest of a state: its resources and what was under way. When it was written says nothing.
pub(super) fn state_digest(base: &Recorded) -> Outcome<String> {
    let parts = (&base.snapshot.resources, &base.snapshot.pending_operations);
    let text = serde_json::to_vec(&parts).map_err(|error| Failure::new(ExitCode::Internal, error))?;
    Ok(digest(&text))
}

fn config_digest(value: &ConfigValue) -> String {
    digest(format!("{} {} {}", value.object, value.secret, value.text).as_bytes())
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
