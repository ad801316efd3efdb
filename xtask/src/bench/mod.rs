//! `cargo xtask bench`: the state commands beside the stock Pulumi CLI, on one generated stack, in one run.
//!
//! The sides take turns, each on a backend of its own with the same content. After a command that writes, its result
//! is checked, so that a command which does nothing is never the fastest.

mod cases;
mod measure;
mod plan;
mod random;
mod resource;
mod seal;
mod state;
mod table;

use crate::cache::{self, make_folder, remove_folder};
use crate::failure::Failure;
use crate::{process, setup};
use cases::{CASES, Case, Effect, Side};
use measure::Run;
use state::{Order, State};
use std::env;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use table::Row;

const JOURNAL: &str = "journal";

struct Options {
    sides: Vec<Side>,
    case: Option<String>,
    resources: usize,
    repetitions: usize,
    seed: u64,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self {
            sides: vec![Side::Stock, Side::Ours],
            case: None,
            resources: 30_000,
            repetitions: 5,
            seed: 1,
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else {
                return Err(Failure::new(format!("`{}` wants a value", pair[0])));
            };
            let wrong =
                || Failure::new(format!("`{name} {value}` makes no sense")).hint("see `cargo xtask help`");
            match *name {
                "--only" => {
                    options.sides = match *value {
                        "stock" => vec![Side::Stock],
                        "ours" => vec![Side::Ours],
                        _ => return Err(wrong()),
                    }
                }
                "--case" if *value == JOURNAL || CASES.iter().any(|case| case.name == *value) => {
                    options.case = Some((*value).to_owned());
                }
                "--resources" => {
                    options.resources = value.parse().ok().filter(|count| *count >= 10).ok_or_else(wrong)?;
                }
                "--repetitions" => {
                    options.repetitions = value.parse().ok().filter(|count| *count >= 1).ok_or_else(wrong)?;
                }
                "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.case.as_deref().is_none_or(|case| case == name)
    }
}

/// `cargo xtask bench`.
pub(crate) fn command(words: &[&str]) -> Result<ExitCode, Failure> {
    let options = Options::parse(words)?;
    let cases: Vec<&Case> = CASES.iter().filter(|case| options.wants(case.name)).collect();
    let all_ran = cases.is_empty() || compare(&options, &cases)?;
    if options.wants(JOURNAL) && options.sides.contains(&Side::Ours) {
        journal()?;
    }
    Ok(if all_ran { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures the cases and prints the table. Returns whether every command did its work.
fn compare(options: &Options, cases: &[&Case]) -> Result<bool, Failure> {
    let _lock = cache::lock(&target_folder()?.join("bench.lock"), "bench")?;
    let folder = target_folder()?.join("bench");
    let mut benches = Vec::new();
    for side in &options.sides {
        benches.push(Bench::new(*side, &folder)?);
    }
    eprintln!("generating a stack of {} resources from seed {}", options.resources, options.seed);
    let state = State::generate(&folder.join("generated"), options.seed, options.resources)?;
    println!(
        "{} resources, {:.1} MB, seed {}; median times and largest memory of {} runs",
        options.resources,
        state.size as f64 / 1e6,
        options.seed,
        options.repetitions
    );
    let mut rows = Vec::new();
    for case in cases {
        eprintln!("measuring {}", case.title);
        rows.push(Measurement::of(case, &benches, &state, options.repetitions)?.row());
    }
    print!("\n{}", table::render(&rows, state.size));
    for case in cases {
        if let Some(note) = case.note {
            println!("\n{}: {note}", case.title);
        }
    }
    remove_folder(&folder)?;
    Ok(rows.iter().all(|row| row.trouble.is_none()))
}

/// The runs of one case so far. A side that fails once is not run again; the other goes on.
struct Measurement<'a> {
    case: &'a Case,
    benches: &'a [Bench],
    state: &'a State,
    runs: Vec<Vec<Run>>,
    failed: Vec<bool>,
    differs: bool,
}

impl<'a> Measurement<'a> {
    /// Warms up, compares what the sides print, and measures them in turn.
    fn of(
        case: &'a Case,
        benches: &'a [Bench],
        state: &'a State,
        repetitions: usize,
    ) -> Result<Self, Failure> {
        let (runs, failed) = (vec![Vec::new(); benches.len()], vec![false; benches.len()]);
        let mut measurement = Self { case, benches, state, runs, failed, differs: false };
        if case.effect == Effect::Verifies {
            measurement.try_on_shuffled()?;
        }
        if !case.effect.writes() {
            for bench in benches {
                bench.prepare(case.order, state)?;
            }
        }
        measurement.turn()?;
        measurement.runs.iter_mut().for_each(Vec::clear);
        if let [one, other] = benches
            && case.effect == Effect::PrintsTheSame
            && measurement.failed == [false, false]
        {
            measurement.differs = !same(&one.output(), &other.output())?;
        }
        for _ in 0..repetitions {
            measurement.turn()?;
        }
        Ok(measurement)
    }

    /// Fails the sides that find nothing wrong with a stack that is out of order.
    fn try_on_shuffled(&mut self) -> Result<(), Failure> {
        for (bench, failed) in self.benches.iter().zip(&mut self.failed) {
            bench.prepare(Order::Shuffled, self.state)?;
            if bench.run(self.case, self.state).is_ok() {
                eprintln!("error: {} calls a stack sound that is out of order", bench.side.name());
                *failed = true;
            }
        }
        Ok(())
    }

    /// Runs each side once.
    fn turn(&mut self) -> Result<(), Failure> {
        for (index, bench) in self.benches.iter().enumerate() {
            if self.failed[index] {
                continue;
            }
            if self.case.effect.writes() {
                bench.prepare(self.case.order, self.state)?;
            }
            match bench.run(self.case, self.state) {
                Ok(run) => self.runs[index].push(run),
                Err(failure) => {
                    eprintln!("{failure}");
                    self.failed[index] = true;
                }
            }
        }
        Ok(())
    }

    fn row(&self) -> Row {
        let sides = || self.benches.iter().map(|bench| bench.side).enumerate();
        let of = |side| {
            sides()
                .find(|(index, bench)| *bench == side && !self.failed[*index])
                .and_then(|(index, _)| measure::summary(&self.runs[index]))
        };
        let failed = sides().find(|(index, _)| self.failed[*index]).map(|(_, side)| side);
        let trouble = match failed {
            Some(side) => Some(format!("{} failed", side.name())),
            None if self.differs => Some("the outputs differ".to_owned()),
            None => None,
        };
        Row { title: self.case.title, stock: of(Side::Stock), ours: of(Side::Ours), trouble }
    }
}

/// One side with its binary and its own folders.
struct Bench {
    side: Side,
    binary: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn new(side: Side, folder: &Path) -> Result<Self, Failure> {
        let (name, binary) = match side {
            Side::Stock => ("stock", setup::ensure(&[&setup::PULUMI])?.place(&setup::PULUMI)?.to_path_buf()),
            Side::Ours => {
                process::run(&mut process::cargo([
                    "build",
                    "--release",
                    "--locked",
                    "--package",
                    "drystone",
                ]))?;
                let name = format!("drystone{}", env::consts::EXE_SUFFIX);
                ("ours", target_folder()?.join("release").join(name))
            }
        };
        let folder = folder.join(name);
        remove_folder(&folder)?;
        make_folder(&folder.join("home"))?;
        state::write_project(&folder.join("project"))?;
        Ok(Self { side, binary, folder })
    }

    fn backend(&self) -> PathBuf {
        self.folder.join("backend")
    }

    fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    fn prepare(&self, order: Order, state: &State) -> Result<(), Failure> {
        state.lay_out(&self.backend(), order)
    }

    fn run(&self, case: &Case, state: &State) -> Result<Run, Failure> {
        let mut command = Command::new(&self.binary);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PULUMI_") {
                command.env_remove(name);
            }
        }
        command
            .args(case.arguments(self.side, state))
            .current_dir(self.folder.join("project"))
            .env("PULUMI_HOME", self.folder.join("home"))
            .env("PULUMI_BACKEND_URL", format!("file://{}", self.backend().display()))
            .env("PULUMI_CONFIG_PASSPHRASE", seal::PASSPHRASE)
            .env("PULUMI_SKIP_UPDATE_CHECK", "true");
        let run = measure::measure(&mut command, &self.output(), &self.folder.join("errors"))?;
        match case.effect {
            Effect::DeletesTheLeaf => state.check_leaf_is_gone(&self.backend())?,
            Effect::Sorts => state.check_is_sorted(&self.backend())?,
            Effect::PrintsTheSame | Effect::Verifies => {}
        }
        Ok(run)
    }
}

/// Durable appends beside raw `fdatasync` of the same bytes; the stores crate brings the program.
fn journal() -> Result<(), Failure> {
    let program = Path::new("crates").join("stores").join("examples").join("journal_bench.rs");
    if !crate::root().join(&program).exists() {
        println!("\njournal: left out, {} is not there yet", program.display());
        return Ok(());
    }
    println!("\njournal");
    process::run(&mut process::cargo([
        "run",
        "--release",
        "--locked",
        "--package",
        "drystone-stores",
        "--example",
        "journal_bench",
    ]))
}

/// The folder that cargo builds into: two above this program.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = env::current_exe().map_err(|error| Failure::new(format!("where are we: {error}")))?;
    let folder = program.parent().and_then(Path::parent);
    folder
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new("this program does not stand in a target folder"))
}

/// Whether two files have the same bytes, read side by side.
fn same(one: &Path, other: &Path) -> Result<bool, Failure> {
    let open =
        |path: &Path| File::open(path).map(BufReader::new).map_err(|error| Failure::at(path, "read", &error));
    let mut other_bytes = open(other)?.bytes();
    for byte in open(one)?.bytes() {
        let byte = byte.map_err(|error| Failure::at(one, "read", &error))?;
        match other_bytes.next() {
            Some(Ok(other)) if other == byte => {}
            Some(Err(error)) => return Err(Failure::at(other, "read", &error)),
            _ => return Ok(false),
        }
    }
    Ok(other_bytes.next().is_none())
}
