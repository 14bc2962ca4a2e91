#!/usr/bin/env python3
"""Profiles, inputs and the comparison of bounded-profile.test.

bounded.py profiles FOLDER     a bounded profile, and the exact ones inside it
bounded.py inputs FOLDER       the checkpoint, and inputs of 24 rows
bounded.py compare FOLDER M…   engine against engines that are made for M rows
"""

import json
import os
import random
import struct
import subprocess
import sys

ROWS = 24
WIDTHS = {"ids": 4, "gate": 1024, "y": 1024, "q": 512, "scale": 16}  # bytes
SOURCE = os.path.dirname(os.path.abspath(__file__))


def write_profiles(folder):
    for least, greatest in [(1, ROWS)] + [(m, m) for m in range(1, ROWS + 1)]:
        bounded = least != greatest
        name = f"rows_{least}_{greatest}" if bounded else f"rows_{least}"
        profile = {
            "format": "netra.profile/1",
            "name": name,
            "m": [least, greatest] if bounded else least,
            "batch": 1,
            "sequence": [0, 1048576],
            "priority": 1,
        }
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(profile, file)


def bf16(draw, count):
    """Random values of bf16, the top half of a float."""
    return b"".join(struct.pack("<f", draw.gauss(0, 1))[2:] for _ in range(count))


def write_inputs(folder):
    draw = random.Random(3)
    tensors = {"table": [100, 512], "norm": [512], "heads": [128]}
    header, data = {}, b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        offsets = [len(data), len(data) + 2 * count]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": offsets}
        data += bf16(draw, count)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "weights.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    # Ids outside the table give rows of zeros.
    ids = [draw.randrange(-3, 104) for _ in range(ROWS)]
    with open(os.path.join(folder, "ids"), "wb") as file:
        file.write(struct.pack(f"<{ROWS}i", *ids))
    with open(os.path.join(folder, "gate"), "wb") as file:
        file.write(bf16(draw, 512 * ROWS))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 or "no findings" not in done.stdout + done.stderr:
        if command[1] == "run" or done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def launch(folder, engine, m, rows):
    """The outputs of a launch with `m` of `rows` rows."""
    path = lambda name: os.path.join(folder, name)
    weights = path(engine + ".weights")
    if not os.path.exists(weights):
        run(["netra-engine", "pack-weights", "--engine", path(engine),
             "--checkpoint", path("weights.safetensors"), "-o", weights])
    command = ["netra-engine", "run", "--engine", path(engine), "--weights",
               weights, "--hip=sim", "--check=all",
               f"--shape=m={m},batch=1,sequence=1"]
    for name in ("ids", "gate"):
        with open(path(name), "rb") as file:
            data = file.read(rows * WIDTHS[name])
        with open(path("piece." + name), "wb") as file:
            file.write(data)
        command += ["--input", f"{name}={path('piece.' + name)}"]
    for name in ("y", "q", "scale"):
        command += ["--output", f"{name}={path('out.' + name)}"]
    run(command)
    outputs = {}
    for name in ("y", "q", "scale"):
        with open(path("out." + name), "rb") as file:
            outputs[name] = file.read()
        assert len(outputs[name]) == rows * WIDTHS[name]
    return outputs


def compare(folder, counts):
    for m in counts:
        engine = f"rows_{m}"
        run(["netra-translate", "--netra-to-engine",
             os.path.join(SOURCE, "bounded.mlir"), "--profile=" + engine,
             "--library-root=" + os.path.join(folder, "library"), "-o",
             os.path.join(folder, engine)])
        exact = launch(folder, engine, m, m)
        bounded = launch(folder, "bounded", m, ROWS)
        for name, data in bounded.items():
            used = m * WIDTHS[name]
            if data[:used] != exact[name]:
                sys.exit(f"m={m}: {name} differs")
            # Nothing was there before, and nothing is there after.
            if any(data[used:]):
                sys.exit(f"m={m}: {name} was written behind its rows")
            if not any(data[:used]):
                sys.exit(f"m={m}: {name} is empty")
        print(f"m={m}: {m} rows are equal, {ROWS - m} untouched")


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "profiles":
        write_profiles(folder)
    elif command == "inputs":
        write_inputs(folder)
    else:
        compare(folder, [int(m) for m in rest])
