"""Writes a safetensors checkpoint of one tensor of zeros, as a hole in a file.

make_sparse.py FILE NAME:DTYPE:ROWSxCOLUMNS
"""

import json
import math
import struct
import sys

SIZES = {"BF16": 2, "F32": 4, "F8_E4M3": 1}

name, dtype, extents = sys.argv[2].split(":")
shape = [int(extent) for extent in extents.split("x")]
size = math.prod(shape) * SIZES[dtype]
entry = {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}
text = json.dumps({name: entry}).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    file.truncate(8 + len(text) + size)
