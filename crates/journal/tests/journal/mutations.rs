//! Damaged journals: never a panic, never a lost entry that was accepted.

use crate::corpus::vectors;
use drystone_journal::{Entry, Kind, Reason, Replayed, Replayer, replay};
use drystone_model::Snapshot;
use proptest::{prelude::*, sample::Index, test_runner::RngSeed};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Something that happens to a journal between its writer and us.
#[derive(Debug, Clone)]
enum Damage {
    Drop(Index),
    Repeat(Index),
    RepeatAltered(Index),
    Reorder(Index, Index),
    Kind(Index, i64),
    Version(Index, i64),
    Sequence(Index, i64),
    Operation(Index, i64),
    Old(Index, u8, Option<i64>),
    New(Index, u8, Option<i64>),
    State(Index, Index),
    Rebuild(Index),
    Refresh(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let number = || prop_oneof![8 => 0..16i64, 1 => -1..0i64, 1 => any::<i64>()];
    prop_oneof![
        at().prop_map(Damage::Drop),
        at().prop_map(Damage::Repeat),
        at().prop_map(Damage::RepeatAltered),
        (at(), at()).prop_map(|(a, b)| Damage::Reorder(a, b)),
        (at(), -1..12i64).prop_map(|(at, kind)| Damage::Kind(at, kind)),
        (at(), 0..3i64).prop_map(|(at, version)| Damage::Version(at, version)),
        (at(), number()).prop_map(|(at, sequence)| Damage::Sequence(at, sequence)),
        (at(), number()).prop_map(|(at, operation)| Damage::Operation(at, operation)),
        (at(), 0..3u8, prop::option::of(number()))
            .prop_map(|(at, member, value)| Damage::Old(at, member, value)),
        (at(), 0..3u8, prop::option::of(number()))
            .prop_map(|(at, member, value)| Damage::New(at, member, value)),
        (at(), at()).prop_map(|(a, b)| Damage::State(a, b)),
        at().prop_map(Damage::Rebuild),
        at().prop_map(Damage::Refresh),
    ]
}

impl Damage {
    fn apply(&self, entries: &mut Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let length = entries.len();
        match self {
            Self::Drop(at) => drop(entries.remove(at.index(length))),
            Self::Repeat(at) => entries.push(entries[at.index(length)].clone()),
            Self::RepeatAltered(at) => {
                let mut altered = entries[at.index(length)].clone();
                altered.operation_id += 1;
                entries.push(altered);
            }
            Self::Reorder(a, b) => entries.swap(a.index(length), b.index(length)),
            Self::Kind(at, kind) => entries[at.index(length)].kind = Kind::from_number(*kind),
            Self::Version(at, version) => entries[at.index(length)].version = *version,
            Self::Sequence(at, sequence) => entries[at.index(length)].sequence = *sequence,
            Self::Operation(at, operation) => entries[at.index(length)].operation_id = *operation,
            Self::Old(at, member, value) => {
                let entry = &mut entries[at.index(length)];
                let member = match member {
                    0 => &mut entry.remove_old,
                    1 => &mut entry.delete_old,
                    _ => &mut entry.pending_replacement_old,
                };
                *member = *value;
            }
            Self::New(at, member, value) => {
                let entry = &mut entries[at.index(length)];
                let member = match member {
                    0 => &mut entry.remove_new,
                    1 => &mut entry.delete_new,
                    _ => &mut entry.pending_replacement_new,
                };
                *member = *value;
            }
            Self::State(a, b) => entries[a.index(length)].state = entries[b.index(length)].state.clone(),
            Self::Rebuild(at) => {
                let sequence = entries[at.index(length)].sequence;
                entries
                    .iter_mut()
                    .filter(|entry| entry.sequence >= sequence)
                    .for_each(|entry| entry.sequence += 1);
                entries.push(Entry::new(Kind::RebuiltBaseState, sequence, 0));
            }
            Self::Refresh(at) => entries[at.index(length)].is_refresh = true,
        }
    }
}

/// Adds all entries; returns what came of it and the entries that were accepted, by sequence.
fn add_all(base: &Snapshot, entries: &[Entry]) -> (Replayed, Vec<Entry>) {
    let mut replayer = Replayer::new(base.clone());
    let mut first = BTreeMap::new();
    for entry in entries {
        if let Err(refused) = replayer.add(entry.clone()) {
            assert!(replayer.refused().contains(&refused));
        }
        if entry.sequence >= 1 {
            first.entry(entry.sequence).or_insert_with(|| entry.clone());
        }
    }
    let replayed = replayer.finish();
    for refused in replayed.refused.iter().filter(|refused| refused.reason != Reason::ConflictingDuplicate) {
        first.remove(&refused.sequence);
    }
    (replayed, first.into_values().collect())
}

/// The URNs that accepted entries leave, told by giving every resource an identity and following it.
fn surviving_urns(base: &Snapshot, accepted: &[Entry]) -> Vec<String> {
    let mut urns: Vec<String> = base.resources.iter().map(|resource| resource.urn.to_string()).collect();
    let mut at: Vec<usize> = (0..urns.len()).collect();
    let mut alive: BTreeSet<usize> = at.iter().copied().collect();
    let mut made = Vec::<usize>::new();
    let mut left = HashMap::<i64, usize>::new();
    for entry in accepted {
        let names = matches!(entry.kind, Kind::Success | Kind::RefreshSuccess | Kind::Outputs);
        let old = entry.remove_old.filter(|_| names).map(|index| at[usize::try_from(index).unwrap()]);
        let new = entry.remove_new.filter(|_| names).map(|operation| left[&operation]);
        match (entry.kind, &entry.state) {
            (Kind::Success, state) => {
                alive.retain(|&resource| Some(resource) != old && Some(resource) != new);
                if let Some(state) = state {
                    left.insert(entry.operation_id, urns.len());
                    made.push(urns.len());
                    alive.insert(urns.len());
                    urns.push(state.urn.to_string());
                }
            }
            (Kind::RefreshSuccess, None) => {
                alive.retain(|&resource| Some(resource) != old && Some(resource) != new);
            }
            (Kind::RefreshSuccess | Kind::Outputs, Some(state)) => {
                if let Some(resource) = old.or(new) {
                    urns[resource] = state.urn.to_string();
                    if entry.kind == Kind::RefreshSuccess {
                        left.insert(entry.operation_id, resource);
                    }
                }
            }
            (Kind::Write, _) => {
                let resources = &entry.new_snapshot.as_ref().unwrap().resources;
                alive.retain(|resource| made.contains(resource));
                at = (urns.len()..urns.len() + resources.len()).collect();
                alive.extend(&at);
                urns.extend(resources.iter().map(|resource| resource.urn.to_string()));
            }
            (Kind::RebuiltBaseState, _) => {
                at = made.drain(..).chain(at).filter(|resource| alive.contains(resource)).collect();
            }
            _ => {}
        }
    }
    made.into_iter()
        .chain(at)
        .filter(|resource| alive.contains(resource))
        .map(|resource| urns[resource].clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn s05_accepted_entries_survive_whatever_else_arrives(
        vector in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let vector = vector.get(vectors());
        let mut entries = vector.entries.clone();
        damages.iter().for_each(|damage| damage.apply(&mut entries));

        let (replayed, accepted) = add_all(&vector.base, &entries);
        let clean = replay(vector.base.clone(), accepted.clone());
        let clean = clean.map_err(|refused| TestCaseError::fail(format!("{}: {refused}", vector.name)))?;
        prop_assert_eq!(&clean.snapshot, &replayed.snapshot);
        prop_assert_eq!(clean.features, replayed.features);

        let aliased = accepted.iter().any(|entry| entry.state.as_ref().is_some_and(|state| !state.aliases.is_empty()));
        let urns: Vec<String> = replayed.snapshot.resources.iter().map(|resource| resource.urn.to_string()).collect();
        let expected = surviving_urns(&vector.base, &accepted);
        if aliased {
            prop_assert_eq!(urns.len(), expected.len());
        } else {
            prop_assert_eq!(urns, expected);
        }
    }
}
