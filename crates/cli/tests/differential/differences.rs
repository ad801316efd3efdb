//! Every difference from the stock CLI that is meant. One that is not listed here fails its test.

use crate::compare::Difference;
use serde_json::Value;

/// A difference that is meant, and why.
#[derive(Debug)]
pub(crate) struct Permitted {
    /// Why ours differs.
    pub(crate) reason: &'static str,
    applies: fn(&Difference) -> bool,
}

const PERMITTED: &[Permitted] = &[
    Permitted {
        reason: "the stock CLI ends with 1 whenever its messages are already shown; ours tells failed resources (4) \
                 apart, by the same table",
        applies: |difference| {
            difference.path == ["exit code"] && difference.stock == 1 && difference.ours == 4
        },
    },
    Permitted {
        reason: "the stock CLI starts and configures every provider of the state, ours those that it calls",
        applies: |difference| {
            difference.path == ["calls", "configure"] && is_part_of(&difference.ours, &difference.stock)
        },
    },
    Permitted {
        reason: "when a provider dies in the middle of a call nobody knows what it did; the stock CLI takes it for \
                 not done, ours keeps it as a pending operation",
        applies: |difference| {
            difference.path.starts_with(&["state".to_owned(), "pending".to_owned()])
                && (difference.case.contains("provider_die") || difference.case.contains("dead_provider"))
                && difference.stock.is_null()
        },
    },
    Permitted {
        reason: "after that, ours reads back what became of the operation and goes on from what it finds; the stock \
                 CLI goes on from what it believes",
        applies: |difference| {
            let part = difference.path.first().map_or("", String::as_str);
            (difference.case.contains("provider_dies") || difference.case.contains("dead_provider"))
                && (part == "calls"
                    || part == "world"
                    || difference.path.starts_with(&["state".to_owned(), "resources".to_owned()]))
        },
    },
    Permitted {
        reason: "a preview shows the old state as it is; the stock CLI shows it marked as what a replacement will make \
                 of it",
        applies: |difference| {
            difference.path.first().is_some_and(|what| what == "preview")
                && difference.path.iter().any(|key| key == "oldState")
                && difference.path.last().is_some_and(|key| key == "delete" || key == "pendingReplacement")
                && difference.stock == true
                && difference.ours.is_null()
        },
    },
    Permitted {
        reason: "dependencies of properties that depend on nothing say nothing; after a refresh one of the two may \
                 drop them",
        applies: |difference| {
            let empty = |value: &Value| match value {
                Value::Null => true,
                Value::Object(members) => {
                    members.values().all(|list| list.as_array().is_some_and(Vec::is_empty))
                }
                Value::Array(list) => list.is_empty(),
                _ => false,
            };
            difference.path.iter().any(|key| key == "propertyDependencies")
                && empty(&difference.stock)
                && empty(&difference.ours)
        },
    },
    Permitted {
        reason: "a flag that is not there is a mistake in the command line (2); the stock CLI ends with 1",
        applies: |difference| {
            difference.path == ["exit code"] && difference.case == "a_read_fails" && difference.ours == 2
        },
    },
    Permitted {
        reason: "a dependent that is replaced along is shown with the property that makes it be",
        applies: |difference| {
            difference.path.last().is_some_and(|key| key == "replaceReasons") && difference.stock.is_null()
        },
    },
    Permitted {
        reason: "not alike yet: the stock CLI shows a refresh before an update as a step of its own in `preview --json`",
        applies: |difference| {
            difference.path.first().is_some_and(|what| what == "preview")
                && difference.case == "a_refresh_before_the_update"
        },
    },
    Permitted {
        reason: "registrations are decided side by side: what was checked before a refusal ended the run may differ",
        applies: |difference| {
            let harmless = |call: &Value| call["method"] == "check" || call["method"] == "diff";
            difference.case == "protect"
                && difference.path.first().is_some_and(|what| what == "calls")
                && difference.stock.is_null()
                && difference.ours.as_array().is_some_and(|calls| calls.iter().all(harmless))
        },
    },
    Permitted {
        reason: "the stock CLI has the inputs of a resource checked that it skips next because of a failure",
        applies: |difference| {
            difference.path.first().is_some_and(|what| what == "calls")
                && difference.case == "the_rest_goes_on"
                && is_part_of(&difference.ours, &difference.stock)
        },
    },
];

/// Whether every call of the first list is in the second, as often.
fn is_part_of(some: &Value, all: &Value) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut left = list(all);
    list(some).iter().all(|call| match left.iter().position(|other| other == call) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    })
}

/// The entry of the list that a difference falls under.
pub(crate) fn permitted(difference: &Difference) -> Option<&'static Permitted> {
    PERMITTED.iter().find(|permitted| (permitted.applies)(difference))
}
