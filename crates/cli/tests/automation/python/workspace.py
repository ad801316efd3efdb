"""The workspace itself: stacks, settings, surroundings, and that no method of the SDK is without a test."""

import http.server
import inspect
import io
import os
import re
import tarfile
import threading
import unittest
from pathlib import Path

from pulumi.automation import (
    CommandError,
    ConfigValue,
    LocalWorkspace,
    ProjectSettings,
    PulumiCommand,
    Stack,
    StackSettings,
    create_or_select_stack,
    fully_qualified_stack_name,
)

from shop import Shop, folder, items

# What is not driven here, and why.
LEFT_OUT = {
    "Pulumi Cloud": ["add_environments", "list_environments", "remove_environment", "org_get_default", "org_set_default"],
}


def workspace(name, **options):
    return LocalWorkspace(project_settings=ProjectSettings(name=name, runtime="python"), **options)


class Workspace(unittest.TestCase):
    def test_the_version_is_one_that_the_sdk_takes(self):
        self.assertEqual(PulumiCommand().version.major, 3)
        self.assertRegex(workspace("version").pulumi_version, r"^3\.\d+\.\d+")

    def test_a_project_is_made_from_a_template(self):
        made = folder("made") / "inside"
        one = workspace("maker", work_dir=str(folder("maker")))
        one.new("yaml", dir=str(made), name="fresh", description="a: b", stack="one", config=["size=3"])
        project = (made / "Pulumi.yaml").read_text()
        self.assertIn("name: fresh\n", project)
        inside = LocalWorkspace(work_dir=str(made))
        self.assertEqual([stack.name for stack in inside.list_stacks()], ["one"])
        self.assertEqual(inside.get_config("one", "size").value, "3")
        with self.assertRaisesRegex(CommandError, "is not empty"):
            one.new("yaml", dir=str(made), name="fresh")
        bare = folder("bare")
        one.new("python", dir=str(bare), name="bare", generate_only=True, runtime_options=["toolchain=uv"])
        self.assertEqual(sorted(os.listdir(bare)), [".gitignore", "Pulumi.yaml", "__main__.py", "requirements.txt"])
        self.assertIn("uv", (bare / "Pulumi.yaml").read_text())
        self.assertIn("typescript", one.new(list_templates=True).stdout)

    def test_the_user_and_the_backend(self):
        who = workspace("who").who_am_i()
        self.assertEqual((who.user, who.url), ("ana", os.environ["PULUMI_BACKEND_URL"]))

    def test_plugins_are_installed_from_a_server_listed_and_removed(self):
        content = folder("plugin")
        program = os.path.join(content, "pulumi-resource-shelf")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(program, 0o755)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            archive.add(program, "pulumi-resource-shelf")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(buffer.getvalue())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/files"
        one = workspace("plugins", pulumi_home=str(folder("home")))
        self.assertEqual(one.list_plugins(), [])
        one.install_plugin_from_server("shelf", "v1.0.0", address)
        one.install_plugin_from_server("shelf", "v1.2.0", address)
        server.shutdown()
        # What is installed is not downloaded again.
        one.install_plugin("shelf", "v1.2.0")
        found = [(plugin.name, plugin.kind, plugin.version, plugin.size) for plugin in one.list_plugins()]
        self.assertEqual(found, [("shelf", "resource", "1.0.0", 10), ("shelf", "resource", "1.2.0", 10)])
        one.remove_plugin("shelf", "<1.1.0")
        self.assertEqual([plugin.version for plugin in one.list_plugins()], ["1.2.0"])
        one.remove_plugin("shelf")
        self.assertEqual(one.list_plugins(), [])

    def test_what_a_project_depends_on_is_installed(self):
        where = folder("project")
        with open(os.path.join(where, "Pulumi.yaml"), "w", encoding="utf-8") as file:
            file.write("name: project\nruntime: { name: python, options: { virtualenv: venv } }\n")
        with open(os.path.join(where, "requirements.txt"), "w", encoding="utf-8") as file:
            file.write("")
        one = LocalWorkspace(work_dir=str(where))
        one.install(no_dependencies=True)
        self.assertFalse(os.path.exists(os.path.join(where, "venv")))
        one.install()
        self.assertTrue(os.path.exists(os.path.join(where, "venv", "bin", "python")))

    def test_stacks_are_made_listed_selected_and_removed(self):
        one = workspace("listing")
        self.assertEqual((one.list_stacks(), one.stack()), ([], None))
        one.create_stack("one")
        one.create_stack("two")
        self.assertEqual(one.stack().name, "two")
        one.select_stack("one")
        self.assertEqual([(stack.name, stack.current) for stack in one.list_stacks()], [("one", True), ("two", False)])
        workspace("elsewhere").create_stack("three")
        self.assertEqual(len(one.list_stacks()), 2)
        self.assertTrue(any(stack.name.endswith("three") for stack in one.list_stacks(include_all=True)))
        one.remove_stack("two")
        one.remove_stack("one", preserve_config=True)
        files = sorted(file.name for file in Path(one.work_dir).glob("Pulumi.*.yaml"))
        self.assertEqual((files, one.list_stacks()), (["Pulumi.one.yaml"], []))

    def test_a_stack_with_resources_is_removed_only_by_force(self):
        shop = Shop(items(a={}))
        shop.stack.up()
        self.assertEqual(shop.stack.workspace.stack().resource_count, 3)
        with self.assertRaisesRegex(CommandError, "resources"):
            shop.stack.workspace.remove_stack("dev")
        shop.stack.workspace.remove_stack("dev", force=True)
        self.assertEqual((shop.stack.workspace.list_stacks(), shop.world.names()), ([], ["a"]))

    def test_names_in_full(self):
        shop = Shop(items())
        name = fully_qualified_stack_name("organization", shop.project, "full")
        full = create_or_select_stack(name, shop.project, items(), work_dir=shop.stack.workspace.work_dir)
        full.set_config("k", ConfigValue("v"))
        self.assertEqual(full.up().summary.result, "succeeded")
        self.assertEqual([stack.name for stack in shop.stack.workspace.list_stacks()], ["dev", "full"])

    def test_settings_of_the_project_and_of_a_stack(self):
        stack_settings = {"dev": StackSettings(config={"settings:color": "red", "settings:deep": {"a": [1]}})}
        one = workspace("settings", work_dir=str(folder("settings")), stack_settings=stack_settings)
        one.create_stack("dev")
        self.assertEqual(one.get_config("dev", "color").value, "red")
        settings = one.stack_settings("dev")
        self.assertRegex(settings.encryption_salt, "^v1:")
        settings.config["settings:color"] = "blue"
        one.save_stack_settings("dev", settings)
        self.assertEqual(one.get_all_config("dev")["settings:color"].value, "blue")
        one.set_config("dev", "key", ConfigValue("hush", secret=True))
        self.assertEqual(one.get_config("dev", "key").value, "hush")
        project = one.project_settings()
        project.description = "something else"
        one.save_project_settings(project)
        self.assertEqual(one.project_settings().description, "something else")
        one.program = items()
        self.assertEqual(Stack.select("dev", one).up().summary.result, "succeeded")

    def test_surroundings_and_the_secrets_provider_of_a_workspace(self):
        state = folder("state")
        variables = {"PULUMI_BACKEND_URL": f"file://{state}", "PULUMI_CONFIG_PASSPHRASE": "another"}
        one = workspace("surroundings", env_vars=variables, secrets_provider="passphrase", pulumi_home=str(folder("home")))
        stack = Stack.create("dev", one)
        stack.set_config("key", ConfigValue("hush", secret=True))
        self.assertEqual(stack.get_config("key").value, "hush")
        self.assertTrue((state / ".pulumi").exists())
        self.assertEqual(workspace("surroundings").list_stacks(), [])

    def test_a_workspace_adds_arguments_and_is_told_when_a_command_is_over(self):
        told = []

        class Told(LocalWorkspace):
            def serialize_args_for_op(self, stack_name):
                return ["--message", "added"]

            def post_command_callback(self, stack_name):
                told.append(stack_name)

        one = Told(project_settings=ProjectSettings(name="told", runtime="python"), program=items())
        stack = Stack.create_or_select("dev", one)
        stack.preview()
        self.assertEqual(told, ["dev"])

    def test_every_method_has_a_test_or_a_reason_to_have_none(self):
        scripts = "\n".join(file.read_text() for file in Path(__file__).parent.glob("*.py"))
        methods = {name for kind in (Stack, LocalWorkspace) for name, _ in inspect.getmembers(kind, inspect.isfunction)
                   if not name.startswith("_")}
        self.assertGreaterEqual(len(methods), 50)
        left_out = {name for names in LEFT_OUT.values() for name in names}
        untested = {name for name in methods - left_out if not re.search(rf"(\.|def ){name}\b", scripts)}
        self.assertEqual(untested, set())


if __name__ == "__main__":
    unittest.main()
