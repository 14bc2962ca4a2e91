"""Writes the records of two goldens, their_2048 and their_4096 of quantize.hsaco,
which quantize rows of as many columns.

usage: make_goldens.py LIBRARY GOLDENS"""

import json
import pathlib
import subprocess
import sys

library, goldens = map(pathlib.Path, sys.argv[1:])
folder = library / "manifests/gfx950/goldens"
folder.mkdir(parents=True, exist_ok=True)
for columns in (2048, 4096):
    path = folder / f"their_{columns}.json"
    subprocess.run(
        ["netra-engine", "record-golden", str(goldens / "quantize.hsaco"), f"--kernel=their_{columns}", "-o", str(path)],
        check=True)
    record = json.loads(path.read_text())
    record.update({
        "family": "quantize", "operation": "quantize_blocks", "rank": 10, "summary": "by somebody else",
        "match": {
            "dimensions": {"M": 16, "K": columns},
            "operands": {
                "x": {"type": "bf16", "shape": ["M", "K"]},
                "result": {"type": "f8E4M3FN", "shape": ["M", "K"]},
                "result_scale": {"type": "f32", "shape": ["M", "K / 128"]},
            },
            "attributes": {"result_block_scale": ["1x128:f32"]},
        },
        "launch": {"grid": ["M", columns // 512, 1], "block": [64, 1, 1], "dynamic_lds": 0},
        "numerics": {"accumulation": "f32", "rounding": "codes.v1", "reduction_order": "quantize.blocks.v1",
                     "error_bound": "scales within 1 ulp of f32"},
        "graph_capture": True, "deterministic": True, "maturity": "verified",
        "evidence": [{"kind": "simulated", "what": "looked at"}],
    })
    for argument, (role, kind) in zip(
            record["arguments"], (("x", "bf16"), ("result", "f8E4M3FN"), ("result_scale", "f32"))):
        argument.update({"role": role, "type": kind})
        argument.pop("value", None)
    path.write_text(json.dumps(record, indent=2) + "\n")
