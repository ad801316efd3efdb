"""Stacks of a project `shop…`, each with a world of its own that the provider `ledger` keeps in a folder."""

import itertools
import json
import os
import threading
import time
from pathlib import Path

import pulumi
from pulumi import automation

import ledger

_numbers = itertools.count(1)


def folder(name):
    """A new folder in the test's own."""
    made = Path(f"{name}-{next(_numbers)}").resolve()
    made.mkdir()
    return made


class World:
    """What really exists."""

    def __init__(self):
        self.folder = folder("world")
        (self.folder / "objects").mkdir()

    def names(self):
        return sorted(file.stem for file in (self.folder / "objects").glob("*.json"))

    def calls(self, method):
        file = self.folder / "calls.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [call for call in map(json.loads, lines) if call["method"] == method]

    def appear(self, name, **inputs):
        """Something that no program made."""
        thing = {"id": name, "urn": "", "inputs": {**inputs, "name": name}, "secrets": [], "serial": 7}
        (self.folder / "objects" / f"{name}.json").write_text(json.dumps(thing))

    def tamper(self, name, **inputs):
        file = self.folder / "objects" / f"{name}.json"
        thing = json.loads(file.read_text())
        thing["inputs"].update(inputs)
        file.write_text(json.dumps(thing))


def items(**given):
    """A program that makes items, each given by its inputs. `after` names those that it waits for."""

    def program():
        made = {}
        for name, inputs in given.items():
            inputs = dict(inputs)
            after = [made[other] for other in inputs.pop("after", [])]
            protect = inputs.pop("protect", None)
            made[name] = ledger.Item(name, inputs, pulumi.ResourceOptions(depends_on=after, protect=protect))
            pulumi.export(name, made[name].serial)

    return program


class Shop:
    """A new stack whose program is a function of this process."""

    def __init__(self, program, stack_name="dev", **options):
        self.world = World()
        self.project = f"shop{next(_numbers)}"
        variables = {"LEDGER_WORLD": str(self.world.folder)}
        options = automation.LocalWorkspaceOptions(env_vars=variables, **options)
        self.stack = automation.create_stack(stack_name, self.project, program, opts=options)

    def urn(self, name):
        return f"urn:pulumi:{self.stack.name}::{self.project}::ledger:index:Item::{name}"

    def recorded(self):
        """The names of the stack's resources of the provider `ledger`."""
        resources = self.stack.export_stack().deployment.get("resources", [])
        return sorted(r["urn"].split("::")[-1] for r in resources if r["type"] == "ledger:index:Item")


def project(files, runtime="python"):
    """A folder with a program in Python."""
    made = folder("project")
    name = f"shop{next(_numbers)}"
    (made / "Pulumi.yaml").write_text(f"name: {name}\nruntime: {{ name: {runtime}, options: {{ virtualenv: venv }} }}\n")
    for file, text in files.items():
        (made / file).write_text(text)
    (made / "venv").symlink_to(os.environ["DRYSTONE_PEER_PYTHON"])
    return made


def until(what, holds):
    """Waits until something holds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < 60, f"waited a minute for {what}"
        time.sleep(0.05)


class Running(threading.Thread):
    """A call of the SDK that runs beside the others. `result` gives its value, or raises what it raised."""

    def __init__(self, call, **options):
        super().__init__()
        self.call, self.options, self.value, self.error = call, options, None, None
        self.start()

    def run(self):
        try:
            self.value = self.call(**self.options)
        except Exception as error:
            self.error = error

    def result(self):
        self.join()
        if self.error:
            raise self.error
        return self.value
