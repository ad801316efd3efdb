//! How far downloads of plugins are: bars on a terminal, now and then a line elsewhere.

use crate::terminal;
use drystone_plugins::install::{Release, Stage};
use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a line says how far a download is where there are no bars.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The downloads of a command.
#[derive(Debug)]
pub(super) struct Downloads {
    bars: MultiProgress,
    terminal: bool,
}

impl Default for Downloads {
    fn default() -> Self {
        Self { bars: MultiProgress::new(), terminal: std::io::stderr().is_terminal() }
    }
}

impl Downloads {
    /// Says something, above the bars.
    pub(super) fn note(&self, text: &str) {
        self.bars.suspend(|| terminal::note(text));
    }

    /// What is told how far the installation of a plugin is. It is over when every copy is dropped.
    pub(super) fn watch(&self, release: &Release) -> Arc<Watched> {
        let name = format!("{}-{}", release.name, release.version);
        let bar = self.bars.add(ProgressBar::no_length().with_style(spinning()).with_prefix(name.clone()));
        if self.terminal {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Arc::new(Watched {
            bar,
            bars: self.bars.clone(),
            terminal: self.terminal,
            name,
            last: Mutex::new(Instant::now()),
        })
    }
}

/// One installation.
#[derive(Debug)]
pub(super) struct Watched {
    bar: ProgressBar,
    bars: MultiProgress,
    terminal: bool,
    name: String,
    /// When a line was last said of it.
    last: Mutex<Instant>,
}

impl Watched {
    pub(super) fn take(&self, stage: Stage) {
        match stage {
            Stage::Waiting => self.say("another command is installing it; waiting for that"),
            Stage::Again { cause } => self.say(&format!("{cause}; trying again")),
            Stage::Unpacking => {
                self.bar.set_style(spinning());
                self.bar.set_message("unpacking");
            }
            Stage::Downloading { bytes, total } => self.downloading(bytes, total),
        }
    }

    fn downloading(&self, bytes: u64, total: Option<u64>) {
        if let Some(total) = total
            && self.bar.length() != Some(total)
        {
            self.bar.set_length(total);
            self.bar.set_style(measured());
        }
        self.bar.set_position(bytes);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.terminal || last.elapsed() < HEARTBEAT {
            return;
        }
        *last = Instant::now();
        let of = total.map(|total| format!(" of {}", HumanBytes(total))).unwrap_or_default();
        terminal::note(format!("  {}: {}{of}", self.name, HumanBytes(bytes)));
    }

    fn say(&self, text: &str) {
        self.bars.suspend(|| terminal::note(format!("  {}: {text}", self.name)));
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn spinning() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {prefix} {msg} {bytes}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn measured() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {prefix} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
