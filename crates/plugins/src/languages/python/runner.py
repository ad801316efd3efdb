"""Runs a Pulumi program: python -c <this> <settings as JSON> <program> [arguments]."""

import sys

# `-c` looks for modules in the working folder first, where a file of the program could stand for one of the library.
if sys.path[:1] == [""]:
    del sys.path[0]

import asyncio
import inspect
import json
import logging
import os
import runpy
import traceback
from concurrent.futures import ThreadPoolExecutor

try:
    import pulumi
    import pulumi.runtime
except ModuleNotFoundError as error:
    if error.name != "pulumi":
        raise
    print("drystone-runner: no module named pulumi", file=sys.stderr)
    sys.exit(1)

# Says that the user has been told why the program failed.
TOLD = 32


def configure(given):
    """Hands configuration and settings to the SDK, whatever its age."""
    # A long configuration comes as input. What the program starts could not be given it as variables either.
    long = json.load(sys.stdin) if os.environ.pop("DRYSTONE_CONFIG_IS_INPUT", None) else {}
    os.environ.update(long)
    values = pulumi.runtime.get_config_env()
    if hasattr(pulumi.runtime, "set_all_config") and hasattr(pulumi.runtime, "get_config_secret_keys_env"):
        pulumi.runtime.set_all_config(values, pulumi.runtime.get_config_secret_keys_env())
    else:
        for key, value in values.items():
            pulumi.runtime.set_config(key, value)
    for name in long:
        del os.environ[name]
    known = inspect.signature(pulumi.runtime.Settings.__init__).parameters
    settings = {name: value for name, value in given.items() if name in known}
    pulumi.runtime.configure(pulumi.runtime.Settings(**settings))


def trace_of(error, program):
    """The trace of an error from where the program itself begins."""
    main = os.path.join(program, "__main__.py") if os.path.isdir(program) else program
    frames = traceback.extract_tb(error.__traceback__)
    for index, frame in enumerate(frames):
        if os.path.abspath(frame.filename) == main:
            return "".join(traceback.format_exception(type(error), error, error.__traceback__, index - len(frames)))
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def run(loop, program):
    """Runs the program in a stack and gives the exit code."""
    if os.path.isdir(program) and not os.path.isfile(os.path.join(program, "__main__.py")):
        pulumi.log.error(f"unable to find main python program `__main__.py` in `{program}`")
        return TOLD
    if not os.path.isdir(program):
        sys.path.insert(0, os.path.dirname(program))

    def main():
        runpy.run_path(sys.argv[0], run_name="__main__")

    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(main))
        return 0
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return 1
    except Exception as error:
        pulumi.log.error("Program failed with an unhandled exception:\n" + trace_of(error, program))
        return TOLD


def start():
    given = json.loads(sys.argv[1])
    sys.argv = sys.argv[2:]
    # Lines are shown as they are printed, not when the program ends.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    configure(given)
    # A program that fails leaves futures that nobody looks at any more. That is no news to the user.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    threads = ThreadPoolExecutor(max_workers=4 * max(given["parallel"], 1))
    loop.set_default_executor(threads)
    try:
        code = run(loop, os.path.abspath(sys.argv[0]))
    except KeyboardInterrupt:
        # Whoever interrupts does not wait for calls that are under way.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    threads.shutdown(wait=True)
    loop.close()
    sys.exit(code)


start()
