"""check_bound.py MEMORY_PLAN PLAN < TEXT: the bound and the ratio of the plan, in the file and in
the text of `netra-engine inspect`, are those of the lifetimes in the file."""

import json
import re
import sys

path, name = sys.argv[1:]
with open(path) as file:
    plan = next(p for p in json.load(file)["plans"] if p["name"] == name)
align = plan["alignment"]
live = {}
for buffer in plan["buffers"]:
    for step in range(buffer["first_step"], buffer["last_step"] + 1):
        live[step] = live.get(step, 0) + -(-buffer["bytes"] // align) * align
bound = max(live.values())
ratio = plan["arena_bytes"] / bound
assert plan["lower_bound"] == bound, (plan["lower_bound"], bound)
assert abs(plan["ratio"] - ratio) <= 0.0005, (plan["ratio"], ratio)
said = re.search(r"at least (\d+) bytes are live at once, ([\d.]+) times that", sys.stdin.read())
assert int(said[1]) == bound and abs(float(said[2]) - ratio) <= 0.0005, (said[0], bound, ratio)
