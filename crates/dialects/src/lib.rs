//! State as JSON, in the forms of the systems that Drystone opens.
//!
//! A dialect turns bytes into the model's snapshots and back. It keeps what it does not know, refuses by name what it
//! must not touch (S9), and writes what the system's own tool would write.

pub mod cdkd;
pub mod projection;
pub mod pulumi;
pub mod unobin;
