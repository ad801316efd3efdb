//! Commands of this machine.

mod execute;
mod resource;

pub(crate) use resource::{Command, RUN, run};
