"""Interrupts a command at many moments and looks at what it leaves.

interrupt.py FOLDER ALLOWED... -- COMMAND...: runs the command in FOLDER again and
again, ends it by a signal a little later each time, and fails when FOLDER then
holds anything but ALLOWED, or when no run was interrupted.
"""

import os
import signal
import subprocess
import sys
import time

split = sys.argv.index("--")
folder, allowed = sys.argv[1], set(sys.argv[2:split])
command = sys.argv[split + 1 :]
os.makedirs(folder, exist_ok=True)

begin = time.monotonic()
subprocess.run(command, cwd=folder, check=True)
whole = time.monotonic() - begin
interrupted = 0
for i in range(24):
    number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    time.sleep(whole * (i + 0.5) / 24)
    process.send_signal(number)
    status = process.wait()
    interrupted += status == -number
    if status not in (0, -number):
        sys.exit(f"signal {number} ended the command with status {status}")
    if extra := set(os.listdir(folder)) - allowed:
        sys.exit(f"after signal {number} there is {sorted(extra)}")
if not interrupted:
    sys.exit("no run was interrupted")
print(f"{interrupted} runs interrupted, nothing left behind")
