#!/usr/bin/env python3
"""Writes a safetensors checkpoint of small bf16 values.

make_checkpoint.py FILE NAME:DTYPE:ROWSxCOLUMNS...
"""

import json
import struct
import sys

SIZES = {"BF16": 2, "F32": 4, "F8_E4M3": 1}


def main():
    header, data = {}, bytearray()
    for index, spec in enumerate(sys.argv[2:]):
        name, dtype, extents = spec.split(":")
        shape = [int(extent) for extent in extents.split("x")]
        count = 1
        for extent in shape:
            count *= extent
        begin = len(data)
        if dtype == "BF16":
            # Multiples of 1/64 from -1/4 to 1/4, the top half of a float.
            for i in range(count):
                value = ((i * 7 + index * 3) % 33 - 16) / 64
                data += struct.pack("<f", value)[2:]
        else:
            data += bytes(count * SIZES[dtype])
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    main()
