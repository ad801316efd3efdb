//! `preview`: says what `up` would do.

use super::flags::{CommonFlags, DebuggerFlags, ProtectFlags, RefreshFlags, ReplaceFlags, later};
use super::import::Listing;
use super::plan::{PlanUse, named};
use super::policies::PolicyFlags;
use super::request::{Kind, Request};
use crate::context::Context;
use crate::report::Outcome;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// Show what `up` would do, and change nothing.
///
/// Nothing is locked: a preview can run while somebody else updates the stack.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone preview --diff                  every change in full
  drystone preview --expect-no-changes     fail if there would be any
  drystone preview --save-plan plan.json   for `drystone up --plan plan.json`
  drystone preview --json                  for scripts")]
pub(crate) struct PreviewArgs {
    /// Not available: a repository for Pulumi Deployments
    #[arg(value_name = "URL", hide = true)]
    url: Option<String>,
    /// Fail if something would change
    #[arg(long)]
    expect_no_changes: bool,
    #[command(flatten)]
    refresh: RefreshFlags,
    #[command(flatten)]
    replace: ReplaceFlags,
    #[command(flatten)]
    protect: ProtectFlags,
    /// Write what would be done to a file that `up --plan` can be held to
    #[arg(long, value_name = "FILE")]
    save_plan: Option<PathBuf>,
    /// Write what would be created to this file, for `import` to take over instead
    #[arg(long, value_name = "FILE")]
    import_file: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyFlags,
    #[command(flatten)]
    debugger: DebuggerFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl PreviewArgs {
    /// What is asked for, or why it cannot be had.
    pub(super) fn request(self, context: &Context) -> Outcome<Request> {
        let mut options = self.common.options(context)?;
        later(
            "preview URL",
            self.url.is_some(),
            "go to a project's folder and run `drystone preview` there",
        )?;
        self.replace.apply(&self.common.targets, &mut options);
        options.ignore_protect = self.protect.ignore_protect;
        let listing = self.import_file.map(|path| Arc::new(Listing::new(context.environment.resolve(&path))));
        Ok(Request {
            debugged: self.debugger.debugged()?,
            listing,
            refresh: self.refresh.first()?,
            expect_no_changes: self.expect_no_changes,
            policy_packs: self.policy.packs()?,
            new_stack: Some("default".to_owned()),
            plan: PlanUse { save: named(context, self.save_plan), ..PlanUse::default() },
            ..Request::new(Kind::Preview, options, self.common)
        })
    }
}
