"""Copies a file with one bit changed.

flip.py FROM TO OFFSET
"""

import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
data[int(sys.argv[3])] ^= 1
with open(sys.argv[2], "wb") as file:
    file.write(data)
