//! Calls that are not answered: the provider has ended, or takes longer than it was given.

use super::failure;
use crate::process::{Exit, Plugin, Printed};
use drystone_engine::{CancelLevel, Cancellation};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::timeout;
use tonic::Status;

/// How long a provider may take beyond the time limit that it was given, and to shake hands.
///
/// Providers are told the time limit of an operation and keep it themselves. One that does not is given up after this
/// long: what it was doing becomes a pending operation. Without a limit it is waited for until the user stops waiting.
pub const GRACE: Duration = Duration::from_secs(60);

/// How long a provider may still take to answer when the operation is asked to stop, unless it changes something. It is
/// also how long any provider may take to take note of that.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// How long the end of a process is awaited whose connection broke.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Who is asked, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whom<'a> {
    /// A provider.
    Provider(&'a str),
    /// A policy pack.
    PolicyPack(&'a str),
    /// A converter.
    Converter(&'a str),
}

impl fmt::Display for Whom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(name) => write!(f, "the provider '{name}'"),
            Self::PolicyPack(name) => write!(f, "the policy pack '{name}'"),
            Self::Converter(name) => write!(f, "the converter '{name}'"),
        }
    }
}

/// How a provider ended while it was asked something.
#[derive(Debug)]
pub(crate) struct Gone {
    exit: Exit,
    printed: String,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ended with {} before it answered{}", self.exit, Printed(&self.printed))
    }
}

impl std::error::Error for Gone {}

/// Waits for an answer. A connection that broke because the provider ended says so.
pub(crate) async fn answer<A>(
    process: &Weak<Plugin>,
    call: impl Future<Output = Result<A, Status>>,
) -> Result<A, Status> {
    match call.await {
        Err(status) if failure::lost(&status) => Err(explained(process, status).await),
        answer => answer,
    }
}

async fn explained(process: &Weak<Plugin>, mut status: Status) -> Status {
    let Some(plugin) = process.upgrade() else { return status };
    if let Ok(exit) = timeout(LAST_WORDS, plugin.exited()).await {
        status.set_source(Arc::new(Gone { exit, printed: plugin.last_lines() }));
    }
    status
}

/// What went wrong, in the words of who was asked where it has any.
pub(crate) fn describe(status: &Status, whom: Whom<'_>) -> String {
    let message = status.message();
    if let Some(gone) = status.source().and_then(|source| source.downcast_ref::<Gone>()) {
        format!("{whom} {gone}")
    } else if failure::lost(status) {
        format!("{whom} ended or stopped answering ({message})")
    } else if message.is_empty() {
        format!("{whom} failed: {}", status.code().description())
    } else {
        message.to_owned()
    }
}

/// Waits until the operation has been asked to stop and the grace has passed since.
pub async fn stopped_for_good(cancellation: &Cancellation) {
    cancellation.requested(CancelLevel::Graceful).await;
    tokio::time::sleep(STOP_GRACE).await;
}

/// Waits for an answer as long as it is of use: not much longer than the operation goes on.
pub(crate) async fn answer_of_use<A>(
    whom: Whom<'_>,
    method: &str,
    cancellation: &Cancellation,
    call: impl Future<Output = Result<A, Status>>,
) -> Result<A, Status> {
    tokio::select! {
        biased;
        answer = call => answer,
        () = stopped_for_good(cancellation) => Err(Status::cancelled(format!(
            "{whom} has not answered {} {} s after the run was asked to stop, and is given up",
            method.rsplit('/').next().unwrap_or(method),
            STOP_GRACE.as_secs()
        ))),
    }
}

/// Waits for an answer until a limit and the grace have passed.
pub(crate) async fn answer_within<A>(
    whom: Whom<'_>,
    limit: Duration,
    grace: Duration,
    call: impl Future<Output = Result<A, Status>>,
) -> Result<A, Status> {
    match timeout(limit.saturating_add(grace), call).await {
        Ok(answer) => answer,
        Err(_) if limit.is_zero() => {
            Err(Status::deadline_exceeded(format!("{whom} has not answered for {} s", grace.as_secs_f32())))
        }
        Err(_) => Err(Status::deadline_exceeded(format!(
            "{whom} has not answered {} s after its time limit of {} s (customTimeouts) had passed",
            grace.as_secs_f32(),
            limit.as_secs_f32()
        ))),
    }
}
