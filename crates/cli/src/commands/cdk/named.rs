//! Which stack a name and a region mean.

use crate::report::{ExitCode, Failure, Outcome};
use clap::Args;
use drystone_dialects::cdkd::{Region, StackKey, StackName};
use drystone_stores::cdkd::{CdkdStore, Listed};

/// A stack, told from those of the same name in other regions.
#[derive(Debug, Args)]
pub(super) struct StackArgs {
    /// The stack
    stack: String,
    #[command(flatten)]
    region: RegionArgs,
}

#[derive(Debug, Args)]
pub(super) struct RegionArgs {
    /// The region of the stack, where several have one of its name
    #[arg(long, value_name = "REGION")]
    stack_region: Option<String>,
}

impl RegionArgs {
    /// The region that is named, if any.
    pub(super) fn region(&self) -> Outcome<Option<Region>> {
        self.stack_region.as_deref().map(Region::parse).transpose().map_err(Failure::configuration)
    }
}

/// The name of a stack.
pub(super) fn stack_name(text: &str) -> Outcome<StackName> {
    StackName::parse(text).map_err(Failure::configuration)
}

/// `Shop (us-east-1)`, or `Shop` for one whose region nobody knows.
pub(super) fn shown(listed: &Listed) -> String {
    match &listed.region {
        Some(region) => format!("{} ({region})", listed.stack),
        None => listed.stack.to_string(),
    }
}

/// There is no such stack.
pub(super) fn no_stack(stack: &StackName) -> Failure {
    Failure::new(ExitCode::StackNotFound, format!("there is no state of a stack {stack}"))
        .hint("list what is there with `drystone cdk state list`")
}

/// The same in a region, though there is one in others.
pub(super) fn not_there(stack: &StackName, region: &Region, found: &[Listed]) -> Failure {
    Failure::new(ExitCode::StackNotFound, format!("there is no state of a stack {stack} in {region}"))
        .hint(format!("it is in {}", regions(found)))
}

fn regions(found: &[Listed]) -> String {
    let named = found.iter().map(|listed| listed.region.as_ref().map_or("(legacy)", Region::as_str));
    named.collect::<Vec<_>>().join(", ")
}

impl StackArgs {
    pub(super) fn name(&self) -> Outcome<StackName> {
        stack_name(&self.stack)
    }

    pub(super) fn region(&self) -> Outcome<Option<Region>> {
        self.region.region()
    }

    /// The one stack that is meant.
    pub(super) async fn find(&self, store: &CdkdStore) -> Outcome<StackKey> {
        let (stack, region) = (self.name()?, self.region()?);
        let found = store.stacks_named(&stack).await?;
        let is_meant = |listed: &&Listed| match (&region, &listed.region) {
            (Some(wanted), Some(region)) => wanted == region,
            // One that does not say where it belongs is read for any region.
            (Some(_), None) | (None, _) => true,
        };
        let mut meant = found.iter().filter(is_meant);
        match (meant.next(), meant.next(), region) {
            (None, _, Some(region)) if !found.is_empty() => Err(not_there(&stack, &region, &found)),
            (None, _, _) => Err(no_stack(&stack)),
            (Some(_), _, Some(region)) => Ok(StackKey { stack, region }),
            (Some(_), Some(_), None) => {
                Err(Failure::configuration(format!("{stack} is in several regions: {}", regions(&found)))
                    .hint("say which is meant with `--stack-region REGION`"))
            }
            (Some(Listed { region: Some(region), .. }), None, None) => {
                Ok(StackKey { stack, region: region.clone() })
            }
            (Some(Listed { region: None, .. }), None, None) => Err(Failure::configuration(format!(
                "the state of {stack} is an old one that names no region"
            ))
            .hint("name its region with `--stack-region REGION`; the next deployment records it")),
        }
    }
}
