//! Objects that know how they stood in their file.

use drystone_model::Json;
use std::collections::BTreeMap;

/// How an object stood in its file: the order of its members, and those that this version does not know (S9, S10).
///
/// It is no part of what an object says: two objects are equal when their members are, in whatever order.
#[derive(Debug, Clone, Default)]
pub struct Form(Vec<(String, Slot)>);

/// A member's place.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// One that is known, and has a field of its own.
    Known,
    /// One that is known and stood there as `null`.
    Null,
    /// One that is not known, with its value.
    Unknown(Json),
}

impl Form {
    /// The members that this version does not know.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().filter_map(|(name, slot)| match slot {
            Slot::Unknown(value) => Some((name.as_str(), value)),
            _ => None,
        })
    }

    /// Sets a member that this version does not know.
    pub fn set_unknown(&mut self, name: &str, value: Json) {
        self.note(name, Slot::Unknown(value));
    }

    pub(super) fn note(&mut self, name: &str, slot: Slot) {
        match self.0.iter_mut().find(|(member, _)| member == name) {
            Some((_, place)) => *place = slot,
            None => self.0.push((name.to_owned(), slot)),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(member, _)| member == name)
    }

    /// Whether the object is a new one, which has never stood in a file.
    pub(super) fn is_new(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Slot)> {
        self.0.iter().map(|(name, slot)| (name.as_str(), slot))
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.unknown().collect::<BTreeMap<_, _>>() == other.unknown().collect::<BTreeMap<_, _>>()
    }
}

/// Declares an object: a struct whose members are written in the order in which they were read, new ones after them in
/// the order of the fields.
///
/// `always` members are written whatever they hold, `optional` ones when they are there; those that a file lacks stay
/// away until they hold something. A `null` reads as the field's default and is written back as one as long as that
/// stays.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $presence:ident $key:literal => $field:ident : $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
            /// How it stood in its file.
            pub form: $crate::cdkd::object::Form,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::cdkd::object::Slot;
                use drystone_model::Wire as _;
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                for (name, slot) in self.form.members() {
                    match (name, slot) {
                        (_, Slot::Unknown(value)) => map.serialize_entry(name, value)?,
                        $( ($key, Slot::Null) if self.$field.is_absent() => {
                            map.serialize_entry($key, &())?;
                        }
                        ($key, _) => {
                            if $crate::cdkd::object::object!(@stays $presence self.$field) {
                                map.serialize_entry($key, &self.$field)?;
                            }
                        } )*
                        _ => {}
                    }
                }
                $( if !self.form.has($key) && $crate::cdkd::object::object!(@comes $presence self.$field, self.form) {
                    map.serialize_entry($key, &self.$field)?;
                } )*
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        use $crate::cdkd::object::Slot;
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                            let slot = match key.as_ref() {
                                $( $key => {
                                    let value = map.next_value::<Option<$type>>()?;
                                    let slot = if value.is_some() { Slot::Known } else { Slot::Null };
                                    object.$field = value.unwrap_or_default();
                                    slot
                                } )*
                                _ => Slot::Unknown(map.next_value()?),
                            };
                            object.form.note(&key, slot);
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Visitor)
            }
        }
    };
    (@stays always $value:expr) => { true };
    (@stays optional $value:expr) => { !$value.is_absent() };
    (@comes always $value:expr, $form:expr) => { $form.is_new() || !$value.is_absent() };
    (@comes optional $value:expr, $form:expr) => { !$value.is_absent() };
}

pub(super) use object;
