"""Matrices of 32-bit numbers, and whether others are their transposes.

make MATRICES ROWS COLUMNS FILE
compare MATRICES ROWS COLUMNS FILE TRANSPOSED
"""

import struct
import sys

command, (matrices, rows, columns) = sys.argv[1], map(int, sys.argv[2:5])
count = matrices * rows * columns


def read(path):
    return struct.unpack(f"<{count}I", open(path, "rb").read())


if command == "make":
    numbers = [(i * 2654435761) % (1 << 32) for i in range(count)]
    open(sys.argv[5], "wb").write(struct.pack(f"<{count}I", *numbers))
else:
    given, transposed = read(sys.argv[5]), read(sys.argv[6])
    assert len(set(given)) > count // 2, "expected numbers that differ"
    for b in range(matrices):
        for m in range(rows):
            for n in range(columns):
                expected = given[(b * rows + m) * columns + n]
                found = transposed[(b * columns + n) * rows + m]
                assert found == expected, (b, m, n, found, expected)
