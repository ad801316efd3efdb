//! Records with a fixed member order that keep the members they do not know.

use crate::Json;
use serde::ser::SerializeMap;

/// Members of a record that this version does not know, in the order they were read (S9).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra(pub Vec<(String, Json)>);

impl Extra {
    /// Writes the unknown members after the known ones.
    pub fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}

/// A type that can be a record's member: it knows when it is left out.
pub trait Wire {
    /// Whether a member with this value is left out when it may be.
    fn is_absent(&self) -> bool;
}

impl Wire for bool {
    fn is_absent(&self) -> bool {
        !self
    }
}
impl Wire for i64 {
    fn is_absent(&self) -> bool {
        *self == 0
    }
}
impl Wire for String {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
impl Wire for crate::Urn {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
impl<T> Wire for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
impl<T> Wire for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
impl<K, V> Wire for std::collections::BTreeMap<K, V> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// Declares a record: a struct whose JSON members stand in the order of its fields.
///
/// `always` members are written whatever they hold, `optional` ones when they are not empty. A `null` member reads as
/// the field's default. Members that are not listed land in `extra` and are written back after the known ones.
#[macro_export]
macro_rules! record {
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
            /// Members that this version does not know.
            pub extra: $crate::Extra,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $( if $crate::record!(@written $presence self.$field) {
                    map.serialize_entry($key, &self.$field)?;
                } )*
                self.extra.serialize_into(&mut map)?;
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut record = $name::default();
                        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                            match key.as_ref() {
                                $( $key => {
                                    record.$field = map.next_value::<Option<$type>>()?.unwrap_or_default();
                                } )*
                                _ => record.extra.0.push((key.into_owned(), map.next_value()?)),
                            }
                        }
                        Ok(record)
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
    (@written always $value:expr) => { true };
    (@written optional $value:expr) => { !$crate::Wire::is_absent(&$value) };
}
