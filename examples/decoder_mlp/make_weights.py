#!/usr/bin/env python3
"""Writes the checkpoint and the inputs of the decoder MLP example.

    make_weights.py bf16|fp8 OUTPUT_FOLDER [HIDDEN INTERMEDIATE ROWS]

writes OUTPUT_FOLDER/{model.safetensors,x.bin,residual.bin}. HIDDEN, INTERMEDIATE
and the ROWS of x and residual are 2048, 5632 and 1 unless given.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "common"))
import checkpoint as make

BLOCK = 128
LAYER = "model.layers.0."


def tensors(kind, generator, hidden, intermediate):
    """(name, safetensors type, shape, function that yields the bytes)."""
    # Around one, positive: bf16 from 0.5 to 2.
    yield (
        LAYER + "post_attention_layernorm.weight",
        "BF16",
        [hidden],
        lambda: [make.bf16(generator, hidden, [0x3F])],
    )
    for name, rows, columns in (
        ("gate_proj", intermediate, hidden),
        ("up_proj", intermediate, hidden),
        ("down_proj", hidden, intermediate),
    ):
        key, count = f"{LAYER}mlp.{name}.weight", rows * columns
        if kind == "bf16":
            data = lambda count=count: [make.projection(generator, count)]
            yield key, "BF16", [rows, columns], data
        else:
            data = lambda count=count: [make.fp8(generator, count)]
            yield key, "F8_E4M3", [rows, columns], data
            grid = [rows // BLOCK, columns // BLOCK]
            data = lambda grid=grid: [make.scales(generator, grid[0] * grid[1])]
            yield key + "_scale_inv", "F32", grid, data


def main(arguments):
    if len(arguments) not in (3, 6) or arguments[1] not in ("bf16", "fp8"):
        print(__doc__, file=sys.stderr)
        return 2
    kind, folder = arguments[1:3]
    hidden, intermediate, rows = map(int, arguments[3:] or (2048, 5632, 1))
    generator = random.Random(f"netra decoder_mlp {kind}")
    weights = tensors(kind, generator, hidden, intermediate)
    make.write_example(folder, weights, hidden, [generator] * rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
