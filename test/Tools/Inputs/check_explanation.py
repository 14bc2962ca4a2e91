"""Reads an explanation from stdin: every kernel of every step is explained for the
contract of the step, and a kernel of several contracts more than once."""

import json
import sys

document = json.load(sys.stdin)
contracts = {}
for plan in document["plans"]:
    for step in plan["steps"]:
        kernel, contract = step["kernel"], step["contract"]
        entry = document["kernels"][contract][kernel]
        assert entry["contract"] == contract and entry["symbol"] == kernel, step
        assert entry["tactic"] == step["tactic"], step
        contracts.setdefault(kernel, set()).add(contract)
assert max(map(len, contracts.values())) > 1, contracts
