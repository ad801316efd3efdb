//! The fewest edits that make one list of another, as a person would make them.

use drystone_model::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Longer lists are compared place by place.
const MOST: usize = 2000;

/// An edit, by places in the old list and in the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// The element is another one, or differs inside.
    Change { old: usize, new: usize },
    /// The element appears.
    Insert(usize),
    /// The element goes.
    Delete(usize),
    /// The same element stands elsewhere among the others.
    Move { old: usize, new: usize },
}

/// The edits that make `new` of `old`, in the order of their places.
pub(super) fn edits(old: &[Value], new: &[Value]) -> Vec<Edit> {
    if old.len() + new.len() > MOST {
        return by_place(old, new);
    }
    let mut names = Names::default();
    let before: Vec<usize> = old.iter().map(|value| names.of(value)).collect();
    let after: Vec<usize> = new.iter().map(|value| names.of(value)).collect();
    let operations = capture_diff_slices(Algorithm::Myers, &before, &after);
    let blocks: Vec<Block> = operations.iter().filter_map(Block::of).collect();
    let moves = moves(&blocks, &before, &after);
    let mut edits = Vec::new();
    for block in blocks {
        block.edits(old, new, &moves, &mut edits);
    }
    edits
}

fn by_place(old: &[Value], new: &[Value]) -> Vec<Edit> {
    let both = old.len().min(new.len());
    let changed =
        (0..both).filter(|&at| !old[at].same_as(&new[at])).map(|at| Edit::Change { old: at, new: at });
    let gone = (both..old.len()).map(Edit::Delete);
    changed.chain(gone).chain((both..new.len()).map(Edit::Insert)).collect()
}

/// A stretch in which the lists differ.
struct Block {
    old: Range<usize>,
    new: Range<usize>,
}

impl Block {
    fn of(operation: &DiffOp) -> Option<Self> {
        match operation {
            DiffOp::Equal { .. } => None,
            _ => Some(Self { old: operation.old_range(), new: operation.new_range() }),
        }
    }

    /// Elements that are alike are one that changed; so are those that are left, place by place, as far as they go.
    fn edits(self, old: &[Value], new: &[Value], moves: &Moves, edits: &mut Vec<Edit>) {
        let mut gone: Vec<usize> = self.old.filter(|at| !moves.from.contains(at)).collect();
        let come: Vec<usize> = self.new.clone().filter(|at| !moves.to.contains_key(at)).collect();
        let mut pairs = HashMap::new();
        for &at in &come {
            if let Some(place) = gone.iter().position(|&other| alike(&old[other], &new[at])) {
                pairs.insert(at, gone.remove(place));
            }
        }
        let left: Vec<usize> = come.into_iter().filter(|at| !pairs.contains_key(at)).collect();
        let rest = left.len().min(gone.len());
        pairs.extend(left.into_iter().zip(gone.drain(..rest)));
        for at in self.new {
            edits.push(match (moves.to.get(&at), pairs.get(&at)) {
                (Some(&from), _) => Edit::Move { old: from, new: at },
                (None, Some(&from)) => Edit::Change { old: from, new: at },
                (None, None) => Edit::Insert(at),
            });
        }
        edits.extend(gone.into_iter().map(Edit::Delete));
    }
}

/// Elements that go in one place and appear in another.
struct Moves {
    from: BTreeSet<usize>,
    to: HashMap<usize, usize>,
}

fn moves(blocks: &[Block], before: &[usize], after: &[usize]) -> Moves {
    let mut gone: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in blocks.iter().flat_map(|block| block.old.clone()).rev() {
        gone.entry(before[at]).or_default().push(at);
    }
    let mut moves = Moves { from: BTreeSet::new(), to: HashMap::new() };
    for at in blocks.iter().flat_map(|block| block.new.clone()) {
        if let Some(from) = gone.get_mut(&after[at]).and_then(Vec::pop) {
            moves.from.insert(from);
            moves.to.insert(at, from);
        }
    }
    moves
}

/// Whether two elements are likely the same thing: named values of which at least half stay.
fn alike(old: &Value, new: &Value) -> bool {
    let (Value::Object(before), Value::Object(after)) = (old, new) else { return false };
    let same = before.iter().filter(|(key, value)| after.get(*key).is_some_and(|other| other.same_as(value)));
    let most = before.len().max(after.len());
    most > 0 && same.count() * 2 >= most
}

/// Numbers for values, the same for equal ones.
#[derive(Default)]
struct Names<'v> {
    /// Values that may be equal, with their numbers.
    alike: HashMap<String, Vec<(&'v Value, usize)>>,
    given: usize,
}

impl<'v> Names<'v> {
    fn of(&mut self, value: &'v Value) -> usize {
        let known = self.alike.entry(outline(value)).or_default();
        if let Some((_, name)) = known.iter().find(|(other, _)| other.same_as(value)) {
            return *name;
        }
        self.given += 1;
        known.push((value, self.given));
        self.given
    }
}

/// A text that equal values share, and few others.
fn outline(value: &Value) -> String {
    match value {
        Value::String(text) => format!("text {text}"),
        // Equal numbers may be written in several ways.
        Value::Number(number) => format!("number {:?}", number.to_string().parse::<f64>()),
        Value::Array(elements) => {
            format!("list {} {}", elements.len(), elements.first().map(outline).unwrap_or_default())
        }
        Value::Object(members) => {
            let outlines = members.iter().map(|(key, member)| match member {
                Value::Object(_) | Value::Array(_) => key.clone(),
                member => format!("{key} {}", outline(member)),
            });
            format!("named {}", outlines.collect::<Vec<_>>().join(" "))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &[Value], new: &[Value]) -> Vec<String> {
        let tell = |edit: Edit| match edit {
            Edit::Change { old, new } => format!("{old}~{new}"),
            Edit::Insert(new) => format!("+{new}"),
            Edit::Delete(old) => format!("-{old}"),
            Edit::Move { old, new } => format!("{old}>{new}"),
        };
        edits(old, new).into_iter().map(tell).collect()
    }

    fn letters(text: &str) -> Vec<Value> {
        text.chars().map(|letter| Value::from(letter.to_string())).collect()
    }

    #[test]
    fn what_stays_is_no_edit_wherever_it_stands() {
        for (old, new, expected) in [
            ("abc", "abc", &[][..]),
            ("abc", "xabc", &["+0"]),
            ("abc", "axbc", &["+1"]),
            ("abcd", "ad", &["-1", "-2"]),
            ("abc", "axc", &["1~1"]),
            ("abc", "axyc", &["1~1", "+2"]),
            ("abc", "cab", &["2>0"]),
            ("abcd", "bcda", &["0>3"]),
            ("", "ab", &["+0", "+1"]),
            ("ab", "", &["-0", "-1"]),
            ("aab", "aba", &["0>2"]),
        ] {
            let found = told(&letters(old), &letters(new));
            // Which of two equal ones moved makes no difference.
            let alike = ["aab"].contains(&old) && found.len() == 1 && found[0].contains('>');
            assert!(alike || found == expected, "{old} {new}: {found:?}");
        }
    }

    #[test]
    fn elements_that_are_alike_are_one_that_changed() {
        let rule = |name: &str, port: i64| {
            Value::object([
                ("name", Value::from(name)),
                ("port", Value::from(port)),
                ("tcp", Value::from(true)),
            ])
        };
        let old = [rule("http", 80), rule("ssh", 22)];
        let new = [rule("dns", 53), rule("http", 8080), rule("ssh", 22)];
        assert_eq!(told(&old, &new), ["+0", "0~1"]);
    }

    #[test]
    fn long_lists_are_compared_place_by_place() {
        let many =
            |change: i64| (0..1500).map(|n| Value::from(n + i64::from(n == 7) * change)).collect::<Vec<_>>();
        assert_eq!(told(&many(0), &many(1)), ["7~7"]);
    }
}
