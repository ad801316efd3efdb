//! The order of arrival does not matter, and the replayer agrees with replay at every moment.

use crate::corpus::{Vector, vectors};
use drystone_journal::{Entry, Kind, Reason, Refused, Replayed, Replayer, replay};
use drystone_model::Snapshot;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A fixed seed for each vector.
fn random(number: usize) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(20_260_000 + number as u64)
}

fn for_each_vector(mut check: impl FnMut(&Vector, &Replayed, &mut ChaCha8Rng)) {
    let vectors = vectors();
    for (number, vector) in vectors.iter().enumerate() {
        let expected = replay(vector.base.clone(), vector.entries.clone()).unwrap();
        check(vector, &expected, &mut random(number));
    }
    println!("{} vectors", vectors.len());
    assert_eq!(vectors.len(), 1216);
}

#[test]
fn s05_shuffled_arrivals_make_the_same_snapshot() {
    for_each_vector(|vector, expected, random| {
        for _ in 0..3 {
            let mut entries = vector.entries.clone();
            entries.shuffle(random);
            assert_eq!(&replay(vector.base.clone(), entries).unwrap(), expected, "{}", vector.name);
        }
    });
}

#[test]
fn s05_duplicated_arrivals_make_the_same_snapshot() {
    for_each_vector(|vector, expected, random| {
        let again = vector.entries.iter().filter(|_| random.random_bool(0.5)).cloned();
        let mut entries: Vec<Entry> = again.chain(vector.entries.iter().cloned()).collect();
        entries.shuffle(random);
        let mut replayer = Replayer::new(vector.base.clone());
        entries.into_iter().for_each(|entry| replayer.add(entry).unwrap());
        assert_eq!(replayer.held(), 0, "{}", vector.name);
        assert_eq!(&replayer.finish(), expected, "{}", vector.name);
    });
}

#[test]
fn every_snapshot_on_the_way_is_the_replay_of_that_prefix() {
    let mut count = 0;
    for_each_vector(|vector, expected, _| {
        let mut replayer = Replayer::new(vector.base.clone());
        for (at, entry) in vector.entries.iter().enumerate() {
            replayer.add(entry.clone()).unwrap();
            let prefix = vector.entries[..=at].iter().cloned();
            let replayed = replay(vector.base.clone(), prefix).unwrap();
            assert_eq!(replayer.snapshot(), replayed, "{} after {}", vector.name, at + 1);
            count += 1;
        }
        assert_eq!(&replayer.finish(), expected, "{}", vector.name);
    });
    println!("{count} snapshots");
}

/// What arrived decides, with gaps and all, and not the order that it came in.
#[test]
fn every_snapshot_of_shuffled_arrivals_is_that_of_the_entries_so_far() {
    for_each_vector(|vector, _, random| {
        let mut entries = vector.entries.clone();
        entries.shuffle(random);
        let mut replayer = Replayer::new(vector.base.clone());
        let checked = random.random_range(0..entries.len());
        for (at, entry) in entries.iter().enumerate() {
            replayer.add(entry.clone()).unwrap();
            if at == checked {
                let mut sorted = entries[..=at].to_vec();
                sorted.sort_by_key(|entry| entry.sequence);
                let mut other = Replayer::new(vector.base.clone());
                sorted.into_iter().for_each(|entry| other.add(entry).unwrap());
                assert_eq!(
                    replayer.snapshot(),
                    other.snapshot(),
                    "{} after {} arrivals",
                    vector.name,
                    at + 1
                );
                assert_eq!(replayer.snapshot(), replayer.clone().finish(), "{}", vector.name);
            }
        }
    });
}

fn created(sequence: i64, operation: i64, urn: &str) -> Entry {
    let state = serde_json::from_value(serde_json::json!({"urn": urn, "type": "t"})).unwrap();
    Entry { state: Some(state), ..Entry::new(Kind::Success, sequence, operation) }
}

fn urns(replayed: &Replayed) -> Vec<&str> {
    replayed.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect()
}

#[test]
fn s05_a_lost_entry_does_not_take_the_others_with_it() {
    let mut replayer = Replayer::new(Snapshot::default());
    for entry in
        [Entry::new(Kind::Begin, 1, 1), created(2, 1, "a"), Entry::new(Kind::Begin, 4, 2), created(6, 2, "b")]
    {
        replayer.add(entry).unwrap();
    }
    assert_eq!(replayer.held(), 2);
    assert_eq!(urns(&replayer.snapshot()), ["a", "b"]);
    assert_eq!(urns(&replayer.finish()), ["a", "b"]);
}

#[test]
fn a_late_refusal_is_told_when_it_is_found() {
    let mut replayer = Replayer::new(Snapshot::default());
    replayer.add(created(3, 7, "a")).unwrap();
    replayer.add(Entry::new(Kind::Begin, 2, 1)).unwrap();
    assert_eq!(replayer.refused(), []);
    let refused = Refused { sequence: 3, reason: Reason::NotUnderWay(7) };
    assert_eq!(replayer.snapshot().refused, std::slice::from_ref(&refused), "as things stand");
    assert_eq!(replayer.refused(), []);
    replayer.add(Entry::new(Kind::RebuiltBaseState, 1, 0)).unwrap();
    assert_eq!(replayer.refused(), std::slice::from_ref(&refused), "for good");
    assert_eq!(
        replayer.add(created(3, 7, "a")),
        Err(refused.clone()),
        "an equal duplicate has the same outcome"
    );
    assert_eq!(replayer.finish().refused, [refused]);
}

#[test]
fn an_early_entry_that_is_wrong_in_itself_is_refused_at_once() {
    let mut replayer = Replayer::new(Snapshot::default());
    let refused = Refused { sequence: 3, reason: Reason::UnknownKind(42) };
    assert_eq!(replayer.add(Entry::new(Kind::Other(42), 3, 0)), Err(refused.clone()));
    for entry in [created(4, 1, "a"), created(2, 9, "b"), Entry::new(Kind::Begin, 1, 1)] {
        replayer.add(entry).unwrap();
    }
    assert_eq!(replayer.held(), 0, "what was refused does not hold up the rest");
    let replayed = replayer.finish();
    assert_eq!(urns(&replayed), ["a"]);
    assert_eq!(replayed.refused, [Refused { sequence: 2, reason: Reason::NotUnderWay(9) }, refused]);
}

#[test]
fn the_first_entry_of_a_sequence_counts() {
    let mut replayer = Replayer::new(Snapshot::default());
    replayer.add(created(2, 1, "a")).unwrap();
    let refused = Refused { sequence: 2, reason: Reason::ConflictingDuplicate };
    assert_eq!(replayer.add(created(2, 1, "b")), Err(refused.clone()), "while it is held");
    replayer.add(Entry::new(Kind::Begin, 1, 1)).unwrap();
    assert_eq!(replayer.add(created(2, 1, "c")), Err(refused), "after it was applied");
    replayer.add(created(2, 1, "a")).unwrap();
    assert_eq!(urns(&replayer.finish()), ["a"]);
}

#[test]
fn the_highest_sequence_there_is_does_no_harm() {
    let mut replayer = Replayer::new(Snapshot::default());
    replayer.add(Entry::new(Kind::Begin, i64::MAX - 1, 1)).unwrap();
    replayer.add(created(i64::MAX, 1, "a")).unwrap();
    replayer.add(Entry::new(Kind::Begin, 1, 2)).unwrap();
    assert_eq!(urns(&replayer.finish()), ["a"]);
}
