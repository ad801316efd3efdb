"""Runs one command on the stack `dev`, with program.py of the working folder given inline through the Automation API.

The exit code is that of the CLI. A preview prints its steps as JSON.
"""

import json
import os
import re
import sys
from pathlib import Path

import pulumi
from pulumi import automation

sys.path.append(str(Path(__file__).parent.parent / "sdks"))

import ledger


def options_of(words):
    """Command-line words as options of the Automation API."""
    options = {"parallel": 1}
    while words:
        word = words.pop(0)
        if word == "-p":
            options["parallel"] = int(words.pop(0))
        elif word in ("--target", "--replace", "--exclude"):
            options.setdefault(word[2:], []).append(words.pop(0))
        else:
            options[word[2:].replace("-", "_")] = True
    return options


def main(command, *words):
    def program():
        scope = {}
        exec(compile(open("program.py").read(), "program.py", "exec"), scope)
        scope["program"](pulumi, ledger)

    options = automation.LocalWorkspaceOptions(work_dir=os.getcwd())
    stack = automation.select_stack("dev", "shop", program, opts=options)
    steps = []

    def on_event(event):
        if event.resource_pre_event:
            metadata = event.resource_pre_event.metadata
            steps.append({"urn": metadata.urn, "op": metadata.op.value, "keys": metadata.keys})

    def show(text):
        print(text, file=sys.stderr)

    run = getattr(stack, command)
    result = run(on_event=on_event, on_output=show, **options_of(list(words)))
    if command == "preview":
        summary = {str(operation): count for operation, count in result.change_summary.items()}
        print(json.dumps({"steps": steps, "changeSummary": summary}))


try:
    main(*sys.argv[1:])
except automation.CommandError as error:
    print(error, file=sys.stderr)
    code = re.search(r"code: (-?\d+)", str(error))
    sys.exit(int(code[1]) if code else 1)
