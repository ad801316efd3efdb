//! Replay against vectors: real journals with the deployment that the real replayer made of them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at the first surprise and say what they counted"
)]

mod arrivals;
mod bad_input;
mod corpus;
mod decisions;
mod mutations;
mod vectors;
