"""Inputs of f32-logits.mlir, and the token that each row must choose.

Row m has the logits 256 for token m and 257 for token 16 + m, which bf16 cannot
tell apart; all others are smaller.
"""
import struct, sys


def bf16(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


command, rows, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if command == "make":
    x = [[0.0] * 512 for _ in range(rows)]
    w = [[0.0] * 512 for _ in range(256)]
    for m in range(rows):
        x[m][2 * m] = x[m][2 * m + 1] = 1.0
    for m in range(16):
        w[m][2 * m] = w[16 + m][2 * m] = 256.0
        w[16 + m][2 * m + 1] = 1.0
    for n in range(32, 256):
        w[n] = [(n * 7 + k) % 64 / 2.0 for k in range(512)]

    def write(name, form, values):
        with open(f"{folder}/{name}.bin", "wb") as file:
            file.write(struct.pack(f"<{len(values)}{form}", *values))

    write("x", "H", [bf16(v) for row in x for v in row])
    write("w", "H", [bf16(v) for row in w for v in row])
    write("t", "f", [0.0 if m % 2 else 0.001 for m in range(rows)])
    write("k", "i", [0] * rows)
    write("p", "f", [1.0] * rows)
    write("s", "q", list(range(rows)))
else:
    first = 16 if command == "f32" else 0
    for name in ("best", "drawn"):
        with open(f"{folder}/{name}.bin", "rb") as file:
            found = list(struct.unpack(f"<{rows}i", file.read()))
        if command == "bf16" and name == "drawn":
            continue  # of equal logits the temperature draws either
        expected = [first + m for m in range(rows)]
        assert found == expected, f"{name}: expected {expected}, found {found}"
