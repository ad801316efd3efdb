//! What the command line asks for, whichever command it was.

use super::flags::{ApprovalFlags, CommonFlags, ConfigFlags, Debugged, DisplayFlags, RunFlags};
use super::import::{Importing, Listing};
use super::pending::PendingFlags;
use super::plan::PlanUse;
use super::policies::NamedPack;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use drystone_engine::{Operation, Options};
use std::sync::Arc;

/// One operation on one stack.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) mode: Mode,
    /// What the engine is told, but for what the project and the configuration say.
    pub(super) options: Options,
    /// Whether the state is refreshed first; `None` leaves it to the project.
    pub(super) refresh: Option<bool>,
    pub(super) config: ConfigFlags,
    pub(super) display: DisplayFlags,
    pub(super) run: RunFlags,
    /// Whether it is a failure when something changes.
    pub(super) expect_no_changes: bool,
    /// What seals the secrets of a stack that is made for this; `None` when none may be made.
    pub(super) new_stack: Option<String>,
    /// What becomes of creations that were under way when an earlier run died.
    pub(super) pending: PendingFlags,
    /// Which plan is made, and which one it is held to.
    pub(super) plan: PlanUse,
    /// Leave protected resources and what they need.
    pub(super) exclude_protected: bool,
    /// The policy packs that it is held to.
    pub(super) policy_packs: Vec<NamedPack>,
    /// Remove the stack once nothing is left.
    pub(super) remove: bool,
    /// What waits for a debugger.
    pub(super) debugged: Debugged,
    /// Lists what a preview would create, for an import.
    pub(super) listing: Option<Arc<Listing>>,
    /// What an import takes over.
    pub(super) importing: Option<Importing>,
    /// Whether it is one of many runs, told in lines that have the time before them.
    pub(super) stamped: bool,
}

impl Request {
    /// A request that changes nothing and asks for nothing else.
    pub(super) fn new(kind: Kind, options: Options, common: CommonFlags) -> Self {
        Self {
            kind,
            mode: Mode::PreviewOnly,
            options: Options { operation: kind.operation(), ..options },
            refresh: None,
            config: common.config,
            display: common.display,
            run: common.run,
            expect_no_changes: false,
            new_stack: None,
            pending: PendingFlags::default(),
            plan: PlanUse::default(),
            exclude_protected: false,
            policy_packs: Vec::new(),
            remove: false,
            debugged: Debugged::default(),
            listing: None,
            importing: None,
            stamped: false,
        }
    }

    /// Whether the program runs.
    pub(super) fn runs_program(&self) -> bool {
        matches!(self.kind, Kind::Preview | Kind::Update) || self.options.run_program
    }
}

/// Which command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Preview,
    Update,
    Refresh,
    Destroy,
    Import,
}

impl Kind {
    /// What the engine does.
    pub(super) fn operation(self) -> Operation {
        match self {
            Self::Preview | Self::Update => Operation::Update,
            Self::Refresh => Operation::Refresh,
            Self::Destroy => Operation::Destroy,
            Self::Import => Operation::Import,
        }
    }

    /// What the history calls it.
    pub(super) fn recorded(self) -> &'static str {
        match self {
            Self::Import => "resource-import",
            _ => self.noun(),
        }
    }

    /// What questions and failures call it.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Preview | Self::Update => "update",
            Self::Refresh => "refresh",
            Self::Destroy => "destroy",
            Self::Import => "import",
        }
    }

    /// The command, as leases and revisions name it.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Update => "up",
            Self::Refresh => "refresh",
            Self::Destroy => "destroy",
            Self::Import => "import",
        }
    }
}

/// How far it goes, and who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It is only said what would be done.
    PreviewOnly,
    /// It is said what would be done, and somebody is asked.
    Ask,
    /// It is said what would be done, and then done.
    PreviewFirst,
    /// It is done.
    AtOnce,
}

impl Mode {
    /// How far the options go. Nobody is asked where nobody can answer.
    pub(super) fn of(context: &Context, approval: ApprovalFlags, preview_only: bool) -> Outcome<Self> {
        match (approval.skip_preview, approval.yes, preview_only) {
            (true, _, true) => {
                Err(Failure::configuration("--skip-preview and --preview-only cannot be used together"))
            }
            (_, true, true) => {
                Err(Failure::configuration("--yes and --preview-only cannot be used together"))
            }
            (false, false, true) => Ok(Self::PreviewOnly),
            (true, _, false) => Ok(Self::AtOnce),
            (false, true, false) => Ok(Self::PreviewFirst),
            (false, false, false) if context.skips_confirmations() => Ok(Self::PreviewFirst),
            (false, false, false) if context.is_interactive() => Ok(Self::Ask),
            (false, false, false) => Err(Failure::configuration(
                "--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode",
            )
            .hint("`--yes` previews and goes on, `--skip-preview` goes on at once, `drystone preview` only previews")),
        }
    }
}
