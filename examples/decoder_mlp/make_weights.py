#!/usr/bin/env python3
"""Writes the checkpoint and the inputs of the decoder MLP example.

    make_weights.py bf16|fp8 OUTPUT_FOLDER

The values come from a generator with a fixed seed, so that every machine gets
the same bytes: OUTPUT_FOLDER/{model.safetensors,x.bin,residual.bin}. Nothing
but Python's standard library is needed.
"""

import json
import os
import random
import struct
import sys

HIDDEN, INTERMEDIATE, BLOCK = 2048, 5632, 128
LAYER = "model.layers.0."


def table(choices):
    """A 256-entry translation table that spreads `choices` evenly."""
    return bytes(choices[i * len(choices) // 256] for i in range(256))


def signed(high_bytes):
    return list(high_bytes) + [byte | 0x80 for byte in high_bytes]


def bf16(generator, count, high_bytes):
    """`count` bf16 values whose upper byte is drawn from `high_bytes`.

    The upper byte holds the sign and seven exponent bits, the lower one the
    last exponent bit and the mantissa.
    """
    out = bytearray(2 * count)
    out[0::2] = generator.randbytes(count)
    out[1::2] = generator.randbytes(count).translate(table(high_bytes))
    return bytes(out)


def fp8(generator, count):
    """`count` finite E4M3 values: 0x7F and 0xFF, the NaNs, are left out."""
    finite = [byte for byte in range(256) if byte & 0x7F != 0x7F]
    return generator.randbytes(count).translate(table(finite))


def scales(generator, rows, columns):
    values = (generator.uniform(5e-5, 2e-4) for _ in range(rows * columns))
    return struct.pack(f"<{rows * columns}f", *values)


def tensors(kind, generator):
    """Yields (name, safetensors type, shape, bytes) of the checkpoint."""
    # Around one, positive: bf16 from 0.5 to 2.
    yield (
        LAYER + "post_attention_layernorm.weight",
        "BF16",
        [HIDDEN],
        bf16(generator, HIDDEN, [0x3F]),
    )
    for name, rows, columns in (
        ("gate_proj", INTERMEDIATE, HIDDEN),
        ("up_proj", INTERMEDIATE, HIDDEN),
        ("down_proj", HIDDEN, INTERMEDIATE),
    ):
        key = f"{LAYER}mlp.{name}.weight"
        if kind == "bf16":
            # Magnitudes from 2^-11 to 2^-5, as trained projections have.
            data = bf16(generator, rows * columns, signed([0x3A, 0x3B, 0x3C]))
            yield key, "BF16", [rows, columns], data
        else:
            yield key, "F8_E4M3", [rows, columns], fp8(generator, rows * columns)
            grid = [rows // BLOCK, columns // BLOCK]
            yield key + "_scale_inv", "F32", grid, scales(generator, *grid)


def write(path, chunks):
    """Writes atomically, so that an interrupted run leaves no half file."""
    with open(path + ".partial", "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    os.replace(path + ".partial", path)


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("bf16", "fp8"):
        print(__doc__, file=sys.stderr)
        return 2
    kind, folder = arguments[1:]
    os.makedirs(folder, exist_ok=True)
    generator = random.Random(f"netra decoder_mlp {kind}")

    header, chunks, offset = {}, [], 0
    for name, element, shape, data in tensors(kind, generator):
        header[name] = {
            "dtype": element,
            "shape": shape,
            "data_offsets": [offset, offset + len(data)],
        }
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write(
        os.path.join(folder, "model.safetensors"),
        [struct.pack("<Q", len(text)), text, *chunks],
    )
    for name in ("x", "residual"):
        # Activations of magnitude 2^-4 to 4, either sign.
        data = bf16(generator, HIDDEN, signed([0x3E, 0x3F, 0x3F, 0x40]))
        write(os.path.join(folder, name + ".bin"), [data])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
