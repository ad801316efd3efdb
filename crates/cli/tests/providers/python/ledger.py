"""The provider `ledger` in Python: resources of a world that is a folder, which behave as their inputs ask."""

import asyncio
import sys
from pathlib import Path

import pulumi
from pulumi.provider.experimental import provider as p
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main

import world
from world import plain, record

REPLACING = {"name", "kind"}
INPUTS = REPLACING | {
    "size", "value", "tags", "secret", "deleteBeforeReplace", "failOn", "initError", "delayMs",
}


def text(properties, key):
    return plain(properties.get(key))


async def pause(properties):
    await asyncio.sleep((text(properties, "delayMs") or 0) / 1000)


def fail_on(properties, method):
    if text(properties, "failOn") == method:
        raise RuntimeError(f"asked to fail at {method}")


def half_done(properties):
    """This SDK cannot say that a resource is half done: to the engine the operation has failed."""
    if text(properties, "initError"):
        raise RuntimeError("asked to be half done")


def difference(olds, news, keys, replacing):
    """Compares what is known of old values with new ones; unknown new values count as changed."""
    detailed = {}
    for key in keys:
        if (key in olds) == (key in news) and text(olds, key) == text(news, key):
            continue
        kind = "UPDATE" if key in olds and key in news else "ADD" if key in news else "DELETE"
        if key in replacing:
            kind += "_REPLACE"
        detailed[key] = p.PropertyDiff(p.PropertyDiffKind[kind], False)
    return p.DiffResponse(
        changes=bool(detailed),
        replaces=sorted(replacing & detailed.keys()),
        diffs=sorted(detailed),
        detailed_diff=detailed,
        delete_before_replace=text(news, "deleteBeforeReplace") is True,
    )


async def settled(output):
    """An output as a property value, unknown in a preview."""
    value = world.wrapped(await output.future()) if await output.is_known() else PropertyValue(world.UNKNOWN)
    urns = [await resource.urn.future() for resource in await output.resources()]
    return value.with_secret(await output.is_secret()).with_dependencies({urn for urn in urns if urn})


def as_input(value):
    """A property value as an input of a resource."""
    inner = pulumi.output.UNKNOWN if world.is_unknown(value) else plain(value)
    return pulumi.Output.secret(inner) if value.contains_secret() else inner


class Item(pulumi.CustomResource):
    name: pulumi.Output[str]
    token: pulumi.Output[str]

    def __init__(self, name, properties, opts):
        super().__init__("ledger:index:Item", name, {**properties, "name": None, "token": None}, opts)


class Group(pulumi.ComponentResource):
    """As many items as its `count` says."""

    def __init__(self, name, inputs, opts):
        super().__init__("ledger:index:Group", name, {}, opts)
        given = {key: as_input(inputs[key]) for key in ("kind", "value", "secret") if key in inputs}
        options = pulumi.ResourceOptions(parent=self)
        self.items = items = [
            Item(f"{name}-{number}", given, options) for number in range(int(text(inputs, "count")))
        ]
        self.state = {"names": pulumi.Output.all(*[item.name for item in items])}
        if items:
            self.state["token"] = items[0].token


class Ledger(p.Provider):
    zone = None

    async def get_schema(self, request):
        return p.GetSchemaResponse((Path(__file__).parent / "../go/schema.json").read_text())

    async def check_config(self, request):
        await record("checkConfig", urn=request.urn, inputs=request.new_inputs, olds=request.old_inputs)
        inputs = dict(request.new_inputs)
        if "key" in inputs:
            inputs["key"] = inputs["key"].with_secret(True)
        return p.CheckResponse(inputs)

    async def configure(self, request):
        await record("configure", inputs=request.args)
        self.zone = text(request.args, "zone")
        # Output values without dependencies are more than this SDK can read.
        return p.ConfigureResponse(
            accept_secrets=True, supports_preview=True, accept_resources=True, accept_outputs=False
        )

    async def check(self, request):
        await record("check", urn=request.urn, inputs=request.new_inputs, olds=request.old_inputs)
        inputs = dict(request.new_inputs)
        if text(inputs, "failOn") == "check":
            return p.CheckResponse(inputs, [p.CheckFailure("failOn", "asked to fail at check")])
        size = text(inputs, "size")
        if isinstance(size, (int, float)) and size < 0:
            return p.CheckResponse(inputs, [p.CheckFailure("size", "must not be negative")])
        if "name" not in inputs:
            inputs["name"] = request.old_inputs.get("name") or PropertyValue(world.free(request.name))
        if "secret" in inputs:
            inputs["secret"] = inputs["secret"].with_secret(True)
        return p.CheckResponse(inputs)

    async def diff(self, request):
        await record(
            "diff", urn=request.urn, id=request.resource_id, inputs=request.new_inputs,
            state=request.old_state, ignoreChanges=request.ignore_changes,
        )
        fail_on(request.new_inputs, "diff")
        return difference(request.old_state, request.new_inputs, INPUTS, REPLACING)

    def thing(self, name, urn, properties, serial):
        secrets = sorted(key for key, value in properties.items() if value.contains_secret())
        inputs = {key: plain(value) for key, value in properties.items()}
        thing = {"id": name, "urn": urn, "inputs": inputs, "secrets": secrets, "serial": serial}
        return {**thing, "zone": self.zone} if self.zone else thing

    @staticmethod
    def inputs_of(thing):
        inputs = {key: world.wrapped(value) for key, value in thing["inputs"].items()}
        for key in thing["secrets"]:
            inputs[key] = inputs[key].with_secret(True)
        return inputs

    def outputs_of(self, thing):
        outputs = self.inputs_of(thing)
        outputs["token"] = PropertyValue(f"token-of-{thing['id']}").with_secret(True)
        outputs["serial"] = PropertyValue(float(thing["serial"]))
        if "zone" in thing:
            outputs["zone"] = PropertyValue(thing["zone"])
        return outputs

    def planned(self, inputs, token):
        zone = {"zone": PropertyValue(self.zone)} if self.zone else {}
        return {**inputs, **zone, "token": token.with_secret(True), "serial": PropertyValue(world.UNKNOWN)}

    async def create(self, request):
        inputs = request.properties
        done = await record(
            "create", urn=request.urn, preview=request.preview, timeout=request.timeout, inputs=inputs
        )
        if request.preview:
            return p.CreateResponse(properties=self.planned(inputs, PropertyValue(world.UNKNOWN)))
        await pause(inputs)
        fail_on(inputs, "create")
        made = self.thing(text(inputs, "name"), request.urn, inputs, 1)
        world.put(made, True)
        await done()
        half_done(inputs)
        return p.CreateResponse(made["id"], self.outputs_of(made))

    async def read(self, request):
        await record(
            "read", urn=request.urn, id=request.resource_id, inputs=request.inputs, state=request.properties
        )
        fail_on(request.properties, "read")
        found = world.get(request.resource_id)
        if found is None:
            return p.ReadResponse()
        return p.ReadResponse(found["id"], self.outputs_of(found), self.inputs_of(found))

    async def update(self, request):
        done = await record(
            "update", urn=request.urn, id=request.resource_id, preview=request.preview,
            timeout=request.timeout, inputs=request.news, state=request.olds,
            ignoreChanges=list(request.ignore_changes),
        )
        if request.preview:
            return p.UpdateResponse(self.planned(request.news, request.olds["token"]))
        await pause(request.news)
        fail_on(request.news, "update")
        found = world.get(request.resource_id)
        if found is None:
            raise RuntimeError(f'there is no object named "{request.resource_id}"')
        changed = self.thing(request.resource_id, request.urn, request.news, found["serial"] + 1)
        world.put(changed, False)
        await done()
        half_done(request.news)
        return p.UpdateResponse(self.outputs_of(changed))

    async def delete(self, request):
        done = await record(
            "delete", urn=request.urn, id=request.resource_id, timeout=request.timeout, state=request.properties
        )
        await pause(request.properties)
        fail_on(request.properties, "delete")
        world.remove(request.resource_id)
        await done()

    async def invoke(self, request):
        await record("invoke", id=request.tok, inputs=request.args)
        if request.tok != "ledger:index:lookup":
            raise RuntimeError(f'there is no function "{request.tok}"')
        if text(request.args, "fail"):
            raise RuntimeError("asked to fail at invoke")
        found = world.get(text(request.args, "id"))
        if found is None:
            return p.InvokeResponse({"found": PropertyValue(False)})
        token = PropertyValue(f"token-of-{found['id']}").with_secret(True)
        return p.InvokeResponse({
            "found": PropertyValue(True), "value": world.wrapped(found["inputs"].get("value")),
            "serial": PropertyValue(float(found["serial"])), "token": token,
        })

    async def construct(self, request):
        if request.resource_type != "ledger:index:Group":
            raise RuntimeError(f'there is no component "{request.resource_type}"')
        await record("construct", id=request.name, inputs=request.inputs)
        group = Group(request.name, request.inputs, request.options)
        if text(request.inputs, "fail"):
            # Its items are made when it fails, so that what it leaves does not depend on who is quicker.
            for item in group.items:
                await item.urn.future()
            raise RuntimeError("asked to fail at construct")
        group.register_outputs(group.state)
        state = {key: await settled(output) for key, output in group.state.items()}
        dependencies = {key: value.all_dependencies() for key, value in state.items()}
        return p.ConstructResponse(await group.urn.future(), state, dependencies)

    async def call(self, request):
        await record("call", id=request.tok, inputs=request.args)
        name = request.args["__self__"].value.urn.split("::")[-1]
        return p.CallResponse({"text": PropertyValue(f"{text(request.args, 'greeting') or ''} from {name}")})


if __name__ == "__main__":
    main(sys.argv[1:], "1.0.0", Ledger())
