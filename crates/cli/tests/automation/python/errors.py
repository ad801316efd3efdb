"""What goes wrong reaches the caller as the right kind of error, and the state stays true."""

import unittest

from pulumi import automation
from pulumi.automation import CommandError
from pulumi.automation.errors import (
    ConcurrentUpdateError,
    InlineSourceRuntimeError,
    RuntimeError,
    StackAlreadyExistsError,
    StackNotFoundError,
)

from shop import Running, Shop, items, project, until


class Errors(unittest.TestCase):
    def test_a_stack_that_is_not_there_and_one_that_is_there_already(self):
        shop = Shop(items())
        given = {"project_name": shop.project, "program": items(), "work_dir": shop.stack.workspace.work_dir}
        with self.assertRaises(StackNotFoundError):
            automation.select_stack("nope", **given)
        with self.assertRaises(StackAlreadyExistsError):
            automation.create_stack("dev", **given)
        self.assertEqual(automation.select_stack("dev", **given).name, "dev")
        self.assertEqual(automation.create_or_select_stack("dev", **given).name, "dev")
        self.assertEqual(automation.create_or_select_stack("new", **given).name, "new")
        self.assertEqual([stack.name for stack in shop.stack.workspace.list_stacks()], ["dev", "new"])

    def test_a_program_that_raises(self):
        def program():
            items(a={})()
            raise ValueError("the program is wrong")

        shop = Shop(program)
        for command in (shop.stack.preview, shop.stack.up):
            with self.assertRaises(InlineSourceRuntimeError) as raised:
                command()
            self.assertIn("the program is wrong", str(raised.exception))
        self.assertEqual(shop.stack.info().result, "failed")
        self.assertEqual(shop.recorded(), shop.world.names())
        self.assertEqual(shop.stack.up(program=items(a={})).summary.result, "succeeded")

    def test_a_program_of_a_folder_that_raises(self):
        work_dir = project({"__main__.py": "raise ValueError('the program is wrong')\n"})
        stack = automation.create_stack("dev", work_dir=str(work_dir))
        with self.assertRaises(RuntimeError) as raised:
            stack.up()
        self.assertIn("the program is wrong", str(raised.exception))

    def test_a_resource_that_fails(self):
        shop = Shop(items(good={}, bad={"failOn": "create", "after": ["good"]}, then={"after": ["bad"]}))
        printed, events = [], []
        with self.assertRaisesRegex(CommandError, "asked to fail at create"):
            shop.stack.up(on_output=printed.append, on_error=printed.append, on_event=events.append)
        self.assertIn("asked to fail at create", "\n".join(printed))
        failed = [event.res_op_failed_event.metadata.urn for event in events if event.res_op_failed_event]
        self.assertEqual(failed, [shop.urn("bad")])
        self.assertEqual(shop.recorded(), ["good"])
        self.assertEqual(shop.stack.info().result, "failed")
        others = items(good={}, bad={"failOn": "create"}, other={"delayMs": 300})
        with self.assertRaises(CommandError):
            shop.stack.up(program=others, continue_on_error=True)
        self.assertEqual(shop.world.names(), ["good", "other"])

    def test_a_stack_that_is_being_updated(self):
        shop = Shop(items(slow={"delayMs": 3000}))
        running = Running(shop.stack.up)
        until("the first update", lambda: shop.world.calls("create"))
        with self.assertRaises(ConcurrentUpdateError):
            shop.stack.destroy()
        self.assertEqual(running.result().summary.result, "succeeded")
        self.assertEqual(shop.recorded(), ["slow"])

    def test_an_update_that_is_cancelled(self):
        shop = Shop(items(first={"delayMs": 3000}, second={"after": ["first"]}))
        running = Running(shop.stack.up)
        until("the update", lambda: shop.world.calls("create"))
        shop.stack.cancel()
        with self.assertRaises(CommandError):
            running.result()
        self.assertNotIn("second", shop.world.names())
        shop.stack.up(program=items(first={}, second={"after": ["first"]}))
        self.assertEqual(shop.recorded(), ["first", "second"])

    def test_a_wrong_passphrase(self):
        stack = Shop(items()).stack
        stack.set_config("key", automation.ConfigValue("hidden", secret=True))
        stack.workspace.env_vars["PULUMI_CONFIG_PASSPHRASE"] = "wrong"
        with self.assertRaisesRegex(CommandError, "passphrase"):
            stack.get_config("key")


if __name__ == "__main__":
    unittest.main()
