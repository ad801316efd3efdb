//! Changing collections between brackets.

use super::block::SameEnds;
use super::{Editor, Stuck};
use crate::Value;
use crate::yaml::node::{Entry, Item, Kind, Node};
use crate::yaml::render;
use crate::yaml::scalar::{self, Context, Written};

impl Editor<'_> {
    /// Gives a flow collection a new value. Where its members stay the same ones, only their values are touched.
    pub(super) fn flow(&mut self, node: &Node, value: &Value) -> Result<(), Stuck> {
        let is_empty = match &node.kind {
            Kind::Mapping { entries, .. } => entries.is_empty(),
            Kind::Sequence { items, .. } => items.is_empty(),
            _ => true,
        };
        if is_empty || !same_kind(node, value) {
            return Err(Stuck(node.location));
        }
        let mark = self.changes.len();
        if self.flow_members(node, value).is_err() {
            self.changes.truncate(mark);
            let range = node.range.ok_or(Stuck(node.location))?;
            self.changes.push((range.start..range.end, self.flow_text(node, value)));
        }
        Ok(())
    }

    /// Changes the values of the members in place, when the members themselves stay.
    fn flow_members(&mut self, node: &Node, value: &Value) -> Result<(), Stuck> {
        let pairs: Vec<(&Node, &Value)> = match (&node.kind, value) {
            (Kind::Sequence { items, .. }, Value::Array(values)) if items.len() == values.len() => {
                items.iter().map(|item| &item.value).zip(values).collect()
            }
            (Kind::Mapping { entries, .. }, Value::Object(members))
                if entries.len() == members.len() && entries.iter().all(|entry| !entry.merge) =>
            {
                let pair = |entry: &'_ Entry| members.get(&entry.key).ok_or(Stuck(entry.key_location));
                let values: Vec<&Value> = entries.iter().map(pair).collect::<Result<_, _>>()?;
                entries.iter().map(|entry| &entry.value).zip(values).collect()
            }
            _ => return Err(Stuck(node.location)),
        };
        for (child, value) in pairs {
            if child.value == *value {
                continue;
            }
            let range = child.range.filter(|range| range.start < range.end).ok_or(Stuck(child.location))?;
            if child.decorated {
                return Err(Stuck(child.location));
            }
            if matches!(child.kind, Kind::Mapping { .. } | Kind::Sequence { .. }) && same_kind(child, value) {
                self.flow_members(child, value)?;
            } else {
                self.changes.push((range.start..range.end, self.flow_text(child, value)));
            }
        }
        Ok(())
    }

    /// A value on one line, with the text of every part that stays as it was.
    fn flow_text(&self, node: &Node, value: &Value) -> String {
        let source = |node: &Node| node.range.map(|range| self.text[range.start..range.end].to_owned());
        match (&node.kind, value) {
            _ if node.value == *value
                && !node.decorated
                && !source(node).is_none_or(|text| text.is_empty()) =>
            {
                source(node).unwrap_or_default()
            }
            (Kind::Scalar(style), Value::String(text)) => match scalar::write(text, *style, Context::Flow) {
                Written::Inline(written) => written,
                Written::Lines { .. } => scalar::inline(text, Context::Flow),
            },
            (Kind::Sequence { items, .. }, Value::Array(values)) => self.flow_items(items, values),
            (Kind::Mapping { entries, .. }, Value::Object(members)) => {
                let kept = entries.iter().filter_map(|entry| {
                    let value = self.flow_text(&entry.value, members.get(&entry.key)?);
                    Some(format!("{}: {value}", self.flow_key(entry)))
                });
                let is_new = |name: &str| entries.iter().all(|entry| entry.key != name);
                let added = render::members(value).unwrap_or_default().into_iter();
                let added = added
                    .filter(|(name, _)| is_new(name))
                    .map(|(name, value)| render::flow_entry(name, &render::flow(&value)));
                render::bracketed('{', kept.chain(added), '}')
            }
            _ => render::flow(value),
        }
    }

    /// A key as it is written, or as it would be.
    fn flow_key(&self, entry: &Entry) -> String {
        match entry.key_range {
            Some(range) if !self.text[range.start..].starts_with('?') => {
                self.text[range.start..range.end].to_owned()
            }
            _ => scalar::inline(&entry.key, Context::Flow),
        }
    }

    fn flow_items(&self, items: &[Item], values: &[Value]) -> String {
        let ends = SameEnds::of(items, values);
        let parts = values.iter().enumerate().map(|(index, value)| {
            let from_end = values.len() - index;
            let item = match index {
                _ if from_end <= ends.last => items.get(items.len() - from_end),
                _ if index < items.len() - ends.last => items.get(index),
                _ => None,
            };
            item.map_or_else(|| render::flow(value), |item| self.flow_text(&item.value, value))
        });
        render::bracketed('[', parts, ']')
    }
}

fn same_kind(node: &Node, value: &Value) -> bool {
    matches!(
        (&node.kind, value),
        (Kind::Sequence { .. }, Value::Array(_)) | (Kind::Mapping { .. }, Value::Object(_))
    )
}
