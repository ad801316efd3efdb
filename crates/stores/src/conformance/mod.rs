//! What every store must do, as tests that any store can run.
//!
//! A store gives a [`Fixture`], which makes clients of one shared medium as if each were a process of its own, and runs
//! the whole suite with [`conformance_tests!`](crate::conformance_tests). Each case gets a fresh medium.

#![expect(clippy::unwrap_used, reason = "what fails here fails the case")]

mod leases;
mod lifecycle;
pub mod make;
mod updates;

pub use leases::*;
pub use lifecycle::*;
pub use updates::*;

use crate::{HeldLease, Store};

/// One medium and its clients.
pub trait Fixture: Send + Sync {
    /// A client of the medium, as another process would have it.
    fn client(&self) -> Box<dyn Store>;

    /// Ends the process that holds a lease, without a word to the medium, and waits until others can know.
    fn kill(&self, lease: Box<dyn HeldLease>) {
        drop(lease);
        self.let_leases_expire();
    }

    /// Lets the time pass after which a holder that has not been heard of counts as dead. A medium that notices deaths
    /// by itself needs none.
    fn let_leases_expire(&self) {}
}

/// Makes a test of every case of the suite. The argument is an expression that gives a [`Fixture`]; attributes after it
/// go to every test.
#[macro_export]
macro_rules! conformance_tests {
    ($fixture:expr $(, #[$attribute:meta])* $(,)?) => {
        $crate::conformance_tests!(@cases [$(#[$attribute])*] $fixture,
            a_missing_stack_is_not_found,
            a_new_stack_is_listed,
            s03_an_update_that_changes_nothing_makes_no_revision,
            s06_every_commit_makes_a_revision_that_stays,
            s06_bringing_back_a_revision_is_a_new_revision,
            a_copied_revision_keeps_its_time_and_author,
            s07_an_unsound_snapshot_is_recorded,
            s09_unknown_members_survive,
            tags_and_updates_are_kept,
            renaming_moves_everything,
            renaming_to_a_taken_name_is_refused,
            the_trash_gives_a_stack_back,
            deleting_for_good_leaves_nothing,
            pruning_keeps_the_newest_and_the_current,
            s11_many_clients_race_for_one_lease,
            s12_the_epoch_grows_with_every_holder,
            s13_who_waits_is_told_who_holds,
            s13_the_list_of_what_is_held_says_who_holds,
            s13_releasing_frees_only_ones_own_lease,
            s04_a_fenced_writer_cannot_append,
            s04_a_fenced_writer_cannot_commit,
            s02_concurrent_appends_are_all_durable,
            s05_a_dead_update_is_brought_in_by_the_next_holder,
            s05_a_broken_update_is_brought_in_at_once,
            s05_releasing_without_a_commit_forgets_nothing,
            s05_a_refused_entry_loses_nothing,
            s05_entries_before_a_refused_one_are_recorded,
            s08_readers_see_the_last_commit_while_an_update_runs,
            s08_a_journal_is_followed_while_it_grows,
            s08_the_journal_of_a_dead_update_is_read_until_it_is_brought_in,
        );
    };
    (@cases $attributes:tt $fixture:expr, $($case:ident),* $(,)?) => {
        $($crate::conformance_tests!(@case $attributes $fixture, $case);)*
    };
    (@case [$(#[$attribute:meta])*] $fixture:expr, $case:ident) => {
        #[tokio::test]
        $(#[$attribute])*
        async fn $case() {
            $crate::conformance::$case(&$fixture).await;
        }
    };
}
