//! Policy packs: what they are asked, when, and what comes of what they say.

use crate::case::{Case, Pack, items, of_items, yaml};
use serde_json::json;

/// A case that starts with a pack and a program of Items.
fn held(pack: Pack, list: &[&str]) -> Case {
    of_items(list).policy_pack(pack)
}

cases! {
    policies_are_asked_of_everything: held(Pack::Node, &["a | size: 1", "b | value: '${a.name}', tags: { x: y }"])
        .preview().up().preview().up()
        .items(&["a | size: 2", "b | value: '${a.name}', tags: { x: y }"]).preview().up();
    policies_in_python_are_asked_of_everything: held(Pack::Python, &["a | size: 1", "b | value: '${a.name}', tags: { x: y }"])
        .preview().up().preview().up()
        .items(&["a | size: 2", "b | value: '${a.name}', tags: { x: y }"]).preview().up();
    a_mandatory_policy: held(Pack::Node, &["a | kind: good"]).up()
        .items(&["a | kind: good, size: 2", "b | kind: evil | dependsOn: ['${a}']", "c | value: '${b.name}'"]).preview_fails().up_fails()
        .items(&["a | kind: good, size: 3"]).up();
    a_mandatory_policy_in_python: held(Pack::Python, &["a | kind: good"]).up()
        .items(&["a | kind: good, size: 2", "b | kind: evil | dependsOn: ['${a}']", "c | value: '${b.name}'"]).preview_fails().up_fails()
        .items(&["a | kind: good, size: 3"]).up();
    a_mandatory_policy_with_deletions: held(Pack::Node, &["a", "b", "c"]).up()
        .items(&["a | kind: evil", "c | value: '${a.name}'"]).preview_fails().up_fails();
    a_remediation: held(Pack::Node, &["a | size: 50, tags: { x: y }"]).preview().up().preview().up()
        .items(&["a | size: 70, tags: { x: y }"]).preview().up()
        .items(&["a | size: 7, tags: { x: z }"]).preview().up();
    a_remediation_in_python: held(Pack::Python, &["a | size: 50, tags: { x: y }"]).preview().up().preview().up()
        .items(&["a | size: 70, tags: { x: y }"]).preview().up()
        .items(&["a | size: 7, tags: { x: z }"]).preview().up();
    /// Ours applies the remediation to the replacement; the stock engine forgets it.
    a_remediation_of_a_replacement: held(Pack::Node, &["a | size: 50, kind: x"]).up()
        .items(&["a | size: 50, kind: y"]).up();
    policies_of_the_stack: held(Pack::Node, &["a | value: loud", "b | value: '${a.name}' | dependsOn: ['${a}']", "c"])
        .preview().up()
        .items(&["a | value: loud", "b", "c", "d"]).preview_fails().up_fails().items(&["a", "b"]).up();
    policies_of_the_stack_in_python: held(Pack::Python, &["a | value: loud", "b | value: '${a.name}' | dependsOn: ['${a}']", "c"])
        .preview().up()
        .items(&["a | value: loud", "b", "c", "d"]).preview_fails().up_fails().items(&["a", "b"]).up();
    settings_of_policies: held(Pack::Node, &["a | kind: evil", "b | kind: bad"])
        .policy_settings(&json!({ "kind": { "forbidden": "bad", "enforcementLevel": "advisory" }, "tagged": "disabled" }))
        .preview().up()
        .policy_settings(&json!({ "all": "mandatory" })).preview_fails()
        .policy_settings(&json!({ "kind": { "forbidden": 3 } })).fails(&["up"]);
    settings_of_policies_in_python: held(Pack::Python, &["a | kind: evil", "b | kind: bad"])
        .policy_settings(&json!({ "kind": { "forbidden": "bad", "enforcementLevel": "advisory" }, "tagged": "disabled" }))
        .preview().up()
        .policy_settings(&json!({ "all": "mandatory" })).preview_fails()
        .policy_settings(&json!({ "kind": { "forbidden": 3 } })).fails(&["up"]);
    policies_see_options: held(Pack::Node, &[
        "a | size: 1 | protect: true, ignoreChanges: [size], deleteBeforeReplace: true",
        "b | size: 1 | customTimeouts: { create: 5m, update: 90s, delete: 1h }, additionalSecretOutputs: [value]",
        "c | size: 1 | parent: '${a}', deletedWith: '${b}'",
    ]).up().items(&[
        "a | size: 2 | ignoreChanges: [size]",
        "d | size: 1 | aliases: [{ name: b }]",
        "c | size: 1 | parent: '${a}'",
    ]).preview().up();
    policies_see_secrets: yaml("
variables:
  s: { 'fn::secret': { deep: hush, list: [1] } }
resources:
  a: { type: ledger:Item, properties: { value: '${s}', size: 50, tags: { k: { 'fn::secret': tag } } } }
  b: { type: ledger:Item, properties: { value: '${a.value.deep}', secret: '${a.token}' } }
outputs: { all: '${a.value}' }
").policy_pack(Pack::Node).preview().up().up();
    policies_and_targets: held(Pack::Node, &["a | size: 1", "b | size: 1"]).up()
        .items(&["a | size: 20", "b | size: 20", "c | size: 20"])
        .run(&["preview", "--target", "**::a"]).run(&["up", "--target", "**::a"]).up();
    policies_and_a_provider_that_refuses: held(Pack::Node, &["a | failOn: check, tags: { x: y }"]).preview_fails().up_fails();
    policies_and_a_failure: held(Pack::Node, &["a | failOn: create", "b | value: '${a.name}'"]).up_fails();
    policies_and_explicit_providers: yaml("
resources:
  p: { type: pulumi:providers:ledger }
  a: { type: ledger:Item, properties: { size: 20 }, options: { provider: '${p}' } }
").policy_pack(Pack::Node).preview().up().up();
    policies_and_a_refresh: held(Pack::Node, &["a | size: 1"]).up().tamper("a", "size", json!(5))
        .run(&["preview", "--refresh"]).run(&["up", "--refresh"]);
    policies_and_an_import: held(Pack::Node, &["b"]).appear("a", json!({ "size": 1 })).up()
        .program(&format!("{}  a: {{ type: ledger:Item, properties: {{ name: a, size: 1 }}, options: {{ import: a }} }}\n", items(&["b"])))
        .preview().up();
    policies_and_components: yaml("
resources:
  g: { type: ledger:Group, properties: { count: 2, value: v, secret: hush } }
").policy_pack(Pack::Node).preview().up();
}
