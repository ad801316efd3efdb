use super::*;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

static INSTALLS: AtomicUsize = AtomicUsize::new(0);

const SLOW: Peer = Peer {
    name: "slow",
    version: "1",
    purpose: "this test",
    variable: Some("DRYSTONE_PEER_SLOW"),
    find: |cache| Some(cache.peer("slow", "1")).filter(|place| place.exists()),
    install: |cache| {
        INSTALLS.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(100));
        let place = cache.peer("slow", "1");
        fs::create_dir_all(&place).map_err(|error| Failure::at(&place, "make", &error))
    },
};

const HOLLOW: Peer = Peer {
    name: "hollow",
    version: "1",
    purpose: "this test",
    variable: None,
    find: |_| None,
    install: |_| Ok(()),
};

#[test]
fn setups_at_the_same_time_install_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| ensure_in(&Cache::at(folder.path()).unwrap(), &[&SLOW]).unwrap());
        }
    });
    assert_eq!(INSTALLS.load(Ordering::SeqCst), 1);

    let ready = ensure_in(&Cache::at(folder.path()).unwrap(), &[&SLOW]).unwrap();
    let expected = folder.path().join("peers").join("slow-1");
    assert_eq!(ready.place(&SLOW).unwrap(), expected);
    assert_eq!(ready.variables().collect::<Vec<_>>(), [("DRYSTONE_PEER_SLOW", expected.as_path())]);
}

#[test]
fn an_installation_that_leaves_nothing_fails() {
    let folder = tempfile::tempdir().unwrap();
    let failure = ensure_in(&Cache::at(folder.path()).unwrap(), &[&HOLLOW]).err().unwrap();
    assert_eq!(failure.to_string(), "error: hollow 1 was installed but does not answer");
}
