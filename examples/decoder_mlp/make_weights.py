#!/usr/bin/env python3
"""Writes the checkpoint and the inputs of the decoder MLP example.

    make_weights.py bf16|fp8 OUTPUT_FOLDER

writes OUTPUT_FOLDER/{model.safetensors,x.bin,residual.bin}.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "common"))
import checkpoint as make

HIDDEN, INTERMEDIATE, BLOCK = 2048, 5632, 128
LAYER = "model.layers.0."


def tensors(kind, generator):
    """(name, safetensors type, shape, function that yields the bytes)."""
    # Around one, positive: bf16 from 0.5 to 2.
    yield (
        LAYER + "post_attention_layernorm.weight",
        "BF16",
        [HIDDEN],
        lambda: [make.bf16(generator, HIDDEN, [0x3F])],
    )
    for name, rows, columns in (
        ("gate_proj", INTERMEDIATE, HIDDEN),
        ("up_proj", INTERMEDIATE, HIDDEN),
        ("down_proj", HIDDEN, INTERMEDIATE),
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
    if len(arguments) != 3 or arguments[1] not in ("bf16", "fp8"):
        print(__doc__, file=sys.stderr)
        return 2
    kind, folder = arguments[1:]
    generator = random.Random(f"netra decoder_mlp {kind}")
    make.write_example(folder, tensors(kind, generator), HIDDEN, generator)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
