"""The world that the provider keeps: a folder with a file for each object, and every call that was made."""

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from pulumi.provider.experimental.property_value import PropertyValue

# What stands for an unknown value on the wire; this SDK leaves it as it is.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

FOLDER = Path(os.environ.get("LEDGER_WORLD") or Path(tempfile.gettempdir()) / "ledger-world")
(FOLDER / "objects").mkdir(parents=True, exist_ok=True)
COUNTS = {}


def is_unknown(value):
    return value.value == UNKNOWN


def plain(value, mask=False):
    """A value without its secrets' wrapping; masked, they are not shown."""
    if value is None:
        return None
    inner = value.value
    if value.is_secret and mask:
        return "[secret unknown]" if is_unknown(value) else "[secret]"
    if is_unknown(value):
        return "[unknown]"
    if isinstance(inner, (list, tuple)):
        return [plain(element, mask) for element in inner]
    if hasattr(inner, "items"):
        return {key: plain(element, mask) for key, element in inner.items()}
    if inner is None or isinstance(inner, (bool, float, int, str)):
        return inner
    return {type(inner).__name__: getattr(inner, "urn", "")}


def shown(properties):
    return {key: plain(value, mask=True) for key, value in properties.items()}


def wrapped(value):
    """The opposite of `plain`, for what the world keeps."""
    if isinstance(value, list):
        return PropertyValue([wrapped(element) for element in value])
    if isinstance(value, dict):
        return PropertyValue({key: wrapped(element) for key, element in value.items()})
    return PropertyValue(float(value) if type(value) is int else value)


async def record(method, **call):
    """Writes a call down for good before it is carried out, and crashes or hangs when that was asked for.

    What it returns is to be awaited when the work is done and not answered yet.
    """
    line = {"method": method}
    for key, value in call.items():
        if value:
            line[key] = shown(value) if isinstance(value, dict) else value
    with open(FOLDER / "calls.jsonl", "a") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    if call.get("preview"):
        return lambda: asyncio.sleep(0)
    count = COUNTS[method] = COUNTS.get(method, 0) + 1
    await misbehave(method, count, "before")
    return lambda: misbehave(method, count, "after")


async def misbehave(method, count, moment):
    """Crashes (LEDGER_KILL_AT) or hangs (LEDGER_HANG) at a call given as `method:number[:after]`."""

    def at(name):
        wanted = os.environ.get(name, "").split(":")
        return wanted[:2] == [method, str(count)] and (wanted[2:] or ["before"]) == [moment]

    if at("LEDGER_KILL_AT"):
        os._exit(137)
    if at("LEDGER_HANG"):
        await asyncio.Event().wait()


def path_of(name):
    return FOLDER / "objects" / (name.replace("/", "_") + ".json")


def free(stem):
    """The first name made from a stem that nothing has."""
    name, number = stem, 2
    while path_of(name).exists():
        name, number = f"{stem}-{number}", number + 1
    return name


def get(name):
    return json.loads(path_of(name).read_text()) if path_of(name).exists() else None


def put(thing, is_new):
    """Writes an object whole or not at all. A new one must not exist yet."""
    place = path_of(thing["id"])
    draft = place.with_name(f"{place.name}.{time.time_ns()}")
    draft.write_text(json.dumps(thing))
    if not is_new:
        draft.rename(place)
        return
    try:
        os.link(draft, place)
    except FileExistsError:
        raise RuntimeError(f'an object named "{thing["id"]}" exists') from None
    finally:
        draft.unlink()


def remove(name):
    path_of(name).unlink(missing_ok=True)
