//! Adding, changing and removing members of block mappings and sequences, line by line.

use super::{Editor, Slot, Stuck, Target, outcome};
use crate::Value;
use crate::yaml::locate::{column, line_start, next_line};
use crate::yaml::node::{Entry, Item, Node};
use crate::yaml::render;

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
        let own: Vec<&Entry> = entries.iter().filter(|entry| !entry.merge).collect();
        let target_of =
            |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, target)| target);
        let first = entries.first().ok_or(Stuck(node.location))?;
        let first_key = first.key_range.ok_or(Stuck(node.location))?;

        let merged = node.value.as_object().into_iter().flat_map(|all| all.keys());
        let hidden = |name: &str| !own.iter().any(|entry| entry.key == name);
        if merged.into_iter().any(|name| hidden(name) && target_of(name).is_none()) {
            return Err(Stuck(node.location));
        }
        if slot.is_some() && members.is_empty() {
            return Err(Stuck(node.location));
        }

        let mut limit = slot.map_or(0, |slot| next_line(self.text, slot.after));
        for entry in entries {
            let range = entry.value.range;
            match (target_of(&entry.key), entry.merge) {
                (_, true) => {}
                (Some(Target::Keep), _) if self.way != super::Way::Untied => {}
                (Some(target), _) => {
                    let key = entry.key_range.ok_or(Stuck(entry.key_location))?;
                    let colon = entry.colon.ok_or(Stuck(entry.key_location))?;
                    let slot =
                        Slot { after: colon + 1, column: column(self.text, key.start), is_item: false };
                    self.node(slot, &entry.value, target, depth + 1)?;
                }
                (None, _) => {
                    let key = entry.key_range.ok_or(Stuck(entry.key_location))?;
                    let end = range.ok_or(Stuck(entry.key_location))?.end;
                    let limit = if slot.is_some() { limit } else { key.start };
                    self.remove_lines(key.start, end, limit).ok_or(Stuck(entry.key_location))?;
                }
            }
            limit = range.map_or(limit, |range| next_line(self.text, range.end));
        }

        let is_there = |name: &str, target: &Target<'_>| {
            own.iter().any(|entry| entry.key == name)
                || node.value.as_object().and_then(|all| all.get(name)).is_some_and(|value| match target {
                    Target::Keep => true,
                    Target::Value(wanted) => **wanted == *value,
                    Target::Mapping(_) => false,
                })
        };
        let column = column(self.text, first_key.start);
        let added: Vec<String> = members
            .iter()
            .filter(|(name, target)| !is_there(name, target))
            .flat_map(|(name, target)| render::entry(name, &outcome(&Value::Null, target), column))
            .collect();
        if !added.is_empty() {
            let last = entries.last().unwrap_or(first);
            let end = last.value.range.ok_or(Stuck(last.key_location))?.end;
            self.insert_lines(next_line(self.text, end), added);
        }
        Ok(())
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
        let mut at = ends.first + old.min(new);
        if new > old {
            let lines = values[at..at + new - old]
                .iter()
                .flat_map(|value| Ok::<_, Stuck>(render::item(value, column(self.text, dash(&items[0])?))))
                .flatten()
                .collect();
            let line = if at == 0 {
                let dash = dash(&items[0])?;
                let start = line_start(self.text, dash);
                if !self.text[start..dash].trim().is_empty() {
                    return Err(Stuck(node.location));
                }
                start
            } else {
                next_line(self.text, items[at - 1].value.range.ok_or(Stuck(node.location))?.end)
            };
            self.insert_lines(line, lines);
        }
        while at < ends.first + old {
            let item = &items[at];
            let end = item.value.range.ok_or(Stuck(item.value.location))?.end;
            let limit = match at {
                0 => dash(item)?,
                _ => next_line(self.text, items[at - 1].value.range.ok_or(Stuck(item.value.location))?.end),
            };
            self.remove_lines(dash(item)?, end, limit).ok_or(Stuck(item.value.location))?;
            at += 1;
        }
        Ok(())
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
        self.changes.push((from..next_line(self.text, end), String::new()));
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
