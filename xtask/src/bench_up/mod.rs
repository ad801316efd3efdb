//! `cargo xtask bench-up`: whole updates beside the stock Pulumi CLI, with the same language and provider, in one run.
//!
//! The stock CLI runs both ways: as it comes, and with its checkpoints skipped, which is linear and not safe. Ours is
//! always durable. The floor is the same program and provider with an engine that decides nothing. Processor time is
//! that of the CLI's process alone; its plugins are left out.

mod measure;
mod site;
mod table;

use crate::cache;
use crate::failure::Failure;
use crate::process;
pub(crate) use measure::{Cost, Ended};
pub(crate) use site::{Backend, Engine, Shape, Site, Step};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Cell, Table};

/// How many values the engine keeps where that is measured.
const STASHES: usize = 1000;

struct Options {
    sizes: Vec<usize>,
    shapes: Vec<Shape>,
    engines: Vec<Engine>,
    repetitions: usize,
    /// The stock CLI with its checkpoints is left out above this: it grows with the square.
    default_up_to: usize,
    /// The size that only ours is measured at, to see how it grows.
    alone: usize,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self {
            sizes: vec![1, 100, 500, 1000, 2000],
            shapes: Shape::ALL.to_vec(),
            engines: vec![Engine::Ours, Engine::StockUnsafe, Engine::Stock, Engine::Floor],
            repetitions: 1,
            default_up_to: 1000,
            alone: 10_000,
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else {
                return Err(Failure::new(format!("`{}` wants a value", pair[0])));
            };
            let wrong =
                || Failure::new(format!("`{name} {value}` makes no sense")).hint("see `cargo xtask help`");
            let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
            match *name {
                "--resources" => options.sizes = value.split(',').map(number).collect::<Result<_, _>>()?,
                "--shapes" => {
                    options.shapes = value
                        .split(',')
                        .map(|word| Shape::parse(word).ok_or_else(wrong))
                        .collect::<Result<_, _>>()?;
                }
                "--engines" => {
                    options.engines = value
                        .split(',')
                        .map(|word| Engine::parse(word).ok_or_else(wrong))
                        .collect::<Result<_, _>>()?;
                }
                "--repetitions" => options.repetitions = number(value)?.max(1),
                "--alone" => options.alone = number(value)?,
                "--default-up-to" => options.default_up_to = number(value)?,
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }

    /// Whether an engine is measured at a size.
    fn measures(&self, engine: Engine, size: usize) -> bool {
        let is_shared = self.sizes.contains(&size);
        match engine {
            Engine::Ours => true,
            Engine::Stock => is_shared && size <= self.default_up_to,
            Engine::StockUnsafe | Engine::Floor => is_shared,
        }
    }

    /// Every size, ours alone last.
    fn all_sizes(&self) -> Vec<usize> {
        let alone = Some(self.alone).filter(|alone| *alone > 0 && !self.sizes.contains(alone));
        self.sizes.iter().copied().chain(alone).collect()
    }
}

/// `cargo xtask bench-up`.
pub(crate) fn command(words: &[&str]) -> Result<ExitCode, Failure> {
    let options = Options::parse(words)?;
    let target = build_for_release()?;
    let _lock = cache::lock(&target.join("bench.lock"), "bench")?;
    let folder = target.join("bench-up");
    let mut table = Table::default();
    for shape in &options.shapes {
        let sizes = if *shape == Shape::Stash { vec![STASHES] } else { options.all_sizes() };
        for size in sizes {
            let measured_here = |engine: &&Engine| match shape {
                Shape::Stash => **engine != Engine::Floor,
                _ => options.measures(**engine, size),
            };
            for engine in options.engines.iter().filter(measured_here) {
                eprintln!("measuring {} resources, {}, {}", size, shape.name(), engine.name());
                let site = Site::new(&folder, *engine, *shape, size, &target.join("release"))?;
                for (step, cost) in measured(&site, options.repetitions)? {
                    table.add(Cell { shape: *shape, size, step, engine: *engine, cost });
                }
            }
        }
    }
    if options.engines.contains(&Engine::Ours) {
        quick(&folder, &target.join("release"), &mut table)?;
    }
    cache::remove_folder(&folder)?;
    print!("{}", table.render());
    Ok(ExitCode::SUCCESS)
}

/// How often a command is measured that takes no time to speak of.
const QUICK: usize = 21;

/// What commands cost that people type to see something at once.
fn quick(folder: &Path, binaries: &Path, table: &mut Table) -> Result<(), Failure> {
    let site = Site::new(folder, Engine::Ours, Shape::Stash, 1, binaries)?;
    site.live()?;
    for (words, name) in QUICK_COMMANDS {
        let costs: Vec<Cost> = (0..QUICK).map(|_| site.run(words)).collect::<Result<_, _>>()?;
        if let Some(cost) = Cost::median(&costs) {
            table.add_quick(name, cost);
        }
    }
    Ok(())
}

const QUICK_COMMANDS: [(&[&str], &str); 2] =
    [(&["--help"], "drystone --help"), (&["stack", "ls"], "drystone stack ls")];

/// The median of every step over several rounds of its life: made, kept, looked at, destroyed.
fn measured(site: &Site, repetitions: usize) -> Result<Vec<(Step, Cost)>, Failure> {
    let mut rounds: Vec<Vec<(Step, Cost)>> = Vec::new();
    for _ in 0..repetitions {
        rounds.push(site.live()?);
    }
    let steps: Vec<Step> = rounds.first().into_iter().flatten().map(|(step, _)| *step).collect();
    let of = |step: Step| {
        let costs = rounds.iter().flatten().filter(|(which, _)| *which == step).map(|(_, cost)| *cost);
        Cost::median(&costs.collect::<Vec<_>>())
    };
    Ok(steps.into_iter().filter_map(|step| Some((step, of(step)?))).collect())
}

/// Builds everything that is measured; gives the folder that cargo builds into.
pub(crate) fn build_for_release() -> Result<PathBuf, Failure> {
    process::run(&mut process::cargo([
        "build",
        "--release",
        "--locked",
        "--package",
        "drystone",
        "--package",
        "drystone-testbed",
    ]))?;
    target_folder()
}

/// The folder that cargo builds into: two above this program.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::new(format!("where are we: {error}")))?;
    let folder = program.parent().and_then(Path::parent).map(Path::to_path_buf);
    folder.ok_or_else(|| Failure::new("this program does not stand in a target folder"))
}
