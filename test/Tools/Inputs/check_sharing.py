"""Machine code is there once in each engine that is named: as many files as
distinct hashes of .text, each with all of its kernels and no others. With
--more=N, at least N files have several symbols."""

import json
import pathlib
import subprocess
import sys

least = 0
shared = 0
for argument in sys.argv[1:]:
    if argument.startswith("--more="):
        least = int(argument.split("=")[1])
        continue
    engine = pathlib.Path(argument)
    description = json.loads((engine / "engine.json").read_text())
    symbols = {}
    hashes = set()
    for entry in description["code_objects"]:
        hashes.add(entry["text_sha256"])
        known = symbols.setdefault(entry["path"], set())
        known.update(kernel["symbol"] for kernel in entry["kernels"])
    files = {"code/" + path.name for path in (engine / "code").iterdir()}
    assert files == set(symbols), (engine, files ^ set(symbols))
    assert len(files) == len(hashes), (engine, len(files), len(hashes))
    # What the files themselves say, by another reader.
    for path, described in symbols.items():
        table = subprocess.run(
            ["llvm-readelf", "--dyn-symbols", "--wide", str(engine / path)],
            check=True, capture_output=True, text=True).stdout
        lines = [line.split() for line in table.splitlines()]
        functions = {line[-1]: line for line in lines if "FUNC" in line}
        assert set(functions) == described, (path, set(functions) ^ described)
        assert len({line[1] for line in functions.values()}) == 1, table
        shared += len(described) > 1
assert shared >= least, (shared, least)
print("shared")
