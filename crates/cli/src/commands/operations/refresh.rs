//! `refresh`: brings the state up to what there is.

use super::flags::{ApprovalFlags, CommonFlags, later};
use super::pending::PendingFlags;
use super::request::{Kind, Mode, Request};
use crate::context::Context;
use crate::report::Outcome;
use clap::Args;

/// Bring the state up to what there is.
///
/// Every resource is read from its provider, and the state becomes what was found. Nothing real is changed. Creations
/// that were under way when an earlier run died are settled here, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone refresh                                              preview, ask, then do it
  drystone refresh --yes --import-pending-creates URN --import-pending-creates ID
  drystone refresh --yes --clear-pending-creates                nothing was created after all")]
pub(crate) struct RefreshArgs {
    /// Not available: a repository for Pulumi Deployments
    #[arg(value_name = "URL", hide = true)]
    url: Option<String>,
    #[command(flatten)]
    approval: ApprovalFlags,
    /// Only say what would change
    #[arg(long)]
    preview_only: bool,
    /// Fail if something changes
    #[arg(long)]
    expect_no_changes: bool,
    #[command(flatten)]
    pending: PendingFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl RefreshArgs {
    /// What is asked for, or why it cannot be had.
    pub(super) fn request(self, context: &Context) -> Outcome<Request> {
        let options = self.common.options(context)?;
        later(
            "refresh URL",
            self.url.is_some(),
            "go to a project's folder and run `drystone refresh` there",
        )?;
        self.pending.imports()?;
        Ok(Request {
            mode: Mode::of(context, self.approval, self.preview_only)?,
            expect_no_changes: self.expect_no_changes,
            new_stack: Some("default".to_owned()),
            pending: self.pending,
            ..Request::new(Kind::Refresh, options, self.common)
        })
    }
}
