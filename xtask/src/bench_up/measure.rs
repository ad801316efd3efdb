//! What one run of a command costs, its children left out.

use crate::failure::Failure;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What one run cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// From start to end.
    pub(crate) wall: Duration,
    /// Until the first byte of output, wherever it goes.
    pub(crate) first_output: Duration,
    /// Processor time of the process alone.
    pub(crate) processor: Duration,
    /// The largest resident set in bytes.
    pub(crate) peak: u64,
    /// Bytes written to files.
    pub(crate) written: u64,
}

impl Cost {
    /// Several runs as one: the median of each.
    pub(super) fn median(costs: &[Self]) -> Option<Self> {
        fn middle<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
            values.sort_unstable();
            values.get(values.len() / 2).copied()
        }
        Some(Self {
            wall: middle(costs.iter().map(|cost| cost.wall).collect())?,
            first_output: middle(costs.iter().map(|cost| cost.first_output).collect())?,
            processor: middle(costs.iter().map(|cost| cost.processor).collect())?,
            peak: middle(costs.iter().map(|cost| cost.peak).collect())?,
            written: middle(costs.iter().map(|cost| cost.written).collect())?,
        })
    }
}

/// Runs a command, and fails with what it said when it fails.
pub(super) fn measure(command: &mut Command) -> Result<Cost, Failure> {
    let ran = run(command, None)?;
    if ran.status.success() { Ok(ran.cost) } else { Err(ran.failure(command)) }
}

/// The same, but ends it, with all that it started, when it takes longer than it may: then there is only what it had cost
/// by that time.
pub(super) fn measure_within(command: &mut Command, limit: Duration) -> Result<Ended, Failure> {
    let ran = run(command.process_group(0), Some(limit))?;
    match ran.status.success() {
        true => Ok(Ended::ByItself(ran.cost)),
        false if ran.cost.wall >= limit => Ok(Ended::CutOff(ran.cost)),
        false => Err(ran.failure(command)),
    }
}

/// How a command with a limit came to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended {
    ByItself(Cost),
    CutOff(Cost),
}

/// A command that has ended.
struct Ran {
    cost: Cost,
    status: ExitStatus,
    said: Vec<u8>,
}

impl Ran {
    fn failure(&self, command: &Command) -> Failure {
        let said = String::from_utf8_lossy(&self.said);
        let lines: String = said.lines().take(20).map(|line| format!("\n  {line}")).collect();
        Failure::new(format!("{command:?}: {}{lines}", self.status))
    }
}

fn run(command: &mut Command, limit: Option<Duration>) -> Result<Ran, Failure> {
    let shown = format!("{command:?}");
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("cannot run {shown}: {error}"));
    let (mut output, writer) = std::io::pipe().map_err(|error| failed(&error))?;
    let errors = writer.try_clone().map_err(|error| failed(&error))?;
    command.stdin(Stdio::null()).stdout(writer).stderr(errors);
    let start = Instant::now();
    let child = command.spawn().map_err(|error| failed(&error))?;
    // The command keeps the writing ends of the pipe until others take their place.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| failed(&"no process id"))?;
    let mut first_output = Duration::ZERO;
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        if let Some(limit) = limit {
            scope.spawn(move || {
                if end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // One that has just ended by itself is not reaped yet, so that its number is nobody else's.
                    let _ = kill_process_group(pid, Signal::KILL);
                }
            });
        }
        while let Ok(read @ 1..) = output.read(&mut buffer) {
            if said.is_empty() {
                first_output = start.elapsed();
            }
            said.extend_from_slice(&buffer[..read]);
        }
        drop(ended);
    });
    // As long as it is not reaped, the kernel tells its own processor time apart from its children's.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .map_err(|error| failed(&error))?;
    let processor =
        own_processor_time(child.id()).ok_or_else(|| failed(&"its processor time is not to be had"))?;
    let written = own_bytes_written(child.id()).ok_or_else(|| failed(&"its bytes are not to be had"))?;
    let used = child.wait4().map_err(|error| failed(&error))?;
    let cost = Cost { wall: start.elapsed(), first_output, processor, peak: used.rusage.maxrss, written };
    Ok(Ran { cost, status: used.status, said })
}

/// User and system time of a process without its children, from its record in /proc.
fn own_processor_time(pid: u32) -> Option<Duration> {
    let record = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let fields: Vec<&str> = record.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
}

/// Bytes that a process had written to disks, without its children's.
fn own_bytes_written(pid: u32) -> Option<u64> {
    let record = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    record.lines().find_map(|line| line.strip_prefix("write_bytes: "))?.parse().ok()
}
