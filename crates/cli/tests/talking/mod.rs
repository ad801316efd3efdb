//! Our CLI while it runs: what it says is read as it comes, and waited for.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long something may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that runs.
pub(crate) struct Talking {
    child: Child,
    said: [Arc<Mutex<String>>; 2],
    readers: [Option<JoinHandle<()>>; 2],
}

impl Talking {
    /// Starts our CLI in a sandbox.
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_program(sandbox, Path::new(env!("CARGO_BIN_EXE_drystone")), arguments)
    }

    /// Starts another program in a sandbox.
    pub(crate) fn start_program(sandbox: &Sandbox, program: &Path, arguments: &[&str]) -> Self {
        let mut child = sandbox
            .command(program, arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the CLI starts");
        let said = [Arc::default(), Arc::default()];
        let out = read(child.stdout.take().expect("piped"), Arc::clone(&said[0]));
        let err = read(child.stderr.take().expect("piped"), Arc::clone(&said[1]));
        Self { child, said, readers: [Some(out), Some(err)] }
    }

    /// What it has said so far, data before the rest.
    pub(crate) fn said(&self) -> String {
        self.said.iter().map(|said| said.lock().expect("a reader").clone()).collect()
    }

    /// How often a text stands in what it has said.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.said().matches(text).count()
    }

    /// Waits until it has said something.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until it has said something so many times.
    pub(crate) fn wait_for_times(&mut self, text: &str, times: usize) {
        let began = Instant::now();
        while self.count(text) < times {
            let ended = self.child.try_wait().expect("a child");
            // What it said last may still be on its way.
            if ended.is_some() && began.elapsed() > Duration::from_secs(5) {
                panic!("it ended with {ended:?} and never said {text:?}: {}", self.said());
            }
            assert!(began.elapsed() < PATIENCE, "waited for {text:?} in: {}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Sends it a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .expect("kill");
        assert!(sent.success());
    }

    /// Waits until it ends.
    pub(crate) fn end(mut self) -> Ended {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            if began.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("it does not end: {}", self.said());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        for reader in &mut self.readers {
            reader.take().expect("a reader").join().expect("a reader");
        }
        let [stdout, stderr] = &self.said;
        let text = |said: &Arc<Mutex<String>>| said.lock().expect("a reader").clone();
        Ended { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Drop for Talking {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn read(from: impl Read + Send + 'static, to: Arc<Mutex<String>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            to.lock().expect("a test").push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}
