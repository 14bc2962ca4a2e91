"""Holds the schemes of arithmetic that manifests name against the page that
describes them.

usage: check_schemes.py PAGE MANIFEST...

Each scheme of a manifest is in the page's table of its kind, with the same
parameters, and each scheme of the page is used.
"""

import json
import pathlib
import re
import sys

kinds = {"reduction_order": "Orders of sums", "rounding": "Roundings"}
page = pathlib.Path(sys.argv[1]).read_text()
described = {
    kind: set(re.findall(r"^\| `([^`]+)` \|", page.split(f"## {title}\n")[1].split("\n## ")[0], re.M))
    for kind, title in kinds.items()
}
used = {kind: set() for kind in kinds}
faults = []
for name in sys.argv[2:]:
    numerics = json.loads(pathlib.Path(name).read_text())["numerics"]
    for kind in kinds:
        used[kind].add(numerics[kind])
        if numerics[kind] not in described[kind]:
            faults.append(f"{pathlib.Path(name).name}: {kind}: no description of {numerics[kind]}")
for kind in kinds:
    faults += [f"{scheme}: described, but no {kind} of a manifest" for scheme in sorted(described[kind] - used[kind])]
print("\n".join(faults) or f"{sum(map(len, used.values()))} schemes")
sys.exit(bool(faults))
