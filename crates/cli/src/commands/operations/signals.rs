//! What Ctrl-C, SIGTERM and a terminal that is closed mean while an operation runs.

use crate::display::Display;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_engine::{CancelLevel, Cancellation};
use std::convert::Infallible;
use tokio::signal::unix::{Signal, SignalKind, signal};

const INTERRUPT: &str = "^C";
const TERMINATION: &str = "SIGTERM";

/// The signals that ask an operation to stop. From here on they no longer end the process by themselves.
#[derive(Debug)]
pub(super) struct Signals {
    interrupts: Signal,
    terminations: Signal,
    hangups: Signal,
}

impl Signals {
    pub(super) fn listen() -> Outcome<Self> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(ExitCode::Internal, format!("listening for signals: {error}")))
        };
        Ok(Self {
            interrupts: listen(SignalKind::interrupt())?,
            terminations: listen(SignalKind::terminate())?,
            hangups: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one, and names it.
    pub(super) async fn first(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupts.recv() => INTERRUPT,
            _ = self.terminations.recv() => TERMINATION,
            _ = self.hangups.recv() => "SIGHUP",
        }
    }

    /// Asks the operation to stop when a signal arrives: kindly at first, at once the second time. The third ends the
    /// process: what was acknowledged is in the journal, and the next command brings it in.
    pub(super) async fn pass_on(
        mut self,
        cancellation: &Cancellation,
        display: &Display,
        dry_run: bool,
    ) -> Infallible {
        loop {
            let name = self.first().await;
            let again = match name {
                INTERRUPT => "press ^C again",
                TERMINATION => "send SIGTERM again",
                _ => "send SIGTERM",
            };
            let level = match cancellation.level() {
                CancelLevel::None => {
                    display.say(format!(
                        "{name} received; cancelling. If you would like to terminate immediately, {again}."
                    ));
                    if !dry_run {
                        display.say(
                            "What is under way is waited for and recorded. Terminated, it goes on by itself and becomes a \
                             pending operation of the stack.",
                        );
                    }
                    CancelLevel::Graceful
                }
                CancelLevel::Graceful => {
                    display.say(format!("{name} received; terminating"));
                    CancelLevel::Terminate
                }
                CancelLevel::Terminate => std::process::exit(i32::from(ExitCode::Cancelled as u8)),
            };
            display.cancelling(level);
            cancellation.request(level);
        }
    }
}
