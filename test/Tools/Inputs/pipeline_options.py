"""pipeline_options.py HELP DOC: whether DOC lists the pipeline's options.

HELP is the output of netra-opt --help.
"""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    after = file.read().split("--netra-engine-pipeline ", 1)[1]
with open(sys.argv[2], encoding="utf-8") as file:
    listed = file.read().split("Options of the pipeline:", 1)[1]

options = []
for line in after.splitlines()[1:]:
    match = re.match(r" {8}--([a-z-]+)", line)
    if not match:
        break
    options.append(match.group(1))
documented = re.findall(r"`([a-z-]+)`", listed.split(". ", 1)[0])

if not options:
    sys.exit("the help has no options of the pipeline")
faults = [f"lacks {name}" for name in options if name not in documented]
faults += [
    f"has {name}, which the pipeline has not"
    for name in documented
    if name not in options
]
if faults:
    sys.exit("the list of docs/pipeline.md " + "; ".join(faults))
