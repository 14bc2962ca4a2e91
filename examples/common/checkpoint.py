"""Reproducible checkpoints and inputs for the examples.

The values come from a generator with a fixed seed, so that every machine gets
the same bytes. Nothing but Python's standard library is needed.
"""

import itertools
import json
import math
import os
import struct


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


def scales(generator, count, low=5e-5, high=2e-4):
    values = (generator.uniform(low, high) for _ in range(count))
    return struct.pack(f"<{count}f", *values)


def activations(generator, count):
    """Of magnitude 2^-4 to 4, either sign."""
    return bf16(generator, count, signed([0x3E, 0x3F, 0x3F, 0x40]))


def projection(generator, count):
    """bf16 of magnitude 2^-11 to 2^-5, as trained projections have."""
    return bf16(generator, count, signed([0x3A, 0x3B, 0x3C]))


def write(path, chunks):
    """Writes atomically, so that an interrupted run leaves no half file."""
    with open(path + ".partial", "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    os.replace(path + ".partial", path)


def write_safetensors(path, tensors):
    """`tensors`: (name, safetensors type, shape, function that yields the
    bytes). The bytes are made one tensor after the other while writing."""
    size = {"BF16": 2, "F8_E4M3": 1, "F32": 4}
    header, offset = {}, 0
    for name, element, shape, _ in tensors:
        end = offset + math.prod(shape) * size[element]
        header[name] = {
            "dtype": element,
            "shape": shape,
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write(
        path,
        itertools.chain(
            [struct.pack("<Q", len(text)), text],
            (chunk for *_, chunks in tensors for chunk in chunks()),
        ),
    )


def write_example(folder, tensors, hidden, inputs):
    """model.safetensors with `tensors`, then x and residual with a row for each
    generator of `inputs`, which is used once the checkpoint has been written."""
    os.makedirs(folder, exist_ok=True)
    write_safetensors(os.path.join(folder, "model.safetensors"), list(tensors))
    rows = [[activations(row, hidden) for _ in range(2)] for row in inputs]
    for name, values in zip(("x", "residual"), zip(*rows)):
        write(os.path.join(folder, name + ".bin"), values)
