//! The test suites of the workspace: built by cargo, run several at a time.
//!
//! Cargo itself runs one suite after the other, and most of them wait for servers, plugins and clocks rather than for
//! the processor. What a suite has to say is shown when it ends, so that suites never mix: of one that passed its count
//! and the figures that its tests print, of one that failed everything.

use crate::failure::Failure;
use crate::process;
use crate::tally::Tally;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many suites run at the same time.
const AT_ONCE: usize = 3;
/// What begins first, because it takes longest.
const LONGEST: &[&str] = &["differential"];
/// How many of the slowest suites the end names.
const NAMED: usize = 8;
/// What takes longer hangs, and is ended.
const LIMIT: Duration = Duration::from_secs(45 * 60);
/// How long the output is read on after a suite has ended, in case something that it started still holds it.
const GRACE: Duration = Duration::from_secs(5);

/// A set of tests that one process runs.
pub(crate) struct Suite {
    name: String,
    command: Command,
}

impl Suite {
    /// Reads one line of cargo's messages: a test executable, or nothing that concerns us.
    fn of_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message.get("profile")?.get("test")?.as_bool()?;
        let executable = PathBuf::from(message.get("executable")?.as_str()?);
        let folder = Path::new(message.get("manifest_path")?.as_str()?).parent()?.to_owned();
        let target = message.get("target")?;
        let kind = target.get("kind")?.as_array()?.first()?.as_str()?;
        let name = target.get("name")?.as_str()?;
        let name =
            if kind == "test" { name.to_owned() } else { format!("{name} (unit tests of the {kind})") };
        let mut command = process::command(executable, ["--include-ignored", "--show-output"]);
        command.env("CARGO_MANIFEST_DIR", &folder).current_dir(folder);
        is_test.then_some(Self { name, command })
    }

    /// The examples within the documentation of the code.
    fn documentation() -> Self {
        let arguments = ["test", "--workspace", "--locked", "--no-fail-fast", "--doc", "--", "--show-output"];
        Self { name: "documentation".to_owned(), command: process::cargo(arguments) }
    }

    /// Gives the suite's process a variable.
    pub(crate) fn variable(&mut self, name: &str, value: &Path) {
        self.command.env(name, value);
    }

    /// Runs it to its end; an error says why it could not run.
    fn run(mut self) -> Ran {
        let start = Instant::now();
        let ended = output_and_success(&mut self.command, LIMIT);
        let (output, succeeded) =
            ended.unwrap_or_else(|error| (format!("cannot run it: {error}\n").into_bytes(), false));
        Ran { name: self.name, time: start.elapsed(), output, succeeded }
    }
}

/// Both outputs of a command as it wrote them, and whether it succeeded.
fn output_and_success(command: &mut Command, limit: Duration) -> std::io::Result<(Vec<u8>, bool)> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command keeps our ends of the pipe; reading would never end.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (send, pieces) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if send.send(buffer[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    read_until_the_end(&mut child, &pieces, limit)
}

/// Reads what a process says until it and its output have ended. One that does not end within its limit is killed; an
/// output that others hold open after it is left to them.
fn read_until_the_end(
    child: &mut Child,
    pieces: &Receiver<Vec<u8>>,
    limit: Duration,
) -> std::io::Result<(Vec<u8>, bool)> {
    let start = Instant::now();
    let mut output = Vec::new();
    let mut ended_at = None;
    loop {
        match pieces.recv_timeout(Duration::from_millis(200)) {
            Ok(piece) => output.extend(piece),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if ended_at.is_none() && child.try_wait()?.is_some() {
            ended_at = Some(Instant::now());
        }
        if ended_at.is_none() && start.elapsed() > limit {
            child.kill()?;
            output.extend(format!("\nended after {} s, which is its limit\n", limit.as_secs()).into_bytes());
            ended_at = Some(Instant::now());
        }
        if ended_at.is_some_and(|ended| ended.elapsed() > GRACE) {
            output.extend(b"\nsomething that it started still runs and holds its output\n");
            break;
        }
    }
    Ok((output, child.wait()?.success()))
}

/// A suite that has ended.
struct Ran {
    name: String,
    time: Duration,
    output: Vec<u8>,
    succeeded: bool,
}

impl Ran {
    /// Its own count. A suite that dies counts as one failure.
    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        String::from_utf8_lossy(&self.output).lines().for_each(|line| tally.see(line));
        tally.close(self.succeeded);
        tally
    }

    fn show(&self, output: &mut impl Write) -> std::io::Result<()> {
        let tally = self.tally();
        writeln!(output, "-- {} ({:.1} s): {tally}", self.name, self.time.as_secs_f64())?;
        if tally.failed > 0 {
            output.write_all(&self.output)?;
        } else {
            for figure in figures(&String::from_utf8_lossy(&self.output)) {
                writeln!(output, "   {figure}")?;
            }
        }
        output.flush()
    }
}

/// What the tests of a suite print, without the runner's own words.
fn figures(output: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    output.lines().filter(move |line| {
        if *line == "successes:" || line.starts_with("test result: ") {
            within = false;
        } else if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            within = true;
            return false;
        }
        within && !line.is_empty()
    })
}

/// Builds every suite. Diagnostics go to standard error as cargo words them.
pub(crate) fn build() -> Result<Vec<Suite>, Failure> {
    let arguments =
        ["test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"];
    let mut suites = Vec::new();
    let built = process::run_reading(&mut process::cargo(arguments), |line| {
        suites.extend(Suite::of_message(line));
    })?;
    if !built {
        return Err(Failure::new("the tests do not build"));
    }
    suites.push(Suite::documentation());
    suites.sort_by_key(|suite| LONGEST.iter().position(|name| *name == suite.name).unwrap_or(LONGEST.len()));
    Ok(suites)
}

/// Runs every suite, also after one has failed, shows what each has to say, and names the failed and the slowest ones.
pub(crate) fn run(
    suites: Vec<Suite>,
    tally: &mut Tally,
    output: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let waiting = Mutex::new(VecDeque::from(suites));
    let ended = Mutex::new((Vec::new(), output));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(suite) = next else { break };
                    let ran = suite.run();
                    let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                    let (ended, output) = &mut *ended;
                    if let Err(error) = ran.show(output) {
                        eprintln!("the output of {} is lost: {error}", ran.name);
                    }
                    ended.push(ran);
                }
            });
        }
    });
    let (mut ended, _) = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ran in &ended {
        let suite = ran.tally();
        tally.add(suite);
        if suite.failed > 0 {
            eprintln!("failed: {}", ran.name);
        }
    }
    ended.sort_by_key(|ran| std::cmp::Reverse(ran.time));
    eprintln!("\n{} suites; the slowest:", ended.len());
    for ran in ended.iter().take(NAMED) {
        eprintln!("{:>8.1} s  {}", ran.time.as_secs_f64(), ran.name);
    }
    if tally.failed == 0 { Ok(()) } else { Err(Failure::new("not every test passed")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(name: &str, script: &str) -> Suite {
        Suite { name: name.to_owned(), command: process::command("sh", ["-c", script]) }
    }

    #[test]
    fn test_executables_are_told_from_cargos_other_messages() {
        let message = |test: bool, kind: &str| {
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": "/tree/crates/a/Cargo.toml",
                "target": {"kind": [kind], "name": "races"}, "profile": {"test": test},
                "executable": "/tree/target/debug/deps/races-1",
            })
            .to_string()
        };
        let found = Suite::of_message(&message(true, "test")).unwrap();
        assert_eq!(found.name, "races");
        assert_eq!(found.command.get_current_dir(), Some(Path::new("/tree/crates/a")));
        assert_eq!(Suite::of_message(&message(true, "lib")).unwrap().name, "races (unit tests of the lib)");
        assert!(Suite::of_message(&message(false, "bin")).is_none());
        assert!(Suite::of_message(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(Suite::of_message("not json").is_none());
    }

    #[test]
    fn suites_add_up_and_one_that_dies_fails_the_run() {
        let good = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";
        let mut tally = Tally::default();
        let mut output = Vec::new();
        assert!(run(vec![suite("a", good), suite("b", good)], &mut tally, &mut output).is_ok());
        assert_eq!(tally.to_string(), "6 passed, 0 failed, 0 skipped");
        assert_eq!(String::from_utf8(output).unwrap().matches("3 passed").count(), 2);

        let mut tally = Tally::default();
        let missing = Suite { name: "c".to_owned(), command: Command::new("/no/such/suite") };
        let failed =
            run(vec![suite("a", good), suite("b", "kill -9 $$"), missing], &mut tally, &mut Vec::new());
        assert!(failed.is_err());
        assert_eq!(tally.to_string(), "3 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn a_suite_that_passes_shows_its_figures_and_one_that_fails_everything() {
        let said = "\nrunning 1 test\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\ncut 3 connections\n\n\n\
                    successes:\n    a\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let ran = |said: &str, succeeded: bool| {
            let mut shown = Vec::new();
            let ran = Ran { name: "a".to_owned(), time: Duration::ZERO, output: said.into(), succeeded };
            ran.show(&mut shown).unwrap();
            String::from_utf8(shown).unwrap()
        };
        assert_eq!(ran(said, true), "-- a (0.0 s): 1 passed, 0 failed, 0 skipped\n   cut 3 connections\n");
        let failed = said.replace("1 passed; 0 failed", "0 passed; 1 failed");
        assert!(ran(&failed, false).ends_with(&failed));
    }

    #[test]
    fn a_suite_that_hangs_is_ended_and_what_it_leaves_running_is_not_waited_for() {
        let mut hangs = process::command("sh", ["-c", "echo begun; exec sleep 60"]);
        let (output, succeeded) = output_and_success(&mut hangs, Duration::from_millis(300)).unwrap();
        assert!(!succeeded);
        assert!(String::from_utf8(output).unwrap().starts_with("begun\n\nended after 0 s"));

        let mut leaves = process::command("sh", ["-c", "sleep 20 & echo done"]);
        let start = Instant::now();
        let (output, succeeded) = output_and_success(&mut leaves, LIMIT).unwrap();
        assert!(succeeded && start.elapsed() < Duration::from_secs(15));
        assert!(String::from_utf8(output).unwrap().starts_with("done\n\nsomething that it started"));
    }

    #[test]
    fn both_outputs_stay_in_their_order() {
        let ran = suite("a", "echo one; echo two >&2; echo three").run();
        assert_eq!(String::from_utf8(ran.output).unwrap(), "one\ntwo\nthree\n");
        assert!(ran.succeeded);
    }
}
