"""Feeds damaged copies of a file to a tool, and checks that the tool says what
is wrong instead of crashing.

usage: damage.py [--cuts N] [--flips N] [--seed N] FILE -- TOOL ARGUMENT...

The tool reads standard input. Each of N evenly spread beginnings of the file
and N copies with a few bytes changed must either be accepted (exit status 0) or
refused (exit status 1, with an error on standard error) within a minute.
"""

import argparse
import random
import subprocess
import sys


def damaged_copies(data, cuts, flips, seed):
    for number in range(cuts):
        length = len(data) * number // cuts
        yield f"the first {length} bytes", data[:length]
    generator = random.Random(seed)
    for number in range(flips):
        copy = bytearray(data)
        for _ in range(generator.randint(1, 4)):
            copy[generator.randrange(len(copy))] = generator.randrange(256)
        yield f"change {number} of seed {seed}", bytes(copy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--flips", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    with open(options.file, "rb") as file:
        data = file.read()
    refused = 0
    for name, copy in damaged_copies(
        data, options.cuts, options.flips, options.seed
    ):
        try:
            run = subprocess.run(
                options.command, input=copy, capture_output=True, timeout=60
            )
        except subprocess.TimeoutExpired:
            sys.exit(f"{name}: expected an answer within a minute")
        if run.returncode not in (0, 1):
            sys.stderr.buffer.write(run.stderr)
            sys.exit(f"{name}: expected exit status 0 or 1, found {run.returncode}")
        if run.returncode == 1:
            refused += 1
            if b"error:" not in run.stderr:
                sys.exit(f"{name}: refused without an error message")
    print(f"refused {refused}")


main()
