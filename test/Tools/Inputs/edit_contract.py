"""Changes a contract of an engine as an editor of engine.mlir would, who gives it
the id of its contents wherever that stands; reseal.py fits the hashes.

usage: edit_contract.py ENGINE OPERATION POINTER=JSON...

The first contract of OPERATION, such as rms_norm, is edited. JSON of a number with
a point is that number as f64 bits; an empty one takes the key away.
"""

import hashlib
import json
import pathlib
import struct
import sys


def spell(document):
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def contract_id(contract):
    text = json.dumps(contract, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "nk_" + hashlib.sha256(text.encode()).hexdigest()[:24]


def attribute(value):
    """As MLIR prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):  # which leaves out the type of a number
        return "[" + ", ".join(attribute(element).removesuffix(" : i64") for element in value) + "]"
    return "{" + ", ".join(f"{key} = {attribute(value[key])}" for key in sorted(value)) + "}"


engine = pathlib.Path(sys.argv[1])
contracts = json.loads((engine / "contracts.json").read_text())
before = next(
    id for id, contract in contracts["contracts"].items() if contract["problem"]["operation"] == sys.argv[2]
)
contract = contracts["contracts"].pop(before)
assert contract_id(contract) == before
for change in sys.argv[3:]:
    pointer, text = change.split("=", 1)
    *path, last = pointer.strip("/").split("/")
    place = contract
    for key in path:
        place = place[int(key) if isinstance(place, list) else key]
    if not text:
        del place[last]
        continue
    value = json.loads(text)
    if isinstance(value, float):
        value = {"f64": f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"}
    place[int(last) if isinstance(place, list) else last] = value
after = contract_id(contract)
contracts["contracts"][after] = contract
(engine / "contracts.json").write_text(spell(contracts))

module = engine / "engine.mlir"
start = f"    netra.contract @{before} "
lines = module.read_text().splitlines(keepends=True)
assert any(line.startswith(start) for line in lines)
text = "".join(start + attribute(contract) + "\n" if line.startswith(start) else line for line in lines)
module.write_text(text.replace(before, after))
for name in ("explain.json", "validation.json", "engine.json"):
    path = engine / name
    path.write_text(spell(json.loads(path.read_text().replace(before, after))))
