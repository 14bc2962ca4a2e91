"""Follows a page of the documentation: takes its C++ snippets, puts each where
the page says, and builds and runs the test that results.

usage: follow.py [--cxx …] --page FILE --section TITLE --work FOLDER
                 (--put FILE:MARK)... [--run ARGUMENT]

The snippets of the section are used in order. Each goes into a copy of FILE, in
front of the line that contains MARK, or to the end without MARK. The copies are
compiled, in place of the originals, and linked with GoogleTest and the build's
NetraCatalog.
"""

import argparse
import pathlib
import re
import subprocess
import sys


def snippets(page, section):
    text = page.read_text()
    start = text.index(f"### {section}\n")
    end = re.search(r"\n##+ ", text[start + 1 :])
    body = text[start : start + 1 + end.start() if end else len(text)]
    return re.findall(r"```cpp\n(.*?)```", body, re.S)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cxx", "llvm-include", "llvm-lib", "section", "run"):
        parser.add_argument("--" + name)
    for name in ("source", "build", "page", "work"):
        parser.add_argument("--" + name, type=pathlib.Path)
    parser.add_argument("--put", action="append", default=[])
    options = parser.parse_args()

    found = snippets(options.page, options.section)
    if len(found) != len(options.put):
        sys.exit(f"expected {len(options.put)} snippets, found {len(found)}")
    copies = {}
    for snippet, place in zip(found, options.put):
        file, _, mark = place.partition(":")
        lines = copies.setdefault(
            file, (options.source / file).read_text().splitlines(keepends=True)
        )
        at = len(lines)
        if mark:
            at = next(
                (i for i, line in enumerate(lines) if mark in line), None
            )
            if at is None:
                sys.exit(f"{file}: expected a line with {mark!r}")
        lines.insert(at, snippet)

    options.work.mkdir(parents=True, exist_ok=True)
    objects = []
    for file, lines in copies.items():
        copy = options.work / pathlib.Path(file).name
        copy.write_text("".join(lines))
        objects.append(copy.with_suffix(".o"))
        subprocess.run(
            [
                options.cxx,
                "-std=c++20",
                "-O0",
                "-fno-rtti",
                f"-I{options.source}/include",
                f"-I{(options.source / file).parent}",
                "-isystem",
                options.llvm_include.split(";")[0],
                "-c",
                copy,
                "-o",
                objects[-1],
            ],
            check=True,
        )
    program = options.work / "follow"
    llvm = pathlib.Path(options.llvm_lib)
    shared = next(iter(sorted(llvm.glob("libLLVM*.so*"))))
    subprocess.run(
        [options.cxx, *objects]
        + [options.build / "lib" / "libNetraCatalog.a"]
        + [shared, f"-Wl,-rpath,{llvm}", "-lgmock", "-lgtest", "-lgtest_main"]
        + ["-lpthread", "-o", program],
        check=True,
    )
    subprocess.run([program] + ([options.run] if options.run else []), check=True)


main()
