"""Checkpoints of tiny_qwen3_5_moe in both forms, and what packing makes of them.

per_expert.py make ENGINE SEPARATE STACKED   writes two checkpoints of the same values
per_expert.py damage SEPARATE FILE           takes tensors away, and turns one around
per_expert.py exchange SEPARATE FILE         exchanges tensors of two experts
per_expert.py check ENGINE PACKED SEPARATE   compares the packed experts with their tensors

The names and sizes of experts stand here once more, not taken from the engine.
"""

import json
import random
import struct
import sys

LAYERS, EXPERTS, INNER, HIDDEN = 4, 8, 128, 512
SIZES = {"BF16": 2, "F32": 4, "F8_E4M3": 1}
DTYPES = {"bf16": "BF16", "f32": "F32", "f8E4M3FN": "F8_E4M3"}


def write(path, tensors):
    header, data = {}, bytearray()
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def entries(engine):
    with open(engine + "/engine.json", encoding="utf-8") as file:
        return json.load(file)["weights"]["entries"]


def mlp(layer):
    return f"model.language_model.layers.{layer}.mlp."


def expert(layer, index):
    return mlp(layer) + (f"experts.{index}." if index < EXPERTS else "shared_expert.")


def modules():
    """Module, rows and columns of the tensors of one expert."""
    return [("gate_proj", INNER, HIDDEN), ("up_proj", INNER, HIDDEN), ("down_proj", HIDDEN, INNER)]


def kinds(rows, columns):
    """What belongs to each: type, shape and name of the weight and of its scale."""
    yield "F8_E4M3", [rows, columns], ".weight", ""
    yield "BF16", [rows // 128, columns // 128], ".weight_scale_inv", "_scale_inv"


def make(engine, separate, stacked):
    draw = random.Random(1)
    tensors = {}
    for layer in range(LAYERS):
        for index in range(EXPERTS + 1):
            for module, rows, columns in modules():
                for dtype, shape, ending, _ in kinds(rows, columns):
                    size = shape[0] * shape[1] * SIZES[dtype]
                    tensors[expert(layer, index) + module + ending] = (dtype, shape, draw.randbytes(size))
    for entry in entries(engine):
        for source in entry["pack"]["sources"]:
            name = source["checkpoint"]
            if ".experts." in name or name in tensors:
                continue
            dtype, size = DTYPES[source["type"]], 1
            for extent in source["shape"]:
                size *= extent
            tensors[name] = (dtype, source["shape"], draw.randbytes(size * SIZES[dtype]))
    write(separate, tensors)
    for layer in range(LAYERS):
        for first, last, stack in (("gate_proj", "up_proj", "gate_up_proj"), ("down_proj", None, "down_proj")):
            rows, columns = [(r, c) for m, r, c in modules() if m == first][0]
            for dtype, shape, ending, suffix in kinds(rows, columns):
                content, extents = b"", [EXPERTS, shape[0] * (2 if last else 1), shape[1]]
                for index in range(EXPERTS):
                    for module in filter(None, (first, last)):
                        content += tensors.pop(expert(layer, index) + module + ending)[2]
                tensors[mlp(layer) + "experts." + stack + suffix] = (dtype, extents, content)
    write(stacked, tensors)


def damage(separate, path):
    tensors = read(separate)
    del tensors[expert(1, 3) + "up_proj.weight"]
    dtype, shape, content = tensors[expert(2, 5) + "down_proj.weight"]
    tensors[expert(2, 5) + "down_proj.weight"] = (dtype, shape[::-1], content)
    for index in range(EXPERTS):
        del tensors[expert(3, index) + "gate_proj.weight_scale_inv"]
    write(path, tensors)


def exchange(separate, path):
    tensors = read(separate)
    names = [expert(0, index) + "gate_proj.weight" for index in (3, 4)]
    tensors.update(zip(names, [tensors[name] for name in reversed(names)]))
    write(path, tensors)


def shuffled(matrix, rows, columns):
    """n16k16 of bytes, by its formula: 16 columns of a row stay together."""
    result = bytearray(len(matrix))
    for n in range(rows):
        for k in range(0, columns, 16):
            to = n // 16 * 16 * columns + k // 16 * 256 + n % 16 * 16
            result[to : to + 16] = matrix[n * columns + k : n * columns + k + 16]
    return bytes(result)


def check(engine, packed, separate):
    tensors = read(separate)
    data = read(packed)["netra.weights"][2]
    seen = {}
    for entry in entries(engine):
        name, layout = entry["name"], entry["layout"]
        if ".experts." not in name:
            continue
        layer = int(name.split(".")[1])
        product, scale = name.split(".experts.")[1].removesuffix("_scale"), name.endswith("_scale")
        expected = b""
        for index in range(EXPERTS + 1):
            one = b""
            for module in ["gate_proj", "up_proj"] if product == "gate_up" else [product + "_proj"]:
                one += tensors[expert(layer, index) + module + (".weight_scale_inv" if scale else ".weight")][2]
            if scale:
                one = b"".join(b"\0\0" + one[i : i + 2] for i in range(0, len(one), 2))
            elif layout == "n16k16":
                one = shuffled(one, *entry["shape"][1:])
            expected += one
        assert layout in (("row_major",) if scale else ("row_major", "n16k16")), entry
        assert entry["bytes"] == len(expected), entry
        assert data[entry["offset"] : entry["offset"] + entry["bytes"]] == expected, name
        seen[product, scale, layout] = seen.get((product, scale, layout), 0) + 1
    for key, count in sorted(seen.items()):
        print(count, *key)


if __name__ == "__main__":
    {"make": make, "damage": damage, "exchange": exchange, "check": check}[sys.argv[1]](*sys.argv[2:])
