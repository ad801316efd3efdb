"""Programs given inline and programs of a folder: outputs, secrets, configuration, other stacks, several at once."""

import unittest

import pulumi
from pulumi import automation
from pulumi.automation import ConfigValue

import ledger
from shop import Running, Shop, items, project

FOLDER_PROGRAM = """
import os
import pulumi
from pulumi import dynamic

class Maker(dynamic.ResourceProvider):
    def create(self, inputs):
        return dynamic.CreateResult("made", inputs)

class Thing(dynamic.Resource):
    color: pulumi.Output[str]
    hidden: pulumi.Output[str]

    def __init__(self, name, props):
        super().__init__(Maker(), name, props)

thing = Thing("t", {"color": pulumi.Config().require("color"), "hidden": pulumi.Output.secret("hush")})
pulumi.export("color", thing.color)
pulumi.export("hidden", thing.hidden)
pulumi.export("variable", os.environ.get("SHOP_VARIABLE"))
"""


def plain(outputs):
    return {name: (output.value, output.secret) for name, output in outputs.items()}


class Programs(unittest.TestCase):
    def test_outputs_of_every_shape_and_secrets_among_them(self):
        def program():
            item = ledger.Item("a", {"value": {"deep": [1, {"x": "y"}]}, "secret": pulumi.Output.secret("hush")})
            pulumi.export("number", 1.5)
            pulumi.export("flag", True)
            pulumi.export("list", [1, "two", [3]])
            pulumi.export("value", item.value)
            pulumi.export("token", item.token)
            pulumi.export("hidden", pulumi.Output.secret({"a": [1]}))
            pulumi.export("nested", {"serial": item.serial, "within": pulumi.Output.secret("inner")})
            pulumi.export("text", pulumi.Output.concat(item.name, "-", item.serial.apply(lambda n: str(int(n)))))

        stack = Shop(program).stack
        up = stack.up()
        outputs = plain(up.outputs)
        self.assertEqual(outputs, {
            "number": (1.5, False), "flag": (True, False), "list": ([1, "two", [3]], False),
            "value": ({"deep": [1, {"x": "y"}]}, False), "token": ("token-of-a", True), "hidden": ({"a": [1]}, True),
            "nested": ({"serial": 1, "within": "inner"}, False), "text": ("a-1", False),
        })
        self.assertEqual(plain(stack.outputs()), outputs)
        self.assertEqual(plain(stack.workspace.stack_outputs("dev")), outputs)
        for secret in ("token-of-a", "hush", "inner"):
            self.assertNotIn(secret, up.stdout)

    def test_configuration_and_surroundings_reach_the_program(self):
        seen = {}

        def program():
            config = pulumi.Config()
            seen["size"] = config.require_int("size")
            seen["names"] = [pulumi.get_project(), pulumi.get_stack(), pulumi.get_organization(), pulumi.runtime.is_dry_run()]
            pulumi.export("secret", config.require_secret("key"))
            pulumi.export("list", config.require_object("list"))

        shop = Shop(program)
        shop.stack.set_all_config({"size": ConfigValue("3"), "key": ConfigValue("hush", secret=True)})
        shop.stack.set_config("list[0]", ConfigValue("first"), path=True)
        shop.stack.preview()
        self.assertTrue(seen["names"][3])
        outputs = plain(shop.stack.up().outputs)
        self.assertEqual(seen, {"size": 3, "names": [shop.project, "dev", "organization", False]})
        self.assertEqual(outputs, {"secret": ("hush", True), "list": (["first"], False)})

    def test_a_component_a_function_and_a_method_of_a_provider(self):
        def program():
            group = ledger.Group("g", {"count": 2, "value": "v"})
            found = ledger.lookup({"id": group.names.apply(lambda names: names[0])})
            pulumi.export("names", group.names)
            pulumi.export("text", group.describe("hello").apply(lambda result: result["text"]))
            pulumi.export("found", found.apply(lambda result: result["found"]))

        shop = Shop(program)
        up = shop.stack.up()
        # One secret makes all that a function gives a secret in this SDK.
        self.assertEqual(plain(up.outputs), {
            "names": (["g-0", "g-1"], False), "text": ("hello from g", False), "found": (True, True),
        })
        self.assertEqual(up.summary.resource_changes, {"create": 4})
        shop.stack.destroy()
        self.assertEqual(shop.world.names(), [])

    def test_transforms_and_hooks_of_an_inline_program(self):
        ran = []

        def program():
            def transform(given):
                if given.type_ == "ledger:index:Item":
                    return pulumi.ResourceTransformResult(props={**given.props, "kind": "transformed"}, opts=given.opts)

            pulumi.runtime.register_resource_transform(transform)
            hook = pulumi.ResourceHook("note", lambda given: ran.append(given.name))
            binding = pulumi.ResourceHookBinding(after_create=[hook])
            ledger.Item("a", {}, pulumi.ResourceOptions(hooks=binding))

        shop = Shop(program)
        shop.stack.up()
        self.assertEqual(ran, ["a"])
        self.assertEqual(shop.world.calls("create")[-1]["inputs"]["kind"], "transformed")

    def test_a_program_of_a_folder(self):
        work_dir = project({"__main__.py": FOLDER_PROGRAM, "Pulumi.dev.yaml": "config:\n  color: red\n"})
        options = automation.LocalWorkspaceOptions(env_vars={"SHOP_VARIABLE": "set"})
        stack = automation.create_stack("dev", work_dir=str(work_dir), opts=options)
        self.assertEqual(stack.preview().change_summary, {"create": 2})
        up = stack.up()
        self.assertEqual(plain(up.outputs), {"color": ("red", False), "hidden": ("hush", True), "variable": ("set", False)})
        self.assertEqual(up.summary.environment["exec.kind"], "auto.local")
        stack.set_config("color", ConfigValue("blue"))
        again = automation.select_stack("dev", work_dir=str(work_dir))
        self.assertEqual(again.up().summary.resource_changes["update"], 1)
        again.destroy(remove=True)
        self.assertFalse((work_dir / "Pulumi.dev.yaml").exists())

    def test_a_stack_reads_another(self):
        def first():
            pulumi.export("open", "o")
            pulumi.export("hidden", pulumi.Output.secret("h"))

        other = Shop(first)
        other.stack.up()

        def second():
            reference = pulumi.StackReference(f"organization/{other.project}/dev")
            pulumi.export("open", reference.get_output("open"))
            pulumi.export("hidden", reference.get_output("hidden"))

        self.assertEqual(plain(Shop(second).stack.up().outputs), {"open": ("o", False), "hidden": ("h", True)})

    def test_two_stacks_are_updated_at_the_same_time_by_one_process(self):
        shops = [Shop(items(**{name: {"delayMs": 500}})) for name in ("one", "two")]
        running = [Running(shop.stack.up) for shop in shops]
        outputs = [plain(update.result().outputs) for update in running]
        self.assertEqual(outputs, [{"one": (1, False)}, {"two": (1, False)}])
        self.assertEqual([shop.world.names() for shop in shops], [["one"], ["two"]])


if __name__ == "__main__":
    unittest.main()
