//! Journal entries in wire form v1.

use crate::Reason;
use drystone_model::{Extension, Operation, Resource, SecretsProvider, Snapshot, Snippet, record};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, cell::Cell, fmt};

record! {
    /// One entry of a journal.
    ///
    /// Members named `…_old` hold a position in the base, members named `…_new` the operation that made the resource
    /// in this update.
    pub struct Entry {
        /// The version of the entry format, 1.
        always "version" => version: i64,
        /// What the entry records.
        always "kind" => kind: Kind,
        /// The entry's place in the journal, counted from 1.
        always "sequenceID" => sequence: i64,
        /// The operation that it belongs to; 0 for the whole update.
        always "operationID" => operation_id: i64,
        /// A resource of the base that this entry removes, or gives the state of.
        always "removeOld" => remove_old: Option<i64>,
        /// A new resource that this entry removes, or gives the state of.
        always "removeNew" => remove_new: Option<i64>,
        /// A resource of the base that was deleted and waits for its replacement.
        optional "pendingReplacementOld" => pending_replacement_old: Option<i64>,
        /// A new resource that was deleted and waits for its replacement.
        optional "pendingReplacementNew" => pending_replacement_new: Option<i64>,
        /// A resource of the base that was replaced and waits to be deleted.
        optional "deleteOld" => delete_old: Option<i64>,
        /// A new resource that was replaced and waits to be deleted.
        optional "deleteNew" => delete_new: Option<i64>,
        /// The resource as it is now.
        optional "state" => state: Option<Resource>,
        /// What begins.
        optional "operation" => operation: Option<Operation>,
        /// Whether the operation is a refresh.
        optional "isRefresh" => is_refresh: bool,
        /// What seals the secrets from now on.
        optional "secretsProvider" => secrets_provider: Option<SecretsProvider>,
        /// All snippets of the stack.
        optional "snippets" => snippets: Vec<Snippet>,
        /// What takes the base's place.
        optional "newSnapshot" => new_snapshot: Option<Snapshot>,
        /// What resources call the extension.
        optional "extensionRef" => extension_ref: Option<String>,
        /// An extension of a package.
        optional "extension" => extension: Option<Extension>,
        /// Whether a byte string is somewhere inside, sealed or not.
        optional "requiresByteString" => requires_byte_string: bool,
        /// States of the base that were kept, in this order.
        optional "kept" => kept: Vec<Kept>,
    }
}

record! {
    /// States of the base that are as they were, by operations with consecutive numbers.
    pub struct Kept {
        /// The operation that kept the first of them.
        always "operationID" => operation_id: i64,
        /// Their positions in the base, in the order in which they were kept.
        always "base" => base: Vec<i64>,
    }
}

impl Kept {
    /// The operations, each with the position of the state that it kept.
    pub fn each(&self) -> impl Iterator<Item = (i64, i64)> {
        (self.operation_id..).zip(self.base.iter().copied())
    }
}

/// What an entry records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// Nothing is said; no journal accepts it.
    #[default]
    Unstated,
    /// An operation begins.
    Begin,
    /// An operation ended well.
    Success,
    /// An operation ended without effect.
    Failure,
    /// A refresh ended well; the resource keeps its place.
    RefreshSuccess,
    /// A resource registered its outputs.
    Outputs,
    /// Another snapshot takes the base's place.
    Write,
    /// Another secrets manager seals the secrets.
    SecretsManager,
    /// The snapshot so far takes the base's place.
    RebuiltBaseState,
    /// A package was extended.
    ExtensionParameterize,
    /// The stack has other snippets.
    Snippets,
    /// States of the base are as they were: they move before what is left of it. No kind of Pulumi's: it says in a few
    /// bytes what that format says with a begin, an end and the whole state for each.
    Kept,
    /// Something that this version does not know.
    Other(i64),
}

/// The number of [`Kind::Kept`], out of the way of Pulumi's.
const KEPT: i64 = 1000;

impl Kind {
    /// The kinds that this version knows, by their number.
    pub const KNOWN: [Self; 10] = [
        Self::Begin,
        Self::Success,
        Self::Failure,
        Self::RefreshSuccess,
        Self::Outputs,
        Self::Write,
        Self::SecretsManager,
        Self::RebuiltBaseState,
        Self::ExtensionParameterize,
        Self::Snippets,
    ];

    /// Whether it says that a step was taken.
    #[must_use]
    pub fn ends_a_step(self) -> bool {
        matches!(self, Self::Success | Self::RefreshSuccess)
    }

    /// The kind of that number.
    #[must_use]
    pub fn from_number(number: i64) -> Self {
        if number == KEPT {
            return Self::Kept;
        }
        let known = usize::try_from(number).ok().and_then(|index| Self::KNOWN.get(index));
        known.copied().unwrap_or(Self::Other(number))
    }

    /// The number that the wire uses; `None` when there is none.
    #[must_use]
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Unstated => None,
            Self::Kept => Some(KEPT),
            Self::Other(number) => Some(number),
            _ => Self::KNOWN.iter().position(|&kind| kind == self).and_then(|index| index.try_into().ok()),
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::from_number)
    }
}

/// Bytes that are not an entry.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", match .sequence {
    Some(sequence) => format!("journal entry {sequence} is not readable"),
    None => "a journal entry is not readable".to_owned(),
})]
pub struct UnreadableEntry {
    /// The entry's sequence, where it can be read.
    pub sequence: Option<i64>,
    source: serde_json::Error,
}

impl Entry {
    /// An entry of version 1.
    #[must_use]
    pub fn new(kind: Kind, sequence: i64, operation_id: i64) -> Self {
        Self { version: 1, kind, sequence, operation_id, ..Self::default() }
    }

    /// Reads an entry. What cannot be read says which entry it is, if that much can be read.
    pub fn from_json(bytes: &[u8]) -> Result<Self, UnreadableEntry> {
        serde_json::from_slice(bytes)
            .map_err(|source| UnreadableEntry { sequence: sequence_in(bytes), source })
    }

    /// What is wrong with the entry whatever came before it.
    pub(crate) fn check(&self) -> Result<(), Reason> {
        if self.version != 1 {
            return Err(Reason::UnknownVersion(self.version));
        }
        let need = |there: bool, member| if there { Ok(()) } else { Err(Reason::Missing(member)) };
        let two_targets = self.remove_old.is_some() && self.remove_new.is_some();
        match self.kind {
            Kind::Unstated => Err(Reason::Missing("kind")),
            Kind::Other(number) => Err(Reason::UnknownKind(number)),
            Kind::Outputs => {
                need(self.state.is_some(), "state")?;
                need(self.remove_old.is_some() || self.remove_new.is_some(), "removeNew")?;
                if two_targets { Err(Reason::TwoTargets) } else { Ok(()) }
            }
            Kind::RefreshSuccess if two_targets && self.state.is_some() => Err(Reason::TwoTargets),
            Kind::Write => need(self.new_snapshot.is_some(), "newSnapshot"),
            Kind::Kept => need(!self.kept.is_empty(), "kept"),
            Kind::SecretsManager => need(self.secrets_provider.is_some(), "secretsProvider"),
            Kind::ExtensionParameterize => {
                need(self.extension_ref.is_some(), "extensionRef")?;
                need(self.extension.is_some(), "extension")
            }
            _ => Ok(()),
        }
    }
}

/// The sequence in what may be a broken entry: torn after it, or wrong in another member.
fn sequence_in(bytes: &[u8]) -> Option<i64> {
    struct Find<'a>(&'a Cell<Option<i64>>);

    impl<'de> de::Visitor<'de> for Find<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                if key == "sequenceID" {
                    self.0.set(map.next_value()?);
                } else {
                    map.next_value::<de::IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    let found = Cell::new(None);
    // The bytes are known to be broken: what was found before the break is all there is.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Find(&found));
    found.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s09_an_entry_is_written_back_as_it_was_read() {
        let text = concat!(
            r#"{"version":1,"kind":1,"sequenceID":7,"operationID":3,"removeOld":null,"removeNew":2,"deleteOld":0,"#,
            r#""state":{"urn":"u","custom":true,"type":"t","inputs":{"n":12345678901234567890,"a":1.10},"new":1},"#,
            r#""isRefresh":true,"later":{"b":[1,2]}}"#
        );
        let entry = Entry::from_json(text.as_bytes()).unwrap();
        assert_eq!(
            (entry.kind, entry.sequence, entry.remove_old, entry.remove_new),
            (Kind::Success, 7, None, Some(2))
        );
        assert_eq!(serde_json::to_string(&entry).unwrap(), text);
    }

    #[test]
    fn what_is_absent_is_left_out_except_the_two_removals() {
        assert_eq!(
            serde_json::to_string(&Entry::new(Kind::Begin, 1, 2)).unwrap(),
            r#"{"version":1,"kind":0,"sequenceID":1,"operationID":2,"removeOld":null,"removeNew":null}"#
        );
    }

    #[test]
    fn kinds_have_their_numbers() {
        for (kind, number) in Kind::KNOWN.into_iter().zip(0..) {
            assert_eq!((kind.number(), Kind::from_number(number)), (Some(number), kind));
        }
        assert_eq!(Kind::from_number(10), Kind::Other(10));
        assert_eq!(Kind::from_number(-1), Kind::Other(-1));
        assert_eq!(serde_json::to_string(&Kind::Other(42)).unwrap(), "42");
        assert_eq!(serde_json::from_str::<Entry>(r#"{"kind":null}"#).unwrap().kind, Kind::Unstated);
    }

    #[test]
    fn an_unreadable_entry_says_which_one_it_is() {
        let cases: [(&[u8], Option<i64>); 7] = [
            (br#"{"version":1,"kind":"begin","sequenceID":7}"#, Some(7)),
            (br#"{"version":1,"kind":1,"sequenceID":7,"state":{"urn":"u","inputs":{"#, Some(7)),
            (br#"{"version":1,"kind":1,"sequenceID":7}garbage"#, Some(7)),
            (b"{\"sequenceID\":7,\"state\":{\"urn\":\"\xff\"}}", Some(7)),
            (br#"{"version":1,"kind":1,"seq"#, None),
            (br"[7]", None),
            (b"", None),
        ];
        for (bytes, sequence) in cases {
            let error = Entry::from_json(bytes).unwrap_err();
            assert_eq!(error.sequence, sequence, "{error}");
            assert_eq!(error.to_string().starts_with("journal entry 7 "), sequence.is_some(), "{error}");
        }
    }
}
