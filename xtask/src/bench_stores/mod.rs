//! `cargo xtask bench-stores`: whole updates on MinIO and PostgreSQL beside the stock Pulumi CLI, in one run and through
//! a proxy that counts requests and bytes.
//!
//! The programs are YAML with values that the engine itself keeps, so that neither an SDK nor a provider hides what
//! state costs. A request on MinIO is an HTTP request; on PostgreSQL it is what a client waits for, a simple query or
//! everything up to a `Sync`. The stock CLI grows with the square: what it has not done by a limit is cut off, and
//! so counts for less than it would have cost.

mod bars;
mod cases;
mod medium;
mod table;

use crate::bench_up::{self, Engine, Shape};
use crate::cache;
use crate::failure::Failure;
use medium::{Medium, Store};
use std::process::ExitCode;
use std::time::Duration;
use table::Table;

struct Options {
    sizes: Vec<usize>,
    shapes: Vec<Shape>,
    stores: Vec<Store>,
    cases: Vec<Case>,
    /// How long the stock CLI may take for one step.
    stock_limit: Duration,
    /// How many stacks are listed.
    stacks: usize,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// Stacks made, kept and destroyed.
    Updates,
    /// One resource changed.
    Change,
    /// Requests that take long.
    Slow,
    /// Stacks listed.
    List,
}

impl Case {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Updates, "updates"), (Self::Change, "change"), (Self::Slow, "slow"), (Self::List, "list")];

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(case, _)| *case)
    }
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self {
            sizes: vec![100, 500, 1000, 2000],
            shapes: vec![Shape::Flat, Shape::Chain, Shape::Big],
            stores: Store::ALL.to_vec(),
            cases: Case::ALL.map(|(case, _)| case).to_vec(),
            stock_limit: Duration::from_secs(600),
            stacks: 1000,
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else {
                return Err(Failure::new(format!("`{}` wants a value", pair[0])));
            };
            let wrong =
                || Failure::new(format!("`{name} {value}` makes no sense")).hint("see `cargo xtask help`");
            match *name {
                "--resources" => options.sizes = list(value, |word| word.parse().ok()).ok_or_else(wrong)?,
                "--shapes" => options.shapes = list(value, Shape::parse).ok_or_else(wrong)?,
                "--stores" => options.stores = list(value, Store::parse).ok_or_else(wrong)?,
                "--cases" => options.cases = list(value, Case::parse).ok_or_else(wrong)?,
                "--stock-limit" => {
                    options.stock_limit = value.parse().map(Duration::from_secs).map_err(|_| wrong())?;
                }
                "--stacks" => options.stacks = value.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }
}

fn list<T>(value: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(parse).collect()
}

/// `cargo xtask bench-stores`.
pub(crate) fn command(words: &[&str]) -> Result<ExitCode, Failure> {
    let options = Options::parse(words)?;
    let target = bench_up::build_for_release()?;
    let _lock = cache::lock(&target.join("bench.lock"), "bench")?;
    let workshop = cases::Workshop {
        folder: target.join("bench-stores"),
        binaries: target.join("release"),
        stock_limit: options.stock_limit,
    };
    let mut table = Table { stock_limit: options.stock_limit, ..Table::default() };
    for &store in &options.stores {
        let medium = Medium::start(store)?;
        for case in &options.cases {
            match case {
                Case::Updates => {
                    for &shape in &options.shapes {
                        for &size in &options.sizes {
                            for engine in [Engine::Ours, Engine::Stock] {
                                workshop.updates(&medium, engine, shape, size, &mut table)?;
                            }
                        }
                    }
                }
                Case::Change => workshop.change(&medium, &mut table)?,
                Case::Slow => workshop.slow(&medium, &mut table)?,
                Case::List => workshop.list(&medium, options.stacks, &mut table)?,
            }
        }
    }
    cache::remove_folder(&workshop.folder)?;
    print!("{}", table.render());
    Ok(ExitCode::SUCCESS)
}
