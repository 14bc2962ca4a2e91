"""make_evidence.py KIND IDENTITY: evidence for the quantize kernel, as a test run
would write it."""

import json
import sys

kind, identity = sys.argv[1:]
shape = {"shape": [16, 2048]}
print(
    json.dumps(
        {
            "format": "netra.evidence/1",
            "tactic": "gfx950.quantize_blocks_bf16",
            "evidence": {
                "kind": kind,
                "what": "random and edge inputs against a 64-bit oracle",
                "tests": [{"name": "QuantizeBlocks", "cases": 3, "failed": 0}],
                "kernels": [
                    {
                        "dimensions": {"M": 16, "K": 2048},
                        "operands": {"x": shape, "result": shape},
                        "options": {"WAVES": 1},
                        "identity_sha256": identity,
                    }
                ],
            },
        },
        indent=2,
    )
)
