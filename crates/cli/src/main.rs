//! The `drystone` command.

mod report;

fn main() {}
