//! Words that stand for something, with room for those that a newer tool may use.

/// Declares an enum whose values are words in a document. A word that is not known is kept (S9).
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$value_meta:meta])* $value:ident => $word:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$value_meta])* $value, )*
            /// A word that this version does not know.
            Other(String),
        }

        impl $name {
            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$value => $word, )*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$value, )*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        /// No word at all.
        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl drystone_model::Wire for $name {
            fn is_absent(&self) -> bool {
                self.as_str().is_empty()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                std::borrow::Cow::<'de, str>::deserialize(deserializer).map(|word| Self::from(word.as_ref()))
            }
        }
    };
}

pub(super) use words;
