//! Named values in the order of a JavaScript object.

use drystone_model::Wire;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::{fmt, marker::PhantomData};

/// Named values. They stand in the order in which they were set, except that names which are array indices come first
/// in the order of their numbers, as JavaScript has it.
#[derive(Debug, Clone)]
pub struct Members<T>(Vec<(String, T)>);

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Members<T> {
    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter().find_map(|(member, value)| (member == name).then_some(value))
    }

    /// The value of a name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.0.iter_mut().find_map(|(member, value)| (member == name).then_some(value))
    }

    /// Whether there is a value of a name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a value: where the name stands already, or after the others. Gives the value that stood there.
    pub fn insert(&mut self, name: impl Into<String>, value: T) -> Option<T> {
        let name = name.into();
        if let Some(there) = self.get_mut(&name) {
            return Some(std::mem::replace(there, value));
        }
        let at = match array_index(&name) {
            Some(index) => {
                self.0.partition_point(|(other, _)| array_index(other).is_some_and(|it| it < index))
            }
            None => self.0.len(),
        };
        self.0.insert(at, (name, value));
        None
    }

    /// Takes a value out.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let at = self.0.iter().position(|(member, _)| member == name)?;
        Some(self.0.remove(at).1)
    }

    /// Keeps the values that a question is answered with yes for.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &T) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// The values in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The number that makes a name an array index: one that is written as JavaScript writes it, below 2^32 - 1.
fn array_index(name: &str) -> Option<u32> {
    let is_plain = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    is_plain.then(|| name.parse().ok()).flatten().filter(|index| *index < u32::MAX)
}

/// Equal when the values are, in whatever order.
impl<T: PartialEq> PartialEq for Members<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().collect::<BTreeMap<_, _>>() == other.iter().collect::<BTreeMap<_, _>>()
    }
}

/// Of equal names the last value counts, where the first stood.
impl<T> FromIterator<(String, T)> for Members<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(iter: I) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut members: Vec<(String, T)> = Vec::new();
        for (name, value) in iter {
            match places.get(&name) {
                Some(&at) => members[at].1 = value,
                None => {
                    places.insert(name.clone(), members.len());
                    members.push((name, value));
                }
            }
        }
        // The sort is stable: names that are no indices stay in their order.
        members.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
        Self(members)
    }
}

impl<T> IntoIterator for Members<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T> Wire for Members<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Members<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members.into_iter().collect())
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(members: &Members<i64>) -> Vec<(&str, i64)> {
        members.iter().map(|(name, value)| (name, *value)).collect()
    }

    #[test]
    fn s10_members_stand_as_javascript_has_them() {
        let source = r#"{"b":1,"10":2,"a":3,"2":4,"b":5,"02":6,"4294967295":7}"#;
        let mut members: Members<i64> = serde_json::from_str(source).unwrap();
        let expected = [("2", 4), ("10", 2), ("b", 5), ("a", 3), ("02", 6), ("4294967295", 7)];
        assert_eq!(order(&members), expected);
        assert_eq!(members.insert("a", 8), Some(3));
        assert_eq!(members.insert("c", 9), None);
        assert_eq!(members.insert("3", 0), None);
        assert_eq!(members.remove("b"), Some(5));
        let expected = [("2", 4), ("3", 0), ("10", 2), ("a", 8), ("02", 6), ("4294967295", 7), ("c", 9)];
        assert_eq!(order(&members), expected);
    }
}
