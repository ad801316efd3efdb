//! Two processes race for one lease, ten thousand times: never two holders (S4, S11).

use drystone_stores::conformance::make::stack;
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, Error, Leases};
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Stdio};

const RACES: u64 = 10_000;
const FOLDER: &str = "DRYSTONE_RACE_FOLDER";

/// Memory, where there is such a folder: the race is about order, not about durability.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
}

#[test]
fn s11_ten_thousand_races_of_two_processes_never_have_two_holders() {
    let folder = folder();
    let racers: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().expect("this test"))
                .args(["--exact", "a_racer", "--include-ignored", "--nocapture"])
                .env(FOLDER, folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a racer")
        })
        .collect();
    let mut won = Vec::new();
    for racer in racers {
        let output = racer.wait_with_output().expect("a racer's end");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let wins = text.lines().find_map(|line| line.strip_prefix("won ")?.parse::<u64>().ok());
        won.push(wins.expect("a count"));
    }
    println!("{RACES} races: {} and {} won, never two holders", won[0], won[1]);
    assert_eq!(won.iter().sum::<u64>(), RACES);
    assert!(won.iter().all(|wins| *wins > 0), "one of them never won: {won:?}");
}

/// One of the two processes; the test above starts it.
#[test]
#[ignore = "a part of the race, started by the race itself"]
fn a_racer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let store = LocalStore::open(folder.join("state"), LocalOptions::default()).expect("a store");
    let mut won = 0;
    while count(folder) < RACES {
        let lease = match runtime.block_on(store.acquire(&stack(), Claim::new("race"))) {
            Ok(lease) => lease,
            Err(Error::Held { .. }) => continue,
            Err(other) => panic!("{other}"),
        };
        let marker = folder.join("held");
        let alone = OpenOptions::new().write(true).create_new(true).open(&marker);
        assert!(alone.is_ok(), "two holders");
        let races = count(folder);
        if races < RACES {
            std::fs::write(folder.join("count"), (races + 1).to_string()).expect("a count");
            won += 1;
        }
        std::fs::remove_file(&marker).expect("the marker");
        runtime.block_on(lease.release()).expect("a release");
    }
    println!("\nwon {won}");
}

/// How many races there have been; only the holder changes it.
fn count(folder: &Path) -> u64 {
    std::fs::read_to_string(folder.join("count")).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
