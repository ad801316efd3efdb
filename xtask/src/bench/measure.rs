//! One run of a command: its time, its processor time and its peak memory.

use crate::failure::Failure;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What one run cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// From start to end.
    pub(super) wall: Duration,
    /// Processor time of the process and those it waited for.
    pub(super) processor: Duration,
    /// The largest resident set, in bytes.
    pub(super) peak: u64,
}

/// Runs a command with its outputs in files, and fails with its error text when it fails.
pub(super) fn measure(command: &mut Command, output: &Path, errors: &Path) -> Result<Run, Failure> {
    let file = |path: &Path| File::create(path).map_err(|error| Failure::at(path, "write", &error));
    command.stdin(Stdio::null()).stdout(file(output)?).stderr(file(errors)?);
    let shown = format!("{command:?}");
    let failed = |error: &std::io::Error| Failure::new(format!("cannot run {shown}: {error}"));
    let start = Instant::now();
    let child = command.spawn().map_err(|error| failed(&error))?;
    let used = child.wait4().map_err(|error| failed(&error))?;
    let wall = start.elapsed();
    if used.status.success() {
        let processor = used.rusage.utime + used.rusage.stime;
        return Ok(Run { wall, processor, peak: used.rusage.maxrss });
    }
    let said = fs::read_to_string(errors).unwrap_or_default();
    let said: String = said.lines().take(10).map(|line| format!("\n  {line}")).collect();
    Err(Failure::new(format!("{shown}: {}{said}", used.status)))
}

/// Several runs as one: the median of each time, and the largest peak.
pub(super) fn summary(runs: &[Run]) -> Option<Run> {
    let median = |of: fn(&Run) -> Duration| {
        let mut times: Vec<Duration> = runs.iter().map(of).collect();
        times.sort_unstable();
        let upper = times.get(times.len() / 2)?;
        let lower = times.get(times.len().saturating_sub(1) / 2)?;
        Some((*upper + *lower) / 2)
    };
    Some(Run {
        wall: median(|run| run.wall)?,
        processor: median(|run| run.processor)?,
        peak: runs.iter().map(|run| run.peak).max()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wall: u64, processor: u64, peak: u64) -> Run {
        Run { wall: Duration::from_millis(wall), processor: Duration::from_millis(processor), peak }
    }

    #[test]
    fn a_summary_takes_medians_and_the_largest_peak() {
        assert_eq!(summary(&[run(9, 1, 5), run(1, 2, 9), run(3, 3, 7)]), Some(run(3, 2, 9)));
        assert_eq!(summary(&[run(2, 2, 1), run(4, 4, 1)]), Some(run(3, 3, 1)));
        assert_eq!(summary(&[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_failing_command_says_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo the reason >&2; exit 3"]);
        let failure =
            measure(&mut command, &folder.path().join("out"), &folder.path().join("err")).unwrap_err();
        let text = failure.to_string();
        assert!(text.contains("exit status: 3") && text.ends_with("\n  the reason"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn a_run_is_timed_and_its_memory_seen() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 0.05"]);
        let run = measure(&mut command, &folder.path().join("out"), &folder.path().join("err")).unwrap();
        assert!(run.wall >= Duration::from_millis(50));
        assert!(run.peak > 100_000);
    }
}
