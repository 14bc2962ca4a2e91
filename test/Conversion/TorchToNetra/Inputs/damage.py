"""Feeds damaged copies of a graph to netra-opt.

Usage: damage.py GRAPH [RUNS]

Cuts the text at many places, and overwrites, removes and doubles pieces of it
(from a fixed seed). Every run must end by itself, with success or with a
diagnostic that has a location; a crash, a hang or a silent failure is printed
and fails.
"""

import random
import subprocess
import sys


def attempt(text):
    run = subprocess.run(
        ["netra-opt", "-", "--convert-torch-to-netra=partial=true", "-o", "/dev/null"],
        input=text,
        capture_output=True,
        timeout=60,
    )
    if run.returncode == 0:
        return None
    if run.returncode != 1:
        return f"exit code {run.returncode}"
    if b"error: " not in run.stderr:
        return "failure without a diagnostic"
    return None


def damaged(text, runs):
    step = max(1, len(text) // runs)
    for end in range(0, len(text), step):
        yield f"cut at {end}", text[:end]
    generator = random.Random(1)
    for i in range(runs):
        place = generator.randrange(len(text))
        length = generator.randrange(1, 40)
        piece = text[place : place + length]
        kind = i % 4
        if kind == 0:
            noise = bytes(generator.randrange(256) for _ in range(length))
            change = text[:place] + noise + text[place + length :]
        elif kind == 1:
            change = text[:place] + text[place + length :]
        elif kind == 2:
            change = text[:place] + piece + text[place:]
        else:
            digit = bytes(generator.choice(b"0123456789") for _ in range(1))
            change = text[:place] + digit + text[place + 1 :]
        yield f"change {i} at {place}", change


def main():
    with open(sys.argv[1], "rb") as file:
        text = file.read()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    failures = 0
    for name, change in damaged(text, runs):
        try:
            problem = attempt(change)
        except subprocess.TimeoutExpired:
            problem = "no end within 60 s"
        if problem:
            failures += 1
            print(f"{name}: {problem}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
