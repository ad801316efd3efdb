//! Runs that are killed with SIGKILL at any moment, with a provider that keeps what it really did in files.
//!
//! `DRYSTONE_KILLS` sets how many, `DRYSTONE_SEED` which moments.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod harness;

use harness::Sandbox;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const RESOURCES: usize = 8;

struct Site {
    sandbox: Sandbox,
    world: PathBuf,
}

impl Site {
    fn new() -> Self {
        let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
        let mut sandbox = Sandbox::new();
        let world = sandbox.project().join("world");
        std::fs::create_dir(&world).unwrap();
        let path = format!("{plugins}:{}", std::env::var("PATH").unwrap_or_default());
        sandbox.set("PATH", &path);
        sandbox.set("BENCH_WORLD", world.to_str().unwrap());
        sandbox.set("BENCH_DELAY_MS", "8");
        sandbox.write(
            "Pulumi.yaml",
            &format!("name: shop\nruntime:\n  name: bench\n  options: {{resources: {RESOURCES}}}\n"),
        );
        sandbox.ok(&["stack", "init", "dev"]);
        Self { sandbox, world }
    }

    /// Runs a command and kills it, the process alone, after a while. Says whether it was still running.
    fn kill(&self, command: &str, after: Duration) -> bool {
        let program = Path::new(env!("CARGO_BIN_EXE_drystone"));
        let arguments = [command, "--yes", "--skip-preview", "-p", "3"];
        let mut child = self
            .sandbox
            .command(program, &arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(after);
        let running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        running
    }

    /// Waits until the plugins that the dead run left have ended what they were doing.
    fn settle(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut before = self.things();
        let mut quiet = 0;
        while quiet < 3 {
            assert!(Instant::now() < deadline, "the world does not settle");
            std::thread::sleep(Duration::from_millis(12));
            let now = self.things();
            quiet = if now == before { quiet + 1 } else { 0 };
            before = now;
        }
    }

    /// The names of what exists.
    fn things(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(&self.world).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// The names in the state, and those of operations whose end nobody knows. None may stand twice.
    fn known(&self) -> (Vec<String>, Vec<String>) {
        let export: serde_json::Value = serde_json::from_str(&self.sandbox.ok(&["stack", "export"])).unwrap();
        let deployment = &export["deployment"];
        let name = |urn: &serde_json::Value| urn.as_str().unwrap().rsplit("::").next().unwrap().to_owned();
        let items = |urn: &serde_json::Value| urn.as_str().unwrap().contains("bench:index:Item");
        let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
        let resources = list(&deployment["resources"]);
        let pending = list(&deployment["pending_operations"]);
        let state = resources.iter().map(|r| &r["urn"]).filter(|urn| items(urn)).map(name).collect();
        let pending =
            pending.iter().map(|p| &p["resource"]["urn"]).filter(|urn| items(urn)).map(name).collect();
        (state, pending)
    }

    /// Everything that exists is known, and nothing is known twice.
    fn check(&self) {
        let (state, pending) = self.known();
        let unique: BTreeSet<_> = state.iter().collect();
        assert_eq!(unique.len(), state.len(), "twice in the state: {state:?}");
        let unique: BTreeSet<_> = pending.iter().collect();
        assert_eq!(unique.len(), pending.len(), "twice pending: {pending:?}");
        for thing in self.things() {
            assert!(
                state.contains(&thing) || pending.contains(&thing),
                "{thing} exists and nobody knows it: state {state:?}, pending {pending:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn s05_whatever_moment_a_run_is_killed_at_nothing_that_exists_is_forgotten() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, seed) = (number("DRYSTONE_KILLS", 40), number("DRYSTONE_SEED", 1));
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let site = Site::new();
    let (mut hits, mut pending, mut finished) = (0, 0, 0);
    for round in 0..kills {
        let command = if random.random_bool(0.6) { "up" } else { "destroy" };
        let after = Duration::from_millis(random.random_range(5..400));
        hits += u64::from(site.kill(command, after));
        site.settle();
        // What the dead run journaled is brought in by whoever comes next.
        site.sandbox.ok(&["cancel", "--yes"]);
        site.check();
        pending += site.known().1.len();
        if round % 5 == 4 {
            let ended = site.sandbox.drystone(&["up", "--yes", "--skip-preview"]);
            assert_eq!(ended.code, 0, "round {round}: the run after the killed ones: {ended:#?}");
            let (mut state, pending) = site.known();
            state.sort();
            assert_eq!(state, site.things().into_iter().collect::<Vec<_>>(), "round {round}");
            assert_eq!(state.len(), RESOURCES, "round {round}");
            // A creation that never happened may stay pending, with a warning: that nothing has the id that was
            // guessed does not prove that nothing was made. What it would have made is there by now.
            assert!(pending.iter().all(|name| state.contains(name)), "round {round}: {pending:?}");
            finished += 1;
        }
    }
    println!(
        "killed runs: {kills} (seed {seed}), {hits} of them while running, {pending} pending operations found, {finished} runs finished by themselves, 0 things forgotten"
    );
}
