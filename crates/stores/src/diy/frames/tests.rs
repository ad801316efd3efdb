use super::*;
use crate::conformance::make::{begin, success};
use std::time::{Duration, Instant};

const ENTRIES: usize = 6;

/// A journal of six entries with a publication among them, and where each frame starts.
fn journal() -> (Vec<u8>, Vec<usize>) {
    let header = Header { stack: "organization/shop/prod".to_owned(), base: 7, ..Header::default() };
    let mut file = start(header).unwrap();
    let mut starts = vec![MAGIC.len()];
    for operation in 1..=3 {
        let name = format!("r{operation}");
        for entry in [begin(operation * 2 - 1, operation, &name), success(operation * 2, operation, &name)] {
            starts.push(file.len());
            write_entry(&entry, &mut file).unwrap();
        }
        if operation == 2 {
            starts.push(file.len());
            let publication = Publication { hash: "abc".to_owned(), ..Publication::default() };
            Frame::Publication(publication).write(&mut file).unwrap();
        }
    }
    (file, starts)
}

fn sequences(journal: &ReadJournal) -> Vec<i64> {
    journal.entries.iter().map(|entry| entry.sequence).collect()
}

#[test]
fn s02_a_journal_reads_back() {
    let (file, _) = journal();
    let read = read(&file);
    assert_eq!(read.header.as_ref().map(|header| header.base), Some(7));
    assert_eq!(sequences(&read), [1, 2, 3, 4, 5, 6]);
    assert_eq!((read.publications.len(), read.sound_length, read.damaged), (1, file.len(), false));
}

#[test]
fn s05_a_journal_torn_at_any_byte_keeps_every_whole_frame() {
    let (file, starts) = journal();
    for length in 0..file.len() {
        let read = read(&file[..length]);
        let ends = starts[1..].iter().copied().chain([file.len()]);
        let whole = ends.filter(|end| *end <= length).count();
        let frames = usize::from(read.header.is_some()) + read.entries.len() + read.publications.len();
        assert_eq!(frames, whole, "torn at {length}");
        assert_eq!(read.damaged, read.header.is_none(), "torn at {length}");
        assert!(read.sound_length <= length);
    }
}

#[test]
fn s05_a_flipped_bit_costs_one_frame_and_is_reported() {
    let (file, starts) = journal();
    let last = *starts.last().unwrap();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            let read = read(&damaged);
            let hit = starts.iter().rposition(|start| *start <= at);
            let lost_header = matches!(hit, Some(0));
            let lost_publication = hit == Some(5);
            let kept = if hit.is_none() || lost_header || lost_publication { ENTRIES } else { ENTRIES - 1 };
            assert_eq!(read.entries.len(), kept, "byte {at} bit {bit}");
            assert_eq!(read.header.is_some(), !lost_header, "byte {at} bit {bit}");
            assert_eq!(read.publications.len(), usize::from(!lost_publication), "byte {at} bit {bit}");
            // A damaged last frame cannot be told from a torn one.
            assert_eq!(read.damaged, at < last, "byte {at} bit {bit}");
        }
    }
}

#[test]
fn s05_a_huge_length_is_damage() {
    let (file, starts) = journal();
    for length in [u32::MAX, 1 << 30, (1 << 30) + 1, 1 << 20] {
        let mut damaged = file.clone();
        damaged[starts[2]..starts[2] + 4].copy_from_slice(&length.to_le_bytes());
        let read = read(&damaged);
        assert_eq!((sequences(&read), read.damaged), (vec![1, 3, 4, 5, 6], true));
    }
}

#[test]
fn s12_no_entry_counts_after_a_closing_frame() {
    let (mut file, _) = journal();
    let before = read(&file).publications.len();
    Frame::Closed.write(&mut file).unwrap();
    write_entry(&begin(7, 4, "late"), &mut file).unwrap();
    // What the next holder is about to make current stands behind the closing.
    let publication = Publication { hash: "h".to_owned(), ..Publication::default() };
    Frame::Publication(publication).write(&mut file).unwrap();
    let read = read(&file);
    assert_eq!((read.entries.len(), read.publications.len(), read.damaged), (ENTRIES, before + 1, false));
}

#[test]
fn a_long_damaged_stretch_is_searched_in_a_moment() {
    let (file, starts) = journal();
    let (before, after) = file.split_at(starts[3]);
    // Lengths that fit, kinds that exist, and no frame among them.
    let noise = (0..4_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x07);
    let long: Vec<u8> = before.iter().copied().chain(noise).chain(after.iter().copied()).collect();
    let began = Instant::now();
    let read = read(&long);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((sequences(&read), read.damaged), (vec![1, 2, 3, 4, 5, 6], true));
}

#[test]
fn s08_a_journal_is_followed_in_whatever_parts_it_appears() {
    let (file, _) = journal();
    let (header, end) = head(&file).unwrap();
    assert_eq!(header.base, 7);
    for step in [1, 7, 64, file.len()] {
        let (mut read, mut found) = (end, Vec::new());
        for visible in (end..file.len()).step_by(step).chain([file.len()]) {
            let (entries, length) = read_on(&file[read..visible]);
            found.extend(entries.iter().map(|entry| entry.sequence));
            read += length;
        }
        assert_eq!((found, read), ((1..=ENTRIES as i64).collect(), file.len()), "in parts of {step}");
    }
}

#[test]
fn s12_nobody_follows_a_journal_beyond_its_closing() {
    let (mut file, _) = journal();
    let closing = file.len();
    Frame::Closed.write(&mut file).unwrap();
    write_entry(&begin(7, 4, "late"), &mut file).unwrap();
    let (_, end) = head(&file).unwrap();
    let (entries, length) = read_on(&file[end..]);
    assert_eq!((entries.len(), end + length), (ENTRIES, closing));
    assert_eq!(read_on(&file[closing..]).0.len(), 0);
}

#[test]
fn s05_a_segment_reads_back_and_damage_costs_one_frame() {
    let (file, starts) = journal();
    let whole = segment(&file);
    assert_eq!((whole.starts, whole.damaged, whole.header.is_some()), (true, false, true));
    assert_eq!((whole.entries.len(), whole.publications.len()), (ENTRIES, 1));
    let mut damaged = file[starts[1]..].to_vec();
    damaged[OVERHEAD] ^= 1;
    let rest = segment(&damaged);
    assert_eq!((rest.starts, rest.damaged, rest.entries.len()), (false, true, ENTRIES - 1));
}

#[test]
fn s05_a_decision_is_read_back_as_it_was_made() {
    let decision = Decision {
        path: ".pulumi/stacks/shop/prod.json".to_owned(),
        before: Some(Before { hashes: vec!["abc".to_owned()], ..Before::default() }),
        revision: Some(RevisionInfo { number: 7, ..RevisionInfo::default() }),
        relocation: Some(Moves { moves: vec![("a".to_owned(), "b".to_owned())], ..Moves::default() }),
        ..Decision::default()
    };
    let mut bytes = Vec::new();
    write_entry(&begin(1, 1, "r"), &mut bytes).unwrap();
    Frame::Decision(Box::new(decision.clone())).write(&mut bytes).unwrap();
    let read = segment(&bytes);
    assert_eq!((read.entries.len(), read.decision, read.damaged), (1, Some(decision), false));
}

#[test]
fn s12_a_tombstone_says_who_took_over() {
    let lease = LeaseInfo { user: "ana".to_owned(), epoch: 3, ..LeaseInfo::default() };
    let mut bytes = Vec::new();
    let taker = Taker { lease: lease.clone(), ..Taker::default() };
    Frame::Taken(Box::new(taker)).write(&mut bytes).unwrap();
    assert_eq!(segment(&bytes).taker.map(|taker| taker.lease), Some(lease));
}
