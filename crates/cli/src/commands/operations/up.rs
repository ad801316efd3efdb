//! `up`: makes the stack what its program says.

use super::flags::{
    ApprovalFlags, CommonFlags, DebuggerFlags, FailureFlags, ProtectFlags, RefreshFlags, ReplaceFlags, later,
};
use super::plan::{PlanUse, named};
use super::policies::PolicyFlags;
use super::request::{Kind, Mode, Request};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Create, change and delete resources so that they are what the program says.
///
/// The program of the project is run, and what it registers is compared with the state. The difference is shown and,
/// when you agree, made. Every step is written down before and after it is taken, so a run that dies loses nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone up                      preview, ask, then do it
  drystone up --yes                do not ask
  drystone up --plan plan.json     do only what `drystone preview --save-plan plan.json` found
  drystone up --target '**::db'    only the resource named db
  drystone up -c size=3            set a configuration value first")]
pub(crate) struct UpArgs {
    /// Not available yet: a template
    #[arg(value_name = "TEMPLATE", hide = true)]
    template: Option<String>,
    #[command(flatten)]
    approval: ApprovalFlags,
    /// Fail if something changes
    #[arg(long)]
    expect_no_changes: bool,
    #[command(flatten)]
    refresh: RefreshFlags,
    #[command(flatten)]
    failures: FailureFlags,
    /// What seals the secrets of a stack that is made for this: `default`, `passphrase`, or the URL of a key
    #[arg(long, value_name = "PROVIDER", default_value = "default")]
    secrets_provider: String,
    #[command(flatten)]
    replace: ReplaceFlags,
    #[command(flatten)]
    protect: ProtectFlags,
    /// Do only what a plan says that `preview --save-plan` wrote
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    plan: Option<PathBuf>,
    /// Do only what the preview of this command says
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    policy: PolicyFlags,
    #[command(flatten)]
    debugger: DebuggerFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl UpArgs {
    /// What is asked for, or why it cannot be had.
    pub(super) fn request(self, context: &Context) -> Outcome<Request> {
        let mut options = self.common.options(context)?;
        later(
            "up TEMPLATE",
            self.template.is_some(),
            "go to a project's folder and run `drystone up` there",
        )?;
        self.replace.apply(&self.common.targets, &mut options);
        options.continue_on_error = self.failures.goes_on(context)?;
        options.ignore_protect = self.protect.ignore_protect;
        let mode = Mode::of(context, self.approval, false)?;
        if self.strict && mode == Mode::AtOnce {
            return Err(Failure::configuration(
                "--strict cannot be used with --skip-preview; strict requires a preview",
            ));
        }
        let plan = PlanUse { save: None, hold: named(context, self.plan), strict: self.strict };
        Ok(Request {
            debugged: self.debugger.debugged()?,
            mode,
            plan,
            refresh: self.refresh.first()?,
            expect_no_changes: self.expect_no_changes,
            policy_packs: self.policy.packs()?,
            new_stack: Some(self.secrets_provider),
            ..Request::new(Kind::Update, options, self.common)
        })
    }
}
