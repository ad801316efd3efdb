"""Configuration, tags, history, export, import and rename of a stack."""

import copy
import json
import unittest

import pulumi
from pulumi.automation import CommandError, ConfigValue, Deployment

from shop import Shop, items


def plain(config):
    return {key: (value.value, value.secret) for key, value in config.items()}


class Stacks(unittest.TestCase):
    def value(self, stack, key, path=False):
        value = stack.get_config(key, path=path)
        return value.value, value.secret

    def test_configuration_is_set_read_and_removed(self):
        shop = Shop(items())
        stack = shop.stack
        stack.set_config("plain", ConfigValue("-1"))
        stack.set_config("key", ConfigValue("hush", secret=True))
        stack.set_config("aws:region", ConfigValue("eu"))
        self.assertEqual(self.value(stack, "plain"), ("-1", False))
        self.assertEqual(plain(stack.get_all_config()), {
            "aws:region": ("eu", False), f"{shop.project}:plain": ("-1", False), f"{shop.project}:key": ("hush", True),
        })
        with self.assertRaisesRegex(CommandError, "not found"):
            stack.get_config("missing")
        stack.set_all_config({"a": ConfigValue("1=2"), "b": ConfigValue("secret b", secret=True)})
        self.assertEqual((self.value(stack, "a"), self.value(stack, "b")), (("1=2", False), ("secret b", True)))
        stack.remove_config("plain")
        stack.remove_all_config(["a", "b", "aws:region"])
        self.assertEqual(list(stack.get_all_config()), [f"{shop.project}:key"])

    def test_configuration_has_paths(self):
        stack = Shop(items()).stack
        stack.set_config("tree.list[0].name", ConfigValue("first"), path=True)
        stack.set_all_config({"tree.list[1]": ConfigValue("second"), "tree.hidden": ConfigValue("h", secret=True)}, path=True)
        self.assertEqual(self.value(stack, "tree.list[0].name", path=True), ("first", False))
        self.assertEqual(json.loads(stack.get_config("tree").value), {"list": [{"name": "first"}, "second"], "hidden": "h"})
        stack.remove_config("tree.list[0]", path=True)
        stack.remove_all_config(["tree.hidden"], path=True)
        self.assertEqual(json.loads(stack.get_config("tree").value), {"list": ["second"]})

    def test_configuration_is_set_as_json_and_brought_back_from_the_last_update(self):
        shop = Shop(items())
        shop.stack.set_all_config_json(json.dumps({f"{shop.project}:key": {"value": "hush", "secret": True}}))
        self.assertEqual(self.value(shop.stack, "key"), ("hush", True))
        shop.stack.up()
        shop.stack.set_config("key", ConfigValue("other"))
        shop.stack.refresh_config()
        self.assertEqual(self.value(shop.stack, "key"), ("hush", True))

    def test_tags(self):
        stack = Shop(items()).stack
        stack.set_tag("team", "blue")
        self.assertEqual(stack.get_tag("team"), "blue")
        self.assertEqual(stack.list_tags()["team"], "blue")
        stack.remove_tag("team")
        self.assertNotIn("team", stack.list_tags())

    def test_history_has_pages_and_hides_secrets_when_asked_to(self):
        shop = Shop(items())
        stack = shop.stack
        self.assertIsNone(stack.info())
        stack.set_config("key", ConfigValue("hush", secret=True))
        for message in ("one", "two", "three"):
            stack.up(message=message)
        messages = lambda **page: [summary.message for summary in stack.history(**page)]
        self.assertEqual(messages(), ["three", "two", "one"])
        self.assertEqual(messages(page_size=2), ["three", "two"])
        self.assertEqual(messages(page_size=2, page=2), ["one"])
        key = f"{shop.project}:key"
        self.assertEqual(stack.info().config[key].value, "hush")
        self.assertEqual(stack.info(show_secrets=False).config[key].value, "[secret]")

    def test_a_stack_is_exported_and_imported_again(self):
        def program():
            items(a={}, b={})()
            pulumi.export("hidden", pulumi.Output.secret("hush"))

        shop = Shop(program)
        shop.stack.up()
        exported = shop.stack.export_stack()
        self.assertEqual(exported.version, 3)
        self.assertIn("hush", json.dumps(exported.deployment))
        without = copy.deepcopy(exported.deployment)
        without["resources"] = [r for r in without["resources"] if not r["urn"].endswith("::b")]
        shop.stack.import_stack(Deployment(version=3, deployment=without))
        self.assertEqual(shop.recorded(), ["a"])
        shop.stack.import_stack(exported)
        self.assertEqual(shop.recorded(), ["a", "b"])
        shop.stack.up(expect_no_changes=True)

    def test_a_stack_is_renamed(self):
        shop = Shop(items(a={}))
        shop.stack.set_config("k", ConfigValue("v"))
        shop.stack.up()
        shop.stack.rename("prod")
        self.assertEqual(shop.stack.name, "prod")
        self.assertEqual([stack.name for stack in shop.stack.workspace.list_stacks()], ["prod"])
        self.assertEqual(self.value(shop.stack, "k"), ("v", False))
        shop.stack.up(expect_no_changes=True)


if __name__ == "__main__":
    unittest.main()
