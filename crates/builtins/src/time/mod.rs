//! Moments that are kept in the state, and pauses.

mod fixed;
mod moment;
mod offset;
mod rotating;
mod sleep;

pub(crate) use fixed::Static;
pub(crate) use offset::Offset;
pub(crate) use rotating::Rotating;
pub(crate) use sleep::Sleep;
