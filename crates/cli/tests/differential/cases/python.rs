//! Python programs, given inline through the Automation API.

use crate::case::{Ledger, item, python};
use serde_json::json;

const BASIC: &str = "
a = ledger.Item('a', {'size': 1, 'secret': pulumi.Output.secret('hush')})
b = ledger.Item('b', {'value': {'of': a.name, 'list': [a.serial, 2]}, 'tags': {'k': a.token}})
pulumi.export('name', a.name)
pulumi.export('token', a.token)
pulumi.export('value', b.value)
";

const COMPONENT: &str = "
class Shop(pulumi.ComponentResource):
    def __init__(self, name, size, opts=None):
        super().__init__('my:index:Shop', name, {}, opts)
        self.inner = ledger.Item(f'{name}-inner', {'size': size}, pulumi.ResourceOptions(parent=self))
        self.register_outputs({'serial': self.inner.serial})

shop = Shop('s', 1)
after = ledger.Item('after', {'value': shop.inner.name}, pulumi.ResourceOptions(depends_on=[shop]))
";

const OPTIONS: &str = "
a = ledger.Item('a', {'size': 1, 'kind': 'x'}, pulumi.ResourceOptions(
    ignore_changes=['size'], additional_secret_outputs=['serial'],
    custom_timeouts=pulumi.CustomTimeouts(create='5m', delete='10s')))
b = ledger.Item('b', {'size': 1}, pulumi.ResourceOptions(deleted_with=a, retain_on_delete=True, parent=a))
c = ledger.Item('c', {'size': 1}, pulumi.ResourceOptions(delete_before_replace=True, replace_on_changes=['size']))
pulumi.export('serial', a.serial)
";

const DYNAMIC: &str = "
from pulumi import dynamic

class Maker(dynamic.ResourceProvider):
    def check(self, olds, news):
        return dynamic.CheckResult({**news, 'checked': True}, [])

    def diff(self, id, olds, news):
        replaces = ['kind'] if olds['kind'] != news['kind'] else []
        return dynamic.DiffResult(changes=bool(replaces) or olds['n'] != news['n'], replaces=replaces)

    def create(self, inputs):
        return dynamic.CreateResult('made-' + inputs['kind'], {**inputs, 'twice': 2 * inputs['n']})

    def update(self, id, olds, news):
        return dynamic.UpdateResult({**news, 'twice': 2 * news['n']})

class Thing(dynamic.Resource):
    twice: pulumi.Output[int]

    def __init__(self, name, props, opts=None):
        super().__init__(Maker(), name, {'twice': None, **props}, opts)

thing = Thing('t', {'n': 1, 'kind': 'x'})
a = ledger.Item('a', {'value': thing.twice})
pulumi.export('twice', thing.twice)
";

const HOOKED: &str = "
def hook(name, fails=False):
    def run(args):
        if fails:
            raise RuntimeError('hook ' + name + ' fails')
    return pulumi.ResourceHook(name, run)

a = ledger.Item('a', {'size': 1}, pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(
    before_create=[hook('first')], after_create=[hook('then')], before_update=[hook('stop', True)],
    before_delete=[hook('last')])))
";

cases! {
    python_dynamic_provider_fails: python(&DYNAMIC.replace("return dynamic.CreateResult", "raise RuntimeError('no')\n        return dynamic.CreateResult"))
        .up_fails().program(DYNAMIC).up().run(&["refresh"]);
    python_hooks: python(HOOKED).up().program(&HOOKED.replace("'size': 1", "'size': 2")).up_fails()
        .run(&["destroy", "--run-program"]);
    python_stack_reference: python("
other = pulumi.StackReference('organization/other/prod')
a = ledger.Item('a', {'value': other.get_output('open'), 'secret': other.get_output('hidden')})
pulumi.export('none', other.get_output('nothing'))
pulumi.export('all', other.outputs)
").other_stack("prod", "resources: {}\noutputs: { open: o, hidden: { 'fn::secret': h } }\n").preview().up().up();
    python_explicit_provider_and_read: python("
provider = ledger.Provider('p', {'zone': 'north', 'key': pulumi.Output.secret('hush')})
a = ledger.Item('a', {'size': 1}, pulumi.ResourceOptions(provider=provider))
again = ledger.Item('again', {}, pulumi.ResourceOptions(id=a.id, provider=provider))
pulumi.export('serial', again.serial)
").up().up().run(&["destroy"]);
    python_replacements: python("
a = ledger.Item('a', {'kind': 'x'})
b = ledger.Item('b', {'value': 1}, pulumi.ResourceOptions(replace_with=[a]))
c = ledger.Item('c', {'value': 1}, pulumi.ResourceOptions(replacement_trigger='one'))
d = ledger.Item('d', {'kind': a.name}, pulumi.ResourceOptions(protect=False))
").up().program("
a = ledger.Item('a', {'kind': 'y'}, pulumi.ResourceOptions(delete_before_replace=True))
b = ledger.Item('b', {'value': 1}, pulumi.ResourceOptions(replace_with=[a]))
c = ledger.Item('c', {'value': 1}, pulumi.ResourceOptions(replacement_trigger='two'))
d = ledger.Item('d', {'kind': a.name}, pulumi.ResourceOptions(protect=False))
").preview().up();
    python_refresh: python(BASIC).up().tamper("a", "size", json!(7)).vanish("b").run(&["refresh"]).preview().up()
        .tamper("a", "size", json!(8)).run(&["refresh", "--run-program"]);
    python_targets_and_excludes: python(BASIC).up()
        .program(&BASIC.replace("'size': 1", "'size': 2").replace(", 2]", ", 3]"))
        .run(&["preview", "--target", &item("a")]).run(&["up", "--exclude", &item("a")])
        .run(&["up", "--replace", &item("b")]);
    python_goes_on_after_a_failure: python("
a = ledger.Item('a', {'failOn': 'create'})
b = ledger.Item('b', {'value': a.name})
c = ledger.Item('c', {'size': 1})
pulumi.export('c', c.name)
").fails(&["up", "--continue-on-error"]).program("
c = ledger.Item('c', {'size': 1})
").up();
    python_stash_and_secrets: python("
stash = pulumi.Stash('s', input=pulumi.Output.secret({'k': 'v'}))
a = ledger.Item('a', {'value': stash.output, 'tags': {'t': pulumi.Output.secret('tag')}})
pulumi.export('kept', stash.output)
pulumi.export('tags', a.tags)
").preview().up().up();
    python_resource_is_imported: python("
a = ledger.Item('a', {'value': 'v'}, pulumi.ResourceOptions(import_='there'))
").appear("there", json!({ "value": "v" })).preview().up().run(&["destroy"]);
    python_stack_transform: python("
def transform(args):
    if args.type_ != 'ledger:index:Item':
        return None
    return pulumi.ResourceTransformResult({**args.props, 'tags': {'by': 'stack'}}, args.opts)

pulumi.runtime.register_resource_transform(transform)
a = ledger.Item('a', {'size': 1})
group = ledger.Group('g', {'count': 1})
").preview().up().up();
    python_dynamic_provider: python(DYNAMIC).preview().up().up()
        .program(&DYNAMIC.replace("'n': 1", "'n': 3")).preview().up()
        .program(&DYNAMIC.replace("'kind': 'x'", "'kind': 'y'")).up().run(&["destroy"]);
    python_configuration: python("
config = pulumi.Config()
ledger.Item('a', {'size': config.require_int('size'), 'value': config.require_secret_object('deep')})
").config("size", "3").secret_config("deep", "{\"a\":[1]}").up().config("size", "4").up();
    python_program: python(BASIC).preview().up().up().program(&BASIC.replace("'size': 1", "'size': 2")).preview().up()
        .run(&["refresh"]).run(&["destroy"]);
    python_component: python(COMPONENT).preview().up()
        .program(&COMPONENT.replace("Shop('s', 1)", "Shop('r', 2, pulumi.ResourceOptions(aliases=[pulumi.Alias(name='s')]))"))
        .preview().up().run(&["destroy"]);
    python_program_raises: python(BASIC).up().program(&(BASIC.to_owned() + "raise RuntimeError('oh')\n"))
        .fails(&["preview"]).up_fails();
    python_options: python(OPTIONS).preview().up().program(&OPTIONS.replace("'size': 1", "'size': 2")).preview().up()
        .run(&["destroy"]);
    python_remote_component_and_method: python("
group = ledger.Group('g', {'count': 2, 'value': 'v'})
text = group.describe('hello')
found = ledger.lookup({'id': group.names.apply(lambda names: names[0])})
ledger.Item('a', {'value': text, 'tags': {'n': group.names.apply(lambda names: names[1])}})
pulumi.export('text', text)
pulumi.export('found', found)
").preview().up().run(&["destroy"]);
    python_remote_component_of_node: python("
group = ledger.Group('g', {'count': 1, 'value': pulumi.Output.secret('v')})
pulumi.export('names', group.names)
").ledger(Ledger::Node).up().up();
    python_transforms: python("
def transform(args):
    return pulumi.ResourceTransformResult({**args.props, 'tags': {'by': 'transform'}}, args.opts)

ledger.Item('a', {'size': 1}, pulumi.ResourceOptions(transforms=[transform]))
").preview().up().up();
    python_failure_and_recovery: python("
a = ledger.Item('a', {'failOn': 'create'})
b = ledger.Item('b', {'value': a.name})
").up_fails().program("
a = ledger.Item('a')
b = ledger.Item('b', {'value': a.name})
").up().run(&["destroy", "--target", &item("b")]);
}
