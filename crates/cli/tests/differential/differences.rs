//! Every difference from the stock CLI that is meant. One that is not listed here fails its test.

use crate::case::item;
use crate::compare::Difference;
use crate::normal::methods;
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
        reason: "the stock CLI has a code for failed resources (4) and does not use it: it ends with 1 whenever its \
                 messages are already shown",
        applies: |difference| {
            difference.path == ["exit code"] && difference.stock == 1 && difference.ours == 4
        },
    },
    Permitted {
        reason: "the stock CLI has a code for broken policies (5) and does not use it",
        applies: |difference| {
            difference.path == ["exit code"] && difference.stock == 1 && difference.ours == 5
        },
    },
    Permitted {
        reason: "settings that a policy pack does not take are a fault of the command line, which has a code (2)",
        applies: |difference| {
            difference.case.starts_with("settings_of_policies")
                && difference.path == ["exit code"]
                && difference.stock == 1
                && difference.ours == 2
        },
    },
    Permitted {
        reason: "a list of a converter that cannot be imported as it is is kept for somebody to mend; the stock CLI \
                 keeps it only if the import itself fails",
        applies: |difference| {
            difference.case == "a_converter_that_does_not_succeed"
                && difference.path == ["list"]
                && difference.stock.is_null()
        },
    },
    Permitted {
        reason: "what is deleted with another is gone when that one is replaced, so ours replaces it, too, as the stock CLI \
                 does after 3.260; 3.259 goes on with it as if it were there",
        applies: |difference| {
            difference.case == "deleted_with_one_that_is_replaced" && difference.path != ["exit code"]
        },
    },
    Permitted {
        reason: "the inputs of a replacement are made up anew; ours has policies change those too, the stock CLI forgets \
                 what they changed",
        applies: |difference| {
            let changed = difference.stock == 50 && difference.ours == 10;
            let asked = difference.is_at(&["calls", &item("a")])
                && methods(&difference.ours).iter().filter(|method| **method == "policy remediate").count()
                    == 2;
            difference.case == "a_remediation_of_a_replacement" && (changed || asked)
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
            difference.is_at(&["state", "pending", &item("a")])
                && difference.case.starts_with("the_provider_dies_")
                && difference.stock.is_null()
                && difference.ours.as_array().is_some_and(|pending| pending.len() == 1)
        },
    },
    Permitted {
        reason: "after that, ours reads back what became of the operation and goes on from what it finds; the stock \
                 CLI goes on from what it believes",
        applies: follows_from_read_back,
    },
    Permitted {
        reason: "a provider that gives what it made no id may have made it all the same; the stock CLI takes it for not \
                 done, ours keeps it as a pending operation",
        applies: |difference| {
            difference.case == "properties_from_a_variable"
                && difference.is_at(&["state", "pending", &item("a")])
                && difference.stock.is_null()
                && difference.ours.as_array().is_some_and(|pending| pending.len() == 1)
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
        reason: "what `import` makes of a provider has its inputs as their check leaves them, so that the next update \
                 finds nothing to change; the stock CLI forgets what its check found",
        applies: |difference| {
            let checked = "__pulumi-go-provider-version";
            let added = |value: &Value| {
                value.as_object().is_some_and(|members| members.len() == 1 && members.contains_key(checked))
            };
            let of_provider = difference.path[0] == "calls"
                || difference.path.iter().any(|key| key.contains("::pulumi:providers:"));
            of_provider
                && difference.stock.is_null()
                && (added(&difference.ours) || difference.path.last().is_some_and(|key| key == checked))
        },
    },
    Permitted {
        reason: "a dependent that is replaced along is shown with the property that makes it be",
        applies: |difference| {
            difference.path[0] == "preview"
                && difference.path.last().is_some_and(|key| key == "replaceReasons" || key == "keys")
                && difference.stock.is_null()
        },
    },
    Permitted {
        reason: "a value of the configuration that is missing is a fault of the command, which has a code (2)",
        applies: |difference| {
            ["config_that_is_missing", "reference_config_without_a_required_value"].contains(&difference.case)
                && difference.path == ["exit code"]
                && difference.stock == 1
                && difference.ours == 2
        },
    },
    Permitted {
        reason: "a file that cannot be read ends the program; the stock host gives an empty text in its place to the \
                 outputs of the stack, and then fails",
        applies: |difference| {
            difference.case.starts_with("reference_read_file_outside")
                && difference.path.last().is_some_and(|key| key == "outputs")
                && difference.stock == serde_json::json!({"it": ""})
                && difference.ours.is_null()
        },
    },
    Permitted {
        reason: "the stock host gives the places in its own source where it registers resources, ours those in the \
                 program",
        applies: |difference| {
            let is_place = |key: &String| key == "sourcePosition" || key == "stackTrace";
            let of_host = ["/pulumi-yaml@", "/pulumi/sdk/v3@"];
            let stock = difference.stock.to_string();
            difference.path.iter().any(is_place) && of_host.iter().any(|place| stock.contains(place))
        },
    },
    Permitted {
        reason: "the stock CLI has the inputs of a resource checked that it skips next because of a failure",
        applies: |difference| {
            difference.case == "the_rest_goes_on"
                && difference.is_at(&["calls", &item("b")])
                && methods(&difference.stock) == ["check"]
                && difference.ours.is_null()
        },
    },
];

/// Whether a difference comes from reading back the one operation on `a` in the middle of which its provider died.
fn follows_from_read_back(difference: &Difference) -> bool {
    let (stock, ours) = (methods(&difference.stock), methods(&difference.ours));
    let calls = difference.is_at(&["calls", &item("a")]);
    match difference.case {
        "the_provider_dies_before_it_creates" => {
            calls && stock == ["check", "create"] && ours == ["read", "check", "create"]
        }
        "the_provider_dies_while_it_deletes" => calls && stock == ["delete"] && ours == ["read"],
        "the_provider_dies_while_it_updates" => {
            let serial = difference.is_at(&["world", "a", "serial"])
                || difference.is_at(&["state", "resources", &item("a"), "0", "outputs", "serial"]);
            (calls && stock == ["check", "diff", "update"] && ours == ["read", "check", "diff"])
                || (serial && difference.stock == 3 && difference.ours == 2)
        }
        _ => false,
    }
}

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
