"""A few notes in the folder `notes`: each is a resource, and the list depends on the notes that it names.

The provider of notes stands in this program, so that nothing has to be installed besides the SDK.
"""

import pathlib

import pulumi
from pulumi.dynamic import (
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)


class Notes(ResourceProvider):
    def create(self, props):
        self.write(props)
        return CreateResult(props["file"], self.outputs(props))

    def read(self, id_, props):
        path = pathlib.Path(id_)
        if not path.exists():
            return ReadResult("", {})
        return ReadResult(id_, {"file": id_, "text": path.read_text()})

    def diff(self, _id, olds, news):
        # Another file is another note: it is made before the old one goes.
        replaces = [] if olds["file"] == news["file"] else ["file"]
        changes = bool(replaces) or olds["text"] != news["text"]
        return DiffResult(changes=changes, replaces=replaces)

    def update(self, _id, olds, news):
        self.write(news)
        return UpdateResult(self.outputs(news))

    def delete(self, id_, props):
        pathlib.Path(id_).unlink(missing_ok=True)

    def write(self, props):
        path = pathlib.Path(props["file"])
        path.parent.mkdir(exist_ok=True)
        path.write_text(props["text"])

    def outputs(self, props):
        return {"file": props["file"], "text": props["text"]}


class Note(Resource):
    file: pulumi.Output[str]
    text: pulumi.Output[str]

    def __init__(self, name, text, opts=None):
        super().__init__(Notes(), name, {"file": f"notes/{name}.txt", "text": text}, opts)


author = pulumi.Config().require("author")
stones = Note("stones", "Lay the longest side into the wall.\n")
rain = Note("rain", "Slope the cope stones so that rain runs off.\n")
contents = Note(
    "contents",
    pulumi.Output.all(stones.file, rain.file).apply(
        lambda files: f"Notes of {author}\n" + "".join(f"- {file}\n" for file in files)
    ),
)

pulumi.export("contents", contents.file)
pulumi.export("notes", [stones.file, rain.file])
