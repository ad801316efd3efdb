//! Stack outputs, references between stacks, stashed values.

use crate::case::{items, yaml};

const OTHER: &str =
    "resources: {}\noutputs: { open: o, hidden: { 'fn::secret': h }, deep: { list: [1, 2] } }\n";

const REFERENCE: &str = "
resources:
  other: { type: 'pulumi:pulumi:StackReference', properties: { name: organization/other/prod } }
  a: { type: ledger:Item, properties: { value: '${other.outputs[\"open\"]}', secret: '${other.outputs[\"hidden\"]}' } }
outputs: { deep: '${other.outputs[\"deep\"]}', hidden: '${other.outputs[\"hidden\"]}' }
";

cases! {
    stack_outputs_change: yaml("resources: {}\noutputs: { a: 1, s: { 'fn::secret': x }, gone: { k: v } }\n").up()
        .program("resources: {}\noutputs: { a: [1, 2], s: x, new: true }\n").preview().up()
        .program("resources: {}\n").up().destroy();
    a_stack_reference: yaml(REFERENCE).other_stack("prod", OTHER).preview().up().up().destroy();
    a_stack_reference_to_nothing: yaml(REFERENCE).up_fails();
    a_stash_keeps_its_first_value: yaml("
resources:
  s: { type: 'pulumi:index:Stash', properties: { input: first } }
  a: { type: ledger:Item, properties: { value: '${s.output}' } }
outputs: { kept: '${s.output}' }
").up().program("
resources:
  s: { type: 'pulumi:index:Stash', properties: { input: second } }
  a: { type: ledger:Item, properties: { value: '${s.output}' } }
outputs: { kept: '${s.output}' }
").preview().up().destroy();
    configuration_reaches_the_program: yaml(&("config:\n  size: { type: integer, default: 3 }\n  pass: { type: string, secret: true }\n".to_owned()
        + &items(&["a | size: '${size}', value: '${pass}'"]))).secret_config("pass", "hush").up()
        .config("size", "4").up();
}
