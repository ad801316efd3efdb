//! What can go wrong with the stacks of a bucket, and what to do next.

use crate::report::{ExitCode, Failure};
use drystone_dialects::cdkd::ReadError;
use drystone_stores::cdkd::Error;
use drystone_stores::object::{Fault, Refusal, refusal};

/// There is no bucket.
pub(super) fn no_bucket(bucket: &str) -> Failure {
    Failure::new(ExitCode::Unavailable, format!("there is no bucket {bucket}"))
        .hint("make it with `drystone cdk bootstrap`, or name another with `--state-bucket`")
}

/// What became of opening a bucket.
pub(super) fn bucket_failure(bucket: &str) -> impl FnOnce(drystone_stores::Error) -> Failure {
    let bucket = bucket.to_owned();
    move |error| match refusal(&error).map(Refusal::fault) {
        Some(Fault::NoBucket) => no_bucket(&bucket),
        _ => error.into(),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Bucket(error) => error.into(),
            Error::Read { source: ReadError::TooNew { .. }, .. } => {
                Self::new(ExitCode::Unsound, message).hint("use the newer version of cdkd that wrote it")
            }
            Error::Read { .. } => Self::new(ExitCode::Unsound, message).hint(
                "the bucket keeps what was there before: put an earlier version of that object in its place",
            ),
            Error::Held { stack, .. } => Self::new(ExitCode::Held, message).hint(format!(
                "wait for it, or break its lock with `drystone cdk force-unlock {} --stack-region {}`",
                stack.stack, stack.region
            )),
            Error::Locked { .. } | Error::UnreadableLock { .. } => Self::new(ExitCode::Held, message).hint(
                "see that nobody works on the stack, then break it with `drystone cdk force-unlock STACK`",
            ),
            Error::Torn { parent, .. } => Self::new(ExitCode::Unsound, message)
                .hint(format!("deploy {} again to make it whole", parent.stack))
                .hint(format!(
                    "or forget it with `drystone cdk state orphan {} --stack-region {}`, and import it again",
                    parent.stack, parent.region
                )),
            Error::Astray { .. } => Self::new(ExitCode::Unsound, message)
                .hint("a nested stack is always in its parent's region: deploy the parent again"),
            Error::Fenced { .. } | Error::Conflict { .. } => {
                Self::new(ExitCode::Held, message).hint("look at the stack again, then run the command again")
            }
        }
    }
}
