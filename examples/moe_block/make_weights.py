#!/usr/bin/env python3
"""Writes the checkpoint and the inputs of the MoE block example.

    make_weights.py OUTPUT_FOLDER

writes OUTPUT_FOLDER/{model.safetensors,x.bin,residual.bin}; the checkpoint has
some 810 MB, x and residual 16 rows.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "common"))
import checkpoint as make

HIDDEN, INTERMEDIATE, EXPERTS, BLOCK = 2048, 512, 256, 128
# Rows for which the choice of experts does not hang on a rounding.
SEEDS = (1, 6, 7, 9, 11, 13, 14, 15, 18, 21, 22, 24, 25, 26, 27, 29)
LAYER = "model.layers.0."


def fp8(generator, name, shape):
    """A weight of `shape` and its scales, expert by expert where there are."""
    *stack, rows, columns = shape
    count = stack[0] if stack else 1
    grid = [rows // BLOCK, columns // BLOCK]
    yield name, "F8_E4M3", shape, lambda: (
        make.fp8(generator, rows * columns) for _ in range(count)
    )
    yield name + "_scale_inv", "F32", [*stack, *grid], lambda: [
        # So large that the experts' share of the result is that of the residual.
        make.scales(generator, count * grid[0] * grid[1], 2e-4, 8e-4)
    ]


def tensors(generator):
    """(name, safetensors type, shape, function that yields the bytes)."""
    # The norm multiplies with 1 + weight: small weights, either sign.
    yield (
        LAYER + "post_attention_layernorm.weight",
        "BF16",
        [HIDDEN],
        lambda: [make.projection(generator, HIDDEN)],
    )
    mlp = LAYER + "mlp."
    for name, rows in (("gate", EXPERTS), ("shared_expert_gate", 1)):
        yield (
            f"{mlp}{name}.weight",
            "BF16",
            [rows, HIDDEN],
            lambda rows=rows: [make.projection(generator, rows * HIDDEN)],
        )
    inner = INTERMEDIATE
    for name, shape in (
        ("experts.gate_up_proj", [EXPERTS, 2 * inner, HIDDEN]),
        ("experts.down_proj", [EXPERTS, HIDDEN, inner]),
        ("shared_expert.gate_proj.weight", [inner, HIDDEN]),
        ("shared_expert.up_proj.weight", [inner, HIDDEN]),
        ("shared_expert.down_proj.weight", [HIDDEN, inner]),
    ):
        yield from fp8(generator, mlp + name, shape)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    weights = random.Random("netra moe_block")
    inputs = [random.Random(f"netra moe_block inputs {seed}") for seed in SEEDS]
    make.write_example(arguments[1], tensors(weights), HIDDEN, inputs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
