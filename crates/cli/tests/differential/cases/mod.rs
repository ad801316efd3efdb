//! The cases, a file a topic.

/// A test for each case, named by it.
macro_rules! cases {
    ($($(#[$about:meta])* $name:ident: $case:expr;)*) => {
        $(
            $(#[$about])*
            #[test]
            #[ignore = "needs the stock Pulumi CLI, its hosts and SDKs: run by cargo xtask test"]
            fn $name() {
                crate::compare::alike(stringify!($name), &$case);
            }
        )*
    };
}

mod changes;
mod components;
mod edits;
mod failures;
mod imports;
mod language_components;
mod language_faults;
mod language_functions;
mod language_reference;
mod language_resources;
mod language_values;
mod node;
mod options;
mod plans;
mod policies;
mod providers;
mod python;
mod reads;
mod refreshes;
mod replacements;
mod stacks;
mod targets;
