//! `cargo xtask example | setup | test | check | bench`: all that a newcomer types, and the longest runs.
//!
//! Progress goes to stderr; what a reader or a script keeps (test output, the count, the table) goes to stdout.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks to its caller")]

mod bench;
mod bench_stores;
mod bench_up;
mod cache;
mod check;
mod example;
mod failure;
mod links;
mod long;
mod phases;
mod process;
mod setup;
mod suites;
mod tally;
mod test;

use failure::Failure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask <command>

  example [NAME]  build for release and run an example program: quickstart (which needs only Rust), node, python
  setup           install the tools and peers that the machine lacks, into the cache
  setup --env     the same, then print the shell variables that hand the peers to the tests
  test            set up, check, and run every test
  check           format, lints, dependency rules and links, without tests
  kills [N]       kill N updates and destroys (200) at any moment, and look for what is forgotten
  chaos [N]       run the engine on N made-up stacks (100000) with faults and crashes
  cuts            cut the connection to PostgreSQL at every message, and look for what is lost
  bench           build for release and measure beside the stock Pulumi CLI
                    --only stock|ours    one side only
                    --case NAME          one case only: export, ls, verify, delete, repair, history, journal
                    --resources N        size of the stack (30000)
                    --repetitions N      runs of each case and side (5)
                    --seed N             seed of the generated state (1)
  bench-up        build for release and measure whole updates beside the stock Pulumi CLI
                    --resources N,N      sizes of the stack (1,100,500,1000,2000)
                    --alone N            a size for ours alone, to see how it grows (10000; 0 is none)
                    --shapes A,B         flat, chain, big, stash (all)
                    --engines A,B        ours, skipping, stock, floor (all)
                    --repetitions N      lives of each stack (1)
                    --default-up-to N    largest size for the stock CLI with its checkpoints (1000)
  bench-stores    build for release and measure updates on MinIO and PostgreSQL beside the stock Pulumi CLI
                    --resources N,N      sizes of the stack (100,500,1000,2000)
                    --shapes A,B         flat, chain, big (all)
                    --stores A,B         minio, postgres (all)
                    --cases A,B          updates, change, slow, list (all)
                    --stock-limit N      seconds that the stock CLI may take for one step (600)
                    --stacks N           how many stacks are listed (1000)

The cache is $DRYSTONE_CACHE, else $XDG_CACHE_HOME/drystone, else ~/.cache/drystone.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["example"] => example::command(None),
        ["example", name] => example::command(Some(name)),
        ["setup"] => setup::command(setup::Print::Nothing),
        ["setup", "--env"] => setup::command(setup::Print::Variables),
        ["test"] => test::command(),
        ["check"] => check::command(),
        ["kills"] => long::kills("200"),
        ["kills", count] => long::kills(count),
        ["chaos"] => long::chaos("100000"),
        ["chaos", seeds] => long::chaos(seeds),
        ["cuts"] => long::cuts(),
        ["bench", options @ ..] => bench::command(options),
        ["bench-stores", options @ ..] => bench_stores::command(options),
        ["bench-up", options @ ..] => bench_up::command(options),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        [unknown, ..] => {
            Err(Failure::new(format!("unknown arguments starting at `{unknown}`"))
                .hint("see `cargo xtask help`"))
        }
    }
}

/// The workspace's root folder.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// A folder in the one that cargo builds into.
fn target(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join(name)
}
