//! Processes that are started here: plugins, which answer on a port, and programs, which run to their end.
//!
//! Each has a process group of its own. A key pressed in the terminal does not reach it, and what it starts in turn
//! ends with it. A [`Group`] that is dropped is killed; when this process is killed itself, a watchdog ends the
//! groups that it leaves behind.

mod connect;
mod exit;
mod group;
mod lines;
mod plugin;
mod port;
mod watchdog;

pub use connect::{ConnectError, connect};
pub use exit::Exit;
pub use group::{Group, STOP_GRACE};
pub use lines::{Line, LineSink, Stream};
pub use plugin::{Deadlines, Plugin, StartError};

pub(crate) use lines::forward;
pub(crate) use plugin::{Life, Origin, Printed, Remote, drained};
