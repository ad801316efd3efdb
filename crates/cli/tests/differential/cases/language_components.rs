//! Components in YAML: packages that are folders of files.

use crate::case::{Case, yaml};

const PLUGIN: &str = "name: parts
version: 0.3.0
runtime: yaml
components:
  Pair:
    description: Two items.
    inputs:
      label: { type: string }
      size: { type: integer, default: 2 }
      hidden: { type: string, default: h, secret: true }
    variables:
      both: 'both-${label}'
    resources:
      left: { type: ledger:Item, properties: { value: '${label}', size: '${size}', secret: '${hidden}' } }
      right: { type: ledger:Item, properties: { value: ['${left.name}', '${both}', '${pulumi.stack}'] }, options: { dependsOn: ['${left}'] } }
    outputs:
      names: ['${left.name}', '${right.name}']
      token: ${left.token}
  Empty:
    resources: {}
    outputs: { nothing: 1 }
";

fn with_plugin(program: &str) -> Case {
    yaml(&format!("packages: {{ parts: ./parts }}\n{program}")).file("parts/PulumiPlugin.yaml", &PLUGIN)
}

cases! {
    a_component: with_plugin("resources:
  one: { type: parts:Pair, properties: { label: l } }
  after: { type: ledger:Item, properties: { value: '${one.names}', tags: { t: '${one.names[0]}' } } }
outputs: { names: '${one.names}', token: '${one.token}' }
").preview().up().up().destroy();
    components_side_by_side: with_plugin("resources:
  a: { type: ledger:Item }
  one: { type: parts:Pair, properties: { label: '${a.name}', size: 1 } }
  two: { type: 'parts:index:Pair', properties: { label: '${one.names[1]}', hidden: '${a.token}' }, options: { parent: '${a}', protect: false } }
").preview().up();
    a_component_that_grows: with_plugin("resources: { one: { type: parts:Pair, properties: { label: l } } }\n").up()
        .program("packages: { parts: ./parts }\nresources: { one: { type: parts:Pair, properties: { label: m, size: 5 } } }\n").preview().up();
    a_component_with_a_provider: with_plugin("resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: z } }
  one: { type: parts:Pair, properties: { label: l }, options: { providers: ['${p}'] } }
").up();
    an_empty_component: with_plugin("resources: { e: { type: parts:Empty } }\noutputs: { n: '${e.nothing}' }\n").up();
    an_input_that_is_missing: with_plugin("resources: { one: { type: parts:Pair, properties: {} } }\n").up_fails();
    an_input_that_there_is_not: with_plugin("resources: { one: { type: parts:Pair, properties: { label: l, nope: 1 } } }\n").up_fails();
}
