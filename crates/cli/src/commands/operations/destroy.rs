//! `destroy`: deletes everything that the stack has.

use super::flags::{ApprovalFlags, CommonFlags, FailureFlags, ProtectFlags, RefreshFlags, later};
use super::request::{Kind, Mode, Request};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;

/// Delete everything that the stack has.
///
/// The stack itself stays, with its configuration, history and revisions, unless `--remove` is given. What is deleted
/// for real cannot be brought back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone destroy                        preview, ask, then do it
  drystone destroy --yes --remove         delete everything, then the stack
  drystone destroy --exclude-protected    leave what is protected")]
pub(crate) struct DestroyArgs {
    /// Not available: a repository for Pulumi Deployments
    #[arg(value_name = "URL", hide = true)]
    url: Option<String>,
    #[command(flatten)]
    approval: ApprovalFlags,
    /// Only say what would be deleted
    #[arg(long)]
    preview_only: bool,
    /// Remove the stack with its settings once nothing is left
    #[arg(long)]
    remove: bool,
    /// Leave protected resources, and delete the rest
    #[arg(long, conflicts_with = "ignore_protect")]
    exclude_protected: bool,
    #[command(flatten)]
    refresh: RefreshFlags,
    #[command(flatten)]
    failures: FailureFlags,
    #[command(flatten)]
    protect: ProtectFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl DestroyArgs {
    /// What is asked for, or why it cannot be had.
    pub(super) fn request(self, context: &Context) -> Outcome<Request> {
        let mut options = self.common.options(context)?;
        later(
            "destroy URL",
            self.url.is_some(),
            "go to a project's folder and run `drystone destroy` there",
        )?;
        if self.exclude_protected && !self.common.targets.target.is_empty() {
            return Err(Failure::configuration("you cannot specify --target and --exclude-protected"));
        }
        options.continue_on_error = self.failures.goes_on(context)?;
        options.ignore_protect = self.protect.ignore_protect;
        Ok(Request {
            mode: Mode::of(context, self.approval, self.preview_only)?,
            refresh: self.refresh.first()?,
            exclude_protected: self.exclude_protected,
            remove: self.remove,
            ..Request::new(Kind::Destroy, options, self.common)
        })
    }
}
