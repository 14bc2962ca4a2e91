"""compare_hashes.py LISTING DEPLOYED: a deployment's kernels are in the listing of
tactics, with the same computational identities whatever their symbols, and the sources are
hashed alike whether or not they are assembled."""

import json
import sys

listing, deployed = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
known = {
    (tactic["name"], instance["identity_sha256"])
    for tactic in listing["tactics"]
    for instance in tactic.get("instances", [])
}
kernels = [kernel for artifact in deployed["artifacts"] for kernel in artifact["kernels"]]
missing = [kernel["symbol"] for kernel in kernels if (kernel["tactic"], kernel["identity_sha256"]) not in known]
if missing or not kernels:
    sys.exit(f"expected every kernel in the listing, found {missing} of {len(kernels)} missing")
sources = [tactic for tactic in listing["tactics"] if len(tactic.get("source_closure_sha256", "")) != 64]
if sources:
    sys.exit(f"expected a source hash for each tactic, found none for {[t['name'] for t in sources]}")
hashes = {tactic["name"]: tactic["source_closure_sha256"] for tactic in listing["tactics"]}
compared = 0
for artifact in deployed["artifacts"]:
    if len({kernel["tactic"] for kernel in artifact["kernels"]}) == 1:
        expected = hashes[artifact["kernels"][0]["tactic"]]
        compared += 1
        if artifact["source_closure_sha256"] != expected:
            sys.exit(f"expected source hash {expected}, found that of {artifact['name']}")
if not compared:
    sys.exit("expected artifacts of one template, found none")
