//! JavaScript programs, given inline through the Automation API.

use crate::case::{Ledger, item, node};

const BASIC: &str = "
const a = new ledger.Item('a', { size: 1, secret: pulumi.secret('hush') });
const b = new ledger.Item('b', { value: { of: a.name, list: [a.serial, 2] }, tags: { k: a.token } });
return { name: a.name, token: a.token, value: b.value };
";

const COMPONENT: &str = "
class Shop extends pulumi.ComponentResource {
  constructor(name, size, options) {
    super('my:index:Shop', name, {}, options);
    this.inner = new ledger.Item(`${name}-inner`, { size }, { parent: this });
    this.registerOutputs({ serial: this.inner.serial });
  }
}
const shop = new Shop('s', 1);
const after = new ledger.Item('after', { value: shop.inner.name }, { dependsOn: [shop] });
";

const DYNAMIC: &str = "
const provider = {
  async check(olds, news) { return { inputs: { ...news, checked: true } }; },
  async diff(id, olds, news) {
    return { changes: olds.n !== news.n || olds.kind !== news.kind, replaces: olds.kind !== news.kind ? ['kind'] : [] };
  },
  async create(inputs) { return { id: `made-${inputs.kind}`, outs: { ...inputs, twice: 2 * inputs.n } }; },
  async update(id, olds, news) { return { outs: { ...news, twice: 2 * news.n } }; },
  async delete(id, props) {},
  async read(id, props) { return { id, props: { ...props, read: true } }; },
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props, options) { super(provider, name, { twice: undefined, ...props }, options); }
}
const thing = new Thing('t', { n: 1, kind: 'x', hidden: pulumi.secret('hush') });
const a = new ledger.Item('a', { value: thing.twice });
return { twice: thing.twice, hidden: thing.hidden };
";

const TRANSFORMED: &str = "
pulumi.runtime.registerResourceTransform(({ type, props, opts }) =>
  type === 'ledger:index:Item' ? { props: { ...props, tags: { by: 'stack' } }, opts } : undefined);
new ledger.Item('a', { size: 1 }, {
  transforms: [({ props, opts }) => ({ props: { ...props, size: 2 }, opts: { ...opts, protect: true } })],
});
";

const HOOKED: &str = "
const fs = require('fs');
const hook = (name, fail) => new pulumi.ResourceHook(name, async (given) => {
  if (fail) throw new Error(`hook ${name} fails`);
}, {});
const a = new ledger.Item('a', { size: 1 }, {
  hooks: { beforeCreate: [hook('first')], afterCreate: [hook('then')], beforeUpdate: [hook('stop', true)] },
});
";

cases! {
    node_program: node(BASIC).preview().up().up().program(&BASIC.replace("size: 1", "size: 2")).preview().up()
        .run(&["refresh"]).run(&["destroy"]);
    node_component: node(COMPONENT).preview().up()
        .program(&COMPONENT.replace("new Shop('s'", "new Shop('r'").replace("1);", "2, { aliases: [{ name: 's' }] });"))
        .preview().up().run(&["destroy"]);
    node_component_gets_another_type: node(COMPONENT).up()
        .program(&COMPONENT.replace("my:index:Shop", "my:index:Store")
            .replace("'s', 1)", "'s', 1, { aliases: [{ type: 'my:index:Shop' }] })")).preview().up();
    node_dynamic_provider: node(DYNAMIC).preview().up().up().program(&DYNAMIC.replace("n: 1", "n: 3")).preview().up()
        .program(&DYNAMIC.replace("kind: 'x'", "kind: 'y'")).preview().up().run(&["refresh"]).run(&["destroy"]);
    node_dynamic_provider_fails: node(&DYNAMIC.replace("{ return { id: `made", "{ throw new Error('no'); return { id: `made"))
        .up_fails().program(DYNAMIC).up();
    node_program_throws: node(BASIC).up().program(&(BASIC.replace("return {", "throw new Error('oh'); return {")))
        .fails(&["preview"]).up_fails();
    node_transforms: node(TRANSFORMED).preview().up().up();
    node_hooks: node(HOOKED).up().program(&HOOKED.replace("size: 1", "size: 2")).up_fails();
    node_remote_component_and_method: node("
const group = new ledger.Group('g', { count: 2, value: 'v' });
const text = group.describe('hello').apply((result) => result.text);
const found = ledger.lookup({ id: group.names.apply((names) => names[0]) });
new ledger.Item('a', { value: text, tags: { n: group.names.apply((names) => names[1]) } });
return { text, found, token: group.token };
").preview().up().run(&["destroy"]);
    node_remote_component_of_python: node("
const group = new ledger.Group('g', { count: 1, value: pulumi.secret('v') }, { protect: false });
return { names: group.names, text: group.describe('hi') };
").ledger(Ledger::Python).up().up();
    node_stack_reference: node("
const other = new pulumi.StackReference('organization/other/prod');
const a = new ledger.Item('a', { value: other.getOutput('open'), secret: other.getOutput('hidden') });
return { none: other.getOutput('nothing'), all: other.outputs };
").other_stack("prod", "resources: {}\noutputs: { open: o, hidden: { 'fn::secret': h } }\n").up().up();
    node_explicit_provider_and_read: node("
const provider = new ledger.Provider('p', { zone: 'north', key: pulumi.secret('hush') });
const a = new ledger.Item('a', { size: 1 }, { provider });
const again = new ledger.Item('again', {}, { id: a.id, provider });
return { serial: again.serial, token: again.token };
").up().up().run(&["destroy"]);
    node_targets: node(BASIC).up().program(&BASIC.replace("size: 1", "size: 2").replace(", 2]", ", 3]"))
        .run(&["preview", "--target", &item("a")]).run(&["up", "--target", &item("a")])
        .run(&["up", "--replace", &item("b")]).run(&["destroy", "--target", &item("b")]);
    node_configuration: node("
const config = new pulumi.Config();
new ledger.Item('a', { size: config.requireNumber('size'), value: config.requireSecretObject('deep') });
return { names: [pulumi.getProject(), pulumi.getStack(), pulumi.getOrganization()] };
").config("size", "3").secret_config("deep", "{\"a\":[1]}").up().config("size", "4").up();
    node_many: node("
let last;
for (let n = 0; n < 40; n++) {
  last = new ledger.Item(`i${n}`, { size: n, value: n % 5 === 4 ? last.serial : n }, { parent: n % 7 ? undefined : last });
}
").run(&["up", "-p", "8"]).run(&["destroy", "-p", "8"]);
    node_stash_and_unknowns: node("
const stash = new pulumi.Stash('s', { input: pulumi.secret({ k: 'v' }) });
const a = new ledger.Item('a', { value: stash.output });
const b = new ledger.Item('b', { kind: pulumi.interpolate`${a.serial}-x` });
return { kept: stash.output };
").preview().up().up();
}
