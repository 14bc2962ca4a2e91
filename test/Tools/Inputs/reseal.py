"""Gives the files of an engine the sizes and hashes that engine.json states, the
sources those of validation.json, and engine.json the id of its contents: what is
damaged has to be found by what it means. Further arguments, POINTER=JSON, change
engine.json before."""

import hashlib
import json
import pathlib
import sys


def spell(document):
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    return (text + "\n").encode()


engine = pathlib.Path(sys.argv[1])
description = json.loads((engine / "engine.json").read_text())
for change in sys.argv[2:]:
    pointer, value = change.split("=", 1)
    *path, last = pointer.strip("/").split("/")
    place = description
    for key in path:
        place = place[int(key) if isinstance(place, list) else key]
    assert last in place, pointer
    place[last] = json.loads(value)
validation = json.loads((engine / "validation.json").read_text())
for kernel in validation["kernels"]:
    if "source_sha256" in kernel:
        source = (engine / "source" / (kernel["symbol"] + ".s")).read_bytes()
        kernel["source_sha256"] = hashlib.sha256(source).hexdigest()
(engine / "validation.json").write_bytes(spell(validation))
for file in description["files"]:
    contents = (engine / file["path"]).read_bytes()
    file["bytes"] = len(contents)
    file["sha256"] = hashlib.sha256(contents).hexdigest()

description["id"] = ""
description["id"] = "ne_" + hashlib.sha256(spell(description)).hexdigest()[:24]
(engine / "engine.json").write_bytes(spell(description))
