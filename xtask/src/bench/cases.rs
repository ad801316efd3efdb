//! What is measured: a command on each side, and how we know that it did its work.

use super::plan::STACK;
use super::state::{Order, State};

/// One of the two tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The stock Pulumi CLI.
    Stock,
    /// Drystone.
    Ours,
}

impl Side {
    /// Its name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stock => "the stock CLI",
            Self::Ours => "ours",
        }
    }
}

/// What a command does to the backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It changes nothing, and both sides print the same.
    PrintsTheSame,
    /// It changes nothing, prints what it likes, and fails on a stack that is out of order.
    Verifies,
    /// It removes the leaf.
    DeletesTheLeaf,
    /// It puts the resources in order.
    Sorts,
}

impl Effect {
    /// Whether the backend must be laid out anew for every run.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::DeletesTheLeaf | Self::Sorts)
    }
}

/// A command that both sides run on the same state.
pub(super) struct Case {
    /// Its name for `--case`.
    pub(super) name: &'static str,
    /// Its name in the table.
    pub(super) title: &'static str,
    /// The state that it runs on.
    pub(super) order: Order,
    /// What it does.
    pub(super) effect: Effect,
    /// What a reader must know to compare the sides.
    pub(super) note: Option<&'static str>,
    stock: &'static [&'static str],
    ours: &'static [&'static str],
}

impl Case {
    /// The arguments for a side. A leaf is named where the table says `LEAF`.
    pub(super) fn arguments(&self, side: Side, state: &State) -> Vec<String> {
        let words = match side {
            Side::Stock => self.stock,
            Side::Ours => self.ours,
        };
        let mut arguments: Vec<String> =
            words.iter().map(|word| if *word == LEAF { state.leaf() } else { (*word).to_owned() }).collect();
        if self.name != "ls" {
            arguments.extend(["--stack".to_owned(), STACK.to_owned()]);
        }
        arguments
    }
}

const LEAF: &str = "LEAF";

/// Every case, in the order of the table.
pub(super) const CASES: [Case; 6] = [
    Case {
        name: "export",
        title: "stack export",
        order: Order::Sound,
        effect: Effect::PrintsTheSame,
        note: None,
        stock: &["stack", "export"],
        ours: &["stack", "export"],
    },
    Case {
        name: "ls",
        title: "stack ls",
        order: Order::Sound,
        effect: Effect::PrintsTheSame,
        note: None,
        stock: &["stack", "ls", "--json"],
        ours: &["stack", "ls", "--json"],
    },
    Case {
        name: "verify",
        title: "state verify",
        order: Order::Sound,
        effect: Effect::Verifies,
        note: Some(
            "the stock CLI has no such command; its nearest, `stack`, loads and verifies the snapshot",
        ),
        stock: &["stack"],
        ours: &["state", "verify"],
    },
    Case {
        name: "delete",
        title: "state delete",
        order: Order::Sound,
        effect: Effect::DeletesTheLeaf,
        note: None,
        stock: &["state", "delete", LEAF, "--yes"],
        ours: &["state", "delete", LEAF, "--yes"],
    },
    Case {
        name: "repair",
        title: "state repair",
        order: Order::Shuffled,
        effect: Effect::Sorts,
        note: None,
        stock: &["state", "repair", "--yes"],
        ours: &["state", "repair", "--yes"],
    },
    Case {
        name: "history",
        title: "stack history",
        order: Order::Sound,
        effect: Effect::PrintsTheSame,
        note: None,
        stock: &["stack", "history", "--json", "--page-size", "50"],
        ours: &["stack", "history", "--json", "--page-size", "50"],
    },
];
