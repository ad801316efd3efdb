"""`up`, `preview`, `refresh` and `destroy`: their options, results, events and output."""

import json
import os
import unittest

from pulumi.automation import CommandError

from shop import Shop, items

BOTH = {"a": {"size": 1}, "b": {"size": 1, "after": ["a"]}}


class Operations(unittest.TestCase):
    def test_a_stack_lives_from_preview_to_destroy(self):
        shop = Shop(items(**BOTH))
        stack, world = shop.stack, shop.world
        self.assertEqual(stack.preview().change_summary, {"create": 3})
        self.assertEqual(world.names(), [])

        printed = []
        up = stack.up(message="the first", on_output=printed.append)
        self.assertEqual("\n".join(printed), up.stdout)
        self.assertEqual((up.summary.kind, up.summary.result, up.summary.message), ("update", "succeeded", "the first"))
        self.assertEqual(up.summary.resource_changes, {"create": 3})
        self.assertEqual(up.summary.environment["exec.kind"], "auto.inline")
        self.assertGreaterEqual(up.summary.end_time, up.summary.start_time)
        self.assertEqual({name: (output.value, output.secret) for name, output in up.outputs.items()},
                         {"a": (1, False), "b": (1, False)})
        self.assertEqual(world.names(), ["a", "b"])

        self.assertEqual(stack.up(expect_no_changes=True).summary.resource_changes, {"same": 3})
        refresh = stack.refresh(expect_no_changes=True, message="look")
        self.assertEqual((refresh.summary.kind, refresh.summary.message), ("refresh", "look"))
        self.assertEqual(stack.preview_destroy().change_summary, {"delete": 3})
        self.assertEqual(world.names(), ["a", "b"])
        destroy = stack.destroy()
        self.assertEqual((destroy.summary.kind, destroy.summary.resource_changes), ("destroy", {"delete": 3}))
        self.assertEqual(world.names(), [])
        kinds = [summary.kind for summary in stack.history()]
        self.assertEqual(kinds, ["destroy", "refresh", "update", "update"])

    def test_events_tell_each_step_and_end_with_a_summary(self):
        shop = Shop(items(**BOTH))

        def events_of(command, **options):
            events = []
            getattr(shop.stack, command)(on_event=events.append, **options)
            return events

        def steps(events):
            pre = [event.resource_pre_event.metadata for event in events if event.resource_pre_event]
            steps = [f"{metadata.op.value} {metadata.urn.split('::')[-1]}" for metadata in pre]
            return [step for step in steps if step.endswith((" a", " b"))]

        for command in ("preview", "up"):
            events = events_of(command)
            self.assertEqual(steps(events), ["create a", "create b"])
            self.assertIsNotNone(events[0].prelude_event)
            summary = next(event.summary_event for event in events if event.summary_event)
            self.assertEqual(summary.resource_changes, {"create": 3})
            done = {event.res_outputs_event.metadata.urn for event in events if event.res_outputs_event}
            self.assertLessEqual({shop.urn("a"), shop.urn("b")}, done)
        changed = events_of("up", program=items(a={"size": 2}))
        self.assertEqual(steps(changed), ["update a", "delete b"])
        pre = [event.resource_pre_event.metadata for event in changed if event.resource_pre_event]
        update = next(metadata for metadata in pre if metadata.op.value == "update")
        self.assertEqual((update.diffs, update.detailed_diff["size"].diff_kind.value), (["size"], "update"))
        self.assertEqual((update.old.inputs["size"], update.new.inputs["size"]), (1, 2))
        self.assertEqual(steps(events_of("refresh")), ["refresh a"])
        self.assertEqual(steps(events_of("destroy")), ["delete a"])

    def test_an_update_is_previewed_as_it_will_be(self):
        stack = Shop(items(**BOTH)).stack
        stack.up()
        program = items(a={"size": 2}, b={"kind": "other"}, c={})
        expected = {"same": 1, "update": 1, "replace": 1, "create": 1}
        preview = stack.preview(program=program, diff=True)
        self.assertEqual(preview.change_summary, expected)
        self.assertIn("size", preview.stdout)
        up = stack.up(program=program, diff=True, parallel=2, color="never", suppress_progress=True)
        self.assertEqual(up.summary.resource_changes, expected)
        self.assertNotIn("\x1b", up.stdout)
        with self.assertRaisesRegex(CommandError, "no changes were expected"):
            stack.preview(program=items(**BOTH), expect_no_changes=True)

    def test_an_update_is_held_to_a_plan(self):
        shop = Shop(items(**BOTH))
        stack, plan = shop.stack, os.path.join(os.getcwd(), "plan.json")
        self.assertEqual(stack.preview(plan=plan).change_summary, {"create": 3})
        more = items(**BOTH, c={"after": ["b"]})
        with self.assertRaisesRegex(CommandError, "create is not allowed by the plan"):
            stack.up(plan=plan, program=more)
        self.assertNotIn("c", shop.recorded())
        stack.preview(plan=plan)
        self.assertEqual(stack.up(plan=plan).summary.environment["updatePlan"], "true")
        self.assertEqual(shop.recorded(), ["a", "b"])

    def test_targets_excludes_and_forced_replacements(self):
        shop = Shop(items(a={}, b={}, c={"after": ["b"]}))
        stack, urn = shop.stack, shop.urn
        stack.up(target=[urn("a")])
        self.assertEqual(shop.recorded(), ["a"])
        stack.up(exclude=[urn("b")], exclude_dependents=True)
        self.assertEqual(shop.recorded(), ["a"])
        stack.up()
        self.assertEqual(stack.up(replace=[urn("a")]).summary.resource_changes["replace"], 1)
        stack.refresh(target=[urn("a")])
        self.assertEqual([call["urn"] for call in shop.world.calls("read")], [urn("a")])
        with self.assertRaises(CommandError):
            stack.destroy(target=[urn("b")])
        self.assertEqual(shop.recorded(), ["a", "b", "c"])
        stack.destroy(target=[urn("b")], target_dependents=True)
        self.assertEqual(shop.recorded(), ["a"])

    def test_a_refresh_finds_what_was_changed_behind_its_back(self):
        shop = Shop(items(**BOTH))
        stack = shop.stack
        stack.up()
        shop.world.tamper("a", size=8)
        self.assertEqual(stack.preview_refresh().change_summary, {"same": 2, "update": 1})
        self.assertEqual(stack.refresh(parallel=1).summary.resource_changes, {"same": 2, "update": 1})
        with self.assertRaisesRegex(CommandError, "no changes were expected"):
            stack.up(expect_no_changes=True)
        shop.world.tamper("a", size=9)
        self.assertEqual(stack.up(refresh=True).summary.resource_changes["update"], 1)

    def test_destroy_spares_what_is_protected_and_removes_the_stack_when_asked_to(self):
        shop = Shop(items(kept={"protect": True}, gone={}))
        shop.stack.up()
        shop.stack.destroy(exclude_protected=True)
        self.assertEqual(shop.world.names(), ["kept"])
        with self.assertRaisesRegex(CommandError, "protect"):
            shop.stack.destroy()
        shop.stack.up(program=items(kept={}))
        destroy = shop.stack.destroy(remove=True, refresh=True, message="the end")
        self.assertEqual(destroy.summary.message, "the end")
        self.assertEqual((shop.world.names(), shop.stack.workspace.list_stacks()), ([], []))

    def test_the_program_runs_for_refresh_and_destroy_when_asked_to(self):
        runs = []

        def program():
            runs.append(1)
            items(**BOTH)()

        stack = Shop(program).stack
        stack.up()
        stack.refresh()
        self.assertEqual(len(runs), 1)
        stack.refresh(run_program=True)
        stack.destroy(run_program=True)
        self.assertEqual(len(runs), 3)

    def test_what_exists_is_imported_with_the_code_that_the_program_needs(self):
        shop = Shop(items(a={"name": "one", "size": 3, "protect": True}))
        stack, world = shop.stack, shop.world
        for name in ["one", "two", "three"]:
            world.appear(name, size=3)
        kind = "ledger:index:Item"

        one = stack.import_resources(message="mine now", resources=[{"type": kind, "name": "a", "id": "one"}])
        self.assertEqual((one.summary.kind, one.summary.message), ("resource-import", "mine now"))
        self.assertEqual(one.summary.resource_changes, {"create": 1, "import": 1})
        code = 'a = ledger.Item("a",\n    name="one",\n    size=3,\n    opts=pulumi.ResourceOptions(protect=True))'
        self.assertIn(code, one.generated_code)
        self.assertEqual(shop.recorded(), ["a"])
        self.assertEqual(stack.up(expect_no_changes=True).summary.resource_changes, {"same": 2})

        rest = [
            {"type": kind, "name": "b", "id": "two", "parent": "a"},
            {"type": "shop:index:Group", "name": "group", "component": True},
            {"type": kind, "name": "c", "id": "three", "parent": "group"},
        ]
        names = {"a": shop.urn("a")}
        more = stack.import_resources(resources=rest, name_table=names, protect=False, generate_code=False)
        self.assertEqual(more.generated_code, "")
        self.assertEqual(shop.recorded(), ["a", "b", "c"])
        with self.assertRaisesRegex(CommandError, "already exists"):
            stack.import_resources(resources=[{"type": kind, "name": "a", "id": "two"}], generate_code=False)
        self.assertEqual(stack.up().summary.resource_changes["delete"], 3)
        self.assertEqual(world.names(), ["one"])

    def test_what_a_converter_lists_is_imported(self):
        shop = Shop(items(a={"name": "one", "size": 3, "protect": True}))
        shop.world.appear("one", size=3)
        state = os.path.abspath("converted.json")
        with open(state, "w", encoding="utf-8") as file:
            json.dump({"resources": [{"type": "ledger:index:Item", "name": "a", "id": "one"}]}, file)
        imported = shop.stack.import_resources(converter="bench", converter_args=[state])
        self.assertIn('a = ledger.Item("a",', imported.generated_code)
        self.assertEqual(shop.recorded(), ["a"])
        self.assertEqual(shop.stack.up(expect_no_changes=True).summary.resource_changes, {"same": 2})
        with self.assertRaisesRegex(CommandError, 'converter "bench" failed: nowhere.json'):
            shop.stack.import_resources(converter="bench", converter_args=["nowhere.json"])


if __name__ == "__main__":
    unittest.main()
