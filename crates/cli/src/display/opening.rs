//! What is known when an operation begins, and how it is to be shown.

use super::text::{Line, Paint, Tone, printable};
use super::tree::Show;
use super::values::Secrets;
use drystone_engine::{ConfigValue, Operation};
use drystone_model::SECRET_MASK;
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// What is known when an operation begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opening {
    /// What is done.
    pub(crate) operation: Operation,
    /// Whether a state is only judged, and nothing is operated on.
    pub(crate) judges: bool,
    /// Whether a program runs for it.
    pub(crate) runs_program: bool,
    /// Whether it is only previewed.
    pub(crate) dry_run: bool,
    /// Whether somebody else does it, and it is only looked at.
    pub(crate) follows: bool,
    /// The stack, as the user names it.
    pub(crate) stack: String,
    /// What else is worth saying: `lease 7`, `214 resources`.
    pub(crate) details: Vec<String>,
    /// The configuration by `namespace:name`.
    pub(crate) config: BTreeMap<String, ConfigValue>,
    /// Where the operation can be followed.
    pub(crate) permalink: Option<String>,
}

/// How an operation is shown.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Each change in full: `--diff`.
    pub(crate) diff: bool,
    /// As JSON: `--json`.
    pub(crate) json: bool,
    /// The events of a preview instead of its one object: `PULUMI_ENABLE_STREAMING_JSON_PREVIEW`.
    pub(crate) streaming_preview: bool,
    /// Whether secrets are shown: `--show-secrets`.
    pub(crate) secrets: Secrets,
    /// Which resources are shown beside those that change.
    pub(crate) show: Show,
    /// The configuration: `--show-config`.
    pub(crate) show_config: bool,
    /// Long values whole: `--show-full-output`.
    pub(crate) show_full_output: bool,
    /// Each change that a policy makes: `--show-policy-remediations`.
    pub(crate) show_policy_remediations: bool,
    /// Messages for finding faults: `--debug`.
    pub(crate) debug: bool,
    /// No stack outputs: `--suppress-outputs`.
    pub(crate) suppress_outputs: bool,
    /// Nothing that only says that it is still at work: `--suppress-progress`.
    pub(crate) suppress_progress: bool,
    /// No permalink: `--suppress-permalink`.
    pub(crate) suppress_permalink: bool,
    /// Nobody watches: `--non-interactive`.
    pub(crate) non_interactive: bool,
    /// Plain lines have the time before them.
    pub(crate) stamped: bool,
    /// Where events go for programs to read: `--event-log`.
    pub(crate) event_log: Option<EventLog>,
}

use super::log::EventLog;

/// What is done with the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A tree that is drawn again and again.
    Live,
    /// A line a change.
    Plain,
    /// A line of JSON an event.
    Events,
    /// One JSON object at the end.
    Digest,
}

impl Mode {
    pub(super) fn of(opening: &Opening, options: &Options) -> Self {
        let watched = std::io::stdout().is_terminal()
            && !options.non_interactive
            && !options.suppress_progress
            && std::env::var_os("CI").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|value| value != "dumb");
        match (options.json, opening.dry_run && !options.streaming_preview, watched) {
            (true, true, _) => Self::Digest,
            (true, false, _) => Self::Events,
            (false, _, true) => Self::Live,
            (false, _, false) => Self::Plain,
        }
    }
}

/// Whether stdout takes colours, by its kind, `NO_COLOR` and `--color`.
pub(super) fn paint() -> Paint {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => Paint::None,
        _ => Paint::Colors,
    }
}

impl Opening {
    /// What goes on while there is no resource to tell of.
    pub(super) fn idle(&self) -> &'static str {
        match (self.follows, self.runs_program) {
            (true, _) => "waiting for its next step",
            (false, true) => "waiting for the program",
            (false, false) => "starting",
        }
    }

    /// `Updating shop/prod  (lease 7, 214 resources)`.
    pub(super) fn heading(&self) -> Line {
        let what = match (self.operation, self.dry_run) {
            _ if self.judges => "Analyzing",
            (Operation::Update, false) => "Updating",
            (Operation::Update, true) => "Previewing update of",
            (Operation::Refresh, false) => "Refreshing",
            (Operation::Refresh, true) => "Previewing refresh of",
            (Operation::Destroy, false) => "Destroying",
            (Operation::Destroy, true) => "Previewing destroy of",
            (Operation::Import, false) => "Importing into",
            (Operation::Import, true) => "Previewing import into",
        };
        let mut line = Line::toned(Tone::Strong, format!("{what} {}", printable(&self.stack)));
        if !self.details.is_empty() {
            line.push(Tone::Faint, format!("  ({})", printable(&self.details.join(", "))));
        }
        line
    }

    /// The configuration, its secrets blinded.
    pub(super) fn blinded_config(&self) -> BTreeMap<String, String> {
        let shown =
            |value: &ConfigValue| if value.secret { SECRET_MASK.to_owned() } else { value.text.clone() };
        self.config.iter().map(|(key, value)| (key.clone(), shown(value))).collect()
    }

    /// The secret texts of the configuration, longest first. Shorter ones than three letters would mask everything.
    pub(super) fn secret_texts(&self) -> Vec<String> {
        let secret = self.config.values().filter(|value| value.secret && !value.object);
        let mut texts: Vec<String> = secret.map(|value| value.text.clone()).collect();
        texts.retain(|text| text.chars().count() >= 3);
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        texts
    }
}
