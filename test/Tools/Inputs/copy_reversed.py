"""copy_reversed.py FROM TO: copies a folder, file by file in reverse order, so that
directories list their files in another one."""

import pathlib
import shutil
import sys

source, target = map(pathlib.Path, sys.argv[1:])
for path in sorted(source.rglob("*"), reverse=True):
    if path.is_file():
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
