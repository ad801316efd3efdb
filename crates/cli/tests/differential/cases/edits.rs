//! The state is edited between runs.

use crate::case::{Case, item, of_items};

const TWO: &[&str] = &["a | kind: x", "b | value: '${a.name}'"];

impl Case {
    /// Runs a command of `state`.
    fn state(self, words: &[&str]) -> Self {
        self.run(&[&["state"], words, &["--yes", "--stack", "dev"]].concat())
    }

    /// Runs a command of `state`, which must fail.
    fn state_fails(self, words: &[&str]) -> Self {
        self.fails(&[&["state"], words, &["--yes", "--stack", "dev"]].concat())
    }
}

cases! {
    a_resource_is_taken_out_of_the_state: of_items(TWO).up().state(&["delete", &item("b")]).preview().up().destroy();
    a_resource_that_others_need_is_taken_out: of_items(TWO).up().state_fails(&["delete", &item("a")])
        .state(&["delete", &item("a"), "--target-dependents"]).preview().up();
    a_protected_one_is_taken_out: of_items(&["a | size: 1 | protect: true"]).up()
        .state_fails(&["delete", &item("a")]).state(&["delete", &item("a"), "--force"]).up();
    a_resource_is_renamed_in_the_state: of_items(TWO).up().state(&["rename", &item("a"), "z"])
        .items(&["z | kind: x", "b | value: '${z.name}'"]).preview().up().destroy();
    protection_is_taken_away_and_given: of_items(&["a | size: 1 | protect: true", "b"]).up()
        .state(&["unprotect", &item("a")]).state(&["protect", &item("b")]).destroy_fails()
        .state(&["unprotect", "--all"]).destroy();
    taint_is_taken_back: of_items(TWO).up().state(&["taint", &item("a")]).state(&["untaint", &item("a")])
        .preview().up();
    a_tainted_one_takes_its_dependents_along: of_items(&["a | kind: x | deleteBeforeReplace: true", "b | kind: '${a.name}'"])
        .up().state(&["taint", &item("a")]).preview().up();
}
