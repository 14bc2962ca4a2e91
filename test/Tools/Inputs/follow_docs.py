"""Does what a section of a page says: follow_docs.py PAGE SECTION FOLDER.

Blocks ```sh are run in FOLDER, one after the other, by bash; blocks
```json fill=FILE are merged into FILE (RFC 7396), as a person fills in fields.
Ends with the first block that fails. Nothing is left out: a block of another
kind is an error, and subsections belong to the section.
"""

import json
import pathlib
import re
import subprocess
import sys


def merge(target, patch):
    if not isinstance(patch, dict) or not isinstance(target, dict):
        return patch
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def main():
    page, section, folder = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    heading = re.search(rf"^(##+) {re.escape(section)}$", text, re.M)
    if not heading:
        sys.exit(f"{page}: expected a section {section!r}, found none")
    body = text[heading.end() :]
    end = re.search(rf"^##{{1,{len(heading[1]) - 1}}} ", body, re.M)
    blocks = re.findall(r"^ *```([^\n]*)\n(.*?)^ *```$", body[: end.start() if end else None], re.M | re.S)
    if not blocks:
        sys.exit(f"{page}: expected blocks to follow in {section!r}, found none")
    for kind, body in blocks:
        if kind == "sh":
            print("+", body.splitlines()[0], flush=True)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder)
            if done.returncode != 0:
                sys.exit(f"expected the block to succeed, found status {done.returncode}:\n{body}")
            continue
        fill = re.fullmatch(r"json fill=(\S+)", kind)
        if not fill:
            sys.exit(f"{page}: expected blocks to run (sh) or to fill in (json fill=FILE) in {section!r}, found {kind!r}")
        path = pathlib.Path(folder) / fill[1]
        record = merge(json.loads(path.read_text(encoding="utf-8")), json.loads(body))
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"followed {len(blocks)} blocks")


main()
