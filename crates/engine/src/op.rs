//! The kinds of steps.

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Nothing.
    Same,
    /// Makes a resource.
    Create,
    /// Makes what takes another's place.
    CreateReplacement,
    /// Changes it.
    Update,
    /// Deletes it.
    Delete,
    /// Deletes what was replaced.
    DeleteReplaced,
    /// Forgets what was only read.
    Discard,
    /// Forgets what was only read and is replaced.
    DiscardReplaced,
    /// Says that it is replaced.
    Replace,
    /// Looks at something that exists.
    Read,
    /// Looks at something that takes another's place.
    ReadReplacement,
    /// Brings its state up to what there is.
    Refresh,
    /// Takes over something that exists.
    Import,
    /// Takes over something that takes another's place.
    ImportReplacement,
    /// Forgets what was deleted and never made again.
    RemovePendingReplace,
}

impl Op {
    /// Every kind with the word that events and history use for it.
    pub const ALL: [(Self, &'static str); 15] = [
        (Self::Same, "same"),
        (Self::Create, "create"),
        (Self::CreateReplacement, "create-replacement"),
        (Self::Update, "update"),
        (Self::Delete, "delete"),
        (Self::DeleteReplaced, "delete-replaced"),
        (Self::Discard, "discard"),
        (Self::DiscardReplaced, "discard-replaced"),
        (Self::Replace, "replace"),
        (Self::Read, "read"),
        (Self::ReadReplacement, "read-replacement"),
        (Self::Refresh, "refresh"),
        (Self::Import, "import"),
        (Self::ImportReplacement, "import-replacement"),
        (Self::RemovePendingReplace, "remove-pending-replace"),
    ];

    /// The word that events and history use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(op, _)| *op == self).map_or("", |(_, word)| word)
    }

    /// The kind of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(op, _)| *op)
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
