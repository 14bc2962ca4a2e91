"""Runs a command, which must not need more memory than it may.

peak_memory.py MIB COMMAND...
"""

import resource
import subprocess
import sys

limit, command = int(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
if status:
    sys.exit(f"expected exit status 0, found {status}")
if peak > limit:
    sys.exit(f"expected at most {limit} MiB of memory, found {peak}")
print(f"peak memory {peak} MiB")
