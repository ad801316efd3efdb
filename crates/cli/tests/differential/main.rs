//! The same programs, run by the stock CLI and by ours: the same state, the same provider calls, the same endings.
//!
//! A case is a list of steps; after every command the exported state, the calls that the provider recorded, the world
//! that it keeps and the exit code are compared. What may differ is listed in `differences.rs`.
//!
//! `DRYSTONE_DIFFERENTIAL_OURS` names another binary to stand in for ours; with the stock CLI on both sides there must
//! be no difference. `DRYSTONE_DIFFERENTIAL_KEEP` names a folder in which what the cases left is kept.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
#![allow(clippy::print_stdout, reason = "permitted differences are part of the output")]

mod case;
mod cases;
mod compare;
mod differences;
mod normal;
mod side;
