# The feed-forward half of each layer, head and embedding have a kernel for each step.
import json
import sys

mixers = ("attention.", "gdn.")
parts = ("embed_tokens", "post_attention_layernorm", "mlp", "decoder/norm", "lm_head")
for folder in sys.argv[1:]:
    with open(folder + "/engine.json") as file:
        plans = json.load(file)["plans"]
    for plan in plans:
        seen = dict.fromkeys(parts, 0)
        for step in plan["steps"]:
            for part in parts:
                seen[part] += part in step["name"]
            if step["kind"] == "launch":
                assert step["tactic"].startswith("gfx950."), step
                continue
            left = plan["name"] + ": " + step["name"] + " is left to the framework"
            assert step["operation"].startswith(mixers), left
            assert not any(part in step["name"] for part in parts), left
        assert all(seen.values()), (plan["name"], seen)
        print(plan["name"], "has", len(plan["steps"]), "steps")
