//! JavaScript programs, given inline through the Automation API.

use crate::case::{Ledger, item, node};
use serde_json::json;

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
const hook = (name, fail) => new pulumi.ResourceHook(name, async (given) => {
  if (fail) throw new Error(`hook ${name} fails`);
}, {});
const a = new ledger.Item('a', { size: 1 }, {
  hooks: { beforeCreate: [hook('first')], afterCreate: [hook('then')], beforeUpdate: [hook('stop', true)] },
});
";

const OPTIONS: &str = "
const a = new ledger.Item('a', { size: 1, kind: 'x', tags: { k: 'v', l: 'w' } }, {
  ignoreChanges: ['size', 'tags.k'], additionalSecretOutputs: ['serial'], customTimeouts: { create: '5m', delete: '10s' },
});
const b = new ledger.Item('b', { size: 1 }, { deletedWith: a, retainOnDelete: true, parent: a });
const c = new ledger.Item('c', { size: 1 }, { deleteBeforeReplace: true, replaceOnChanges: ['size'] });
const d = new ledger.Item('d', { value: 'd' }, { replaceWith: [c], hideDiffs: ['value'] });
const e = new ledger.Item('e', { value: 'e' }, { replacementTrigger: 'first' });
return { serial: a.serial };
";

const PROVIDERS: &str = "
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super('my:index:Shop', name, {}, options);
    this.inner = new ledger.Item(`${name}-inner`, { size: 1 }, { parent: this });
    this.other = new ledger.Item(`${name}-other`, { value: this.inner.zone }, { parent: this.inner });
    this.registerOutputs();
  }
}
const north = new ledger.Provider('north', { zone: 'n' });
const south = new ledger.Provider('south', { zone: 's' });
new Shop('one', { providers: { ledger: north } });
new Shop('two', { providers: [south], protect: false });
new Shop('three');
";

const DELETING: &str = "
const hook = (name, fail) => new pulumi.ResourceHook(name, async () => { if (fail) throw new Error('no'); });
const a = new ledger.Item('a', { size: 1 }, { hooks: { beforeDelete: [hook('before')], afterDelete: [hook('after')] } });
const b = new ledger.Item('b', { value: a.name }, { hooks: { beforeDelete: [hook('stop', false)] } });
";

const RETRIED: &str = "
let tries = 0;
const again = new pulumi.ErrorHook('again', async ({ failedOperation, errors }) => errors.length < 3);
const a = new ledger.Item('a', { failOn: 'create' }, { hooks: { onError: [again] } });
";

const VERSIONED: &str = "
new ledger.Item('a', { size: 1 }, { version: '1.0.0' });
new ledger.Item('b', { size: 1 }, { version: '1.1.0' });
";

cases! {
    node_version_is_left_out_later: node(VERSIONED).up()
        .program(&VERSIONED.replace("version: '1.1.0'", "")).preview().up()
        .program("
new pulumi.ProviderResource('ledger', 'p', {}, {});
new pulumi.ProviderResource('ledger', 'q', {}, { version: '1.0.0' });
new ledger.Item('a', { size: 2 });
new ledger.Item('c', { size: 1 });
").preview().up();
    node_options: node(OPTIONS).preview().up()
        .program(&OPTIONS.replace("size: 1", "size: 2").replace("k: 'v', l: 'w'", "k: 'x', l: 'y'")).preview().up()
        .program(&OPTIONS.replace("'first'", "'second'").replace("'d' }", "'changed' }")).preview().up()
        .run(&["destroy"]);
    node_providers_of_components: node(PROVIDERS).preview().up()
        .program(&PROVIDERS.replace("zone: 'n'", "zone: 'm'")).preview().up().run(&["destroy"]);
    node_resource_is_imported: node("
const a = new ledger.Item('a', { value: 'v' }, { import: 'there' });
const b = new ledger.Item('b', { value: a.serial });
").appear("there", json!({ "value": "v" })).preview().up().program("
const a = new ledger.Item('a', { name: 'there', value: 'w' });
").preview().up();
    node_destroy_by_the_program: node(DELETING).up().run(&["destroy", "--run-program"]);
    node_destroy_is_stopped_by_a_hook: node(DELETING).up().program(&DELETING.replace("'stop', false", "'stop', true"))
        .fails(&["destroy", "--run-program"]);
    node_deletion_with_hooks: node(DELETING).up().program("
new pulumi.ResourceHook('before', async () => {});
new pulumi.ResourceHook('after', async () => {});
new pulumi.ResourceHook('stop', async () => {});
").preview().up();
    node_hook_fails_after: node(&HOOKED.replace("hook('then')", "hook('then', true)")).up_fails().up();
    node_error_hook_tries_again: node(RETRIED).up_fails().program(&RETRIED.replace("'create'", "''")).up();
    node_refresh_by_the_program: node(BASIC).up().tamper("a", "size", json!(7))
        .run(&["refresh", "--run-program"]).preview();
    node_refresh_before_the_update: node(BASIC).up().tamper("a", "size", json!(7)).vanish("b")
        .run(&["up", "--refresh"]);
    node_excludes: node(BASIC).up().program(&BASIC.replace("size: 1", "size: 2").replace(", 2]", ", 3]"))
        .run(&["preview", "--exclude", &item("b")]).run(&["up", "--exclude", &item("a"), "--exclude-dependents"])
        .run(&["up", "--target", &item("a"), "--target-dependents"]).run(&["destroy", "--exclude", &item("a")]);
    node_goes_on_after_a_failure: node("
const a = new ledger.Item('a', { failOn: 'create' });
const b = new ledger.Item('b', { value: a.name });
const c = new ledger.Item('c', { size: 1 });
const d = new ledger.Item('d', { value: c.name });
return { d: d.name };
").fails(&["up", "--continue-on-error"]).program("
const a = new ledger.Item('a', { failOn: 'delete' });
const b = new ledger.Item('b', { value: a.name });
const c = new ledger.Item('c', { size: 1 });
").up().fails(&["destroy", "--continue-on-error"]);
    node_alias_of_a_parent: node("
const parent = new ledger.Item('p', { size: 1 });
const child = new ledger.Item('child', { size: 2 }, { parent });
").up().program("
const parent = new ledger.Item('q', { size: 1 }, { aliases: [{ name: 'p' }] });
const child = new ledger.Item('child', { size: 2 }, { aliases: [{ parent }] });
").preview().up();
    node_invoke_transform: node("
pulumi.runtime.registerInvokeTransform(({ token, args, opts }) => ({ args: { ...args, id: 'there' }, opts }));
const found = ledger.lookup({ id: 'nobody' });
new ledger.Item('a', { value: found.apply((result) => result.value) });
return { found };
").appear("there", json!({ "value": "v" })).preview().up();
    node_protection: node("
const b = new ledger.Item('b', { size: 1 });
const a = new ledger.Item('a', { value: b.name }, { protect: true });
").up().run(&["destroy", "--exclude-protected"]).program("
const b = new ledger.Item('b', { size: 1 });
").up_fails();
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
