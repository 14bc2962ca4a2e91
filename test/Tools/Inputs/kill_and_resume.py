"""Packs weights, killing the process with SIGKILL again and again on the way.

kill_and_resume.py OUTPUT COMMAND...

Each run is killed when the journal has grown; the run after it goes on. Prints
how many runs were killed.
"""

import os
import subprocess
import sys


def lines(path):
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except FileNotFoundError:
        return 0


def main():
    output, command = sys.argv[1], sys.argv[2:]
    journal = output + ".partial.journal"
    killed = 0
    for _ in range(100):
        before = lines(journal)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while process.poll() is None and lines(journal) <= max(before, 1):
            pass
        if process.poll() is None:
            process.kill()
        text = process.communicate()[0]
        if process.returncode == 0:
            if os.path.exists(journal) or os.path.exists(output + ".partial"):
                sys.exit("expected nothing to be left beside the output")
            print(f"killed {killed} times")
            sys.stdout.write(text)
            return
        if process.returncode != -9:
            sys.exit(f"expected SIGKILL, found exit status {process.returncode}")
        if os.path.exists(output):
            sys.exit("expected no output before the end")
        killed += 1
    sys.exit("expected an end after 100 runs")


main()
