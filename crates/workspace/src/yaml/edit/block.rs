//! Adding, changing and removing members of block mappings and sequences, line by line.

use super::{Editor, Slot, Stuck, Target, Way, outcome};
use crate::Value;
use crate::yaml::locate::{column, line_start, next_line};
use crate::yaml::node::{Entry, Item, Node};

impl Editor<'_> {
    /// Gives a block mapping exactly these members. `slot` is where the mapping stands; the root has none.
    pub(super) fn mapping(
        &mut self,
        slot: Option<Slot>,
        node: &Node,
        entries: &[Entry],
        members: &[(String, Target<'_>)],
        depth: usize,
    ) -> Result<(), Stuck> {
        let first = entries.first().and_then(|entry| entry.key_range).ok_or(Stuck(node.location))?;
        let target_of =
            |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, target)| target);
        let all = node.value.members().unwrap_or_default();
        let is_own = |name: &str| entries.iter().any(|entry| !entry.merge && entry.key == name);
        let loses_merged = all.keys().any(|name| !is_own(name) && target_of(name).is_none());
        if loses_merged || (slot.is_some() && members.is_empty()) {
            return Err(Stuck(node.location));
        }

        let mut limit = slot.map(|slot| next_line(self.text, slot.after));
        for entry in entries {
            if !entry.merge {
                self.entry(entry, target_of(&entry.key), limit, depth)?;
            }
            if let (Some(limit), Some(range)) = (&mut limit, entry.value.range) {
                *limit = next_line(self.text, range.end);
            }
        }

        let is_merged = |name: &str, target: &Target<'_>| match (all.get(name), target) {
            (Some(_), Target::Keep) => true,
            (Some(value), Target::Value(wanted)) => **wanted == *value,
            _ => false,
        };
        let column = column(self.text, first.start);
        let added: Vec<String> = members
            .iter()
            .filter(|(name, target)| !is_own(name) && !is_merged(name, target))
            .flat_map(|(name, target)| self.layout().entry(name, &outcome(&Value::Null, target), column))
            .collect();
        if !added.is_empty() {
            let last = entries.last().and_then(|entry| entry.value.range).ok_or(Stuck(node.location))?;
            self.insert_lines(next_line(self.text, last.end), added);
        }
        Ok(())
    }

    /// Turns an entry into what its target says, or removes it. `limit` is the first line that a comment about it can
    /// be on; without one, the comments above it stay.
    fn entry(
        &mut self,
        entry: &Entry,
        target: Option<&Target<'_>>,
        limit: Option<usize>,
        depth: usize,
    ) -> Result<(), Stuck> {
        if matches!(target, Some(Target::Keep)) && self.way != Way::Untied {
            return Ok(());
        }
        let stuck = || Stuck(entry.key_location);
        let key = entry.key_range.ok_or_else(stuck)?;
        let Some(target) = target else {
            let end = entry.value.range.ok_or_else(stuck)?.end;
            return self.remove_lines(key.start, end, limit.unwrap_or(key.start)).ok_or_else(stuck);
        };
        let colon = entry.colon.ok_or_else(stuck)?;
        let slot = Slot { after: colon + 1, column: column(self.text, key.start), is_item: false };
        self.node(slot, &entry.value, target, depth + 1)
    }

    /// Gives a block sequence exactly these items. Items that are the same at both ends stay with their comments.
    pub(super) fn sequence(
        &mut self,
        node: &Node,
        items: &[Item],
        values: &[Value],
        depth: usize,
    ) -> Result<(), Stuck> {
        if values.is_empty() || items.is_empty() {
            return Err(Stuck(node.location));
        }
        let ends = SameEnds::of(items, values);
        let (old, new) = (items.len() - ends.total(), values.len() - ends.total());
        let dash = |item: &Item| item.dash.ok_or(Stuck(item.value.location));
        for index in ends.first..ends.first + old.min(new) {
            let dash = dash(&items[index])?;
            let slot = Slot { after: dash + 1, column: column(self.text, dash), is_item: true };
            let target = Target::Value(std::borrow::Cow::Borrowed(&values[index]));
            self.node(slot, &items[index].value, &target, depth + 1)?;
        }
        let at = ends.first + old.min(new);
        if new > old {
            self.insert_items(node, items, at, &values[at..at + new - old])?;
        }
        for index in at..ends.first + old {
            let item = &items[index];
            let end = item.value.range.ok_or(Stuck(item.value.location))?.end;
            let limit = match index {
                0 => dash(item)?,
                _ => self.line_after(&items[index - 1])?,
            };
            self.remove_lines(dash(item)?, end, limit).ok_or(Stuck(item.value.location))?;
        }
        Ok(())
    }

    /// Adds items in front of the one at `at`, or behind the last.
    fn insert_items(
        &mut self,
        node: &Node,
        items: &[Item],
        at: usize,
        values: &[Value],
    ) -> Result<(), Stuck> {
        let first = items.first().and_then(|item| item.dash).ok_or(Stuck(node.location))?;
        let line = match at {
            0 => line_start(self.text, first),
            _ => self.line_after(&items[at - 1])?,
        };
        if at == 0 && !self.text[line..first].trim().is_empty() {
            return Err(Stuck(node.location));
        }
        let column = column(self.text, first);
        let lines = values.iter().flat_map(|value| self.layout().item(value, column)).collect();
        self.insert_lines(line, lines);
        Ok(())
    }

    /// The line behind an item.
    fn line_after(&self, item: &Item) -> Result<usize, Stuck> {
        let range = item.value.range.ok_or(Stuck(item.value.location))?;
        Ok(next_line(self.text, range.end))
    }

    /// Removes the lines of a member, with the comment lines right above it that are not above `limit`.
    fn remove_lines(&mut self, start: usize, end: usize, limit: usize) -> Option<()> {
        let mut from = line_start(self.text, start);
        let indent = &self.text[from..start];
        if !indent.bytes().all(|byte| byte == b' ') {
            return None;
        }
        while from > limit {
            let above = line_start(self.text, from - 1);
            let is_comment =
                self.text[above..from].strip_prefix(indent).is_some_and(|line| line.starts_with('#'));
            if above < limit || !is_comment {
                break;
            }
            from = above;
        }
        let mut to = next_line(self.text, end);
        while self.way != Way::Smallest && to < self.text.len() {
            let line = next_line(self.text, to);
            if !self.text[to..line].trim().is_empty() {
                break;
            }
            to = line;
        }
        self.changes.push((from..to, String::new()));
        Some(())
    }

    fn insert_lines(&mut self, at: usize, lines: Vec<String>) {
        let text = self.joined(lines.into_iter());
        self.changes.push((at..at, text));
    }
}

/// How many items at the start and at the end of a list stay the same.
pub(super) struct SameEnds {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl SameEnds {
    pub(super) fn of(items: &[Item], values: &[Value]) -> Self {
        let same = |(item, value): &(&Item, &Value)| item.value.value == **value;
        let first = items.iter().zip(values).take_while(same).count();
        let shorter = items.len().min(values.len());
        let last = items.iter().rev().zip(values.iter().rev()).take(shorter - first).take_while(same).count();
        Self { first, last }
    }

    pub(super) fn total(&self) -> usize {
        self.first + self.last
    }
}
