//! How much was tried.

use std::fmt;

/// Counts over any number of seeds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures {
    pub(crate) seeds: usize,
    pub(crate) runs: usize,
    /// Operations on the world.
    pub(crate) operations: usize,
    /// Journal entries, each verified.
    pub(crate) entries: usize,
    /// Calls of providers that went wrong.
    pub(crate) faults: usize,
    pub(crate) crashes: usize,
    pub(crate) fenced: usize,
    pub(crate) cancelled: usize,
    /// Pending operations that were settled.
    pub(crate) pending: usize,
    /// Those of them that only a person could settle.
    pub(crate) by_hand: usize,
    /// Previews compared with what was done.
    pub(crate) previews: usize,
    /// Updates held to the plan of their preview.
    pub(crate) plans: usize,
    /// Ends after faults compared with ends without.
    pub(crate) comparisons: usize,
}

impl Figures {
    pub(crate) fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.runs += other.runs;
        self.operations += other.operations;
        self.entries += other.entries;
        self.faults += other.faults;
        self.crashes += other.crashes;
        self.fenced += other.fenced;
        self.cancelled += other.cancelled;
        self.pending += other.pending;
        self.by_hand += other.by_hand;
        self.previews += other.previews;
        self.plans += other.plans;
        self.comparisons += other.comparisons;
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seeds, {} runs, {} operations on the world, {} journal entries verified, {} provider faults, \
             {} crashes, {} lost leases, {} cancellations, {} pending operations settled ({} by hand), {} previews compared, \
             {} updates held to plans, {} ends compared with a run without faults",
            self.seeds,
            self.runs,
            self.operations,
            self.entries,
            self.faults,
            self.crashes,
            self.fenced,
            self.cancelled,
            self.pending,
            self.by_hand,
            self.previews,
            self.plans,
            self.comparisons
        )
    }
}
